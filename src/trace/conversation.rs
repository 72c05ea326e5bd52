//! Which calls belong together: those that have most of their messages in common.

use std::collections::HashMap;

use crate::context::{Context, Fingerprint, Role};

/// The conversations so far, each by its last call.
#[derive(Default)]
pub(super) struct Conversations(Vec<Conversation>);

struct Conversation {
    last: usize,
    /// The messages of the last two calls.
    prints: Prints,
    /// For each message of the last call but one, whether it must stay; then of the last.
    pinned: Vec<bool>,
    /// How many of the last call's messages are system messages.
    is_system: Vec<bool>,
}

/// The messages of a call and of the one before it.
#[derive(Default)]
pub(super) struct Prints {
    pub old: Vec<Fingerprint>,
    pub new: Vec<Fingerprint>,
}

impl Conversations {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Finds the conversation of a call, or begins one; also the call that was its last.
    pub fn place(&mut self, call: usize, context: &Context<'_>, prints: Vec<Fingerprint>) -> (usize, Option<usize>) {
        let is_system: Vec<bool> =
            context.messages.iter().map(|message| matches!(message.role, Role::System | Role::Developer)).collect();
        let shares = self.0.iter().enumerate().map(|(at, conversation)| (at, conversation.shares(&prints, &is_system)));
        // Of equals the one that spoke last.
        let best = shares
            .filter(|(_, share)| *share > 0.0)
            .max_by(|(a, x), (b, y)| x.total_cmp(y).then_with(|| self.0[*a].last.cmp(&self.0[*b].last)));
        match best {
            Some((at, share)) if share >= 0.5 => {
                let conversation = &mut self.0[at];
                let previous = conversation.last;
                conversation.last = call;
                conversation.prints.old = std::mem::replace(&mut conversation.prints.new, prints);
                conversation.is_system = is_system;
                (at, Some(previous))
            }
            _ => {
                // The task is what the first call ends its opening with: all up to the first answer.
                let answer = context.messages.iter().position(|message| message.role == Role::Assistant);
                let opening = answer.unwrap_or(context.messages.len());
                let pinned = is_system.iter().enumerate().map(|(at, is_system)| *is_system || at < opening).collect();
                let prints = Prints { old: Vec::new(), new: prints };
                self.0.push(Conversation { last: call, prints, pinned, is_system });
                (self.0.len() - 1, None)
            }
        }
    }

    pub fn prints(&self, conversation: usize) -> &Prints {
        &self.0[conversation].prints
    }

    /// For each message of the call before, whether it must stay.
    pub fn pinned(&self, conversation: usize) -> &[bool] {
        &self.0[conversation].pinned
    }

    /// Carries what must stay over to the messages of the last call: those that are the same, and those that `came_from`
    /// one that must.
    pub fn keep_pinned(&mut self, conversation: usize, came_from: impl Fn(usize, Fingerprint) -> Option<usize>) {
        let Conversation { prints, pinned, .. } = &mut self.0[conversation];
        let mut stay: HashMap<(u64, Option<[u64; 2]>), usize> = HashMap::new();
        for (print, _) in prints.old.iter().zip(pinned.iter()).filter(|(_, pinned)| **pinned) {
            *stay.entry((print.len, print.hash)).or_default() += 1;
        }
        let kept = prints.new.iter().enumerate().map(|(at, print)| match stay.get_mut(&(print.len, print.hash)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => came_from(at, *print).is_some_and(|from| pinned.get(from).copied().unwrap_or(false)),
        });
        *pinned = kept.collect();
    }
}

impl Conversation {
    /// The share of the shorter call's messages that both have, system messages left out where there are others: agents of
    /// one kind have those in common.
    fn shares(&self, prints: &[Fingerprint], is_system: &[bool]) -> f64 {
        let others = |prints: &[Fingerprint], is_system: &[bool]| -> Vec<Fingerprint> {
            let all = prints.iter().zip(is_system);
            all.filter(|(_, is_system)| !**is_system).map(|(print, _)| *print).collect()
        };
        let (old, new) = (others(&self.prints.new, &self.is_system), others(prints, is_system));
        let (old, new) = match old.is_empty() || new.is_empty() {
            true => (self.prints.new.clone(), prints.to_vec()),
            false => (old, new),
        };
        let shorter = old.len().min(new.len());
        if shorter == 0 {
            // Nothing was said in either.
            return if old.len() == new.len() { 1.0 } else { 0.0 };
        }
        let mut counts: HashMap<Fingerprint, usize> = HashMap::new();
        old.iter().for_each(|print| *counts.entry(*print).or_default() += 1);
        let common = new.iter().filter(|print| match counts.get_mut(print) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        });
        common.count() as f64 / shorter as f64
    }
}
