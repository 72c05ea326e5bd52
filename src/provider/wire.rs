//! What lies beneath a context that was read from a body.

use std::borrow::Cow;

use super::reading::has;
use super::rules::markers;
use super::writing::Writing;
use super::{Draft, Shape};
use crate::context::node::{Node, Value};
use crate::context::{Block, Context, Key, Message, Origin, Status};

/// A recorded body as it stands: everything that was sent, modelled or not.
#[derive(Clone, Debug)]
pub struct Wire<'a> {
    /// Its shape.
    pub shape: Shape,
    /// The body, or the list of its messages.
    pub(crate) body: Node<'a>,
    /// The JSON text it was read from, which its places are in; none where it was written as YAML.
    pub(crate) text: Option<Cow<'a, str>>,
}

impl Wire<'_> {
    /// Whether it is a body, and not the list of its messages alone.
    pub fn is_map(&self) -> bool {
        matches!(self.body.value, Value::Map(_))
    }

    /// The model that is asked, where the body names it.
    pub fn model(&self) -> Option<String> {
        let model = self.body.get("model").or_else(|| self.body.get("modelId"))?;
        match &model.value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Where markers for the cache stand.
    pub fn markers(&self) -> Vec<String> {
        let mut found = Vec::new();
        markers_at(&self.body, String::new(), &mut found);
        found
    }

    /// What the body says of the call at a place: it may still run, or have been given up.
    pub fn status_of(&self, origin: &Origin<'_>) -> Status {
        let index = |path: &str| path.strip_prefix("input[")?.strip_suffix(']')?.parse::<usize>().ok();
        let item = match (origin, self.shape, self.body.get(Shape::Responses.list_key()).map(|list| &list.value)) {
            (Origin::Body(path), Shape::Responses, Some(Value::List(items))) => {
                index(path).and_then(|at| items.get(at))
            }
            _ => None,
        };
        match item.and_then(|item| item.get("status")).map(|status| &status.value) {
            Some(Value::Text(status)) if status.to_cow() == "in_progress" => Status::Pending,
            Some(Value::Text(status)) if status.to_cow() == "incomplete" => Status::Cancelled,
            _ => Status::Lost,
        }
    }

    /// Names what of the body belongs to its own shape alone, and so does not come over to another.
    pub(super) fn name_what_stays(&self, writing: &mut Writing<'_>) {
        const OF_CONTEXT: [&str; 6] =
            ["tools", "functions", "system", "instructions", "systemInstruction", "system_instruction"];
        if let Value::Map(entries) = &self.body.value {
            let keys = entries.iter().map(|entry| &*entry.key);
            let keys: Vec<&str> =
                keys.filter(|key| *key != self.shape.list_key() && !OF_CONTEXT.contains(key)).collect();
            if !keys.is_empty() {
                writing.change_at(None, format!("parameters are not carried over: {}", keys.join(", ")));
            }
        }
        let markers = ["cache_control", "cachePoint"].map(|key| markers(&self.body, key, 0)).iter().sum::<usize>();
        if markers > 0 {
            writing.change_at(None, format!("markers for the cache are not carried over: {markers}"));
        }
    }

    /// A value as it is spelled.
    pub(super) fn raw(&self, node: &Node<'_>) -> Option<&str> {
        self.text.as_deref()?.get(node.span.range())
    }

    /// Whether the call goes on from what the provider keeps.
    pub(super) fn goes_on(&self) -> bool {
        let keys: &[&str] = match self.shape {
            Shape::Responses => &["previous_response_id", "conversation", "prompt"],
            Shape::Gemini => &["cachedContent", "cached_content"],
            Shape::OpenAi | Shape::Anthropic | Shape::Bedrock => &[],
        };
        keys.iter().any(|key| has(&self.body, key))
    }
}

