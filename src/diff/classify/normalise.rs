//! Two texts are equal but for some kinds of difference, or they are not.
//!
//! Both texts are read side by side as [`Item`]s with those kinds of difference taken out. Nothing is copied but lines
//! that hold invisible characters and letters that are brought to a normalization form, and the first difference that
//! stays ends the work.

use std::borrow::Cow;
use std::collections::VecDeque;

use memchr::{memchr2, memrchr};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::super::Class;
use super::lookalike::look_alike;
use super::volatile::{self, Token};
use super::window::{common_prefix, cut_before};

/// A set of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u16);

impl Kinds {
    pub(super) const NONE: Kinds = Kinds(0);

    pub(super) fn of(classes: &[Class]) -> Self {
        Kinds(classes.iter().fold(0, |set, &class| set | 1 << class as u16))
    }

    pub(super) fn has(self, class: Class) -> bool {
        self.0 & 1 << class as u16 != 0
    }

    pub(super) fn without(self, class: Class) -> Self {
        Kinds(self.0 & !(1 << class as u16))
    }

    pub(super) fn and(self, other: Kinds) -> Self {
        Kinds(self.0 | other.0)
    }
}

/// Where a stretch of text ends: what stands last in it is trailing only at the end of a line or of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Inside,
    Line,
    Text,
}

/// What is compared with its like.
pub(super) enum Item {
    Char(char),
    /// Something that changes from run to run.
    Volatile(Token),
}

/// Whether two texts are equal once these kinds of difference are removed.
pub(super) fn equal(a: &str, b: &str, kinds: Kinds, end: End) -> bool {
    let (mut a, mut b) = (Items::new(a, kinds, end), Items::new(b, kinds, end));
    loop {
        skip_equal_part(&mut a, &mut b);
        if a.line_is_done() && b.line_is_done() {
            skip_equal_lines(&mut a, &mut b);
        }
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(Item::Char(x)), Some(Item::Char(y))) if x == y => {}
            (Some(Item::Char(x)), Some(Item::Char(y)))
                if kinds.has(Class::Homoglyph) && look_alike(x, y, &mut a, &mut b) => {}
            (Some(Item::Volatile(x)), Some(Item::Volatile(y)))
                if volatile::may_become((a.just_read(x), x.kind), (b.just_read(y), y.kind)) => {}
            _ => return false,
        }
    }
}

/// A text, item by item, with some kinds of difference taken out.
pub(super) struct Items<'t> {
    kinds: Kinds,
    end: End,
    /// What follows the line.
    rest: &'t str,
    /// The line that is being read, without the line break.
    line: Cow<'t, str>,
    /// Where in the line the next item begins.
    at: usize,
    /// Up to where the line is known to hold what the other one holds.
    equal_to: usize,
    /// The line break after the line, as far as it counts.
    line_break: &'t str,
    /// Characters of the line that were normalised.
    ready: VecDeque<char>,
}

impl<'t> Items<'t> {
    fn new(text: &'t str, kinds: Kinds, end: End) -> Self {
        let falls =
            |c| c == '\r' || c == '\n' || kinds.has(Class::TrailingWhitespace) && is_blank(c) || removed(kinds, c);
        let trailing = end == End::Text && kinds.has(Class::TrailingNewline);
        let rest = if trailing { text.trim_end_matches(falls) } else { text };
        Items { kinds, end, rest, line: Cow::Borrowed(""), at: 0, equal_to: 0, line_break: "", ready: VecDeque::new() }
    }

    pub(super) fn next(&mut self) -> Option<Item> {
        loop {
            if !self.ready.is_empty() {
                return self.ready.pop_front().map(Item::Char);
            }
            if let Some(item) = self.next_in_line() {
                return Some(item);
            }
            if self.ready.is_empty() && !self.next_line() {
                return None;
            }
        }
    }

    /// The next item of the line; `None` at its end, or where characters have become ready.
    fn next_in_line(&mut self) -> Option<Item> {
        while let Some(c) = char_at(&self.line, self.at) {
            let start = self.at;
            if c.is_ascii_alphanumeric()
                && self.kinds.has(Class::Volatile)
                && let Some(token) = volatile::token_at(&self.line, start)
            {
                self.at += token.len;
                return Some(Item::Volatile(token));
            }
            self.at += c.len_utf8();
            if self.kinds.has(Class::Whitespace) && c.is_whitespace() || removed(self.kinds, c) {
                continue;
            }
            // White space in another normalization form is white space; U+00A0 must not become a space here.
            if self.kinds.has(Class::Normalization) && !c.is_whitespace() && !self.is_settled_pair(c) {
                let piece = piece(&self.line[start..]);
                self.at = start + piece.len();
                self.ready.extend(piece.nfkc());
                return None;
            }
            return Some(Item::Char(c));
        }
        let mut line_break = std::mem::take(&mut self.line_break).chars();
        let first = line_break.next()?;
        self.ready.extend(line_break);
        Some(Item::Char(first))
    }

    /// Whether the character just read, and the next one, are in normal form and do not join.
    fn is_settled_pair(&self, c: char) -> bool {
        is_settled(c) && char_at(&self.line, self.at).is_none_or(is_settled)
    }

