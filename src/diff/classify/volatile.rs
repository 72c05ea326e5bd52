//! What changes from run to run: dates, times, ids, counters.

use super::moment::{is_worded, moment};

/// Something volatile at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Its length in bytes.
    pub(super) len: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) fn token_at(text: &str, at: usize) -> Option<Token> {
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
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).collect::<Vec<u8>>();
    let is_quantity = kind_a == Kind::Quantity || kind_b == Kind::Quantity;
    a == b || (kind_a == kind_b || !worded(a, kind_a) && !worded(b, kind_b)) && !(is_quantity && digits(a) == digits(b))
}

/// The length of an id that is a word of its own.
fn id(text: &str) -> Option<usize> {
    let word = word(text);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
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
