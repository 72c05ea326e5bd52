//! Text as a list of pieces, so that it is not copied where it can be pointed at.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use super::escape::{StringFault, canonical_escape, decode_json, unescape, write_escaped};
use super::scan::{Scanned, scan};
use super::store::Stored;

/// A piece of text, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The inside of a JSON string that is already escaped just as the canonical stream escapes: passed on as it is.
    Escaped(Cow<'a, str>),
    /// Text as it stands.
    Plain(Cow<'a, str>),
    /// The same, held by more than one text.
    Shared(Arc<str>),
    /// Text that was left in its file.
    Stored(Stored<'a>),
    /// One character many times: the padding of a template field.
    Fill(char, u64),
}

/// Text as a list of pieces, with its size.
#[derive(Clone, Debug, Default)]
pub struct Text<'a> {
    pieces: Vec<Piece<'a>>,
    chars: u64,
    bytes: u64,
}

impl<'a> Text<'a> {
    /// Text as it stands.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        let mut all = Text::default();
        all.push_plain(text);
        all
    }

    /// Reads the inside of a JSON string up to its closing quote; also its length in bytes. What is escaped as the
    /// canonical stream escapes stays a slice; any other spelling is decoded.
    pub(crate) fn scan_json(rest: &'a str) -> Result<(Self, usize), StringFault> {
        let Scanned { len, saved, chars, is_canonical } = scan(rest.as_bytes())?;
        let raw = &rest[..len];
        if !is_canonical {
            return Ok((Text::plain(decode_json(raw)?), len));
        }
        let pieces = if raw.is_empty() { Vec::new() } else { vec![Piece::Escaped(Cow::Borrowed(raw))] };
        Ok((Text { pieces, chars: chars as u64, bytes: (len - saved) as u64 }, len))
    }

    /// The same as a string, which is borrowed where nothing is escaped.
    pub(crate) fn scan_json_string(rest: &'a str) -> Result<(Cow<'a, str>, usize), StringFault> {
        match scan(rest.as_bytes())? {
            Scanned { len, saved: 0, is_canonical: true, .. } => Ok((Cow::Borrowed(&rest[..len]), len)),
            _ => Text::scan_json(rest).map(|(text, len)| (text.into_cow(), len)),
        }
    }

    /// The inside of a JSON string, for tests.
    #[cfg(test)]
    pub(crate) fn from_json(raw: &str) -> Result<Text<'static>, StringFault> {
        Text::scan_json(String::leak(format!("{raw}\""))).map(|(text, _)| text)
    }

    /// A slice of canonically escaped text that cuts no escape in two.
    pub(super) fn from_escaped(raw: &'a str) -> Self {
        let chars = Chunks { escaped: raw, ..Chunks::of(&[]) };
        let (chars, bytes) = chars.fold((0, 0), |(c, b), run| (c + run.chars().count() as u64, b + run.len() as u64));
        Text { pieces: vec![Piece::Escaped(Cow::Borrowed(raw))], chars, bytes }
    }

    /// Appends text of a known size that was left in its file.
    pub(crate) fn push_stored(&mut self, stored: Stored<'a>, chars: u64, bytes: u64) {
        self.chars += chars;
        self.bytes += bytes;
        self.pieces.push(Piece::Stored(stored));
    }

    /// A piece to be looked at, its size being of no matter.
    fn of_piece(piece: Piece<'a>) -> Self {
        Text { pieces: vec![piece], chars: 0, bytes: 0 }
    }

    /// The same text with each of its pieces made into another one of the same text.
    pub(crate) fn map_pieces<'t>(&self, map: impl FnMut(&Piece<'a>) -> Piece<'t>) -> Text<'t> {
        Text { pieces: self.pieces.iter().map(map).collect(), chars: self.chars, bytes: self.bytes }
    }

    /// The same text, all of it held.
    pub(super) fn loaded(&self) -> Cow<'_, Text<'a>> {
        if !self.pieces.iter().any(|piece| matches!(piece, Piece::Stored(_))) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.map_pieces(|piece| match piece {
            Piece::Stored(stored) => stored.load(),
            held => held.clone(),
        }))
    }

    pub(super) fn pieces(&self) -> &[Piece<'a>] {
        &self.pieces
    }

    /// The same text, on its own.
    pub(crate) fn into_owned<'t>(self) -> Text<'t> {
        self.map_pieces(|piece| match piece {
            Piece::Escaped(raw) => Piece::Escaped(Cow::Owned(raw.to_string())),
            Piece::Plain(text) => Piece::Plain(Cow::Owned(text.to_string())),
            Piece::Shared(text) => Piece::Shared(text.clone()),
            Piece::Stored(stored) => stored.load(),
            Piece::Fill(character, count) => Piece::Fill(*character, *count),
        })
    }

    /// Lets copies share what is held here alone.
    pub(crate) fn share(&mut self) {
        for piece in &mut self.pieces {
            if let Piece::Plain(Cow::Owned(text)) = piece {
                *piece = Piece::Shared(Arc::from(std::mem::take(text)));
            }
        }
    }

    /// Appends text as it stands.
    pub fn push_plain(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.chars += text.chars().count() as u64;
            self.bytes += text.len() as u64;
            self.pieces.push(Piece::Plain(text));
        }
    }

    /// Appends a character `count` times.
    pub fn push_fill(&mut self, character: char, count: u64) {
        if count > 0 {
            self.chars += count;
            self.bytes += count * character.len_utf8() as u64;
            self.pieces.push(Piece::Fill(character, count));
        }
    }

    /// Appends another text by pointing at its pieces.
    pub fn push_text<'t: 'a>(&mut self, text: &'t Text<'_>) {
        self.chars += text.chars;
        self.bytes += text.bytes;
        self.pieces.extend(text.pieces.iter().map(Piece::borrow));
    }

    /// Appends another text, taking over its pieces.
    pub(crate) fn append(&mut self, text: Text<'a>) {
        self.chars += text.chars;
        self.bytes += text.bytes;
        self.pieces.extend(text.pieces);
    }

    /// The same text, pointing at this one.
    pub fn borrow(&self) -> Text<'_> {
        let mut text = Text::default();
        text.push_text(self);
        text
    }

    /// Size in Unicode scalar values, Python's `len`.
    pub fn chars(&self) -> u64 {
        self.chars
    }

    /// Size in bytes of UTF-8.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is no character in it.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The decoded text, run by run.
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks::of(&self.pieces)
    }

    /// The decoded text as one string: borrowed if it lies in one run.
    pub fn to_cow(&self) -> Cow<'_, str> {
        let mut chunks = self.chunks();
        let Some(first) = chunks.next() else { return Cow::Borrowed("") };
        if first.len() as u64 == self.bytes {
            return first;
        }
        let mut all = String::with_capacity(usize::try_from(self.bytes).unwrap_or(0));
        all.push_str(&first);
        all.extend(chunks);
        Cow::Owned(all)
    }

    /// The decoded text as one string, keeping the borrow of the document where the text lies in one run of it.
    pub fn into_cow(self) -> Cow<'a, str> {
        self.as_cow()
    }

    /// The same of a text that is kept.
    pub(crate) fn as_cow(&self) -> Cow<'a, str> {
        match &*self.pieces {
            [Piece::Plain(Cow::Borrowed(text))] => Cow::Borrowed(text),
            [Piece::Escaped(Cow::Borrowed(raw))] if raw.len() as u64 == self.bytes => Cow::Borrowed(raw),
            _ => Cow::Owned(self.to_string()),
        }
    }

    /// Writes the text as the inside of a JSON string: only `"`, `\` and U+0000 to U+001F escaped.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_escaped<W: Write>(&self, out: &mut W) -> io::Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Escaped(raw) => out.write_all(raw.as_bytes())?,
                Piece::Plain(text) => write_escaped(text, out)?,
                Piece::Shared(text) => write_escaped(text, out)?,
                Piece::Stored(stored) => stored.write_escaped(out)?,
                Piece::Fill(..) => {
                    for chunk in (Chunks { fill: fill_of(piece), ..Chunks::of(&[]) }) {
                        write_escaped(&chunk, out)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Piece<'_> {
    fn borrow(&self) -> Piece<'_> {
        match self {
            Piece::Escaped(raw) => Piece::Escaped(Cow::Borrowed(raw)),
            Piece::Plain(text) => Piece::Plain(Cow::Borrowed(text)),
            Piece::Shared(text) => Piece::Plain(Cow::Borrowed(text)),
            Piece::Stored(stored) => Piece::Stored(*stored),
            Piece::Fill(character, count) => Piece::Fill(*character, *count),
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::plain(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::plain(text)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(&chunk))
    }
}

impl serde::Serialize for Text<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Equal text, however it is cut into pieces.
impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same = || self.pieces == other.pieces || same_bytes(self.chunks(), other.chunks());
        (self.chars, self.bytes) == (other.chars, other.bytes) && !self.surely_differs(other) && same()
    }
}

