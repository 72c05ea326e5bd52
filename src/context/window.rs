//! What differs between two texts, without decoding what does not.

use super::text::{Piece, Text};

/// The parts in which two texts differ, decoded, with some of the equal text round them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Of the first text.
    pub a: String,
    /// Of the second text.
    pub b: String,
    /// Whether both reach to the end of their texts.
    pub to_end: bool,
}

/// Cuts the equal start and end off two texts, up to about `around` bytes of each.
///
/// Texts that come in pieces of other kinds are decoded whole; those of two requests come alike.
pub(crate) fn windows(a: &Text<'_>, b: &Text<'_>, around: usize) -> Windows {
    let (a, b) = (&*a.loaded(), &*b.loaded());
    let (pieces_a, pieces_b) = (a.pieces(), b.pieces());
    let alike = pieces_a.len() == pieces_b.len()
        && pieces_a
            .iter()
            .zip(pieces_b)
            .all(|(a, b)| raw(a).is_some() && is_escaped(a) == is_escaped(b) && raw(b).is_some());
    let Some(first) = pieces_a.iter().zip(pieces_b).position(|(a, b)| a != b).filter(|_| alike) else {
        return Windows { a: a.to_string(), b: b.to_string(), to_end: true };
    };
    let last = pieces_a.iter().zip(pieces_b).rposition(|(a, b)| a != b).unwrap_or(first);
    let start = common_start(&pieces_a[first], &pieces_b[first]);
    let end = common_end(&pieces_a[last], &pieces_b[last], if first == last { start } else { 0 });

    // Before: of the piece itself, then of those before it. Behind: the same.
    let before = start.min(around);
    let behind = end.min(around);
    let first_shown = if before < around { first.saturating_sub(1) } else { first };
    let last_shown = if behind < around { (last + 1).min(pieces_a.len() - 1) } else { last };
    let of = |pieces: &[Piece<'_>]| {
        let mut text = String::new();
        for (index, piece) in pieces.iter().enumerate().take(last_shown + 1).skip(first_shown) {
            let len = raw(piece).map_or(0, str::len);
            let from = match index {
                _ if index == first => start - before,
                _ if index < first => len.saturating_sub(around),
                _ => 0,
            };
            let to = match index {
                _ if index == last => len - end + behind,
                _ if index > last => len.min(around),
                _ => len,
            };
            push_decoded(piece, from, to, &mut text);
        }
        text
    };
    let to_end = last_shown + 1 == pieces_a.len() && {
        let shown = if last_shown == last { behind } else { around };
        let len = raw(&pieces_a[last_shown]).map_or(0, str::len);
        if last_shown == last { end == behind } else { len <= shown }
    };
    Windows { a: of(pieces_a), b: of(pieces_b), to_end }
}

fn raw<'p>(piece: &'p Piece<'_>) -> Option<&'p str> {
    match piece {
        Piece::Escaped(raw) => Some(raw),
        Piece::Plain(text) => Some(text),
        Piece::Shared(text) => Some(text),
        Piece::Fill(..) | Piece::Stored(_) => None,
    }
}

fn is_escaped(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Escaped(_))
}

/// Equal bytes at the start of two pieces of one kind, up to a boundary of both.
fn common_start(a: &Piece<'_>, b: &Piece<'_>) -> usize {
    let (Some(raw_a), Some(raw_b)) = (raw(a), raw(b)) else { return 0 };
    let at = equal_start(raw_a.as_bytes(), raw_b.as_bytes());
    boundary_before(raw_a, at, is_escaped(a)).min(boundary_before(raw_b, at, is_escaped(b)))
}

/// Equal bytes at the end of two pieces of one kind, no more than is left behind `start`.
fn common_end(a: &Piece<'_>, b: &Piece<'_>, start: usize) -> usize {
    let (Some(raw_a), Some(raw_b)) = (raw(a), raw(b)) else { return 0 };
    let (rest_a, rest_b) = (&raw_a.as_bytes()[start..], &raw_b.as_bytes()[start..]);
    let mut end = equal_end(rest_a, rest_b);
    // Forward to a boundary of both: what is in the middle of an escape or a character belongs to the difference.
    while end > 0
        && !(is_boundary(raw_a, raw_a.len() - end, is_escaped(a))
            && is_boundary(raw_b, raw_b.len() - end, is_escaped(b)))
    {
        end -= 1;
    }
    end
}

