//! What is refused of calls and results: their ids, their names, and how they pair.

use std::collections::{HashMap, HashSet};

use super::super::Shape;
use super::Checks;
use super::messages::{Side, side};
use crate::context::{Block, Content, Context, Message, Text};

use Shape::{Anthropic, Bedrock, Gemini, OpenAi, Responses};

impl Checks {
    pub(super) fn calls(&mut self, messages: &[Message<'_>]) {
        let mut pairs = Pairs::default();
        let mut all = HashSet::new();
        // What the user said since the assistant did: a shape that joins the user's messages sees it before a result.
        let mut said_before = false;
        for message in messages {
            let is_assistant = side(&message.role) == Side::Assistant;
            let makes_calls = message.blocks.iter().any(|block| matches!(block.content, Content::ToolUse { .. }));
            if self.ends_turn(message, is_assistant, makes_calls, &pairs) {
                self.close(&mut pairs);
            }
            said_before &= !is_assistant;
            for block in &message.blocks {
                if self.is_of_old(message, block) {
                    continue;
                }
                match &block.content {
                    Content::ToolUse { id, name, .. } => {
                        self.tool_name(block, name);
                        self.call(block, id, name, &mut pairs, &mut all);
                    }
                    Content::ToolResult { tool_use_id, .. } => {
                        self.result(block, tool_use_id, &mut pairs);
                        if said_before {
                            let what = "this result stands behind other content of the user";
                            self.find("provider.result_order", &block.origin, what);
                        }
                    }
                    _ => said_before |= side(&message.role) == Side::User,
                }
            }
        }
        self.close(&mut pairs);
    }

    /// Calls and results of functions as they were before there were tools: they have no ids, and need no partner.
    fn is_of_old(&self, message: &Message<'_>, block: &Block<'_>) -> bool {
        self.shape == OpenAi
            && self.is_recorded
            && (message.role.as_str() == "function" || block.origin.to_string().ends_with(".function_call"))
    }

    /// Whether the calls so far must have their results before this message.
    fn ends_turn(&self, message: &Message<'_>, is_assistant: bool, makes_calls: bool, pairs: &Pairs<'_>) -> bool {
        let has_results = message.blocks.iter().any(|block| matches!(block.content, Content::ToolResult { .. }));
        match self.shape {
            // Results may come at any time.
            Responses => false,
            // The calls of one turn may be several messages of what is read from another shape.
            _ if is_assistant && makes_calls && !pairs.has_results => false,
            OpenAi | Gemini => !has_results,
            Anthropic | Bedrock => is_assistant,
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
        let key = self.key(id);
        // Calls that are not recorded get an id when they are written.
        if id.is_empty() && self.is_recorded {
            let what = format!("the call of {:?} has no id", name.to_cow());
            self.find("provider.id_missing", &block.origin, what);
        }
        if !key.is_empty() {
            self.spelling(block, &key);
            let is_open = self.shape != Responses && pairs.waits_for(&key);
            if is_open || self.shape == Anthropic && all.contains(&key) {
                self.find("provider.id_repeated", &block.origin, format!("another call has the id {key:?}"));
            }
            all.insert(key.clone());
        }
        pairs.has_results = false;
        pairs.add(key, block);
    }

    /// What calls and results go together by: their ids, or nothing but how many they are.
    fn key(&self, id: &Text<'_>) -> String {
        if self.shape == Gemini { String::new() } else { id.to_string() }
    }

    fn spelling(&mut self, block: &Block<'_>, id: &str) {
        const MOST_CHARS: usize = 64;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_plain = id.chars().all(|c| plain(c) || self.shape == Bedrock && matches!(c, '.' | ':'));
        if !is_plain && self.shape != Responses {
            let what = format!("the id {id:?} has characters that ids may not have");
            self.find("provider.id_spelling", &block.origin, what);
        }
        if self.shape != Anthropic && id.chars().count() > MOST_CHARS {
            let what = format!("the id {id:?} has more than {MOST_CHARS} characters");
            self.find("provider.id_spelling", &block.origin, what);
        }
    }

    fn tool_name(&mut self, block: &Block<'_>, name: &Text<'_>) {
        const MOST_CHARS: usize = 64;
        let name = name.to_cow();
        let may_have_dots = self.shape != Bedrock;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || may_have_dots && c == '.';
        if name.is_empty() || !name.chars().all(plain) {
            let what = format!("the tool's name {name:?} is empty, or has characters that names may not have");
            self.find("provider.tool_name", &block.origin, what);
        } else if self.shape == Bedrock && name.len() > MOST_CHARS {
            let what = format!("the tool's name {name:?} has more than {MOST_CHARS} characters");
            self.find("provider.tool_name", &block.origin, what);
        }
    }

    fn result(&mut self, block: &Block<'_>, id: &Text<'_>, pairs: &mut Pairs<'_>) {
        let key = self.key(id);
        if id.is_empty() && self.is_recorded {
            self.find("provider.id_missing", &block.origin, "this result names no call");
        }
        pairs.has_results = true;
        match pairs.answer(&key) {
            Answer::Open => {}
            Answer::Twice => {
                self.find("provider.result_twice", &block.origin, format!("the call {key:?} has a result already"));
            }
            Answer::Closed => {
                let call = if key.is_empty() { "its call".to_owned() } else { format!("the call {key:?}") };
                let what = format!("{call} stands further up, not directly before");
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
                let id = if id.is_empty() { String::new() } else { format!(" {:?}", id.to_cow()) };
                let what = format!("the call{id} of {:?} has no result", name.to_cow());
                self.find("provider.call_without_result", &block.origin, what);
            }
        }
    }

    /// Whether the tools are there that calls and results are of.
    pub(super) fn tools(&mut self, context: &Context<'_>) {
        let is_of_tool =
            |block: &&Block<'_>| matches!(block.content, Content::ToolUse { .. } | Content::ToolResult { .. });
        let first = context.messages.iter().flat_map(|message| &message.blocks).find(is_of_tool);
        if let Some(block) = first.filter(|_| context.tools.is_empty()) {
            let what = "there are calls or results, and no tools: --param toolConfig=... names them";
            self.find("provider.tools_missing", &block.origin, what);
        }
    }
}

/// The calls of a turn and what has come of them.
#[derive(Default)]
struct Pairs<'c> {
    order: Vec<&'c Block<'c>>,
    /// By key, the places of its calls in `order`, and how many of them, from the first on, have their result.
    open: HashMap<String, (Vec<usize>, usize)>,
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
        self.open.entry(key).or_default().0.push(self.order.len());
        self.order.push(block);
    }

    /// Whether a call with an id has no result yet.
    fn waits_for(&self, key: &str) -> bool {
        self.open.get(key).is_some_and(|(calls, answered)| *answered < calls.len())
    }

    fn answer(&mut self, key: &str) -> Answer {
        match self.open.get_mut(key) {
            Some((calls, answered)) if *answered < calls.len() => {
                *answered += 1;
                Answer::Open
            }
            Some(_) if key.is_empty() => Answer::Unknown,
            Some(_) => Answer::Twice,
            None if self.closed.contains(key) => Answer::Closed,
            None => Answer::Unknown,
        }
    }

    /// The calls that have no result, in their order.
    fn close(&mut self) -> Vec<&'c Block<'c>> {
        let mut waiting: Vec<usize> =
            self.open.values().flat_map(|(calls, answered)| &calls[*answered..]).copied().collect();
        waiting.sort_unstable();
        let order = std::mem::take(&mut self.order);
        self.closed.extend(self.open.drain().map(|(key, _)| key));
        waiting.into_iter().map(|at| order[at]).collect()
    }
}
