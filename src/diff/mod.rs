//! Two contexts: equal or not, on bytes; where they part, what became of which message, and of what kind that is.
//!
//! Nothing is normalised before it is compared. The classes are found afterwards, on what is known to differ.

mod align;
mod class;
pub(crate) mod classify;
mod lines;
mod locate;
mod pair;

use std::num::NonZeroUsize;

pub use align::Kind;
pub use class::Class;
pub use lines::{Hunk, Line, LineSide, differing, hunks};
pub use locate::{FirstDifference, SharedPrefix};

use crate::context::{Block, Content, Context, Message, Origin, Segment, Text, windows};
use crate::measure;
use crate::request::RunRequest;
use pair::text_of;

/// One side of a comparison, before it is compared.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The name it is shown by.
    pub name: &'s str,
    /// The messages.
    pub context: &'s Context<'s>,
    /// What they were assembled from, where that is known: it tells a changed frame from a changed observation.
    pub request: Option<&'s RunRequest<'s>>,
    /// The file's own text, where it is JSON Lines and not the canonical stream of its messages: then its bytes differ
    /// from those of any stream though its messages may not.
    pub spelled: Option<&'s str>,
}

/// What a comparison found; the numbers are exact.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Whether the streams are the same bytes: the canonical streams, and the file's own bytes where it is JSON Lines.
    pub identical: bool,
    /// The first side.
    pub a: Side,
    /// The second side.
    pub b: Side,
    /// What both begin with.
    pub shared_prefix: SharedPrefix,
    /// Where they part; `None` where they do not.
    pub first_difference: Option<FirstDifference>,
    /// What became of which message, in prompt order.
    pub changes: Vec<Change>,
    /// For equal messages in files that spell them differently: how.
    pub spelling: Option<Spelling>,
    /// Whether a stretch of messages was too large for the exact search and was paired in order.
    pub paired_in_order: bool,
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Side {
    /// The name it is shown by.
    pub source: String,
    /// Number of messages.
    pub messages: usize,
    /// Size of all blocks.
    pub size: measure::Size,
    /// Length of the canonical stream in bytes.
    pub bytes: u64,
}

/// Equal messages, and bytes that are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The first byte in which the streams differ, counted from 0.
    pub byte: u64,
    /// Of what kind the difference is.
    pub classes: Vec<Class>,
}

/// What became of some messages.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// What became of them.
    pub kind: Kind,
    /// Messages of the first side, by index; none for the tools.
    pub a: Vec<usize>,
    /// Messages of the second side, by index.
    pub b: Vec<usize>,
    /// Where the first of `a` came from.
    pub origin_a: Option<String>,
    /// Where the first of `b` came from.
    pub origin_b: Option<String>,
    /// Of what kind the difference is, narrowest first; at least one.
    pub classes: Vec<Class>,
}

impl Comparison {
    /// All classes of all changes, each once, in the order of [`Class`].
    pub fn classes(&self) -> Vec<Class> {
        let of_changes = self.changes.iter().flat_map(|change| &change.classes);
        let of_spelling = self.spelling.iter().flat_map(|spelling| &spelling.classes);
        let mut classes: Vec<Class> = of_changes.chain(of_spelling).copied().collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// The changes that lie at the injection slot, between prefix and goal.
    pub fn at_slot(&self) -> impl Iterator<Item = &Change> {
        let in_slot =
            |origin: &Option<String>| origin.as_deref().is_some_and(|o| o.starts_with(Segment::Injections.as_str()));
        self.changes.iter().filter(move |change| in_slot(&change.origin_a) || in_slot(&change.origin_b))
    }
}

/// Compares two contexts by their canonical bytes. More `threads` than one make no difference but in time.
pub fn compare(a: Subject<'_>, b: Subject<'_>, threads: NonZeroUsize) -> Comparison {
    let (side_a, side_b) = (side(a), side(b));
    let (shared_prefix, first_difference) = locate::locate(a.context, b.context, side_a.bytes, side_b.bytes);
    let mut comparison = Comparison {
        identical: first_difference.is_none(),
        a: side_a,
        b: side_b,
        shared_prefix,
        first_difference,
        changes: Vec::new(),
        spelling: None,
        paired_in_order: false,
    };
    if comparison.identical && !same_in_bytes(a.context, b.context) {
        // Two messages have one fingerprint and other bytes: it is left out of account.
        let (context_a, context_b) = (without_fingerprints(a.context), without_fingerprints(b.context));
        return compare(Subject { context: &context_a, ..a }, Subject { context: &context_b, ..b }, threads);
    }
    if comparison.identical {
        comparison.spelling = spelling(a, b);
        comparison.identical = comparison.spelling.is_none();
        return comparison;
    }
    if a.context.tools != b.context.tools {
        let origin = |context: &Context<'_>| (!context.tools.is_empty()).then(|| "tools".to_owned());
        comparison.changes.push(Change {
            kind: Kind::Changed,
            a: Vec::new(),
            b: Vec::new(),
            origin_a: origin(a.context),
            origin_b: origin(b.context),
            classes: vec![Class::Tools],
        });
    }
    let alignment = align::align(&a.context.messages, &b.context.messages, threads);
    comparison.paired_in_order = alignment.in_order;
    comparison.changes.extend(in_two_halves(&alignment.matches, threads, |found| {
        let origin = |context: &Context<'_>, index: Option<usize>| {
            index.and_then(|index| Some(context.messages.get(index)?.origin.to_string()))
        };
        Change {
            origin_a: origin(a.context, found.a.clone().next()),
            origin_b: origin(b.context, found.b.clone().next()),
            classes: classes(a, b, found),
            kind: found.kind,
            a: found.a.clone().collect(),
            b: found.b.clone().collect(),
        }
    }));
    comparison
}

