//! Dates and times of day, as machines and people write them.

use std::ops::RangeInclusive;

const MONTHS: [&str; 24] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Sept",
    "Oct",
    "Nov",
    "Dec",
];
const DAYS: [&str; 17] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Mon",
    "Tue",
    "Tues",
    "Wed",
    "Thu",
    "Thur",
    "Thurs",
    "Fri",
    "Sat",
    "Sun",
];
const ZONES: [&str; 24] = [
    "UTC", "GMT", "CET", "CEST", "EET", "EEST", "WET", "WEST", "BST", "IST", "MSK", "JST", "KST", "EST", "EDT", "CST",
    "CDT", "MST", "MDT", "PST", "PDT", "AEST", "AEDT", "NZST",
];
/// What stands between the parts of a moment; the last one joins what needs nothing between.
const JOINTS: [&str; 11] = [" at ", " - ", ", ", " (", "  ", " ", "T", "_", ":", "-", ""];

/// The length of the date, time or both a text begins with; names of days count only next to them.
pub(super) fn moment(text: &str) -> Option<usize> {
    if !may_begin(text) {
        return None;
    }
    let mut reader = Reader(text);
    let mut rest = text;
    let (mut has_date, mut has_time, mut has_day, mut has_year) = (false, false, false, false);
    loop {
        if let Some(year) = (!has_date).then(|| reader.maybe(date)).flatten() {
            (has_date, has_year) = (true, year);
        } else if !has_time && reader.maybe(time).is_some() {
            has_time = true;
        } else if !has_day && reader.maybe(day_name).is_some() {
            has_day = true;
        } else if has_date && !has_year && reader.maybe(Reader::year).is_some() {
            has_year = true;
        } else if has_day && !has_date && reader.maybe(day_of_month).is_some() {
            has_date = true;
        } else {
            break;
        }
        rest = reader.0;
        reader.any_of(&JOINTS);
    }
    (has_date || has_time).then_some(text.len() - rest.len())
}

/// A quick look: most numbers and words are no dates.
fn may_begin(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let next = text.as_bytes().get(digits);
    match digits {
        0 => next.is_some_and(u8::is_ascii_uppercase),
        1..=4 => next.is_some_and(|next| b" -/.:aApPsnrt".contains(next) || !next.is_ascii()),
        8 => next == Some(&b'T'),
        _ => false,
    }
}

/// Whether a moment is written in words, at least in part.
pub(super) fn is_worded(moment: &str) -> bool {
    moment.split(|c: char| !c.is_alphabetic()).any(|word| word.len() > 2)
}

/// A date; true where it names the year.
fn date(text: &mut Reader<'_>) -> Option<bool> {
    text.maybe(numeric_date).map(|()| true).or_else(|| text.maybe(day_and_month)).or_else(|| text.maybe(month_and_day))
}

/// `2024-01-31`, `2024/1/31`, `20240131T235959`, `31.01.2024`, `1/31/24`, `2024年1月31日`.
fn numeric_date(text: &mut Reader<'_>) -> Option<()> {
    let first = text.digits(1..=8)?;
    if first.len() == 8 {
        text.any_of(&["T"])?;
        text.digits(6..=6)?;
        text.maybe(zone);
        return (in_range(&first[4..6], 12) && in_range(&first[6..], 31)).then_some(());
    }
    let separator = text.any_of(&["-", "/", ".", "年"])?;
    let second = text.digits(1..=2)?;
    text.any_of(&[if separator == "年" { "月" } else { separator }])?;
    let third = text.digits(1..=4)?;
    if separator == "年" {
        text.any_of(&["日"])?;
    }
    let year_first = first.len() == 4 && in_range(second, 12) && third.len() <= 2 && in_range(third, 31);
    // Three numbers with points between may be a version: there the year must be whole.
    let year_last = first.len() <= 2 && separator != "年" && in_range(first, 31) && in_range(second, 31);
    let year_last = year_last && (third.len() == 4 || third.len() == 2 && separator == "/");
    (year_first || year_last).then_some(())
}

/// `31 January 2024`, `31st of January`, `31-Jan-24`, `31/Jan/2024`.
fn day_and_month(text: &mut Reader<'_>) -> Option<bool> {
    day_of_month(text)?;
    let separator = text.any_of(&[" of ", " ", "-", "/"])?;
    text.name(&MONTHS)?;
    let short = |text: &mut Reader<'_>| text.digits(2..=2).filter(|_| separator == "-").map(drop);
    let year = |text: &mut Reader<'_>| {
        text.any_of(&[", ", separator.trim_end_matches("of ")])?;
        text.maybe(Reader::year).or_else(|| text.maybe(short))
    };
    Some(text.maybe(year).is_some())
}

