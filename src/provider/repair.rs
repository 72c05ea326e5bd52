//! Results for calls that have none: marked as what they are, never invented.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use super::Shape;
use crate::context::{Block, Content, Context, Message, Origin, Role, Status, Text};

/// A result that was added to a context.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Repair {
    /// Where the call stands.
    pub path: String,
    /// The id of the call.
    pub tool_use_id: String,
    /// The name of the tool.
    pub name: String,
    /// What is said of the result.
    pub status: Status,
}

/// Adds a marked result for every call that has none anywhere behind it; drops and moves nothing. `shape` is that of the
/// body it was read from, whose results stand where that shape has them; `known` says what is known of a call.
pub fn repair<'a>(
    context: &mut Context<'a>,
    shape: Option<Shape>,
    known: impl Fn(&Origin<'_>) -> Status,
) -> Vec<Repair> {
    let mut repairs = Vec::new();
    let missing = missing(&context.messages);
    if missing.is_empty() {
        return repairs;
    }
    let mut missing = missing.into_iter().peekable();
    let mut messages = std::mem::take(&mut context.messages).into_iter().enumerate().peekable();
    let kept = &mut context.messages;
    while let Some((at, message)) = messages.next() {
        kept.push(message);
        // The turn ends where the first of its calls that lack a result says so.
        if missing.peek().is_none_or(|missing| missing.turn_end != at + 1) {
            continue;
        }
        let mut blocks = Vec::new();
        while let Some(Missing { call, .. }) = missing.next_if(|missing| missing.turn_end == at + 1) {
            blocks.push(marked(&call, known(&call.origin), &mut repairs));
        }
        let next = messages.peek_mut().map(|(_, message)| message);
        if stand_in_messages(next.as_deref(), shape) {
            add_to_next(kept, next, blocks);
        } else {
            while let Some((_, result)) = messages.next_if(|(_, message)| message.role == Role::Tool) {
                kept.push(result);
            }
            kept.extend(blocks.into_iter().map(|block| {
                let origin = block.origin.clone();
                Message { role: Role::Tool, blocks: vec![block], origin, fingerprint: None }
            }));
        }
    }
    repairs
}

/// A call that no result answers.
struct Missing<'a> {
    call: Block<'a>,
    /// The message behind its turn: the messages of the assistant in a row that make calls are one.
    turn_end: usize,
    /// Its place among all calls.
    at: usize,
}

/// The calls that no result behind them answers, in their order. An id may be used again: then what comes behind is of
/// the later call. A result that names no call is of one of its own turn: of those that are left, by their order.
fn missing<'a>(messages: &[Message<'a>]) -> Vec<Missing<'a>> {
    let makes_calls = |message: &Message<'_>| message.role == Role::Assistant && message.blocks.iter().any(is_call);
    let mut missing = Vec::new();
    let mut waiting: HashMap<String, VecDeque<Missing<'a>>> = HashMap::new();
    let mut nameless: HashMap<usize, usize> = HashMap::new();
    let (mut at, mut turn_end) = (0, 0);
    for (index, message) in messages.iter().enumerate() {
        if index >= turn_end && makes_calls(message) {
            turn_end = index + messages[index..].iter().take_while(|message| makes_calls(message)).count();
        }
        for block in &message.blocks {
            match &block.content {
                Content::ToolUse { id, .. } if makes_calls(message) => {
                    let calls = waiting.entry(id.to_string()).or_default();
                    while calls.front().is_some_and(|call| call.turn_end < turn_end) {
                        missing.extend(calls.pop_front());
                    }
                    calls.push_back(Missing { call: block.clone(), turn_end, at });
                    at += 1;
                }
                Content::ToolResult { tool_use_id, .. } if tool_use_id.is_empty() => {
                    *nameless.entry(turn_end).or_default() += 1;
                }
                Content::ToolResult { tool_use_id, .. } => {
                    if let Some(calls) = waiting.get_mut(&tool_use_id.to_string()) {
                        calls.pop_front();
                    }
                }
                _ => {}
            }
        }
    }
    missing.extend(waiting.into_values().flatten());
    missing.sort_unstable_by_key(|missing| missing.at);
    missing.retain(|missing| match nameless.get_mut(&missing.turn_end) {
        Some(results) if *results > 0 => {
            *results -= 1;
            false
        }
        _ => true,
    });
    missing
}

fn is_call(block: &Block<'_>) -> bool {
    matches!(block.content, Content::ToolUse { .. })
}

fn is_result(block: &Block<'_>) -> bool {
    matches!(block.content, Content::ToolResult { .. })
}

fn marked<'a>(call: &Block<'a>, status: Status, repairs: &mut Vec<Repair>) -> Block<'a> {
    let Content::ToolUse { id, name, .. } = &call.content else { unreachable!("it is a call") };
    let path = call.origin.to_string();
    repairs.push(Repair { path: path.clone(), tool_use_id: id.to_string(), name: name.to_string(), status });
    let content = Content::ToolResult {
        tool_use_id: id.clone(),
        content: vec![status.text(id, name)],
        is_error: status.is_error(),
        status: Some(Text::plain(status.as_str())),
    };
    Block { content, origin: Origin::Repair(Cow::Owned(path)) }
}

/// Whether results stand in a message of the user, and not in messages of their own.
fn stand_in_messages(next: Option<&Message<'_>>, shape: Option<Shape>) -> bool {
    match shape {
        Some(shape) => matches!(shape, Shape::Anthropic | Shape::Gemini | Shape::Bedrock),
        None => next.is_some_and(|next| next.role == Role::User && next.blocks.iter().any(is_result)),
    }
}

/// Puts results into the user's message that follows, behind those it begins with, or into one of their own.
fn add_to_next<'a>(kept: &mut Vec<Message<'a>>, next: Option<&mut Message<'a>>, blocks: Vec<Block<'a>>) {
    if let Some(next) = next.filter(|next| next.role == Role::User) {
        let results = next.blocks.iter().take_while(|block| is_result(block)).count();
        next.blocks.splice(results..results, blocks);
        next.fingerprint = None;
        return;
    }
    let origin = blocks[0].origin.clone();
    kept.push(Message { role: Role::User, blocks, origin, fingerprint: None });
}
