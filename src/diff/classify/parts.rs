//! Texts that no kinds of difference explain whole, stretch by stretch.
//!
//! First by lines, then by words within lines that keep most of theirs.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::super::Class;
use super::normalise::{End, Kinds};
use super::window::{common_prefix, cut_before};
use super::{explain, may_explain, volatile};

/// The most lines, of both sides together, for which the best alignment is searched. The search may take the square of
/// that many steps.
const LINES_EXACT: usize = 4_096;
/// The same for words.
const WORDS_EXACT: usize = 512;
/// How far the quick search looks for pieces that both sides share.
const AHEAD: usize = 128;
/// The most stretches that are looked at; behind them everything counts as content.
const STRETCHES: usize = 16_384;
/// The most bytes of lines that are looked at word by word. Of a long line only so many count: in it what is equal is
/// passed over quickly.
const WORDS: usize = 16_384;
const LONG_LINE: usize = 4_096;

/// The classes of all differing stretches together; content alone where that is most of both texts, which then have
/// little to do with each other.
pub(super) fn by_parts(a: &str, b: &str, end: End) -> Kinds {
    let mut parts = Parts { found: Kinds::NONE, content: 0, stretches: STRETCHES, words: WORDS };
    let (stretches, all) = stretches(a, b, line, LINES_EXACT);
    for (of_a, of_b) in stretches {
        let last = of_a.end == a.len() && of_b.end == b.len();
        parts.lines(&a[of_a], &b[of_b], if last { end } else { End::Line });
    }
    let content = Kinds::of(&[Class::Content]);
    match parts.content {
        0 if all => parts.found,
        bytes if bytes > (a.len() + b.len()) / 2 => content,
        _ => parts.found.and(content),
    }
}

struct Parts {
    found: Kinds,
    /// Bytes of stretches that stay unexplained, of both sides.
    content: usize,
    /// How many more stretches may be looked at.
    stretches: usize,
    /// How many more bytes may be looked at word by word.
    words: usize,
}

impl Parts {
    /// Lines that differ.
    fn lines(&mut self, a: &str, b: &str, end: End) {
        if self.explained(a, b, end) {
            return;
        }
        let count = |text: &str| text.split_inclusive('\n').count();
        let lines = count(a);
        if lines == 1 || lines != count(b) {
            return self.words(a, b, end);
        }
        for (index, (a, b)) in a.split_inclusive('\n').zip(b.split_inclusive('\n')).enumerate() {
            let end = if index + 1 == lines { end } else { End::Line };
            if a != b && !self.explained(a, b, end) {
                self.words(a, b, end);
            }
        }
    }

    /// Lines that no kinds explain whole: content, and more where most of the words are kept.
    fn words(&mut self, a: &str, b: &str, end: End) {
        let bytes = a.len() + b.len();
        let counted = bytes.min(LONG_LINE);
        if a.is_empty() || b.is_empty() || counted > self.words {
            return self.content += bytes;
        }
        self.words -= counted;
        let (stretches, all) = stretches(a, b, word, WORDS_EXACT);
        let changed: usize = stretches.iter().map(|(of_a, of_b)| of_a.len() + of_b.len()).sum();
        if !all || changed > bytes / 2 {
            return self.content += bytes;
        }
        for (of_a, of_b) in stretches {
            let end = match (&a[of_a.end..], &b[of_b.end..]) {
                ("", "") => end,
                (a, b) if a.starts_with(['\r', '\n']) && b.starts_with(['\r', '\n']) => End::Line,
                _ => End::Inside,
            };
            let (a, b) = (&a[of_a], &b[of_b]);
            if !self.explained(a, b, end) {
                self.content += a.len() + b.len();
            }
        }
    }

    fn explained(&mut self, a: &str, b: &str, end: End) -> bool {
        let Some(left) = self.stretches.checked_sub(1) else { return false };
        self.stretches = left;
        let kinds = if may_explain(a, b, end) { explain(a, b, end) } else { None };
        self.found = self.found.and(kinds.unwrap_or(Kinds::NONE));
        kinds.is_some()
    }
}

/// The bytes of a stretch on both sides.
type Stretch = (Range<usize>, Range<usize>);

/// Cuts off the piece a text begins with. The second string is that by which the piece answers to others.
type Cut = fn(&str) -> (&str, &str);

/// The stretches in which two texts differ, cut into pieces; false where there are more than could be found.
fn stretches(a: &str, b: &str, cut: Cut, exact: usize) -> (Vec<Stretch>, bool) {
    let mut names = HashMap::new();
    let mut keys = |text| {
        let mut name = |(_, key)| {
            let next = names.len();
            *names.entry(key).or_insert(next)
        };
        pieces(text, cut).take(exact + 1).map(&mut name).collect::<Vec<usize>>()
    };
    let (keys_a, keys_b) = (keys(a), keys(b));
    let mut walk = Walk { a, b, at_a: 0, at_b: 0, cut, found: Vec::new(), goes_on: false };
    if keys_a.len() + keys_b.len() > exact {
        let all = walk.quickly();
        return (walk.found, all);
    }
    for op in capture_diff_slices(Algorithm::Myers, &keys_a, &keys_b) {
        match op {
            DiffOp::Equal { len, .. } => walk.pass(len),
            _ => walk.part(op.old_range().len(), op.new_range().len()),
        }
    }
    (walk.found, true)
}

