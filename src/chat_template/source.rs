//! What Jinja2 knows and the engine does not, spelled in the engine's words. Lines stay where they are.

use std::borrow::Cow;

use super::{bounds, operators, slices};
use crate::error::{Code, Error, Result};

/// The source with `generation` blocks as scopes, loops that refuse what Python cannot iterate, and operators and
/// escapes that the engine has not.
///
/// # Errors
/// `request.limit`: a tag is too long.
pub(super) fn spell(source: &str) -> Result<String> {
    // Jinja2 reads every line break as `\n`.
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    // Text is safe by these filters alone, or looks so: elsewhere sums stay as they are.
    let is_filter =
        |at: usize, name: &str| !source[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let has = |name: &str| source.match_indices(name).any(|(at, _)| is_filter(at, name));
    let has_operators = ["safe", "escape", "|e", "| e"].into_iter().any(has);
    let has_operators = has_operators || ["'%", "' %", "\"%", "\" %"].iter().any(|format| source.contains(format));
    let mut out = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(start) = rest.find("{") {
        let (before, tag) = rest.split_at(start);
        out.push_str(before);
        let len = match tag.get(..2) {
            Some("{#") => tag.find("#}").map_or(tag.len(), |end| end + 2),
            Some("{{") => tag_len(tag, "}}"),
            Some("{%") => tag_len(tag, "%}"),
            _ => 1,
        };
        let (tag, after) = tag.split_at(len);
        rest = after;
        let tag = &*match tag.get(..2) {
            Some("{{" | "{%") if bounds::is_too_long(tag) => {
                return Err(Error::new(Code::RequestLimit, "one tag of the chat template is too long"));
            }
            Some("{{" | "{%") if tag.len() >= 4 => inside(tag, has_operators),
            _ => Cow::Borrowed(tag),
        };
        let Some((name, body)) = tag.strip_prefix("{%").map(name_in) else {
            out.push_str(tag);
            continue;
        };
        match name {
            "raw" => {
                let len = raw_len(after);
                out.push_str(tag);
                out.push_str(&after[..len]);
                rest = &after[len..];
            }
            "generation" => out.push_str(&tag.replacen(name, "with", 1)),
            "endgeneration" => out.push_str(&tag.replacen(name, "endwith", 1)),
            "for" => out.push_str(&checked_loop(tag, body).unwrap_or_else(|| tag.to_owned())),
            _ => out.push_str(tag),
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The name of the filter that a loop's iterable goes through.
pub(super) const ITERABLE: &str = "__iterable";

/// A tag with its inside spelled anew.
fn inside(tag: &str, has_operators: bool) -> Cow<'_, str> {
    let has_escapes = ESCAPES.iter().any(|escape| tag.contains(escape));
    let repeats = tag.contains('*') && tag.contains('[');
    let has_slices = tag.contains('[') && tag.contains(':');
    if !has_operators && !has_escapes && !repeats && !has_slices {
        return Cow::Borrowed(tag);
    }
    // What trims space stands beside the braces.
    let start = if tag[2..].starts_with(['-', '+']) { 3 } else { 2 };
    let end = tag.len() - if tag[..tag.len() - 2].ends_with(['-', '+']) { 3 } else { 2 };
    if start > end {
        return Cow::Borrowed(tag);
    }
    let body = if has_escapes { unescape(&tag[start..end]) } else { tag[start..end].to_owned() };
    let body = if has_slices { slices::spell(&body, 0) } else { body };
    let body = if repeats { bounds::defuse(&body) } else { body };
    let body = if has_operators { operators::spell(&body, 0) } else { body };
    Cow::Owned(format!("{}{body}{}", &tag[..start], &tag[end..]))
}

/// Escapes of Python's string literals that the engine leaves as they stand.
const ESCAPES: [&str; 3] = ["\\a", "\\v", "\\U"];

/// String literals with those escapes spelled as others.
fn unescape(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while !rest.is_empty() {
        let (token, after) = rest.split_at(token_len(rest));
        rest = after;
        if !token.starts_with(['"', '\'']) {
            out.push_str(token);
            continue;
        }
        let mut characters = token.char_indices();
        while let Some((at, character)) = characters.next() {
            let Some(escaped) = (character == '\\').then(|| characters.next()).flatten() else {
                out.push(character);
                continue;
            };
            let wide = token.get(at + 2..at + 10).and_then(|digits| u32::from_str_radix(digits, 16).ok());
            match (escaped.1, wide.and_then(char::from_u32)) {
                ('a', _) => out.push_str("\\x07"),
                ('v', _) => out.push_str("\\x0b"),
                ('U', Some(wide)) => {
                    out.push(wide);
                    characters.nth(7);
                }
                (other, _) => out.extend(['\\', other]),
            }
        }
    }
    out
}

/// The first word of a block tag's inside, and what follows it.
fn name_in(inside: &str) -> (&str, &str) {
    let inside = inside.trim_start_matches(['-', '+']).trim_start();
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
    inside.split_at(end)
}

/// The length of a tag, whose strings may hold its end.
fn tag_len(tag: &str, end: &str) -> usize {
    let mut at = 2;
    while at < tag.len() {
        if tag[at..].starts_with(end) {
            return at + end.len();
        }
        at += token_len(&tag[at..]);
    }
    tag.len()
}

/// The length of a string literal, a word, or else one character.
pub(super) fn token_len(text: &str) -> usize {
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, quote @ ('"' | '\''))) => {
            let mut escaped = false;
            for (at, character) in characters {
                if character == quote && !escaped {
                    return at + 1;
                }
                escaped = character == '\\' && !escaped;
            }
            text.len()
        }
        Some((_, first)) if first.is_alphanumeric() || first == '_' => {
            text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
        }
        Some((_, first)) => first.len_utf8(),
        None => 0,
    }
}

/// The length up to the tag that ends a raw block.
fn raw_len(text: &str) -> usize {
    let ends = |at: usize| name_in(&text[at + 2..]).0 == "endraw";
    text.match_indices("{%").map(|(at, _)| at).find(|at| ends(*at)).unwrap_or(text.len())
}

/// `for x in ITEMS if TEST recursive` with the items put through a filter that checks them.
fn checked_loop(tag: &str, body: &str) -> Option<String> {
    let offset = body.as_ptr() as usize - tag.as_ptr() as usize;
    let inside_end = tag.strip_suffix("%}")?.trim_end_matches(['-', '+']).len();
    let (mut from, mut to, mut depth) = (None, inside_end, 0i32);
    let mut at = offset;
    while at < inside_end {
        let len = token_len(&tag[at..inside_end]);
        match &tag[at..at + len] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "in" if from.is_none() && depth == 0 => from = Some(at + len),
            "if" | "recursive" if from.is_some() && depth == 0 => {
                to = at;
                break;
            }
            _ => {}
        }
        at += len;
    }
    let (from, to) = (from?, to);
    Some(format!("{} ({})|{ITERABLE} {}", &tag[..from], tag.get(from..to)?, &tag[to..]))
}
