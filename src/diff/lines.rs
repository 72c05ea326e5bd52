//! The lines in which two texts differ, for people to read. Lines end at `\n` alone: CR is content, and never lost.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A stretch of lines round changed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk<'t> {
    /// The lines, in the order to show them.
    pub lines: Vec<Line<'t>>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'t> {
    /// Which side it stands on.
    pub side: LineSide,
    /// Its number in its text, counted from 1; of an equal line, in the first text.
    pub number: usize,
    /// The line without its `\n`.
    pub text: &'t str,
    /// Whether a `\n` ends it and nothing follows: the end of a text that ends in a line break.
    pub ends_text: bool,
    /// The bytes of `text` that differ from the line it answers to; the whole line where it answers to none.
    pub changed: Range<usize>,
}

/// Which side a line stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSide {
    /// On both.
    Both,
    /// On the first only.
    A,
    /// On the second only.
    B,
}

/// The largest product of two numbers of lines for which the exact search is made; beyond it the whole stretch between
/// the equal start and end counts as changed.
const EXACT: usize = 4_000_000;

/// The hunks of two texts, with up to `context` equal lines round each.
pub fn hunks<'t>(a: &'t str, b: &'t str, context: usize) -> Vec<Hunk<'t>> {
    let (lines_a, lines_b) = (split(a), split(b));
    let start = lines_a.iter().zip(&lines_b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (&lines_a[start..], &lines_b[start..]);
    let end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle_a = start..lines_a.len() - end;
    let middle_b = start..lines_b.len() - end;

    let mut hunks = Vec::new();
    let mut shown_to = 0;
    let regions = regions(&lines_a[middle_a.clone()], &lines_b[middle_b.clone()]);
    for (index, (from, to)) in regions.iter().enumerate() {
        let from = from.start + start..from.end + start;
        let to = to.start + start..to.end + start;
        let before = from.start.saturating_sub(context).max(shown_to);
        let next = regions.get(index + 1).map_or(lines_a.len(), |(next, _)| next.start + start);
        let after = (from.end + context).min(next);
        let joins = before == shown_to && index > 0;
        if !joins {
            hunks.push(Hunk { lines: Vec::new() });
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        hunk.lines.extend((before..from.start).map(|n| line(&lines_a, n, LineSide::Both, 0..0)));
        push_changed(&lines_a, from.clone(), &lines_b, to, &mut hunk.lines);
        hunk.lines.extend((from.end..after).map(|n| line(&lines_a, n, LineSide::Both, 0..0)));
        shown_to = after;
    }
    hunks
}

/// Lines with their `\n`.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The stretches in which two lists of lines differ.
fn regions(a: &[&str], b: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.len().saturating_mul(b.len()) > EXACT {
        return vec![(0..a.len(), 0..b.len())];
    }
    let mut names = HashMap::new();
    let mut name = |line| {
        let next = names.len();
        *names.entry(line).or_insert(next)
    };
    let (names_a, names_b): (Vec<usize>, Vec<usize>) =
        (a.iter().map(|line| name(*line)).collect(), b.iter().map(|line| name(*line)).collect());
    let mut regions: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &names_a, &names_b) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        match regions.last_mut() {
            Some((last_a, last_b)) if last_a.end == op.old_range().start && last_b.end == op.new_range().start => {
                (last_a.end, last_b.end) = (op.old_range().end, op.new_range().end);
            }
            _ => regions.push((op.old_range(), op.new_range())),
        }
    }
    regions
}

/// The changed lines of both sides: those that answer to each other one under the other.
fn push_changed<'t>(a: &[&'t str], from: Range<usize>, b: &[&'t str], to: Range<usize>, lines: &mut Vec<Line<'t>>) {
    let both = from.len().min(to.len());
    for n in 0..both {
        let (m, n) = (from.start + n, to.start + n);
        let (range_a, range_b) = differing(body(a[m]), body(b[n]));
        lines.push(line(a, m, LineSide::A, range_a));
        lines.push(line(b, n, LineSide::B, range_b));
    }
    lines.extend((from.start + both..from.end).map(|m| line(a, m, LineSide::A, 0..body(a[m]).len())));
    lines.extend((to.start + both..to.end).map(|n| line(b, n, LineSide::B, 0..body(b[n]).len())));
}

fn line<'t>(lines: &[&'t str], index: usize, side: LineSide, changed: Range<usize>) -> Line<'t> {
    let ends_text = index + 1 == lines.len() && lines[index].ends_with('\n');
    Line { side, number: index + 1, text: body(lines[index]), ends_text, changed }
}

fn body(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// What is left of two strings between their equal start and end, at character boundaries.
pub fn differing(a: &str, b: &str) -> (Range<usize>, Range<usize>) {
    let mut start = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(start) || !b.is_char_boundary(start) {
        start -= 1;
    }
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let mut end = rest_a.bytes().rev().zip(rest_b.bytes().rev()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(a.len() - end) || !b.is_char_boundary(b.len() - end) {
        end -= 1;
    }
    (start..a.len() - end, start..b.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str, context: usize) -> Vec<String> {
        let show = |line: &Line<'_>| {
            let sign = match line.side {
                LineSide::Both => ' ',
                LineSide::A => '-',
                LineSide::B => '+',
            };
            let end = if line.ends_text { "⏎" } else { "" };
            format!("{sign}{} {}{end} [{}]", line.number, line.text, &line.text[line.changed.clone()])
        };
        hunks(a, b, context).iter().flat_map(|hunk| hunk.lines.iter().map(show)).collect()
    }

    #[test]
    fn a_changed_line_shows_what_changed_in_it() {
        assert_eq!(shown("a\nb 1 c\nd\n", "a\nb 2 c\nd\n", 1), [" 1 a []", "-2 b 1 c [1]", "+2 b 2 c [2]", " 3 d⏎ []"]);
    }

    #[test]
    fn line_ends_never_look_alike() {
        assert_eq!(shown("a\r\n", "a\n", 0), ["-1 a\r⏎ [\r]", "+1 a⏎ []"]);
        assert_eq!(shown("a", "a\n", 0), ["-1 a []", "+1 a⏎ []"]);
        assert_eq!(shown("a\rb", "a\nb", 0), ["-1 a\rb [\rb]", "+1 a []", "+2 b [b]"]);
    }

    #[test]
    fn far_changes_are_apart_and_near_ones_together() {
        let a = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let b = "x\n2\n3\n4\n5\n6\n7\n8\ny\n";
        assert_eq!(hunks(a, b, 1).len(), 2);
        assert_eq!(hunks(a, b, 4).len(), 1);
        assert_eq!(hunks(a, a, 3), []);
    }

    #[test]
    fn characters_are_never_cut() {
        let (a, b) = differing("é", "è");
        assert_eq!((a, b), (0..2, 0..2));
        assert_eq!(differing("aXa", "aa"), (1..2, 1..1));
    }
}
