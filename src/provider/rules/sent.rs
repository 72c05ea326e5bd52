//! What is refused of a body as it was sent, and does not show in its context.

use std::collections::HashSet;

use super::super::Shape;
use super::super::reading::{has, kind};
use super::Checks;
use crate::context::node::{Node, Value};

impl Checks {
    pub(super) fn sent(&mut self, body: &Node<'_>) {
        let key = self.shape.list_key();
        let list = match &body.get(key).unwrap_or(body).value {
            Value::List(list) => list,
            _ => &Vec::new(),
        };
        match self.shape {
            Shape::OpenAi => list.iter().enumerate().for_each(|(index, item)| self.sent_message(item, index)),
            Shape::Responses => self.sent_items(list),
            Shape::Anthropic => self.sent_markers(body, "cache_control"),
            Shape::Bedrock => self.sent_markers(body, "cachePoint"),
            Shape::Gemini => {}
        }
    }

    fn sent_message(&mut self, message: &Node<'_>, index: usize) {
        let path = format!("messages[{index}]");
        if matches!(message.get("tool_calls").map(|calls| &calls.value), Some(Value::List(calls)) if calls.is_empty()) {
            self.find_at("provider.empty_calls", format!("{path}.tool_calls"), "this list of calls is empty");
        }
        if let Some(Value::Text(name)) = message.get("name").map(|name| &name.value)
            && name.to_cow().contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '|' | '/' | '\\'))
        {
            let what = format!("the name {:?} has characters that names may not have", name.to_cow());
            self.find_at("provider.message_name", format!("{path}.name"), what);
        }
        let is_empty = match message.get("content").map(|content| &content.value) {
            None | Some(Value::Null) => true,
            Some(Value::List(parts)) => parts.is_empty(),
            Some(_) => false,
        };
        // What stands for the content.
        let stand_ins = ["tool_calls", "function_call", "audio", "refusal", "reasoning_content", "reasoning"];
        if is_empty && !stand_ins.iter().any(|key| has(message, key)) {
            self.find_at("provider.no_content", path, "this message has no content");
        }
    }

    fn sent_items(&mut self, items: &[Node<'_>]) {
        let text = |item: &Node<'_>, key: &str| match item.get(key).map(|value| &value.value) {
            Some(Value::Text(text)) => Some(text.to_string()),
            _ => None,
        };
        let mut ids = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("input[{index}]");
            let id = text(item, "id").filter(|_| kind(item) != "item_reference");
            if let Some(id) = id.clone().filter(|id| !ids.insert(id.clone())) {
                self.find_at("provider.id_repeated", path.clone(), format!("another item has the id {id:?}"));
            }
            // What is sent along encrypted is not looked up.
            let is_kept = kind(item) == "reasoning" && id.is_some() && !has(item, "encrypted_content");
            let behind = items[index + 1..].iter().find(|item| kind(item) != "reasoning");
            let is_of_user = |item: &Node<'_>| match text(item, "role") {
                Some(role) => role != "assistant",
                None => kind(item).ends_with("_output"),
            };
            if is_kept && behind.is_none_or(is_of_user) {
                let what = "nothing of the assistant follows this reasoning";
                self.find_at("provider.reasoning_alone", path, what);
            }
        }
    }

    fn sent_markers(&mut self, body: &Node<'_>, key: &str) {
        const MOST: usize = 4;
        let count = markers(body, key, 0);
        if count > MOST {
            self.find_at("provider.cache_markers", "messages".to_owned(), format!("there are {count} of them"));
        }
    }
}

/// How often a key stands in a body, the schemas of tools left out; one at the top is no marker of a block.
pub(in super::super) fn markers(node: &Node<'_>, key: &str, depth: usize) -> usize {
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
