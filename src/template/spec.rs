//! What follows the colon of a field: `[[fill]align][0][width][.precision][s]`.

use std::ops::Range;

use super::tables::decimal_digit;
use super::{MAX_WIDTH_CHARS, fault};
use crate::error::Result;

/// The spec of a field of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) fill: char,
    pub(super) align: Align,
    /// The least number of characters, 0 to [`MAX_WIDTH_CHARS`].
    pub(super) width: u32,
    /// The most characters of the text that are kept.
    pub(super) precision: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    Center,
}

impl Spec {
    /// Parses the spec that lies at `range` of the template.
    pub(super) fn parse(source: &str, range: Range<usize>) -> Result<Self> {
        let mut spec = Spec { fill: ' ', align: Align::Left, width: 0, precision: None };
        let text = &source[range.clone()];
        if let Some(brace) = text.find('{') {
            return Err(fault::brace_in_spec(source, range.start + brace));
        }
        let mut cursor = Cursor { text, end: range.end };

        let mut fill_given = false;
        let (first, second) = (cursor.peek(), cursor.text.chars().nth(1));
        if let (Some(fill), Some('<' | '>' | '^' | '=')) = (first, second) {
            spec.fill = fill;
            fill_given = true;
            cursor.skip(fill);
        }
        if let Some(align @ ('<' | '>' | '^' | '=')) = cursor.peek() {
            spec.align = match align {
                '>' => Align::Right,
                '^' => Align::Center,
                '<' => Align::Left,
                _ => return Err(fault::align(cursor.next_span())),
            };
            cursor.skip(align);
        }
        if let Some(option @ ('+' | '-' | ' ' | 'z' | '#')) = cursor.peek() {
            return Err(fault::number_option(option, cursor.next_span()));
        }
        // Before a width this is a fill; for text, unlike for numbers, it changes no alignment.
        if !fill_given && cursor.peek() == Some('0') {
            spec.fill = '0';
            cursor.skip('0');
        }
        if let Some((width, span)) = cursor.integer() {
            let width = width.and_then(|width| u32::try_from(width).ok()).filter(|&width| width <= MAX_WIDTH_CHARS);
            spec.width = width.ok_or_else(|| fault::too_wide(span))?;
        }
        if let Some(separator @ (',' | '_')) = cursor.peek() {
            return Err(fault::number_option(separator, cursor.next_span()));
        }
        if cursor.peek() == Some('.') {
            let dot = cursor.next_span();
            cursor.skip('.');
            let (precision, span) = cursor.integer().ok_or_else(|| fault::no_precision(dot))?;
            spec.precision = Some(precision.ok_or_else(|| fault::too_precise(span))?);
        }
        match cursor.text {
            "" | "s" => Ok(spec),
            _ => Err(fault::spec_rest(source, cursor.at()..cursor.end)),
        }
    }
}

/// What is left of a spec.
struct Cursor<'s> {
    text: &'s str,
    /// Where the spec ends, in bytes of the template.
    end: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    fn skip(&mut self, character: char) {
        self.text = &self.text[character.len_utf8()..];
    }

    fn at(&self) -> usize {
        self.end - self.text.len()
    }

    fn next_span(&self) -> Range<usize> {
        self.at()..self.at() + self.peek().map_or(0, char::len_utf8)
    }

    /// Takes digits of any script, if there are any, and where they lie. The value is at most that of CPython's
    /// `Py_ssize_t`; `None` if it is larger.
    fn integer(&mut self) -> Option<(Option<u64>, Range<usize>)> {
        let start = self.at();
        let mut value = Some(0_u64);
        while let Some((character, digit)) = self.peek().and_then(|c| Some((c, decimal_digit(c)?))) {
            value = value
                .and_then(|value| value.checked_mul(10)?.checked_add(u64::from(digit)))
                .filter(|&value| value <= i64::MAX as u64);
            self.skip(character);
        }
        let span = start..self.at();
        (!span.is_empty()).then_some((value, span))
    }
}
