//! A document whose large texts are left in their file: memory is that of its messages, not of their text.

use std::borrow::Cow;
use std::io::{Read, Seek, Write};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::digest::{Digester, Pending};
use super::walk::{Sink, from_start};
use super::window::Window;
use super::{Options, Place};
use crate::context::{Block, Content, Context, Fingerprint, Form, Json, Message, Piece, Role, Store, Stored, Text};
use crate::read::{self, Format, Input, Line, Reader, Recorded};
use crate::request::{Outcome, RunRequest, Step, ToolCall};

/// What was found in one pass over a document: a request, or a canonical stream.
#[derive(Debug)]
pub struct Outline<'s> {
    kind: Kind<'s>,
    fingerprints: Vec<Fingerprint>,
    digest: Option<Pending>,
}

#[derive(Debug)]
enum Kind<'s> {
    Request {
        head: String,
        steps: Vec<Step<'s>>,
    },
    Stream(Context<'s>),
    /// A request in YAML, without the text of its large block scalars.
    Yaml(read::Outline, &'s Store),
}

/// A document as [`read::read`] gives it.
#[derive(Debug)]
pub struct Kept<'o> {
    /// The document.
    pub input: Input<'o>,
    /// The fingerprints of the messages it gives, in their order; none of a request in YAML.
    pub fingerprints: Vec<Fingerprint>,
    /// The digest of its canonical stream, where it was asked for; not of a request in YAML.
    pub digest: Option<String>,
}

/// Goes through a request, or through a canonical stream. `store` is the same file; what it holds has to stay
/// as it is for as long as the outline is used. `None` says nothing but that the document has to be read whole, or that
/// `stop` was set meanwhile.
pub fn outline<'s, R: Read + Seek + Send>(
    file: &mut R,
    store: &'s Store,
    format: Option<Format>,
    options: Options,
    stop: &AtomicBool,
) -> Option<Outline<'s>> {
    let left = Left { store, shortest: options.sizes.shortest, hashed: options.fingerprints, place: Place::default() };
    let keep = || Keep { left, steps: Vec::new(), fingerprints: Vec::new(), digester: options.digester(), stop };
    match format {
        Some(Format::Yaml) => yaml(file, store, options, stop),
        Some(Format::JsonLines) => stream(file, keep(), options),
        Some(Format::Json) => request(file, keep, options),
        None => request(file, keep, options).or_else(|| yaml(file, store, options, stop)),
    }
}

impl Outline<'_> {
    /// The document; what was kept of it goes over to it. `None` says again that it has to be read whole.
    pub fn input(&mut self) -> Option<Kept<'_>> {
        let fingerprints = mem::take(&mut self.fingerprints);
        let input = match &mut self.kind {
            Kind::Request { head, steps } => {
                let steps = mem::take(steps);
                let request: RunRequest<'_> = read::request(head, Some(Format::Json)).ok()?;
                Input::Request(Box::new(request.with_steps(steps)))
            }
            Kind::Yaml(outline, store) => Input::Request(Box::new(read::outlined_request(outline, store)?)),
            Kind::Stream(context) => {
                Input::Recorded(Recorded { context: mem::take(context), is_stream: true, ..Recorded::default() })
            }
        };
        Some(Kept { input, fingerprints, digest: self.digest.take().map(Pending::wait) })
    }
}

/// Puts the fingerprints that were found on the messages they were found of.
pub fn sign(context: &mut Context<'_>, fingerprints: &[Fingerprint]) {
    for (message, fingerprint) in context.messages.iter_mut().zip(fingerprints) {
        message.fingerprint = Some(*fingerprint);
    }
}

fn request<'s, 'k, R: Read + Seek>(
    file: &mut R,
    keep: impl FnMut() -> Keep<'s, 'k>,
    options: Options,
) -> Option<Outline<'s>> {
    let walked = options.walk().through(file, keep)?;
    let Keep { mut steps, mut fingerprints, digester, .. } = walked.sink;
    steps.shrink_to_fit();
    fingerprints.shrink_to_fit();
    let kind = Kind::Request { head: walked.head, steps };
    Some(Outline { kind, fingerprints, digest: digester.map(Digester::finish) })
}

fn yaml<'s, R: Read + Seek + Send>(
    file: &mut R,
    store: &'s Store,
    options: Options,
    stop: &AtomicBool,
) -> Option<Outline<'s>> {
    let Options { sizes, fingerprints, own_thread, .. } = options;
    let scan = read::Scan { window: sizes.window, least: sizes.shortest, hashed: fingerprints, own_thread };
    Some(Outline { kind: Kind::Yaml(scan.outline(file, stop)?, store), fingerprints: Vec::new(), digest: None })
}

/// Keeps the steps, their text left where it lies, and what their messages are known by.
struct Keep<'s, 'k> {
    left: Left<'s, 'static>,
    steps: Vec<Step<'s>>,
    fingerprints: Vec<Fingerprint>,
    digester: Option<Digester>,
    stop: &'k AtomicBool,
}

impl Keep<'_, '_> {
    fn note(&mut self, message: &Message<'_>) -> Option<()> {
        self.fingerprints.push(match self.left.hashed {
            true => message.fingerprint(),
            false => Fingerprint { len: message.canonical_len(), hash: None },
        });
        if let Some(digester) = &mut self.digester {
            message.write_canonical(digester).ok()?;
        }
        (!self.stop.load(Ordering::Relaxed)).then_some(())
    }
}

