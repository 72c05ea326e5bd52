//! Nodes to a context that a provider was sent: a body, a list of messages, or one call of a log that holds such.

use std::borrow::Cow;

use super::calls::LoggedCall;
use super::node::{Entry, Node, Value};
use super::{Recorded, json, messages, request, session};
use crate::context::{Context, Key};
use crate::error::{Code, Error, Result};
use crate::provider::{self, Reading, Shape, Wire};

/// How a recorded prompt is to be taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct As {
    /// The shape it has; found out unless given.
    pub shape: Option<Shape>,
    /// Which call of a log; the last unless given.
    pub call: Option<usize>,
}

/// A call that was taken out of a log.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Call {
    /// Its place among the calls, from 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
    /// Where its body stands in the log, such as `[3].request.body`.
    pub path: String,
}

/// What a recorded document holds.
#[derive(Debug)]
pub(crate) enum Holds {
    /// A body, or a list of messages.
    Body,
    /// Bodies, each in a record of its own.
    Calls(Vec<Found>),
}

/// What a document holds, going by its keys; nothing where it is no recorded prompt.
pub(crate) fn look_at(root: &Node<'_>) -> Option<Holds> {
    if is_body(root) || matches!(&root.value, Value::List(items) if items.is_empty()) {
        return Some(Holds::Body);
    }
    let found = find(root);
    (!found.is_empty()).then_some(Holds::Calls(found))
}

/// Reads a body, a list of messages, or one call of a log.
pub(crate) fn read<'a>(root: Node<'a>, holds: Option<Holds>, text: Option<&'a str>, taken: As) -> Result<Recorded<'a>> {
    let text = text.map(Cow::Borrowed);
    let found = match holds {
        Some(Holds::Calls(found)) => found,
        Some(Holds::Body) => {
            only_call(taken, &root)?;
            return body(root, text, taken.shape, None);
        }
        // A shape that was named is taken at its word, and says what it misses.
        None => return body(root, text, taken.shape, None),
    };
    let (index, of) = (pick(taken, found.len())?, found.len());
    let Some(Found { at, path, is_text }) = found.into_iter().nth(index) else { unreachable!("it was picked") };
    let call = Some(Call { index, of, path });
    let node = descend(root, &at);
    if is_text { body_in_text(&node, taken, call) } else { body(node, text, taken.shape, call) }
}

/// Reads every call of a log; `None` for what is none.
pub(super) fn all<'a>(mut root: Node<'a>, text: Option<&'a str>, taken: As) -> Result<Option<Vec<LoggedCall<'a>>>> {
    if is_body(&root) || request::is_meant(&root) {
        return Ok(None);
    }
    let found = find(&root);
    let of = found.len();
    let mut calls = Vec::with_capacity(of);
    for (index, Found { at, path, is_text }) in found.into_iter().enumerate() {
        let node = take(&mut root, &at);
        let call = Some(Call { index, of, path });
        let recorded = match is_text {
            true => body_in_text(&node, taken, call)?,
            false => body(node, text.map(Cow::Borrowed), taken.shape, call)?,
        };
        calls.push(recorded.into());
    }
    Ok((of > 0).then_some(calls))
}

/// What stands at a place, taken from there.
fn take<'a>(root: &mut Node<'a>, at: &[usize]) -> Node<'a> {
    let node = at.iter().fold(root, |node, &index| match &mut node.value {
        Value::List(items) => &mut items[index],
        Value::Map(entries) => &mut entries[index].value,
        _ => unreachable!("it was found there"),
    });
    Node { span: node.span, value: std::mem::replace(&mut node.value, Value::Null) }
}

/// Reads JSON Lines that are no canonical stream: a log of calls, or a session. The lines come with their numbers.
pub(crate) fn log<'a>(lines: impl Iterator<Item = (usize, &'a str)> + Clone, taken: As) -> Result<Recorded<'a>> {
    let node = |(number, line): (usize, &'a str)| {
        json::parse(line).map_err(|error| error.locate(line.as_bytes()).shift_lines(number))
    };
    let mut calls = Vec::new();
    for (number, line) in lines.clone() {
        let root = node((number, line))?;
        if session::is_line(&root) && taken.shape.is_none() {
            return session::read(lines, taken);
        }
        let inside = if is_body(&root) { vec![Found::default()] } else { find(&root) };
        calls.extend(inside.into_iter().map(|found| (number, line, found)));
    }
    if calls.is_empty() {
        let Some((number, line)) = lines.clone().next() else { return body(empty_list(), None, taken.shape, None) };
        let root = node((number, line))?;
        return Err(super::foreign(&root).locate(line.as_bytes()).shift_lines(number));
    }
    let of = calls.len();
    let index = pick(taken, of)?;
    let Some((number, line, Found { at, path, is_text })) = calls.into_iter().nth(index) else {
        unreachable!("it was picked")
    };
    let call = Some(Call { index, of, path: format!("[{number}]{path}") });
    let node = descend(node((number, line))?, &at);
    let read = match is_text {
        true => body_in_text(&node, taken, call),
        false => body(node, Some(Cow::Borrowed(line)), taken.shape, call),
    };
    read.map_err(|error| error.locate(line.as_bytes()).shift_lines(number))
}

