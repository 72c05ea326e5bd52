//! What changes from run to run: dates, times, ids, counters.

use super::moment::{is_worded, moment};

/// Something volatile at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its length in bytes.
    pub(crate) len: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A hash, an address, a UUID, a ULID, a request id.
    Id,
    /// A date, a time, or both.
    Moment,
    /// A number with a unit.
    Quantity,
    /// Any other decimal number: a counter, an epoch, a version.
    Number,
}

/// The longest volatile thing that begins at this place of a text.
pub(crate) fn token_at(text: &str, at: usize) -> Option<Token> {
    let first = *text.as_bytes().get(at)?;
    let starts_word = |rest: &str| !rest.chars().next_back().is_some_and(char::is_alphanumeric);
    if !first.is_ascii_alphanumeric() || !first.is_ascii_digit() && !starts_word(&text[..at]) {
        return None;
    }
    let (before, rest) = text.split_at(at);
    let token = |kind| move |len| Token { len, kind };
    let id = if starts_word(before) { id(rest) } else { None };
    id.map(token(Kind::Id))
        .or_else(|| moment(rest).map(token(Kind::Moment)))
        .or_else(|| first.is_ascii_digit().then(|| quantity(rest)))
}

/// Whether one volatile thing in place of the other is no more than what changes from run to run.
///
/// A word more or less is more than that, and so is another unit with the same number.
pub(super) fn may_become((a, kind_a): (&str, Kind), (b, kind_b): (&str, Kind)) -> bool {
    let worded = |text: &str, kind| match kind {
        Kind::Quantity => text.contains(char::is_alphabetic),
        Kind::Moment => is_worded(text),
        Kind::Id | Kind::Number => false,
    };
    let same_digits = || digits(a).eq(digits(b));
    let is_quantity = kind_a == Kind::Quantity || kind_b == Kind::Quantity;
    a == b || (kind_a == kind_b || !worded(a, kind_a) && !worded(b, kind_b)) && !(is_quantity && same_digits())
}

fn digits(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(u8::is_ascii_digit)
}

/// The length of an id that is a word of its own.
fn id(text: &str) -> Option<usize> {
    let word = word(text);
    let digits = digits(word).count();
    let is_hex = |word: &str| word.bytes().all(|b| b.is_ascii_hexdigit());
    if word.len() == 8 && is_uuid(text) {
        return Some(UUID);
    }
    let is_address = word.strip_prefix("0x").is_some_and(|hex| !hex.is_empty() && is_hex(hex));
    let is_hash = word.len() >= 7 && digits > 0 && digits < word.len() && is_hex(word);
    let is_ulid = word.len() == 26 && digits > 0 && word.bytes().all(is_crockford) && word.as_bytes()[0] <= b'7';
    // Letters and digits mixed at random: names have their digits in one place.
    let is_random = word.len() >= 20 && digits < word.len() && groups_of_digits(word) > 1;
    (is_address || is_hash || is_ulid || is_random).then_some(word.len())
}

const UUID: usize = 36;

fn is_uuid(text: &str) -> bool {
    let Some(uuid) = text.get(..UUID) else { return false };
    let fits = uuid.bytes().enumerate().all(|(at, b)| match at {
        8 | 13 | 18 | 23 => b == b'-',
        _ => b.is_ascii_hexdigit(),
    });
    fits && !text[UUID..].starts_with(char::is_alphanumeric)
}

/// The base-32 alphabet of ULIDs: no I, L, O and U.
fn is_crockford(b: u8) -> bool {
    b.is_ascii_digit() || b.is_ascii_alphabetic() && !matches!(b.to_ascii_uppercase(), b'I' | b'L' | b'O' | b'U')
}

fn groups_of_digits(word: &str) -> usize {
    word.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).count()
}

/// The ASCII letters and digits a text begins with; nothing where another letter follows.
fn word(text: &str) -> &str {
    let len = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if text[len..].starts_with(char::is_alphanumeric) { "" } else { &text[..len] }
}

/// A number, with its unit if it has one, or several where they make a duration: `1h 2m 3s`.
fn quantity(text: &str) -> Token {
    let mut len = number(text);
    let Some(unit) = unit(&text[len..]) else { return Token { len, kind: Kind::Number } };
    len += unit;
    while let Some(more) = another(&text[len..]) {
        len += more;
    }
    Token { len, kind: Kind::Quantity }
}

/// A space or nothing, a number and a unit.
fn another(text: &str) -> Option<usize> {
    let space = usize::from(text.starts_with(' '));
    let number = number(&text[space..]);
    let unit = unit(&text[space + number..]).filter(|_| number > 0)?;
    Some(space + number + unit)
}

