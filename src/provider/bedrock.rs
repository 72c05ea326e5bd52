//! Bedrock Converse.

use super::reading::{Reading, block, fault, has, items, text, text_or_empty, tool_input};
use super::writing::{Said, Writing};
use super::{Draft, Marks};
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

pub(super) fn write<'c>(writing: &mut Writing<'c>) -> Draft<'c> {
    let (head, turns) = writing.turns();
    let mut body = Draft::map([]);
    writing.name_head(&head);
    if !head.is_empty() {
        let said = head.iter().flat_map(|turn| &turn.said);
        let blocks = said.filter_map(|said| write_block(*said, said.content, writing)).collect();
        body.push("system", Draft::List(blocks));
    }
    let mut messages = Vec::new();
    for turn in &turns {
        match &turn.role {
            Role::User | Role::Assistant => {}
            Role::System | Role::Developer => {
                writing
                    .lose(turn.origin, "a system message behind others: this shape has room for them at the head only");
                continue;
            }
            _ => writing.unknown_role(turn),
        }
        let role = Draft::Text(Text::plain(turn.role.as_str().to_owned()));
        let blocks = turn.said.iter().filter_map(|said| write_block(*said, said.content, writing)).collect();
        messages.push(Draft::map([("role", role), ("content", Draft::List(blocks))]));
    }
    body.push("messages", Draft::List(messages));
    if let Some(tools) = writing.tools() {
        body.push("toolConfig", Draft::map([("tools", tools)]));
    }
    body
}

fn write_block<'c>(said: Said<'c>, content: &'c Content<'c>, writing: &mut Writing<'c>) -> Option<Draft<'c>> {
    Some(match content {
        Content::Text(text) => Draft::map([("text", Draft::Text(text.borrow()))]),
        Content::Thinking { text, signature } => {
            let mut thought = Draft::map([("text", Draft::Text(text.borrow()))]);
            match signature {
                Some(signature) if writing.from.is_none_or(|from| from == writing.to) => {
                    thought.push("signature", Draft::Text(signature.borrow()));
                }
                Some(_) => writing.lose(said.origin, "the signature of a thought, which is another provider's"),
                None => {}
            }
            Draft::map([("reasoningContent", Draft::map([("reasoningText", thought)]))])
        }
        Content::ToolUse { id, name, input } => {
            let call = Draft::map([
                ("toolUseId", Draft::Text(writing.id(said, id))),
                ("name", Draft::Text(name.borrow())),
                ("input", writing.input_map(said, input)),
            ]);
            Draft::map([("toolUse", call)])
        }
        Content::ToolResult { tool_use_id, content, is_error, .. } => {
            let parts = content.iter().filter_map(|part| write_block(said, part, writing)).collect();
            let mut result = Draft::map([
                ("toolUseId", Draft::Text(writing.id(said, tool_use_id))),
                ("content", Draft::List(parts)),
            ]);
            if let Some(is_error) = is_error {
                result.push("status", Draft::word(if *is_error { "error" } else { "success" }));
            }
            Draft::map([("toolResult", result)])
        }
        Content::Image { source, .. } => return writing.image(said, source),
        Content::Opaque { kind, value } => return writing.opaque(said, kind, value),
    })
}