fn empty_list<'a>() -> Node<'a> {
    Node { span: super::node::Span { start: 0, end: 0 }, value: Value::List(Vec::new()) }
}

/// What was asked for, or the last.
fn pick(taken: As, of: usize) -> Result<usize> {
    match taken.call {
        Some(call) if call >= of => {
            Err(Error::new(Code::UsageArguments, format!("--call {call}: the log holds {of} calls"))
                .with_hint(format!("give a number from 0 to {}", of - 1)))
        }
        Some(call) => Ok(call),
        None => Ok(of - 1),
    }
}

/// A body by itself is the one call there is.
pub(super) fn only_call(taken: As, root: &Node<'_>) -> Result<()> {
    match taken.call {
        None | Some(0) => Ok(()),
        Some(call) => {
            let message = format!("--call {call}: this is one call, not a log of them");
            Err(root.error(Code::UsageArguments, message).with_hint("leave --call out, or name the log"))
        }
    }
}

fn body<'a>(
    mut root: Node<'a>,
    text: Option<Cow<'a, str>>,
    shape: Option<Shape>,
    call: Option<Call>,
) -> Result<Recorded<'a>> {
    // One message is a list of one.
    if matches!(root.value, Value::Map(_)) && messages::is_message(&root) {
        root = Node { span: root.span, value: Value::List(vec![root]) };
    }
    root.share_text();
    // The vocabulary of the canonical stream is nobody's shape.
    if let (None, Value::List(items)) = (shape, &root.value)
        && let Ok(context) = messages::message_list(items)
    {
        let wire = wire_of(&context, root, text);
        let shape = wire.as_ref().map(|wire| wire.shape);
        return Ok(Recorded { context, shape, wire, call, ..Recorded::default() });
    }
    let shape = match shape {
        Some(shape) => shape,
        None => provider::shape_of(&root)?,
    };
    let Reading { context, unmodelled, .. } = shape.read(&root)?;
    let wire = Some(Box::new(Wire { shape, body: root, text }));
    Ok(Recorded { context, shape: Some(shape), wire, call, unmodelled, ..Recorded::default() })
}

/// A list of messages is a body too where its shape makes the same of it.
fn wire_of<'a>(context: &Context<'a>, body: Node<'a>, text: Option<Cow<'a, str>>) -> Option<Box<Wire<'a>>> {
    let shape = provider::shape_of(&body).ok()?;
    let reading = shape.read(&body).ok()?;
    let messages = &reading.context.messages;
    let is_same = reading.unmodelled.is_empty()
        && messages.len() == context.messages.len()
        && messages.iter().zip(&context.messages).all(|(a, b)| a.same_bytes(b));
    is_same.then(|| Box::new(Wire { shape, body, text }))
}

/// Reads a body that stands in its log as text.
fn body_in_text<'a>(node: &Node<'a>, taken: As, call: Option<Call>) -> Result<Recorded<'a>> {
    let Value::Text(text) = &node.value else { unreachable!("it was found to be text") };
    // It may be large: what was decoded is kept, not copied. White space round the value moves no place inside it.
    let text = text.to_cow();
    // Places inside the text are no places of the document.
    let outside = |error: Error| error.with_span(node.span.range());
    let inner = json::parse(&text).map_err(outside)?.into_owned();
    body(inner, Some(Cow::Owned(text.into_owned())), taken.shape, call).map_err(outside)
}

/// Whether this is what a provider is sent.
pub(super) fn is_body(node: &Node<'_>) -> bool {
    let is_list = |key| matches!(node.get(key), Some(Node { value: Value::List(_), .. }));
    match &node.value {
        Value::List(items) => !items.is_empty() && items.iter().all(|item| messages::is_message(item) || is_item(item)),
        Value::Map(_) => {
            is_list("messages")
                || node.get("contents").is_some_and(|contents| !matches!(contents.value, Value::Null))
                || (is_list("input")
                    && !matches!(node.get("input"), Some(Node { value: Value::List(l), .. }) if l.iter().any(|item| !messages::is_message(item) && !is_item(item))))
                || (matches!(node.get("input"), Some(Node { value: Value::Text(_), .. }))
                    && node.get("model").is_some())
                || (node.get("previous_response_id").is_some() && node.get("model").is_some())
        }
        _ => false,
    }
}

