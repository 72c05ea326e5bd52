//! Nodes to a context that was recorded: a canonical stream, or a list of messages.

use std::borrow::Cow;

use super::blocks;
use super::fields::{Fields, Path, each, map, required, string};
use super::node::{Node, Value};
use crate::context::{Block, Content, Context, Json, Message, Origin, Role, Text};
use crate::error::{Code, Error, Result};

/// Reads a list of messages, origins being their places in the list.
pub(crate) fn message_list<'a>(items: &[Node<'a>]) -> Result<Context<'a>> {
    let messages = items.iter().enumerate().map(|(index, item)| message(item, index));
    Ok(Context { tools: Vec::new(), messages: messages.collect::<Result<_>>()? })
}

/// Whether a node is a message, going by its keys.
pub(crate) fn is_message(node: &Node<'_>) -> bool {
    node.get("role").is_some()
}

/// Whether a node is the first line of a canonical stream with tools.
pub(crate) fn is_tools_line(node: &Node<'_>) -> bool {
    matches!(&node.value, Value::Map(entries) if entries.len() == 1 && entries[0].key == "tools")
}

/// What a line of a canonical stream holds.
pub(crate) enum Line<'a> {
    Tools(Vec<Json<'static>>),
    Message(Message<'a>),
}

/// Reads a line of a canonical stream; only the first may be one of tools. `index` is that of its message.
pub(crate) fn line<'a>(node: &Node<'a>, index: usize, is_first: bool) -> Result<Line<'a>> {
    if !is_first || !is_tools_line(node) {
        return message(node, index).map(Line::Message);
    }
    let path = &Path::Key(&Path::Root, "tools");
    let tools = required(node, "tools", &Path::Root)?;
    each(tools, path, |tool, path| map(tool, path).and_then(|_| tool.to_json())).map(Line::Tools)
}

/// Adds a line of a canonical stream to the context.
pub(crate) fn push_line<'a>(node: &Node<'a>, context: &mut Context<'a>) -> Result<()> {
    match line(node, context.messages.len(), context.messages.is_empty() && context.tools.is_empty())? {
        Line::Tools(tools) => context.tools = tools,
        Line::Message(message) => context.messages.push(message),
    }
    Ok(())
}

fn message<'a>(node: &Node<'a>, index: usize) -> Result<Message<'a>> {
    let list = &Path::Key(&Path::Root, "messages");
    let path = &Path::Index(list, index);
    if !is_message(node) {
        return Err(path.error(node, Code::InputShape, format!("{path} has no role: it is no message")));
    }
    let fields = Fields::of(node, path, &["role", "content"]).map_err(unmodelled)?;
    let role = fields.take("role", path, string)?;
    let content = match fields.get("content") {
        None | Some(Node { value: Value::Null, .. }) => Vec::new(),
        Some(node) => content(node, &Path::Key(path, "content"))?,
    };
    let origin = |block| Origin::Recorded { message: index, block };
    let blocks = content.into_iter().enumerate().map(|(n, content)| Block { content, origin: origin(Some(n)) });
    Ok(Message { role: Role::recorded(role), blocks: blocks.collect(), origin: origin(None), fingerprint: None })
}

fn content<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Vec<Content<'a>>> {
    match &node.value {
        Value::List(_) => each(node, path, block),
        _ => blocks::content(node, path),
    }
}

/// A recorded block of an unknown type is kept whole, as `opaque`.
fn block<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Content<'a>> {
    let kind = match node.get("type") {
        Some(Node { value: Value::Text(kind), .. }) => kind.to_cow(),
        _ => Cow::Borrowed(""),
    };
    match &*kind {
        "" | "opaque" => blocks::block(node, path),
        known if Content::NAMES.contains(&known) => blocks::block(node, path).map_err(unmodelled),
        _ => Ok(Content::Opaque { kind: Text::plain(kind.into_owned()), value: node.to_json()? }),
    }
}

/// What is left out would be lost, so it is refused and named.
fn unmodelled(error: Error) -> Error {
    match error.code() {
        Code::RequestUnknownField => error.with_hint(
            "a recorded list of messages holds role and content; provider bodies with more keys are not read by this version",
        ),
        _ => error,
    }
}
