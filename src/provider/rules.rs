//! What providers refuse: rules that their interfaces enforce on a list of messages.

use std::collections::{HashMap, HashSet};

use super::Shape;
use super::wire::Wire;
use crate::context::node::{Node, Value};
use crate::context::{Block, Content, Context, Message, Origin, Role, Text};

/// A rule that some shape enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A stable, dotted name.
    pub code: &'static str,
    /// The shapes that enforce it.
    pub shapes: &'static [Shape],
    /// What they refuse, and why.
    pub why: &'static str,
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

/// Every rule, in the order in which findings of one message are listed.
pub const RULES: [Rule; 17] = [
    rule("provider.role", ALL, "a role that the interface does not know"),
    rule("provider.system_placement", &[Anthropic, Gemini, Bedrock], "a system message that is not at the head"),
    rule("provider.leading_role", &[Anthropic, Bedrock], "a conversation that does not begin with the user"),
    rule("provider.alternation", &[Bedrock], "two messages of one role in a row: user and assistant must alternate"),
    rule("provider.no_messages", ALL, "a body without a message"),
    rule("provider.no_content", &[OpenAi, Anthropic, Gemini, Bedrock], "a message without content"),
    rule("provider.empty_text", &[Anthropic, Bedrock], "a block of text with nothing but white space in it"),
    rule("provider.trailing_space", &[Anthropic, Bedrock], "a last message of the assistant that ends in white space"),
    rule("provider.id_missing", &[OpenAi, Responses, Anthropic, Bedrock], "a call or a result without an id"),
    rule("provider.id_spelling", &[Anthropic, Bedrock], "an id with other characters than a-z, A-Z, 0-9, _ and -"),
    rule("provider.id_repeated", ALL, "an id that two calls have, of one turn or, for Anthropic, of the conversation"),
    rule("provider.call_without_result", ALL, "a call that has no result before the conversation goes on"),
    rule("provider.result_without_call", ALL, "a result whose call is not there"),
    rule(
        "provider.result_misplaced",
        &[OpenAi, Anthropic, Gemini, Bedrock],
        "a result that does not stand directly behind its call",
    ),
    rule("provider.result_twice", ALL, "a second result of one call"),
    rule("provider.result_order", &[Anthropic], "a result behind other content of its message: results come first"),
    rule("provider.cache_markers", &[Anthropic, Bedrock], "more than four markers for the cache"),
];

const fn rule(code: &'static str, shapes: &'static [Shape], why: &'static str) -> Rule {
    Rule { code, shapes, why }
}

/// What the provider of a shape would refuse of a context. `wire` is the body it came from, if it has that shape.
pub fn check(context: &Context<'_>, shape: Shape, wire: Option<&Wire<'_>>) -> Vec<Finding> {
    let mut checks = Checks { shape, findings: Vec::new(), goes_on: wire.is_some_and(Wire::goes_on) };
    checks.messages(&context.messages);
    checks.calls(&context.messages);
    if let Some(wire) = wire.filter(|wire| wire.shape == shape) {
        checks.markers(&wire.body);
    }
    checks.findings
}

struct Checks {
    shape: Shape,
    findings: Vec<Finding>,
    /// Whether the body goes on from what the provider keeps.
    goes_on: bool,
}

impl Checks {
    fn find(&mut self, code: &'static str, origin: &Origin<'_>, what: impl Into<String>) {
        let is_enforced = RULES.iter().any(|rule| rule.code == code && rule.shapes.contains(&self.shape));
        if is_enforced {
            self.findings.push(Finding { code, path: origin.to_string(), what: what.into() });
        }
    }

