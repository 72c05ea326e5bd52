//! Nodes to blocks: the vocabulary a run request, a canonical stream and a list of messages have in common.

use super::fields::{Fields, Path, boolean, each, map, required, string, text, whole_number};
use super::node::{Node, Value};
use crate::context::{Content, Json, Status, Text, ToolInput};
use crate::error::{Code, Result};

/// The keys of each type of block.
pub(crate) mod keys {
    pub const TEXT: &[&str] = &["type", "text"];
    pub const THINKING: &[&str] = &["type", "text", "signature"];
    pub const TOOL_USE: &[&str] = &["type", "id", "name", "input"];
    pub const TOOL_RESULT: &[&str] = &["type", "tool_use_id", "content", "is_error", "status"];
    pub const IMAGE: &[&str] = &["type", "source", "chars"];
    pub const OPAQUE: &[&str] = &["type", "kind", "value"];
}

/// A string is one text block; a list is a list of blocks.
pub(crate) fn content<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Vec<Content<'a>>> {
    match &node.value {
        Value::Text(text) => Ok(vec![Content::Text(text.clone())]),
        Value::List(_) => each(node, path, block),
        Value::Map(_) => Err(path
            .wrong_type(node, "a string or a list of blocks")
            .with_hint("put the block into a list: [{type: text, text: \"...\"}]")),
        Value::Number(spelling) => {
            Err(path.wrong_type(node, "a string or a list of blocks").with_hint(format!("quote it: \"{spelling}\"")))
        }
        _ => Err(path
            .wrong_type(node, "a string or a list of blocks")
            .with_hint("quote it if it is text; an empty text is written \"\"")),
    }
}

pub(crate) fn block<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Content<'a>> {
    let Value::Map(_) = &node.value else {
        return Err(path.wrong_type(node, "a block").with_hint("a block is written {type: text, text: \"...\"}"));
    };
    let kind_node = required(node, "type", path)?;
    let kind_path = &Path::Key(path, "type");
    let kind = string(kind_node, kind_path)?;
    let fields = |known| Fields::of(node, path, known);
    Ok(match &*kind {
        "text" => Content::Text(fields(keys::TEXT)?.take("text", path, text)?),
        "thinking" => {
            let fields = fields(keys::THINKING)?;
            Content::Thinking {
                text: fields.take("text", path, text)?,
                signature: fields.take_if_there("signature", path, text)?,
            }
        }
        "tool_use" => {
            let fields = fields(keys::TOOL_USE)?;
            Content::ToolUse {
                id: fields.take("id", path, text)?,
                name: fields.take("name", path, text)?,
                input: fields.take("input", path, tool_input)?,
            }
        }
        "tool_result" => {
            let fields = fields(keys::TOOL_RESULT)?;
            Content::ToolResult {
                tool_use_id: fields.take("tool_use_id", path, text)?,
                content: fields.take("content", path, content)?,
                is_error: fields.take_if_there("is_error", path, boolean)?,
                status: fields.take_if_there("status", path, status)?.map(|status| Text::plain(status.as_str())),
            }
        }
        "image" => {
            let fields = fields(keys::IMAGE)?;
            Content::Image {
                source: fields.take("source", path, object)?,
                chars: fields.take_if_there("chars", path, |node, path| whole_number(node, path, 0))?,
            }
        }
        "opaque" => {
            let fields = fields(keys::OPAQUE)?;
            Content::Opaque {
                kind: fields.take("kind", path, text)?,
                value: fields.take("value", path, |node, _| node.to_json())?,
            }
        }
        _ => {
            return Err(kind_path
                .error(kind_node, Code::BlockUnknownType, format!("unknown block type {kind:?}"))
                .with_nearest(&kind, Content::NAMES));
        }
    })
}

/// The arguments of a tool call: an object, or a string that stays that string.
pub(crate) fn tool_input<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<ToolInput<'a>> {
    match &node.value {
        Value::Text(text) => Ok(ToolInput::Text(text.clone())),
        Value::Map(_) => node.to_json().map(ToolInput::Json).map_err(|error| error.or_path(|| path.to_string())),
        _ => Err(path.wrong_type(node, "a map or a string")),
    }
}

fn object(node: &Node<'_>, path: &Path<'_>) -> Result<Json<'static>> {
    map(node, path)?;
    node.to_json().map_err(|error| error.or_path(|| path.to_string()))
}

/// What is said of a call without a result.
pub(crate) fn status(node: &Node<'_>, path: &Path<'_>) -> Result<Status> {
    let word = string(node, path)?;
    Status::ALL.into_iter().find(|status| status.as_str() == word).ok_or_else(|| {
        path.error(node, Code::RequestType, format!("{word:?} is no status of a result"))
            .with_nearest(&word, Status::NAMES)
    })
}
