//! What stands in for what: a stretch is taken whole, since a few words may name very many fragments.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::PartOfRequest;
use super::fragments::Fragment;

/// What a fragment stands in for: those it supersedes, and those its summary replaces.
pub(crate) fn stands_in_for<'f>(
    fragment: &'f Fragment<'_>,
    ids: &'f HashMap<&str, usize>,
    there_are: usize,
) -> impl Iterator<Item = Range<usize>> + 'f {
    let named = fragment.supersedes.iter().filter_map(|id| ids.get(&**id).copied());
    let ranges = fragment.compaction.iter().flat_map(|compaction| &compaction.replaces);
    let ranges = ranges.filter(|range| range.part == PartOfRequest::Fragments);
    let ranges = ranges.map(move |range| range.items.start.min(there_are)..range.items.end.min(there_are));
    named.map(|index| index..index + 1).chain(ranges).filter(|range| !range.is_empty())
}

/// A fragment from which a walk along what is replaced comes back to it.
pub(super) fn circle(fragments: &[Fragment<'_>], ids: &HashMap<&str, usize>) -> Option<usize> {
    let of = |index: usize| stands_in_for(&fragments[index], ids, fragments.len());
    let mut unseen = Left::all(fragments.len());
    let mut on_the_way = BTreeSet::new();
    while let Some(start) = unseen.take_first(0..fragments.len()) {
        let mut way = vec![(start, None, of(start))];
        on_the_way.insert(start);
        while let Some((index, range, rest)) = way.last_mut() {
            let index = *index;
            let Some(within) = range.clone().or_else(|| rest.next()) else {
                on_the_way.remove(&index);
                way.pop();
                continue;
            };
            // What is on the way now is so for as long as this one is.
            if let Some(met) = on_the_way.range(within.clone()).next() {
                return Some(*met);
            }
            match unseen.take_first(within.clone()) {
                None => *range = None,
                Some(next) => {
                    *range = Some(within);
                    on_the_way.insert(next);
                    way.push((next, None, of(next)));
                }
            }
        }
    }
    None
}

/// The places that have not been taken, of which the first in a stretch is found soon.
pub(crate) struct Left {
    /// A place at or behind each that may not have been taken; that of one that has not is itself.
    next: Vec<usize>,
}

impl Left {
    pub fn all(there_are: usize) -> Self {
        Left { next: (0..=there_are).collect() }
    }

    /// Takes the first of a stretch that is left.
    pub fn take_first(&mut self, range: Range<usize>) -> Option<usize> {
        let mut first = range.start.min(self.next.len() - 1);
        while self.next[first] != first {
            // Those behind find a shorter way.
            self.next[first] = self.next[self.next[first]];
            first = self.next[first];
        }
        if first >= range.end.min(self.next.len() - 1) {
            return None;
        }
        self.next[first] = first + 1;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_taken_once() {
        let mut left = Left::all(6);
        assert_eq!(left.take_first(2..4), Some(2));
        assert_eq!(left.take_first(2..4), Some(3));
        assert_eq!(left.take_first(2..4), None);
        let all: Vec<usize> = std::iter::from_fn(|| left.take_first(0..100)).collect();
        assert_eq!(all, [0, 1, 4, 5]);
        assert_eq!(left.take_first(7..9), None);
        assert_eq!(Left::all(0).take_first(0..1), None);
    }
}