    fn messages(&mut self, messages: &[Message<'_>]) {
        let top = Origin::Body("messages".into());
        let is_system = |message: &&Message<'_>| matches!(message.role, Role::System | Role::Developer);
        let has_head = !matches!(self.shape, OpenAi | Responses);
        let head = if has_head { messages.iter().take_while(is_system).count() } else { 0 };
        let rest = &messages[head..];
        if rest.is_empty() && !self.goes_on {
            self.find("provider.no_messages", &top, "there is no message");
        }
        let mut before: Option<&Message<'_>> = None;
        for (index, message) in rest.iter().enumerate() {
            let is_last = index + 1 == rest.len();
            self.role(message, before.is_none());
            if before.is_some_and(|before| side(&before.role) == side(&message.role) && !both_results(before, message))
            {
                self.find("provider.alternation", &message.origin, "this message has the role of the one before it");
            }
            before = Some(message);
            self.content(message, is_last);
        }
        for message in &messages[..head] {
            self.texts(message);
        }
    }

    fn role(&mut self, message: &Message<'_>, is_first: bool) {
        match &message.role {
            Role::System | Role::Developer => {
                let takes_effect = message.blocks.iter().all(|block| matches!(block.content, Content::Opaque { .. }));
                if !(self.shape == Anthropic && takes_effect && !message.blocks.is_empty()) {
                    let what = "a system message stands behind others";
                    self.find("provider.system_placement", &message.origin, what);
                }
            }
            Role::Other(name) if name != "function" => {
                let what = format!("the role {name:?} is not known to {}", self.shape);
                // What is no message has no role of its own.
                let is_item = self.shape == Responses
                    && message.blocks.iter().all(|block| matches!(block.content, Content::Opaque { .. }));
                if !is_item {
                    self.find("provider.role", &message.origin, what);
                }
            }
            _ => {}
        }
        if is_first && side(&message.role) == Side::Assistant {
            self.find("provider.leading_role", &message.origin, "the first message is the assistant's");
        }
    }

    fn content(&mut self, message: &Message<'_>, is_last: bool) {
        let may_be_empty = match self.shape {
            // The answer may be begun with nothing.
            Anthropic => is_last && message.role == Role::Assistant,
            OpenAi => message.role == Role::Assistant && is_last,
            _ => false,
        };
        if message.blocks.is_empty() && !may_be_empty {
            self.find("provider.no_content", &message.origin, "this message has no content");
        }
        self.texts(message);
        if is_last
            && message.role == Role::Assistant
            && let Some(Block { content: Content::Text(text), origin }) = message.blocks.last()
            && ends_in_space(text)
        {
            self.find("provider.trailing_space", origin, "the last message ends in white space");
        }
    }

    fn texts(&mut self, message: &Message<'_>) {
        for block in &message.blocks {
            let is_blank = |content: &Content<'_>| content.as_text().is_some_and(is_blank);
            if is_blank(&block.content) {
                self.find("provider.empty_text", &block.origin, "this text is empty, or white space");
            }
            if let Content::ToolResult { content, .. } = &block.content
                && content.len() > 1
                && content.iter().any(is_blank)
            {
                self.find("provider.empty_text", &block.origin, "a text in this result is empty, or white space");
            }
        }
    }

    fn calls(&mut self, messages: &[Message<'_>]) {
        let mut pairs = Pairs::default();
        let mut all = HashSet::new();
        for message in messages {
            let is_said = |block: &Block<'_>| !matches!(block.content, Content::ToolResult { .. });
            let mut said_before = false;
            let is_assistant = side(&message.role) == Side::Assistant;
            let makes_calls = message.blocks.iter().any(|block| matches!(block.content, Content::ToolUse { .. }));
            if self.ends_turn(message, is_assistant, makes_calls, &pairs) {
                self.close(&mut pairs);
            }
            for block in &message.blocks {
                match &block.content {
                    Content::ToolUse { id, name, .. } => self.call(block, id, name, &mut pairs, &mut all),
                    Content::ToolResult { tool_use_id, .. } => {
                        self.result(block, tool_use_id, &mut pairs);
                        if said_before {
                            let what = "this result stands behind other content of its message";
                            self.find("provider.result_order", &block.origin, what);
                        }
                    }
                    _ => {}
                }
                said_before |= is_said(block);
            }
        }
        self.close(&mut pairs);
    }

    /// Whether the calls so far must have their results before this message.
    fn ends_turn(&self, message: &Message<'_>, is_assistant: bool, makes_calls: bool, pairs: &Pairs<'_>) -> bool {
        let has_results = message.blocks.iter().any(|block| matches!(block.content, Content::ToolResult { .. }));
        match self.shape {
            // Results may come at any time.
            Responses => false,
            // The calls of one turn may be several messages of what is read from another shape.
            _ if is_assistant && makes_calls && !pairs.has_results => false,
            OpenAi => !has_results,
            _ => is_assistant,
        }
    }

    fn call<'c>(
        &mut self,
        block: &'c Block<'_>,
        id: &'c Text<'_>,
        name: &Text<'_>,
        pairs: &mut Pairs<'c>,
        all: &mut HashSet<String>,
    ) {
        let key = id.to_string();
        if id.is_empty() {
            let what = format!("the call of {:?} has no id", name.to_cow());
            self.find("provider.id_missing", &block.origin, what);
        } else {
            self.spelling(block, &key);
            let is_open = pairs.waits_for(&key);
            if is_open || self.shape == Anthropic && all.contains(&key) {
                self.find("provider.id_repeated", &block.origin, format!("another call has the id {key:?}"));
            }
            all.insert(key.clone());
        }
        pairs.has_results = false;
        pairs.add(key, block);
    }

    fn spelling(&mut self, block: &Block<'_>, id: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_plain = id.chars().all(|c| plain(c) || self.shape == Bedrock && matches!(c, '.' | ':'));
        if !is_plain {
            self.find(
                "provider.id_spelling",
                &block.origin,
                format!("the id {id:?} has characters that ids may not have"),
            );
        }
    }

    fn result(&mut self, block: &Block<'_>, id: &Text<'_>, pairs: &mut Pairs<'_>) {
        let key = id.to_string();
        if id.is_empty() && self.shape != Gemini {
            self.find("provider.id_missing", &block.origin, "this result names no call");
        }
        pairs.has_results = true;
        match pairs.answer(&key) {
            Answer::Open => {}
            Answer::Twice => {
                self.find("provider.result_twice", &block.origin, format!("the call {key:?} has a result already"));
            }
            Answer::Closed => {
                let what = format!("the call {key:?} stands further up, not directly before");
                self.find("provider.result_misplaced", &block.origin, what);
            }
            Answer::Unknown if self.goes_on => {}
            Answer::Unknown => {
                let what = if key.is_empty() {
                    "no call waits for this result".to_owned()
                } else {
                    format!("no call has the id {key:?}")
                };
                self.find("provider.result_without_call", &block.origin, what);
            }
        }
    }

    fn close(&mut self, pairs: &mut Pairs<'_>) {
        for block in pairs.close() {
            if let Content::ToolUse { id, name, .. } = &block.content {
                let what = format!("the call {:?} of {:?} has no result", id.to_cow(), name.to_cow());
                self.find("provider.call_without_result", &block.origin, what);
            }
        }
    }

    fn markers(&mut self, body: &Node<'_>) {
        const MOST: usize = 4;
        let key = if self.shape == Bedrock { "cachePoint" } else { "cache_control" };
        let count = markers(body, key, 0);
        if count > MOST {
            let top = Origin::Body("messages".into());
            self.find("provider.cache_markers", &top, format!("there are {count} of them"));
        }
    }
}

/// How often a key stands in a body, the schemas of tools left out; one at the top is no marker of a block.
pub(super) fn markers(node: &Node<'_>, key: &str, depth: usize) -> usize {
    match &node.value {
        Value::List(items) => items.iter().map(|item| markers(item, key, depth + 1)).sum(),
        Value::Map(entries) => {
            let own =
                entries.iter().any(|entry| depth > 0 && entry.key == key && !matches!(entry.value.value, Value::Null));
            let schema = ["input_schema", "inputSchema", "input", "function", "parameters"];
            let inner = entries.iter().filter(|entry| entry.key != key && !schema.contains(&&*entry.key));
            usize::from(own) + inner.map(|entry| markers(&entry.value, key, depth + 1)).sum::<usize>()
        }
        _ => 0,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    Assistant,
    Other,
}

fn side(role: &Role<'_>) -> Side {
    match role {
        Role::Assistant => Side::Assistant,
        Role::User | Role::Tool => Side::User,
        _ => Side::Other,
    }
}

/// Results of one turn are written as one message.
fn both_results(a: &Message<'_>, b: &Message<'_>) -> bool {
    let results =
        |message: &Message<'_>| message.blocks.iter().all(|block| matches!(block.content, Content::ToolResult { .. }));
    let calls = |message: &Message<'_>| {
        !message.blocks.is_empty()
            && message.blocks.iter().all(|block| matches!(block.content, Content::ToolUse { .. }))
    };
    results(a) && results(b) || b.role == Role::Assistant && calls(b)
}

fn is_blank(text: &Text<'_>) -> bool {
    text.chunks().all(|chunk| chunk.chars().all(char::is_whitespace))
}

fn ends_in_space(text: &Text<'_>) -> bool {
    let last = text.chunks().filter(|chunk| !chunk.is_empty()).last();
    last.is_some_and(|chunk| chunk.ends_with(char::is_whitespace))
}

/// The calls of a turn and what has come of them.
#[derive(Default)]
pub(super) struct Pairs<'c> {
    /// By id, whether it has its result; those without an id by their order.
    open: HashMap<String, Vec<(&'c Block<'c>, bool)>>,
    order: Vec<&'c Block<'c>>,
    closed: HashSet<String>,
    /// Whether a result has come since the last call.
    has_results: bool,
}

