//! A manifest as YAML: the same document, key by key.

use std::io::{self, Write};

use crate::context::Text;
use crate::context::node::{Node, Value};
use crate::select::Manifest;
use crate::write::yaml::{write_quoted, write_text};

/// Writes a manifest as YAML, which reads back to the value that its JSON has.
///
/// # Errors
/// Those of the writer; and of a document that is larger than what polyloop reads.
pub fn write_manifest_yaml<W: Write>(manifest: &Manifest<'_>, out: &mut W) -> io::Result<()> {
    let json = serde_json::to_string(manifest).map_err(io::Error::from)?;
    let root = crate::context::reader::parse(&json).map_err(|error| io::Error::other(error.message().to_owned()))?;
    value(&root, 0, true, out)
}

/// Writes a value behind its key or its dash; at the start of a line maps and lists begin there.
fn value<W: Write>(node: &Node<'_>, depth: usize, at_start: bool, out: &mut W) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => {
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
                    Value::Map(entries) if !entries.is_empty() => {
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
