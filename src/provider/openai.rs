//! OpenAI Chat Completions, and the many that copy it.

use super::reading::{Reading, block, boolean, content, fault, has, items, kind, text, text_or_empty, tool_input};
use super::writing::{Said, Turn, Writing};
use super::{Draft, Marks};
use crate::context::node::{Node, Value};
use crate::context::{Block, Content, Role, Text};
use crate::error::Result;

/// What only this shape has.
pub(super) fn marks(root: &Node<'_>, marks: &mut Marks) {
    const PARAMETERS: [&str; 12] = [
        "max_completion_tokens",
        "n",
        "logprobs",
        "logit_bias",
        "response_format",
        "frequency_penalty",
        "presence_penalty",
        "seed",
        "stream_options",
        "functions",
        "function_call",
        "stop",
    ];
    PARAMETERS.iter().filter(|key| has(root, key)).for_each(|key| marks.weak(key));
    let tools = root.get("tools").map(|tools| &tools.value);
    if let Some(Value::List(tools)) = tools
        && tools.iter().any(|tool| tool.get("function").is_some())
    {
        marks.strong("tools with `function`");
    }
    for message in super::messages(root) {
        for key in ["tool_calls", "function_call", "tool_call_id", "reasoning_content", "refusal", "audio"] {
            // Those that copy the shape write null for what is not there.
            if message.get(key).is_some() {
                marks.strong(key);
            }
        }
        match message.get("role").map(|role| &role.value) {
            Some(Value::Text(role)) if matches!(&*role.to_cow(), "tool" | "developer" | "function") => {
                marks.strong("a role of tool, function or developer");
            }
            Some(Value::Text(role)) if role.to_cow() == "system" => marks.weak("a message of role system"),
            _ => {}
        }
        for part in super::parts(message) {
            if matches!(&*kind(part), "image_url" | "input_audio" | "file" | "refusal" | "video_url") {
                marks.strong("parts of type image_url, input_audio, file or refusal");
            }
        }
    }
}

pub(super) fn read<'a>(root: &Node<'a>, reading: &mut Reading<'a>) -> Result<()> {
    // Logs of LiteLLM keep the tools among the arguments of the call.
    let tools = [Some(root), root.get("kwargs")].into_iter().flatten().find_map(|map| map.get("tools"));
    reading.tools(tools.or_else(|| root.get("functions")), "tools")?;
    let (list, base) = match root.get("messages") {
        Some(list) => (items(list, "messages")?, "messages"),
        None => (items(root, "messages")?, "messages"),
    };
    list.iter().enumerate().try_for_each(|(index, item)| message(item, format!("{base}[{index}]"), reading))
}

/// Reads a message, wherever it stands.
pub(super) fn message<'a>(item: &Node<'a>, path: String, reading: &mut Reading<'a>) -> Result<()> {
    if !matches!(item.value, Value::Map(_)) {
        return Err(fault(item, &path, format!("a message is a map, not {}", item.kind())));
    }
    reading.only(
        item,
        &[
            "role",
            "content",
            "tool_calls",
            "function_call",
            "tool_call_id",
            "reasoning_content",
            "reasoning",
            "refusal",
            "cache_control",
        ],
        &path,
    );
    let role = reading.role(item, &path)?;
    let mut blocks = Vec::new();
    for key in ["reasoning_content", "reasoning"] {
        match item.get(key).map(|value| &value.value) {
            Some(Value::Text(text)) if blocks.is_empty() && !text.is_empty() => {
                let thought = Content::Thinking { text: text.clone(), signature: None };
                blocks.push(block(thought, format!("{path}.{key}")));
            }
            None | Some(Value::Null | Value::Text(_)) => {}
            Some(_) => reading.note(super::What::Key, key, || format!("{path}.{key}")),
        }
    }
    let said = content(item, "content", &path, reading, part)?;
    if role == Role::Tool || role.as_str() == "function" {
        let result = Content::ToolResult {
            tool_use_id: text_or_empty(item, "tool_call_id", &path)?,
            content: said.into_iter().map(|block| block.content).collect(),
            is_error: boolean(item, "is_error"),
            status: None,
        };
        blocks.push(block(result, path.clone()));
        reading.push(role, blocks, path);
        return Ok(());
    }
    blocks.extend(said);
    if let Some(refusal) = item.get("refusal").filter(|refusal| !matches!(refusal.value, Value::Null)) {
        let path = format!("{path}.refusal");
        blocks.push(block(reading.opaque("refusal", refusal, &path)?, path));
    }
    calls(item, &path, reading, &mut blocks)?;
    reading.push(role, blocks, path);
    Ok(())
}

fn calls<'a>(item: &Node<'a>, path: &str, reading: &mut Reading<'a>, blocks: &mut Vec<Block<'a>>) -> Result<()> {
    if let Some(list) = item.get("tool_calls").filter(|list| !matches!(list.value, Value::Null)) {
        let path = format!("{path}.tool_calls");
        for (index, call) in items(list, &path)?.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let Some(function) = call.get("function") else {
                let kind = kind(call).into_owned();
                blocks.push(block(reading.opaque(&kind, call, &path)?, path));
                continue;
            };
            reading.only(call, &["id", "type", "function", "index", "cache_control"], &path);
            reading.only(function, &["name", "arguments"], &format!("{path}.function"));
            let content = Content::ToolUse {
                id: text_or_empty(call, "id", &path)?,
                name: text_or_empty(function, "name", &path)?,
                input: tool_input(function.get("arguments"))?,
            };
            blocks.push(block(content, path));
        }
    }
    if let Some(call) = item.get("function_call").filter(|call| !matches!(call.value, Value::Null)) {
        let path = format!("{path}.function_call");
        let content = Content::ToolUse {
            id: Text::default(),
            name: text_or_empty(call, "name", &path)?,
            input: tool_input(call.get("arguments"))?,
        };
        blocks.push(block(content, path));
    }
    Ok(())
}

