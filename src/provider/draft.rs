//! JSON that is about to be written, pointing at the context and at the body it comes from.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::context::node::{Entry, Node, Value};
use crate::context::{Json, Text};

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Draft<'c> {
    Null,
    Bool(bool),
    Text(Text<'c>),
    /// A value that is handed through.
    Json(Json<'c>),
    /// A value as it was recorded.
    Node(&'c Node<'c>),
    List(Vec<Draft<'c>>),
    Map(Vec<(Cow<'c, str>, Draft<'c>)>),
}

impl<'c> Draft<'c> {
    /// A map of these entries.
    pub fn map<const N: usize>(entries: [(&'static str, Draft<'c>); N]) -> Self {
        Draft::Map(entries.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect())
    }

    /// A word.
    pub fn word(word: &'static str) -> Self {
        Draft::Text(Text::plain(word))
    }

    /// A recorded map, entry by entry.
    pub fn entries_of(node: &'c Node<'c>) -> Self {
        match &node.value {
            Value::Map(entries) => {
                let entry = |entry: &'c Entry<'c>| (Cow::Borrowed(&*entry.key), Draft::Node(&entry.value));
                Draft::Map(entries.iter().map(entry).collect())
            }
            _ => Draft::Node(node),
        }
    }

    /// Adds an entry to a map.
    pub fn push(&mut self, key: impl Into<Cow<'c, str>>, value: Draft<'c>) {
        if let Draft::Map(entries) = self {
            entries.push((key.into(), value));
        }
    }

    /// Writes it as JSON in canonical spelling.
    pub fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        match self {
            Draft::Null => out.write_all(b"null"),
            Draft::Bool(value) => write!(out, "{value}"),
            Draft::Text(text) => {
                out.write_all(b"\"")?;
                text.write_escaped(out)?;
                out.write_all(b"\"")
            }
            Draft::Json(json) => out.write_all(json.as_str().as_bytes()),
            Draft::Node(node) => node.write_json(out),
            Draft::List(items) => {
                out.write_all(b"[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.write_all(b",")?;
                    }
                    item.write(out)?;
                }
                out.write_all(b"]")
            }
            Draft::Map(entries) => {
                out.write_all(b"{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.write_all(if index > 0 { b",\"" } else { b"\"" })?;
                    Text::plain(&**key).write_escaped(out)?;
                    out.write_all(b"\":")?;
                    value.write(out)?;
                }
                out.write_all(b"}")
            }
        }
    }

    /// The same, on its own.
    pub fn into_owned<'t>(self) -> Draft<'t> {
        match self {
            Draft::Null => Draft::Null,
            Draft::Bool(value) => Draft::Bool(value),
            Draft::Text(text) => Draft::Text(text.into_owned()),
            Draft::Json(json) => Draft::Json(json.to_owned()),
            node @ Draft::Node(_) => Draft::Json(node.to_json()),
            Draft::List(items) => Draft::List(items.into_iter().map(Draft::into_owned).collect()),
            Draft::Map(entries) => {
                let own = |(key, value): (Cow<'_, str>, Draft<'_>)| (Cow::Owned(key.into_owned()), value.into_owned());
                Draft::Map(entries.into_iter().map(own).collect())
            }
        }
    }

    /// The value of a key, taken out of a map.
    pub fn take(self, key: &str) -> Option<Draft<'c>> {
        match self {
            Draft::Map(entries) => entries.into_iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same as a JSON value on its own.
    pub fn to_json(&self) -> Json<'static> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).expect("a vector takes every write");
        Json::from_canonical(String::from_utf8(bytes).expect("JSON text is written as UTF-8"))
    }
}
