//! What a render amounts to, computed once for every view; and its JSON document, `polyloop.render/1`.

use std::cell::OnceCell;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::diff::DiffReport;
use super::words::thousands;
use crate::context::{Block, Content, Context, Message, Origin, Segment};
use crate::diff::{Comparison, Subject};
use crate::measure::{self, Size, Verdict};
use crate::provider::{Repair, Shape};
use crate::read::{Call, Recorded};
use crate::request::{Run, RunRequest, Warning};
use crate::select::{Manifest, Reason, Selection};

/// A context with its sizes, digest and verdicts.
#[derive(Debug)]
pub struct Report<'r> {
    /// The name it is shown by.
    pub source: &'r str,
    /// What was assembled or read.
    pub context: &'r Context<'r>,
    /// What it was assembled from, where the input was a request.
    pub request: Option<&'r RunRequest<'r>>,
    /// Identity of the run, where the input was a request.
    pub run: Option<&'r Run<'r>>,
    /// Messages and sizes by segment, in the order of [`Segment::OF_REQUEST`].
    pub segments: [(Segment, Tally); 5],
    /// Messages and sizes of everything.
    pub total: Tally,
    /// Size of the tool schemas as compact JSON.
    pub tools: Size,
    digest: OnceCell<String>,
    /// The budget, if there is one.
    pub max_prompt_chars: Option<u64>,
    /// What the budget says.
    pub verdict: Verdict,
    /// What lies between prefix and goal, where the input was a request.
    pub slot: Option<Slot>,
    /// How many of how many completed steps were assembled, where the input was a request.
    pub steps: Option<(usize, usize)>,
    /// What is allowed and probably not meant.
    pub warnings: Vec<Warning>,
    /// The recorded prompt, where the input was one.
    pub recorded: Option<&'r Recorded<'r>>,
    /// Results that were added for calls without one; none unless that was asked for.
    pub repairs: Option<Vec<Repair>>,
    /// What was selected, where there was anything to select.
    pub selection: Option<&'r Selection<'r>>,
    manifest: OnceCell<Manifest<'r>>,
    /// The comparison with an earlier render, and that render.
    pub previous: Option<(Comparison, Subject<'r>)>,
}

/// A number of messages and blocks, and their size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Number of messages.
    pub messages: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// Their size.
    pub size: Size,
}

/// The injection slot.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Slot {
    /// Number of channels, with entries or without.
    #[serde(skip)]
    pub channels: usize,
    /// Number of entries in all channels.
    pub entries: usize,
    /// Number of messages they gave.
    pub messages: usize,
    /// Whether there is no entry.
    pub empty: bool,
    /// Whether the canonical stream is byte for byte that of the request without the slot.
    pub equal_to_no_slot: bool,
}

impl<'r> Report<'r> {
    /// Measures a context; `request` is what it was assembled from, if it was.
    pub fn new(source: &'r str, context: &'r Context<'r>, request: Option<&'r RunRequest<'r>>) -> Self {
        let mut segments = Segment::OF_REQUEST.map(|segment| (segment, Tally::default()));
        let mut total = Tally::default();
        for message in &context.messages {
            total.add(message);
            if let Some((_, tally)) = segments.iter_mut().find(|(segment, _)| *segment == message.origin.segment()) {
                tally.add(message);
            }
        }
        let parts = request.map(RunRequest::parts);
        let max_prompt_chars = parts.and_then(|parts| parts.max_prompt_chars);
        let in_slot = segments[1].1.messages;
        Report {
            source,
            context,
            request,
            run: parts.map(|parts| &parts.run),
            segments,
            total,
            tools: measure::tools(context),
            digest: OnceCell::new(),
            max_prompt_chars,
            verdict: Verdict::of(total.size, max_prompt_chars),
            slot: parts.map(|parts| {
                let entries = parts.injections.values().map(Vec::len).sum();
                let channels = parts.injections.len();
                Slot { channels, entries, messages: in_slot, empty: entries == 0, equal_to_no_slot: in_slot == 0 }
            }),
            steps: parts.map(|parts| (assembled_steps(context), parts.trajectory.len())),
            warnings: warnings(context, request),
            recorded: None,
            repairs: None,
            selection: None,
            manifest: OnceCell::new(),
            previous: None,
        }
    }

    /// Measures what was selected.
    pub fn of_selection(source: &'r str, selection: &'r Selection<'r>) -> Self {
        let mut report = Report::new(source, &selection.context, Some(selection.request));
        report.verdict = selection.space.verdict;
        report.warnings.extend(selection.warnings.iter().cloned());
        report.selection = Some(selection);
        report
    }

