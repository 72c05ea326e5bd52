//! OpenAI Responses.

use super::reading::{Reading, block, content, fault, has, items, kind, text, text_or_empty, tool_input};
use super::writing::{Said, Turn, Writing};
use super::{Draft, Marks};
use crate::context::node::{Node, Value};
use crate::context::{Content, Role, Text};
use crate::error::Result;

/// What only this shape has.
pub(super) fn marks(root: &Node<'_>, marks: &mut Marks) {
    match root.get("input").map(|input| &input.value) {
        Some(Value::Text(_) | Value::List(_)) if root.get("messages").is_none() => marks.strong("input"),
        _ => {}
    }
    if has(root, "previous_response_id") && root.get("messages").is_none() {
        marks.strong("previous_response_id");
    }
    if let Value::List(list) = &root.value {
        let is_item = |item: &Node<'_>| {
            matches!(&*kind(item), "function_call" | "function_call_output" | "reasoning" | "item_reference")
                || kind(item) == "message" && item.get("content").is_some()
        };
        let is_part = |part: &Node<'_>| matches!(&*kind(part), "input_text" | "output_text" | "input_image");
        if list.iter().any(is_item) || list.iter().flat_map(super::parts).any(is_part) {
            marks.strong("items of type function_call, reasoning or message");
        }
    }
}

pub(super) fn read<'a>(root: &Node<'a>, reading: &mut Reading<'a>) -> Result<()> {
    reading.tools(root.get("tools"), "tools")?;
    match root.get("instructions").map(|said| &said.value) {
        None | Some(Value::Null) => {}
        Some(Value::Text(text)) => {
            let said = block(Content::Text(text.clone()), "instructions".to_owned());
            reading.push(Role::System, vec![said], "instructions".to_owned());
        }
        // As it comes back in a response: the items it was made into.
        Some(_) => reading.note(super::What::Key, "instructions", || "instructions".to_owned()),
    }
    match root.get("input").or(matches!(root.value, Value::List(_)).then_some(root)) {
        // A call may go on from what the provider keeps.
        None | Some(Node { value: Value::Null, .. }) => Ok(()),
        Some(Node { value: Value::Text(text), .. }) => {
            let said = block(Content::Text(text.clone()), "input".to_owned());
            reading.push(Role::User, vec![said], "input".to_owned());
            Ok(())
        }
        Some(list) => items(list, "input")?
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| self::item(item, format!("input[{index}]"), reading)),
    }
}

fn item<'a>(item: &Node<'a>, path: String, reading: &mut Reading<'a>) -> Result<()> {
    if !matches!(item.value, Value::Map(_)) {
        return Err(fault(item, &path, format!("an item is a map, not {}", item.kind())));
    }
    let kind = kind(item);
    match &*kind {
        "" | "message" => {
            reading.only(item, &["type", "role", "content", "id", "status"], &path);
            let role = reading.role(item, &path)?;
            let blocks = content(item, "content", &path, reading, part)?;
            reading.push(role, blocks, path);
        }
        "function_call" => {
            reading.only(item, &["type", "id", "call_id", "name", "arguments", "status"], &path);
            let call = Content::ToolUse {
                id: text_or_empty(item, "call_id", &path)?,
                name: text_or_empty(item, "name", &path)?,
                input: tool_input(item.get("arguments"))?,
            };
            reading.push(Role::Assistant, vec![block(call, path.clone())], path);
        }
        "function_call_output" => {
            reading.only(item, &["type", "id", "call_id", "output", "status"], &path);
            let result = Content::ToolResult {
                tool_use_id: text_or_empty(item, "call_id", &path)?,
                content: content(item, "output", &path, reading, part)?
                    .into_iter()
                    .map(|block| block.content)
                    .collect(),
                is_error: None,
                status: None,
            };
            reading.push(Role::Tool, vec![block(result, path.clone())], path);
        }
        "reasoning" => {
            let mut blocks = Vec::new();
            if let Some(list) = item.get("summary").filter(|list| !matches!(list.value, Value::Null)) {
                let path = format!("{path}.summary");
                for (index, part) in items(list, &path)?.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    let thought = text_or_empty(part, "text", &path)?;
                    blocks.push(block(Content::Thinking { text: thought, signature: None }, path));
                }
            }
            // What is encrypted is known to the provider alone.
            if has(item, "encrypted_content") || has(item, "content") {
                blocks = vec![block(reading.opaque("reasoning", item, &path)?, path.clone())];
            }
            reading.push(Role::Assistant, blocks, path);
        }
        other => {
            let role = match text(item, "role", &path)? {
                Some(role) => reading.recorded(role.into_cow(), &path),
                None if other.ends_with("_output") => Role::Tool,
                None => Role::Assistant,
            };
            let value = reading.opaque(other, item, &path)?;
            reading.push(role, vec![block(value, path.clone())], path);
        }
    }
    Ok(())
}

