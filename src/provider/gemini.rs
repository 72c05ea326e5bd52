//! Gemini `generateContent`.

use super::reading::{Reading, block, boolean, fault, has, items, text, text_or_empty, tool_input};
use super::writing::{Said, Writing};
use super::{Draft, Marks};
use crate::context::node::{Node, Value};
use crate::context::{Block, Content, Role, Text};
use crate::error::Result;

/// What only this shape has.
pub(super) fn marks(root: &Node<'_>, marks: &mut Marks) {
    if has(root, "contents") {
        marks.strong("contents");
    }
    if let Value::List(items) = &root.value
        && items.iter().any(|item| item.get("parts").is_some())
    {
        marks.strong("messages with parts");
    }
}

/// A key in either of the spellings that the interface takes.
fn get<'n, 'a>(node: &'n Node<'a>, camel: &str, snake: &str) -> Option<&'n Node<'a>> {
    node.get(camel).or_else(|| node.get(snake)).filter(|value| !matches!(value.value, Value::Null))
}

pub(super) fn read<'a>(root: &Node<'a>, reading: &mut Reading<'a>) -> Result<()> {
    reading.tools(root.get("tools"), "tools")?;
    for key in ["systemInstruction", "system_instruction"] {
        let Some(system) = root.get(key).filter(|system| !matches!(system.value, Value::Null)) else { continue };
        reading.only(system, &["parts", "role"], key);
        let blocks = match &system.value {
            Value::Text(text) => vec![block(Content::Text(text.clone()), key.to_owned())],
            _ => parts(system, key, reading)?,
        };
        reading.push(Role::System, blocks, key.to_owned());
    }
    match root.get("contents") {
        // The interface takes a string, or one content, for the whole.
        Some(Node { value: Value::Text(text), .. }) => {
            let said = block(Content::Text(text.clone()), "contents".to_owned());
            reading.push(Role::User, vec![said], "contents".to_owned());
            Ok(())
        }
        Some(one @ Node { value: Value::Map(_), .. }) => content(one, "contents".to_owned(), reading),
        list => items(list.unwrap_or(root), "contents")?
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| content(item, format!("contents[{index}]"), reading)),
    }
}

fn content<'a>(item: &Node<'a>, path: String, reading: &mut Reading<'a>) -> Result<()> {
    if !matches!(item.value, Value::Map(_)) {
        return Err(fault(item, &path, format!("a content is a map, not {}", item.kind())));
    }
    reading.only(item, &["role", "parts"], &path);
    let role = match text(item, "role", &path)? {
        // Left out, it is a turn of the user.
        None => Role::User,
        Some(role) if role.to_cow() == "model" => Role::Assistant,
        Some(role) => reading.recorded(role.into_cow(), &path),
    };
    let blocks = parts(item, &path, reading)?;
    reading.push(role, blocks, path);
    Ok(())
}

fn parts<'a>(item: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Vec<Block<'a>>> {
    let path = format!("{path}.parts");
    let Some(parts) = item.get("parts").filter(|parts| !matches!(parts.value, Value::Null)) else {
        return Ok(Vec::new());
    };
    let one = |(index, part): (usize, &Node<'a>)| {
        let path = format!("{path}[{index}]");
        Ok(block(self::part(part, &path, reading)?, path))
    };
    match &parts.value {
        Value::Map(_) => Ok(vec![block(part(parts, &path, reading)?, path)]),
        _ => items(parts, &path)?.iter().enumerate().map(one).collect(),
    }
}

fn part<'a>(part: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Content<'a>> {
    if let Value::Text(text) = &part.value {
        return Ok(Content::Text(text.clone()));
    }
    if let Some(said) = text(part, "text", path)? {
        if boolean(part, "thought") == Some(true) {
            reading.only(part, &["text", "thought", "thoughtSignature", "thought_signature"], path);
            let signature = ["thoughtSignature", "thought_signature"].into_iter().find(|key| part.get(key).is_some());
            let signature = signature.map(|key| text(part, key, path)).transpose()?.flatten();
            return Ok(Content::Thinking { text: said, signature });
        }
        reading.only(part, &["text", "thought"], path);
        return Ok(Content::Text(said));
    }
    if let Some(call) = get(part, "functionCall", "function_call") {
        reading.only(part, &["functionCall", "function_call"], path);
        reading.only(call, &["id", "name", "args"], &format!("{path}.functionCall"));
        return Ok(Content::ToolUse {
            id: text_or_empty(call, "id", path)?,
            name: text_or_empty(call, "name", path)?,
            input: tool_input(call.get("args"))?,
        });
    }
    if let Some(response) = get(part, "functionResponse", "function_response") {
        reading.only(part, &["functionResponse", "function_response"], path);
        reading.only(response, &["id", "name", "response"], &format!("{path}.functionResponse"));
        let (content, is_error) = result(response.get("response"))?;
        let tool_use_id = text_or_empty(response, "id", path)?;
        return Ok(Content::ToolResult { tool_use_id, content, is_error, status: None });
    }
    for (camel, snake) in [("inlineData", "inline_data"), ("fileData", "file_data")] {
        if let Some(data) = get(part, camel, snake) {
            let is_image = match get(data, "mimeType", "mime_type").map(|kind| &kind.value) {
                Some(Value::Text(kind)) => kind.to_cow().starts_with("image/"),
                _ => false,
            };
            if is_image {
                reading.only(part, &[camel, snake], path);
                return Ok(Content::Image { source: data.to_json()?, chars: None });
            }
            return reading.opaque(camel, part, path);
        }
    }
    let kind = match &part.value {
        Value::Map(entries) => entries.first().map_or("", |entry| &*entry.key).to_owned(),
        _ => String::new(),
    };
    reading.opaque(&kind, part, path)
}

