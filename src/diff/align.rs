//! Which message of one side answers to which of the other.
//!
//! Equal messages first (by hash, then by their bytes), then moved ones, then what lies between: the same text over
//! other boundaries, changed pairs, and the rest, inserted or removed. Deterministic, linear on long equal stretches,
//! and bounded: where a stretch is too large for the exact search it is paired in order, and that is said.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::pair::{pair_up, same_text_in_all, text_groups, text_of};
use crate::context::{Fingerprint, Message};

/// What became of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One message, or the same number of them, with other bytes.
    Changed,
    /// Only on side b.
    Inserted,
    /// Only on side a.
    Removed,
    /// The same bytes at another place.
    Moved,
    /// The text of one message of side a in several of side b.
    Split,
    /// The text of several messages of side a in one of side b.
    Merged,
}

impl Kind {
    /// The word for it, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Changed => "changed",
            Kind::Inserted => "inserted",
            Kind::Removed => "removed",
            Kind::Moved => "moved",
            Kind::Split => "split",
            Kind::Merged => "merged",
        }
    }
}

/// Messages that answer to each other, by their indices, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub kind: Kind,
    pub a: Range<usize>,
    pub b: Range<usize>,
    /// Whether the text of both is part of a stretch that holds the same text over other boundaries.
    pub same_text: bool,
}

pub(super) struct Alignment {
    /// In prompt order; equal messages are left out.
    pub matches: Vec<Match>,
    /// Whether a stretch was too large for the exact search.
    pub in_order: bool,
}

/// The largest product of two lengths for which the exact search is made.
const EXACT: usize = 4_000_000;

pub(super) fn align(a: &[Message<'_>], b: &[Message<'_>], threads: NonZeroUsize) -> Alignment {
    let start = a.iter().zip(b).take_while(|(a, b)| a.same_bytes(b)).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a.same_bytes(b)).count();
    let (middle_a, middle_b) = (&rest_a[..rest_a.len() - end], &rest_b[..rest_b.len() - end]);

    if middle_a.len() > 1 && middle_a.len() == middle_b.len() && same_text_in_all(middle_a, middle_b) {
        // The same text with its boundaries moved: no message was moved, though some may be equal to others.
        let changed = |n: &usize| !middle_a[*n].same_bytes(&middle_b[*n]);
        let matches = (0..middle_a.len()).filter(changed).map(|n| Match {
            kind: Kind::Changed,
            a: n + start..n + start + 1,
            b: n + start..n + start + 1,
            same_text: text_of(&middle_a[n]) != text_of(&middle_b[n]),
        });
        let matches = matches.collect();
        return Alignment { matches, in_order: false };
    }

    let mut names = Names::default();
    let hashes_a = super::in_two_halves(middle_a, threads, Message::fingerprint);
    let hashes_b = super::in_two_halves(middle_b, threads, Message::fingerprint);
    let names_a: Vec<usize> = middle_a.iter().zip(hashes_a).map(|(message, hash)| names.of(message, hash)).collect();
    let names_b: Vec<usize> = middle_b.iter().zip(hashes_b).map(|(message, hash)| names.of(message, hash)).collect();
    let (anchors, mut in_order) = anchors(&names_a, &names_b);

    let mut matches = Vec::new();
    let gaps = gaps(&anchors, middle_a.len(), middle_b.len());
    let (moved_a, moved_b) = moves(&gaps, &names_a, &names_b, &mut matches);
    for (gap_a, gap_b) in gaps {
        // What has moved away cuts a stretch into parts.
        let left: Vec<usize> = gap_a.clone().filter(|index| !moved_a.contains_key(index)).collect();
        let right: Vec<usize> = gap_b.clone().filter(|index| !moved_b.contains_key(index)).collect();
        in_order |= fill(middle_a, middle_b, &left, &right, (gap_a.start, gap_b.start), &mut matches);
    }
    matches.sort_by_key(|(place, _)| *place);
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    let matches = matches.into_iter().map(|(_, m)| Match { a: shift(m.a), b: shift(m.b), ..m }).collect();
    Alignment { matches, in_order }
}

/// Where a match stands in the prompt, for sorting.
type Place = (usize, usize);

