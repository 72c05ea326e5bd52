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

/// The places where a text may be cut, in order; its start and its end are always among them.
pub(super) fn boundaries(text: &str, boundary: Boundary) -> Vec<Place> {
    let values = json_values(text);
    let mut values = values.iter().peekable();
    let mut places = vec![Place::default()];
    let mut at = Place::default();
    let mut fence: Option<Fence<'_>> = None;
    let mut was_empty = false;
    for line in text.split_inclusive('\n') {
        let (mark, before) = (Fence::of(line), at);
        at = Place { byte: at.byte + line.len(), char: at.char + line.chars().count() as u64 };
        let is_inside = |place: Place, values: &mut std::iter::Peekable<std::slice::Iter<'_, Range<usize>>>| {
            while values.next_if(|value| value.end <= place.byte).is_some() {}
            values.peek().is_some_and(|value| value.start < place.byte)
        };
        let is_empty = line.trim().is_empty();
        let (opens, closes) = match (&fence, &mark) {
            (None, Some(_)) => (true, false),
            (Some(open), Some(mark)) => (false, mark.closes(open)),
            _ => (false, false),
        };
        let is_free = fence.is_none();
        if opens {
            fence = mark;
        } else if closes {
            fence = None;
        }
        let mut push = |place: Place| {
            if places.last() != Some(&place) && !is_inside(place, &mut values) {
                places.push(place);
            }
        };
        match boundary {
            Boundary::Fence if opens => push(before),
            Boundary::Fence if closes => push(at),
            Boundary::Paragraph if is_free && was_empty && !is_empty => push(before),
            Boundary::Line if fence.is_none() && line.ends_with('\n') => push(at),
            _ => {}
        }
        was_empty = is_empty && fence.is_none();
    }
    if places.last().is_some_and(|last| last.byte < at.byte) {
        places.push(at);
    }
    places
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
fn json_values(text: &str) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let (mut at, mut work) = (0, 0);
    // Brackets that are never closed would have the rest read again for each of them.
    let most = 16 * text.len() + (64 << 10);
    while let Some(found) = memchr::memchr2(b'{', b'[', &text.as_bytes()[at..]) {
        let start = at + found;
        if work > most {
            values.push(start..text.len());
            break;
        }
        let mut reader = serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde::de::IgnoredAny>();
        match reader.next() {
            Some(Ok(_)) => {
                let end = start + reader.byte_offset();
                if memchr::memchr(b'\n', &text.as_bytes()[start..end]).is_some() {
                    values.push(start..end);
                }
                at = end;
                work += end - start;
            }
            Some(Err(error)) => {
                at = start + 1;
                work += offset(&text.as_bytes()[start..], &error);
            }
            None => break,
        }
    }
    values
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
        boundaries(text, boundary).into_iter().map(|place| place.byte).collect()
    }

    #[test]
    fn lines_end_behind_their_line_feed() {
        assert_eq!(cuts("", Boundary::Line), [0]);
        assert_eq!(cuts("a", Boundary::Line), [0, 1]);
        assert_eq!(cuts("a\nbc\n", Boundary::Line), [0, 2, 5]);
        assert_eq!(cuts("a\r\n\nb", Boundary::Line), [0, 3, 4, 5]);
        let last = *boundaries("é\n中x", Boundary::Line).last().unwrap();
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