impl<'c> Wire<'c> {
    /// The body as it was, with what was added to its context. `write` gives the items of an added message, and the block
    /// of an added one.
    pub(super) fn rewritten(
        &'c self,
        context: &'c Context<'c>,
        write: &mut dyn FnMut(&Message<'_>) -> Vec<Draft<'c>>,
    ) -> Draft<'c> {
        let list = self.body.get(self.shape.list_key()).unwrap_or(&self.body);
        let is_list = std::ptr::eq(list, &self.body);
        let messages = if context.messages.iter().any(has_repair) {
            self.with_added(list, context, write)
        } else {
            Draft::Node(list)
        };
        let Value::Map(entries) = &self.body.value else { return Draft::map([(self.shape.list_key(), messages)]) };
        if is_list {
            return Draft::Node(&self.body);
        }
        let mut body = Draft::map([]);
        let mut messages = Some(messages);
        for entry in entries {
            let value = if entry.key == self.shape.list_key() { messages.take() } else { None };
            body.push(Cow::Borrowed(&*entry.key), value.unwrap_or(Draft::Node(&entry.value)));
        }
        body
    }

    fn with_added(
        &'c self,
        list: &'c Node<'c>,
        context: &'c Context<'c>,
        write: &mut dyn FnMut(&Message<'_>) -> Vec<Draft<'c>>,
    ) -> Draft<'c> {
        let Value::List(items) = &list.value else { return Draft::Node(list) };
        let mut items = items.iter();
        let mut drafts = Vec::new();
        let in_list = format!("{}[", self.shape.list_key());
        for message in &context.messages {
            match &message.origin {
                Origin::Repair(_) => drafts.extend(write(message)),
                origin if origin.to_string().starts_with(&in_list) => {
                    let Some(item) = items.next() else { break };
                    drafts.push(match has_repair(message) {
                        true => with_blocks(item, message, write),
                        false => Draft::Node(item),
                    });
                }
                _ => {}
            }
        }
        Draft::List(drafts)
    }
}

fn has_repair(message: &Message<'_>) -> bool {
    let is_repair = |origin: &Origin<'_>| matches!(origin, Origin::Repair(_));
    is_repair(&message.origin) || message.blocks.iter().any(|block| is_repair(&block.origin))
}

/// A recorded message with blocks that were put before its own.
fn with_blocks<'c>(
    item: &'c Node<'c>,
    message: &'c Message<'c>,
    write: &mut dyn FnMut(&Message<'_>) -> Vec<Draft<'c>>,
) -> Draft<'c> {
    let Value::Map(entries) = &item.value else { return Draft::Node(item) };
    let key = if item.get("parts").is_some() { "parts" } else { "content" };
    let own = item.get(key).map(|content| &content.value);
    let is_added = |block: &&Block<'_>| matches!(block.origin, Origin::Repair(_));
    // A string is the one block that stands behind them; of a list everything is written back as it is.
    let blocks = match own {
        Some(Value::List(own)) => {
            let added = message.blocks.iter().filter(is_added).map(Block::borrow).collect();
            let added = Message { blocks: added, fingerprint: None, ..message.borrow() };
            let at = message.blocks.iter().take_while(|block| !is_added(block)).count().min(own.len());
            let count = own.len();
            written(&added, key, write).map(|added| {
                let own = |range: std::ops::Range<usize>| own[range].iter().map(Draft::Node);
                own(0..at).chain(added).chain(own(at..count)).collect()
            })
        }
        _ => written(message, key, write),
    };
    let Some(blocks) = blocks else { return Draft::Node(item) };
    let mut draft = Draft::map([]);
    let mut blocks = Some(Draft::List(blocks));
    for entry in entries {
        let value = if entry.key == key { blocks.take() } else { None };
        draft.push(Cow::Borrowed(&*entry.key), value.unwrap_or(Draft::Node(&entry.value)));
    }
    draft
}

fn markers_at(node: &Node<'_>, path: String, found: &mut Vec<String>) {
    match &node.value {
        Value::List(items) => {
            items.iter().enumerate().for_each(|(at, item)| markers_at(item, format!("{path}[{at}]"), found));
        }
        Value::Map(entries) => {
            for entry in entries {
                match &*entry.key {
                    "cache_control" | "cachePoint" => found.push(path.clone()),
                    "input" | "input_schema" | "inputSchema" | "arguments" => {}
                    key => markers_at(&entry.value, format!("{path}{}", Key(key)), found),
                }
            }
        }
        _ => {}
    }
}

/// The blocks of a message in their wire form.
fn written<'c>(
    message: &Message<'_>,
    key: &str,
    write: &mut dyn FnMut(&Message<'_>) -> Vec<Draft<'c>>,
) -> Option<Vec<Draft<'c>>> {
    match write(message).pop()?.take(key)? {
        Draft::List(blocks) => Some(blocks),
        _ => None,
    }
}
