//! Numbers, sizes and names as people read them, in columns.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::measure::Size;

/// A number and what it counts, in the plural where that is due.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A size in characters, with its unit.
pub(crate) fn chars(size: Size) -> String {
    let unit = if size.chars == 1 && size.unmeasured == 0 { "char" } else { "chars" };
    format!("{} {unit}", amount(size))
}

/// A size in characters; of what is known in part, that part as a lower bound.
pub(crate) fn amount(size: Size) -> String {
    match (size.known_chars(), size.chars) {
        (Some(chars), _) => thousands(chars),
        (None, 0) => "unknown".to_owned(),
        (None, chars) => format!("≥ {}", thousands(chars)),
    }
}

/// A number with its thousands separated.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The same in so many columns, rounded down to thousands of thousands where it is too long: `18,446P`.
pub(crate) fn thousands_in(number: u64, columns: usize) -> String {
    let mut text = thousands(number);
    let mut left = number;
    for unit in ["k", "M", "G", "T", "P", "E"] {
        if text.len() <= columns {
            break;
        }
        left /= 1000;
        text = thousands(left) + unit;
    }
    text
}

/// Pads with spaces to a number of columns, wide characters counting as two.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Text cut to a number of columns, its end kept: that is where indices are.
pub(crate) fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut used = 1;
    let mut from = text.len();
    for (at, character) in text.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        from = at;
    }
    Cow::Owned(format!("…{}", &text[from..]))
}

/// Text as lines of at most so many columns, the first and those behind it; broken between words where that can be.
pub(crate) fn lines(text: &str, first: usize, behind: usize) -> Vec<&str> {
    // The widest character takes two.
    const LEAST: usize = 2;
    let (mut rest, mut columns, mut lines) = (text, first, Vec::new());
    loop {
        let (line, others) = rest.split_at(break_words(rest, columns.max(LEAST)));
        lines.push(line.trim_end());
        if others.is_empty() {
            return lines;
        }
        (rest, columns) = (others, behind);
    }
}

/// The byte after the last word that fits, or else after the last character; the text has no escape sequences.
pub(crate) fn break_words(text: &str, columns: usize) -> usize {
    match break_at(text, columns) {
        at if at == text.len() => at,
        at => text[..at].rfind(' ').map_or(at, |space| space + 1),
    }
}

/// The byte after the last character that fits; escape sequences (`ESC … m`, the only ones painted) take no room.
pub(crate) fn break_at(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut in_sequence = false;
    for (at, character) in text.char_indices() {
        if in_sequence || character == '\x1b' {
            in_sequence = character != 'm';
            continue;
        }
        let width = character.width().unwrap_or(0);
        if used + width > columns && used > 0 {
            return at;
        }
        used += width;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_no_line_is_wider() {
        assert_eq!(lines("", 5, 5), [""]);
        assert_eq!(lines("one two three", 8, 5), ["one two", "three"]);
        assert_eq!(lines("abcdef 名前名前", 4, 5), ["abcd", "ef", "名前", "名前"]);
        for columns in 2..20 {
            let words = "a result marked lost for the call of 名前のある道具 at messages[2].tool_calls[0]";
            let lines = lines(words, columns, columns);
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:?}");
            let kept: String = lines.concat().split(' ').collect();
            assert_eq!(kept, words.split(' ').collect::<String>(), "{columns}");
        }
    }
}
