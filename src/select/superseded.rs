//! What another stands in for leaves.
//!
//! What is said goes before what is found: first all that is named in `supersedes` or `replaces`, then the older
//! versions among those that are left. So of two that stand in for each other by different rules one stays.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::version::Versions;
use super::{Reason, Step};
use crate::error::{Code, Error, Result};
use crate::request::{Fragment, Left, LineRange, stands_in_for};

pub(super) fn superseded<'r>(candidates: Vec<Candidate<'r>>, fragments: &'r [Fragment<'r>]) -> Result<Step<'r>> {
    let mut replaced = named(&candidates, fragments);
    older_versions(&candidates, &mut replaced);
    let replaced = in_the_end(&replaced);
    if let Some((candidate, by)) =
        candidates.iter().filter(|it| it.required).find_map(|it| Some((it, *replaced.get(&it.index)?)))
    {
        let by = &fragments[by].id;
        let message = format!("{:?} is required, and superseded by {by:?}", candidate.fragment.id);
        return Err(Error::new(Code::FragmentRequiredSuperseded, message)
            .with_hint("require the one that stands in for it")
            .with_path(candidate.path()));
    }
    Ok(Step::by(candidates, |candidate| Some((Reason::Superseded, Some(*replaced.get(&candidate.index)?)))))
}

/// Whatever stands in for each, in the end: not one that is itself replaced.
fn in_the_end(replaced: &HashMap<usize, usize>) -> HashMap<usize, usize> {
    let mut ends = HashMap::with_capacity(replaced.len());
    let mut way = Vec::new();
    for start in replaced.keys() {
        let mut at = *start;
        // The end of the chain, or a place from which it is known.
        while let (None, Some(by)) = (ends.get(&at), replaced.get(&at)) {
            way.push(at);
            at = *by;
        }
        let end = ends.get(&at).copied().unwrap_or(at);
        ends.extend(way.drain(..).map(|passed| (passed, end)));
    }
    ends
}

/// Those that are named by one that is there; by the first of them by id.
fn named<'r>(candidates: &[Candidate<'r>], fragments: &'r [Fragment<'r>]) -> HashMap<usize, usize> {
    let names_others = |candidate: &&Candidate<'r>| {
        !candidate.fragment.supersedes.is_empty() || candidate.fragment.compaction.is_some()
    };
    let mut naming: Vec<_> = candidates.iter().filter(names_others).collect();
    let mut replaced = HashMap::new();
    if naming.is_empty() {
        return replaced;
    }
    naming.sort_by_key(|candidate| &candidate.fragment.id);
    let ids: HashMap<&str, usize> = fragments.iter().enumerate().map(|(index, f)| (&*f.id, index)).collect();
    let mut left = Left::all(fragments.len());
    let there: std::collections::HashSet<usize> = candidates.iter().map(|candidate| candidate.index).collect();
    for candidate in naming {
        for range in stands_in_for(candidate.fragment, &ids, fragments.len()) {
            while let Some(target) = left.take_first(range.clone()) {
                if there.contains(&target) {
                    replaced.insert(target, candidate.index);
                }
            }
        }
    }
    replaced
}

/// Adds those of which a newer version of the same source and range is there.
fn older_versions(candidates: &[Candidate<'_>], replaced: &mut HashMap<usize, usize>) {
    let mut sources: HashMap<(&str, Option<LineRange>), Vec<&Candidate<'_>>> = HashMap::new();
    for candidate in candidates.iter().filter(|candidate| !replaced.contains_key(&candidate.index)) {
        if let (Some(source_ref), Some(_)) = (&candidate.fragment.source_ref, &candidate.fragment.version) {
            let lines = candidate.fragment.file().and_then(|file| file.lines);
            sources.entry((source_ref, lines)).or_default().push(candidate);
        }
    }
    for of_source in sources.into_values().filter(|of_source| of_source.len() > 1) {
        let versions = Versions::of(of_source.iter().filter_map(|candidate| candidate.fragment.version.as_deref()));
        let newest = of_source
            .iter()
            .min_by(|a, b| versions.compare(version(b), version(a)).then_with(|| a.fragment.id.cmp(&b.fragment.id)));
        let Some(newest) = newest else { continue };
        for candidate in &of_source {
            if versions.compare(version(candidate), version(newest)).is_lt() {
                replaced.insert(candidate.index, newest.index);
            }
        }
    }
}

/// Only those that have a version are compared by it.
fn version<'r>(candidate: &Candidate<'r>) -> &'r str {
    candidate.fragment.version.as_deref().unwrap_or_default()
}
