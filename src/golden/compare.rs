//! One request against the bytes of one golden.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use crate::context::{Canonical, Content, Context, equal_start};
use crate::diff::{self, Class, FirstDifference, Subject};
use crate::error::{Code, Error, Result};
use crate::provider::What;
use crate::read::{self, Format, Input, Recorded};

/// How a golden is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `NAME.render.jsonl`: the canonical stream, byte for byte.
    Stream,
    /// `NAME.render.json`: a list of messages, recorded by other code.
    Json,
    /// `NAME.render.yaml`, `NAME.render.yml`: the same.
    Yaml,
}

impl Form {
    /// What the name of a file says; `None` for one that is no golden.
    pub fn of_path(path: &Path) -> Option<Form> {
        Form::of_name(path.file_name()?.as_encoded_bytes()).map(|(form, _)| form)
    }

    /// The same of the bytes of a name, and what it has in common with that of its request.
    pub(super) fn of_name(name: &[u8]) -> Option<(Form, &[u8])> {
        let (stem, ending) = split_name(name)?;
        let form = match ending {
            b"jsonl" => Form::Stream,
            b"json" => Form::Json,
            b"yaml" | b"yml" => Form::Yaml,
            _ => return None,
        };
        match split_name(stem)? {
            (stem, b"render") => Some((form, stem)),
            _ => None,
        }
    }
}

/// A name and its ending, as paths take them apart: a dot in front begins no ending.
pub(super) fn split_name(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = memchr::memrchr(b'.', name).filter(|dot| *dot > 0)?;
    Some((&name[..dot], &name[dot + 1..]))
}

/// A golden, read whole.
#[derive(Clone, Copy, Debug)]
pub struct Golden<'g> {
    /// The name it is shown by.
    pub name: &'g str,
    /// How it is written.
    pub form: Form,
    /// All of the file.
    pub bytes: &'g [u8],
}

/// How a golden differs from what its request gives.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The digest of the golden: of a stream that of its very bytes.
    pub golden_digest: String,
    /// Where the two part; the golden is side a.
    pub first: Option<FirstDifference>,
    /// Of what kind the differences are.
    pub classes: Vec<Class>,
    /// Where the messages are equal and the bytes of the file are not: the first byte that is not that of the canonical
    /// stream, counted from 0.
    pub golden_byte: Option<u64>,
    /// The text round the first difference, where it lies in blocks of text.
    pub around: Option<Around>,
}

/// The text round a difference: what both have before it, and what each has from it on.
#[derive(Clone, Debug)]
pub struct Around {
    /// In the golden.
    pub golden: [String; 2],
    /// In what the request gives.
    pub request: [String; 2],
}

impl Around {
    /// Characters before and behind.
    const CHARS: usize = 40;
}

/// Whether a golden holds the very bytes of a context's canonical stream; where another code recorded it as a list of
/// messages, whether these have the same canonical stream. Nothing is normalised.
///
/// # Errors
/// Of a list of messages, what is wrong with it.
pub fn is_identical(context: &Context<'_>, golden: Golden<'_>) -> Result<bool> {
    match golden.form {
        Form::Stream => Ok(shared_bytes(context, golden.bytes).is_none()),
        Form::Json | Form::Yaml => {
            let text = decode(golden)?;
            let recorded = recorded(text, golden)?;
            Ok(shared_bytes(context, &recorded.to_canonical()).is_none())
        }
    }
}

/// Compares a context with its golden, and says how they differ, if they do.
///
/// # Errors
/// What is wrong with a golden that is no render, and not equal either.
pub fn compare(subject: Subject<'_>, golden: Golden<'_>) -> Result<Option<Difference>> {
    if is_identical(subject.context, golden)? {
        return Ok(None);
    }
    let text = decode(golden)?;
    let recorded = recorded(text, golden)?;
    let spelled = (golden.form == Form::Stream).then_some(text);
    let side = Subject { name: golden.name, context: &recorded, request: None, spelled };
    let comparison = diff::compare(side, subject, NonZeroUsize::MIN);
    let mut difference = Difference {
        golden_digest: if spelled.is_some() { digest(golden.bytes) } else { recorded.digest() },
        classes: comparison.classes(),
        around: comparison.first_difference.as_ref().and_then(|first| around(first, &recorded, subject.context)),
        first: comparison.first_difference,
        golden_byte: None,
    };
    if difference.first.is_none() {
        let byte = shared_bytes(subject.context, golden.bytes).unwrap_or(0);
        difference.first = Some(spelled_from(byte, golden, &recorded, subject.context));
        difference.golden_byte = Some(byte as u64);
        // The mark is not part of the text that was compared.
        if golden.bytes.len() > text.len() {
            difference.classes = match difference.classes.as_slice() {
                _ if text.as_bytes() == subject.context.to_canonical() => vec![Class::Bom],
                others => [others, &[Class::Bom]].concat(),
            };
            difference.classes.sort_unstable();
        }
    }
    if difference.classes.is_empty() {
        difference.classes.push(Class::Content);
    }
    Ok(Some(difference))
}

