//! Fragments: what goes into the prompt, what stays out, and why.
//!
//! Each step is a function from candidates to candidates and decisions; the manifest is the list of decisions. All ties
//! end at the id, so that the same fragments give the same selection in whatever order they are written.
//!
//! | step | who leaves | recorded as |
//! |---|---|---|
//! | verify | nobody: content must be there and hash to what is said | an error |
//! | stale | `observed_at + ttl_s < as_of` | `stale` |
//! | duplicates | the same content again; required, then trust ↓, version ↓, id ↑ stays | `duplicate`, by the one that stays |
//! | superseded | named in `supersedes` or `replaces`; an older version of one source and range | `superseded`, by the one that stays |
//! | conflicts | nobody: other values under one claim key become an open question | |
//! | required | nobody: the segments and all that is required have to fit | an error |
//! | floors | each responsibility in layer order, while it holds less than its floor | `over_cap`, `over_budget` |
//! | rest | priority ↓, freshness ↓, size ↑, id ↑; each that fits under its cap and the total is taken | `over_cap`, `over_budget` |
//! | trim | at its turn, what may be cut is cut to the space left | the same, if too little is left |
//! | place | nobody: each stands in the layer of its kind, in the order given | |
//!
//! Where a member of a group leaves, the others leave with it, as `group`, by the one they left with: a group comes in or
//! stays out whole, at the turn of its best member, and is never trimmed. A group with a required member is required.
//!
//! The space is `window − reserved_output − tools`, without a window there is no limit. Sizes are those of the messages
//! with their frames, in characters, or in tokens as they are declared. An undeclared count is never 0: it makes the verdict
//! `unknown`, an optional fragment of that kind does not fit under any limit, and nothing is trimmed where tokens are
//! counted, since those of a part are not known.
//!
//! | layer | segment | kinds | responsibility |
//! |---|---|---|---|
//! | 1 | `prefix` | `policy`, `instruction` | `immutable_instructions` |
//! | 2 | `injections` | `tool_spec`, `skill` | `selected_skills_and_tools` |
//! | 3 | `goal` | `goal`, `success_contract`, `output_contract` | `goal_and_acceptance` |
//! | 4 | | `plan`, `run_state` | `run_state` |
//! | 5 | `trajectory`, behind the fragments | `history` | `recent_history` |
//! | 6 | | `evidence`, `memory` | `retrieved_material` |
//! | 7 | | `tool_result` | `current_observation` |
//! | 8 | | `user_input` | `user_input` |

mod boundaries;
mod candidate;
mod compaction;
mod conflicts;
mod duplicates;
mod floors;
mod frame;
mod ledger;
mod manifest;
mod place;
mod required;
mod rest;
mod stale;
mod superseded;
mod trim;
mod verify;
mod version;

#[cfg(test)]
mod tests;

pub use compaction::{Identifier, Lost};
pub use conflicts::{OpenQuestion, Resolution};
pub use ledger::{Holding, Space};
pub use manifest::{Entry, Kept, LayerDigest, Manifest};
pub use trim::Cut;

use crate::context::Context;
use crate::error::Result;
use crate::request::{Fragment, RunRequest, Warning};
use candidate::Candidate;
use ledger::Ledger;

/// What was chosen of a request's fragments, and the context it gives.
#[derive(Clone, Debug)]
pub struct Selection<'r> {
    /// What it was chosen from.
    pub request: &'r RunRequest<'r>,
    /// The segments and what was chosen, each in its layer.
    pub context: Context<'r>,
    /// The fragments that are in, in the order of the request.
    pub included: Vec<Included<'r>>,
    /// The fragments that are out, in the order of the request.
    pub excluded: Vec<Excluded<'r>>,
    /// Claims that contradict one another, by key.
    pub open_questions: Vec<OpenQuestion<'r>>,
    /// The space it was chosen in.
    pub space: Space,
    /// What summaries have lost, in the order of the request.
    pub lost: Vec<Lost<'r>>,
    /// What is allowed and probably not meant; what summaries have lost is among it.
    pub warnings: Vec<Warning>,
}

/// A fragment that is in.
#[derive(Clone, Debug)]
pub struct Included<'r> {
    /// Its place in the request.
    pub index: usize,
    /// The fragment.
    pub fragment: &'r Fragment<'r>,
    /// Whether it had to be in: it is required, or a member of its group is.
    pub required: bool,
    /// The rule it came in by.
    pub rule: Rule,
    /// What was left of its text, if it was trimmed.
    pub cut: Option<Cut>,
    /// Whether others claim another value under the key of its claim.
    pub in_conflict: bool,
    /// Its place in the context.
    pub message: usize,
}

