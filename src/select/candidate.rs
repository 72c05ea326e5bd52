//! A fragment that may still come in.

use std::collections::HashMap;

use super::{Exclusion, Reason, Step, frame};
use crate::request::{Fragment, RunRequest};

/// A fragment on its way through the steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'r> {
    /// Its place in the request.
    pub index: usize,
    pub fragment: &'r Fragment<'r>,
    /// Whether it, or a member of its group, is required.
    pub required: bool,
    /// What it comes to whole, in characters; with its frame.
    pub chars: u64,
}

impl<'r> Candidate<'r> {
    /// All fragments; a group with a required member is required whole.
    pub fn all(request: &'r RunRequest<'r>) -> Vec<Self> {
        let fragments = &request.parts().fragments;
        let groups =
            fragments.iter().filter(|fragment| fragment.required).filter_map(|fragment| fragment.group.as_deref());
        let groups: std::collections::HashSet<&str> = groups.collect();
        let in_required =
            |fragment: &Fragment<'_>| fragment.group.as_deref().is_some_and(|group| groups.contains(group));
        let candidate = |(index, fragment): (usize, &'r Fragment<'r>)| Candidate {
            index,
            fragment,
            required: fragment.required || in_required(fragment),
            chars: frame::chars(request, fragment),
        };
        fragments.iter().enumerate().map(candidate).collect()
    }

    /// The path of it in the request.
    pub fn path(&self) -> String {
        format!("fragments[{}]", self.index)
    }
}

impl<'r> Step<'r> {
    /// Nobody leaves but for a reason that is given of each.
    pub fn by(
        candidates: Vec<Candidate<'r>>,
        mut why: impl FnMut(&Candidate<'r>) -> Option<(Reason, Option<usize>)>,
    ) -> Self {
        let mut step = Step { kept: Vec::with_capacity(candidates.len()), out: Vec::new() };
        for candidate in candidates {
            match why(&candidate) {
                None => step.kept.push(candidate),
                Some((reason, by)) => step.out.push(Exclusion { candidate, reason, by }),
            }
        }
        step
    }

    /// Where a member of a group leaves, the others leave with it.
    pub fn with_groups(self) -> Self {
        let mut broken: HashMap<&str, Candidate<'r>> = HashMap::new();
        for Exclusion { candidate, .. } in &self.out {
            if let Some(group) = candidate.fragment.group.as_deref() {
                let first = broken.entry(group).or_insert(*candidate);
                if candidate.fragment.id < first.fragment.id {
                    *first = *candidate;
                }
            }
        }
        if broken.is_empty() {
            return self;
        }
        let mut step = Step::by(self.kept, |candidate| {
            let by = broken.get(candidate.fragment.group.as_deref()?)?;
            Some((Reason::Group, Some(by.index)))
        });
        step.out.extend(self.out);
        step
    }
}
