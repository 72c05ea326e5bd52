//! What the shapes have in common when they are read.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::context::node::{Node, Value};
use crate::context::{Block, Content, Context, Json, Message, Origin, Role, Text, ToolInput};
use crate::error::{Code, Error, Result};

/// A context that is being read from a body, and what of the body is not part of it.
#[derive(Debug, Default)]
pub(crate) struct Reading<'a> {
    pub context: Context<'a>,
    /// What polyloop does not model, by name, in the order it was met.
    pub unmodelled: Vec<Unmodelled>,
    /// Where each of them stands there.
    places: HashMap<What, HashMap<String, usize>>,
}

/// Something in a recorded body that is not modelled, and so only kept beneath the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodelled {
    /// The key, the kind of block, or the role.
    pub name: String,
    /// What it is.
    pub what: What,
    /// The first place it stands at.
    pub path: String,
    /// How often it is there.
    pub count: usize,
}

/// What is not modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A key of a message or block; compared on the wire only.
    Key,
    /// A kind of block; kept whole as an `opaque` one.
    Kind,
    /// A spelling of a role; kept as it stands.
    Role,
    /// Something that was left out of the context, and why.
    Left,
}

impl Unmodelled {
    /// A stable, dotted name for what is not modelled.
    pub fn code(&self) -> &'static str {
        match self.what {
            What::Key => "recorded.unmodelled_key",
            What::Kind => "recorded.opaque",
            What::Role => "recorded.unknown_role",
            What::Left => "recorded.left_out",
        }
    }

    /// What it means for the context, in a sentence.
    pub fn in_words(&self) -> String {
        let Unmodelled { name, count, .. } = self;
        let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
        match self.what {
            What::Key => format!("the key {name:?} is no part of the context{times}: diff --wire compares it"),
            What::Kind => {
                format!("a block of type {name:?} is not modelled{times}: it is kept whole, its size is unknown")
            }
            What::Role => format!("{name:?} is no role that polyloop knows{times}: it is kept as it stands"),
            What::Left => format!("{name} are left out{times}"),
        }
    }
}

impl<'a> Reading<'a> {
    pub fn push(&mut self, role: Role<'a>, blocks: Vec<Block<'a>>, path: String) {
        let origin = Origin::Body(Cow::Owned(path));
        self.context.messages.push(Message { role, blocks, origin, fingerprint: None });
    }

    pub fn note(&mut self, what: What, name: &str, path: impl FnOnce() -> String) {
        let places = self.places.entry(what).or_default();
        if let Some(&at) = places.get(name) {
            self.unmodelled[at].count += 1;
            return;
        }
        places.insert(name.to_owned(), self.unmodelled.len());
        self.unmodelled.push(Unmodelled { name: name.to_owned(), what, path: path(), count: 1 });
    }

    /// Takes note of every key that is neither known nor null.
    pub fn only(&mut self, node: &Node<'a>, known: &[&str], path: &str) {
        let Value::Map(entries) = &node.value else { return };
        for entry in entries {
            if !known.contains(&&*entry.key) && !is_nothing(&entry.value) {
                self.note(What::Key, &entry.key, || format!("{path}{}", crate::context::Key(&entry.key)));
            }
        }
    }

