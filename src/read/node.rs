//! A document as both formats give it: values with the byte range they stand in.

use std::borrow::Cow;
use std::ops::Range;

use crate::context::{Json, Key, Text};
use crate::error::{Code, Error, Result};

/// Limits of our own choosing, the same for both formats. A document that passes one is refused with
/// `request.limit`; nothing is ever cut.
pub mod limits {
    /// Bytes of one document: 1 GiB.
    pub const DOCUMENT_BYTES: usize = 1 << 30;
    /// Levels of lists and maps in one another.
    pub const DEPTH: usize = 100;
    /// Lists, maps and scalars in one document: one million.
    pub const NODES: usize = 1_000_000;
    /// Lists, maps and scalars that YAML aliases and merge keys may add: 100,000.
    pub const ALIAS_NODES: usize = 100_000;
    /// Bytes of text that YAML aliases and merge keys may add: 16 MiB.
    pub const ALIAS_BYTES: u64 = 16 << 20;
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub span: Span,
    pub value: Value<'a>,
}

/// A byte range of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// As it is spelled.
    Number(Cow<'a, str>),
    Text(Text<'a>),
    List(Vec<Node<'a>>),
    Map(Vec<Entry<'a>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub key: Cow<'a, str>,
    pub key_span: Span,
    pub value: Node<'a>,
}

impl Span {
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl<'a> Node<'a> {
    /// What it is, in words that do for both formats.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// An error about this very value.
    pub fn error(&self, code: Code, message: impl Into<String>) -> Error {
        Error::new(code, message).with_span(self.span.range())
    }

    /// How many bytes of text and how many values it holds.
    pub fn weight(&self) -> (u64, usize) {
        match &self.value {
            Value::Text(text) => (text.bytes(), 1),
            Value::List(items) => items.iter().map(Node::weight).fold((0, 1), add),
            Value::Map(entries) => {
                let of_entry = |entry: &Entry<'_>| add((entry.key.len() as u64, 0), entry.value.weight());
                entries.iter().map(of_entry).fold((0, 1), add)
            }
            _ => (0, 1),
        }
    }

    /// The value as JSON in canonical spelling: key order and number spelling as given.
    pub fn to_json(&self) -> Result<Json<'static>> {
        let mut text = Vec::new();
        self.write_json(&mut text)?;
        Ok(Json::from_canonical(String::from_utf8(text).expect("JSON text is written as UTF-8")))
    }

    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        match &self.value {
            Value::Null => out.extend(b"null"),
            Value::Bool(value) => out.extend(value.to_string().bytes()),
            Value::Number(spelling) => {
                if serde_json::from_str::<&serde_json::value::RawValue>(spelling).is_err() {
                    return Err(self
                        .error(Code::RequestType, format!("{spelling} has no spelling as a number in JSON"))
                        .with_hint("write it in decimal, or quote it if it is text"));
                }
                out.extend(spelling.bytes());
            }
            Value::Text(text) => write_string(text, out),
            Value::List(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write_json(out)?;
                }
                out.push(b']');
            }
            Value::Map(entries) => {
                out.push(b'{');
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_string(&Text::plain(&*entry.key), out);
                    out.push(b':');
                    entry.value.write_json(out)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }
}

fn write_string(text: &Text<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    text.write_escaped(out).expect("a vector takes every write");
    out.push(b'"');
}

fn add((bytes, nodes): (u64, usize), (more_bytes, more_nodes): (u64, usize)) -> (u64, usize) {
    (bytes + more_bytes, nodes + more_nodes)
}

/// The second of two equal keys, if a map has any; `entries` are in the order of the document.
pub(crate) fn duplicate_key<'e, 'a>(entries: &'e [Entry<'a>]) -> Option<&'e Entry<'a>> {
    // A handful of keys is compared faster than it is hashed.
    if entries.len() <= 16 {
        return entries.iter().enumerate().find(|(n, e)| entries[..*n].iter().any(|f| f.key == e.key)).map(|(_, e)| e);
    }
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    entries.iter().find(|entry| !seen.insert(&*entry.key))
}

pub(crate) fn duplicate_key_error(entry: &Entry<'_>) -> Error {
    Error::new(Code::RequestDuplicateKey, format!("the key {:?} stands twice in one map", entry.key))
        .with_hint("keep one of the two: a reader that takes the last would lose the other silently")
        .with_path(Key(&entry.key).to_string())
        .with_span(entry.key_span.range())
}

pub(crate) fn limit_error(what: impl std::fmt::Display, limit: impl std::fmt::Display) -> Error {
    Error::new(Code::RequestLimit, format!("{what}: polyloop's limit is {limit}"))
}