fn part<'a>(part: &Node<'a>, path: &str, reading: &mut Reading<'a>) -> Result<Content<'a>> {
    if let Value::Text(text) = &part.value {
        return Ok(Content::Text(text.clone()));
    }
    match &*kind(part) {
        "text" => {
            reading.only(part, &["type", "text", "cache_control"], path);
            match text(part, "text", path)? {
                Some(text) => Ok(Content::Text(text)),
                None => reading.opaque("text", part, path),
            }
        }
        "image_url" => {
            reading.only(part, &["type", "image_url", "cache_control"], path);
            match part.get("image_url") {
                Some(source) => Ok(Content::Image { source: source.to_json()?, chars: None }),
                None => reading.opaque("image_url", part, path),
            }
        }
        other => reading.opaque(other, part, path),
    }
}

pub(super) fn write<'c>(writing: &mut Writing<'c>) -> Draft<'c> {
    let (_, turns) = writing.turns();
    let mut messages = Vec::new();
    for turn in &turns {
        write_turn(turn, writing, &mut messages);
    }
    let mut body = Draft::map([("messages", Draft::List(messages))]);
    if let Some(tools) = writing.tools() {
        body.push("tools", tools);
    }
    body
}

/// Results of calls are messages of their own, and what stands between them is said in its place.
fn write_turn<'c>(turn: &Turn<'c>, writing: &mut Writing<'c>, messages: &mut Vec<Draft<'c>>) {
    if matches!(turn.role, Role::Other(_)) {
        writing.unknown_role(turn);
    }
    if turn.said.is_empty() {
        messages.push(Draft::map([("role", role(turn)), ("content", Draft::Null)]));
    }
    let is_result = |said: &Said<'_>| matches!(said.content, Content::ToolResult { .. });
    let is_tools = matches!(turn.role.as_str(), "tool" | "function");
    if is_tools && (turn.said.is_empty() || turn.said.iter().any(|said| !is_result(said))) {
        writing.change(turn.origin, "what a tool says is read as a result without a call");
    }
    for run in turn.said.chunk_by(|a, b| !is_result(a) && !is_result(b)) {
        match (run[0].content, run) {
            (Content::ToolResult { tool_use_id, content, is_error, status }, [said]) => {
                match is_error {
                    Some(true) if status.is_none() => writing.lose(said.origin, "is_error: true"),
                    Some(_) if status.is_none() => writing.change(said.origin, "is_error: false"),
                    _ => {}
                }
                let mut message = Draft::map([("role", Draft::word("tool"))]);
                if turn.role.as_str() == "function" {
                    message = Draft::map([("role", role(turn))]);
                }
                message.push("tool_call_id", Draft::Text(writing.id(*said, tool_use_id)));
                if content.is_empty() {
                    writing.change(said.origin, "a result without content becomes an empty string");
                }
                message.push("content", write_content(*said, content, writing));
                messages.push(message);
            }
            _ => messages.push(write_said(turn, run, writing)),
        }
    }
}

fn role<'c>(turn: &Turn<'c>) -> Draft<'c> {
    Draft::Text(Text::plain(turn.role.as_str().to_owned()))
}

fn write_said<'c>(turn: &Turn<'c>, run: &[Said<'c>], writing: &mut Writing<'c>) -> Draft<'c> {
    let mut message = Draft::map([("role", role(turn))]);
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    let texts: Vec<&Text<'c>> = run.iter().filter_map(|said| said.content.as_text()).collect();
    for said in run {
        match said.content {
            Content::ToolUse { id, name, input } => {
                let function =
                    Draft::map([("name", Draft::Text(name.borrow())), ("arguments", writing.input_text(input))]);
                calls.push(Draft::map([
                    ("id", Draft::Text(writing.id(*said, id))),
                    ("type", Draft::word("function")),
                    ("function", function),
                ]));
            }
            content => {
                if !calls.is_empty() {
                    writing.lose(said.origin, "what stands behind a call of its message would stand before it");
                }
                parts.extend(write_part(*said, content, writing));
            }
        }
    }
    message.push(
        "content",
        match (&*texts, parts.len()) {
            (_, 0) => Draft::Null,
            ([text], 1) => Draft::Text(text.borrow()),
            _ => Draft::List(parts),
        },
    );
    if !calls.is_empty() {
        message.push("tool_calls", Draft::List(calls));
    }
    message
}

fn write_part<'c>(said: Said<'c>, content: &'c Content<'c>, writing: &mut Writing<'c>) -> Option<Draft<'c>> {
    match content {
        Content::Text(text) => Some(Draft::map([("type", Draft::word("text")), ("text", Draft::Text(text.borrow()))])),
        Content::Image { source, .. } => writing.image(said, source),
        Content::Opaque { kind, value } => writing.opaque(said, kind, value),
        Content::Thinking { .. } => {
            writing.lose(said.origin, "a thought: this shape has no place for it");
            None
        }
        Content::ToolUse { .. } | Content::ToolResult { .. } => {
            writing.lose(said.origin, "a call or a result inside a result");
            None
        }
    }
}

/// One text is a string, anything else a list.
fn write_content<'c>(said: Said<'c>, content: &'c [Content<'c>], writing: &mut Writing<'c>) -> Draft<'c> {
    match content {
        [] => Draft::word(""),
        [Content::Text(text)] => Draft::Text(text.borrow()),
        _ => {
            let part = |content| write_part(said, content, writing);
            Draft::List(content.iter().filter_map(part).collect())
        }
    }
}