    /// The text of the item that was read last.
    fn just_read(&self, token: Token) -> &str {
        &self.line[self.at - token.len..self.at]
    }

    fn next_line(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let (line, line_break, rest) = self.peek_line();
        self.rest = rest;
        self.line_break = line_break;
        (self.at, self.equal_to) = (0, 0);
        // Tokens and letters with marks are told by what stands next to them: not by what cannot be seen there.
        let looks_ahead = self.kinds.has(Class::Volatile) || self.kinds.has(Class::Normalization);
        let removes = self.kinds.has(Class::Bom) || self.kinds.has(Class::Invisible);
        self.line = if !(looks_ahead && removes) || line.is_ascii() || !line.contains(|c| removed(self.kinds, c)) {
            Cow::Borrowed(line)
        } else {
            Cow::Owned(line.chars().filter(|&c| !removed(self.kinds, c)).collect())
        };
        true
    }

    /// The next line, its line break as far as it counts, and the rest.
    fn peek_line(&self) -> (&'t str, &'t str, &'t str) {
        let text = self.rest;
        let len = memchr2(b'\r', b'\n', text.as_bytes()).unwrap_or(text.len());
        let (line, rest) = text.split_at(len);
        let break_len = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        let (line_break, rest) = rest.split_at(break_len);
        let is_cut_off = line_break.is_empty() && self.end == End::Inside;
        let line = if self.kinds.has(Class::TrailingWhitespace) && !is_cut_off {
            line.trim_end_matches(|c| is_blank(c) || removed(self.kinds, c))
        } else {
            line
        };
        let counted = match line_break {
            _ if self.kinds.has(Class::Whitespace) => "",
            "" => "",
            _ if self.kinds.has(Class::LineEnding) => "\n",
            _ => line_break,
        };
        (line, counted, rest)
    }

    /// Whether nothing of the line is left that counts.
    fn line_is_done(&mut self) -> bool {
        while let Some(c) = char_at(&self.line, self.at)
            && (self.kinds.has(Class::Whitespace) && c.is_whitespace() || removed(self.kinds, c))
        {
            self.at += c.len_utf8();
        }
        self.at == self.line.len() && self.ready.is_empty() && self.line_break.is_empty()
    }
}

/// Passes over lines that are the same on both sides, as the kinds see them, without taking them apart.
fn skip_equal_lines(a: &mut Items<'_>, b: &mut Items<'_>) {
    let common = common_prefix(a.rest.as_bytes(), b.rest.as_bytes());
    let skipped = memrchr(b'\n', &a.rest.as_bytes()[..common]).map_or(0, |newline| newline + 1);
    (a.rest, b.rest) = (&a.rest[skipped..], &b.rest[skipped..]);
    while !a.rest.is_empty() && !b.rest.is_empty() {
        let ((line_a, break_a, rest_a), (line_b, break_b, rest_b)) = (a.peek_line(), b.peek_line());
        if line_a != line_b || break_a != break_b {
            return;
        }
        (a.rest, b.rest) = (rest_a, rest_b);
    }
}

/// Passes over what the rest of both lines begins with in common, as far as it means the same whatever follows.
fn skip_equal_part(a: &mut Items<'_>, b: &mut Items<'_>) {
    if !a.ready.is_empty() || !b.ready.is_empty() {
        return;
    }
    if a.at >= a.equal_to {
        let (rest_a, rest_b) = (&a.line[a.at..], &b.line[b.at..]);
        let common = common_prefix(rest_a.as_bytes(), rest_b.as_bytes());
        let skipped = cut_before(rest_a, common);
        a.equal_to = a.at + common;
        a.at += skipped;
        b.at += skipped;
    }
    let skipped = plain_len(a, b);
    a.at += skipped;
    b.at += skipped;
}

/// How much common ASCII stands next on both sides that no mark follows and nothing volatile begins in, which takes a
/// digit or a capital.
fn plain_len(a: &Items<'_>, b: &Items<'_>) -> usize {
    let (bytes_a, bytes_b) = (a.line.as_bytes(), b.line.as_bytes());
    let is_volatile = a.kinds.has(Class::Volatile);
    let is_in_word = |bytes: &[u8], at: usize| at > 0 && bytes[at - 1].is_ascii_alphanumeric();
    let mut is_plain = !is_volatile || is_in_word(bytes_a, a.at) && is_in_word(bytes_b, b.at);
    let (rest_a, rest_b) = (&bytes_a[a.at..], &bytes_b[b.at..]);
    let mut len = 0;
    for (at, (&byte, other)) in rest_a.iter().zip(rest_b).enumerate() {
        if byte != *other || !byte.is_ascii() {
            break;
        }
        if !byte.is_ascii_alphanumeric() {
            is_plain = !is_volatile;
            len = at + 1;
        } else if is_plain && !(is_volatile && byte.is_ascii_digit()) {
            len = at + 1;
        } else if !byte.is_ascii_lowercase() {
            break;
        }
    }
    let is_marked = |rest: &[u8]| rest.get(len).is_some_and(|byte| !byte.is_ascii());
    len - usize::from(len > 0 && (is_marked(rest_a) || is_marked(rest_b)))
}

