//! Which messages are a completed step: those that assembly makes of one.

use crate::context::{Content, Message, Role, Text};

/// A step, as it stands in a recording.
pub(super) struct Found {
    /// The message after its last one.
    pub end: usize,
    pub shape: Shape,
}

pub(super) enum Shape {
    /// An assistant message and the user message that answers it.
    Pair,
    /// An assistant message with so many native calls, each with the message that holds its result.
    Calls(Vec<Option<usize>>),
}

/// Why a message is no part of a step.
pub(super) struct Fault {
    pub message: usize,
    pub why: String,
}

fn fault<T>(message: usize, why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { message, why: why.into() })
}

/// The one text that a message holds, if that is all it holds.
pub(super) fn sole_text<'m>(message: &'m Message<'_>) -> Option<&'m Text<'m>> {
    match &*message.blocks {
        [block] => match &block.content {
            Content::Text(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// The step that begins with a message.
pub(super) fn step_at(messages: &[Message<'_>], at: usize) -> Result<Found, Fault> {
    let said = &messages[at];
    if said.role != Role::Assistant {
        let after = at.checked_sub(1).map(|before| format!(" after {}", with_article(&messages[before].role)));
        let why = format!("{}{} begins no step", with_article(&said.role), after.unwrap_or_default());
        return fault(at, why);
    }
    if let Some(answer) = messages.get(at + 1).filter(|next| next.role == Role::User) {
        return match (sole_text(said), sole_text(answer)) {
            (Some(_), Some(_)) => Ok(Found { end: at + 2, shape: Shape::Pair }),
            (None, _) if calls_of(said).is_some_and(|calls| !calls.is_empty()) => fault(
                at + 1,
                "a user message after tool calls; the results of a step stand in one tool message each, right after it",
            ),
            (None, _) => fault(at, format!("{}; what a step says is one text", holding(said))),
            (_, None) => fault(at + 1, format!("{}; an observation is one text", holding(answer))),
        };
    }
    let Some(calls) = calls_of(said) else {
        return fault(at, format!("{}; a step says one text, then makes its calls", holding(said)));
    };
    let mut results = vec![None; calls.len()];
    let mut next_call = 0;
    let mut end = at + 1;
    while let Some(message) = messages.get(end).filter(|message| message.role == Role::Tool) {
        let id = result_id(message).map_err(|why| Fault { message: end, why })?;
        let Some(call) = (next_call..calls.len()).find(|call| calls[*call] == id) else {
            return fault(end, "its result answers no call of the message before, or not in the order of the calls");
        };
        results[call] = Some(end);
        next_call = call + 1;
        end += 1;
    }
    Ok(Found { end, shape: Shape::Calls(results) })
}

/// The ids of the calls of a message that says one text or none, then makes them.
fn calls_of<'m>(message: &'m Message<'_>) -> Option<Vec<&'m Text<'m>>> {
    let calls = match said_by(message) {
        Some(_) => &message.blocks[1..],
        None => &message.blocks[..],
    };
    let id = |content: &'m Content<'_>| match content {
        Content::ToolUse { id, .. } => Some(id),
        _ => None,
    };
    calls.iter().map(|block| id(&block.content)).collect()
}

/// The text before the calls; an empty one is not written.
pub(super) fn said_by<'m>(message: &'m Message<'_>) -> Option<&'m Text<'m>> {
    match &message.blocks.first()?.content {
        Content::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The id of the call that a tool message answers, where it says no more than a step can.
fn result_id<'m>(message: &'m Message<'_>) -> Result<&'m Text<'m>, String> {
    let [block] = &*message.blocks else { return Err(format!("{}; a result is one block", holding(message))) };
    match &block.content {
        Content::ToolResult { tool_use_id, is_error: None, status: None, .. } => Ok(tool_use_id),
        Content::ToolResult { .. } => Err("its result says is_error or status, which a step cannot".to_owned()),
        _ => Err(format!("{}; the result of a call is a tool_result", holding(message))),
    }
}

fn holding(message: &Message<'_>) -> String {
    match &*message.blocks {
        [] => "it holds no block".to_owned(),
        [first, _, ..] if matches!(&first.content, Content::Text(text) if text.is_empty()) => {
            "it holds an empty text before other blocks".to_owned()
        }
        [block] if sole_text(message).is_some_and(Text::is_empty) => {
            format!("it holds an empty {} block", block.content.kind())
        }
        [block] => format!("it holds a {} block", block.content.kind()),
        blocks => format!("it holds {} blocks", blocks.len()),
    }
}

fn with_article(role: &Role<'_>) -> String {
    let article = if matches!(role, Role::Assistant) { "an" } else { "a" };
    format!("{article} {role} message")
}
