//! Values as Python spells them: `str`, `repr` and `json.dumps`.

use std::ops::Range;

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::filters::Generator;
use crate::template::repr as text_repr;

/// Nested deeper, Python itself gives up too.
const MAX_DEPTH: usize = 200;

/// What is spelled longer is taken for a template that does not end: a list may be long without holding memory.
const MAX_BYTES: usize = 64 << 20;

fn check_len(out: &str) -> Result<(), Error> {
    if out.len() > MAX_BYTES { Err(Error::from(ErrorKind::OutOfFuel)) } else { Ok(()) }
}

/// A failure as Python would report it.
pub(super) fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

/// What Python calls the type of a value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "Undefined",
        ValueKind::None => "NoneType",
        ValueKind::Bool => "bool",
        ValueKind::Number if value.is_integer() => "int",
        ValueKind::Number => "float",
        ValueKind::String => "str",
        ValueKind::Bytes => "bytes",
        ValueKind::Map => "dict",
        ValueKind::Seq if value.downcast_object_ref::<Tuple>().is_some() => "tuple",
        ValueKind::Iterable if value.downcast_object_ref::<Generator>().is_some() => "generator",
        ValueKind::Seq | ValueKind::Iterable => "list",
        _ => "object",
    }
}

/// `str(value)`: what a template prints.
pub(super) fn str(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        _ => {
            let mut out = String::new();
            write_repr(&mut out, value, 0)?;
            Ok(out)
        }
    }
}

fn write_repr(out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    check_len(out)?;
    if depth > MAX_DEPTH {
        return Err(fault("maximum recursion depth exceeded while getting the repr of an object"));
    }
    match value.kind() {
        ValueKind::Undefined if depth > 0 => out.push_str("Undefined"),
        ValueKind::Undefined => {}
        ValueKind::None => out.push_str("None"),
        ValueKind::Number if !value.is_integer() => out.push_str(&float(value)?),
        ValueKind::String => {
            out.push_str(&text_repr(&value.as_str().unwrap_or_default().into(), u64::MAX));
        }
        ValueKind::Map if value.as_object().is_some_and(|object| object.try_iter_pairs().is_some()) => {
            out.push('{');
            let pairs = value.as_object().and_then(|object| object.try_iter_pairs()).into_iter().flatten();
            for (index, (key, item)) in pairs.enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_repr(out, &key, depth + 1)?;
                out.push_str(": ");
                write_repr(out, &item, depth + 1)?;
            }
            out.push('}');
        }
        ValueKind::Seq | ValueKind::Iterable if value.downcast_object_ref::<Generator>().is_none() => {
            let is_tuple = value.downcast_object_ref::<Tuple>().is_some();
            out.push(if is_tuple { '(' } else { '[' });
            let mut count = 0;
            for item in value.try_iter()? {
                out.push_str(if count > 0 { ", " } else { "" });
                write_repr(out, &item, depth + 1)?;
                count += 1;
            }
            out.push_str(match (is_tuple, count) {
                (true, 1) => ",)",
                (true, _) => ")",
                (false, _) => "]",
            });
        }
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
}