impl Text<'_> {
    /// Whether it is known without a look at stored text: all pieces are equal but one, and that one has another hash.
    fn surely_differs(&self, other: &Text<'_>) -> bool {
        let mut differing = 0;
        self.pieces.len() == other.pieces.len()
            && self.pieces.iter().zip(&other.pieces).all(|pieces| match pieces {
                (Piece::Stored(a), Piece::Stored(b)) if a.surely_differs(b) => {
                    differing += 1;
                    true
                }
                (a, b) => a == b,
            })
            && differing == 1
    }
}

/// Compares two texts of one length run by run.
fn same_bytes<'t>(mut left: Chunks<'t>, mut right: Chunks<'t>) -> bool {
    let (mut a, mut b) = (Cow::Borrowed(""), Cow::Borrowed(""));
    let (mut from_a, mut from_b) = (0, 0);
    loop {
        if from_a == a.len() {
            let Some(chunk) = left.next() else { return true };
            (a, from_a) = (chunk, 0);
        }
        if from_b == b.len() {
            let Some(chunk) = right.next() else { return true };
            (b, from_b) = (chunk, 0);
        }
        let both = (a.len() - from_a).min(b.len() - from_b);
        if a.as_bytes()[from_a..from_a + both] != b.as_bytes()[from_b..from_b + both] {
            return false;
        }
        from_a += both;
        from_b += both;
    }
}

