//! How characters are escaped in JSON strings: the one canonical way, and all others.

use std::io::{self, Write};

use super::masks::{BLOCK, Block, spaces_at};

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
    const SHORT: usize = 2 * BLOCK;
    const PIECE: usize = 4096;
    let bytes = text.as_bytes();
    if bytes.len() > SHORT {
        let mut escaper = Escaper::new(vec![0; PIECE.min(2 * bytes.len())], 0);
        escaper.push(bytes, out)?;
        return escaper.finish(out).map(|_| ());
    }
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            let (escape, len) = escape_of(byte);
            out.write_all(&bytes[written..at])?;
            out.write_all(&escape[..len])?;
            written = at + 1;
        }
    }
    out.write_all(&bytes[written..])
}

/// The canonical escape of a byte that has one, and its length.
#[inline(always)]
fn escape_of(byte: u8) -> ([u8; 8], usize) {
    let short = |letter| ([b'\\', letter, 0, 0, 0, 0, 0, 0], 2);
    match byte {
        b'\n' => short(b'n'),
        b'"' | b'\\' => short(byte),
        b'\t' => short(b't'),
        0x08 => short(b'b'),
        0x0c => short(b'f'),
        b'\r' => short(b'r'),
        control => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 0xf)];
            ([b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control), 0, 0], 6)
        }
    }
}

/// Escapes text that comes in pieces, and takes the indentation off its lines.
pub(super) struct Escaper {
    /// What is written next; gathered, since what stands between two escapes is short.
    room: Vec<u8>,
    filled: usize,
    indent: usize,
    /// How many spaces may still have to be dropped where the next piece begins.
    to_drop: usize,
}

impl Escaper {
    /// `room` is where the output is gathered; `indent` is how many spaces are dropped at the start of each line.
    pub fn new(mut room: Vec<u8>, indent: usize) -> Self {
        room.resize(room.len().max(4 * BLOCK), 0);
        Escaper { room, filled: 0, indent, to_drop: indent }
    }

    /// Takes the next piece, which may begin and end anywhere.
    pub fn push<W: Write>(&mut self, piece: &[u8], out: &mut W) -> io::Result<()> {
        let mut done = self.drop_indent(piece, 0);
        for start in (0..piece.len()).step_by(BLOCK) {
            let mut special = Block::at(piece, start).escaped();
            while special != 0 {
                let at = start + special.trailing_zeros() as usize;
                special &= special - 1;
                self.put(piece, done, at, out)?;
                let (escape, len) = escape_of(piece[at]);
                self.room[self.filled..self.filled + escape.len()].copy_from_slice(&escape);
                self.filled += len;
                done = at + 1;
                if piece[at] == b'\n' && self.indent > 0 {
                    self.to_drop = self.indent;
                    done = self.drop_indent(piece, done);
                }
            }
        }
        self.put(piece, done, piece.len(), out)
    }

    /// Writes what is gathered, and gives the room back.
    pub fn finish<W: Write>(self, out: &mut W) -> io::Result<Vec<u8>> {
        out.write_all(&self.room[..self.filled])?;
        Ok(self.room)
    }

    /// Copies a stretch without anything to escape; leaves room for an escape behind it.
    #[inline(always)]
    fn put<W: Write>(&mut self, piece: &[u8], from: usize, to: usize, out: &mut W) -> io::Result<()> {
        let len = to - from;
        if self.filled + len.max(BLOCK) + BLOCK > self.room.len() {
            out.write_all(&self.room[..self.filled])?;
            self.filled = 0;
            if len + 2 * BLOCK > self.room.len() {
                return out.write_all(&piece[from..to]);
            }
        }
        match piece[from..].first_chunk::<BLOCK>() {
            // A copy of a fixed length is two instructions; what is too much of it is written over.
            Some(block) if len <= BLOCK => self.room[self.filled..self.filled + BLOCK].copy_from_slice(block),
            _ => self.room[self.filled..self.filled + len].copy_from_slice(&piece[from..to]),
        }
        self.filled += len;
        Ok(())
    }

    /// Where the text of a line goes on whose indentation goes on at `at`.
    #[inline(always)]
    fn drop_indent(&mut self, piece: &[u8], at: usize) -> usize {
        let dropped = spaces_at(piece, at, self.to_drop);
        self.to_drop = if at + dropped == piece.len() { self.to_drop - dropped } else { 0 };
        at + dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, a byte at a time.
    fn plainly(text: &str) -> String {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    }

    fn in_pieces(text: &str, indent: usize, size: usize) -> String {
        let (mut out, mut escaper) = (Vec::new(), Escaper::new(Vec::new(), indent));
        text.as_bytes().chunks(size).for_each(|piece| escaper.push(piece, &mut out).unwrap());
        escaper.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_place_in_a_block_is_escaped() {
        for special in ["\"", "\\", "\n", "\0", "\u{1f}", "\t\r", "\u{8}\u{c}", "\u{7f}", "é", "\n\n", "\"\\\n"] {
            for before in 0..3 * BLOCK {
                let text = format!("{}{special}{special}{}", "a".repeat(before), "b".repeat(BLOCK / 2));
                let mut out = Vec::new();
                write_escaped(&text, &mut out).unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), plainly(&text));
            }
        }
    }

    #[test]
    fn an_indentation_may_be_cut_anywhere() {
        let block = format!("    a\n      b\n\n  \n    \n     \n    {}\n    \tc", "x\"".repeat(100));
        let text = format!("a\n  b\n\n\n\n \n{}\n\tc", "x\"".repeat(100));
        for size in 1..block.len() {
            assert_eq!(in_pieces(&block, 4, size), plainly(&text), "{size}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_escaped_in_any_pieces(text in "([a-z ]{0,80}|[\\n\"\\\\\u{0}-\u{1f}é漢😀]){0,40}", size in 1usize..200) {
            prop_assert_eq!(in_pieces(&text, 0, size), plainly(&text));
            let block: String = text.split_inclusive('\n').map(|line| format!("   {line}")).collect();
            prop_assert_eq!(in_pieces(&block, 3, size), plainly(&text));
            let mut out = Vec::new();
            write_escaped(&text, &mut out).unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), plainly(&text));
        }
    }
}