/// Whether messages that have equal fingerprints have equal bytes, too; memory is that of one message a side.
fn same_in_bytes(a: &Context<'_>, b: &Context<'_>) -> bool {
    let bytes = |message: &Message<'_>| {
        let mut bytes = Vec::new();
        message.write_canonical(&mut bytes).expect("a vector takes every write");
        bytes
    };
    std::ptr::eq(a, b)
        || a.messages.iter().zip(&b.messages).all(|(a, b)| {
            let by_fingerprint = a.compared().is_some() && b.compared().is_some();
            !by_fingerprint || bytes(a) == bytes(b)
        })
}

fn without_fingerprints<'c>(context: &'c Context<'_>) -> Context<'c> {
    let mut context: Context<'c> = context.clone();
    context.messages.iter_mut().for_each(|message| message.fingerprint = None);
    context
}

/// What `make` makes of each item, in order; a long list is shared with a second thread.
fn in_two_halves<T: Sync, U: Send>(items: &[T], threads: NonZeroUsize, make: impl Fn(&T) -> U + Sync) -> Vec<U> {
    const SHORT: usize = 64;
    if items.len() < SHORT || threads == NonZeroUsize::MIN {
        return items.iter().map(make).collect();
    }
    let (first, second) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().map(&make).collect::<Vec<_>>());
        let mut made: Vec<U> = first.iter().map(&make).collect();
        match other.join() {
            Ok(rest) => made.extend(rest),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        made
    })
}

/// How two files spell the same messages differently, if they do.
fn spelling(a: Subject<'_>, b: Subject<'_>) -> Option<Spelling> {
    if a.spelled == b.spelled {
        return None;
    }
    let text = |subject: Subject<'_>| match subject.spelled {
        Some(text) => text.to_owned(),
        None => String::from_utf8_lossy(&subject.context.to_canonical()).into_owned(),
    };
    let (text_a, text_b) = (text(a), text(b));
    let byte = text_a.bytes().zip(text_b.bytes()).take_while(|(a, b)| a == b).count() as u64;
    Some(Spelling { byte, classes: classify::classify(&text_a, &text_b) })
}

fn side(subject: Subject<'_>) -> Side {
    Side {
        source: subject.name.to_owned(),
        messages: subject.context.messages.len(),
        size: measure::context(subject.context),
        bytes: subject.context.canonical_len(),
    }
}

