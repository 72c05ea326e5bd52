//! Anthropic Messages.

use super::reading::{Reading, blocks, boolean, content, fault, has, items, kind, text, text_or_empty, tool_input};
use super::writing::{Said, Turn, Writing};
use super::{Draft, Marks};
use crate::context::node::{Node, Value};
use crate::context::{Content, Role, Text};
use crate::error::Result;

/// What only this shape has.
pub(super) fn marks(root: &Node<'_>, marks: &mut Marks) {
    for key in ["anthropic_version", "anthropic_beta", "mcp_servers", "container"] {
        if has(root, key) {
            marks.strong(key);
        }
    }
    for key in ["thinking", "top_k", "max_tokens", "stop_sequences", "cache_control"] {
        if has(root, key) {
            marks.weak(key);
        }
    }
    match root.get("system").map(|system| &system.value) {
        Some(Value::Text(_)) => marks.strong("system beside messages"),
        Some(Value::List(blocks)) if blocks.iter().all(|block| block.get("type").is_some()) => {
            marks.strong("system beside messages");
        }
        _ => {}
    }
    if let Some(Value::List(tools)) = root.get("tools").map(|tools| &tools.value)
        && tools.iter().any(|tool| tool.get("input_schema").is_some())
    {
        marks.strong("tools with `input_schema`");
    }
    for message in super::messages(root) {
        for part in super::parts(message) {
            match &*kind(part) {
                "tool_use"
                | "tool_result"
                | "thinking"
                | "redacted_thinking"
                | "server_tool_use"
                | "document"
                | "mcp_tool_use"
                | "mcp_tool_result"
                | "web_search_tool_result"
                | "search_result" => {
                    marks.strong("blocks of type tool_use, tool_result, thinking or document");
                }
                "image" if part.get("source").is_some() => marks.strong("images with a source"),
                _ => {}
            }
        }
    }
}

pub(super) fn read<'a>(root: &Node<'a>, reading: &mut Reading<'a>) -> Result<()> {
    reading.tools(root.get("tools"), "tools")?;
    if let Some(system) = root.get("system").filter(|system| !matches!(system.value, Value::Null)) {
        let blocks = blocks(system, "system".to_owned(), reading, part)?;
        reading.push(Role::System, blocks, "system".to_owned());
    }
    let list = items(root.get("messages").unwrap_or(root), "messages")?;
    list.iter().enumerate().try_for_each(|(index, item)| message(item, format!("messages[{index}]"), reading))
}

/// Reads a message; those of a session stand at other paths.
pub(super) fn message<'a>(item: &Node<'a>, path: String, reading: &mut Reading<'a>) -> Result<()> {
    if !matches!(item.value, Value::Map(_)) {
        return Err(fault(item, &path, format!("a message is a map, not {}", item.kind())));
    }
    reading.only(item, &["role", "content"], &path);
    let role = reading.role(item, &path)?;
    let blocks = content(item, "content", &path, reading, part)?;
    reading.push(role, blocks, path);
    Ok(())
}

fn part<'a>(part: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Content<'a>> {
    if let Value::Text(text) = &part.value {
        return Ok(Content::Text(text.clone()));
    }
    match &*kind(part) {
        "text" if matches!(part.get("text"), Some(Node { value: Value::Text(_), .. })) => {
            reading.only(part, &["type", "text", "cache_control"], path);
            Ok(Content::Text(text_or_empty(part, "text", path)?))
        }
        "thinking" if matches!(part.get("thinking"), Some(Node { value: Value::Text(_), .. })) => {
            reading.only(part, &["type", "thinking", "signature", "cache_control"], path);
            let thought = text_or_empty(part, "thinking", path)?;
            Ok(Content::Thinking { text: thought, signature: text(part, "signature", path)? })
        }
        "tool_use" => {
            reading.only(part, &["type", "id", "name", "input", "cache_control"], path);
            Ok(Content::ToolUse {
                id: text_or_empty(part, "id", path)?,
                name: text_or_empty(part, "name", path)?,
                input: tool_input(part.get("input"))?,
            })
        }
        "tool_result" => {
            reading.only(part, &["type", "tool_use_id", "content", "is_error", "cache_control"], path);
            Ok(Content::ToolResult {
                tool_use_id: text_or_empty(part, "tool_use_id", path)?,
                content: content(part, "content", path, reading, self::part)?
                    .into_iter()
                    .map(|block| block.content)
                    .collect(),
                is_error: boolean(part, "is_error"),
                status: None,
            })
        }
        "image" if has(part, "source") => {
            reading.only(part, &["type", "source", "cache_control"], path);
            let source = part.get("source").unwrap_or(part).to_json()?;
            Ok(Content::Image { source, chars: None })
        }
        other => reading.opaque(other, part, path),
    }
}

