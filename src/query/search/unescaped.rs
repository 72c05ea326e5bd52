//! JSON as it is searched: with its escapes undone, so that a word behind `\n` is a word and `\u4e2d` is 中.

use std::borrow::Cow;

use crate::query::Field;

/// The text that is searched, and how places in it are found in the text it stands for.
#[derive(Debug)]
pub(super) struct Unescaped<'f> {
    pub text: Cow<'f, str>,
    /// Behind each escape: the place here, and there.
    shifts: Vec<(usize, usize)>,
}

impl<'f> Unescaped<'f> {
    pub fn of(field: &'f Field<'_>) -> Self {
        if field.is_json { Unescaped::of_json(&field.text) } else { Unescaped::of_text(&field.text) }
    }

    fn of_text(text: &'f str) -> Self {
        Unescaped { text: Cow::Borrowed(text), shifts: Vec::new() }
    }

    /// What is no escape stays as it is: the text need not be JSON.
    pub fn of_json(json: &'f str) -> Self {
        if memchr::memchr(b'\\', json.as_bytes()).is_none() {
            return Unescaped::of_text(json);
        }
        let mut text = String::with_capacity(json.len());
        let mut shifts = Vec::new();
        let mut at = 0;
        while let Some(distance) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
            text.push_str(&json[at..at + distance]);
            at += distance;
            let (character, len) = escape(&json[at..]);
            text.push(character);
            at += len;
            shifts.push((text.len(), at));
        }
        text.push_str(&json[at..]);
        Unescaped { text: Cow::Owned(text), shifts }
    }

    /// The same place in the text it stands for; at or behind an escape that begins there.
    pub fn original(&self, place: usize) -> usize {
        match self.shifts.partition_point(|(here, _)| *here <= place).checked_sub(1) {
            Some(shift) => {
                let (here, there) = self.shifts[shift];
                there + (place - here)
            }
            None => place,
        }
    }
}

/// The character that text begins with, and its length there.
fn escape(rest: &str) -> (char, usize) {
    let unit = |rest: &str| {
        let digits = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    match rest.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\x08', 2),
        Some(b'f') => ('\x0c', 2),
        Some(quoted @ (b'"' | b'\\' | b'/')) => (char::from(*quoted), 2),
        Some(b'u') => match unit(rest).map(|own| (own, char::from_u32(own))) {
            Some((_, Some(character))) => (character, 6),
            Some((high, None)) => {
                let low = rest.get(6..).and_then(unit).and_then(|low| u16::try_from(low).ok());
                let pair = low.and_then(|low| char::decode_utf16([high as u16, low]).next()?.ok());
                pair.map_or(('\\', 1), |character| (character, 12))
            }
            None => ('\\', 1),
        },
        _ => ('\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Origin;

    #[test]
    fn places_lead_back_to_the_json() {
        let json = r#"{"c":"ls\nsrc \u4e2d\ud83d\ude00 \"x\" \q \ud83d \"#;
        let origin = Origin::Goal(0);
        let field = Field { origin: &origin, text: Cow::Borrowed(json), is_json: true };
        let unescaped = Unescaped::of(&field);
        assert_eq!(unescaped.text, "{\"c\":\"ls\nsrc 中😀 \"x\" \\q \\ud83d \\");
        for word in ["ls", "src", "x", "q"] {
            let at = unescaped.text.find(word).unwrap();
            let (start, end) = (unescaped.original(at), unescaped.original(at + word.len()));
            assert!(json[start..].starts_with(word) && end >= start + word.len(), "{word}");
        }
        let at = unescaped.text.find('中').unwrap();
        assert_eq!(&json[unescaped.original(at)..unescaped.original(at + 3)], r"\u4e2d");
        assert_eq!(unescaped.original(unescaped.text.len()), json.len());
    }
}