fn part<'a>(part: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Content<'a>> {
    match &*kind(part) {
        "input_text" | "output_text" | "text" | "summary_text" => {
            reading.only(part, &["type", "text"], path);
            Ok(Content::Text(text(part, "text", path)?.unwrap_or_else(Text::default)))
        }
        "input_image" => Ok(Content::Image { source: part.to_json()?, chars: None }),
        other => reading.opaque(other, part, path),
    }
}

pub(super) fn write<'c>(writing: &mut Writing<'c>) -> Draft<'c> {
    let (head, turns) = writing.turns();
    let mut body = Draft::map([]);
    if let Some(text) = head.first().and_then(|turn| turn.said.first()).and_then(|said| said.content.as_text()) {
        body.push("instructions", Draft::Text(text.borrow()));
    }
    let mut items = Vec::new();
    for turn in &turns {
        write_turn(turn, writing, &mut items);
    }
    body.push("input", Draft::List(items));
    if let Some(tools) = writing.tools() {
        body.push("tools", tools);
    }
    body
}

/// Calls and results are items of their own; what stands between them is a message.
fn write_turn<'c>(turn: &Turn<'c>, writing: &mut Writing<'c>, items: &mut Vec<Draft<'c>>) {
    if matches!(turn.role, Role::Other(_) | Role::Tool) && !turn.said.iter().all(|said| is_item(said.content)) {
        writing.unknown_role(turn);
    }
    if turn.said.is_empty() {
        items.push(message(turn, &[], writing));
    }
    for run in turn.said.chunk_by(|a, b| !is_item(a.content) && !is_item(b.content)) {
        let said = run[0];
        match said.content {
            Content::ToolUse { id, name, input } => items.push(Draft::map([
                ("type", Draft::word("function_call")),
                ("call_id", Draft::Text(writing.id(said, id))),
                ("name", Draft::Text(name.borrow())),
                ("arguments", writing.input_text(input)),
            ])),
            Content::ToolResult { tool_use_id, content, is_error, status } => {
                match is_error {
                    Some(true) if status.is_none() => writing.lose(said.origin, "is_error: true"),
                    Some(_) if status.is_none() => writing.change(said.origin, "is_error: false"),
                    _ => {}
                }
                let output = match &**content {
                    [] => {
                        writing.change(said.origin, "a result without content becomes an empty string");
                        Draft::word("")
                    }
                    [Content::Text(text)] => Draft::Text(text.borrow()),
                    parts => {
                        let part = |part| write_part(said, part, "input_text", writing);
                        Draft::List(parts.iter().filter_map(part).collect())
                    }
                };
                items.push(Draft::map([
                    ("type", Draft::word("function_call_output")),
                    ("call_id", Draft::Text(writing.id(said, tool_use_id))),
                    ("output", output),
                ]));
            }
            Content::Thinking { .. } => writing.lose(said.origin, "a thought: it goes by an id or encrypted"),
            Content::Opaque { kind, value } => items.extend(writing.opaque(said, kind, value)),
            _ => items.push(message(turn, run, writing)),
        }
    }
}

/// Whether this is an item and no part of a message.
fn is_item(content: &Content<'_>) -> bool {
    !matches!(content, Content::Text(_) | Content::Image { .. })
}

fn message<'c>(turn: &Turn<'c>, run: &[Said<'c>], writing: &mut Writing<'c>) -> Draft<'c> {
    let content = match run {
        [said] if said.content.as_text().is_some() => {
            Draft::Text(said.content.as_text().map(Text::borrow).unwrap_or_default())
        }
        _ => {
            let kind = if turn.role == Role::Assistant { "output_text" } else { "input_text" };
            Draft::List(run.iter().filter_map(|said| write_part(*said, said.content, kind, writing)).collect())
        }
    };
    Draft::map([("role", Draft::Text(Text::plain(turn.role.as_str().to_owned()))), ("content", content)])
}

fn write_part<'c>(
    said: Said<'c>,
    content: &'c Content<'c>,
    kind: &'static str,
    writing: &mut Writing<'c>,
) -> Option<Draft<'c>> {
    match content {
        Content::Text(text) => Some(Draft::map([("type", Draft::word(kind)), ("text", Draft::Text(text.borrow()))])),
        Content::Image { source, .. } => writing.image(said, source),
        Content::Opaque { kind, value } => writing.opaque(said, kind, value),
        other => {
            writing.lose(said.origin, format!("a block of type {} inside a result", other.kind()));
            None
        }
    }
}
