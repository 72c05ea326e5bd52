//! The record of a selection, `polyloop.manifest/1`: what went in, what stayed out, and why.

mod document;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::conflicts::OpenQuestion;
use super::ledger::{declared_tokens, responsibility_of};
use super::{Excluded, Included, Reason, Rule, Selection};
use crate::context::{Canonical, Context, Message, Origin, Segment};
use crate::measure::{self, Verdict};
use crate::request::{ContentHash, Layer, Responsibility, Run, RunRequest, Trust, Unit};

/// A manifest. Contents are in it only where they are asked for.
#[derive(Clone, Debug)]
pub struct Manifest<'s> {
    /// `ctx_` and the first twelve hex digits of the digest.
    pub context_id: String,
    /// Identity of the run.
    pub run: &'s Run<'s>,
    /// What sizes are counted in: window, what is reserved, available and used.
    pub unit: Unit,
    /// What the model takes in all.
    pub window: Option<u64>,
    /// What is kept free for the answer.
    pub reserved_output: u64,
    /// What is left for messages.
    pub available: Option<u64>,
    /// What all messages come to, as far as it is known.
    pub used: u64,
    /// What the budgets say.
    pub verdict: Verdict,
    /// What is in, in prompt order, the segments included.
    pub entries: Vec<Entry<'s>>,
    /// What is out, in the order of the request.
    pub excluded: &'s [Excluded<'s>],
    /// Claims that contradict one another.
    pub open_questions: &'s [OpenQuestion<'s>],
    /// Segments that gave no message.
    pub empty_segments: Vec<Segment>,
    /// All eight layers, in prompt order.
    pub layers: Vec<LayerDigest>,
    /// What the prompt is made of, hashed: equal keys say that it can be used again, not that it still holds.
    pub cache_key: ContentHash,
    /// `sha256:` and hex of the canonical stream.
    pub digest: String,
    selection: &'s Selection<'s>,
    show_content: bool,
}

/// Something that is in.
#[derive(Clone, Debug, Serialize)]
pub struct Entry<'s> {
    /// The fragment's id; none for what is part of a segment.
    pub id: Option<&'s str>,
    /// Where it comes from in the request.
    pub origin: String,
    /// The kind of a fragment, or the name of a segment.
    pub kind: &'static str,
    /// Where it stands.
    pub layer: Layer,
    /// What it draws on.
    pub responsibility: Responsibility,
    /// Where the project has it from.
    pub source_ref: Option<&'s str>,
    /// Which state of the source it is.
    pub version: Option<&'s str>,
    /// Where its text comes from; of a segment nothing is said.
    pub trust: Option<Trust>,
    /// Its priority; of a segment nothing is said.
    pub priority: Option<i64>,
    /// Whether it had to be in.
    pub required: bool,
    /// Its size in the prompt, frame included.
    pub chars: u64,
    /// Its declared size.
    pub tokens: Option<u64>,
    /// Of the content as it was given, whole and without a frame.
    pub content_hash: ContentHash,
    /// What was done to it, in that order and joined by `+`: `lines_40_132`, `trim_head`, `template`; or `none`.
    pub transform: String,
    /// Whether some of it is missing.
    pub truncated: bool,
    /// What was kept of it, if some is missing; a list of two where the middle is missing.
    pub kept: Option<Kept>,
    /// Why the project offers it; or the rule by which it is in: `segment`, `required`, `floor`, `fitted`.
    pub reason: &'s str,
    /// The places of its messages in the context.
    pub messages: Vec<usize>,
}

/// What was kept of a text: the ranges, and of how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// In characters of the content.
    pub ranges: Vec<std::ops::Range<u64>>,
    /// All of the content, in characters.
    pub of: u64,
}

/// What a layer comes to.
#[derive(Clone, Debug, Serialize)]
pub struct LayerDigest {
    /// Which.
    pub layer: Layer,
    /// The size of its messages.
    pub chars: u64,
    /// `sha256:` and hex of its lines of the canonical stream.
    pub digest: String,
}

impl<'s> Manifest<'s> {
    pub(super) fn of(selection: &'s Selection<'s>) -> Self {
        let Selection { request, context, space, .. } = selection;
        let (layers, digest) = digests(request, context);
        let entries = entries(selection);
        let is_empty = |segment: &Segment| {
            *segment != Segment::Fragments
                && !context.messages.iter().any(|message| message.origin.segment() == *segment)
        };
        Manifest {
            context_id: format!("ctx_{}", digest.trim_start_matches("sha256:").get(..12).unwrap_or_default()),
            run: &request.parts().run,
            unit: space.unit,
            window: space.window,
            reserved_output: space.reserved_output,
            available: space.available,
            used: space.used,
            verdict: space.verdict,
            excluded: &selection.excluded,
            open_questions: &selection.open_questions,
            empty_segments: Segment::OF_REQUEST.into_iter().filter(is_empty).collect(),
            layers,
            cache_key: cache_key(request, &entries),
            digest,
            entries,
            selection,
            show_content: false,
        }
    }

    /// The same with the content of what is in and out.
    #[must_use]
    pub fn with_content(mut self) -> Self {
        self.show_content = true;
        self
    }

    /// How many fragments are out for each reason there is.
    pub fn excluded_counts(&self) -> BTreeMap<Reason, usize> {
        let mut counts = BTreeMap::new();
        self.excluded.iter().for_each(|excluded| *counts.entry(excluded.reason).or_default() += 1);
        counts
    }
}

impl Rule {
    /// The word for it, as in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Required => "required",
            Rule::Floor => "floor",
            Rule::Fitted => "fitted",
        }
    }
}