/// `repr` of a float: the shortest digits that read back, with an exponent beyond sixteen of them.
fn float(value: &Value) -> Result<String, Error> {
    let number = f64::try_from(value.clone())?;
    if !number.is_finite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return Ok(if number.is_nan() { "nan".to_owned() } else { format!("{sign}inf") });
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number == 0.0 || (-4..16).contains(&exponent) {
        return Ok(format!("{number:?}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    Ok(format!("{digits}e{sign}{:02}", exponent.abs()))
}

/// How `json.dumps` is asked to write.
pub(super) struct Style {
    /// What one level is indented by; `None` is one line.
    pub indent: Option<String>,
    pub item_separator: String,
    pub key_separator: String,
    pub ensure_ascii: bool,
    pub sort_keys: bool,
}

/// `json.dumps(value, …)`.
pub(super) fn json(value: &Value, style: &Style) -> Result<String, Error> {
    let mut out = String::new();
    write_json(&mut out, value, style, 0)?;
    Ok(out)
}

fn write_json(out: &mut String, value: &Value, style: &Style, depth: usize) -> Result<(), Error> {
    check_len(out)?;
    if depth > MAX_DEPTH {
        return Err(fault("maximum recursion depth exceeded while encoding a JSON object"));
    }
    match type_name(value) {
        "NoneType" => out.push_str("null"),
        "bool" => out.push_str(if value.is_true() { "true" } else { "false" }),
        "int" => out.push_str(&value.to_string()),
        "float" => out.push_str(&json_float(value)?),
        "str" => write_json_text(out, value.as_str().unwrap_or_default(), style),
        "dict" => write_json_object(out, value, style, depth)?,
        "list" | "tuple" => {
            out.push('[');
            let mut count = 0;
            for item in value.try_iter()? {
                write_break(out, style, depth + 1, count > 0);
                write_json(out, &item, style, depth + 1)?;
                count += 1;
            }
            write_end(out, style, depth, count, ']');
        }
        other => return Err(fault(format!("Object of type {other} is not JSON serializable"))),
    }
    Ok(())
}

fn write_json_object(out: &mut String, value: &Value, style: &Style, depth: usize) -> Result<(), Error> {
    let pairs = value.as_object().and_then(|object| object.try_iter_pairs());
    let mut pairs: Vec<(Value, Value)> = pairs.into_iter().flatten().collect();
    if style.sort_keys {
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    out.push('{');
    for (index, (key, item)) in pairs.iter().enumerate() {
        write_break(out, style, depth + 1, index > 0);
        match type_name(key) {
            "str" => write_json_text(out, key.as_str().unwrap_or_default(), style),
            "NoneType" | "bool" | "int" | "float" => {
                out.push('"');
                write_json(out, key, style, depth)?;
                out.push('"');
            }
            other => return Err(fault(format!("keys must be str, int, float, bool or None, not {other}"))),
        }
        out.push_str(&style.key_separator);
        write_json(out, item, style, depth + 1)?;
    }
    write_end(out, style, depth, pairs.len(), '}');
    Ok(())
}

/// What stands before an item.
fn write_break(out: &mut String, style: &Style, depth: usize, separated: bool) {
    if separated {
        out.push_str(&style.item_separator);
    }
    if let Some(indent) = &style.indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(indent.as_str(), depth));
    }
}

fn write_end(out: &mut String, style: &Style, depth: usize, items: usize, end: char) {
    if items > 0 {
        write_break(out, style, depth, false);
    }
    out.push(end);
}

fn json_float(value: &Value) -> Result<String, Error> {
    Ok(match float(value)?.as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        finite => finite.to_owned(),
    })
}

fn write_json_text(out: &mut String, text: &str, style: &Style) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            ' '..='~' => out.push(character),
            _ if style.ensure_ascii => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// What Python's `str.isspace` takes for white space: more control characters than Unicode's property.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Where `str.splitlines` breaks.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lines of `str.splitlines`, and where each ends with its break; `\r\n` is one.
pub(super) fn lines(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut lines = Vec::new();
    let mut start = 0;
    while let Some(at) = text[start..].find(is_break).map(|at| start + at) {
        let wide = text[at..].chars().next().map_or(1, char::len_utf8);
        let end = at + if text[at..].starts_with("\r\n") { 2 } else { wide };
        lines.push((start..at, end));
        start = end;
    }
    if start < text.len() {
        lines.push((start..text.len(), text.len()));
    }
    lines
}

/// `str.title`: a letter behind none is large, every other small.
pub(super) fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for character in text.chars() {
        if in_word {
            out.extend(character.to_lowercase());
        } else {
            out.extend(character.to_uppercase());
        }
        in_word = character.is_alphabetic();
    }
    out
}
