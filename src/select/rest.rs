//! What is optional comes in at its turn, if it fits.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Rule;
use super::candidate::Candidate;
use super::ledger::{Ledger, Ranked};

/// The order of turns: priority ↓, freshness ↓, size ↑, id ↑. What has no known size comes last of its like.
pub(super) fn ranked<'r>(candidates: Vec<Candidate<'r>>, ledger: &Ledger<'r>) -> Ranked<'r> {
    let mut groups: HashMap<&'r str, Vec<Candidate<'r>>> = HashMap::new();
    for candidate in &candidates {
        if let Some(group) = candidate.fragment.group.as_deref() {
            groups.entry(group).or_default().push(*candidate);
        }
    }
    let size = |candidate: &Candidate<'r>| ledger.size(candidate, None).unwrap_or(u64::MAX);
    let mut sized: Vec<_> = candidates.into_iter().map(|candidate| (size(&candidate), candidate)).collect();
    sized.sort_by(|(size_a, a), (size_b, b)| {
        let rank = |it: &Candidate<'r>| (Reverse(it.fragment.priority), Reverse(it.fragment.freshness));
        rank(a).cmp(&rank(b)).then(size_a.cmp(size_b)).then_with(|| a.fragment.id.cmp(&b.fragment.id))
    });
    Ranked { order: sized.into_iter().map(|(_, candidate)| candidate).collect(), groups }
}

pub(super) fn rest<'r>(ranked: &Ranked<'r>, ledger: &mut Ledger<'r>) {
    for candidate in &ranked.order {
        ledger.offer(*candidate, ranked, Rule::Fitted);
    }
}
