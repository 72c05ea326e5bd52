//! Sessions of Claude Code: JSON Lines, one event a line, of which some hold a message.

use std::ops::Range;

use super::node::{Node, Value};
use super::recorded::{As, only_call, word};
use super::{Recorded, json};
use crate::context::{Context, Origin};
use crate::error::Result;
use crate::provider::{Reading, Shape, What};

/// Whether a line is an event of a session.
pub(super) fn is_line(node: &Node<'_>) -> bool {
    let is_event = ["sessionId", "parentUuid", "uuid", "isSidechain"].iter().any(|key| node.get(key).is_some());
    is_event && node.get("type").is_some()
}

/// Reads what the model saw at the end of a session: the messages of the main conversation since it was last compacted.
/// Lines of one answer, which have one message id, are one message.
pub(super) fn read<'a>(lines: impl Iterator<Item = (usize, &'a str)>, taken: As) -> Result<Recorded<'a>> {
    let mut reading = Reading::default();
    let mut last_id = None;
    for (number, line) in lines {
        let located = |error: crate::Error| error.locate(line.as_bytes()).shift_lines(number);
        let mut event = json::parse(line).map_err(located)?;
        if number == 0 {
            only_call(taken, &event).map_err(located)?;
        }
        let path = || format!("[{number}].message");
        let is_true = |key| matches!(event.get(key), Some(Node { value: Value::Bool(true), .. }));
        let is_side = is_true("isSidechain");
        if word(&event, "subtype").is_some_and(|kind| kind == "compact_boundary") && !is_side {
            let before = reading.context.messages.len();
            for _ in 0..before {
                reading.note(What::Left, "messages from before the conversation was compacted", path);
            }
            reading.context.messages.clear();
            last_id = None;
            continue;
        }
        let Some(message) = event.get("message").filter(|message| message.get("role").is_some()) else { continue };
        if is_side {
            reading.note(What::Left, "messages of side conversations", path);
            continue;
        }
        let id = word(message, "id").filter(|_| word(message, "role").is_some_and(|role| role == "assistant"));
        let id = id.map(std::borrow::Cow::into_owned);
        let goes_on = id.is_some() && id == last_id;
        event.share_text();
        let Some(message) = event.get("message") else { continue };
        Shape::Anthropic.read_message(message, path(), &mut reading).map_err(located)?;
        let messages = &mut reading.context.messages;
        if goes_on
            && let Some(rest) = messages.pop()
            && let Some(message) = messages.last_mut()
        {
            message.blocks.extend(rest.blocks);
        }
        debug_assert!(messages.iter().all(|message| matches!(message.origin, Origin::Body(_))));
        last_id = id;
    }
    let Reading { context, unmodelled, .. } = reading;
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
    let mut readings: [Reading<'a>; 2] = Default::default();
    let (mut starts, mut last_ids) = ([0; 2], [None, None]);
    let mut calls = Vec::new();
    for (number, line) in lines {
        let located = |error: crate::Error| error.locate(line.as_bytes()).shift_lines(number);
        let mut event = json::parse(line).map_err(located)?;
        event.share_text();
        let is_side = matches!(event.get("isSidechain"), Some(Node { value: Value::Bool(true), .. }));
        let side = usize::from(is_side);
        let reading = &mut readings[side];
        if word(&event, "subtype").is_some_and(|kind| kind == "compact_boundary") {
            (starts[side], last_ids[side]) = (reading.context.messages.len(), None);
            continue;
        }
        let Some(message) = event.get("message").filter(|message| message.get("role").is_some()) else { continue };
        let path = format!("[{number}].message");
        let is_answer = word(message, "role").is_some_and(|role| role == "assistant");
        let id = word(message, "id").filter(|_| is_answer).map(std::borrow::Cow::into_owned);
        let goes_on = id.is_some() && id == last_ids[side];
        if is_answer && !goes_on {
            let messages = starts[side]..reading.context.messages.len();
            calls.push(SessionCall { path: path.clone(), is_side, messages });
        }
        Shape::Anthropic.read_message(message, path, reading).map_err(located)?;
        let messages = &mut reading.context.messages;
        if goes_on
            && let Some(rest) = messages.pop()
            && let Some(message) = messages.last_mut()
        {
            message.blocks.extend(rest.blocks);
        }
        last_ids[side] = id;
    }
    Ok(Session { conversations: readings.map(|reading| reading.context), calls })
}