    /// Warns of what was recorded and is not part of the context.
    pub fn note_recorded(&mut self, recorded: &'r Recorded<'r>) {
        self.recorded = Some(recorded);
        self.warnings.extend(recorded.unmodelled.iter().map(|unmodelled| Warning {
            code: unmodelled.code(),
            path: unmodelled.path.clone(),
            message: unmodelled.in_words(),
        }));
    }

    /// The record of the selection, and by the way the digest; made when it is first asked for.
    pub fn manifest(&self) -> Option<&Manifest<'r>> {
        let selection = self.selection?;
        let manifest = self.manifest.get_or_init(|| selection.manifest());
        self.set_digest(manifest.digest.clone());
        Some(manifest)
    }

    /// Why it is not known whether all of it fits, where the selection cannot say.
    pub fn unknown_in_words(&self) -> Option<String> {
        unknown_in_words(&self.selection?.space.unknown)
    }

    /// `sha256:` and hex of the canonical stream; made when it is first asked for.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| self.context.digest())
    }

    /// Takes a digest that was found on the way.
    pub fn set_digest(&self, digest: String) {
        // One that is there already is the same.
        let _ = self.digest.set(digest);
    }

    /// Whether the digest is known already.
    pub fn has_digest(&self) -> bool {
        self.digest.get().is_some()
    }

    /// The comparison with an earlier render, which is side a.
    pub fn diff(&self) -> Option<DiffReport<'_>> {
        let (comparison, earlier) = self.previous.as_ref()?;
        Some(DiffReport { comparison, a: *earlier, b: self.subject(), wire: None })
    }

    /// This render as a side of a comparison.
    pub fn subject(&self) -> Subject<'r> {
        Subject { name: self.source, context: self.context, request: self.request, spelled: None }
    }

    /// Characters over the budget; 0 where it is not passed.
    pub fn over_by(&self) -> u64 {
        self.max_prompt_chars.map_or(0, |limit| self.total.size.chars.saturating_sub(limit))
    }

    /// The largest messages, largest first, those of one size in prompt order: index and size.
    pub fn largest(&self, count: usize) -> Vec<(usize, Size)> {
        let mut sizes: Vec<_> = self.context.messages.iter().map(measure::message).enumerate().collect();
        sizes.sort_by_key(|&(index, size)| (std::cmp::Reverse(size.chars), index));
        sizes.truncate(count);
        sizes
    }
}

/// What is not known of the sizes of a selection.
pub(super) fn unknown_in_words(unknown: &[String]) -> Option<String> {
    const NAMED: usize = 3;
    let first = unknown.first()?;
    let mut words = format!("no tokens are declared for {first}");
    unknown.iter().take(NAMED).skip(1).for_each(|origin| words += &format!(", {origin}"));
    if unknown.len() > NAMED {
        words += &format!(" and {} more", unknown.len() - NAMED);
    }
    Some(words)
}

/// How many fragments are out, and why.
pub(super) fn out_in_words(selection: &Selection<'_>) -> String {
    let of = |reason: &Reason| selection.excluded.iter().filter(|excluded| excluded.reason == *reason).count();
    let by_reason = Reason::ALL.iter().map(|reason| (of(reason), reason.as_str())).filter(|(count, _)| *count > 0);
    let by_reason: Vec<String> =
        by_reason.map(|(count, reason)| format!("{} {reason}", thousands(count as u64))).collect();
    let out = thousands(selection.excluded.len() as u64);
    if by_reason.is_empty() { format!("{out} out") } else { format!("{out} out ({})", by_reason.join(", ")) }
}

impl Tally {
    fn add(&mut self, message: &Message<'_>) {
        self.messages += 1;
        self.blocks += message.blocks.len();
        self.size += measure::message(message);
    }
}

/// Every step begins with what the model said.
fn assembled_steps(context: &Context<'_>) -> usize {
    context.messages.iter().filter(|message| matches!(message.origin, Origin::RawOutput(_))).count()
}

