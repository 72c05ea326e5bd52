//! Points in time, as RFC 3339 writes them. Time is an input: the clock is never read.

use std::borrow::Cow;

/// A point in time, and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time<'a> {
    text: Cow<'a, str>,
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    nanoseconds: i128,
}

const SECOND: i128 = 1_000_000_000;

impl<'a> Time<'a> {
    /// Reads a date and time with an offset, such as `2026-08-11T09:30:00Z`; a space may stand for the `T`. A leap
    /// second is the first of the minute after it. `None` for anything else: a time without an offset is no point in time.
    pub fn parse(text: impl Into<Cow<'a, str>>) -> Option<Self> {
        let text = text.into();
        let nanoseconds = nanoseconds(text.as_bytes())?;
        Some(Time { text, nanoseconds })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `seconds` after this lie before `other`.
    pub fn is_past(&self, seconds: u64, other: &Time<'_>) -> bool {
        self.nanoseconds + i128::from(seconds) * SECOND < other.nanoseconds
    }
}

fn nanoseconds(text: &[u8]) -> Option<i128> {
    let (date, rest) = text.split_at_checked(10)?;
    let (mark, rest) = rest.split_first()?;
    let (time, rest) = rest.split_at_checked(8)?;
    if date[4] != b'-' || date[7] != b'-' || !b"Tt ".contains(mark) || time[2] != b':' || time[5] != b':' {
        return None;
    }
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    let (hour, minute, second) = (number(&time[..2])?, number(&time[3..5])?, number(&time[6..])?);
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(rest)?;
    let days = days_since_1970(year, month, day);
    let seconds = ((days * 24 + hour) * 60 + minute - offset_minutes(zone)?) * 60 + second;
    Some(i128::from(seconds) * SECOND + fraction)
}

fn number(digits: &[u8]) -> Option<i64> {
    let all = digits.iter().all(u8::is_ascii_digit);
    all.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// The nanoseconds behind the dot, if there is one, and what follows. Digits past the ninth say nothing here.
fn fraction(text: &[u8]) -> Option<(i128, &[u8])> {
    let Some(rest) = text.strip_prefix(b".") else { return Some((0, text)) };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digit = |at: usize| if at < count { i128::from(rest[at] - b'0') } else { 0 };
    (count > 0).then(|| ((0..9).fold(0, |sum, at| sum * 10 + digit(at)), &rest[count..]))
}

fn offset_minutes(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), hours @ .., b':', _, _] => {
            let (hours, minutes) = (number(hours).filter(|_| hours.len() == 2)?, number(&zone[zone.len() - 2..])?);
            let minutes = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
            Some(if *sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let before = |year: i64| year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    let months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    before(year) - before(1970) + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i128> {
        Time::parse(text).map(|time| time.nanoseconds / SECOND)
    }

    #[test]
    fn times_are_what_other_clocks_say() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-08-11T09:30:00+02:00", 1_786_433_400),
            ("2026-08-11 07:30:00.25z", 1_786_433_400),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("0000-01-01T00:00:00Z", -62_167_219_200),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_point_in_time_is_refused() {
        for text in [
            "",
            "now",
            "2026-08-11",
            "2026-08-11T09:30:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-08-11T24:00:00Z",
            "2026-08-11T09:30Z",
            "2026-08-11T09:30:00.Z",
            "2026-08-11T09:30:00+2:00",
            "2026-08-11T09:30:00+0200",
            "2026-08-11T09:30:00Z ",
            "2026-00-11T09:30:00Z",
            "２026-08-11T09:30:00Z",
        ] {
            assert!(Time::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_time_to_live_ends_behind_its_last_moment() {
        let (then, now) = (Time::parse("2026-08-11T09:00:00Z").unwrap(), Time::parse("2026-08-11T09:01:00Z").unwrap());
        assert!(then.is_past(59, &now));
        assert!(!then.is_past(60, &now));
        assert!(!then.is_past(u64::MAX, &now));
    }
}
