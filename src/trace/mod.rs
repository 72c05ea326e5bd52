//! Successive calls: what each kept of the one before, where that broke, and why.
//!
//! Calls are those of a log, or the steps of one run request. Each is set against the call before it in the same
//! conversation; conversations in one log are told apart by the messages they have in common.

pub mod across;
pub mod cache;
mod cause;
mod conversation;

use std::num::NonZeroUsize;

use serde::Serialize;

use crate::context::{Context, Fingerprint, Json, Message, Role};
use crate::diff::{self, Change, Class, Comparison, FirstDifference, Kind, Subject};
use crate::measure;
use conversation::Conversations;

/// A call to be traced.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// Where it stands in its log, or which step it is.
    pub path: &'c str,
    /// The tools that the model was given.
    pub tools: &'c [Json<'c>],
    /// The messages that the model was given.
    pub messages: &'c [Message<'c>],
    /// What they are known by, one for each.
    pub prints: &'c [Fingerprint],
    /// The model, where that is recorded.
    pub model: Option<&'c str>,
    /// Where markers for the cache stand.
    pub markers: &'c [String],
}

/// What a call is to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// There is none before it in its conversation.
    Initial,
    /// It holds the very same.
    Stable,
    /// It begins with all of it.
    AppendOnly,
    /// Something of it changed.
    Changed,
}

impl Relation {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Initial => "initial",
            Relation::Stable => "stable",
            Relation::AppendOnly => "append_only",
            Relation::Changed => "changed",
        }
    }
}

/// What of a call changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the variants are the words themselves")]
pub enum Changed {
    Model,
    Tools,
    System,
    Messages,
}

impl Changed {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Changed::Model => "model",
            Changed::Tools => "tools",
            Changed::System => "system",
            Changed::Messages => "messages",
        }
    }
}

/// What a call kept of the one before it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traced {
    /// Its place among the calls, from 0.
    pub call: usize,
    /// Where it stands in its log.
    pub path: String,
    /// Which conversation it belongs to, from 0.
    pub conversation: usize,
    /// The call it is set against.
    pub previous: Option<usize>,
    /// Number of messages.
    pub messages: usize,
    /// Size of what is known of them, in characters.
    pub chars: u64,
    /// Length of the canonical stream.
    pub bytes: u64,
    /// What it is to the call before.
    pub relation: Relation,
    /// What changed, where anything did.
    pub changed: Vec<Changed>,
    /// What both begin with.
    pub shared_prefix: SharedPrefix,
    /// Characters in what both begin with, which a cache could keep.
    pub kept_chars: u64,
    /// Characters that were not in the call before.
    pub new_chars: u64,
    /// Characters that were, and stand behind the first difference: sent again though a cache could have kept them.
    pub resent_chars: u64,
    /// Where the two part; none where nothing changed.
    pub first_difference: Option<FirstDifference>,
    /// Of what kind that is.
    pub classes: Vec<Class>,
    /// What probably happened, in words.
    pub causes: Vec<String>,
    /// What left the context since the call before.
    pub evicted: Vec<Left>,
}

/// What a call and the one before it begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SharedPrefix {
    /// Common leading bytes of the canonical streams.
    pub bytes: u64,
    /// Whole messages in them.
    pub messages: usize,
    /// The bytes' share of the call before, 0 to 1.
    pub of_previous: f64,
}

/// A message that is no longer there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Its place in the call before.
    pub message: usize,
    /// Where it came from.
    pub origin: String,
    /// Its role.
    pub role: String,
    /// Its size in characters.
    pub chars: u64,
    /// Whether it is one that must stay: system, or part of the task.
    pub pinned: bool,
}

/// What all calls come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Number of calls.
    pub calls: usize,
    /// Number of conversations.
    pub conversations: usize,
    /// Calls that broke the prefix of the one before.
    pub breaks: usize,
    /// Characters of all calls.
    pub sent_chars: u64,
    /// Characters sent again though a cache could have kept them.
    pub resent_chars: u64,
    /// Characters that a cache could keep.
    pub shared_chars: u64,
    /// Characters that an append-only run would have sent anew.
    pub new_chars: u64,
    /// Messages that must stay and left.
    pub pinned_lost: usize,
}

