//! What can be said of a text that is not decoded whole.

use super::escape::canonical_escape;
use super::text::{Piece, Text};

impl Text<'_> {
    /// Whether some words stand in it.
    pub(crate) fn contains(&self, words: &str) -> bool {
        let holds = |text: &str| memchr::memmem::find(text.as_bytes(), words.as_bytes()).is_some();
        let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        if let [Piece::Escaped(raw)] = self.pieces()
            && !words.bytes().any(is_escaped)
            && !holds(raw)
        {
            // Characters that stand for themselves are there as they are, if they are there.
            return false;
        }
        holds(&self.to_cow())
    }

    /// The characters of the first line, its line feed included.
    pub(crate) fn first_line_chars(&self) -> u64 {
        let mut chars = 0;
        for run in self.chunks() {
            if let Some(at) = memchr::memchr(b'\n', run.as_bytes()) {
                return chars + run[..=at].chars().count() as u64;
            }
            chars += run.chars().count() as u64;
        }
        chars
    }

    /// The characters of the last line, its line feed included if it ends in one.
    pub(crate) fn last_line_chars(&self) -> u64 {
        let mut chars = 0;
        for piece in self.pieces().iter().rev() {
            // A line feed that is the last character of all ends the line; any other one begins it.
            let (of_piece, begins_here) = last_line(piece, chars == 0);
            chars += of_piece;
            if begins_here {
                break;
            }
        }
        chars
    }
}

/// How many characters of a piece are in the last line, and whether that begins in the piece.
fn last_line(piece: &Piece<'_>, is_last: bool) -> (u64, bool) {
    let of_plain = |text: &str| {
        let body = if is_last { text.strip_suffix('\n').unwrap_or(text) } else { text };
        let start = memchr::memrchr(b'\n', body.as_bytes()).map(|at| at + 1);
        (text[start.unwrap_or(0)..].chars().count() as u64, start.is_some())
    };
    match piece {
        Piece::Plain(text) => of_plain(text),
        Piece::Shared(text) => of_plain(text),
        Piece::Escaped(raw) => {
            let end = if is_last && ends_in_line_feed(raw) { raw.len() - 2 } else { raw.len() };
            let mut before = end;
            let start = loop {
                let Some(at) = memchr::memrchr(b'\\', &raw.as_bytes()[..before]) else { break None };
                if raw[at..end].starts_with("\\n") && is_escape(raw, at) {
                    break Some(at + 2);
                }
                before = at;
            };
            let line = &raw[start.unwrap_or(0)..];
            (Text::from_escaped(line).chars(), start.is_some())
        }
        Piece::Stored(stored) => last_line(&stored.load(), is_last),
        Piece::Fill('\n', count) if is_last => (1, *count > 1),
        Piece::Fill('\n', _) => (0, true),
        Piece::Fill(_, count) => (*count, false),
    }
}

fn ends_in_line_feed(raw: &str) -> bool {
    raw.ends_with("\\n") && is_escape(raw, raw.len() - 2)
}

/// Whether a backslash begins an escape: an odd one of those that stand together.
fn is_escape(raw: &str, at: usize) -> bool {
    let before = raw.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    before % 2 == 0 && canonical_escape(&raw.as_bytes()[at..]) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A text of several pieces of every kind.
    fn pieces() -> impl Strategy<Value = Vec<(u8, String)>> {
        let words = prop::sample::select(vec!["\n", "\\", "n", "é", "\\n", "\"", "\u{1}", "ab", "\r"]);
        let string = prop::collection::vec(words, 1..6).prop_map(|words| words.concat());
        prop::collection::vec((0..4u8, string), 0..4)
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_whole_text(pieces in pieces()) {
            let raws: Vec<String> = pieces.iter().map(|(_, it)| serde_json::to_string(it).unwrap()).collect();
            let mut text = Text::default();
            for ((kind, string), raw) in pieces.iter().zip(&raws) {
                match kind {
                    0 => text.push_plain(string.as_str()),
                    1 => text.push_fill(string.chars().next().unwrap(), 2),
                    2 => text.push_fill(string.chars().next().unwrap(), 1),
                    _ => text.append(Text::from_escaped(&raw[1..raw.len() - 1])),
                }
            }
            let whole = text.to_cow();
            let chars = |line: Option<&str>| line.map_or(0, |line| line.chars().count() as u64);
            prop_assert_eq!(text.first_line_chars(), chars(whole.split_inclusive('\n').next()));
            prop_assert_eq!(text.last_line_chars(), chars(whole.split_inclusive('\n').next_back()));
            for words in ["n", "ab", "éé", "nn", "\n", "\\", "\\n", "0", "01"] {
                prop_assert_eq!(text.contains(words), whole.contains(words), "{:?}", words);
            }
        }
    }
}
