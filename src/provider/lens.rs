//! A message list as a provider sees it, after its own hoisting and merging.

use serde::Serialize;

use super::Shape;
use crate::context::{Content, Context, Message, Role};

/// What becomes of a message list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lens {
    /// What is seen, in its order.
    pub messages: Vec<Seen>,
    /// Boundaries between messages that are not seen.
    pub vanished: Vec<Vanished>,
    /// Messages that are not seen at all, by index.
    pub dropped: Vec<usize>,
}

/// A message as it is seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The role it is seen with; `system` for what stands apart from the messages.
    pub role: String,
    /// Whether it was taken out of the messages and stands at the head.
    pub hoisted: bool,
    /// The messages it is made of, by index.
    pub from: Vec<usize>,
    /// Its size in characters, where that is known.
    pub chars: Option<u64>,
}

/// A boundary that is not seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vanished {
    /// The message before it.
    pub before: usize,
    /// The message behind it.
    pub behind: usize,
    /// Why.
    pub why: String,
}

/// What a provider makes of a context.
pub fn lens(context: &Context<'_>, shape: Shape) -> Lens {
    // What is hoisted is seen first, wherever it stood.
    let (mut head, mut rest) = (Vec::<Seen>::new(), Vec::<Seen>::new());
    let mut vanished = Vec::new();
    for (index, message) in context.messages.iter().enumerate() {
        let is_hoisted = hoists(message, shape, rest.is_empty());
        let role = seen_role(message, shape);
        let list = if is_hoisted { &mut head } else { &mut rest };
        let last = list.last_mut();
        let before = last.as_ref().and_then(|last| last.from.last().copied());
        let why = match before {
            Some(_) if is_hoisted => Some("system messages become one text beside the messages"),
            Some(before) if last.as_ref().is_some_and(|last| last.role == role) => {
                merges(shape, &context.messages[before], message)
            }
            _ => None,
        };
        let size = crate::measure::message(message).known_chars();
        match (why, last, before) {
            (Some(why), Some(last), Some(before)) => {
                vanished.push(Vanished { before, behind: index, why: why.to_owned() });
                last.from.push(index);
                last.chars = last.chars.zip(size).map(|(a, b)| a + b);
            }
            _ => list.push(Seen { role, hoisted: is_hoisted, from: vec![index], chars: size }),
        }
    }
    head.append(&mut rest);
    Lens { messages: head, vanished, dropped: Vec::new() }
}

/// Whether a message has its place beside the others.
fn hoists(message: &Message<'_>, shape: Shape, is_at_head: bool) -> bool {
    let is_system = matches!(message.role, Role::System | Role::Developer);
    match shape {
        Shape::OpenAi | Shape::Responses => false,
        // One that stands further down is seen there.
        Shape::Anthropic => is_system && is_at_head,
        Shape::Gemini | Shape::Bedrock => is_system,
    }
}

fn seen_role(message: &Message<'_>, shape: Shape) -> String {
    let is_result = message.blocks.iter().any(|block| matches!(block.content, Content::ToolResult { .. }));
    match (&message.role, shape) {
        (Role::System | Role::Developer, Shape::Anthropic | Shape::Gemini | Shape::Bedrock) => "system",
        (Role::Tool, Shape::Anthropic | Shape::Gemini | Shape::Bedrock) => "user",
        (Role::Other(_), Shape::Anthropic | Shape::Gemini | Shape::Bedrock) if is_result => "user",
        (Role::Assistant, Shape::Gemini) => "model",
        (role, _) => role.as_str(),
    }
    .to_owned()
}

/// Why a message is seen as one with the one before it, which has the same role; nothing where it is not.
fn merges(shape: Shape, before: &Message<'_>, message: &Message<'_>) -> Option<&'static str> {
    let are_all = |message: &Message<'_>, is: fn(&Content<'_>) -> bool| {
        !message.blocks.is_empty() && message.blocks.iter().all(|block| is(&block.content))
    };
    let is_result = |content: &Content<'_>| matches!(content, Content::ToolResult { .. });
    let is_call = |content: &Content<'_>| matches!(content, Content::ToolUse { .. });
    match shape {
        Shape::Responses => None,
        Shape::Anthropic => Some("messages of one role in a row are seen as one turn"),
        Shape::Bedrock => Some("messages of one role in a row have to be sent as one"),
        Shape::Gemini if are_all(before, is_result) && are_all(message, is_result) => {
            Some("results of one turn are sent as one content")
        }
        Shape::Gemini | Shape::OpenAi if message.role == Role::Assistant && are_all(message, is_call) => {
            Some("calls are sent with what the assistant said before them")
        }
        Shape::Gemini | Shape::OpenAi => None,
    }
}

/// What a chat template makes of a context, going by the text it gave: a message is seen from where its text begins.
pub fn lens_of_text(context: &Context<'_>, text: &str) -> Lens {
    let mut lens = Lens::default();
    // Where the message before ends in the text.
    let mut end = 0;
    let mut before = None;
    for (index, message) in context.messages.iter().enumerate() {
        let texts: Vec<String> = message.blocks.iter().flat_map(|block| texts(&block.content)).collect();
        let spoken: Vec<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let places: Option<Vec<usize>> = spoken.iter().map(|said| text[end..].find(said).map(|at| end + at)).collect();
        let Some(places) = places else {
            lens.dropped.push(index);
            continue;
        };
        let chars = crate::measure::message(message).known_chars();
        let role = message.role.as_str().to_owned();
        let (start, last) = (places.first().copied(), places.last().zip(spoken.last()));
        let between = start.map(|start| &text[end..start]);
        match (before, between, lens.messages.last_mut()) {
            (Some(before), Some(between), Some(seen)) if between.trim().is_empty() => {
                let why = "the template writes nothing but white space between them".to_owned();
                lens.vanished.push(Vanished { before, behind: index, why });
                seen.from.push(index);
                seen.chars = seen.chars.zip(chars).map(|(a, b)| a + b);
            }
            _ => lens.messages.push(Seen { role, hoisted: false, from: vec![index], chars }),
        }
        if let Some((place, said)) = last {
            end = place + said.len();
            before = Some(index);
        }
    }
    lens
}

fn texts(content: &Content<'_>) -> Vec<String> {
    match content {
        Content::Text(text) => vec![text.to_string()],
        Content::ToolResult { content, .. } => content.iter().flat_map(texts).collect(),
        Content::ToolUse { name, .. } => vec![name.to_string()],
        Content::Thinking { .. } | Content::Image { .. } | Content::Opaque { .. } => Vec::new(),
    }
}
