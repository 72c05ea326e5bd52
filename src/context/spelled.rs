//! A text as it is spelled where it lies: looked through first, and decoded only where that is worth it.

use std::borrow::Cow;

use super::text::{Piece, Text, decode_escaped};

/// A text as it is spelled. Letters, digits and all characters that need no escape stand in it as in the text itself, so
/// what is not in it is not in the text.
#[derive(Debug)]
pub(crate) struct Spelled<'t> {
    spelled: Cow<'t, str>,
    /// Where pieces of one spelling end, and whether they are escaped.
    pieces: Vec<(usize, bool)>,
}

impl<'t> Spelled<'t> {
    pub fn of(text: &'t Text<'_>) -> Self {
        match text.pieces() {
            [Piece::Escaped(raw)] => return Spelled { spelled: Cow::Borrowed(raw), pieces: vec![(raw.len(), true)] },
            [Piece::Plain(plain)] => return Spelled { spelled: Cow::Borrowed(plain), pieces: Vec::new() },
            [Piece::Shared(plain)] => return Spelled { spelled: Cow::Borrowed(plain), pieces: Vec::new() },
            _ => {}
        }
        let mut spelled = String::with_capacity(usize::try_from(text.bytes()).unwrap_or(0));
        let mut pieces = Vec::with_capacity(text.pieces().len());
        for piece in text.pieces() {
            let is_escaped = match piece {
                Piece::Escaped(raw) => {
                    spelled.push_str(raw);
                    true
                }
                Piece::Plain(text) => {
                    spelled.push_str(text);
                    false
                }
                Piece::Shared(text) => {
                    spelled.push_str(text);
                    false
                }
                Piece::Stored(stored) => stored.push_spelled(&mut spelled),
                Piece::Fill(character, count) => {
                    spelled.extend(std::iter::repeat_n(*character, usize::try_from(*count).unwrap_or(usize::MAX)));
                    false
                }
            };
            pieces.push((spelled.len(), is_escaped));
        }
        Spelled { spelled: Cow::Owned(spelled), pieces }
    }

    pub fn as_str(&self) -> &str {
        &self.spelled
    }

    /// The text itself.
    pub fn decoded(self) -> Cow<'t, str> {
        let has_escapes =
            |(from, to): (usize, usize)| memchr::memchr(b'\\', &self.spelled.as_bytes()[from..to]).is_some();
        let starts = std::iter::once(0).chain(self.pieces.iter().map(|(end, _)| *end));
        let mut ranges = starts.zip(&self.pieces).map(|(from, (to, is_escaped))| ((from, *to), *is_escaped));
        if !ranges.clone().any(|(range, is_escaped)| is_escaped && has_escapes(range)) {
            return self.spelled;
        }
        let mut text = String::with_capacity(self.spelled.len());
        for ((from, to), is_escaped) in &mut ranges {
            let piece = &self.spelled[from..to];
            if is_escaped {
                decode_escaped(piece, &mut text);
            } else {
                text.push_str(piece);
            }
        }
        Cow::Owned(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_the_text() {
        let mut text = Text::plain("a\\n\n");
        text.append(Text::from_json(r#"b\n\\\"\u001bé"#).unwrap());
        text.push_fill('\\', 3);
        text.append(Text::from_json("plain").unwrap());
        for text in [&text, &Text::plain("x\\n"), &Text::from_json(r"x\n").unwrap(), &Text::default()] {
            assert_eq!(Spelled::of(text).decoded(), text.to_cow());
        }
    }
}
