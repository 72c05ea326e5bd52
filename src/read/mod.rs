//! Bytes to request or context: formats, shapes, limits.
//!
//! A document is decoded ([`decode`]: UTF-8, byte order mark), parsed into nodes that know where they stand (JSON with
//! serde_json, YAML by the 1.2 core schema), and read as what its shape says it is.

mod blocks;
mod calls;
mod fields;
mod folder;
mod fragments;
mod lines;
mod messages;
mod outline;
#[cfg(test)]
mod outline_tests;
mod pieces;
mod plain;
mod position;
mod recorded;
mod request;
mod session;
mod state;
mod yaml;

pub(crate) use crate::context::reader::Reader;
pub(crate) use fields::Path as NodePath;
pub(crate) use messages::{Line, line};
pub(crate) use outline::{Outline, Scan};
pub(crate) use pieces::whole_chars;
pub(crate) use request::step;

pub use crate::context::node::limits;
pub use calls::{Calls, LoggedCall, calls};
pub use folder::Folder;
pub use recorded::{As, Call};
pub use session::{Session, SessionCall};

use std::path::Path;

use crate::context::{Context, Json, Store, node, reader as json};
use crate::error::{Code, Error, Position, Result};
use crate::provider::{Shape, Unmodelled, Wire};
use crate::request::RunRequest;
use node::{Node, Value};

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON value.
    Json,
    /// One YAML document.
    Yaml,
    /// One JSON value a line.
    JsonLines,
}

/// What a document turned out to be.
#[derive(Debug)]
pub enum Input<'a> {
    /// A run request, to be assembled.
    Request(Box<RunRequest<'a>>),
    /// A recorded prompt: a canonical stream, a list of messages, a provider's body, or one call of a log.
    Recorded(Recorded<'a>),
}

/// A prompt that was recorded.
#[derive(Debug, Default)]
pub struct Recorded<'a> {
    /// The messages.
    pub context: Context<'a>,
    /// For JSON Lines: the first byte at which the file is not the canonical stream of its own messages, counted from 0.
    /// The messages may be equal and the bytes not (other white space, CRLF, no final newline).
    pub not_canonical_at: Option<usize>,
    /// Whether it is JSON Lines, and so claims to be a canonical stream.
    pub is_stream: bool,
    /// The shape of a provider's body, where it has one.
    pub shape: Option<Shape>,
    /// The body it was read from; none of a canonical stream and of a session.
    pub wire: Option<Box<Wire<'a>>>,
    /// Which call of a log it is, if it is one.
    pub call: Option<Call>,
    /// What was recorded and is not part of the context.
    pub unmodelled: Vec<Unmodelled>,
}

impl Recorded<'_> {
    /// Whether it is more than a stream or a list of messages: a body, a call of a log, or a session.
    pub fn is_body(&self) -> bool {
        self.call.is_some() || self.shape.is_some() && self.wire.as_deref().is_none_or(Wire::is_map)
    }
}

impl Format {
    /// What a file name says: `.json`, `.yaml`, `.yml`, `.jsonl`, `.ndjson`; anything else says nothing.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            _ => None,
        }
    }

    /// What the content says: text that begins like JSON is JSON if its first line, or the whole, is a JSON value.
    pub fn of_content(text: &str) -> Format {
        if !text.trim_start().starts_with(['{', '[']) {
            return Format::Yaml;
        }
        let is_json = |text: &str| serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first_line_is_json = lines.next().is_some_and(is_json);
        match (first_line_is_json, lines.next().is_some()) {
            (true, true) => Format::JsonLines,
            (true, false) => Format::Json,
            // Flow style in YAML begins like JSON; what is neither is most likely broken JSON.
            _ if is_json(text) || yaml::parse(text).is_err() => Format::Json,
            _ => Format::Yaml,
        }
    }
}

/// Checks the size and the encoding, and drops a leading byte order mark.
///
/// # Errors
/// `request.limit` past [`limits::DOCUMENT_BYTES`]; `request.encoding` with the position of the first byte that is not
/// UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str> {
    if bytes.len() > limits::DOCUMENT_BYTES {
        return Err(node::limit_error("the document is too large", format_args!("{} bytes", limits::DOCUMENT_BYTES)));
    }
    let text = simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, ..] | [_, 0, ..]);
        encoding_error(at, format!("byte 0x{:02x} is not UTF-8", bytes[at]), wide)
    })?;
    if matches!(bytes, [0, ..] | [_, 0, ..]) {
        return Err(encoding_error(0, "the document holds NUL bytes".to_owned(), true));
    }
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    if rest.starts_with('\u{feff}') {
        return Err(encoding_error(0, "the document begins with two byte order marks".to_owned(), false)
            .with_hint("one at most is dropped: remove them"));
    }
    Ok(rest)
}

fn encoding_error(at: usize, message: String, wide: bool) -> Error {
    let hint = if wide { "is this UTF-16 or UTF-32? save it as UTF-8" } else { "save the file as UTF-8" };
    Error::new(Code::RequestEncoding, message).with_hint(hint).with_span(at..at + 1)
}

