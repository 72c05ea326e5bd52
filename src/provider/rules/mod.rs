//! What providers refuse: rules that their interfaces enforce on a list of messages.

mod calls;
mod messages;
mod sent;

use super::Shape;
use super::wire::Wire;
use crate::context::{Context, Origin};

pub(super) use sent::markers;

/// A rule that some shape enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A stable, dotted name.
    pub code: &'static str,
    /// The shapes that enforce it.
    pub shapes: &'static [Shape],
    /// What they refuse.
    pub why: &'static str,
    /// What the providers say when they refuse it, in other words than theirs.
    pub reason: &'static str,
}

/// Something that a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub code: &'static str,
    /// Where, as an origin.
    pub path: String,
    /// What breaks it: lower case, one sentence, no full stop.
    pub what: String,
}

use Shape::{Anthropic, Bedrock, Gemini, OpenAi, Responses};

const ALL: &[Shape] = &[OpenAi, Responses, Anthropic, Gemini, Bedrock];

/// Every rule, in the order of the table in the README. A rule that only some models of a provider enforce is no rule
/// of its shape.
pub const RULES: [Rule; 23] = [
    rule(
        "provider.role",
        ALL,
        "a role that the interface does not know",
        "the role is none of those the interface lists: it names the ones that are valid",
    ),
    rule(
        "provider.system_placement",
        &[Anthropic, Gemini, Bedrock],
        "a system message that is not at the head; for Anthropic, one that is not between the user and the assistant",
        "instructions have a parameter of their own, and system is no role of a message; Anthropic takes one directly \
         behind the user's turn that the assistant, or nothing, follows",
    ),
    rule(
        "provider.leading_role",
        &[Bedrock],
        "a conversation that does not begin with the user",
        "the conversation has to start with a message of the user",
    ),
    rule(
        "provider.alternation",
        &[Bedrock],
        "two messages of one role in a row: user and assistant must alternate",
        "the conversation has to alternate between the roles user and assistant",
    ),
    rule(
        "provider.call_placement",
        &[Gemini],
        "a call that does not stand directly behind the user or a result",
        "a turn with a function call has to come immediately after a turn of the user or of function responses",
    ),
    rule(
        "provider.no_messages",
        ALL,
        "a body without a message",
        "the list is too short, or is not specified: at least one message is needed",
    ),
    rule(
        "provider.no_content",
        &[OpenAi, Anthropic, Gemini, Bedrock],
        "a message without content; for Anthropic, one of the user; for Bedrock also a result that is an error",
        "OpenAI expects a string and got null; messages of the user must not be empty; at least one field parts is \
         needed, each with its data; the field content is empty, and may not be when the status is error",
    ),
    rule(
        "provider.empty_text",
        &[Anthropic, Bedrock],
        "an empty text block; for Bedrock also one of white space, for Anthropic only where its message is no more",
        "text blocks must not be empty and must hold more than white space; the text field of the block is blank",
    ),
    rule(
        "provider.trailing_space",
        &[Anthropic],
        "a last message of the assistant that ends in white space",
        "the last content of the assistant may not end in white space",
    ),
    rule(
        "provider.id_missing",
        &[OpenAi, Responses, Anthropic, Bedrock],
        "a call or a result without an id",
        "a required parameter is missing, is an empty string, or is shorter than one character",
    ),
    rule(
        "provider.id_spelling",
        &[Responses, Anthropic, Bedrock],
        "an id with other characters than a-z, A-Z, 0-9, _ and -, for Bedrock . and : too; one of more than 64 \
         characters for Responses and Bedrock",
        "the id does not match the pattern, or is longer than 64 characters",
    ),
    rule(
        "provider.id_repeated",
        &[OpenAi, Responses, Anthropic, Bedrock],
        "an id that two calls of one turn have; for Anthropic, of the conversation; for Responses, two items",
        "an id stands twice: ids of calls have to be unique, and items that are sent twice have to be removed",
    ),
    rule(
        "provider.tool_name",
        &[OpenAi, Responses, Bedrock],
        "a call whose tool has a name with other characters than a-z, A-Z, 0-9, _ and -, for OpenAI . too; one of more \
         than 64 characters for Bedrock",
        "the name of the function does not match the pattern, or is longer than 64 characters",
    ),
    rule(
        "provider.call_without_result",
        ALL,
        "a call that has no result before the conversation goes on",
        "every call has to be answered: in the messages that follow it, in the next message, or by as many responses \
         as there are calls",
    ),
    rule(
        "provider.result_without_call",
        ALL,
        "a result whose call is not there",
        "a result has to belong to a call: the message before it makes none with this id, or fewer calls than results",
    ),
    rule(
        "provider.result_misplaced",
        &[OpenAi, Anthropic, Gemini, Bedrock],
        "a result that does not stand directly behind its call",
        "a result has to answer the message directly before it",
    ),
    rule(
        "provider.result_twice",
        &[OpenAi, Anthropic, Bedrock],
        "a second result of one call",
        "each call has a single result: the id of this one stands twice, or there are more results than calls",
    ),
    rule(
        "provider.result_order",
        &[Anthropic],
        "a result behind other content of the user: results come first",
        "the message behind calls has to begin with their results",
    ),
    rule(
        "provider.tools_missing",
        &[Bedrock],
        "calls or results without the tools they are of",
        "the tool configuration has to be there when messages hold calls or results",
    ),
    rule(
        "provider.empty_calls",
        &[OpenAi],
        "an empty list of calls",
        "the list of calls is empty, and must have one entry where it is there",
    ),
    rule(
        "provider.message_name",
        &[OpenAi],
        "a name of a message with white space, or with one of < > | / and \\",
        "the name of the message does not match the pattern",
    ),
    rule(
        "provider.reasoning_alone",
        &[Responses],
        "reasoning that the provider keeps, sent without the item that it led to",
        "an item of reasoning was given without the item that has to follow it",
    ),
    rule(
        "provider.cache_markers",
        &[Anthropic, Bedrock],
        "more than four markers for the cache",
        "at most four blocks may be marked for the cache",
    ),
];

