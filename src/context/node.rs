//! A document as any format gives it: values with the byte range they stand in.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use super::escape::write_escaped;
use super::{Json, Key, Text};
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
            Value::Map(entries) => entries.iter().find(|entry| is_same(&entry.key, key)).map(|entry| &entry.value),
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
        self.check_numbers()?;
        let mut len = Count(0);
        self.write_json(&mut len).expect("counting takes every write");
        // The length is known first: an image is held once, not in a vector that doubles.
        let mut text = Vec::with_capacity(len.0);
        self.write_json(&mut text).expect("a vector takes every write");
        Ok(Json::from_canonical(String::from_utf8(text).expect("JSON text is written as UTF-8")))
    }

    /// YAML knows numbers that JSON does not.
    fn check_numbers(&self) -> Result<()> {
        match &self.value {
            Value::Number(spelling) if serde_json::from_str::<&serde_json::value::RawValue>(spelling).is_err() => {
                Err(self
                    .error(Code::RequestType, format!("{spelling} has no spelling as a number in JSON"))
                    .with_hint("write it in decimal, or quote it if it is text"))
            }
            Value::List(items) => items.iter().try_for_each(Node::check_numbers),
            Value::Map(entries) => entries.iter().try_for_each(|entry| entry.value.check_numbers()),
            _ => Ok(()),
        }
    }

    /// Writes the value as JSON in canonical spelling.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json<W: Write>(&self, out: &mut W) -> io::Result<()> {
        match &self.value {
            Value::Null => out.write_all(b"null"),
            Value::Bool(value) => write!(out, "{value}"),
            Value::Number(spelling) => out.write_all(spelling.as_bytes()),
            Value::Text(text) => write_string(text, out),
            Value::List(items) => {
                out.write_all(b"[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.write_all(b",")?;
                    }
                    item.write_json(out)?;
                }
                out.write_all(b"]")
            }
            Value::Map(entries) => {
                out.write_all(b"{")?;
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        out.write_all(b",")?;
                    }
                    out.write_all(b"\"")?;
                    write_escaped(&entry.key, out)?;
                    out.write_all(b"\":")?;
                    entry.value.write_json(out)?;
                }
                out.write_all(b"}")
            }
        }
    }

    /// The same value, on its own.
    pub fn into_owned(self) -> Node<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let value = match self.value {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(spelling) => Value::Number(own(spelling)),
            Value::Text(text) => Value::Text(text.into_owned()),
            Value::List(items) => Value::List(items.into_iter().map(Node::into_owned).collect()),
            Value::Map(entries) => {
                let entry = |entry: Entry<'_>| Entry {
                    key: own(entry.key),
                    key_span: entry.key_span,
                    value: entry.value.into_owned(),
                };
                Value::Map(entries.into_iter().map(entry).collect())
            }
        };
        Node { span: self.span, value }
    }

    /// Lets copies of the value share the text that had to be decoded.
    pub fn share_text(&mut self) {
        match &mut self.value {
            Value::Text(text) => text.share(),
            Value::List(items) => items.iter_mut().for_each(Node::share_text),
            Value::Map(entries) => entries.iter_mut().for_each(|entry| entry.value.share_text()),
            _ => {}
        }
    }
}

/// Whether two keys are the same; most that are not differ in their first letter.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().first() == b.as_bytes().first() && a == b
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

fn write_string<W: Write>(text: &Text<'_>, out: &mut W) -> io::Result<()> {
    out.write_all(b"\"")?;
    text.write_escaped(out)?;
    out.write_all(b"\"")
}

fn add((bytes, nodes): (u64, usize), (more_bytes, more_nodes): (u64, usize)) -> (u64, usize) {
    (bytes + more_bytes, nodes + more_nodes)
}

/// Counts what is written.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
