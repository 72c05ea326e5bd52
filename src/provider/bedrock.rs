//! Bedrock Converse.

use super::Marks;
use super::reading::{Reading, block, fault, has, items, text, text_or_empty, tool_input};
use crate::context::node::{Node, Value};
use crate::context::{Block, Content, Role, Text};
use crate::error::Result;

/// What only this shape has.
pub(super) fn marks(root: &Node<'_>, marks: &mut Marks) {
    if root.get("contents").is_some() || root.get("input").is_some() {
        return;
    }
    for key in ["inferenceConfig", "toolConfig", "modelId", "additionalModelRequestFields", "guardrailConfig"] {
        if has(root, key) {
            marks.strong(key);
        }
    }
    let is_bare = |part: &Node<'_>| {
        part.get("type").is_none()
            && ["text", "toolUse", "toolResult", "reasoningContent", "cachePoint", "image", "document"]
                .iter()
                .any(|key| part.get(key).is_some())
    };
    let system = root.get("system").map(|system| &system.value);
    if let Some(Value::List(blocks)) = system
        && blocks.iter().any(is_bare)
    {
        marks.strong("blocks without a type");
    }
    if super::messages(root).iter().flat_map(super::parts).any(is_bare) {
        marks.strong("blocks without a type");
    }
}

pub(super) fn read<'a>(root: &Node<'a>, reading: &mut Reading<'a>) -> Result<()> {
    reading.tools(root.get("toolConfig").and_then(|config| config.get("tools")), "toolConfig.tools")?;
    if let Some(system) = root.get("system").filter(|system| !matches!(system.value, Value::Null)) {
        let blocks = blocks(system, "system", reading)?;
        reading.push(Role::System, blocks, "system".to_owned());
    }
    let list = items(root.get("messages").unwrap_or(root), "messages")?;
    for (index, item) in list.iter().enumerate() {
        let path = format!("messages[{index}]");
        if !matches!(item.value, Value::Map(_)) {
            return Err(fault(item, &path, format!("a message is a map, not {}", item.kind())));
        }
        reading.only(item, &["role", "content"], &path);
        let role = reading.role(item, &path)?;
        let blocks = match item.get("content").filter(|content| !matches!(content.value, Value::Null)) {
            Some(content) => blocks(content, &format!("{path}.content"), reading)?,
            None => Vec::new(),
        };
        reading.push(role, blocks, path);
    }
    Ok(())
}

fn blocks<'a>(node: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Vec<Block<'a>>> {
    if let Value::Text(text) = &node.value {
        return Ok(vec![block(Content::Text(text.clone()), path.to_owned())]);
    }
    let mut blocks = Vec::new();
    for (index, part) in items(node, path)?.iter().enumerate() {
        let path = format!("{path}[{index}]");
        // A marker for the cache is no content.
        if !has(part, "cachePoint") {
            blocks.push(block(self::part(part, &path, reading)?, path));
        }
    }
    Ok(blocks)
}

fn part<'a>(part: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Content<'a>> {
    let Value::Map(entries) = &part.value else { return reading.opaque("", part, path) };
    let Some(entry) = entries.first() else { return reading.opaque("", part, path) };
    let inner = &entry.value;
    let path = &format!("{path}.{}", entry.key);
    match (&*entry.key, &inner.value) {
        _ if entries.len() > 1 => reading.opaque(&entry.key, part, path),
        ("text", Value::Text(text)) => Ok(Content::Text(text.clone())),
        ("toolUse", Value::Map(_)) => {
            reading.only(inner, &["toolUseId", "name", "input"], path);
            Ok(Content::ToolUse {
                id: text_or_empty(inner, "toolUseId", path)?,
                name: text_or_empty(inner, "name", path)?,
                input: tool_input(inner.get("input"))?,
            })
        }
        ("toolResult", Value::Map(_)) => {
            reading.only(inner, &["toolUseId", "content", "status"], path);
            let mut content = Vec::new();
            if let Some(list) = inner.get("content").filter(|list| !matches!(list.value, Value::Null)) {
                for (index, part) in items(list, path)?.iter().enumerate() {
                    content.push(match part.get("json") {
                        Some(json) => Content::Text(Text::plain(json.to_json()?.as_str().to_owned())),
                        None => self::part(part, &format!("{path}.content[{index}]"), reading)?,
                    });
                }
            }
            let is_error = text(inner, "status", path)?.map(|status| status.to_cow() == "error");
            let tool_use_id = text_or_empty(inner, "toolUseId", path)?;
            Ok(Content::ToolResult { tool_use_id, content, is_error, status: None })
        }
        ("image", Value::Map(_)) => Ok(Content::Image { source: inner.to_json()?, chars: None }),
        ("reasoningContent", Value::Map(_)) if inner.get("reasoningText").is_some() => {
            let path = &format!("{path}.reasoningText");
            let thought = inner.get("reasoningText").unwrap_or(inner);
            reading.only(thought, &["text", "signature"], path);
            let signature = text(thought, "signature", path)?;
            Ok(Content::Thinking { text: text_or_empty(thought, "text", path)?, signature })
        }
        (kind, _) => reading.opaque(kind, part, path),
    }
}
