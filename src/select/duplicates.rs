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
    // Nobody is looked at whole whose size and beginning are like no other's.
    let mut looks: Vec<(Look, Candidate<'r>)> =
        candidates.iter().filter(takes_part).map(|candidate| (look(content(candidate)), *candidate)).collect();
    looks.sort_unstable_by_key(|(look, candidate)| (*look, candidate.index));
    let mut all = Vec::new();
    for alike in looks.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        let mut by_print: HashMap<u128, Vec<Vec<Candidate<'r>>>> = HashMap::new();
        for (_, candidate) in alike {
            // A fast hash can be made to collide: only the content itself says that it is the same.
            let alike = by_print.entry(fingerprint(content(candidate))).or_default();
            match alike.iter_mut().find(|equal| content(&equal[0]) == content(candidate)) {
                Some(equal) => equal.push(*candidate),
                None => alike.push(vec![*candidate]),
            }
        }
        all.extend(by_print.into_values().flatten().filter(|equal| equal.len() > 1));
    }
    all
}

fn content<'r>(candidate: &Candidate<'r>) -> &'r [Content<'r>] {
    candidate.fragment.content().unwrap_or_default()
}

/// Characters, bytes, and a hash of the beginning: equal for equal contents.
type Look = (u64, u64, u64);

fn look(content: &[Content<'_>]) -> Look {
    const BEGINNING_BYTES: usize = 256;
    let size = content.iter().map(measure::block).sum::<measure::Size>();
    let mut hasher = Hasher { xxh3: Xxh3Default::new(), left: BEGINNING_BYTES };
    // It refuses what stands behind the beginning.
    _ = content.iter().try_for_each(|block| block.write_canonical(&mut hasher));
    (size.chars, size.bytes, hasher.xxh3.digest())
}

fn fingerprint(content: &[Content<'_>]) -> u128 {
    let mut hasher = Hasher { xxh3: Xxh3Default::new(), left: usize::MAX };
    content.iter().try_for_each(|block| block.write_canonical(&mut hasher)).expect("there is no end to what it takes");
    hasher.xxh3.digest128()
}

/// Hashes so many bytes, and takes no more.
struct Hasher {
    xxh3: Xxh3Default,
    left: usize,
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left);
        self.xxh3.update(&bytes[..taken]);
        self.left -= taken;
        Ok(taken)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
