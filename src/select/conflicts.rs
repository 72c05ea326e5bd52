//! Claims that contradict one another: all stay, and become an open question.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde::ser::SerializeMap;

use super::candidate::Candidate;
use super::version::Versions;
use crate::request::{Claim, Fragment, Preference};

/// Different values that are claimed under one key.
#[derive(Clone, Debug)]
pub struct OpenQuestion<'r> {
    /// The key.
    pub key: &'r str,
    /// Who claims something under it, by id: fragments, in or out of the prompt.
    pub candidates: Vec<&'r Fragment<'r>>,
    /// What settles it.
    pub resolution: Resolution<'r>,
}

/// What settles a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution<'r> {
    /// Nothing that was declared: somebody has to say.
    UserInputRequired,
    /// A rule that the request declared.
    Preferred {
        /// The rule.
        rule: Preference,
        /// The fragment whose claim holds by it: of several that say the same, the first by id.
        id: &'r str,
    },
}

/// The open questions by key, and the places in the request of those that are part of one.
pub(super) fn conflicts<'r>(
    candidates: &[Candidate<'r>],
    prefer: &[Preference],
) -> (Vec<OpenQuestion<'r>>, HashSet<usize>) {
    let mut claims: BTreeMap<&'r str, Vec<(&'r Claim<'r>, &Candidate<'r>)>> = BTreeMap::new();
    for candidate in candidates {
        if let Some(claim) = &candidate.fragment.claim {
            claims.entry(&claim.key).or_default().push((claim, candidate));
        }
    }
    let (mut questions, mut in_conflict) = (Vec::new(), HashSet::new());
    for (key, mut claims) in claims {
        if claims.iter().all(|(claim, _)| claim.value == claims[0].0.value) {
            continue;
        }
        claims.sort_by_key(|(_, candidate)| &candidate.fragment.id);
        in_conflict.extend(claims.iter().map(|(_, candidate)| candidate.index));
        let candidates: Vec<_> = claims.iter().map(|(_, candidate)| candidate.fragment).collect();
        let settled = prefer.iter().find_map(|rule| Some((*rule, settle(*rule, &candidates)?)));
        let resolution = match settled {
            Some((rule, fragment)) => Resolution::Preferred { rule, id: &fragment.id },
            None => Resolution::UserInputRequired,
        };
        questions.push(OpenQuestion { key, candidates, resolution });
    }
    (questions, in_conflict)
}

/// The one that a rule prefers, if the rule applies to all of them and the best of them say the same.
fn settle<'r>(rule: Preference, candidates: &[&'r Fragment<'r>]) -> Option<&'r Fragment<'r>> {
    let first = candidates.first()?;
    let best: Vec<&'r Fragment<'r>> = match rule {
        Preference::HigherTrust => {
            if candidates.iter().any(|candidate| candidate.scope != first.scope) {
                return None;
            }
            let highest = candidates.iter().map(|candidate| candidate.trust).max()?;
            candidates.iter().copied().filter(|candidate| candidate.trust == highest).collect()
        }
        Preference::NewerVersion => {
            let source_ref = first.source_ref.as_ref()?;
            if candidates.iter().any(|it| it.source_ref.as_ref() != Some(source_ref) || it.version.is_none()) {
                return None;
            }
            let versions: Vec<&str> = candidates.iter().filter_map(|candidate| candidate.version.as_deref()).collect();
            let order = Versions::of(versions.iter().copied());
            let newest = versions.iter().copied().max_by(|a, b| order.compare(a, b))?;
            let is_newest =
                |it: &&Fragment<'_>| it.version.as_deref().is_some_and(|v| order.compare(v, newest).is_eq());
            candidates.iter().copied().filter(is_newest).collect()
        }
    };
    let value = |fragment: &Fragment<'_>| fragment.claim.as_ref().map(|claim| claim.value.as_str().to_owned());
    let preferred = best.first()?;
    best.iter().all(|it| value(it) == value(preferred)).then_some(preferred)
}

impl Serialize for OpenQuestion<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct One<'r> {
            id: &'r str,
            value: &'r crate::context::Json<'r>,
            source_ref: Option<&'r str>,
            scope: Option<&'r str>,
            trust: crate::request::Trust,
            evidence: Option<crate::request::EvidenceLevel>,
            observed_at: Option<&'r str>,
        }
        let candidates: Vec<One<'_>> = self
            .candidates
            .iter()
            .filter_map(|fragment| {
                Some(One {
                    id: &fragment.id,
                    value: &fragment.claim.as_ref()?.value,
                    source_ref: fragment.source_ref.as_deref(),
                    scope: fragment.scope.as_deref(),
                    trust: fragment.trust,
                    evidence: fragment.evidence,
                    observed_at: fragment.observed_at.as_ref().map(|time| time.as_str()),
                })
            })
            .collect();
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("key", self.key)?;
        map.serialize_entry("candidates", &candidates)?;
        map.serialize_entry("resolution", &self.resolution)?;
        map.end()
    }
}

impl Serialize for Resolution<'_> {
    /// `"user_input_required"`, or `{"rule": ..., "id": ...}`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Resolution::UserInputRequired => serializer.serialize_str("user_input_required"),
            Resolution::Preferred { rule, id } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("rule", rule)?;
                map.serialize_entry("id", id)?;
                map.end()
            }
        }
    }
}
