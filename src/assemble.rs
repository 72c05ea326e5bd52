//! Request to context: `prefix → injection slot → goal → for each step: ASSISTANT raw_output, USER observation`.
//!
//! Pure and deterministic. Adds no message, header, separator or newline of its own; drops, trims, joins and re-encodes
//! nothing.

use std::borrow::Cow;

use crate::context::{Block, Content, Context, Message, Origin, Role, Text, ToolInput};
use crate::error::{Code, Error, Result};
use crate::request::{InputMessage, Outcome, RunRequest, Step, ToolCall};

/// What templates may make of a request: 64 MiB and eight times the request's own text. A template that repeats its
/// fields, or pads them, could ask for more than any machine holds.
pub const MAX_EXPANSION: u64 = 64 << 20;

/// Assembles the context of the first `steps` completed steps, or of all.
///
/// # Errors
/// `request.limit` where templates would make more than [`MAX_EXPANSION`] of the request. Nothing else can fail: a
/// [`RunRequest`] is checked.
pub fn assemble<'r>(request: &'r RunRequest<'_>, steps: Option<usize>) -> Result<Context<'r>> {
    let parts = request.parts();
    let steps = &parts.trajectory[..steps.unwrap_or(usize::MAX).min(parts.trajectory.len())];
    check_expansion(request, steps)?;

    let mut messages = Vec::new();
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
    Ok(Context { tools: parts.tools.iter().map(|tool| tool.borrow()).collect(), messages })
}

fn push_step<'r>(request: &'r RunRequest<'_>, index: usize, step: &'r Step<'_>, messages: &mut Vec<Message<'r>>) {
    let raw_output = Block { content: Content::Text(step.raw_output.borrow()), origin: Origin::RawOutput(index) };
    if let Outcome::ToolCalls(calls) = &step.outcome {
        let said = if step.raw_output.is_empty() { None } else { Some(raw_output) };
        let origin = |call| Origin::ToolCall { step: index, call };
        let uses = calls.iter().enumerate().map(|(n, call)| Block { content: tool_use(call), origin: origin(n) });
        let blocks = said.into_iter().chain(uses).collect();
        messages.push(Message { role: Role::Assistant, blocks, origin: Origin::RawOutput(index) });
        for (n, call) in calls.iter().enumerate() {
            if let Some(content) = tool_result(call) {
                let block = Block { content, origin: origin(n) };
                messages.push(Message { role: Role::Tool, blocks: vec![block], origin: origin(n) });
            }
        }
        return;
    }
    messages.push(Message { role: Role::Assistant, blocks: vec![raw_output], origin: Origin::RawOutput(index) });
    if let Some(template) = request.template() {
        let content = Content::Text(template.apply(&arguments(request, step)));
        let block = Block { content, origin: Origin::Observation(index) };
        messages.push(Message { role: Role::User, blocks: vec![block], origin: Origin::Observation(index) });
    }
}

/// The template's arguments: the observation, then the declared fields.
fn arguments<'r>(request: &'r RunRequest<'_>, step: &'r Step<'_>) -> Vec<&'r Text<'r>> {
    let fields = request.parts().observation_fields.iter();
    request.observation(step).into_iter().chain(fields.filter_map(|name| step.fields.get(name))).collect()
}

fn input_message<'r>(input: &'r InputMessage<'_>, origin: Origin<'r>) -> Message<'r> {
    message(input.role.borrow(), &input.content, origin)
}

fn message<'r>(role: Role<'r>, content: &'r [Content<'_>], origin: Origin<'r>) -> Message<'r> {
    let blocks = content.iter().map(|content| Block { content: content.borrow(), origin: origin.clone() }).collect();
    Message { role, blocks, origin }
}

fn tool_use<'r>(call: &'r ToolCall<'_>) -> Content<'r> {
    Content::ToolUse { id: call.id.borrow(), name: call.name.borrow(), input: ToolInput::borrow(&call.input) }
}

fn tool_result<'r>(call: &'r ToolCall<'_>) -> Option<Content<'r>> {
    let content = call.result.as_ref()?.iter().map(Content::borrow).collect();
    Some(Content::ToolResult { tool_use_id: call.id.borrow(), content, is_error: None, status: None })
}

fn check_expansion(request: &RunRequest<'_>, steps: &[Step<'_>]) -> Result<()> {
    let Some(template) = request.template() else { return Ok(()) };
    let mut given = template.source().len() as u64;
    let mut cost = 0u64;
    for step in steps {
        let arguments = arguments(request, step);
        if arguments.is_empty() {
            continue;
        }
        given += arguments.iter().map(|text| text.bytes()).sum::<u64>();
        cost = cost.saturating_add(template.cost(&arguments));
        if cost > MAX_EXPANSION + 8 * given {
            return Err(Error::new(
                Code::RequestLimit,
                "the template would make far more text of the observations than there is: polyloop's limit is \
                 64 MiB and eight times the request's own text",
            )
            .with_hint("use fewer fields, or smaller widths")
            .with_path("observation_template"));
        }
    }
    Ok(())
}