/// A character and the marks that belong to it: what has a normal form of its own.
fn piece(text: &str) -> &str {
    let next = text.char_indices().skip(1).find(|&(_, c)| is_settled(c));
    &text[..next.map_or(text.len(), |(at, _)| at)]
}

fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at)? {
        byte if byte.is_ascii() => Some(char::from(*byte)),
        _ => text[at..].chars().next(),
    }
}

/// Whether a character is in normal form and never joins the one before it.
pub(super) fn is_settled(c: char) -> bool {
    c.is_ascii()
        || c.is_whitespace()
        || canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes
}

/// White space that does not end the line.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn removed(kinds: Kinds, c: char) -> bool {
    c == '\u{feff}' && kinds.has(Class::Bom) || kinds.has(Class::Invisible) && is_invisible(c)
}

/// Unicode's default-ignorable characters but for U+FEFF: zero-width, bidi and tag characters, variation selectors,
/// fillers, the soft hyphen. And two kinds more: the blank of Braille, the marks of interlinear annotation.
pub(super) fn is_invisible(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each pair is equal once these kinds, and no others, are removed.
    fn check(kinds: &[Class], end: End, expected: bool, pairs: &[(&str, &str)]) {
        for (a, b) in pairs {
            assert_eq!(equal(a, b, Kinds::of(kinds), end), expected, "{a:?} {b:?}");
            assert_eq!(equal(b, a, Kinds::of(kinds), end), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn nothing_removed_is_plain_equality() {
        check(&[], End::Text, true, &[("", ""), ("a\r\nb\n", "a\r\nb\n"), ("é 1", "é 1")]);
        check(&[], End::Text, false, &[("a", "b"), ("a\n", "a"), ("a\r\n", "a\n"), ("é", "e\u{301}"), ("1", "2")]);
    }

    #[test]
    fn the_end_of_a_text_is_not_that_of_a_stretch() {
        let pairs = [("a", "a\n"), ("a\r\n", "a")];
        check(&[Class::TrailingNewline], End::Text, true, &pairs);
        check(&[Class::TrailingNewline], End::Line, false, &pairs);
        let pairs = [("a", "a "), ("b\na\t", "b\na")];
        check(&[Class::TrailingWhitespace], End::Text, true, &pairs);
        check(&[Class::TrailingWhitespace], End::Line, true, &pairs);
        check(&[Class::TrailingWhitespace], End::Inside, false, &pairs);
        check(&[Class::TrailingWhitespace], End::Inside, true, &[("a \nb", "a\nb"), ("a \rb", "a\rb")]);
    }

    #[test]
    fn kinds_do_not_remove_each_other() {
        check(&[Class::Normalization], End::Text, false, &[("a b", "a\u{a0}b"), ("a\u{2000}b", "a\u{2002}b")]);
        check(
            &[Class::Homoglyph],
            End::Text,
            false,
            &[("é", "e\u{301}"), ("ﬁ", "fi"), ("a b", "a\u{a0}b"), ("a", "Ａ")],
        );
        check(&[Class::Homoglyph], End::Text, false, &[("ab", "a\u{200b}b"), ("a", "\u{feff}a")]);
        check(&[Class::Invisible], End::Text, false, &[("a", "\u{feff}a"), ("a b", "ab")]);
        check(&[Class::LineEnding], End::Text, false, &[("a\n\n", "a\n"), ("a\u{2028}b", "a\nb")]);
        check(&[Class::Whitespace], End::Text, false, &[("ab", "a\u{200b}b")]);
    }

    #[test]
    fn what_cannot_be_seen_tears_nothing() {
        check(&[Class::Invisible, Class::Volatile], End::Text, true, &[("12", "3\u{200b}45")]);
        check(&[Class::Invisible, Class::Normalization], End::Text, true, &[("é", "e\u{200b}\u{301}")]);
        check(&[Class::Bom, Class::TrailingWhitespace], End::Text, true, &[("a\nb", "a \u{feff} \nb\u{feff} ")]);
        check(&[Class::Bom, Class::TrailingNewline], End::Text, true, &[("a", "a\u{feff}\n\u{feff}")]);
    }

    #[test]
    fn large_lines_and_marks_are_no_other_than_small_ones() {
        for filler in ["a", "1 ", "é", "e\u{301}", "界", "\t"] {
            let (a, b) = (filler.repeat(3_000), filler.repeat(3_000));
            let with = |a_end: &str, b_end: &str| (format!("é-{a}{a_end}"), format!("e\u{301}-{b}{b_end}"));
            let (a_text, b_text) = with(" 1", " 1");
            check(&[Class::Normalization], End::Text, true, &[(&a_text, &b_text)]);
            let (a_text, b_text) = with(" 1", " 2");
            check(&[Class::Normalization], End::Text, false, &[(&a_text, &b_text)]);
            check(&[Class::Normalization, Class::Volatile], End::Text, true, &[(&a_text, &b_text)]);
        }
    }
}
