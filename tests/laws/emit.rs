//! Documents as JSON and as YAML, spelled in as many ways as the two have; maps in any order.

use crate::model::Json;
use crate::text::Choices;

/// The document as JSON.
pub fn json(document: &Json, choices: &mut Choices) -> String {
    let mut out = String::new();
    write_json(document, choices, &mut out);
    out
}

fn write_json(value: &Json, choices: &mut Choices, out: &mut String) {
    let gap = |choices: &mut Choices| choices.of(&["", "", "", " ", "\n", "\t", "\r\n", "\r"]).to_owned();
    *out += &gap(choices);
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => *out += &value.compact(),
        Json::Text(text) => write_json_string(text, choices, out),
        Json::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                *out += if index > 0 { "," } else { "" };
                write_json(item, choices, out);
            }
            *out += &gap(choices);
            out.push(']');
        }
        Json::Map(_) | Json::Object(_) => {
            out.push('{');
            for (index, (key, value)) in ordered(value, choices).into_iter().enumerate() {
                *out += if index > 0 { "," } else { "" };
                *out += &gap(choices);
                write_json_string(key, choices, out);
                *out += &gap(choices);
                out.push(':');
                write_json(value, choices, out);
            }
            *out += &gap(choices);
            out.push('}');
        }
    }
    *out += &gap(choices);
}

/// The entries of a map, in any order where the order says nothing.
fn ordered<'j>(value: &'j Json, choices: &mut Choices) -> Vec<(&'j str, &'j Json)> {
    let (Json::Map(entries) | Json::Object(entries)) = value else { return Vec::new() };
    let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    if matches!(value, Json::Map(_)) {
        choices.shuffle(&mut entries);
    }
    entries
}

fn write_json_string(text: &str, choices: &mut Choices, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '/' if choices.one_in(2) => *out += "\\/",
            _ if choices.one_in(12) || character < ' ' && choices.one_in(2) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    *out += &match choices.one_in(2) {
                        true => format!("\\u{unit:04X}"),
                        false => format!("\\u{unit:04x}"),
                    };
                }
            }
            '"' | '\\' | '\0'..='\x1f' => {
                let quoted = serde_json::to_string(&character).expect("a character is JSON");
                *out += &quoted[1..quoted.len() - 1];
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// The document as YAML: text in quotes or in block scalars, keys in quotes, maps and lists in block or flow style.
pub fn yaml(document: &Json, choices: &mut Choices) -> String {
    let mut out = String::new();
    if choices.one_in(4) {
        out += "# a comment\n---\n";
    }
    write_block(document, 0, choices, &mut out);
    out
}

/// A value at the start of its own line, indented so far.
fn write_block(value: &Json, indent: usize, choices: &mut Choices, out: &mut String) {
    match value {
        Json::Map(entries) | Json::Object(entries) if !entries.is_empty() => {
            for (key, value) in ordered(value, choices) {
                *out += &" ".repeat(indent);
                write_quoted(key, choices, out);
                out.push(':');
                write_value(value, indent, choices, out);
            }
        }
        Json::List(items) if !items.is_empty() => {
            for item in items {
                *out += &" ".repeat(indent);
                out.push('-');
                write_value(item, indent, choices, out);
            }
        }
        _ => {
            *out += &" ".repeat(indent);
            write_flow(value, choices, out);
            out.push('\n');
        }
    }
}

/// A value after a key or a dash that is indented so far, to the end of its line.
fn write_value(value: &Json, indent: usize, choices: &mut Choices, out: &mut String) {
    match value {
        Json::Text(text) => {
            out.push(' ');
            match choices.below(3) {
                0 if fits_block(text) => write_literal(text, indent + 2, choices, out),
                1 if fits_folded(text) => write_folded(text, indent + 2, out),
                _ => {
                    write_quoted(text, choices, out);
                    out.push('\n');
                }
            }
        }
        Json::Map(entries) | Json::Object(entries) if !entries.is_empty() && !choices.one_in(4) => {
            out.push('\n');
            write_block(value, indent + 2, choices, out);
        }
        Json::List(items) if !items.is_empty() && !choices.one_in(4) => {
            out.push('\n');
            write_block(value, indent + 2, choices, out);
        }
        _ => {
            out.push(' ');
            write_flow(value, choices, out);
            out.push('\n');
        }
    }
}

fn write_flow(value: &Json, choices: &mut Choices, out: &mut String) {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => *out += &value.compact(),
        Json::Text(text) => write_quoted(text, choices, out),
        Json::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                *out += if index > 0 { ", " } else { "" };
                write_flow(item, choices, out);
            }
            out.push(']');
        }
        Json::Map(_) | Json::Object(_) => {
            out.push('{');
            for (index, (key, value)) in ordered(value, choices).into_iter().enumerate() {
                *out += if index > 0 { ", " } else { "" };
                write_quoted(key, choices, out);
                *out += choices.of(&[":", ": "]);
                write_flow(value, choices, out);
            }
            out.push('}');
        }
    }
}

