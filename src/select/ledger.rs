//! What has been given out of the space, and who is in for it.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::frame::Framed;
use super::trim::{self, Cut};
use super::{Exclusion, Included, Reason, Rule};
use crate::context::{Context, Message, Origin};
use crate::measure::{self, Verdict};
use crate::request::{Responsibility, RunRequest, Share, Unit};

/// The space a selection was made in; all sizes are in [`Space::unit`].
#[derive(Clone, Debug)]
pub struct Space {
    /// What is counted.
    pub unit: Unit,
    /// What the model takes in all.
    pub window: Option<u64>,
    /// What is kept free for the answer.
    pub reserved_output: u64,
    /// What the tool schemas take; in tokens they are not known, and counted as 0 here.
    pub tools: u64,
    /// What is left for messages: `window − reserved_output − tools`.
    pub available: Option<u64>,
    /// What all messages come to, as far as it is known; never more than what is available.
    pub used: u64,
    /// What the budgets say: the window's, and that of `max_prompt_chars`.
    pub verdict: Verdict,
    /// What each responsibility holds, in layer order.
    pub holdings: Vec<Holding>,
    /// Origins of messages whose tokens are not declared, and `tools`, where tokens are counted.
    pub unknown: Vec<String>,
}

/// What a responsibility holds.
#[derive(Clone, Copy, Debug)]
pub struct Holding {
    /// The responsibility.
    pub responsibility: Responsibility,
    /// Its bounds.
    pub share: Share,
    /// What its messages come to, those of the segments among them.
    pub used: u64,
    /// What its fragments that are out would have come to, as far as it is known.
    pub left_out: u64,
}

const COUNT: usize = Responsibility::ALL.len();

/// Who is in, who is out, and what is left.
pub(super) struct Ledger<'r> {
    request: &'r RunRequest<'r>,
    tools: u64,
    /// Less than nothing where even the tools do not fit.
    available: Option<i128>,
    used: u64,
    held: [u64; COUNT],
    unknown: Vec<String>,
    included: Vec<Included<'r>>,
    out: Vec<Exclusion<'r>>,
    is_decided: Vec<bool>,
}

/// Optional candidates in the order of their turns, and the members of each group.
pub(super) struct Ranked<'r> {
    pub order: Vec<Candidate<'r>>,
    pub groups: HashMap<&'r str, Vec<Candidate<'r>>>,
}

impl<'r> Ledger<'r> {
    /// With the segments in it, which are always in.
    pub fn open(request: &'r RunRequest<'r>, segments: &Context<'_>) -> Self {
        let budget = &request.parts().budget;
        let (tools, mut unknown) = match budget.unit {
            Unit::Chars => (measure::tools(segments).chars, Vec::new()),
            Unit::Tokens if segments.tools.is_empty() => (0, Vec::new()),
            Unit::Tokens => (0, vec!["tools".to_owned()]),
        };
        let (mut used, mut held) = (0u64, [0u64; COUNT]);
        for message in &segments.messages {
            match of_segment(request, message) {
                Some(size) => {
                    used = used.saturating_add(size);
                    if let Some(responsibility) = responsibility_of(message) {
                        let held = &mut held[responsibility as usize];
                        *held = held.saturating_add(size);
                    }
                }
                None => unknown.push(message.origin.to_string()),
            }
        }
        let free = |window: u64| i128::from(window) - i128::from(budget.reserved_output) - i128::from(tools);
        Ledger {
            request,
            tools,
            available: budget.window.map(free),
            used,
            held,
            unknown,
            included: Vec::new(),
            out: Vec::new(),
            is_decided: vec![false; request.parts().fragments.len()],
        }
    }

    /// How much is over, if anything is.
    pub fn over(&self) -> Option<u64> {
        let over = i128::from(self.used) - self.available?;
        (over > 0).then(|| u64::try_from(over).unwrap_or(u64::MAX))
    }

    pub fn used(&self) -> u64 {
        self.used
    }