fn warnings(context: &Context<'_>, request: Option<&RunRequest<'_>>) -> Vec<Warning> {
    let mut warnings = request.map_or_else(Vec::new, |request| request.warnings().to_vec());
    for message in &context.messages {
        let warning =
            |code, message_text: String| Warning { code, path: message.origin.to_string(), message: message_text };
        if let crate::context::Role::Other(role) = &message.role {
            warnings
                .push(warning("roles.unknown", format!("{role:?} is no role polyloop knows; it is kept as recorded")));
        }
        if message.origin.segment() == Segment::Injections && measure::message(message) == Size::default() {
            warnings.push(warning(
                "slot.empty_message",
                "an entry without text still gives one empty message: this is not equal to no slot".to_owned(),
            ));
        }
    }
    warnings
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", "polyloop.render/1")?;
        map.serialize_entry("source", self.source)?;
        map.serialize_entry("run", &self.run)?;
        map.serialize_entry("messages", &Messages(self.context))?;
        map.serialize_entry("tools", &Tools { count: self.context.tools.len(), chars: self.tools.chars })?;
        map.serialize_entry("segments", &Segments(&self.segments))?;
        map.serialize_entry(
            "total",
            &Sums { messages: Some(self.total.messages), blocks: Some(self.total.blocks), size: self.total.size },
        )?;
        map.serialize_entry("digest", self.digest())?;
        let budget = Budget {
            max_prompt_chars: self.max_prompt_chars,
            used_chars: self.total.size.known_chars(),
            verdict: self.verdict,
        };
        map.serialize_entry("budget", &budget)?;
        map.serialize_entry("slot", &self.slot)?;
        if let Some(Recorded { shape, call, .. }) = self.recorded.filter(|recorded| recorded.is_body()) {
            map.serialize_entry("recorded", &From { shape: shape.map(Shape::as_str), call: call.as_ref() })?;
        }
        if let Some(repairs) = &self.repairs {
            map.serialize_entry("repairs", repairs)?;
        }
        map.serialize_entry("warnings", &self.warnings)?;
        if let Some(manifest) = self.manifest() {
            map.serialize_entry("manifest", manifest)?;
        }
        if let Some(previous) = self.diff() {
            map.serialize_entry("previous", &previous)?;
        }
        map.end()
    }
}

/// What a recorded prompt was read from.
#[derive(Serialize)]
struct From<'r> {
    shape: Option<&'static str>,
    call: Option<&'r Call>,
}

#[derive(Serialize)]
struct Tools {
    count: usize,
    chars: u64,
}

#[derive(Serialize)]
struct Budget {
    max_prompt_chars: Option<u64>,
    used_chars: Option<u64>,
    verdict: Verdict,
}

struct Segments<'s>(&'s [(Segment, Tally); 5]);

impl Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(segment, tally)| {
            (segment.as_str(), Sums { messages: Some(tally.messages), blocks: None, size: tally.size })
        }))
    }
}

/// Counts and sizes. A sum that holds something unmeasured is `null`, with the known part beside it.
struct Sums {
    messages: Option<usize>,
    blocks: Option<usize>,
    size: Size,
}

impl Serialize for Sums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(messages) = self.messages {
            map.serialize_entry("messages", &messages)?;
        }
        if let Some(blocks) = self.blocks {
            map.serialize_entry("blocks", &blocks)?;
        }
        size_entries(&mut map, self.size)?;
        map.end()
    }
}

fn size_entries<M: SerializeMap>(map: &mut M, size: Size) -> Result<(), M::Error> {
    map.serialize_entry("chars", &size.known_chars())?;
    map.serialize_entry("bytes", &size.known_bytes())?;
    if size.unmeasured > 0 {
        map.serialize_entry("known_chars", &size.chars)?;
        map.serialize_entry("known_bytes", &size.bytes)?;
    }
    Ok(())
}

struct Messages<'c>(&'c Context<'c>);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct One<'c>(usize, &'c Message<'c>);
        impl Serialize for One<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let One(index, message) = self;
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("index", index)?;
                map.serialize_entry("role", message.role.as_str())?;
                map.serialize_entry("blocks", &Blocks(&message.blocks))?;
                size_entries(&mut map, measure::message(message))?;
                map.end()
            }
        }
        serializer.collect_seq(self.0.messages.iter().enumerate().map(|(index, message)| One(index, message)))
    }
}

struct Blocks<'c>(&'c [Block<'c>]);

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct One<'c>(&'c Block<'c>);
        impl Serialize for One<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.0.content.entries(&mut map)?;
                map.serialize_entry("origin", &self.0.origin)?;
                // An image says its own size already.
                let size = measure::block(&self.0.content);
                match self.0.content {
                    Content::Image { chars: Some(_), .. } => map.serialize_entry("bytes", &size.known_bytes())?,
                    _ => size_entries(&mut map, size)?,
                }
                map.end()
            }
        }
        let mut seq = serializer.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|block| seq.serialize_element(&One(block)))?;
        seq.end()
    }
}