impl Eq for Text<'_> {}

/// The runs of a decoded text; none is empty.
#[derive(Debug)]
pub struct Chunks<'t> {
    pieces: std::slice::Iter<'t, Piece<'t>>,
    /// What is left of an escaped piece.
    escaped: &'t str,
    /// What is left of a fill.
    fill: Option<(char, u64)>,
}

impl<'t> Chunks<'t> {
    fn of(pieces: &'t [Piece<'t>]) -> Self {
        Chunks { pieces: pieces.iter(), escaped: "", fill: None }
    }
}

impl<'t> Iterator for Chunks<'t> {
    type Item = Cow<'t, str>;

    fn next(&mut self) -> Option<Self::Item> {
        const FILL_AT_ONCE: u64 = 4096;
        loop {
            if !self.escaped.is_empty() {
                let (chunk, rest) = next_run(self.escaped);
                self.escaped = rest;
                return Some(Cow::Borrowed(chunk));
            }
            if let Some((character, left)) = self.fill.take() {
                let now = left.min(FILL_AT_ONCE);
                self.fill = (left > now).then_some((character, left - now));
                return Some(Cow::Owned(std::iter::repeat_n(character, now as usize).collect()));
            }
            match self.pieces.next()? {
                Piece::Escaped(raw) => self.escaped = raw,
                Piece::Plain(text) => return Some(Cow::Borrowed(text)),
                Piece::Shared(text) => return Some(Cow::Borrowed(text)),
                Piece::Stored(stored) => {
                    let text = Text::of_piece(stored.load()).chunks().collect::<String>();
                    if !text.is_empty() {
                        return Some(Cow::Owned(text));
                    }
                }
                fill @ Piece::Fill(..) => self.fill = fill_of(fill),
            }
        }
    }
}

