//! What has to be in is in, or there is no prompt.

use super::Rule;
use super::candidate::Candidate;
use super::ledger::{Ledger, of_segment};
use crate::context::{Context, Origin};
use crate::error::{Code, Error, Result};
use crate::request::RunRequest;

/// Takes in what is required, and gives what is not. The segments are in the ledger already.
pub(super) fn required<'r>(
    candidates: Vec<Candidate<'r>>,
    (request, segments): (&RunRequest<'r>, &Context<'r>),
    ledger: &mut Ledger<'r>,
) -> Result<Vec<Candidate<'r>>> {
    let (required, optional): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| candidate.required);
    for candidate in &required {
        ledger.put(*candidate, Rule::Required, None);
    }
    match ledger.over() {
        None => Ok(optional),
        Some(over) => Err(exceeds(over, &required, (request, segments), ledger)),
    }
}

fn exceeds<'r>(
    over: u64,
    required: &[Candidate<'r>],
    (request, segments): (&RunRequest<'r>, &Context<'r>),
    ledger: &Ledger<'r>,
) -> Error {
    const SHOWN: usize = 5;
    let of_segments = segments.messages.iter().map(|it| (it.origin.to_string(), of_segment(request, it).unwrap_or(0)));
    let of_fragments = required.iter().map(|candidate| {
        let origin = Origin::Fragment { index: candidate.index, id: (&*candidate.fragment.id).into() };
        (origin.to_string(), ledger.size(candidate, None).unwrap_or(0))
    });
    let mut contributors: Vec<(String, u64)> = of_segments.chain(of_fragments).filter(|(_, size)| *size > 0).collect();
    contributors.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let budget = &request.parts().budget;
    let mut taken = String::new();
    for (what, size) in [("reserved_output", budget.reserved_output), ("tools", ledger.tools())] {
        if size > 0 {
            taken += &format!(" − {what} {size}");
        }
    }
    let mut message = format!(
        "what is required comes to {} {}, {over} over what there is (window {}{taken})",
        ledger.used(),
        budget.unit.as_str(),
        budget.window.unwrap_or(0),
    );
    for (at, (origin, size)) in contributors.iter().take(SHOWN).enumerate() {
        message += &format!("{} {origin} {size}", if at == 0 { ":" } else { "," });
    }
    if contributors.len() > SHOWN {
        message += &format!(", and {} more", contributors.len() - SHOWN);
    }
    Error::new(Code::BudgetRequiredExceeds, message)
        .with_hint("nothing that is required is ever cut: shorten it, require less, or give the window more")
        .with_path("budget.window")
}