/// Reads one document. `format` is what the name says; without it the content decides.
///
/// # Errors
/// Everything that can be wrong with a document, with its place in `text`.
pub fn read<'a>(text: &'a str, format: Option<Format>) -> Result<Input<'a>> {
    read_as(text, format, As::default())
}

/// The same, with what is known of a recorded prompt.
///
/// # Errors
/// As [`read`]; `usage.arguments` for a call that the log does not hold.
pub fn read_as<'a>(text: &'a str, format: Option<Format>, taken: As) -> Result<Input<'a>> {
    let format = format.unwrap_or_else(|| Format::of_content(text));
    if format == Format::JsonLines {
        return match lines_are(text)? {
            Lines::Stream if taken.shape.is_none() => stream(text, taken).map(Input::Recorded),
            Lines::Log => recorded::log(json_lines(text), taken).map(Input::Recorded),
            // One message a line is a stream whatever shape its messages have.
            _ => stream(text, taken).map(Input::Recorded),
        };
    }
    let root = parse(text, format).map_err(|error| error.locate(text.as_bytes()))?;
    let json = (format == Format::Json).then_some(text);
    input(root, text, json, taken).map_err(|error| error.locate(text.as_bytes()))
}

/// Reads one document that must be a run request.
///
/// # Errors
/// As [`read`]; `input.shape` for a recorded prompt.
pub fn request<'a>(text: &'a str, format: Option<Format>) -> Result<RunRequest<'a>> {
    match read(text, format)? {
        Input::Request(request) => Ok(*request),
        Input::Recorded(_) => Err(Error::new(Code::InputShape, "this is a list of messages, not a run request")
            .with_hint("a run request is a map with keys such as prefix, goal and trajectory")),
    }
}

/// Reads a list whose items are taken as they are, in canonical spelling: messages or tools in their wire form.
///
/// # Errors
/// Those of the syntax, with their place in `text`; `input.shape` for anything but a list.
pub fn json_items(text: &str, format: Option<Format>) -> Result<Vec<Json<'static>>> {
    let items = || match parse(text, format.unwrap_or_else(|| Format::of_content(text)))?.value {
        Value::List(items) => items.iter().map(Node::to_json).collect(),
        _ => Err(Error::new(Code::InputShape, "this is not a list")),
    };
    items().map_err(|error: Error| error.locate(text.as_bytes()))
}

/// Reads a map of channels to entries, as it stands under `injections` in a request, or under that key alone: the entries in
/// slot order, with their channels and as they were written.
pub(crate) fn injections<'a>(text: &'a str, format: Option<Format>) -> Result<Vec<request::Written<'a>>> {
    let root = parse(text, format.unwrap_or_else(|| Format::of_content(text)))
        .map_err(|error| error.locate(text.as_bytes()))?;
    request::written_injections(&root).map_err(|error| error.locate(text.as_bytes()))
}

/// Reads the outline of a document as the run request it is; the text that was taken out stays in `store`, which is the
/// document's file. What is wrong with it, and documents of other kinds, are to be read whole: [`read`] finds the words.
pub(crate) fn outlined_request<'a>(outline: &'a Outline, store: &'a Store) -> Option<RunRequest<'a>> {
    let root = yaml::parse_outline(outline, store).ok()?;
    match input(root, &outline.text, None, As::default()) {
        Ok(Input::Request(request)) if store.check().is_ok() => Some(*request),
        _ => None,
    }
}

/// Gives an error that has a path, of a rule that was broken after the document was read, its line and column there.
pub fn place(error: Error, text: &str, format: Option<Format>) -> Error {
    if error.path().is_none() || error.position().is_some() || error.source_name().is_some() {
        return error;
    }
    match parse(text, format.unwrap_or_else(|| Format::of_content(text))) {
        Ok(root) => position::place(error, &root, text).locate(text.as_bytes()),
        Err(_) => error,
    }
}

/// The line and column of the parts of a document that stand at some paths; nothing for a path that leads nowhere.
pub fn positions(text: &str, format: Option<Format>, paths: &[String]) -> Vec<Option<Position>> {
    match parse(text, format.unwrap_or_else(|| Format::of_content(text))) {
        Ok(root) => position::positions(&root, text, paths),
        Err(_) => vec![None; paths.len()],
    }
}

/// Whether a document that no golden vouches for is meant as a run request: it has a key that only a request has, or no
/// other keys than those of a request. What is neither a map nor a list is taken for a faulty request.
///
/// # Errors
/// Those of the syntax, with their place in `text`.
pub fn looks_like_request(text: &str, format: Option<Format>) -> Result<bool> {
    let format = format.unwrap_or_else(|| Format::of_content(text));
    let root = parse(text, format).map_err(|error| error.locate(text.as_bytes()))?;
    Ok(match &root.value {
        Value::List(_) => false,
        Value::Map(entries) if entries.is_empty() => false,
        Value::Map(_) if is_report(&root) => false,
        Value::Map(_) => request::is_meant(&root),
        _ => true,
    })
}

