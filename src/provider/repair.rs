//! Results for calls that have none: marked as what they are, never invented.

use std::borrow::Cow;
use std::collections::HashSet;

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
    let mut at = 0;
    while at < context.messages.len() {
        let turn = turn_from(&context.messages, at);
        let missing = missing(&context.messages, at, turn);
        if !missing.is_empty() {
            let blocks: Vec<Block<'a>> =
                missing.iter().map(|call| marked(call, known(&call.origin), &mut repairs)).collect();
            add(&mut context.messages, at + turn, blocks, shape);
        }
        at += turn.max(1);
    }
    repairs
}

/// How many messages from here on make the calls of one turn.
fn turn_from(messages: &[Message<'_>], at: usize) -> usize {
    let calls = |message: &Message<'_>| message.role == Role::Assistant && message.blocks.iter().any(is_call);
    messages[at..].iter().take_while(|message| calls(message)).count()
}

fn is_call(block: &Block<'_>) -> bool {
    matches!(block.content, Content::ToolUse { .. })
}

/// The calls of a turn that no result answers. A call without an id is answered by its place among the others.
fn missing<'a>(messages: &[Message<'a>], at: usize, turn: usize) -> Vec<Block<'a>> {
    let behind = &messages[at + turn..];
    let mut results: HashSet<String> = HashSet::new();
    // An id may be used again: then the results behind that are of the other call.
    let mut nameless = 0_usize;
    let mut is_next_turn = false;
    let own: HashSet<String> = messages[at..at + turn].iter().flat_map(|m| &m.blocks).filter_map(call_id).collect();
    'behind: for message in behind {
        for block in &message.blocks {
            match &block.content {
                Content::ToolResult { tool_use_id, .. } if tool_use_id.is_empty() => {
                    nameless += usize::from(!is_next_turn);
                }
                Content::ToolResult { tool_use_id, .. } => {
                    results.insert(tool_use_id.to_string());
                }
                Content::ToolUse { id, .. } if own.contains(&id.to_string()) => break 'behind,
                Content::ToolUse { .. } => is_next_turn = true,
                _ => {}
            }
        }
    }
    let calls = messages[at..at + turn].iter().flat_map(|message| &message.blocks);
    let mut missing: Vec<Block<'a>> = calls.filter(|call| is_open(call, &mut results)).cloned().collect();
    // Results that name no call are of those that are left, by their order.
    missing.drain(..nameless.min(missing.len()));
    missing
}

/// Whether a call has no result that names it.
fn is_open(block: &Block<'_>, results: &mut HashSet<String>) -> bool {
    call_id(block).is_some_and(|id| id.is_empty() || !results.remove(&id))
}

fn call_id(block: &Block<'_>) -> Option<String> {
    match &block.content {
        Content::ToolUse { id, .. } => Some(id.to_string()),
        _ => None,
    }
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

/// Puts results behind the calls: into the user's message that follows where results stand in such, else as messages.
fn add<'a>(messages: &mut Vec<Message<'a>>, at: usize, blocks: Vec<Block<'a>>, shape: Option<Shape>) {
    let is_result = |block: &Block<'_>| matches!(block.content, Content::ToolResult { .. });
    let in_messages = match shape {
        Some(shape) => matches!(shape, Shape::Anthropic | Shape::Gemini | Shape::Bedrock),
        None => messages.get(at).is_some_and(|next| next.role == Role::User && next.blocks.iter().any(is_result)),
    };
    if in_messages {
        if let Some(next) = messages.get_mut(at).filter(|next| next.role == Role::User) {
            let results = next.blocks.iter().take_while(|block| is_result(block)).count();
            next.blocks.splice(results..results, blocks);
            next.fingerprint = None;
            return;
        }
        let origin = blocks[0].origin.clone();
        messages.insert(at, Message { role: Role::User, blocks, origin, fingerprint: None });
        return;
    }
    let tools = messages[at..].iter().take_while(|message| message.role == Role::Tool).count();
    let added = blocks.into_iter().map(|block| {
        let origin = block.origin.clone();
        Message { role: Role::Tool, blocks: vec![block], origin, fingerprint: None }
    });
    messages.splice(at + tools..at + tools, added);
}
