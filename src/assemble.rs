//! Request to context: `prefix → injection slot → goal → for each step: ASSISTANT raw_output, USER observation`.
//!
//! Fragments that are selected stand in the layers of their kinds, round the segments.
//!
//! Pure and deterministic. Adds no message, header, separator or newline of its own; drops, trims, joins and re-encodes
//! nothing.

use std::borrow::Cow;

use crate::context::{Block, Content, Context, Message, Origin, Role, Text, ToolInput};
use crate::error::Result;
use crate::request::{InputMessage, Outcome, RunRequest, Step, ToolCall};
use crate::select::Selection;

/// Assembles the context of the first `steps` completed steps, or of all.
///
/// # Errors
/// None for a request without fragments and without a window: a [`RunRequest`] is checked. Else those of [`select`].
pub fn assemble<'r>(request: &'r RunRequest<'_>, steps: Option<usize>) -> Result<Context<'r>> {
    match request.needs_selection() {
        false => Ok(segments(request, steps)),
        true => select(request, steps).map(|selection| selection.context),
    }
}

/// The same, with the record of what was selected and why.
///
/// # Errors
/// `fragment.unresolved` for a file that was not read ([`RunRequest::resolve`]); `fragment.required_stale` and
/// `fragment.required_superseded`; `budget.required_exceeds` where the window cannot hold even what has to be in. With the
/// path of what is at fault; [`place`](crate::read::place) finds its line and column.
pub fn select<'r>(request: &'r RunRequest<'_>, steps: Option<usize>) -> Result<Selection<'r>> {
    Selection::of(request, segments(request, steps))
}

/// What the four segments give, in their order.
pub(crate) fn segments<'r>(request: &'r RunRequest<'_>, steps: Option<usize>) -> Context<'r> {
    let parts = request.parts();
    let steps = &parts.trajectory[..steps.unwrap_or(usize::MAX).min(parts.trajectory.len())];

    let in_slot: usize = parts.injections.values().map(Vec::len).sum();
    let mut messages = Vec::with_capacity(parts.prefix.len() + in_slot + parts.goal.len() + 2 * steps.len());
    messages.extend(parts.prefix.iter().enumerate().map(|(index, input)| input_message(input, Origin::Prefix(index))));
    for (channel, entries) in &parts.injections {
        messages.extend(entries.iter().enumerate().map(|(index, entry)| {
            let (channel, entry_id) = (Cow::Borrowed(&**channel), Cow::Borrowed(&*entry.entry_id));
            message(Role::User, &entry.content, Origin::Injection { channel, index, entry_id })
        }));
    }
    messages.extend(parts.goal.iter().enumerate().map(|(index, input)| input_message(input, Origin::Goal(index))));
    for (index, step) in steps.iter().enumerate() {
        push_step(request, index, step, &mut messages);
    }
    Context { tools: parts.tools.iter().map(|tool| tool.borrow()).collect(), messages }
}

/// Adds the messages of step `index`, which is one of the request or was admitted to it.
pub(crate) fn push_step<'r>(
    request: &'r RunRequest<'_>,
    index: usize,
    step: &'r Step<'_>,
    messages: &mut Vec<Message<'r>>,
) {
    let raw_output = Block { content: Content::Text(step.raw_output.borrow()), origin: Origin::RawOutput(index) };
    if let Outcome::ToolCalls(calls) = &step.outcome {
        let said = if step.raw_output.is_empty() { None } else { Some(raw_output) };
        let origin = |call| Origin::ToolCall { step: index, call };
        let uses = calls.iter().enumerate().map(|(n, call)| Block { content: tool_use(call), origin: origin(n) });
        let blocks = said.into_iter().chain(uses).collect();
        messages.push(of_blocks(Role::Assistant, blocks, Origin::RawOutput(index)));
        for (n, call) in calls.iter().enumerate() {
            if let Some(content) = tool_result(call) {
                let block = Block { content, origin: origin(n) };
                messages.push(of_blocks(Role::Tool, vec![block], origin(n)));
            }
        }
        return;
    }
    messages.push(of_blocks(Role::Assistant, vec![raw_output], Origin::RawOutput(index)));
    if let Some(template) = request.template() {
        let content = Content::Text(template.apply(&request.arguments(step)));
        let block = Block { content, origin: Origin::Observation(index) };
        messages.push(of_blocks(Role::User, vec![block], Origin::Observation(index)));
    }
}

fn input_message<'r>(input: &'r InputMessage<'_>, origin: Origin<'r>) -> Message<'r> {
    message(input.role.borrow(), &input.content, origin)
}

fn message<'r>(role: Role<'r>, content: &'r [Content<'_>], origin: Origin<'r>) -> Message<'r> {
    let blocks = content.iter().map(|content| Block { content: content.borrow(), origin: origin.clone() }).collect();
    of_blocks(role, blocks, origin)
}

fn of_blocks<'r>(role: Role<'r>, blocks: Vec<Block<'r>>, origin: Origin<'r>) -> Message<'r> {
    Message { role, blocks, origin, fingerprint: None }
}

fn tool_use<'r>(call: &'r ToolCall<'_>) -> Content<'r> {
    Content::ToolUse { id: call.id.borrow(), name: call.name.borrow(), input: ToolInput::borrow(&call.input) }
}

fn tool_result<'r>(call: &'r ToolCall<'_>) -> Option<Content<'r>> {
    let content = call.result.as_ref()?.iter().map(Content::borrow).collect();
    let status = call.status.map(|status| Text::plain(status.as_str()));
    Some(Content::ToolResult { tool_use_id: call.id.borrow(), content, is_error: call.is_error, status })
}