/// `January 31, 2024`, `Jan. 31st`, `Jan  1`, `January 2024`.
fn month_and_day(text: &mut Reader<'_>) -> Option<bool> {
    text.name(&MONTHS)?;
    text.any_of(&["  ", " ", "-"])?;
    if text.maybe(Reader::year).is_some() {
        return Some(true);
    }
    day_of_month(text)?;
    let year = |text: &mut Reader<'_>| {
        text.any_of(&[", ", " ", "-"])?;
        text.year()
    };
    Some(text.maybe(year).is_some())
}

/// `31`, `31st`; not the hour of `12:00`.
fn day_of_month(text: &mut Reader<'_>) -> Option<()> {
    let day = text.digits(1..=2)?;
    text.any_of(&["st", "nd", "rd", "th"]);
    (in_range(day, 31) && !text.0.starts_with(':')).then_some(())
}

/// `23:59`, `23:59:59.999`, `11:59 PM`, `11pm`, each with a zone or without.
fn time(text: &mut Reader<'_>) -> Option<()> {
    let hour: u32 = text.digits(1..=2)?.parse().ok()?;
    let minutes = |text: &mut Reader<'_>| {
        text.any_of(&[":"])?;
        text.digits(2..=2).filter(|digits| *digits < "60").map(drop)
    };
    let fraction = |text: &mut Reader<'_>| {
        text.any_of(&[".", ","])?;
        text.digits(1..=usize::MAX).map(drop)
    };
    let has_minutes = text.maybe(minutes).is_some();
    if has_minutes && text.maybe(minutes).is_some() {
        text.maybe(fraction);
    }
    let has_half = text.maybe(half_of_day).is_some();
    text.maybe(zone).filter(|()| has_minutes);
    (hour <= 24 && (has_minutes || has_half)).then_some(())
}

/// `am`, ` PM`, ` p.m.`
fn half_of_day(text: &mut Reader<'_>) -> Option<()> {
    text.any_of(&[" "]);
    text.any_of(&["a.m.", "p.m.", "am", "pm", "AM", "PM"])?;
    text.ends_word()
}

/// `Z`, `+02:00`, ` -0500`, ` UTC`, ` GMT+1`.
fn zone(text: &mut Reader<'_>) -> Option<()> {
    let offset = |text: &mut Reader<'_>| {
        text.any_of(&["+", "-"])?;
        let hours = text.digits(1..=4)?;
        let minutes = |text: &mut Reader<'_>| {
            text.any_of(&[":"])?;
            text.digits(2..=2).map(drop)
        };
        (hours.len() != 3 && (text.maybe(minutes).is_some() || hours.len() != 1)).then_some(())
    };
    let hours = |text: &mut Reader<'_>| {
        text.any_of(&["+", "-"])?;
        text.digits(1..=2).map(drop)
    };
    if text.any_of(&["Z"]).is_some() {
        return text.ends_word();
    }
    text.any_of(&[" "]);
    if text.maybe(offset).is_some() {
        return Some(());
    }
    text.zone_name()?;
    text.maybe(hours);
    Some(())
}

/// `Tuesday`, `Tue.`, `星期二`, `周二`, `火曜日`.
fn day_name(text: &mut Reader<'_>) -> Option<()> {
    let chinese = |text: &mut Reader<'_>| {
        text.any_of(&["星期", "周", "週"])?;
        text.any_of(&["一", "二", "三", "四", "五", "六", "日", "天"]).map(drop)
    };
    let japanese = |text: &mut Reader<'_>| {
        text.any_of(&["月", "火", "水", "木", "金", "土", "日"])?;
        text.any_of(&["曜日"]).map(drop)
    };
    text.maybe(|text| text.name(&DAYS)).or_else(|| text.maybe(chinese)).or_else(|| text.maybe(japanese))
}

/// Whether a number of one or two digits is one of a month or a day.
fn in_range(digits: &str, last: u32) -> bool {
    digits.parse().is_ok_and(|number: u32| (1..=last).contains(&number))
}

/// What is left of a text; each step takes what it finds, or nothing.
#[derive(Clone, Copy)]
struct Reader<'t>(&'t str);

impl<'t> Reader<'t> {
    /// Goes back where a step finds only part of what it wants.
    fn maybe<T>(&mut self, step: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut ahead = *self;
        let found = step(&mut ahead)?;
        *self = ahead;
        Some(found)
    }

