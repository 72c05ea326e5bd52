//! The same content is said once.
//!
//! What is required stays, and so does every member of a group: a call is not taken from its result because another tool
//! answered the same. Members of groups that may yet be left out replace nobody.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::candidate::Candidate;
use super::version::Versions;
use super::{Reason, Step};
use crate::context::Content;
use crate::measure;

pub(super) fn duplicates<'r>(candidates: Vec<Candidate<'r>>) -> Step<'r> {
    let mut replaced = HashMap::new();
    for equal in equals(&candidates) {
        let versions = Versions::of(equal.iter().filter_map(|candidate| candidate.fragment.version.as_deref()));
        let best = equal.iter().max_by(|a, b| {
            let rank = |candidate: &Candidate<'r>| (candidate.required, candidate.fragment.trust);
            let version = |candidate: &Candidate<'r>| candidate.fragment.version.as_deref();
            let by_version = || versions.compare_known(version(a), version(b));
            rank(a)
                .cmp(&rank(b))
                .then_with(by_version)
                .then_with(|| Reverse(&a.fragment.id).cmp(&Reverse(&b.fragment.id)))
        });
        let Some(best) = best else { continue };
        let others = equal.iter().filter(|candidate| candidate.index != best.index && !candidate.required);
        replaced.extend(others.map(|candidate| (candidate.index, best.index)));
    }
    Step::by(candidates, |candidate| Some((Reason::Duplicate, Some(*replaced.get(&candidate.index)?))))
}

/// Candidates of one content, wherever there is more than one.
fn equals<'r>(candidates: &[Candidate<'r>]) -> Vec<Vec<Candidate<'r>>> {
    let takes_part = |candidate: &&Candidate<'r>| candidate.required || candidate.fragment.group.is_none();
    let mut by_size: HashMap<_, Vec<Candidate<'r>>> = HashMap::new();
    for candidate in candidates.iter().filter(takes_part) {
        let size = content(candidate).iter().map(measure::block).sum::<measure::Size>();
        by_size.entry((size.chars, size.bytes)).or_default().push(*candidate);
    }
    let mut all = Vec::new();
    // Nobody is hashed whose size is like no other's.
    for of_size in by_size.into_values().filter(|of_size| of_size.len() > 1) {
        let mut by_print: HashMap<u128, Vec<Vec<Candidate<'r>>>> = HashMap::new();
        for candidate in of_size {
            // A fast hash can be made to collide: only the content itself says that it is the same.
            let alike = by_print.entry(fingerprint(content(&candidate))).or_default();
            match alike.iter_mut().find(|equal| content(&equal[0]) == content(&candidate)) {
                Some(equal) => equal.push(candidate),
                None => alike.push(vec![candidate]),
            }
        }
        all.extend(by_print.into_values().flatten().filter(|equal| equal.len() > 1));
    }
    all
}

fn content<'r>(candidate: &Candidate<'r>) -> &'r [Content<'r>] {
    candidate.fragment.content().unwrap_or_default()
}

fn fingerprint(content: &[Content<'_>]) -> u128 {
    struct Hasher(Xxh3Default);
    impl Write for Hasher {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hasher = Hasher(Xxh3Default::new());
    content.iter().try_for_each(|block| block.write_canonical(&mut hasher)).expect("hashing takes every write");
    hasher.0.digest128()
}