const fn rule(code: &'static str, shapes: &'static [Shape], why: &'static str, reason: &'static str) -> Rule {
    Rule { code, shapes, why, reason }
}

/// What the provider of a shape would refuse of a context. `wire` is the body it came from, if it has that shape: it is
/// taken as it was sent. Without it the context is taken as it is written: calls without an id are given one, and what
/// the shape wants as one message becomes one.
pub fn check(context: &Context<'_>, shape: Shape, wire: Option<&Wire<'_>>) -> Vec<Finding> {
    let wire = wire.filter(|wire| wire.shape == shape);
    let goes_on = wire.is_some_and(Wire::goes_on);
    let mut checks = Checks { shape, findings: Vec::new(), goes_on, is_recorded: wire.is_some() };
    checks.messages(&context.messages);
    checks.calls(&context.messages);
    checks.tools(context);
    if let Some(wire) = wire {
        checks.sent(&wire.body);
    }
    checks.findings
}

struct Checks {
    shape: Shape,
    findings: Vec<Finding>,
    /// Whether the body goes on from what the provider keeps.
    goes_on: bool,
    /// Whether it is a body of this shape, and so goes out as it is.
    is_recorded: bool,
}

impl Checks {
    fn find(&mut self, code: &'static str, origin: &Origin<'_>, what: impl Into<String>) {
        let is_enforced = RULES.iter().any(|rule| rule.code == code && rule.shapes.contains(&self.shape));
        if is_enforced {
            self.findings.push(Finding { code, path: origin.to_string(), what: what.into() });
        }
    }

    fn find_at(&mut self, code: &'static str, path: String, what: impl Into<String>) {
        self.find(code, &Origin::Body(path.into()), what);
    }
}