/// A small number for each different message.
#[derive(Default)]
struct Names<'m, 'a> {
    by_hash: HashMap<Fingerprint, Vec<(usize, &'m Message<'a>)>>,
    count: usize,
}

impl<'m, 'a> Names<'m, 'a> {
    fn of(&mut self, message: &'m Message<'a>, hash: Fingerprint) -> usize {
        let known = self.by_hash.entry(hash).or_insert_with(|| Vec::with_capacity(1));
        // A hash that is equal says little of what an adversary has made.
        if let Some((name, _)) = known.iter().find(|(_, other)| other.same_bytes(message)) {
            return *name;
        }
        let name = self.count;
        self.count += 1;
        known.push((name, message));
        name
    }
}

/// Equal messages that stay in order, as many as possible; and whether that was given up for their number.
fn anchors(a: &[usize], b: &[usize]) -> (Vec<(usize, usize)>, bool) {
    // What one side alone has can be no anchor: without it the search is short even where every message changed.
    let on_side = |names: &[usize]| names.iter().copied().collect::<std::collections::HashSet<_>>();
    let (set_a, set_b) = (on_side(a), on_side(b));
    let kept = |names: &[usize], other: &std::collections::HashSet<usize>| -> Vec<usize> {
        (0..names.len()).filter(|&index| other.contains(&names[index])).collect()
    };
    let (kept_a, kept_b) = (kept(a, &set_b), kept(b, &set_a));
    let names = |kept: &[usize], all: &[usize]| kept.iter().map(|&index| all[index]).collect::<Vec<_>>();
    let (names_a, names_b) = (names(&kept_a, a), names(&kept_b, b));

    let mut anchors = Vec::new();
    let mut given_up = false;
    for (gap_a, gap_b) in unique_gaps(&names_a, &names_b, &mut anchors) {
        if gap_a.len().saturating_mul(gap_b.len()) > EXACT {
            given_up = true;
            continue;
        }
        // Searched from the end: of two that changed places, the first is the one that moved.
        let reversed = |names: &[usize]| names.iter().rev().copied().collect::<Vec<_>>();
        let (from_end_a, from_end_b) = (reversed(&names_a[gap_a.clone()]), reversed(&names_b[gap_b.clone()]));
        for op in capture_diff_slices(Algorithm::Myers, &from_end_a, &from_end_b) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                anchors.extend((0..len).map(|n| (gap_a.end - 1 - old_index - n, gap_b.end - 1 - new_index - n)));
            }
        }
    }
    anchors.sort_unstable();
    (anchors.into_iter().map(|(m, n)| (kept_a[m], kept_b[n])).collect(), given_up)
}

/// The stretches to search. Where the whole is small that is the whole; else what lies between the messages that both
/// sides have exactly once and in the same order.
fn unique_gaps(a: &[usize], b: &[usize], anchors: &mut Vec<(usize, usize)>) -> Vec<(Range<usize>, Range<usize>)> {
    if a == b {
        anchors.extend((0..a.len()).map(|index| (index, index)));
        return Vec::new();
    }
    if a.len().saturating_mul(b.len()) <= EXACT {
        return vec![(0..a.len(), 0..b.len())];
    }
    let once = |names: &[usize]| {
        let mut places: HashMap<usize, Option<usize>> = HashMap::new();
        for (index, &name) in names.iter().enumerate() {
            places.entry(name).and_modify(|place| *place = None).or_insert(Some(index));
        }
        places
    };
    let (once_a, once_b) = (once(a), once(b));
    let pairs: Vec<(usize, usize)> =
        (0..a.len()).filter_map(|index| Some((once_a[&a[index]]?, (*once_b.get(&a[index])?)?))).collect();
    let kept = longest_increasing(&pairs);
    let gaps = gaps(&kept, a.len(), b.len());
    anchors.extend(kept);
    gaps
}

/// The longest part of pairs, sorted by the first, whose seconds increase.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let at = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(at.checked_sub(1).map(|at| ends[at]));
        if at == ends.len() {
            ends.push(index);
        } else {
            ends[at] = index;
        }
    }
    let mut kept = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        kept.push(pairs[index]);
        next = before[index];
    }
    kept.reverse();
    kept
}