/// What a result is to the calls before it.
enum Answer {
    Open,
    Twice,
    Closed,
    Unknown,
}

impl<'c> Pairs<'c> {
    fn add(&mut self, key: String, block: &'c Block<'_>) {
        self.open.entry(key).or_default().push((block, false));
        self.order.push(block);
    }

    /// Whether a call with an id has no result yet.
    fn waits_for(&self, key: &str) -> bool {
        self.open.get(key).is_some_and(|calls| calls.iter().any(|(_, is_answered)| !is_answered))
    }

    fn answer(&mut self, key: &str) -> Answer {
        let Some(calls) = self.open.get_mut(key) else {
            return if self.closed.contains(key) { Answer::Closed } else { Answer::Unknown };
        };
        match calls.iter_mut().find(|(_, is_answered)| !is_answered) {
            Some((_, is_answered)) => {
                *is_answered = true;
                Answer::Open
            }
            None if key.is_empty() => Answer::Unknown,
            None => Answer::Twice,
        }
    }

    /// The calls that have no result, in their order.
    fn close(&mut self) -> Vec<&'c Block<'c>> {
        let open = std::mem::take(&mut self.open);
        let is_waiting = |block: &&'c Block<'c>| {
            open.values().flatten().any(|(call, is_answered)| std::ptr::eq(*call, *block) && !is_answered)
        };
        let waiting = std::mem::take(&mut self.order).into_iter().filter(is_waiting).collect();
        self.closed.extend(open.into_keys());
        waiting
    }
}
