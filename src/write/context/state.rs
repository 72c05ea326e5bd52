//! The state of a run.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::rows::write_marked;
use crate::context::Json;
use crate::context::node::{Node, Value};
use crate::context::reader;
use crate::request::{State, Variable};
use crate::write::escape::Visible;
use crate::write::look::Look;
use crate::write::words::{count, lines, pad, thousands};

pub(super) fn write<W: Write>(state: &State<'_>, look: &Look, out: &mut W) -> io::Result<()> {
    if state.is_empty() {
        return writeln!(out, "no state: nothing is alive, and there are no variables");
    }
    writeln!(out, "{}", verdict(state, look))?;
    for (name, value) in &state.fields {
        field(name, value, look, out)?;
    }
    if !state.variables.is_empty() {
        writeln!(out, " {}", look.styles.strong.paint("variables"))?;
        let names = state.variables.iter().map(|variable| Visible(&variable.name).to_string().width());
        let widest = names.max().unwrap_or(0).min(24);
        state.variables.iter().try_for_each(|variable| write_variable(variable, widest, look, out))?;
    }
    const INDENT: usize = 9;
    let room = look.wrap.map_or(usize::MAX, |columns| columns.saturating_sub(INDENT).max(20));
    for warning in state.warnings() {
        let words = Visible(&format!("{} ({})", warning.message, warning.code)).to_string();
        for (index, line) in lines(&words, room, room).into_iter().enumerate() {
            match index {
                0 => writeln!(out, " {} {line}", look.styles.warning.paint("warning"))?,
                _ => writeln!(out, "{}{line}", " ".repeat(INDENT))?,
            }
        }
    }
    Ok(())
}

fn verdict(state: &State<'_>, look: &Look) -> String {
    let alive = match state.alive {
        true => look.styles.good.paint("alive"),
        false => look.styles.faint.paint("not alive"),
    };
    let revision = state.revision.as_ref().map_or_else(String::new, |revision| {
        let revision = serde_json::from_str(revision.as_str()).unwrap_or_else(|_| revision.as_str().to_owned());
        format!(", revision {}", Visible(&revision))
    });
    let variables = count(state.variables.len() as u64, "variable");
    format!("{alive}{revision}: {}, {variables}", count(state.fields.len() as u64, "field"))
}

fn field<W: Write>(name: &str, value: &Json<'_>, look: &Look, out: &mut W) -> io::Result<()> {
    let node = reader::parse_own(value.as_str()).map_err(|error| io::Error::other(error.message().to_owned()))?;
    Nested { look, out }.value(&Head { is_strong: true, ..Head::of(name) }, &node, 1)
}

/// What stands before a value.
struct Head {
    words: String,
    is_strong: bool,
    /// Columns between it and the value.
    gap: usize,
}

impl Head {
    fn of(key: &str) -> Self {
        Head { words: shown_key(key), is_strong: false, gap: 2 }
    }

    fn behind_dash(key: &str) -> Self {
        Head { words: format!("- {}", shown_key(key)), ..Head::of(key) }
    }

    fn dash() -> Self {
        Head { words: "-".to_owned(), is_strong: false, gap: 1 }
    }
}

/// How much further in a level is.
const DEEPER: usize = 2;

/// Values in one another, each level further in.
struct Nested<'n, W> {
    look: &'n Look,
    out: &'n mut W,
}