    /// A block that is not modelled: kept whole.
    pub fn opaque(&mut self, kind: &str, node: &Node<'a>, path: &str) -> Result<Content<'a>> {
        self.note(What::Kind, kind, || path.to_owned());
        Ok(Content::Opaque { kind: Text::plain(kind.to_owned()), value: node.to_json()? })
    }

    /// The role of a message.
    pub fn role(&mut self, node: &Node<'a>, path: &str) -> Result<Role<'a>> {
        match node.get("role").map(|role| &role.value) {
            Some(Value::Text(text)) => Ok(self.recorded(text.clone().into_cow(), path)),
            Some(_) => Err(fault(node, path, "the role of a message is a string")),
            None => Err(fault(node, path, "this message has no role")),
        }
    }

    pub fn recorded(&mut self, name: Cow<'a, str>, path: &str) -> Role<'a> {
        let role = Role::recorded(name);
        if let Role::Other(name) = &role {
            self.note(What::Role, name, || format!("{path}.role"));
        }
        role
    }

    /// The tool schemas, in their recorded shape.
    pub fn tools(&mut self, node: Option<&Node<'a>>, path: &str) -> Result<()> {
        let Some(node) = node else { return Ok(()) };
        match &node.value {
            Value::Null => {}
            Value::List(items) => {
                self.context.tools = items.iter().map(Node::to_json).collect::<Result<_>>()?;
            }
            Value::Map(_) => self.context.tools = vec![node.to_json()?],
            _ => return Err(fault(node, path, "tools are a list")),
        }
        Ok(())
    }
}

/// Whether a value says nothing: what copies a shape writes such for all that it does not use.
fn is_nothing(node: &Node<'_>) -> bool {
    match &node.value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// A body that is not what its shape says.
pub(crate) fn fault(node: &Node<'_>, path: &str, message: impl Into<String>) -> Error {
    node.error(Code::InputShape, message).with_path(path)
}

/// The items of a list.
pub(crate) fn items<'n, 'a>(node: &'n Node<'a>, path: &str) -> Result<&'n [Node<'a>]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(fault(node, path, format!("{path} must be a list, not {}", node.kind()))),
    }
}

/// The text of a key; `None` where it is absent or null.
pub(crate) fn text<'a>(node: &Node<'a>, key: &str, path: &str) -> Result<Option<Text<'a>>> {
    match node.get(key).map(|value| &value.value) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(fault(node, path, format!("{path}.{key} must be a string"))),
    }
}

/// The text of a key that may be missing where providers differ: then it is empty.
pub(crate) fn text_or_empty<'a>(node: &Node<'a>, key: &str, path: &str) -> Result<Text<'a>> {
    text(node, key, path).map(Option::unwrap_or_default)
}

/// A boolean; `None` where it is absent or null.
pub(crate) fn boolean(node: &Node<'_>, key: &str) -> Option<bool> {
    match node.get(key)?.value {
        Value::Bool(value) => Some(value),
        _ => None,
    }
}

/// Whether a key is there and not null.
pub(crate) fn has(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_some_and(|value| !matches!(value.value, Value::Null))
}

/// The arguments of a call: a string stays that string, whatever it holds.
pub(crate) fn tool_input<'a>(node: Option<&Node<'a>>) -> Result<ToolInput<'a>> {
    Ok(match node {
        None => ToolInput::Json(Json::from_canonical("{}")),
        Some(Node { value: Value::Text(text), .. }) => ToolInput::Text(text.clone()),
        Some(node) => ToolInput::Json(node.to_json()?),
    })
}

pub(crate) fn block(content: Content<'_>, path: String) -> Block<'_> {
    Block { content, origin: Origin::Body(Cow::Owned(path)) }
}

/// The content under a key: nothing where that is absent or null, one text where it is a string, else what `part` makes of
/// each part.
pub(crate) fn content<'a>(
    item: &Node<'a>,
    key: &str,
    path: &str,
    reading: &mut Reading<'a>,
    part: impl Fn(&Node<'a>, &str, &mut Reading<'a>) -> Result<Content<'a>>,
) -> Result<Vec<Block<'a>>> {
    match item.get(key) {
        None | Some(Node { value: Value::Null, .. }) => Ok(Vec::new()),
        Some(content) => blocks(content, format!("{path}.{key}"), reading, part),
    }
}

/// A string as one text, or what `part` makes of each part of a list.
pub(crate) fn blocks<'a>(
    node: &Node<'a>,
    path: String,
    reading: &mut Reading<'a>,
    part: impl Fn(&Node<'a>, &str, &mut Reading<'a>) -> Result<Content<'a>>,
) -> Result<Vec<Block<'a>>> {
    match &node.value {
        Value::Text(text) => Ok(vec![block(Content::Text(text.clone()), path)]),
        Value::List(parts) => {
            let one = |(index, node)| {
                let path = format!("{path}[{index}]");
                Ok(block(part(node, &path, reading)?, path))
            };
            parts.iter().enumerate().map(one).collect()
        }
        _ => Err(fault(node, &path, format!("{path} must be a string or a list, not {}", node.kind()))),
    }
}

/// The kind of a block, where it names one.
pub(crate) fn kind<'n>(node: &'n Node<'_>) -> Cow<'n, str> {
    match node.get("type").map(|kind| &kind.value) {
        Some(Value::Text(kind)) => kind.to_cow(),
        _ => Cow::Borrowed(""),
    }
}