pub(super) fn write<'c>(writing: &mut Writing<'c>) -> Draft<'c> {
    let (head, turns) = writing.turns();
    let mut body = Draft::map([]);
    if let Some(system) = write_system(&head, writing) {
        body.push("system", system);
    }
    let mut messages = Vec::new();
    for turn in &turns {
        match &turn.role {
            Role::User | Role::Assistant => {}
            Role::System | Role::Developer => {
                if turn.role == Role::Developer {
                    writing.change(turn.origin, "a developer message becomes system");
                }
                writing.change(turn.origin, "a system message stays in its place, which older models refuse");
            }
            _ => writing.unknown_role(turn),
        }
        let role = match &turn.role {
            Role::Developer => Draft::word("system"),
            role => Draft::Text(Text::plain(role.as_str().to_owned())),
        };
        let content = match &*turn.said {
            [said] if said.content.as_text().is_some() => {
                Draft::Text(said.content.as_text().map(Text::borrow).unwrap_or_default())
            }
            said => Draft::List(said.iter().filter_map(|said| write_block(*said, said.content, writing)).collect()),
        };
        messages.push(Draft::map([("role", role), ("content", content)]));
    }
    body.push("messages", Draft::List(messages));
    if let Some(tools) = writing.tools() {
        body.push("tools", tools);
    }
    body
}

fn write_system<'c>(head: &[Turn<'c>], writing: &mut Writing<'c>) -> Option<Draft<'c>> {
    let (first, others) = head.split_first()?;
    writing.name_head(head);
    if let ([said], []) = (&*first.said, others)
        && let Some(text) = said.content.as_text()
    {
        return Some(Draft::Text(text.borrow()));
    }
    let said = head.iter().flat_map(|turn| &turn.said);
    Some(Draft::List(said.filter_map(|said| write_block(*said, said.content, writing)).collect()))
}

fn write_block<'c>(said: Said<'c>, content: &'c Content<'c>, writing: &mut Writing<'c>) -> Option<Draft<'c>> {
    let of_type = |kind: &'static str| Draft::map([("type", Draft::word(kind))]);
    Some(match content {
        Content::Text(text) => {
            let mut block = of_type("text");
            block.push("text", Draft::Text(text.borrow()));
            block
        }
        Content::Thinking { text, signature } => {
            let mut block = of_type("thinking");
            block.push("thinking", Draft::Text(text.borrow()));
            match signature {
                Some(signature) if writing.from.is_none_or(|from| from == writing.to) => {
                    block.push("signature", Draft::Text(signature.borrow()));
                }
                _ => {
                    writing.lose(said.origin, "a thought that this provider has not signed");
                    return None;
                }
            }
            block
        }
        Content::ToolUse { id, name, input } => {
            let mut block = of_type("tool_use");
            block.push("id", Draft::Text(writing.id(said, id)));
            block.push("name", Draft::Text(name.borrow()));
            block.push("input", writing.input_map(said, input));
            block
        }
        Content::ToolResult { tool_use_id, content, is_error, .. } => {
            let mut block = of_type("tool_result");
            block.push("tool_use_id", Draft::Text(writing.id(said, tool_use_id)));
            match &**content {
                [] => {}
                [Content::Text(text)] => block.push("content", Draft::Text(text.borrow())),
                parts => {
                    let parts = parts.iter().filter_map(|part| write_block(said, part, writing)).collect();
                    block.push("content", Draft::List(parts));
                }
            }
            if let Some(is_error) = is_error {
                block.push("is_error", Draft::Bool(*is_error));
            }
            block
        }
        Content::Image { source, .. } => return writing.image(said, source),
        Content::Opaque { kind, value } => return writing.opaque(said, kind, value),
    })
}