impl<W: Write> Nested<'_, W> {
    /// A value behind its name or its dash, so far in.
    fn value(&mut self, head: &Head, node: &Node<'_>, indent: usize) -> io::Result<()> {
        match &node.value {
            Value::List(items) if !items.is_empty() => {
                self.line(Some(head), "", indent)?;
                items.iter().try_for_each(|item| self.item(item, indent + DEEPER))
            }
            Value::Map(entries) if !entries.is_empty() => {
                self.line(Some(head), "", indent)?;
                entries.iter().try_for_each(|entry| self.value(&Head::of(&entry.key), &entry.value, indent + DEEPER))
            }
            _ => {
                let lines = shown_lines(&scalar(node));
                match &*lines {
                    [line] => self.line(Some(head), line, indent),
                    lines => {
                        self.line(Some(head), "", indent)?;
                        lines.iter().try_for_each(|line| self.line(None, line, indent + DEEPER))
                    }
                }
            }
        }
    }

    /// An item of a list: the first line of a text, or the first entry of a map, stands behind the dash.
    fn item(&mut self, node: &Node<'_>, indent: usize) -> io::Result<()> {
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                for (index, entry) in entries.iter().enumerate() {
                    match index {
                        0 => self.value(&Head::behind_dash(&entry.key), &entry.value, indent)?,
                        _ => self.value(&Head::of(&entry.key), &entry.value, indent + DEEPER)?,
                    }
                }
                Ok(())
            }
            Value::List(items) if !items.is_empty() => self.value(&Head::dash(), node, indent),
            _ => {
                let lines = shown_lines(&scalar(node));
                lines.iter().enumerate().try_for_each(|(index, line)| match index {
                    0 => self.line(Some(&Head::dash()), line, indent),
                    _ => self.line(None, line, indent + DEEPER),
                })
            }
        }
    }

    /// Words behind a head; what does not fit goes on further in.
    fn line(&mut self, head: Option<&Head>, words: &str, indent: usize) -> io::Result<()> {
        const LEAST: usize = 20;
        let styles = &self.look.styles;
        let painted = head.map_or_else(String::new, |head| match head.is_strong {
            true => styles.strong.paint(&head.words),
            false => styles.faint.paint(&head.words),
        });
        let before = " ".repeat(indent);
        if words.is_empty() {
            return writeln!(self.out, "{}", format!("{before}{painted}").trim_end());
        }
        let gap = " ".repeat(head.map_or(0, |head| head.gap));
        let room = self.look.wrap.map_or(usize::MAX, |columns| columns.saturating_sub(indent + DEEPER).max(LEAST));
        let taken = head.map_or(0, |head| head.words.width() + head.gap);
        for (index, line) in lines(words, room.saturating_sub(taken).max(LEAST), room).into_iter().enumerate() {
            match index {
                0 => writeln!(self.out, "{before}{painted}{gap}{line}")?,
                _ => writeln!(self.out, "{before}  {line}")?,
            }
        }
        Ok(())
    }
}

fn shown_key(key: &str) -> String {
    if key.is_empty() { "\"\"".to_owned() } else { Visible(key).to_string() }
}

/// A value that holds no other. Text is in quotes only where it would be taken for something else.
fn scalar<'n>(node: &'n Node<'_>) -> Cow<'n, str> {
    match &node.value {
        Value::Null => "null".into(),
        Value::Bool(value) => if *value { "true" } else { "false" }.into(),
        Value::Number(spelling) => Cow::Borrowed(spelling),
        Value::List(_) => "[]".into(),
        Value::Map(_) => "{}".into(),
        Value::Text(text) => match text.to_cow() {
            text if is_ambiguous(&text) => format!("\"{text}\"").into(),
            text => text,
        },
    }
}

/// Whether text reads like a value of another kind.
fn is_ambiguous(text: &str) -> bool {
    let is_nested = text.starts_with(['[', '{']) && !["[]", "{}"].contains(&text);
    text.is_empty() || !is_nested && reader::parse(text).is_ok()
}

/// The lines of a text, with what cannot be seen made visible.
fn shown_lines(text: &str) -> Vec<String> {
    let is_ended = text.ends_with('\n');
    let text = text.strip_suffix('\n').unwrap_or(text);
    let shown = |line: &str| {
        let body = line.trim_end_matches(' ');
        format!("{}{}", Visible(body), "␠".repeat(line.len() - body.len()))
    };
    let mut lines: Vec<String> = text.split('\n').map(shown).collect();
    if let Some(last) = lines.last_mut().filter(|_| is_ended) {
        last.push('⏎');
    }
    lines
}

fn write_variable<W: Write>(variable: &Variable<'_>, widest: usize, look: &Look, out: &mut W) -> io::Result<()> {
    let name = Visible(&variable.name).to_string();
    let kind = variable.kind.as_deref().map(|kind| Visible(kind).to_string());
    let size = variable.size.map(|size| format!("size {}", thousands(size)));
    let about: Vec<String> = kind.into_iter().chain(size).collect();
    writeln!(out, "{}", format!("   {}  {}", pad(&name, widest), about.join("  ")).trim_end())?;
    match variable.preview.as_deref() {
        Some("") | None => Ok(()),
        Some(preview) => write_marked(preview, &[], (4, &look.styles.faint), look, out),
    }
}