    /// All the digits that stand here, if they are this many.
    fn digits(&mut self, count: RangeInclusive<usize>) -> Option<&'t str> {
        let len = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(len);
        self.0 = if count.contains(&len) { rest } else { return None };
        Some(digits)
    }

    /// The first of these that stands here.
    fn any_of<'c>(&mut self, choices: &[&'c str]) -> Option<&'c str> {
        choices.iter().copied().find(|choice| {
            let rest = self.0.strip_prefix(choice);
            self.0 = rest.unwrap_or(self.0);
            rest.is_some()
        })
    }

    /// A year of our time.
    fn year(&mut self) -> Option<()> {
        self.digits(4..=4).filter(|year| year.starts_with("19") || year.starts_with("20")).map(drop)
    }

    /// One of some names, in capitals or with a capital, and the point behind it: `may` is no month.
    fn name(&mut self, names: &[&str]) -> Option<()> {
        let (word, rest) = self.capitalized()?;
        let in_capitals = word.bytes().all(|b| b.is_ascii_uppercase());
        names.iter().find(|name| word == **name || in_capitals && word.eq_ignore_ascii_case(name))?;
        self.0 = rest.strip_prefix('.').unwrap_or(rest);
        Some(())
    }

    fn zone_name(&mut self) -> Option<()> {
        let (word, rest) = self.capitalized()?;
        self.0 = if ZONES.contains(&word) { rest } else { return None };
        Some(())
    }

    /// A short word that begins with a capital, and what follows it.
    fn capitalized(&self) -> Option<(&'t str, &'t str)> {
        const LONGEST: usize = 9;
        let len = self.0.bytes().take(LONGEST + 1).take_while(u8::is_ascii_alphabetic).count();
        let (word, rest) = self.0.split_at(len);
        let is_whole = len <= LONGEST && !rest.starts_with(char::is_alphanumeric);
        (is_whole && word.starts_with(|c: char| c.is_ascii_uppercase())).then_some((word, rest))
    }

    fn ends_word(&self) -> Option<()> {
        (!self.0.starts_with(char::is_alphanumeric)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_taken_whole() {
        for text in [
            "2024-01-31",
            "2024/1/31",
            "2024.01.31",
            "31.01.2024",
            "1/31/24",
            "12:03",
            "12:03:04",
            "12:03:04.123456",
            "9:05 PM",
            "9pm",
            "9:05 p.m.",
            "12:03 UTC",
            "12:03Z",
            "12:03+02:00",
            "2024-01-31T12:03:04Z",
            "2024-01-31T12:03:04.5+00:00",
            "2024-01-31 12:03:04,123",
            "2024-01-31 12:03:04 +0200",
            "2024-01-31 at 12:03 GMT+1",
            "20240131T120304Z",
            "January 31, 2024",
            "Jan 31",
            "JAN 31 2024",
            "Sept. 1st, 2024",
            "March 2024",
            "31 January 2024",
            "31st of January",
            "02-Jan-24",
            "02/Jan/2024:12:03:04 +0000",
            "Tue Jan  2 12:03:04 2024",
            "Tue Jan  2 12:03:04 UTC 2024",
            "Tuesday, March 5, 2024",
            "Tuesday, 5 March 2024 12:03",
            "2024-03-05 (Tuesday",
            "Mon 5",
            "Fri 9am",
            "2024年3月5日",
            "2024年3月5日星期二",
            "2024年3月5日 火曜日",
        ] {
            assert_eq!(moment(text), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn words_and_numbers_are_no_moments() {
        for text in [
            "",
            "5",
            "2024",
            "1.2.3",
            "12:3",
            "25:00",
            "12:60",
            "99/99/2024",
            "2024-13-01",
            "2024-01-32",
            "Monday",
            "Tue.",
            "January",
            "may 5",
            "May I",
            "Mayor 5",
            "Marching 5",
            "Sunny 5",
            "3/4",
            "1-2-3",
            "5 am5",
            "16:9",
            "1:2:3",
            "5 of May5",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
        assert_eq!(moment("12:03 and"), Some(5));
        assert_eq!(moment("Jan 5 apples"), Some(5));
        assert_eq!(moment("2024-01-02, then"), Some(10));
        assert_eq!(moment("12:03-5"), Some(5));
        assert_eq!(moment("2024-01-023"), None);
    }

    #[test]
    fn names_make_it_worded() {
        assert!(is_worded("Jan 5") && is_worded("12:03 UTC"));
        assert!(!is_worded("2024-01-02T12:03:04Z") && !is_worded("9 PM"));
    }
}
