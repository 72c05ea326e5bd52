//! The part of two texts that is worth looking at: what differs, and as much round it as its meaning depends on.

use super::normalise::{End, is_settled};

/// Bytes of equal text that are kept on either side of a difference. Longer than any date, unit or name that gives a
/// number its meaning.
const CONTEXT: usize = 256;

/// Both texts without most of their common start and end, and where what is left ends.
pub(super) fn window<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str, End) {
    let start = common_prefix(a.as_bytes(), b.as_bytes());
    let from = cut_before(a, start);
    let common = common_suffix(&a.as_bytes()[start..], &b.as_bytes()[start..]);
    let to = cut_after(a, a.len() - common);
    let kept = a.len() - to;
    let end = if kept == 0 { End::Text } else { End::Inside };
    (&a[from..to], &b[from..b.len() - kept], end)
}

/// How many bytes two texts begin with in common.
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 64;
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    steps + a[steps..].iter().zip(&b[steps..]).take_while(|(a, b)| a == b).count()
}

fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 64;
    let steps = a.rchunks_exact(STEP).zip(b.rchunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    let (a, b) = (&a[..a.len() - steps], &b[..b.len() - steps]);
    steps + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// The last place, well before `at`, where a text may be cut; 0 where there is none.
pub(super) fn cut_before(text: &str, at: usize) -> usize {
    (1..=at.saturating_sub(CONTEXT)).rev().find(|&place| may_cut(text, place)).unwrap_or(0)
}

/// The first place, well behind `at`, where a text may be cut.
fn cut_after(text: &str, at: usize) -> usize {
    let len = text.len();
    (at.saturating_add(CONTEXT).min(len)..len).find(|&place| may_cut(text, place)).unwrap_or(len)
}

/// Whether nothing that has a meaning of its own reaches over a place: no CRLF, no letter with its accents, no word or
/// number.
fn may_cut(text: &str, place: usize) -> bool {
    let Some((before, after)) = text.split_at_checked(place) else { return false };
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let tears_word = is_word(before.bytes().next_back()) && is_word(after.bytes().next());
    before.ends_with('\n') || !tears_word && after.chars().next().is_none_or(|next| next != '\n' && is_settled(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_texts_are_kept_whole() {
        assert_eq!(window("one 1", "one 2"), ("one 1", "one 2", End::Text));
        assert_eq!(window("", "x"), ("", "x", End::Text));
    }

    #[test]
    fn large_texts_are_cut_where_nothing_is_torn() {
        for filler in ["word ", "é", "12", "\r\n", "e\u{301} ", "界"] {
            let around = filler.repeat(2_000);
            let (a, b) = (format!("{around}<1>{around}"), format!("{around}<2>{around}"));
            let (cut_a, cut_b, end) = window(&a, &b);
            assert!(cut_a.contains("<1>") && cut_b.contains("<2>"));
            assert!(!cut_a.starts_with(['\n', '\u{301}']) && !cut_a.ends_with('\r'), "{filler:?}");
            assert_eq!(cut_a.len() < 600 && end == End::Inside, filler != "12", "{filler:?}");
        }
    }

    #[test]
    fn common_starts_and_ends_never_overlap() {
        let (a, b) = ("a".repeat(1_000), "a".repeat(999));
        assert_eq!(window(&a, &b), (&*a, &*b, End::Text));
        assert_eq!(common_prefix(a.as_bytes(), b.as_bytes()), 999);
        assert_eq!(common_suffix(a.as_bytes(), b.as_bytes()), 999);
        assert_eq!(common_suffix(b"xab", b"yab"), 2);
    }
}
