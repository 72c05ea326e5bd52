//! Ranges of messages, as Python slices them.

use std::str::FromStr;

use crate::error::{Code, Error, Result};

/// A range of messages: `START`, `START:`, `START:END` or `:END`. Negative indices count from the end; what lies outside
/// is left out, as in Python.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The first message; from the start without it.
    pub start: Option<i64>,
    /// The message behind the last; to the end without it.
    pub end: Option<i64>,
}

impl Range {
    /// Every message.
    pub const ALL: Range = Range { start: None, end: None };

    /// The indices among so many messages.
    pub fn of(self, len: usize) -> std::ops::Range<usize> {
        let at = |index: i64| match usize::try_from(index) {
            Ok(index) => index.min(len),
            Err(_) => len.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
        };
        let start = self.start.map_or(0, at);
        start..self.end.map_or(len, at).max(start)
    }
}

impl FromStr for Range {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |part: &str| match part.trim() {
            "" => Ok(None),
            // A number too large for any index lies outside like any other.
            digits => digits.parse::<i128>().map(|number| Some(number.clamp(i64::MIN.into(), i64::MAX.into()) as i64)),
        };
        let range = match text.split_once(':') {
            Some((start, end)) => number(start).and_then(|start| Ok(Range { start, end: number(end)? })),
            None if text.trim().is_empty() => return Err(no_range(text)),
            None => number(text).map(|start| Range { start, end: None }),
        };
        range.map_err(|_| no_range(text))
    }
}

fn no_range(text: &str) -> Error {
    Error::new(Code::UsageArguments, format!("{text:?} is no range of messages"))
        .with_hint("write START, START:, START:END or :END, as Python does; -2: are the last two")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_python() {
        // What `list(range(5))[...]` gives in CPython 3.11.
        for (text, expected) in [
            ("0", 0..5),
            ("2", 2..5),
            ("-2:", 3..5),
            ("-2", 3..5),
            ("1:3", 1..3),
            (":3", 0..3),
            (":-1", 0..4),
            (":", 0..5),
            ("-100:2", 0..2),
            ("3:1", 3..3),
            ("7:9", 5..5),
            ("-1:-3", 4..4),
            ("99999999999999999999:", 5..5),
            ("-99999999999999999999:1", 0..1),
        ] {
            assert_eq!(text.parse::<Range>().unwrap().of(5), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in ["", " ", "a", "1:2:3", "1-2", "1..2", "--2", "1.5", "0x1"] {
            let error = text.parse::<Range>().unwrap_err();
            assert_eq!(error.code(), Code::UsageArguments, "{text:?}");
        }
    }
}
