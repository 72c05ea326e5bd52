//! The parts of a recording as the document of a run request.

use std::borrow::Cow;

use super::frame::Frame;
use super::injections::{Injections, Slot};
use super::split::Split;
use super::steps::{Found, Shape, said_by, sole_text};
use crate::context::node::{Entry, Node, Span, Value};
use crate::context::reader as json;
use crate::context::{Content, Context, Json, Message, Text, ToolInput};
use crate::error::Result;

/// What a document is made of.
pub(super) struct Parts<'p> {
    pub context: &'p Context<'p>,
    pub split: &'p Split,
    pub slot: &'p Slot,
    pub injections: &'p Injections<'p>,
    pub frame: &'p Frame,
}

impl<'p> Parts<'p> {
    /// Where the prefix ends, and where the goal begins.
    pub fn borders(&self) -> [usize; 2] {
        let Split { task, goal_end, .. } = self.split;
        match self.slot.messages.is_empty() {
            true => [task.unwrap_or(*goal_end); 2],
            false => [self.slot.messages.start, self.slot.messages.end],
        }
    }

    /// The document, in the order in which a model meets its parts.
    pub fn document(&self) -> Result<Node<'p>> {
        let messages = &self.context.messages;
        let [prefix_end, goal_start] = self.borders();
        let mut top = Vec::new();
        push_list(&mut top, "prefix", messages[..prefix_end].iter().map(message))?;
        let channels = self.injections.written(self.slot);
        if !channels.is_empty() {
            let channel = |(name, entries): (&'p str, Vec<&'p Node<'p>>)| {
                entry(name, list(entries.into_iter().map(borrowed).collect()))
            };
            top.push(entry("injections", map(channels.into_iter().map(channel).collect())));
        }
        push_list(&mut top, "goal", messages[goal_start..self.split.goal_end].iter().map(message))?;
        if self.split.steps.iter().any(|(_, step)| matches!(step.shape, Shape::Pair)) {
            top.push(entry("observation_template", text(Text::plain(self.frame.template()))));
        }
        let fields = self.frame.fields().into_iter();
        push_list(&mut top, "observation_fields", fields.map(|name| Ok(text(Text::plain(name)))))?;
        push_list(&mut top, "trajectory", self.split.steps.iter().map(|(at, step)| self.step(*at, step)))?;
        push_list(&mut top, "tools", self.context.tools.iter().map(value))?;
        Ok(map(top))
    }

    fn step(&self, at: usize, step: &'p Found) -> Result<Node<'p>> {
        let messages = &self.context.messages;
        let said = &messages[at];
        match &step.shape {
            Shape::Pair => {
                let raw_output = sole_text(said).map(Text::borrow).unwrap_or_default();
                let observed = sole_text(&messages[at + 1]).map(Text::to_cow).unwrap_or_default();
                let (observation, values) = self.frame.take_off(&observed);
                let mut entries = vec![entry("raw_output", text(raw_output)), entry("observation", owned(observation))];
                let values = self.frame.fields().into_iter().zip(values);
                let values: Vec<Entry<'_>> = values.map(|(name, value)| entry(name, owned(value))).collect();
                if !values.is_empty() {
                    entries.push(entry("fields", map(values)));
                }
                Ok(map(entries))
            }
            Shape::Calls(results) => {
                let raw_output = said_by(said).map(Text::borrow).unwrap_or_default();
                let uses = said.blocks.iter().filter(|block| matches!(block.content, Content::ToolUse { .. }));
                let calls = uses.zip(results).map(|(block, result)| {
                    call(&block.content, result.and_then(|at| messages[at].blocks.first()).map(|block| &block.content))
                });
                let calls = list(calls.collect::<Result<_>>()?);
                Ok(map(vec![entry("raw_output", text(raw_output)), entry("tool_calls", calls)]))
            }
        }
    }
}

fn call<'p>(tool_use: &'p Content<'_>, result: Option<&'p Content<'_>>) -> Result<Node<'p>> {
    let mut entries = use_entries(tool_use)?;
    if let Some(Content::ToolResult { content: result, .. }) = result {
        entries.push(entry("result", content(result.iter())?));
    }
    Ok(map(entries))
}

