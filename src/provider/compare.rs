//! Where two bodies differ on the wire, though what the model sees is the same.

use std::collections::HashMap;

use serde::Serialize;

use super::{Shape, Wire};
use crate::context::node::{Entry, Node, Value};
use crate::context::{Key, Text};

/// A difference between two bodies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WireChange {
    /// Where, as a path in the bodies; empty for the whole.
    pub path: String,
    /// What it is.
    pub class: WireClass,
}

/// What a difference between two bodies is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WireClass {
    /// The same said in another form: a string or a list of one block, null or nothing, another shape altogether.
    BlockShape,
    /// The same keys in another order.
    KeyOrder,
    /// A marker for the cache.
    CacheControl,
    /// The same number, spelled differently.
    Number,
    /// The same string, escaped differently.
    Escape,
    /// Anything else beside the context: model, temperature, names, signatures.
    Parameter,
}

impl WireClass {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            WireClass::BlockShape => "block_shape",
            WireClass::KeyOrder => "key_order",
            WireClass::CacheControl => "cache_control",
            WireClass::Number => "number",
            WireClass::Escape => "escape",
            WireClass::Parameter => "parameter",
        }
    }
}

/// Every difference between two bodies that is none of their contexts, in the order of the first.
pub fn compare(a: &Wire<'_>, b: &Wire<'_>) -> Vec<WireChange> {
    let mut comparison = Comparison { a, b, changes: Vec::new(), path: String::new(), in_messages: false };
    match a.shape == b.shape && a.is_map() == b.is_map() {
        true => comparison.nodes(&a.body, &b.body),
        false => comparison.find(WireClass::BlockShape),
    }
    comparison.changes
}

struct Comparison<'w> {
    a: &'w Wire<'w>,
    b: &'w Wire<'w>,
    changes: Vec<WireChange>,
    path: String,
    /// Whether it is below the messages, whose texts the contexts are compared by.
    in_messages: bool,
}

impl Comparison<'_> {
    fn find(&mut self, class: WireClass) {
        self.changes.push(WireChange { path: self.path.trim_start_matches('.').to_owned(), class });
    }

    /// What differs and is no matter of spelling: a part of the context, or something beside it.
    fn find_other(&mut self) {
        if !self.in_messages {
            self.find(WireClass::Parameter);
        }
    }

    fn nodes(&mut self, a: &Node<'_>, b: &Node<'_>) {
        match (&a.value, &b.value) {
            (Value::Map(in_a), Value::Map(in_b)) => self.maps(in_a, in_b),
            (Value::List(in_a), Value::List(in_b)) => self.lists(in_a, in_b),
            (Value::Text(in_a), Value::Text(in_b)) if in_a == in_b => {
                if let (Some(raw_a), Some(raw_b)) = (self.a.raw(a), self.b.raw(b))
                    && raw_a != raw_b
                {
                    self.find(WireClass::Escape);
                }
            }
            (Value::Number(in_a), Value::Number(in_b)) if in_a == in_b => {}
            (Value::Number(in_a), Value::Number(in_b)) if same_number(in_a, in_b) => self.find(WireClass::Number),
            (Value::Null, Value::Null) => {}
            (Value::Bool(in_a), Value::Bool(in_b)) if in_a == in_b => {}
            (Value::Text(text), Value::List(_)) if is_one_text(b, text) => self.find(WireClass::BlockShape),
            (Value::List(_), Value::Text(text)) if is_one_text(a, text) => self.find(WireClass::BlockShape),
            _ => self.find_other(),
        }
    }

    fn maps(&mut self, a: &[Entry<'_>], b: &[Entry<'_>]) {
        let (places_a, places_b) = (Places::of(a), Places::of(b));
        let common = a.iter().filter_map(|entry| places_b.find(&entry.key));
        if !common.collect::<Vec<_>>().is_sorted() {
            self.find(WireClass::KeyOrder);
        }
        for entry in a {
            match places_b.find(&entry.key) {
                Some(at) => self.at(&entry.key, |this| this.nodes(&entry.value, &b[at].value)),
                None => self.at(&entry.key, |this| this.one_sided(entry)),
            }
        }
        for entry in b.iter().filter(|entry| places_a.find(&entry.key).is_none()) {
            self.at(&entry.key, |this| this.one_sided(entry));
        }
    }

    fn one_sided(&mut self, entry: &Entry<'_>) {
        const OF_CONTEXT: [&str; 6] = ["content", "parts", "text", "tool_calls", "tools", "system"];
        let is_nothing = match &entry.value.value {
            Value::Null => true,
            Value::List(items) => items.is_empty(),
            _ => false,
        };
        match &*entry.key {
            "cache_control" | "cachePoint" => self.find(WireClass::CacheControl),
            key if is_nothing && (self.in_messages || OF_CONTEXT.contains(&key)) => self.find(WireClass::BlockShape),
            key if OF_CONTEXT.contains(&key) => {}
            _ => self.find(WireClass::Parameter),
        }
    }

    fn lists(&mut self, a: &[Node<'_>], b: &[Node<'_>]) {
        let is_marker = |node: &&Node<'_>| node.get("cachePoint").is_some();
        let of = |list: &'_ [Node<'_>]| {
            list.iter().enumerate().filter(|(_, node)| !is_marker(node)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let (in_a, in_b) = (of(a), of(b));
        if (in_a.len() != a.len() || in_b.len() != b.len()) && (in_a != in_b || a.len() != b.len()) {
            self.find(WireClass::CacheControl);
        }
        if in_a.len() != in_b.len() {
            self.find_other();
        }
        for (&at, &other) in in_a.iter().zip(&in_b) {
            let len = self.path.len();
            self.path.push_str(&format!("[{at}]"));
            self.nodes(&a[at], &b[other]);
            self.path.truncate(len);
        }
    }

    /// Goes on below a key.
    fn at(&mut self, key: &str, then: impl FnOnce(&mut Self)) {
        const MODELLED: [&str; 16] = [
            "content",
            "parts",
            "text",
            "thinking",
            "arguments",
            "input",
            "args",
            "output",
            "response",
            "summary",
            "system",
            "instructions",
            "systemInstruction",
            "role",
            "id",
            "image_url",
        ];
        let (len, was) = (self.path.len(), self.in_messages);
        // The name of a function is the context's, that of who speaks is not.
        let is_speaker = self.a.shape == Shape::OpenAi
            && key == "name"
            && !self.path.ends_with("function")
            && !self.path.ends_with("function_call");
        self.path.push_str(&Key(key).to_string());
        let is_list = key == self.a.shape.list_key() || key == "tools" || key == "toolConfig";
        // Below the messages a key that the context knows is a matter of the context, any other is not.
        self.in_messages = is_list || MODELLED.contains(&key) || (was && !is_speaker && is_modelled(self.a.shape, key));
        then(self);
        self.in_messages = was;
        self.path.truncate(len);
    }
}