/// What a function gave. The interface wants a map; one that holds nothing but a text under the name that is meant for
/// it stands for the text.
fn result<'a>(response: Option<&Node<'a>>) -> Result<(Vec<Content<'a>>, Option<bool>)> {
    let Some(response) = response else { return Ok((Vec::new(), None)) };
    if let Value::Map(entries) = &response.value
        && let [entry] = &**entries
        && let Value::Text(text) = &entry.value.value
    {
        match &*entry.key {
            "output" => return Ok((vec![Content::Text(text.clone())], None)),
            "error" => return Ok((vec![Content::Text(text.clone())], Some(true))),
            _ => {}
        }
    }
    Ok((vec![Content::Text(Text::plain(response.to_json()?.as_str().to_owned()))], None))
}

pub(super) fn write<'c>(writing: &mut Writing<'c>) -> Draft<'c> {
    let (head, turns) = writing.turns();
    let mut body = Draft::map([]);
    if !head.is_empty() {
        writing.name_head(&head);
        let said = head.iter().flat_map(|turn| &turn.said);
        let parts = said.filter_map(|said| write_part(*said, writing)).collect();
        body.push("systemInstruction", Draft::map([("parts", Draft::List(parts))]));
    }
    let mut contents = Vec::new();
    for turn in &turns {
        let role = match &turn.role {
            Role::User => Draft::word("user"),
            Role::Assistant => Draft::word("model"),
            Role::System | Role::Developer => {
                writing
                    .lose(turn.origin, "a system message behind others: this shape has room for them at the head only");
                continue;
            }
            other => {
                writing.unknown_role(turn);
                Draft::Text(Text::plain(other.as_str().to_owned()))
            }
        };
        let parts = turn.said.iter().filter_map(|said| write_part(*said, writing)).collect();
        contents.push(Draft::map([("role", role), ("parts", Draft::List(parts))]));
    }
    body.push("contents", Draft::List(contents));
    if let Some(tools) = writing.tools() {
        body.push("tools", tools);
    }
    body
}

fn write_part<'c>(said: Said<'c>, writing: &mut Writing<'c>) -> Option<Draft<'c>> {
    Some(match said.content {
        Content::Text(text) => Draft::map([("text", Draft::Text(text.borrow()))]),
        Content::Thinking { text, signature } => {
            let mut part = Draft::map([("text", Draft::Text(text.borrow())), ("thought", Draft::Bool(true))]);
            match signature {
                Some(signature) if writing.from.is_none_or(|from| from == writing.to) => {
                    part.push("thoughtSignature", Draft::Text(signature.borrow()));
                }
                Some(_) => writing.lose(said.origin, "the signature of a thought, which is another provider's"),
                None => {}
            }
            part
        }
        Content::ToolUse { id, name, input } => {
            let mut call = Draft::map([]);
            if !id.is_empty() {
                call.push("id", Draft::Text(id.borrow()));
            }
            call.push("name", Draft::Text(name.borrow()));
            call.push("args", writing.input_map(said, input));
            Draft::map([("functionCall", call)])
        }
        Content::ToolResult { tool_use_id, content, is_error, status } => {
            let mut response = Draft::map([]);
            if !tool_use_id.is_empty() {
                response.push("id", Draft::Text(tool_use_id.borrow()));
            }
            let name = writing.names.get(&said.origin.to_string()).cloned();
            if name.is_none() {
                writing.lose(said.origin, "a result must name its tool, and no call has its id");
            }
            response.push("name", Draft::Text(name.map(Text::from).unwrap_or_default()));
            if *is_error == Some(false) {
                writing.change(said.origin, "is_error: false");
            }
            let is_error = *is_error == Some(true) || status.is_some();
            let given = write_result(said, content, writing);
            response.push("response", Draft::map([(if is_error { "error" } else { "output" }, given)]));
            Draft::map([("functionResponse", response)])
        }
        Content::Image { source, .. } => return writing.image(said, source),
        Content::Opaque { kind, value } => return writing.opaque(said, kind, value),
    })
}

fn write_result<'c>(said: Said<'c>, content: &'c [Content<'c>], writing: &mut Writing<'c>) -> Draft<'c> {
    match content {
        [Content::Text(text)] => return Draft::Text(text.borrow()),
        [] => {
            writing.change(said.origin, "a result without content becomes an empty string");
            return Draft::word("");
        }
        _ => {}
    }
    let mut texts = Vec::new();
    for content in content {
        match content {
            Content::Text(text) => texts.push(Draft::Text(text.borrow())),
            other => writing.lose(said.origin, format!("a block of type {} inside a result", other.kind())),
        }
    }
    if texts.len() > 1 {
        writing.change(said.origin, "the texts of a result become a list in JSON");
    }
    Draft::List(texts)
}