/// What calls kept of each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// Every call, in order.
    pub calls: Vec<Traced>,
    /// What they come to.
    pub summary: Summary,
}

impl<'c> Call<'c> {
    fn context(&self) -> Context<'c> {
        let (tools, messages) = (self.tools.iter(), self.messages.iter());
        Context { tools: tools.map(Json::borrow).collect(), messages: messages.map(Message::borrow).collect() }
    }

    fn bytes(&self) -> u64 {
        let tools = Context { tools: self.tools.iter().map(Json::borrow).collect(), messages: Vec::new() };
        tools.canonical_len() + self.prints.iter().map(|print| print.len).sum::<u64>()
    }

    fn chars(&self, upto: usize) -> u64 {
        self.messages[..upto].iter().map(|message| measure::message(message).chars).sum()
    }
}

impl Trace {
    /// Sets every call against the one before it in its conversation.
    pub fn of(calls: &[Call<'_>]) -> Trace {
        let mut conversations = Conversations::default();
        let mut traced: Vec<Traced> = Vec::with_capacity(calls.len());
        let mut summary = Summary { calls: calls.len(), ..Summary::default() };
        for (index, call) in calls.iter().enumerate() {
            let (conversation, previous) = conversations.place(index, call);
            let one = match previous {
                None => initial(index, call),
                Some(previous) => against(index, call, previous, &calls[previous], &mut conversations, conversation),
            };
            summary.breaks += usize::from(one.relation == Relation::Changed);
            summary.sent_chars += one.chars;
            summary.resent_chars += one.resent_chars;
            summary.shared_chars += one.kept_chars;
            summary.new_chars += one.new_chars;
            summary.pinned_lost += one.evicted.iter().filter(|left| left.pinned).count();
            traced.push(Traced { conversation, ..one });
        }
        summary.conversations = conversations.len();
        Trace { calls: traced, summary }
    }
}

fn initial(index: usize, call: &Call<'_>) -> Traced {
    let chars = call.chars(call.messages.len());
    Traced {
        call: index,
        path: call.path.to_owned(),
        conversation: 0,
        previous: None,
        messages: call.messages.len(),
        chars,
        bytes: call.bytes(),
        relation: Relation::Initial,
        changed: Vec::new(),
        shared_prefix: SharedPrefix::default(),
        kept_chars: 0,
        new_chars: chars,
        resent_chars: 0,
        first_difference: None,
        classes: Vec::new(),
        causes: Vec::new(),
        evicted: Vec::new(),
    }
}

fn against(
    index: usize,
    call: &Call<'_>,
    previous: usize,
    before: &Call<'_>,
    conversations: &mut Conversations,
    conversation: usize,
) -> Traced {
    let mut traced = Traced { previous: Some(previous), ..initial(index, call) };
    let (old, new) = (before.messages, call.messages);
    let shared = before.prints.iter().zip(call.prints).take_while(|(a, b)| a == b).count();
    let same_tools = before.tools == call.tools;
    let same_model = before.model == call.model || before.model.is_none() || call.model.is_none();
    let goes_on = same_tools && shared == old.len();
    if goes_on && same_model {
        let bytes = before.bytes();
        traced.relation = if shared == new.len() { Relation::Stable } else { Relation::AppendOnly };
        traced.shared_prefix = SharedPrefix { bytes, messages: shared, of_previous: 1.0 };
        traced.kept_chars = call.chars(shared);
        traced.new_chars = traced.chars - traced.kept_chars;
        if before.markers != call.markers && !before.markers.is_empty() && !call.markers.is_empty() {
            traced.causes.push("the markers for the cache moved, which breaks nothing".to_owned());
        }
        conversations.keep_pinned(conversation, before, call, |_| None);
        return traced;
    }
    traced.relation = Relation::Changed;
    if !same_model {
        traced.changed.push(Changed::Model);
    }
    if !same_tools {
        traced.changed.push(Changed::Tools);
    }
    let is_system = |message: &&Message<'_>| matches!(message.role, Role::System | Role::Developer);
    if !of(new, call.prints, is_system).starts_with(&of(old, before.prints, is_system)) {
        traced.changed.push(Changed::System);
    }
    let is_other = |message: &&Message<'_>| !is_system(message);
    if !of(new, call.prints, is_other).starts_with(&of(old, before.prints, is_other)) {
        traced.changed.push(Changed::Messages);
    }
    fn subject<'s>(name: &'s str, context: &'s Context<'s>) -> Subject<'s> {
        Subject { name, context, request: None, spelled: None }
    }
    let (context_before, context) = (before.context(), call.context());
    let comparison = diff::compare(subject("before", &context_before), subject("now", &context), NonZeroUsize::MIN);
    let removed = removed(&comparison);
    let pinned = conversations.pinned(conversation);
    traced.evicted = removed.iter().map(|&at| left(&old[at], at, pinned.get(at).copied().unwrap_or(false))).collect();
    traced.causes = cause::causes(before, call, &comparison, shared);
    sizes(&mut traced, new, &comparison, same_model);
    traced.classes = first_change(&comparison).map(|change| change.classes.clone()).unwrap_or_default();
    let prefix = comparison.shared_prefix;
    traced.shared_prefix = SharedPrefix { bytes: prefix.bytes, messages: prefix.messages, of_previous: prefix.of_a };
    conversations.keep_pinned(conversation, before, call, |at| came_from(&comparison, at));
    traced.first_difference = comparison.first_difference;
    traced
}

