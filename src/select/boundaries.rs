//! Where a text may be cut: behind lines, but never inside a code fence or a JSON value.

use std::ops::Range;

use crate::request::Boundary;

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// In bytes.
    pub byte: usize,
    /// In characters.
    pub char: u64,
}

/// The places where a text may be cut, in order; its start and its end are always among them. No more of the text is read
/// than is asked for.
pub(super) struct Boundaries<'t> {
    boundary: Boundary,
    lines: std::str::SplitInclusive<'t, char>,
    values: std::iter::Peekable<JsonValues<'t>>,
    /// The end of the lines so far, and the last place that was given.
    at: Place,
    given: Option<Place>,
    fence: Option<Fence<'t>>,
    was_empty: bool,
}

impl<'t> Boundaries<'t> {
    pub fn of(text: &'t str, boundary: Boundary) -> Self {
        Boundaries {
            boundary,
            lines: text.split_inclusive('\n'),
            values: JsonValues { text, at: 0, work: 0 }.peekable(),
            at: Place::default(),
            given: None,
            fence: None,
            was_empty: false,
        }
    }

    /// Takes in a line, and gives the place before or behind it where it may be one to cut at.
    fn behind(&mut self, line: &'t str) -> Option<Place> {
        let (mark, before) = (Fence::of(line), self.at);
        let at = Place { byte: before.byte + line.len(), char: before.char + line.chars().count() as u64 };
        self.at = at;
        let is_empty = line.trim().is_empty();
        let (opens, closes) = match (&self.fence, &mark) {
            (None, Some(_)) => (true, false),
            (Some(open), Some(mark)) => (false, mark.closes(open)),
            _ => (false, false),
        };
        let (is_free, was_empty) = (self.fence.is_none(), self.was_empty);
        if opens {
            self.fence = mark;
        } else if closes {
            self.fence = None;
        }
        self.was_empty = is_empty && self.fence.is_none();
        match self.boundary {
            Boundary::Fence if opens => Some(before),
            Boundary::Fence if closes => Some(at),
            Boundary::Paragraph if is_free && was_empty && !is_empty => Some(before),
            Boundary::Line if self.fence.is_none() && line.ends_with('\n') => Some(at),
            _ => None,
        }
    }

    fn is_inside_a_value(&mut self, place: Place) -> bool {
        while self.values.next_if(|value| value.end <= place.byte).is_some() {}
        self.values.peek().is_some_and(|value| value.start < place.byte)
    }
}

impl Iterator for Boundaries<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        let Some(last) = self.given else {
            return Some(*self.given.insert(Place::default()));
        };
        while let Some(line) = self.lines.next() {
            match self.behind(line) {
                Some(place) if place != last && !self.is_inside_a_value(place) => {
                    self.given = Some(place);
                    return Some(place);
                }
                _ => {}
            }
        }
        // The end.
        (last.byte < self.at.byte).then(|| *self.given.insert(self.at))
    }
}

/// The mark of a code fence: three or more of one character.
#[derive(Clone, Copy)]
struct Fence<'t> {
    mark: u8,
    count: usize,
    rest: &'t str,
}

impl<'t> Fence<'t> {
    /// However far it is indented or quoted: one that stands in a list is one as well.
    fn of(line: &'t str) -> Option<Self> {
        let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let mark = *line.as_bytes().first().filter(|byte| b"`~".contains(byte))?;
        let count = line.bytes().take_while(|byte| *byte == mark).count();
        let rest = &line[count..];
        let is_code_in_line = mark == b'`' && rest.contains('`');
        (count >= 3 && !is_code_in_line).then_some(Fence { mark, count, rest })
    }

    fn closes(&self, open: &Fence<'_>) -> bool {
        self.mark == open.mark && self.count >= open.count && self.rest.is_empty()
    }
}

/// The objects and lists of JSON in a text that reach over a line.
struct JsonValues<'t> {
    text: &'t str,
    at: usize,
    /// How many bytes were read.
    work: usize,
}

