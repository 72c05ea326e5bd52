//! Which calls belong together: those that have most of their messages in common.

use std::collections::HashMap;

use super::Call;
use crate::context::{Fingerprint, Role};

/// The conversations so far, each by its last call.
#[derive(Default)]
pub(super) struct Conversations(Vec<Conversation>);

struct Conversation {
    last: usize,
    /// The messages of the last call that are no system messages; all, where there are no others. Each with its number.
    said: HashMap<Fingerprint, usize>,
    count: usize,
    /// For each message of the last call that was set against another, whether it must stay.
    pinned: Vec<bool>,
}

impl Conversations {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Finds the conversation of a call, or begins one; also the call that was its last.
    pub fn place(&mut self, index: usize, call: &Call<'_>) -> (usize, Option<usize>) {
        let said = said(call);
        let count = said.values().sum();
        let shares = self.0.iter().enumerate().map(|(at, conversation)| (at, conversation.share(&said, count)));
        // Of equals the one that spoke last.
        let best = shares.max_by(|(a, x), (b, y)| x.total_cmp(y).then_with(|| self.0[*a].last.cmp(&self.0[*b].last)));
        match best {
            Some((at, share)) if share >= 0.5 => {
                let conversation = &mut self.0[at];
                let previous = std::mem::replace(&mut conversation.last, index);
                (conversation.said, conversation.count) = (said, count);
                (at, Some(previous))
            }
            _ => {
                let is_answer = |role: &Role<'_>| *role == Role::Assistant;
                // The task is what stands before the first answer.
                let opening = call.messages.iter().position(|message| is_answer(&message.role));
                let opening = opening.unwrap_or(call.messages.len());
                let roles = call.messages.iter().map(|message| is_system(&message.role)).enumerate();
                let pinned = roles.map(|(at, is_system)| is_system || at < opening).collect();
                self.0.push(Conversation { last: index, said, count, pinned });
                (self.0.len() - 1, None)
            }
        }
    }

    /// For each message of the call before, whether it must stay.
    pub fn pinned(&self, conversation: usize) -> &[bool] {
        &self.0[conversation].pinned
    }

    /// Carries what must stay over to the messages of the last call: those that are the same, and those that `came_from`
    /// one that must.
    pub fn keep_pinned(
        &mut self,
        conversation: usize,
        before: &Call<'_>,
        call: &Call<'_>,
        came_from: impl Fn(usize) -> Option<usize>,
    ) {
        let pinned = &mut self.0[conversation].pinned;
        let mut stay: HashMap<Fingerprint, usize> = HashMap::new();
        for (print, _) in before.prints.iter().zip(pinned.iter()).filter(|(_, pinned)| **pinned) {
            *stay.entry(*print).or_default() += 1;
        }
        let kept = call.prints.iter().enumerate().map(|(at, print)| match stay.get_mut(print) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => came_from(at).is_some_and(|from| pinned.get(from).copied().unwrap_or(false)),
        });
        *pinned = kept.collect();
    }
}

impl Conversation {
    /// The share of the shorter call's messages that both have.
    fn share(&self, said: &HashMap<Fingerprint, usize>, count: usize) -> f64 {
        let shorter = self.count.min(count);
        if shorter == 0 {
            // Nothing was said in either.
            return if self.count == count { 1.0 } else { 0.0 };
        }
        let common = said.iter().filter_map(|(print, count)| self.said.get(print).map(|own| own.min(count)));
        common.sum::<usize>() as f64 / shorter as f64
    }
}

/// What is said in a call, and how often. Agents of one kind have their system messages in common.
fn said(call: &Call<'_>) -> HashMap<Fingerprint, usize> {
    let has_others = call.messages.iter().any(|message| !is_system(&message.role));
    let all = call.messages.iter().zip(call.prints);
    let mut said = HashMap::new();
    for (_, print) in all.filter(|(message, _)| !(has_others && is_system(&message.role))) {
        *said.entry(*print).or_default() += 1;
    }
    said
}

fn is_system(role: &Role<'_>) -> bool {
    matches!(role, Role::System | Role::Developer)
}