/// One for each fragment, each message of a segment, and each step whole.
fn entries<'s>(selection: &'s Selection<'s>) -> Vec<Entry<'s>> {
    let Selection { request, context, included, .. } = selection;
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(message) = context.messages.get(at) {
        let rest = &context.messages[at..];
        let count = match step_of(message) {
            None => 1,
            step => rest.iter().take_while(|message| step_of(message) == step).count(),
        };
        let messages = &rest[..count];
        let found = match message.origin {
            Origin::Fragment { index, .. } => included.binary_search_by_key(&index, |included| included.index).ok(),
            _ => None,
        };
        entries.extend(match found {
            Some(found) => Some(of_fragment(request, &included[found], message, at)),
            None => of_segment(request, messages, at),
        });
        at += count;
    }
    entries
}

fn step_of(message: &Message<'_>) -> Option<usize> {
    match message.origin {
        Origin::RawOutput(step) | Origin::Observation(step) | Origin::ToolCall { step, .. } => Some(step),
        _ => None,
    }
}

fn of_fragment<'s>(
    request: &'s RunRequest<'s>,
    included: &'s Included<'s>,
    message: &Message<'_>,
    at: usize,
) -> Entry<'s> {
    let Included { fragment, cut, rule, .. } = included;
    let mut transforms = Vec::new();
    if let Some(lines) = fragment.file().and_then(|file| file.lines) {
        transforms.push(format!("lines_{}_{}", lines.first(), lines.last()));
    }
    if let Some(cut) = cut {
        transforms.push(format!("trim_{}", cut.keep().as_str()));
    }
    if request.frame().is_some() {
        transforms.push("template".to_owned());
    }
    Entry {
        id: Some(&fragment.id),
        origin: message.origin.to_string(),
        kind: fragment.kind.as_str(),
        layer: fragment.kind.layer(),
        responsibility: fragment.kind.layer().responsibility(),
        source_ref: fragment.source_ref.as_deref(),
        version: fragment.version.as_deref(),
        trust: Some(fragment.trust),
        priority: Some(fragment.priority),
        required: included.required,
        chars: measure::message(message).chars,
        tokens: fragment.tokens,
        content_hash: ContentHash::of(fragment.content().unwrap_or_default()),
        transform: if transforms.is_empty() { "none".to_owned() } else { transforms.join("+") },
        truncated: cut.is_some(),
        kept: cut.as_ref().map(|cut| Kept { ranges: cut.kept().collect(), of: cut.of_chars() }),
        reason: fragment.reason.as_deref().unwrap_or(rule.as_str()),
        messages: vec![at],
    }
}

fn of_segment<'s>(request: &'s RunRequest<'s>, messages: &[Message<'s>], at: usize) -> Option<Entry<'s>> {
    let first = messages.first()?;
    let responsibility = responsibility_of(first)?;
    let step = step_of(first);
    let is_framed = messages.iter().any(|message| matches!(message.origin, Origin::Observation(_)));
    Some(Entry {
        id: None,
        origin: step.map_or_else(|| first.origin.to_string(), |step| format!("trajectory[{step}]")),
        kind: first.origin.segment().as_str(),
        layer: responsibility.layer(),
        responsibility,
        source_ref: None,
        version: None,
        trust: None,
        priority: None,
        required: true,
        chars: messages.iter().map(measure::message).sum::<measure::Size>().chars,
        tokens: declared_tokens(request, first),
        content_hash: ContentHash::of(messages.iter().flat_map(|message| &message.blocks).map(|block| &block.content)),
        transform: if is_framed { "template" } else { "none" }.to_owned(),
        truncated: false,
        kept: None,
        reason: "segment",
        messages: (at..at + messages.len()).collect(),
    })
}

/// The digest of each layer, and that of all; every message is written once.
fn digests(request: &RunRequest<'_>, context: &Context<'_>) -> (Vec<LayerDigest>, String) {
    struct Both<'w>(&'w mut Canonical<io::Sink>, &'w mut Canonical<io::Sink>);
    impl Write for Both<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write_all(bytes)?;
            self.1.write_all(bytes)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let finish = |canonical: Canonical<io::Sink>| canonical.finish().expect("a sink takes every flush").0;
    let mut all = Canonical::new(io::sink());
    context.write_tools(&mut all).expect("a sink takes every write");
    let mut messages = context.messages.iter().peekable();
    let of_layer = |layer| {
        let (mut own, mut chars) = (Canonical::new(io::sink()), 0);
        while let Some(message) = messages.next_if(|message| layer_of(request, message) == Some(layer)) {
            message.write_canonical(&mut Both(&mut own, &mut all)).expect("a sink takes every write");
            chars += measure::message(message).chars;
        }
        LayerDigest { layer, chars, digest: finish(own) }
    };
    let layers = Layer::all().map(of_layer).collect();
    (layers, finish(all))
}

fn layer_of(request: &RunRequest<'_>, message: &Message<'_>) -> Option<Layer> {
    match message.origin {
        Origin::Fragment { index, .. } => request.parts().fragments.get(index).map(|fragment| fragment.kind.layer()),
        _ => responsibility_of(message).map(Responsibility::layer),
    }
}

/// The key under which the prompt may be kept: versions, and the hashes of all contents in prompt order.
fn cache_key(request: &RunRequest<'_>, entries: &[Entry<'_>]) -> ContentHash {
    let parts = request.parts();
    let hashes: Vec<ContentHash> = entries.iter().map(|entry| entry.content_hash).collect();
    let run = &parts.run;
    let key = (&run.agent_version, &run.policy_version, &parts.state.revision, &run.capability_set_version, hashes);
    ContentHash::of_bytes(&serde_json::to_vec(&key).expect("strings and numbers are JSON"))
}