/// Appends canonically escaped text, decoded.
pub(super) fn decode_escaped(raw: &str, text: &mut String) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let len = canonical_escape(&rest.as_bytes()[at..]).max(1);
        text.push_str(unescape(&rest[at..at + len]));
        rest = &rest[at + len..];
    }
    text.push_str(rest);
}

fn fill_of(piece: &Piece<'_>) -> Option<(char, u64)> {
    match piece {
        Piece::Fill(character, count) => Some((*character, *count)),
        _ => None,
    }
}

/// The longest run at the start of canonically escaped text, decoded, and what follows it.
fn next_run(raw: &str) -> (&str, &str) {
    let bytes = raw.as_bytes();
    match memchr::memchr(b'\\', bytes) {
        None => (raw, ""),
        Some(0) => {
            let len = canonical_escape(bytes).max(1);
            (unescape(&raw[..len]), &raw[len..])
        }
        Some(at) => raw.split_at(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &Text<'_>) -> String {
        let mut bytes = Vec::new();
        text.write_escaped(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn canonical_spelling_stays_a_slice() {
        let raw = r#"a\n\"\\\u001b[0m\u0000é"#;
        let text = Text::from_json(raw).unwrap();
        assert_eq!(text.pieces, [Piece::Escaped(Cow::Borrowed(raw))]);
        assert_eq!(text.to_cow(), "a\n\"\\\x1b[0m\0é");
        assert_eq!((text.chars(), text.bytes()), (10, 11));
        assert_eq!(escaped(&text), raw);
    }

    #[test]
    fn other_spellings_are_rewritten() {
        for (raw, canonical) in [
            (r"\/", "/"),
            (r"\u000a", "\\n"),
            (r"\u001B", "\\u001b"),
            (r"\u0041", "A"),
            (r"\ud83d\ude00", "😀"),
            (r"\u007f", "\u{7f}"),
        ] {
            assert_eq!(escaped(&Text::from_json(raw).unwrap()), canonical, "{raw}");
        }
    }

    #[test]
    fn a_lone_surrogate_has_no_bytes() {
        for (raw, at) in [(r"ab\ud83d", 2), (r"\ud83dx", 0), (r"é\ude00\ud83d", 2), (r"\n\ud83d\u0041", 2)] {
            assert_eq!(Text::from_json(raw), Err(StringFault::Surrogate(at)), "{raw}");
        }
    }

    #[test]
    fn a_fill_is_written_as_often_as_it_says() {
        let mut text = Text::plain("x");
        text.push_fill('é', 10_000);
        text.push_fill('"', 2);
        assert_eq!((text.chars(), text.bytes()), (10_003, 20_003));
        assert_eq!(text.to_cow().chars().count(), 10_003);
        assert!(escaped(&text).ends_with("é\\\"\\\""));
    }

    proptest! {
        #[test]
        fn any_string_survives_json_and_back(string: String) {
            let json = serde_json::to_string(&string).unwrap();
            let text = Text::from_json(&json[1..json.len() - 1]).unwrap();
            prop_assert_eq!(text.to_cow(), string.as_str());
            prop_assert_eq!(text.chars(), string.chars().count() as u64);
            prop_assert_eq!(text.bytes(), string.len() as u64);
            prop_assert_eq!(escaped(&text), &json[1..json.len() - 1]);
            prop_assert_eq!(escaped(&Text::plain(string.as_str())), &json[1..json.len() - 1]);
        }
    }
}