/// The fingerprints of some of the messages.
fn of<'m>(
    messages: &'m [Message<'m>],
    prints: &[Fingerprint],
    is_meant: impl Fn(&&'m Message<'m>) -> bool,
) -> Vec<Fingerprint> {
    messages.iter().zip(prints).filter(|(message, _)| is_meant(message)).map(|(_, print)| *print).collect()
}

/// The change that the first difference lies in.
fn first_change(comparison: &Comparison) -> Option<&Change> {
    comparison.changes.first()
}

/// Messages of the call before that nothing in this one answers to.
fn removed(comparison: &Comparison) -> Vec<usize> {
    comparison
        .changes
        .iter()
        .filter(|change| change.kind == Kind::Removed)
        .flat_map(|change| &change.a)
        .copied()
        .collect()
}

/// The message of the call before that one of this call was, where it is not the same.
fn came_from(comparison: &Comparison, at: usize) -> Option<usize> {
    comparison.changes.iter().find(|change| change.b.contains(&at)).and_then(|change| change.a.first()).copied()
}

fn left(message: &Message<'_>, at: usize, pinned: bool) -> Left {
    let chars = measure::message(message).chars;
    Left { message: at, origin: message.origin.to_string(), role: message.role.as_str().to_owned(), chars, pinned }
}

/// What of the call a cache could keep, what is new, and what is sent again.
fn sizes(traced: &mut Traced, new: &[Message<'_>], comparison: &Comparison, same_model: bool) {
    let chars = |message: &Message<'_>| measure::message(message).chars;
    let whole = comparison.shared_prefix.messages.min(new.len());
    let mut kept: u64 = new[..whole].iter().map(chars).sum();
    if let (Some(first), Some(message)) = (&comparison.first_difference, new.get(whole))
        && first.message == Some(whole)
        && let (Some(block), Some(char)) = (first.block, first.char)
    {
        kept += message.blocks.iter().take(block).map(|block| measure::block(&block.content).chars).sum::<u64>() + char;
    }
    let tools_differ = comparison.first_difference.as_ref().is_some_and(|first| first.message.is_none());
    // A cache is one model's, and the tools stand before the messages.
    traced.kept_chars = if same_model && !tools_differ { kept.min(traced.chars) } else { 0 };
    let inserted =
        comparison.changes.iter().filter(|change| change.kind == Kind::Inserted).flat_map(|change| &change.b);
    let inserted: u64 = inserted.filter_map(|&at| new.get(at)).map(chars).sum();
    traced.new_chars = inserted.min(traced.chars - traced.kept_chars);
    traced.resent_chars = traced.chars - traced.kept_chars - traced.new_chars;
}