/// The lines of JSON Lines that hold anything, with their numbers from 0.
pub fn json_lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty())
}

/// What JSON Lines hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// Messages.
    Stream,
    /// Run requests.
    Batch,
    /// Anything else: calls, or the events of a session.
    Log,
}

/// What JSON Lines hold, going by the first line that is JSON at all.
fn lines_are(text: &str) -> Result<Lines> {
    let mut first_fault = None;
    for (number, line) in json_lines(text) {
        let node = match json::parse(line) {
            Ok(node) => node,
            Err(error) => {
                first_fault.get_or_insert_with(|| error.locate(line.as_bytes()).shift_lines(number));
                continue;
            }
        };
        return Ok(match &node.value {
            _ if messages::is_message(&node) || messages::is_tools_line(&node) => Lines::Stream,
            Value::Map(entries) if entries.is_empty() => Lines::Batch,
            _ if session::is_line(&node) => Lines::Log,
            _ if request::is_meant(&node) => Lines::Batch,
            _ => Lines::Log,
        });
    }
    first_fault.map_or(Ok(Lines::Stream), Err)
}

/// Whether JSON Lines are a batch of run requests, going by the first line that is JSON at all.
///
/// # Errors
/// What is wrong with the first line, where no line is JSON.
pub fn is_batch(text: &str) -> Result<bool> {
    lines_are(text).map(|lines| lines == Lines::Batch)
}

/// Reads a canonical stream.
fn stream(text: &str, taken: As) -> Result<Recorded<'_>> {
    let mut context = Context::default();
    for (number, line) in json_lines(text) {
        let located = |error: Error| error.locate(line.as_bytes()).shift_lines(number);
        let node = json::parse(line).map_err(located)?;
        if number == 0 {
            recorded::only_call(taken, &node).map_err(located)?;
        }
        messages::push_line(&node, &mut context).map_err(located)?;
    }
    let mut check = FirstDifference { expected: text.as_bytes(), at: 0, found: false };
    context.write_canonical(&mut check).expect("comparing takes every write");
    let not_canonical_at = (check.found || check.at < text.len()).then_some(check.at);
    Ok(Recorded { context, not_canonical_at, is_stream: true, ..Recorded::default() })
}

/// Takes what is written for as long as it is what was expected.
struct FirstDifference<'t> {
    expected: &'t [u8],
    at: usize,
    found: bool,
}

impl std::io::Write for FirstDifference<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.found {
            let rest = &self.expected[self.at..];
            let same = rest.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            self.at += same;
            self.found = same < bytes.len();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn parse(text: &str, format: Format) -> Result<Node<'_>> {
    match format {
        Format::Yaml => {
            // JSON's grammar has no place for it; the parser of YAML would take it for the end.
            if let Some(at) = memchr::memchr(0, text.as_bytes()) {
                return Err(encoding_error(at, "the document holds a NUL character".to_owned(), false)
                    .with_hint("in double quotes it is written \\0"));
            }
            yaml::parse(text)
        }
        Format::Json | Format::JsonLines => json::parse(text),
    }
}

fn input<'a>(root: Node<'a>, text: &'a str, json: Option<&'a str>, taken: As) -> Result<Input<'a>> {
    let is_request = match &root.value {
        _ if taken.shape.is_some() => false,
        Value::Map(entries) => entries.is_empty() || request::is_meant(&root),
        _ => false,
    };
    let holds = if is_request { None } else { recorded::look_at(&root) };
    if holds.is_some() || taken.shape.is_some() || !is_request && messages::is_message(&root) {
        return recorded::read(root, holds, json, taken).map(Input::Recorded);
    }
    if !is_request && is_foreign(&root) {
        return Err(foreign(&root));
    }
    if taken.call.is_some() {
        recorded::only_call(taken, &root)?;
    }
    request::run_request(&root, text).map(|request| Input::Request(Box::new(request)))
}

/// Whether a document is one of polyloop's own, such as a manifest that is kept beside its request.
fn is_report(node: &Node<'_>) -> bool {
    match node.get("schema").map(|schema| &schema.value) {
        Some(Value::Text(text)) => text.to_cow().starts_with("polyloop."),
        _ => false,
    }
}

/// Keys by which recorded bodies and logs of calls are known.
const FOREIGN_KEYS: [&str; 8] = ["messages", "contents", "input", "model", "request", "response", "body", "type"];

fn is_foreign(node: &Node<'_>) -> bool {
    FOREIGN_KEYS.iter().any(|key| node.get(key).is_some())
}

fn foreign(node: &Node<'_>) -> Error {
    let message = match node.value {
        Value::Map(_) => "this is neither a run request nor a message",
        _ => "this is neither a run request nor a list of messages",
    };
    node.error(Code::InputShape, message).with_hint(
        "inputs are run requests, canonical streams, lists of messages, bodies of providers' requests and logs that hold \
         such; --from names the shape of a body",
    )
}