/// The length of a decimal number: digits, in groups of three or not, a fraction, an exponent.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut len = digits(0);
    if (1..=3).contains(&len) {
        while bytes.get(len) == Some(&b',') && digits(len + 1) == 3 {
            len += 4;
        }
    }
    if len > 0 && bytes.get(len) == Some(&b'.') && digits(len + 1) > 0 {
        len += 1 + digits(len + 1);
    }
    if len > 0 && matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits((len + 1 + sign).min(bytes.len()));
        let after = &text[len + (1 + sign + exponent).min(bytes.len() - len)..];
        if exponent > 0 && !after.starts_with(char::is_alphanumeric) {
            len += 1 + sign + exponent;
        }
    }
    len
}

/// Units, and the endings of ordinal numbers, that stand right behind a number.
const JOINED: [&str; 35] = [
    "ns", "us", "µs", "μs", "ms", "s", "m", "h", "d", "w", "sec", "secs", "min", "mins", "hr", "hrs", "B", "K", "M",
    "G", "T", "k", "KB", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "st", "nd", "rd", "th",
];
/// Units that may also stand behind a space.
const APART: [&str; 38] = [
    "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "hr",
    "hrs", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "B", "KB", "kB", "MB",
    "GB", "TB", "KiB", "MiB", "GiB", "TiB", "byte", "bytes",
];
const LONGEST_UNIT: usize = 7;

/// The length of the unit a text begins with, and of a space before it.
fn unit(text: &str) -> Option<usize> {
    let (space, units) = if text.starts_with(' ') { (1, &APART[..]) } else { (0, &JOINED[..]) };
    let rest = &text[space..];
    if rest.starts_with('%') {
        return Some(space + 1);
    }
    // Letters only: `1m30s` is two quantities.
    let len = rest.char_indices().take(LONGEST_UNIT + 1).find(|(_, c)| !c.is_alphabetic());
    let unit = &rest[..len.map_or(rest.len(), |(len, _)| len)];
    units.contains(&unit).then_some(space + unit.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<Kind> {
        token_at(text, 0).filter(|token| token.len == text.len()).map(|token| token.kind)
    }

    #[test]
    fn ids() {
        for id in [
            "550e8400-e29b-41d4-a716-446655440000",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "3f2a9bc",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "0x7ffe12",
            "01A09q90qw90lq917835lq9",
            "20240102t030405abcdef1",
        ] {
            assert_eq!(kind(id), Some(Kind::Id), "{id}");
        }
        for word in ["deadbeef", "abcdef", "agent", "0x", "convertUtf8ToUtfCharacters", "a1", "accommodation", "Jan"] {
            assert_ne!(kind(word), Some(Kind::Id), "{word}");
        }
        assert_eq!(token_at("xabc1234", 1), None);
        assert_eq!(token_at("éabc1234", 2), None);
        assert_eq!(token_at("id_abc1234", 3), Some(Token { len: 7, kind: Kind::Id }));
        assert_eq!(token_at("abc1234é", 0), None);
    }

    #[test]
    fn numbers_and_quantities() {
        for number in ["3", "1234567", "1,204", "1,204,999.5", "0.31", "1e9", "2.5E-3", "1700000000000"] {
            assert_eq!(kind(number), Some(Kind::Number), "{number}");
        }
        for quantity in
            ["97%", "9.5 %", "0.31s", "12 ms", "1.2 MB", "3GiB", "5 minutes", "1h 2m 3s", "1m30s", "2nd", "7 µs"]
        {
            assert_eq!(kind(quantity), Some(Kind::Quantity), "{quantity}");
        }
        for (text, len) in [
            ("3 apples", 1),
            ("1,20", 1),
            ("1.", 1),
            ("1e", 1),
            ("1ex", 1),
            ("5 mins", 6),
            ("5 minsk", 1),
            ("3x", 1),
            ("1,2345", 1),
        ] {
            assert_eq!(token_at(text, 0).map(|token| token.len), Some(len), "{text}");
        }
        for text in ["", " 1", "-1", "apples", "é", "١"] {
            assert_eq!(token_at(text, 0), None, "{text}");
        }
    }

    #[test]
    fn what_may_become_what() {
        let may = |a: &str, b: &str| match (kind(a), kind(b)) {
            (Some(kind_a), Some(kind_b)) => may_become((a, kind_a), (b, kind_b)),
            _ => panic!("{a} {b}"),
        };
        for (a, b) in [
            ("3", "4"),
            ("3", "3f2a9bc"),
            ("0.31s", "12 ms"),
            ("59 minutes", "1 hour"),
            ("2024-01-02", "March 5, 2025"),
            ("12:03", "1203"),
            ("97%", "3"),
            ("5 minutes", "5 minutes"),
        ] {
            assert!(may(a, b) && may(b, a), "{a} {b}");
        }
        for (a, b) in [("5 minutes", "5 hours"), ("5 minutes", "6"), ("50%", "50"), ("May 5", "6"), ("1 hour", "12:03")]
        {
            assert!(!may(a, b) && !may(b, a), "{a} {b}");
        }
    }
}