/// The rule a fragment came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is required.
    Required,
    /// Its responsibility held less than its floor.
    Floor,
    /// It fitted, at its turn.
    Fitted,
}

/// A fragment that is out.
#[derive(Clone, Debug)]
pub struct Excluded<'r> {
    /// Its place in the request.
    pub index: usize,
    /// The fragment.
    pub fragment: &'r Fragment<'r>,
    /// Why.
    pub reason: Reason,
    /// The place in the request of the fragment that stands in for it, or that its group left with.
    pub by: Option<usize>,
    /// What it would have come to, in characters; with its frame.
    pub chars: u64,
}

/// Why a fragment is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Another holds the same content.
    Duplicate,
    /// Another stands in for it.
    Superseded,
    /// It does not hold any longer.
    Stale,
    /// It would have passed the cap of its responsibility.
    OverCap,
    /// It would have passed the window.
    OverBudget,
    /// Another member of its group is out.
    Group,
}

impl Reason {
    /// All of them, as reports list them.
    pub const ALL: [Reason; 6] =
        [Reason::Duplicate, Reason::Superseded, Reason::Stale, Reason::OverCap, Reason::OverBudget, Reason::Group];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Duplicate => "duplicate",
            Reason::Superseded => "superseded",
            Reason::Stale => "stale",
            Reason::OverCap => "over_cap",
            Reason::OverBudget => "over_budget",
            Reason::Group => "group",
        }
    }
}

impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'r> Selection<'r> {
    /// Selects out of the fragments of a request; `segments` is what its four segments give, in their order.
    ///
    /// # Errors
    /// `fragment.unresolved` for a file that was not read; `fragment.required_stale` and `fragment.required_superseded`;
    /// `budget.required_exceeds` where the window cannot hold even what has to be in.
    pub(crate) fn of(request: &'r RunRequest<'r>, segments: Context<'r>) -> Result<Self> {
        let fragments = &request.parts().fragments;
        let mut decisions = Decisions::default();
        let candidates = verify::verify(request)?;
        let candidates = decisions.after(stale::stale(candidates, request.parts().as_of.as_ref())?);
        let candidates = decisions.after(duplicates::duplicates(candidates));
        let candidates = decisions.after(superseded::superseded(candidates, fragments)?);
        let (open_questions, in_conflict) = conflicts::conflicts(&candidates, &request.parts().conflicts);
        let (lost, mut warnings) = compaction::check(&candidates, request.parts());

        let mut ledger = Ledger::open(request, &segments);
        let optional = required::required(candidates, (request, &segments), &mut ledger)?;
        let ranked = rest::ranked(optional, &ledger);
        floors::floors(&ranked, &request.parts().budget, &mut ledger);
        rest::rest(&ranked, &mut ledger);

        let (mut included, out, mut space) = ledger.close(&decisions.out);
        decisions.out.extend(out);
        included.sort_by_key(|included| included.index);
        for included in &mut included {
            included.in_conflict = in_conflict.contains(&included.index);
        }
        warnings.extend(frame::closers(&included, request));
        let excluded = decisions.excluded();
        let context = place::place(request, segments, &mut included);
        space.verdict = space.verdict_of(request, &context);
        Ok(Selection { request, context, included, excluded, open_questions, space, lost, warnings })
    }

    /// The record of what went in, what stayed out, and why. Hashes all of the context.
    pub fn manifest(&self) -> Manifest<'_> {
        Manifest::of(self)
    }
}

/// A candidate that leaves.
struct Exclusion<'r> {
    candidate: Candidate<'r>,
    reason: Reason,
    by: Option<usize>,
}

/// What a step gives: who goes on, and who leaves.
struct Step<'r> {
    kept: Vec<Candidate<'r>>,
    out: Vec<Exclusion<'r>>,
}

/// Who has left so far.
#[derive(Default)]
struct Decisions<'r> {
    out: Vec<Exclusion<'r>>,
}

impl<'r> Decisions<'r> {
    /// Takes down who leaves, and gives who goes on.
    fn after(&mut self, step: Step<'r>) -> Vec<Candidate<'r>> {
        let Step { kept, out } = step.with_groups();
        self.out.extend(out);
        kept
    }

    fn excluded(mut self) -> Vec<Excluded<'r>> {
        self.out.sort_by_key(|exclusion| exclusion.candidate.index);
        let excluded = self.out.into_iter().map(|Exclusion { candidate, reason, by }| {
            let Candidate { index, fragment, chars, .. } = candidate;
            Excluded { index, fragment, reason, by, chars }
        });
        excluded.collect()
    }
}