impl Iterator for JsonValues<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        // Brackets that are never closed would have the rest read again for each of them.
        let most = 16 * self.text.len() + (64 << 10);
        while let Some(found) = memchr::memchr2(b'{', b'[', &bytes[self.at..]) {
            let start = self.at + found;
            if self.work > most {
                self.at = self.text.len();
                return Some(start..self.text.len());
            }
            let rest = &self.text[start..];
            let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
            match reader.next()? {
                Ok(_) => {
                    let end = start + reader.byte_offset();
                    self.at = end;
                    self.work += end - start;
                    if memchr::memchr(b'\n', &bytes[start..end]).is_some() {
                        return Some(start..end);
                    }
                }
                Err(error) => {
                    self.at = start + 1;
                    self.work += offset(&bytes[start..], &error);
                }
            }
        }
        None
    }
}

/// How far a reader came.
fn offset(text: &[u8], error: &serde_json::Error) -> usize {
    let line = error.line().saturating_sub(2);
    let start =
        if error.line() > 1 { memchr::memchr_iter(b'\n', text).nth(line).map_or(text.len(), |at| at + 1) } else { 0 };
    (start + error.column()).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(text: &str, boundary: Boundary) -> Vec<usize> {
        Boundaries::of(text, boundary).map(|place| place.byte).collect()
    }

    #[test]
    fn lines_end_behind_their_line_feed() {
        assert_eq!(cuts("", Boundary::Line), [0]);
        assert_eq!(cuts("a", Boundary::Line), [0, 1]);
        assert_eq!(cuts("a\nbc\n", Boundary::Line), [0, 2, 5]);
        assert_eq!(cuts("a\r\n\nb", Boundary::Line), [0, 3, 4, 5]);
        let last = Boundaries::of("é\n中x", Boundary::Line).last().unwrap();
        assert_eq!(last, Place { byte: 7, char: 4 });
    }

    #[test]
    fn paragraphs_end_behind_their_empty_lines() {
        assert_eq!(cuts("a\nb\n\n \nc\n\nd", Boundary::Paragraph), [0, 7, 10, 11]);
        assert_eq!(cuts("a\nb\n", Boundary::Paragraph), [0, 4]);
        assert_eq!(cuts("a\n\n```\nb\n\nc\n```\n\nd", Boundary::Paragraph), [0, 3, 17, 18]);
    }

    #[test]
    fn a_fence_is_never_cut() {
        let text = "a\n```rust\nb\n~~~\n``` x\n````\nc\n```\n";
        assert_eq!(cuts(text, Boundary::Line), [0, 2, 27, 29, 33]);
        assert_eq!(cuts(text, Boundary::Fence), [0, 2, 27, 29, 33]);
        assert_eq!(cuts("```a```\nb\n", Boundary::Line), [0, 8, 10]);
        assert_eq!(cuts("- x\n    ```\n    y\n    ```\nz", Boundary::Line), [0, 4, 26, 27]);
    }

    #[test]
    fn a_json_value_is_never_cut() {
        assert_eq!(cuts("{\n\"a\": [1,\n2]\n}\n", Boundary::Line), [0, 16]);
        assert_eq!(cuts("got: {\n\"a\": \"}\\n\"\n} so\nb\n", Boundary::Line), [0, 23, 25]);
        assert_eq!(cuts("{\"a\":1}\n{\"a\":2}\n", Boundary::Line), [0, 8, 16]);
        assert_eq!(cuts("fn a() {\n  b[0];\n}\n", Boundary::Line), [0, 9, 17, 19]);
    }

    #[test]
    fn brackets_that_are_never_closed_take_no_time() {
        let text = format!("a\n{}\nb\n", "[".repeat(1_000_000));
        assert_eq!(cuts(&text, Boundary::Line)[..2], [0, 2]);
    }
}