pub(super) fn decode(golden: Golden<'_>) -> Result<&str> {
    read::decode(golden.bytes).map_err(|error| error.locate(golden.bytes).with_source(golden.name))
}

/// The messages of a golden.
pub(super) fn recorded<'g>(text: &'g str, golden: Golden<'g>) -> Result<Context<'g>> {
    let named = |error: Error| error.with_source(golden.name);
    let is_request = || {
        named(Error::new(Code::InputShape, "the golden holds a run request, not a render"))
            .with_hint("a golden is what the request beside it gives: polyloop check --accept writes it")
    };
    let format = match golden.form {
        Form::Stream if is_batch(text) => return Err(is_request()),
        Form::Stream => Format::JsonLines,
        Form::Json => Format::Json,
        Form::Yaml => Format::Yaml,
    };
    match read::read(text, Some(format)).map_err(named)? {
        Input::Recorded(Recorded { is_stream: false, .. }) if golden.form == Form::Stream => {
            Err(named(Error::new(Code::InputShape, "the golden is a log, not the canonical stream of a context")))
        }
        Input::Recorded(recorded) => Ok(recorded.context),
        Input::Request(_) => Err(is_request()),
    }
}

/// What of a recorded golden is no part of its context, and so is compared by nothing.
pub(super) fn unmodelled(golden: Golden<'_>) -> Result<Vec<String>> {
    let format = if golden.form == Form::Json { Format::Json } else { Format::Yaml };
    match read::read(decode(golden)?, Some(format)) {
        Ok(Input::Recorded(recorded)) => {
            let keys = recorded.unmodelled.iter().filter(|unmodelled| unmodelled.what == What::Key);
            Ok(keys.map(|key| format!("{:?} at {}", key.name, key.path)).collect())
        }
        // What is wrong with it is said by the comparison.
        _ => Ok(Vec::new()),
    }
}

/// Whether JSON Lines begin with a run request; what cannot be parsed is left to whoever reads it.
fn is_batch(text: &str) -> bool {
    let first = || read::json_lines(text).next().map(|(_, line)| read::looks_like_request(line, Some(Format::Json)));
    matches!(read::is_batch(text), Ok(true)) && matches!(first(), Some(Ok(_)))
}

fn digest(bytes: &[u8]) -> String {
    let mut canonical = Canonical::new(io::sink());
    canonical.write_all(bytes).expect("a sink takes every write");
    canonical.finish().expect("a sink takes every flush").0
}

/// How many bytes a context's canonical stream and some others have in common; `None` where they are the same.
pub(super) fn shared_bytes(context: &Context<'_>, bytes: &[u8]) -> Option<usize> {
    let mut against = Against { rest: bytes };
    let ended = context.write_canonical(&mut against).is_err();
    (ended || !against.rest.is_empty()).then_some(bytes.len() - against.rest.len())
}

/// Takes what is written for as long as it is what is left of some bytes.
struct Against<'b> {
    rest: &'b [u8],
}

impl Write for Against<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.rest;
        if let Some(after) = rest.strip_prefix(bytes) {
            self.rest = after;
            return Ok(bytes.len());
        }
        self.rest = &rest[equal_start(rest, bytes)..];
        Err(io::ErrorKind::InvalidData.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a file whose messages are equal stops being their canonical stream: a message, going by its line.
fn spelled_from(byte: usize, golden: Golden<'_>, recorded: &Context<'_>, context: &Context<'_>) -> FirstDifference {
    let line = memchr::memchr_iter(b'\n', &golden.bytes[..byte]).count();
    let message = line.checked_sub(usize::from(!context.tools.is_empty()));
    let origin = |context: &Context<'_>| match message {
        None => Some("tools".to_owned()),
        Some(index) => context.messages.get(index).map(|message| message.origin.to_string()),
    };
    FirstDifference { origin_a: origin(recorded), origin_b: origin(context), ..FirstDifference::in_message(message) }
}

/// The text on both sides of the place where two blocks of text part.
fn around(first: &FirstDifference, a: &Context<'_>, b: &Context<'_>) -> Option<Around> {
    let (message, block, byte) = (first.message?, first.block?, usize::try_from(first.byte?).ok()?);
    let side = |context: &Context<'_>| {
        let (Content::Text(text) | Content::Thinking { text, .. }) =
            &context.messages.get(message)?.blocks.get(block)?.content
        else {
            return None;
        };
        let text = text.to_cow();
        let (before, after) = text.split_at_checked(byte)?;
        let from = before.char_indices().rev().take(Around::CHARS).last().map_or(byte, |(at, _)| at);
        let to = after.char_indices().nth(Around::CHARS).map_or(text.len(), |(at, _)| byte + at);
        Some([&text[from..byte], &text[byte..to]].map(str::to_owned))
    };
    Some(Around { golden: side(a)?, request: side(b)? })
}