/// Where the keys of a map stand.
enum Places<'e> {
    /// A handful of keys is compared faster than it is hashed.
    Few(&'e [Entry<'e>]),
    Many(HashMap<&'e str, usize>),
}

impl<'e> Places<'e> {
    fn of(entries: &'e [Entry<'_>]) -> Self {
        match entries.len() {
            ..=16 => Places::Few(entries),
            _ => Places::Many(entries.iter().enumerate().map(|(at, entry)| (&*entry.key, at)).collect()),
        }
    }

    fn find(&self, key: &str) -> Option<usize> {
        match self {
            Places::Few(entries) => entries.iter().position(|entry| entry.key == key),
            Places::Many(places) => places.get(key).copied(),
        }
    }
}

/// Whether a key of a message or block is read into the context.
fn is_modelled(shape: Shape, key: &str) -> bool {
    let keys: &[&str] = match shape {
        Shape::OpenAi => {
            &["tool_calls", "function", "function_call", "name", "tool_call_id", "type", "reasoning_content", "refusal"]
        }
        Shape::Anthropic => &["type", "name", "tool_use_id", "is_error", "signature", "source"],
        Shape::Gemini => &["functionCall", "functionResponse", "inlineData", "fileData", "name", "thought"],
        Shape::Bedrock => &[
            "toolUse",
            "toolResult",
            "toolUseId",
            "name",
            "status",
            "image",
            "reasoningContent",
            "reasoningText",
            "json",
        ],
        Shape::Responses => &["type", "call_id", "name"],
    };
    keys.contains(&key)
}

/// Whether two spellings are of one number.
fn same_number(a: &str, b: &str) -> bool {
    match (a.parse::<i128>(), b.parse::<i128>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b),
    }
}

/// Whether a list is one block or part, and all it says is a text.
fn is_one_text(list: &Node<'_>, text: &Text<'_>) -> bool {
    let Value::List(items) = &list.value else { return false };
    match &**items {
        [Node { value: Value::Text(one), .. }] => one == text,
        [item] => matches!(item.get("text"), Some(Node { value: Value::Text(one), .. }) if one == text),
        _ => false,
    }
}
