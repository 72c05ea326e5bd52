//! A document's values as YAML and JSON, key by key.

use std::io::{self, Write};

use serde::ser::{Error as _, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::yaml::{LONGEST_PLAIN_KEY, write_flow, write_quoted, write_text};
use crate::context::Text;
use crate::context::node::{Node, Value};

/// Writes a value as a YAML document that reads back to it. Text of several lines stands in literal blocks where they hold
/// it exactly.
///
/// # Errors
/// Those of the writer; and of a number that JSON cannot spell.
pub(crate) fn write_document<W: Write>(root: &Node<'_>, out: &mut W) -> io::Result<()> {
    match &root.value {
        Value::Map(entries) if !entries.is_empty() => value(root, 0, true, out),
        Value::List(items) if !items.is_empty() => value(root, 0, true, out),
        _ => flow(root, out),
    }
}

/// Writes a value behind its key or its dash; at the start of a line maps and lists begin there.
fn value<W: Write>(node: &Node<'_>, depth: usize, at_start: bool, out: &mut W) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    match &node.value {
        Value::Map(entries) if !entries.is_empty() && !has_long_key(node) => {
            for (index, entry) in entries.iter().enumerate() {
                match (index, at_start) {
                    (0, true) => {}
                    (0, false) => write!(out, "\n{indent}")?,
                    _ => out.write_all(indent.as_bytes())?,
                }
                scalar_text(&Text::plain(&*entry.key), out)?;
                out.write_all(b":")?;
                behind(&entry.value, depth, out)?;
            }
            Ok(())
        }
        Value::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                match (index, at_start) {
                    (0, true) => {}
                    (0, false) => write!(out, "\n{indent}")?,
                    _ => out.write_all(indent.as_bytes())?,
                }
                match &item.value {
                    Value::Map(entries) if !entries.is_empty() && !has_long_key(item) => {
                        out.write_all(b"- ")?;
                        value(item, depth + 1, true, out)?;
                    }
                    _ => {
                        out.write_all(b"-")?;
                        behind(item, depth, out)?;
                    }
                }
            }
            Ok(())
        }
        _ => behind(node, depth, out),
    }
}

fn behind<W: Write>(node: &Node<'_>, depth: usize, out: &mut W) -> io::Result<()> {
    match &node.value {
        Value::Null => writeln!(out, " null"),
        Value::Bool(it) => writeln!(out, " {it}"),
        Value::Number(spelling) => writeln!(out, " {spelling}"),
        Value::Map(entries) if entries.is_empty() => writeln!(out, " {{}}"),
        Value::List(items) if items.is_empty() => writeln!(out, " []"),
        Value::Map(_) if has_long_key(node) => {
            out.write_all(b" ")?;
            flow(node, out)
        }
        Value::Map(_) | Value::List(_) => value(node, depth + 1, false, out),
        Value::Text(text) => {
            let whole = text.to_cow();
            out.write_all(b" ")?;
            if whole.contains('\n') {
                return write_text(text, &"  ".repeat(depth + 1), out);
            }
            scalar_text(text, out)?;
            out.write_all(b"\n")
        }
    }
}

/// YAML takes no key of more than 1,024 characters without a `?` before it; flow style writes one.
fn has_long_key(node: &Node<'_>) -> bool {
    // Escaped, a character of a key is ten at most.
    matches!(&node.value, Value::Map(entries) if entries.iter().any(|entry| entry.key.len() > LONGEST_PLAIN_KEY / 10))
}

fn flow<W: Write>(node: &Node<'_>, out: &mut W) -> io::Result<()> {
    let json = node.to_json().map_err(|error| io::Error::other(error.message().to_owned()))?;
    write_flow(json.as_str(), out)?;
    out.write_all(b"\n")
}

/// A word stands as it is where no reader takes it for anything else.
fn scalar_text<W: Write>(text: &Text<'_>, out: &mut W) -> io::Result<()> {
    let text = text.to_cow();
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    const TAKEN: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "y"];
    if is_word && !TAKEN.contains(&&*text) && text != "n" {
        return out.write_all(text.as_bytes());
    }
    write_quoted(&text, out)
}

/// Keys in their order, numbers as they are spelled.
impl serde::Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(spelling) => {
                let raw: &RawValue = serde_json::from_str(spelling).map_err(S::Error::custom)?;
                raw.serialize(serializer)
            }
            Value::Text(text) => text.serialize(serializer),
            Value::List(items) => serializer.collect_seq(items),
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries {
                    map.serialize_entry(&*entry.key, &entry.value)?;
                }
                map.end()
            }
        }
    }
}