    /// What the schemas of the tools take.
    pub fn tools(&self) -> u64 {
        self.tools
    }

    /// What a candidate takes, whole or cut; nothing where that is not known.
    pub fn size(&self, candidate: &Candidate<'r>, cut: Option<&Cut>) -> Option<u64> {
        match self.request.parts().budget.unit {
            Unit::Chars => {
                Some(cut.map_or(candidate.chars, |cut| Framed::new(self.request, candidate.fragment).chars(cut)))
            }
            Unit::Tokens => candidate.fragment.tokens,
        }
    }

    pub fn held(&self, responsibility: Responsibility) -> u64 {
        self.held[responsibility as usize]
    }

    /// Takes one in, whatever it takes.
    pub fn put(&mut self, candidate: Candidate<'r>, rule: Rule, cut: Option<Cut>) {
        let Candidate { index, fragment, required, .. } = candidate;
        match self.size(&candidate, cut.as_ref()) {
            Some(size) => {
                self.used = self.used.saturating_add(size);
                let held = &mut self.held[responsibility(&candidate) as usize];
                *held = held.saturating_add(size);
            }
            None => self.unknown.push(Origin::Fragment { index, id: (&*fragment.id).into() }.to_string()),
        }
        self.is_decided[index] = true;
        self.included.push(Included { index, fragment, required, rule, cut, in_conflict: false, message: 0 });
    }

    /// The turn of an optional candidate, and of the group it is a member of: it comes in if it fits, or as far as it can
    /// be cut, and else is out.
    pub fn offer(&mut self, candidate: Candidate<'r>, ranked: &Ranked<'r>, rule: Rule) {
        if self.is_decided[candidate.index] {
            return;
        }
        let alone = [candidate];
        let members = candidate.fragment.group.as_deref().and_then(|group| ranked.groups.get(group));
        let members = members.map_or(&alone[..], Vec::as_slice);
        let Err(reason) = self.fits(members) else {
            members.iter().for_each(|member| self.put(*member, rule, None));
            return;
        };
        if candidate.fragment.group.is_none()
            && let Some(cut) = self.cut(&candidate)
        {
            self.put(candidate, rule, Some(cut));
            return;
        }
        for member in members {
            self.is_decided[member.index] = true;
            let is_first = member.index == candidate.index;
            let (reason, by) = if is_first { (reason, None) } else { (Reason::Group, Some(candidate.index)) };
            self.out.push(Exclusion { candidate: *member, reason, by });
        }
    }

