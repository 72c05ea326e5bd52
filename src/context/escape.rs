//! How characters are escaped in JSON strings: the one canonical way, and all others.

use std::io::{self, Write};

/// What is wrong with a JSON string; places are bytes from the start of its inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringFault {
    /// There is no closing quote.
    Unterminated,
    /// A control character stands there as it is.
    Control(usize),
    /// A backslash begins no escape.
    Escape(usize),
    /// An escape of half a surrogate pair, which JSON's grammar allows, has no bytes.
    Surrogate(usize),
}

/// The length of the canonical escape that starts here; 0 where it is none: another spelling is another text to
/// compare bytes with.
pub(super) fn canonical_escape(bytes: &[u8]) -> usize {
    match bytes {
        [b'\\', b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
        [b'\\', b'u', b'0', b'0', high @ (b'0' | b'1'), low @ (b'0'..=b'9' | b'a'..=b'f'), ..]
            if !matches!((high, low), (b'0', b'8' | b'9' | b'a' | b'c' | b'd')) =>
        {
            6
        }
        _ => 0,
    }
}

/// The character a canonical escape stands for.
pub(super) fn unescape(escape: &str) -> &'static str {
    const CONTROLS: &str = "\0\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\
                            \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f";
    match escape.as_bytes()[1] {
        b'"' => "\"",
        b'\\' => "\\",
        b'b' => "\x08",
        b'f' => "\x0c",
        b'n' => "\n",
        b'r' => "\r",
        b't' => "\t",
        _ => {
            let value = usize::from_str_radix(&escape[2..], 16).unwrap_or(0);
            &CONTROLS[value..=value]
        }
    }
}

/// The length of an escape of any spelling.
pub(super) fn escape_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(2),
        [b'\\', b'u', digits @ ..] => digits.get(..4)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// Decodes the inside of a JSON string of any spelling.
pub(super) fn decode_json(raw: &str) -> Result<String, StringFault> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(distance) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..distance]);
        let escape = &rest[distance..];
        let at = raw.len() - escape.len();
        let (character, len) = match escape.as_bytes().get(1) {
            Some(b'"') => ('"', 2),
            Some(b'\\') => ('\\', 2),
            Some(b'/') => ('/', 2),
            Some(b'b') => ('\x08', 2),
            Some(b'f') => ('\x0c', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            _ => {
                let unit = code_unit(escape).ok_or(StringFault::Escape(at))?;
                match char::from_u32(unit) {
                    Some(character) => (character, 6),
                    None => {
                        let low = code_unit(&escape[6..]).ok_or(StringFault::Surrogate(at))?;
                        let decoded = char::decode_utf16([unit as u16, low as u16]).next();
                        (decoded.and_then(Result::ok).ok_or(StringFault::Surrogate(at))?, 12)
                    }
                }
            }
        };
        text.push(character);
        rest = &escape[len..];
    }
    text.push_str(rest);
    Ok(text)
}

/// The value of an escape `\uXXXX` at the start of the text.
fn code_unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Writes text as the inside of a JSON string, escaped in the canonical way.
pub(super) fn write_escaped<W: Write>(text: &str, out: &mut W) -> io::Result<()> {
    let bytes = text.as_bytes();
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.write_all(&bytes[written..at])?;
        written = at + 1;
        match byte {
            b'"' => out.write_all(b"\\\"")?,
            b'\\' => out.write_all(b"\\\\")?,
            0x08 => out.write_all(b"\\b")?,
            0x0c => out.write_all(b"\\f")?,
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            b'\t' => out.write_all(b"\\t")?,
            control => write!(out, "\\u{control:04x}")?,
        }
    }
    out.write_all(&bytes[written..])
}
