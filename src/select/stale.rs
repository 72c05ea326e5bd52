//! What does not hold any longer leaves.

use super::candidate::Candidate;
use super::{Reason, Step};
use crate::error::{Code, Error, Result};
use crate::request::Time;

pub(super) fn stale<'r>(candidates: Vec<Candidate<'r>>, as_of: Option<&Time<'_>>) -> Result<Step<'r>> {
    let Some(as_of) = as_of else { return Ok(Step { kept: candidates, out: Vec::new() }) };
    let is_stale = |candidate: &Candidate<'r>| match (&candidate.fragment.observed_at, candidate.fragment.ttl_s) {
        (Some(observed_at), Some(ttl_s)) => observed_at.is_past(ttl_s, as_of),
        _ => false,
    };
    if let Some(candidate) = candidates.iter().find(|candidate| candidate.required && is_stale(candidate)) {
        let message = format!("{:?} is required, and stale as of {}", candidate.fragment.id, as_of.as_str());
        return Err(Error::new(Code::FragmentRequiredStale, message)
            .with_hint("read its source again: what is required has to be true")
            .with_path(candidate.path()));
    }
    Ok(Step::by(candidates, |candidate| is_stale(candidate).then_some((Reason::Stale, None))))
}