/// Of what kind a difference is.
fn classes(a: Subject<'_>, b: Subject<'_>, found: &align::Match) -> Vec<Class> {
    let (messages_a, messages_b) = (&a.context.messages[found.a.clone()], &b.context.messages[found.b.clone()]);
    let mut classes = match (found.kind, messages_a, messages_b) {
        (Kind::Inserted | Kind::Removed | Kind::Moved, ..) => return vec![Class::Content],
        (Kind::Changed, [message_a], [message_b]) if !found.same_text => of_pair(message_a, message_b),
        _ => vec![Class::Boundary],
    };
    let roles = |messages: &[Message<'_>]| messages.iter().map(|m| m.role.as_str().to_owned()).collect::<Vec<_>>();
    let (roles_a, roles_b) = (roles(messages_a), roles(messages_b));
    if roles_a.iter().chain(&roles_b).any(|role| *role != roles_a[0])
        && (found.kind != Kind::Changed || roles_a != roles_b)
    {
        classes.push(Class::Role);
    }
    if let ([message_a], [message_b]) = (messages_a, messages_b)
        && only_frame_changed(a, message_a, b, message_b)
    {
        classes.retain(|class| *class != Class::Content);
        classes.push(Class::Template);
    }
    if classes.is_empty() {
        classes.push(Class::Content);
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// What lies between the blocks of two messages, roles aside; nothing where the blocks are equal.
fn of_pair(a: &Message<'_>, b: &Message<'_>) -> Vec<Class> {
    let mut classes = Vec::new();
    if let (Some(text_a), Some(text_b)) = (only_text(a), only_text(b)) {
        if text_a != text_b {
            classes = of_texts(text_a, text_b);
        }
        return classes;
    }
    if let (Some(text_a), Some(text_b)) = (text_of(a), text_of(b)) {
        if text_a != text_b {
            classes = classify::classify(&text_a, &text_b);
        }
        let moved = text_a == text_b && !a.blocks.iter().map(|b| &b.content).eq(b.blocks.iter().map(|b| &b.content));
        if moved || a.blocks.len() != b.blocks.len() {
            classes.push(Class::Boundary);
        }
        return classes;
    }
    if a.blocks.len() != b.blocks.len() {
        classes.push(Class::Content);
    }
    for (block_a, block_b) in a.blocks.iter().zip(&b.blocks).filter(|(a, b)| a.content != b.content) {
        match (&block_a.content, &block_b.content) {
            (Content::Text(a), Content::Text(b))
            | (Content::Thinking { text: a, .. }, Content::Thinking { text: b, .. })
                if a != b =>
            {
                classes.extend(of_texts(a, b));
            }
            _ => classes.push(Class::Content),
        }
    }
    classes
}

/// Of what kind the difference of two texts is.
fn of_texts(a: &Text<'_>, b: &Text<'_>) -> Vec<Class> {
    /// Wider than any date, id or run of combining marks.
    const AROUND: usize = 256;
    let mut windows = windows(a, b, AROUND);
    if !windows.to_end {
        // What ends the window does not end the text.
        windows.a.push('.');
        windows.b.push('.');
    }
    classify::classify(&windows.a, &windows.b)
}

/// The text of a message that is one block of text.
fn only_text<'m, 'a>(message: &'m Message<'a>) -> Option<&'m Text<'a>> {
    match &*message.blocks {
        [Block { content: Content::Text(text), .. }] => Some(text),
        _ => None,
    }
}

/// Whether two observations are equal and stand in different frames. Where one side is a recorded prompt, its text must
/// hold the other's observation.
fn only_frame_changed(a: Subject<'_>, message_a: &Message<'_>, b: Subject<'_>, message_b: &Message<'_>) -> bool {
    let (Some(text_a), Some(text_b)) = (only_text(message_a), only_text(message_b)) else { return false };
    let is_frame = match (observation_of(a, message_a), observation_of(b, message_b)) {
        (Some(a), Some(b)) => a == b,
        (Some(observation), None) if b.request.is_none() => other_frame(text_b, text_a, observation),
        (None, Some(observation)) if a.request.is_none() => other_frame(text_a, text_b, observation),
        _ => false,
    };
    is_frame && text_a != text_b
}

/// Whether a recorded text holds the observation, and not in the frame that the request's own text has round it: in
/// that frame it would be another observation.
fn other_frame(recorded: &Text<'_>, own: &Text<'_>, observation: &Text<'_>) -> bool {
    if observation.is_empty() || observation.bytes() > recorded.bytes() {
        return false;
    }
    let (recorded, own, observation) = (recorded.to_cow(), own.to_cow(), observation.to_cow());
    let find = |text: &str| memchr::memmem::find(text.as_bytes(), observation.as_bytes());
    let Some(at) = find(&own) else { return false };
    let (before, behind) = (&own[..at], &own[at + observation.len()..]);
    let in_own_frame =
        recorded.len() >= before.len() + behind.len() && recorded.starts_with(before) && recorded.ends_with(behind);
    !in_own_frame && find(&recorded).is_some()
}

/// The observation that a message of a request was made of.
fn observation_of<'s>(subject: Subject<'s>, message: &Message<'_>) -> Option<&'s Text<'s>> {
    let request = subject.request?;
    match message.origin {
        Origin::Observation(step) => request.observation(request.parts().trajectory.get(step)?),
        _ => None,
    }
}
