//! Sessions of Claude Code: JSON Lines, one event a line, of which some hold a message.

use std::borrow::Cow;
use std::ops::Range;

use super::node::{Node, Value};
use super::recorded::{As, only_call, word};
use super::{Recorded, json};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::provider::{Reading, Shape, What};

/// Whether a line is an event of a session.
pub(super) fn is_line(node: &Node<'_>) -> bool {
    let is_event = ["sessionId", "parentUuid", "uuid", "isSidechain"].iter().any(|key| node.get(key).is_some());
    is_event && node.get("type").is_some()
}

/// A conversation as it is read, line by line.
#[derive(Default)]
struct Conversation<'a> {
    reading: Reading<'a>,
    /// The id of the last message, where it was the assistant's.
    last_id: Option<String>,
}

impl<'a> Conversation<'a> {
    /// Adds the message of an event. Lines of one answer, which have one id, are one message: `begins` is told of the
    /// first of them, before it is added.
    fn add(&mut self, message: &Node<'a>, path: String, begins: impl FnOnce(&str, &Context<'a>)) -> Result<()> {
        let is_answer = word(message, "role").is_some_and(|role| role == "assistant");
        let id = word(message, "id").filter(|_| is_answer).map(Cow::into_owned);
        let goes_on = id.is_some() && id == self.last_id;
        if is_answer && !goes_on {
            begins(&path, &self.reading.context);
        }
        Shape::Anthropic.read_message(message, path, &mut self.reading)?;
        let messages = &mut self.reading.context.messages;
        if goes_on
            && let Some(rest) = messages.pop()
            && let Some(message) = messages.last_mut()
        {
            message.blocks.extend(rest.blocks);
        }
        self.last_id = id;
        Ok(())
    }
}

/// The message of an event, where it holds one.
fn message_of<'n, 'a>(event: &'n Node<'a>) -> Option<&'n Node<'a>> {
    event.get("message").filter(|message| message.get("role").is_some())
}

fn is_side(event: &Node<'_>) -> bool {
    matches!(event.get("isSidechain"), Some(Node { value: Value::Bool(true), .. }))
}

fn is_compacted(event: &Node<'_>) -> bool {
    word(event, "subtype").is_some_and(|kind| kind == "compact_boundary")
}

/// Reads what the model saw at the end of a session: the messages of the main conversation since it was last compacted.
/// Lines of one answer, which have one message id, are one message.
pub(super) fn read<'a>(lines: impl Iterator<Item = (usize, &'a str)>, taken: As) -> Result<Recorded<'a>> {
    let mut conversation = Conversation::default();
    for (number, line) in lines {
        let located = |error: Error| error.locate(line.as_bytes()).shift_lines(number);
        let mut event = json::parse(line).map_err(located)?;
        if number == 0 {
            only_call(taken, &event).map_err(located)?;
        }
        event.share_text();
        let path = || format!("[{number}].message");
        let reading = &mut conversation.reading;
        match message_of(&event) {
            _ if is_compacted(&event) && !is_side(&event) => {
                for _ in 0..reading.context.messages.len() {
                    reading.note(What::Left, "messages from before the conversation was compacted", path);
                }
                reading.context.messages.clear();
                conversation.last_id = None;
            }
            Some(_) if is_side(&event) => reading.note(What::Left, "messages of side conversations", path),
            Some(message) => conversation.add(message, path(), |_, _| {}).map_err(located)?,
            None => {}
        }
    }
    let Reading { context, unmodelled, .. } = conversation.reading;
    Ok(Recorded { context, unmodelled, shape: Some(Shape::Anthropic), ..Recorded::default() })
}

/// A session and its calls: what the model saw before each of its answers.
#[derive(Debug, Default)]
pub struct Session<'a> {
    /// The main conversation and the side conversations, which the file does not tell apart, each whole.
    pub conversations: [Context<'a>; 2],
    /// The calls, in order.
    pub calls: Vec<SessionCall>,
}

/// A call of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionCall {
    /// Where the answer stands.
    pub path: String,
    /// Whether it is one of the side conversations'.
    pub is_side: bool,
    /// The messages that the model was given.
    pub messages: Range<usize>,
}

/// Every call of a session. What was compacted is no longer part of those behind it.
pub(super) fn calls<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Session<'a>> {
    let mut conversations: [Conversation<'a>; 2] = Default::default();
    let mut starts = [0; 2];
    let mut calls = Vec::new();
    for (number, line) in lines {
        let located = |error: Error| error.locate(line.as_bytes()).shift_lines(number);
        let mut event = json::parse(line).map_err(located)?;
        event.share_text();
        let is_side = is_side(&event);
        let (conversation, start) = (&mut conversations[usize::from(is_side)], &mut starts[usize::from(is_side)]);
        if is_compacted(&event) {
            *start = conversation.reading.context.messages.len();
            conversation.last_id = None;
        } else if let Some(message) = message_of(&event) {
            let begins = |path: &str, context: &Context<'a>| {
                calls.push(SessionCall { path: path.to_owned(), is_side, messages: *start..context.messages.len() });
            };
            conversation.add(message, format!("[{number}].message"), begins).map_err(located)?;
        }
    }
    Ok(Session { conversations: conversations.map(|conversation| conversation.reading.context), calls })
}
