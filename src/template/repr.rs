//! Python's `repr` and `ascii` of a text.

use super::tables::is_printable;
use crate::context::Text;

/// The first `max_chars` characters of `repr(text)`.
pub(crate) fn repr(text: &Text<'_>, max_chars: u64) -> String {
    escape(text, max_chars, is_printable)
}

/// The first `max_chars` characters of `ascii(text)`.
pub(super) fn ascii(text: &Text<'_>, max_chars: u64) -> String {
    escape(text, max_chars, |_| false)
}

/// `keep` says which characters beyond ASCII stay as they are, and of ASCII control characters that none does.
fn escape(text: &Text<'_>, max_chars: u64, keep: impl Fn(char) -> bool) -> String {
    let has = |quote| text.chunks().any(|chunk| memchr::memchr(quote, chunk.as_bytes()).is_some());
    let quote = if has(b'\'') && !has(b'"') { '"' } else { '\'' };

    let mut out = Limited { text: String::new(), left: max_chars };
    out.push(quote);
    for chunk in text.chunks() {
        for character in chunk.chars() {
            if out.left == 0 {
                return out.text;
            }
            match character {
                '\\' => out.push_escape('\\'),
                '\t' => out.push_escape('t'),
                '\n' => out.push_escape('n'),
                '\r' => out.push_escape('r'),
                _ if character == quote => out.push_escape(quote),
                ' '..='~' => out.push(character),
                _ if keep(character) => out.push(character),
                _ => out.push_hex(character),
            }
        }
    }
    out.push(quote);
    out.text
}

/// A string that grows up to a number of characters: an escape may be cut.
struct Limited {
    text: String,
    /// How many characters it still takes.
    left: u64,
}

impl Limited {
    fn push(&mut self, character: char) {
        if self.left > 0 {
            self.left -= 1;
            self.text.push(character);
        }
    }

    fn push_escape(&mut self, letter: char) {
        self.push('\\');
        self.push(letter);
    }

    fn push_hex(&mut self, character: char) {
        let code = u32::from(character);
        let (letter, digits) = match code {
            0..=0xff => ('x', 2),
            0x100..=0xffff => ('u', 4),
            _ => ('U', 8),
        };
        self.push_escape(letter);
        for digit in (0..digits).rev() {
            self.push(char::from_digit(code >> (4 * digit) & 0xf, 16).unwrap_or('0'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> (String, String) {
        (repr(&text.into(), u64::MAX), ascii(&text.into(), u64::MAX))
    }

    #[test]
    fn quotes_are_chosen_as_python_does() {
        for (text, expected) in [
            ("", "''"),
            ("a", "'a'"),
            ("it's", r#""it's""#),
            (r#"say "x""#, r#"'say "x"'"#),
            (r#"it's "x""#, r#"'it\'s "x"'"#),
        ] {
            assert_eq!(both(text), (expected.to_owned(), expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn escapes_are_those_of_python() {
        assert_eq!(both("\t\n\r\\").0, r"'\t\n\r\\'");
        assert_eq!(both("\0\x1b\x7f\u{85}\u{a0}\u{ad}").0, r"'\x00\x1b\x7f\x85\xa0\xad'");
        assert_eq!(both("\u{378}\u{202e}\u{3000}\u{e000}").0, r"'\u0378\u202e\u3000\ue000'");
        assert_eq!(both("\u{e0001}\u{10ffff}\u{1fae8}").0, r"'\U000e0001\U0010ffff\U0001fae8'");
        assert_eq!(both("é中😀").0, "'é中😀'");
        assert_eq!(both("é中😀").1, r"'\xe9\u4e2d\U0001f600'");
    }

    #[test]
    fn a_limit_may_cut_an_escape() {
        let text = Text::from("a\u{1b}é");
        for (max_chars, expected) in [(0, ""), (1, "'"), (3, r"'a\"), (5, r"'a\x1"), (7, r"'a\x1bé"), (8, r"'a\x1bé'")]
        {
            assert_eq!(repr(&text, max_chars), expected);
        }
    }

    #[test]
    fn text_in_pieces_is_one_text() {
        let text = Text::from_json(r#"it's\n\u001b\"é"#).unwrap();
        assert_eq!(repr(&text, u64::MAX), r#"'it\'s\n\x1b"é'"#);
    }
}