fn use_entries<'p>(tool_use: &'p Content<'_>) -> Result<Vec<Entry<'p>>> {
    let Content::ToolUse { id, name, input } = tool_use else { return Ok(Vec::new()) };
    let input = match input {
        ToolInput::Text(input) => text(input.borrow()),
        ToolInput::Json(input) => value(input)?,
    };
    Ok(vec![entry("id", text(id.borrow())), entry("name", text(name.borrow())), entry("input", input)])
}

fn message<'p>(message: &'p Message<'_>) -> Result<Node<'p>> {
    let content = content(message.blocks.iter().map(|block| &block.content))?;
    Ok(map(vec![entry("role", text(Text::plain(message.role.as_str()))), entry("content", content)]))
}

/// One text is written as a string.
fn content<'p, 'c: 'p>(contents: impl ExactSizeIterator<Item = &'p Content<'c>>) -> Result<Node<'p>> {
    let contents: Vec<&Content<'_>> = contents.collect();
    match &*contents {
        [Content::Text(only)] => Ok(text(only.borrow())),
        blocks => Ok(list(blocks.iter().map(|content| block(content)).collect::<Result<_>>()?)),
    }
}

fn block<'p>(block: &'p Content<'_>) -> Result<Node<'p>> {
    let mut entries = vec![entry("type", text(Text::plain(block.kind())))];
    match block {
        Content::Text(said) => entries.push(entry("text", text(said.borrow()))),
        Content::Thinking { text: thought, signature } => {
            entries.push(entry("text", text(thought.borrow())));
            entries.extend(signature.iter().map(|signature| entry("signature", text(signature.borrow()))));
        }
        Content::ToolUse { .. } => entries.extend(use_entries(block)?),
        Content::ToolResult { tool_use_id, content: result, is_error, status } => {
            entries.push(entry("tool_use_id", text(tool_use_id.borrow())));
            entries.push(entry("content", content(result.iter())?));
            entries.extend(is_error.map(|is_error| entry("is_error", node(Value::Bool(is_error)))));
            entries.extend(status.iter().map(|status| entry("status", text(status.borrow()))));
        }
        Content::Image { source, chars } => {
            entries.push(entry("source", value(source)?));
            let chars = chars.map(|chars| node(Value::Number(Cow::Owned(chars.to_string()))));
            entries.extend(chars.map(|chars| entry("chars", chars)));
        }
        Content::Opaque { kind, value: opaque } => {
            entries.push(entry("kind", text(kind.borrow())));
            entries.push(entry("value", value(opaque)?));
        }
    }
    Ok(map(entries))
}

/// JSON that is handed through.
fn value<'p>(json: &'p Json<'_>) -> Result<Node<'p>> {
    json::parse(json.as_str())
}

fn borrowed<'p>(given: &'p Node<'_>) -> Node<'p> {
    node(match &given.value {
        Value::Null => Value::Null,
        Value::Bool(value) => Value::Bool(*value),
        Value::Number(spelling) => Value::Number(Cow::Borrowed(spelling)),
        Value::Text(text) => Value::Text(text.borrow()),
        Value::List(items) => Value::List(items.iter().map(borrowed).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|given| entry(&given.key, borrowed(&given.value))).collect())
        }
    })
}

fn push_list<'p>(
    top: &mut Vec<Entry<'p>>,
    key: &'p str,
    items: impl ExactSizeIterator<Item = Result<Node<'p>>>,
) -> Result<()> {
    if items.len() > 0 {
        top.push(entry(key, list(items.collect::<Result<_>>()?)));
    }
    Ok(())
}

/// What is made has no place in a document yet.
const NOWHERE: Span = Span { start: 0, end: 0 };

fn node(value: Value<'_>) -> Node<'_> {
    Node { span: NOWHERE, value }
}

fn text(text: Text<'_>) -> Node<'_> {
    node(Value::Text(text))
}

fn owned<'p>(part: &str) -> Node<'p> {
    text(Text::plain(part.to_owned()))
}

fn list(items: Vec<Node<'_>>) -> Node<'_> {
    node(Value::List(items))
}

fn map(entries: Vec<Entry<'_>>) -> Node<'_> {
    node(Value::Map(entries))
}

fn entry<'p>(key: &'p str, value: Node<'p>) -> Entry<'p> {
    Entry { key: Cow::Borrowed(key), key_span: NOWHERE, value }
}