/// A way through two texts, piece by piece.
struct Walk<'t> {
    a: &'t str,
    b: &'t str,
    at_a: usize,
    at_b: usize,
    cut: Cut,
    found: Vec<Stretch>,
    /// Whether pieces that answer to each other and differ join the last stretch.
    goes_on: bool,
}

impl Walk<'_> {
    /// Goes through both texts side by side, and looks a little ahead where they part; false where that did not help.
    fn quickly(&mut self) -> bool {
        while self.found.len() < STRETCHES {
            let (rest_a, rest_b) = (&self.a[self.at_a..], &self.b[self.at_b..]);
            let skipped = cut_before(rest_a, common_prefix(rest_a.as_bytes(), rest_b.as_bytes()));
            (self.at_a, self.at_b) = (self.at_a + skipped, self.at_b + skipped);
            self.pass(usize::MAX);
            if self.at_a == self.a.len() && self.at_b == self.b.len() {
                return true;
            }
            let Some((skipped_a, skipped_b)) = self.meeting() else { break };
            self.part(skipped_a, skipped_b);
        }
        false
    }

    /// Passes over pieces that answer to each other.
    fn pass(&mut self, most: usize) {
        let (a, b) = (self.a, self.b);
        let both = pieces(&a[self.at_a..], self.cut).zip(pieces(&b[self.at_b..], self.cut));
        for ((a, key_a), (b, key_b)) in both.take(most) {
            if a == b {
                self.goes_on = false;
                (self.at_a, self.at_b) = (self.at_a + a.len(), self.at_b + b.len());
            } else if key_a == key_b {
                self.take(a.len(), b.len());
                self.goes_on = true;
            } else {
                return;
            }
        }
    }

    /// Takes pieces that answer to none.
    fn part(&mut self, count_a: usize, count_b: usize) {
        let bytes = |text, count| pieces(text, self.cut).take(count).map(|(piece, _)| piece.len()).sum();
        let (bytes_a, bytes_b) = (bytes(&self.a[self.at_a..], count_a), bytes(&self.b[self.at_b..], count_b));
        self.goes_on = false;
        self.take(bytes_a, bytes_b);
    }

    fn take(&mut self, bytes_a: usize, bytes_b: usize) {
        let (from_a, from_b) = (self.at_a, self.at_b);
        (self.at_a, self.at_b) = (from_a + bytes_a, from_b + bytes_b);
        match self.found.last_mut().filter(|_| self.goes_on) {
            Some(last) => (last.0.end, last.1.end) = (self.at_a, self.at_b),
            None => self.found.push((from_a..self.at_a, from_b..self.at_b)),
        }
    }

    /// How many pieces of each side come before two that both share, or before the end.
    fn meeting(&self) -> Option<(usize, usize)> {
        let ahead = |text| pieces(text, self.cut).take(AHEAD).map(|(_, key)| key).collect::<Vec<&str>>();
        let (a, b) = (ahead(&self.a[self.at_a..]), ahead(&self.b[self.at_b..]));
        for steps in 1..a.len() + b.len() {
            for skipped_a in steps.saturating_sub(b.len())..=steps.min(a.len()) {
                let (rest_a, rest_b) = (&a[skipped_a..], &b[steps - skipped_a..]);
                if rest_a.len() >= 2 && rest_b.len() >= 2 && rest_a[..2] == rest_b[..2] {
                    return Some((skipped_a, steps - skipped_a));
                }
            }
        }
        (a.len() < AHEAD && b.len() < AHEAD).then_some((a.len(), b.len()))
    }
}

fn pieces(text: &str, cut: Cut) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, key) = if rest.is_empty() { return None } else { cut(rest) };
        rest = &rest[piece.len()..];
        Some((piece, key))
    })
}

/// A line answers to one that is equal but for what ends it; a line of white space alone, but for its line break.
fn line(text: &str) -> (&str, &str) {
    let line = &text[..memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1)];
    let key = line.trim_end();
    (line, if key.is_empty() { line.trim_end_matches(['\r', '\n']) } else { key })
}

/// A word: something volatile, letters, blanks, line breaks, or any one character. Line breaks answer to any others.
fn word(text: &str) -> (&str, &str) {
    if let Some(token) = volatile::token_at(text, 0) {
        return (&text[..token.len], &text[..token.len]);
    }
    let run = |of: fn(char) -> bool| &text[..text.find(|c| !of(c)).unwrap_or(text.len())];
    let word = match text.chars().next() {
        Some('\r' | '\n') => return (run(|c| matches!(c, '\r' | '\n')), "\n"),
        Some(c) if c.is_whitespace() => run(|c| c.is_whitespace() && !matches!(c, '\r' | '\n')),
        Some(c) if c.is_alphabetic() => run(char::is_alphabetic),
        Some(c) => &text[..c.len_utf8()],
        None => "",
    };
    (word, word)
}