impl Sink for Keep<'_, '_> {
    fn begin(&mut self, context: &Context<'_>) -> Option<()> {
        if let Some(digester) = &mut self.digester {
            context.write_tools(digester).ok()?;
        }
        context.messages.iter().try_for_each(|message| self.note(message))
    }

    fn step(&mut self, step: &Step<'_>, place: Place<'_>) {
        self.steps.push(self.left.at(place).step(step));
    }

    fn message(&mut self, message: &Message<'_>, _: Place<'_>) -> Option<()> {
        self.note(message)
    }
}

/// Reads JSON Lines that are the canonical stream of their messages, to the byte.
fn stream<'s, R: Read + Seek>(file: &mut R, mut keep: Keep<'s, '_>, options: Options) -> Option<Outline<'s>> {
    from_start(file)?;
    let mut window = Window::new(file, options.sizes.window, 0)?;
    let mut context = Context::default();
    let mut canonical = Vec::new();
    loop {
        let text = window.text()?;
        let left = keep.left.at(Place { text, start: window.place() });
        let mut used = 0;
        while let Some(len) = memchr::memchr(b'\n', &text.as_bytes()[used..]) {
            let line = &text[used..=used + len];
            used += line.len();
            let node = Reader::new(line, 0).value(0).ok()?;
            let is_first = context.messages.is_empty() && context.tools.is_empty();
            canonical.clear();
            match read::line(&node, context.messages.len(), is_first).ok()? {
                Line::Tools(tools) => {
                    context.tools = tools;
                    context.write_tools(&mut canonical).ok()?;
                    if let Some(digester) = &mut keep.digester {
                        digester.write_all(&canonical).ok()?;
                    }
                }
                Line::Message(message) => {
                    message.write_canonical(&mut canonical).ok()?;
                    keep.note(&message)?;
                    context.messages.push(left.message(&message));
                }
            }
            if canonical != line.as_bytes() {
                return None;
            }
        }
        if window.is_last() {
            let Keep { fingerprints, digester, .. } = keep;
            let digest = digester.map(Digester::finish);
            return (used == text.len()).then_some(Outline { kind: Kind::Stream(context), fingerprints, digest });
        }
        window.drop_start(used);
        window.read_on()?;
    }
}

/// Text is left where it lies, unless it is short or is not written there as it is.
#[derive(Clone, Copy)]
struct Left<'s, 'p> {
    store: &'s Store,
    /// Less is not worth its place, in bytes.
    shortest: usize,
    /// Whether what is left is to be compared.
    hashed: bool,
    place: Place<'p>,
}

impl<'s> Left<'s, '_> {
    fn at(self, place: Place<'_>) -> Left<'s, '_> {
        Left { store: self.store, shortest: self.shortest, hashed: self.hashed, place }
    }

    fn text(self, text: &Text<'_>) -> Text<'s> {
        text.map_pieces(|piece| match piece {
            Piece::Escaped(raw) => self.escaped(raw),
            Piece::Plain(text) => Piece::Plain(Cow::Owned(text.to_string())),
            Piece::Shared(text) => Piece::Shared(text.clone()),
            Piece::Fill(character, count) => Piece::Fill(*character, *count),
            // Left in another store, which may not last.
            Piece::Stored(stored) => stored.load(),
        })
    }

    fn escaped(self, raw: &str) -> Piece<'s> {
        let left = self.place.of(raw.as_bytes()).filter(|_| raw.len() >= self.shortest).and_then(|place| {
            let hash = self.hashed.then(|| xxh3_64(raw.as_bytes()));
            Stored::new(self.store, place, raw.len(), Form::Escaped, hash)
        });
        left.map_or_else(|| Piece::Escaped(Cow::Owned(raw.to_owned())), Piece::Stored)
    }

    fn content(self, content: &Content<'_>) -> Content<'s> {
        content.map(&mut |text| self.text(text), &Json::to_owned)
    }

    fn step(self, step: &Step<'_>) -> Step<'s> {
        let call = |call: &ToolCall<'_>| ToolCall {
            id: self.text(&call.id),
            name: self.text(&call.name),
            input: call.input.map(&mut |text| self.text(text), &Json::to_owned),
            result: call.result.as_ref().map(|result| result.iter().map(|part| self.content(part)).collect()),
            is_error: call.is_error,
            status: call.status,
        };
        Step {
            raw_output: self.text(&step.raw_output),
            outcome: match &step.outcome {
                Outcome::Observation(text) => Outcome::Observation(self.text(text)),
                Outcome::Synthetic(name) => Outcome::Synthetic(Cow::Owned(name.to_string())),
                Outcome::ToolCalls(calls) => Outcome::ToolCalls(calls.iter().map(call).collect()),
            },
            fields: step.fields.iter().map(|(key, text)| (Cow::Owned(key.to_string()), self.text(text))).collect(),
            tokens: step.tokens,
        }
    }

    /// A recorded message.
    fn message(self, message: &Message<'_>) -> Message<'s> {
        let block =
            |block: &Block<'_>| Block { content: self.content(&block.content), origin: block.origin.to_owned() };
        Message {
            role: Role::recorded(Cow::Owned(message.role.as_str().to_owned())),
            blocks: message.blocks.iter().map(block).collect(),
            origin: message.origin.to_owned(),
            fingerprint: None,
        }
    }
}
