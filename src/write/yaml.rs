//! A context as a YAML list of messages, which reads back to the same bytes.

use std::io::{self, Write};

use super::escape::is_live;
use crate::context::{Content, Context, Text};

/// Writes the messages as a YAML list. Text stands in literal blocks where they hold it exactly, else in double quotes;
/// tools are no messages and are left out.
///
/// # Errors
/// Those of the writer.
pub fn write_yaml<W: Write>(context: &Context<'_>, out: &mut W) -> io::Result<()> {
    if context.messages.is_empty() {
        return out.write_all(b"[]\n");
    }
    for message in &context.messages {
        out.write_all(b"- role: ")?;
        write_quoted(message.role.as_str(), out)?;
        match &*message.blocks {
            [block] => match &block.content {
                Content::Text(text) => {
                    out.write_all(b"\n  content: ")?;
                    write_text(text, "    ", out)?;
                    continue;
                }
                _ => out.write_all(b"\n  content:\n")?,
            },
            [] => {
                out.write_all(b"\n  content: []\n")?;
                continue;
            }
            _ => out.write_all(b"\n  content:\n")?,
        }
        for block in &message.blocks {
            match &block.content {
                Content::Text(text) => {
                    out.write_all(b"    - type: text\n      text: ")?;
                    write_text(text, "        ", out)?;
                }
                // Canonical JSON is YAML, once what YAML does not take raw is escaped.
                other => {
                    let mut json = Vec::new();
                    other.write_canonical(&mut json)?;
                    out.write_all(b"    - ")?;
                    write_flow(&String::from_utf8_lossy(&json), out)?;
                    out.write_all(b"\n")?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn write_text<W: Write>(text: &Text<'_>, indent: &str, out: &mut W) -> io::Result<()> {
    let text = text.to_cow();
    if !fits_literal(&text) {
        write_quoted(&text, out)?;
        return out.write_all(b"\n");
    }
    let body = text.trim_end_matches('\n');
    let chomping = match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    };
    writeln!(out, "{chomping}")?;
    for line in text.split_terminator('\n') {
        if line.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "{indent}{line}")?;
        }
    }
    Ok(())
}

/// Whether a literal block gives back this very text: several lines of it, none that begins or ends with a space where
/// that would be lost on the eye or on the parser, and nothing that YAML or a terminal would not take as it is.
fn fits_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && text.lines().all(|line| !line.ends_with([' ', '\t']))
        && text.chars().all(|character| matches!(character, '\n' | '\t') || !is_live(character))
}

pub(super) fn write_quoted<W: Write>(text: &str, out: &mut W) -> io::Result<()> {
    let mut json = vec![b'"'];
    Text::plain(text).write_escaped(&mut json)?;
    json.push(b'"');
    write_json(&String::from_utf8_lossy(&json), out)
}

/// Writes canonical JSON as YAML: the two spell characters above U+FFFF differently when they are escaped.
fn write_json<W: Write>(json: &str, out: &mut W) -> io::Result<()> {
    for character in json.chars() {
        match character as u32 {
            _ if !is_live(character) => write!(out, "{character}")?,
            code @ 0..=0xffff => write!(out, "\\u{code:04x}")?,
            code => write!(out, "\\U{code:08x}")?,
        }
    }
    Ok(())
}

/// A key of more bytes gets its indicator.
pub(super) const LONGEST_PLAIN_KEY: usize = 1000;

/// Writes canonical JSON as YAML in flow style. A key may be longer than YAML allows to stand without its indicator.
pub(super) fn write_flow<W: Write>(json: &str, out: &mut W) -> io::Result<()> {
    let bytes = json.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let end = string_end(bytes, at);
        if end - at > LONGEST_PLAIN_KEY && bytes.get(end) == Some(&b':') {
            write_json(&json[written..at], out)?;
            out.write_all(b"? ")?;
            written = at;
        }
        at = end;
    }
    write_json(&json[written..], out)
}

/// The byte behind the string that begins here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}