/// Whether this stands among the messages of Responses or Gemini without a role.
fn is_item(node: &Node<'_>) -> bool {
    // The records of logs have types too, in other spellings.
    let is_kind =
        |kind: &str| kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    node.get("parts").is_some()
        || word(node, "type").is_some_and(|kind| is_kind(&kind))
            && ["call_id", "output", "summary", "encrypted_content", "role", "arguments", "id"]
                .iter()
                .any(|key| node.get(key).is_some())
            && node.get("message").is_none()
}

/// A body in a log: the way to it by places in maps and lists, the same in words, and whether it is written as text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    at: Vec<usize>,
    path: String,
    is_text: bool,
}

/// What the records of logs and of HTTP exchanges keep a body under, the most exact first.
const WRAPPERS: [&str; 22] = [
    "request",
    "proxy_server_request",
    "full_request",
    "body",
    "parsed_body",
    "postData",
    "json",
    "text",
    "input",
    "inputs",
    "inputBodyJson",
    "modelInput",
    "params",
    "kwargs",
    "payload",
    "data",
    "request_body",
    "raw_request",
    "string",
    "content",
    "messages",
    "prompt",
];

/// What logs keep their records under.
const RECORDS: [&str; 9] =
    ["interactions", "entries", "log", "calls", "requests", "exchanges", "traj", "records", "observations"];

/// The bodies in a log, in its order; one a record.
fn find(root: &Node<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    look(root, &mut Found::default(), 0, &mut found);
    found
}

fn look(node: &Node<'_>, place: &mut Found, depth: usize, found: &mut Vec<Found>) {
    const DEEPEST: usize = 5;
    if depth > 0 && is_body(node) {
        found.push(Found { at: place.at.clone(), path: place.path.clone(), is_text: false });
        return;
    }
    if depth > DEEPEST {
        return;
    }
    match &node.value {
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                into(place, index, format_args!("[{index}]"), |place| look(item, place, depth + 1, found));
            }
        }
        Value::Map(entries) => {
            let before = found.len();
            let names = WRAPPERS.iter().chain(&RECORDS);
            for (index, entry) in
                names.filter_map(|name| entries.iter().enumerate().find(|(_, entry)| entry.key == *name))
            {
                into(place, index, Key(&entry.key), |place| inside(entry, place, depth, found));
                if found.len() > before {
                    return;
                }
            }
        }
        _ => {}
    }
}

fn inside(entry: &Entry<'_>, place: &mut Found, depth: usize, found: &mut Vec<Found>) {
    match &entry.value.value {
        Value::Text(text) if holds_body(&text.to_cow()) => {
            found.push(Found { at: place.at.clone(), path: place.path.clone(), is_text: true });
        }
        Value::Text(_) => {}
        _ => look(&entry.value, place, depth + 1, found),
    }
}

fn holds_body(text: &str) -> bool {
    let text = text.trim_ascii();
    if !text.starts_with(['{', '[']) {
        return false;
    }
    match json::parse(text) {
        Ok(root) => is_body(&root),
        // A body that is broken or cut short was a call all the same: it is told of, not passed over.
        Err(_) => {
            let holds = |key: &str| memchr::memmem::find(text.as_bytes(), key.as_bytes()).is_some();
            text.starts_with('{') && (holds("\"messages\"") || holds("\"contents\""))
        }
    }
}

fn into(place: &mut Found, index: usize, step: impl std::fmt::Display, then: impl FnOnce(&mut Found)) {
    use std::fmt::Write;

    let len = place.path.len();
    let _ = write!(place.path, "{step}");
    place.at.push(index);
    then(place);
    place.at.pop();
    place.path.truncate(len);
}

/// What stands at a place, the rest let go.
fn descend<'a>(root: Node<'a>, at: &[usize]) -> Node<'a> {
    at.iter().fold(root, |node, &index| match node.value {
        Value::List(mut items) => items.swap_remove(index),
        Value::Map(mut entries) => entries.swap_remove(index).value,
        value => Node { span: node.span, value },
    })
}

/// The text of a key, as it stands.
pub(super) fn word<'n>(node: &'n Node<'_>, key: &str) -> Option<Cow<'n, str>> {
    match &node.get(key)?.value {
        Value::Text(text) => Some(text.to_cow()),
        _ => None,
    }
}
