//! What probably happened, in words.

use super::Call;
use crate::context::{Content, Json, Message, Text};
use crate::diff::{Class, Comparison, Kind};

/// The likely causes of a break, the first in the prompt first.
pub(super) fn causes(before: &Call<'_>, now: &Call<'_>, comparison: &Comparison, shared: usize) -> Vec<String> {
    let mut causes = Vec::new();
    if let (Some(old), Some(new)) = (before.model, now.model)
        && old != new
    {
        causes.push(format!("model: {old} → {new}"));
    }
    causes.extend(tools(before.tools, now.tools));
    let (old, new) = (before.messages, now.messages);
    let of_messages = comparison.changes.iter().find(|change| !change.a.is_empty() || !change.b.is_empty());
    let Some(change) = of_messages.filter(|_| shared < old.len()) else { return causes };
    let (a, b) = (change.a.first().copied(), change.b.first().copied());
    let classes: Vec<&str> = change.classes.iter().map(|class| class.as_str()).collect();
    causes.push(match (change.kind, a, b) {
        (Kind::Removed, Some(at), _) => format!("{} left the context", named(&removed_from(comparison, at), &old[at])),
        (Kind::Inserted, _, Some(at)) => format!("{} was put in before what was there", named(&change.b, &new[at])),
        (Kind::Moved, Some(at), Some(to)) => format!("{} moved to {to}", named(&change.a, &old[at])),
        (_, Some(at), Some(to)) => match truncated(&old[at], &new[to]) {
            Some(words) => format!("{}: {words}", named(&change.a, &old[at])),
            None => match stretch(&old[at], &new[to]) {
                Some((from, to)) => {
                    let what = what(&change.classes, &from, &to, &classes);
                    format!("{}: {what}, {} → {}", named(&change.a, &old[at]), quoted(&from), quoted(&to))
                }
                None => format!("{}: {}", named(&change.a, &old[at]), classes.join(", ")),
            },
        },
        _ => classes.join(", "),
    });
    causes
}

/// The messages in a row that left, from the first.
fn removed_from(comparison: &Comparison, first: usize) -> Vec<usize> {
    let all: Vec<usize> =
        comparison.changes.iter().filter(|change| change.kind == Kind::Removed).flat_map(|c| c.a.clone()).collect();
    (first..).take_while(|at| all.contains(at)).collect()
}

fn named(indices: &[usize], message: &Message<'_>) -> String {
    let role = message.role.as_str();
    match indices {
        [first, .., last] if first != last => format!("messages {first}–{last} ({role} first)"),
        [one, ..] => format!("message {one} ({role})"),
        [] => role.to_owned(),
    }
}

fn what(classes: &[Class], from: &str, to: &str, words: &[&str]) -> String {
    let is_clock = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        digits >= 3 && text.contains(':')
    };
    let is_date = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        digits >= 4 && text.matches(['-', '/']).count() >= 2
    };
    match classes {
        [Class::Volatile] if is_clock(from) && is_clock(to) => "a clock time".to_owned(),
        [Class::Volatile] if is_date(from) && is_date(to) => "a date".to_owned(),
        [Class::Volatile] => "a time, an id or a counter".to_owned(),
        _ => words.join(", "),
    }
}

/// The first text block that differs on both sides.
fn texts<'m>(old: &'m Message<'_>, new: &'m Message<'_>) -> Option<(String, String)> {
    let own = |content: &Content<'_>| match content {
        Content::Text(text) | Content::Thinking { text, .. } => Some(text.to_string()),
        Content::ToolResult { content, .. } => {
            Some(content.iter().filter_map(Content::as_text).map(Text::to_string).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    };
    let pair = old.blocks.iter().zip(&new.blocks).find(|(a, b)| a.content != b.content)?;
    own(&pair.0.content).zip(own(&pair.1.content))
}

/// What stands in each at the first difference, whole words of it.
fn stretch(old: &Message<'_>, new: &Message<'_>) -> Option<(String, String)> {
    const CHARS: usize = 40;
    let (a, b) = texts(old, new)?;
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let same = (0..=same).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at))?;
    let is_word = |c: &char| c.is_alphanumeric() || matches!(c, ':' | '-' | '.' | '_' | '/' | '+');
    let start = a[..same].char_indices().rev().take_while(|(_, c)| is_word(c)).last().map_or(same, |(at, _)| at);
    let word = |text: &str| {
        let rest = &text[start..];
        let changed = same - start;
        let end = rest.char_indices().find(|(at, c)| *at >= changed && !is_word(c)).map_or(rest.len(), |(at, _)| at);
        rest[..end.max(rest.chars().next().map_or(0, char::len_utf8))].chars().take(CHARS).collect::<String>()
    };
    Some((word(&a), word(&b)))
}

/// Whether a result was cut, which happens when old results are made to fit.
fn truncated(old: &Message<'_>, new: &Message<'_>) -> Option<&'static str> {
    let (a, b) = texts(old, new)?;
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let is_cut = b.len() < a.len() && same > 0 && same * 2 >= b.len() && a.len() - b.len() > 16;
    is_cut.then_some("rewritten by truncation")
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { format!("{text:?}").trim_matches('"').to_owned() }
}

/// What became of the tools.
fn tools(old: &[Json<'_>], new: &[Json<'_>]) -> Option<String> {
    if old == new {
        return None;
    }
    let name = |tool: &Json<'_>| tool_name(tool.as_str()).unwrap_or_else(|| "a tool without a name".to_owned());
    let names = |tools: &[Json<'_>]| tools.iter().map(name).collect::<Vec<_>>();
    let sorted = |tools: &[Json<'_>]| {
        let mut all: Vec<String> = tools.iter().map(|tool| tool.as_str().to_owned()).collect();
        all.sort_unstable();
        all
    };
    if sorted(old) == sorted(new) {
        return Some("tools: the same tools in another order".to_owned());
    }
    let (old_names, new_names) = (names(old), names(new));
    let only = |a: &[String], b: &[String]| a.iter().filter(|name| !b.contains(name)).cloned().collect::<Vec<_>>();
    let mut words = Vec::new();
    let (gone, come) = (only(&old_names, &new_names), only(&new_names, &old_names));
    if !come.is_empty() {
        words.push(format!("{} added", come.join(", ")));
    }
    if !gone.is_empty() {
        words.push(format!("{} removed", gone.join(", ")));
    }
    let altered: Vec<String> =
        old.iter().filter(|tool| new_names.contains(&name(tool)) && !new.contains(tool)).map(name).collect();
    if !altered.is_empty() {
        words.push(format!("the schema of {} changed", altered.join(", ")));
    }
    if words.is_empty() {
        words.push("another order or number of tools".to_owned());
    }
    Some(format!("tools: {}", words.join("; ")))
}

/// The name of a tool in any shape.
fn tool_name(tool: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(tool).ok()?;
    let inner = value.get("function").or_else(|| value.get("toolSpec")).unwrap_or(&value);
    let name = inner.get("name").or_else(|| inner.get("type")).and_then(|name| name.as_str());
    name.map(str::to_owned)
}