/// The number of equal leading bytes.
pub(crate) fn equal_start(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 64;
    let whole = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

/// The number of equal trailing bytes.
pub(crate) fn equal_end(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 64;
    let whole = a.rchunks_exact(STEP).zip(b.rchunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    whole + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

fn boundary_before(raw: &str, at: usize, escaped: bool) -> usize {
    (0..=at).rev().find(|&at| is_boundary(raw, at, escaped)).unwrap_or(0)
}

/// Whether neither a character nor an escape is cut in two here.
fn is_boundary(raw: &str, at: usize, escaped: bool) -> bool {
    const LONGEST_ESCAPE: usize = 6;
    if !raw.is_char_boundary(at) || !escaped {
        return raw.is_char_boundary(at);
    }
    let bytes = raw.as_bytes();
    let from = at.saturating_sub(LONGEST_ESCAPE - 1);
    // The last backslash that begins an escape, if its escape reaches past here.
    !(from..at).any(|start| {
        bytes[start] == b'\\' && {
            let run = bytes[..=start].iter().rev().take_while(|byte| **byte == b'\\').count();
            let len = if bytes.get(start + 1) == Some(&b'u') { LONGEST_ESCAPE } else { 2 };
            run % 2 == 1 && start + len > at
        }
    })
}

fn push_decoded(piece: &Piece<'_>, from: usize, to: usize, text: &mut String) {
    let Some(raw) = raw(piece) else { return };
    let escaped = is_escaped(piece);
    let from = boundary_before(raw, from, escaped);
    let to = boundary_before(raw, to.min(raw.len()), escaped).max(from);
    let slice = &raw[from..to];
    if escaped {
        text.extend(Text::from_escaped(slice).chunks());
    } else {
        text.push_str(slice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(a: &str, b: &str) -> (Text<'static>, Text<'static>) {
        let json = |text: &str| {
            let literal = serde_json::to_string(text).unwrap();
            Text::from_json(&literal[1..literal.len() - 1]).unwrap()
        };
        let framed = |text: Text<'static>| {
            let mut all = Text::plain("<out>");
            all.push_text(Box::leak(Box::new(text)));
            all.push_plain("</out>");
            all
        };
        (framed(json(a)), framed(json(b)))
    }

    #[test]
    fn the_middle_is_found() {
        let (a, b) = pair(
            &format!("{}X{}", "a\n".repeat(500), "b\n".repeat(500)),
            &format!("{}Y{}", "a\n".repeat(500), "b\n".repeat(500)),
        );
        let windows = windows(&a, &b, 8);
        assert!(windows.a.len() < 40 && windows.a.contains('X') && !windows.a.contains('Y'), "{windows:?}");
        assert_eq!(windows.a.replace('X', "Y"), windows.b);
        assert!(!windows.to_end);
    }

    #[test]
    fn escapes_are_never_cut() {
        for (a, b) in [("x\\\\n", "x\\\\t"), ("\u{1b}", "\u{1c}"), ("é", "è"), ("\\\"", "\\n"), ("a\\", "a\\\\")] {
            let (text_a, text_b) = pair(a, b);
            let windows = windows(&text_a, &text_b, 100);
            assert_eq!((windows.a, windows.b), (text_a.to_string(), text_b.to_string()));
        }
    }

    proptest! {
        #[test]
        fn windows_are_the_texts_less_equal_ends(
            start in "[a\\\\\"\n\u{1b}é😀]{0,40}", a in "[ab\\\\\"\n\u{1b}éè😀]{0,6}", b in "[ab\\\\\"\n\u{1b}éè😀]{0,6}",
            end in "[a\\\\\"\n\u{1b}é😀]{0,40}", around in 0usize..20,
        ) {
            let (text_a, text_b) = pair(&format!("{start}{a}{end}"), &format!("{start}{b}{end}"));
            prop_assume!(text_a != text_b);
            let found = windows(&text_a, &text_b, around);
            let (whole_a, whole_b) = (text_a.to_string(), text_b.to_string());
            // What is left of the first text round its window is left of the second too.
            prop_assert!((0..=whole_a.len()).filter(|&at| whole_a.is_char_boundary(at) && whole_a[at..].starts_with(&found.a)).any(|at| {
                let (before, behind) = (&whole_a[..at], &whole_a[at + found.a.len()..]);
                whole_b == format!("{before}{}{behind}", found.b) && behind.is_empty() == found.to_end
            }), "{found:?}");
        }
    }
}