    fn fits(&self, members: &[Candidate<'r>]) -> Result<(), Reason> {
        let (mut all, mut needs) = (0u64, [0u64; COUNT]);
        let (mut is_unknown, mut is_capped) = (false, false);
        for member in members {
            let responsibility = responsibility(member);
            match self.size(member, None) {
                Some(size) => {
                    all = all.saturating_add(size);
                    needs[responsibility as usize] = needs[responsibility as usize].saturating_add(size);
                }
                // What is not known cannot be said to fit; a cap is named first, whoever stands first in the group.
                None => {
                    is_unknown = true;
                    is_capped |= self.cap_left(responsibility).is_some();
                }
            }
        }
        let over_cap = |&responsibility: &Responsibility| {
            let need = needs[responsibility as usize];
            need > 0 && self.cap_left(responsibility).is_some_and(|left| need > left)
        };
        if is_capped || Responsibility::ALL.iter().any(over_cap) {
            return Err(Reason::OverCap);
        }
        match self.left() {
            Some(left) if is_unknown || all > left => Err(Reason::OverBudget),
            _ => Ok(()),
        }
    }

    fn cut(&self, candidate: &Candidate<'r>) -> Option<Cut> {
        let trim = candidate.fragment.trim.filter(|_| self.request.parts().budget.unit == Unit::Chars)?;
        let space = [self.left(), self.cap_left(responsibility(candidate))].into_iter().flatten().min()?;
        trim::to_fit(self.request, candidate.fragment, trim, space)
    }

    fn left(&self) -> Option<u64> {
        let left = self.available? - i128::from(self.used);
        Some(u64::try_from(left).unwrap_or(0))
    }

    fn cap_left(&self, responsibility: Responsibility) -> Option<u64> {
        let cap = self.request.parts().budget.share(responsibility).cap?;
        Some(cap.saturating_sub(self.held(responsibility)))
    }

    /// Who is in, who is out, and the space as it is now; `before` are those who were out before it was given out.
    pub fn close(self, before: &[Exclusion<'r>]) -> (Vec<Included<'r>>, Vec<Exclusion<'r>>, Space) {
        let budget = &self.request.parts().budget;
        let holding = |&responsibility: &Responsibility| Holding {
            responsibility,
            share: budget.share(responsibility),
            used: self.held(responsibility),
            left_out: 0,
        };
        let mut holdings: Vec<Holding> = Responsibility::ALL.iter().map(holding).collect();
        for Exclusion { candidate, .. } in before.iter().chain(&self.out) {
            let left_out = &mut holdings[responsibility(candidate) as usize].left_out;
            *left_out = left_out.saturating_add(self.size(candidate, None).unwrap_or(0));
        }
        let space = Space {
            unit: budget.unit,
            window: budget.window,
            reserved_output: budget.reserved_output,
            tools: self.tools,
            available: self.available.map(|available| u64::try_from(available).unwrap_or(0)),
            used: self.used,
            verdict: Verdict::Unset,
            holdings,
            unknown: self.unknown,
        };
        (self.included, self.out, space)
    }
}

impl Space {
    /// What the budgets say to a context: an unknown count never fits.
    pub(super) fn verdict_of(&self, request: &RunRequest<'_>, context: &Context<'_>) -> Verdict {
        let of_prompt = Verdict::of(measure::context(context), request.parts().max_prompt_chars);
        match of_prompt {
            Verdict::ContextOverflow => of_prompt,
            _ if !self.unknown.is_empty() => Verdict::Unknown,
            Verdict::Unset if self.window.is_some() => Verdict::Fits,
            _ => of_prompt,
        }
    }
}

pub(super) fn responsibility(candidate: &Candidate<'_>) -> Responsibility {
    candidate.fragment.kind.layer().responsibility()
}

/// The part of the budget a message of the segments draws on.
pub(super) fn responsibility_of(message: &Message<'_>) -> Option<Responsibility> {
    match message.origin {
        Origin::Prefix(_) => Some(Responsibility::ImmutableInstructions),
        Origin::Injection { .. } => Some(Responsibility::SelectedSkillsAndTools),
        Origin::Goal(_) => Some(Responsibility::GoalAndAcceptance),
        Origin::RawOutput(_) | Origin::Observation(_) | Origin::ToolCall { .. } => Some(Responsibility::RecentHistory),
        Origin::Fragment { .. } | Origin::Recorded { .. } | Origin::Body(_) | Origin::Repair(_) => None,
    }
}

/// The size of a message of the segments. A step declares its tokens once, for all its messages.
pub(super) fn of_segment(request: &RunRequest<'_>, message: &Message<'_>) -> Option<u64> {
    match request.parts().budget.unit {
        Unit::Chars => Some(measure::message(message).chars),
        Unit::Tokens => match message.origin {
            Origin::Observation(_) | Origin::ToolCall { .. } => Some(0),
            _ => declared_tokens(request, message),
        },
    }
}

/// The tokens that the part of the request declares which a message of the segments is the first of.
pub(super) fn declared_tokens(request: &RunRequest<'_>, message: &Message<'_>) -> Option<u64> {
    let parts = request.parts();
    match &message.origin {
        Origin::Prefix(index) => parts.prefix.get(*index)?.tokens,
        Origin::Goal(index) => parts.goal.get(*index)?.tokens,
        Origin::Injection { channel, index, .. } => parts.injections.get(channel)?.get(*index)?.tokens,
        Origin::RawOutput(step) => parts.trajectory.get(*step)?.tokens,
        _ => None,
    }
}