/// What lies before, between and behind anchors that increase on both sides.
fn gaps(anchors: &[(usize, usize)], len_a: usize, len_b: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::new();
    let (mut from_a, mut from_b) = (0, 0);
    for &(at_a, at_b) in anchors.iter().chain(&[(len_a, len_b)]) {
        if at_a > from_a || at_b > from_b {
            gaps.push((from_a..at_a, from_b..at_b));
        }
        (from_a, from_b) = (at_a + 1, at_b + 1);
    }
    gaps
}

/// Pairs equal messages that are no anchors: the first left on one side with the first left on the other.
fn moves(
    gaps: &[(Range<usize>, Range<usize>)],
    names_a: &[usize],
    names_b: &[usize],
    matches: &mut Vec<(Place, Match)>,
) -> (HashMap<usize, usize>, HashMap<usize, usize>) {
    let mut left: HashMap<usize, std::collections::VecDeque<usize>> = HashMap::new();
    for index in gaps.iter().flat_map(|(gap, _)| gap.clone()) {
        left.entry(names_a[index]).or_default().push_back(index);
    }
    let (mut moved_a, mut moved_b) = (HashMap::new(), HashMap::new());
    for to in gaps.iter().flat_map(|(_, gap)| gap.clone()) {
        if let Some(from) = left.get_mut(&names_b[to]).and_then(std::collections::VecDeque::pop_front) {
            moved_a.insert(from, to);
            moved_b.insert(to, from);
            matches.push(((from, to), Match { kind: Kind::Moved, a: from..from + 1, b: to..to + 1, same_text: false }));
        }
    }
    (moved_a, moved_b)
}

/// Says what became of the messages of a stretch that are not equal to any; true where they were paired in order only.
fn fill(
    a: &[Message<'_>],
    b: &[Message<'_>],
    left: &[usize],
    right: &[usize],
    place: Place,
    matches: &mut Vec<(Place, Match)>,
) -> bool {
    let mut push = |kind, a: Range<usize>, b: Range<usize>, at: Place, same_text| {
        matches.push((at, Match { kind, a, b, same_text }));
    };
    let one = |index: usize| index..index + 1;
    if let ([m], [n]) = (left, right) {
        push(Kind::Changed, one(*m), one(*n), (*m, *n), false);
        return false;
    }
    let mut from = (0, 0);
    let groups = text_groups(a, b, left, right);
    let mut in_order = false;
    for group in groups.iter().chain(&[(left.len()..left.len(), right.len()..right.len())]) {
        // Before the group: pairs.
        let (part_a, part_b) = (&left[from.0..group.0.start], &right[from.1..group.1.start]);
        let (pairs, was_in_order) = pair_up(a, b, part_a, part_b);
        in_order |= was_in_order;
        let mut at = (part_a.first().copied().unwrap_or(place.0), part_b.first().copied().unwrap_or(place.1));
        for pair in pairs {
            match pair {
                (Some(m), Some(n)) => {
                    at = (m, n);
                    push(Kind::Changed, one(m), one(n), at, false);
                }
                (Some(m), None) => {
                    at.0 = m;
                    push(Kind::Removed, one(m), 0..0, at, false);
                }
                (None, Some(n)) => {
                    at.1 = n;
                    push(Kind::Inserted, 0..0, one(n), at, false);
                }
                (None, None) => {}
            }
        }
        // The group itself: the same text over other boundaries.
        let (group_a, group_b) = (&left[group.0.clone()], &right[group.1.clone()]);
        if let ([m, ..], [n, ..]) = (group_a, group_b) {
            let (range_a, range_b) = (*m..m + group_a.len(), *n..n + group_b.len());
            match (group_a.len(), group_b.len()) {
                (1, _) => push(Kind::Split, range_a, range_b, (*m, *n), true),
                (_, 1) => push(Kind::Merged, range_a, range_b, (*m, *n), true),
                (p, q) if p == q => group_a.iter().zip(group_b).for_each(|(&m, &n)| {
                    push(Kind::Changed, one(m), one(n), (m, n), true);
                }),
                _ => push(Kind::Changed, range_a, range_b, (*m, *n), true),
            }
        }
        from = (group.0.end, group.1.end);
    }
    in_order
}