/// Whether YAML takes a character as it stands, on one line.
fn is_printable(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

fn write_quoted(text: &str, choices: &mut Choices, out: &mut String) {
    if choices.one_in(3) && text.chars().all(is_printable) {
        *out += &format!("'{}'", text.replace('\'', "''"));
        return;
    }
    out.push('"');
    for character in text.chars() {
        let short = match character {
            '\0' => "\\0",
            '\x07' => "\\a",
            '\x08' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\x0b' => "\\v",
            '\x0c' => "\\f",
            '\r' => "\\r",
            '\x1b' => "\\e",
            '"' => "\\\"",
            '\\' => "\\\\",
            '\u{85}' => "\\N",
            '\u{a0}' => "\\_",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            _ => "",
        };
        let must = !is_printable(character) || matches!(character, '"' | '\\');
        match character as u32 {
            _ if !must && !choices.one_in(12) => out.push(character),
            _ if !short.is_empty() && !choices.one_in(4) => *out += short,
            code @ 0..=0xff if choices.one_in(2) => *out += &format!("\\x{code:02x}"),
            code @ 0..=0xffff => *out += &format!("\\u{code:04X}"),
            code => *out += &format!("\\U{code:08x}"),
        }
    }
    out.push('"');
}

fn fits_block(text: &str) -> bool {
    let is_fine = |character: char| is_printable(character) || matches!(character, '\n' | '\t');
    text.chars().all(is_fine) && text.chars().any(|character| !matches!(character, '\n' | '\t' | ' '))
}

fn write_literal(text: &str, indent: usize, choices: &mut Choices, out: &mut String) {
    let chomping = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    // Where the first line begins with white space or is empty, the indentation has to be said.
    let stated = if text.starts_with([' ', '\t', '\n']) || choices.one_in(8) { "2" } else { "" };
    let (first, second) = if choices.one_in(2) { (stated, chomping) } else { (chomping, stated) };
    *out += &format!("|{first}{second}{}\n", choices.of(&["", "", "", " ", "  # | words", " #"]));
    for line in text.split_terminator('\n') {
        *out += &match line.is_empty() {
            true => format!("{}\n", " ".repeat(choices.below(indent + 1) * choices.below(2))),
            false => format!("{}{line}\n", " ".repeat(indent)),
        };
    }
}

/// Whether a text can be folded at every single space.
fn fits_folded(text: &str) -> bool {
    let words = text.split(' ');
    fits_block(text)
        && !text.contains(['\n', '\t'])
        && words.clone().count() > 1
        && words.clone().all(|word| !word.is_empty())
}

fn write_folded(text: &str, indent: usize, out: &mut String) {
    *out += ">-\n";
    for word in text.split(' ') {
        *out += &format!("{}{word}\n", " ".repeat(indent));
    }
}
