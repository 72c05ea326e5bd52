//! A message list as a provider sees it, after its own hoisting and merging.

use serde::Serialize;

use super::Shape;
use crate::context::{Content, Context, Message, Role};

/// What becomes of a message list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lens {
    /// What is seen, in its order.
    pub messages: Vec<Seen>,
    /// Boundaries between messages that are not seen.
    pub vanished: Vec<Vanished>,
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
    let mut lens = Lens { messages: Vec::new(), vanished: Vec::new() };
    let hoists = !matches!(shape, Shape::OpenAi | Shape::Responses);
    for (index, message) in context.messages.iter().enumerate() {
        let hoisted = hoists && matches!(message.role, Role::System | Role::Developer);
        let role = seen_role(message, shape);
        let why = match lens.messages.last() {
            Some(last) if hoisted && last.hoisted => Some("system messages become one text beside the messages"),
            Some(last) if !hoisted && !last.hoisted && last.role == role => merges(shape, message),
            _ => None,
        };
        let size = crate::measure::message(message).known_chars();
        match (why, lens.messages.last_mut()) {
            (Some(why), Some(last)) => {
                let before = last.from.last().copied().unwrap_or_default();
                lens.vanished.push(Vanished { before, behind: index, why: why.to_owned() });
                last.from.push(index);
                last.chars = last.chars.zip(size).map(|(a, b)| a + b);
            }
            _ => lens.messages.push(Seen { role, hoisted, from: vec![index], chars: size }),
        }
    }
    if hoists {
        // What is hoisted is seen first, wherever it stood.
        lens.messages.sort_by_key(|seen| !seen.hoisted);
    }
    lens
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
fn merges(shape: Shape, message: &Message<'_>) -> Option<&'static str> {
    match shape {
        Shape::Anthropic => Some("messages of one role in a row are seen as one turn"),
        Shape::Bedrock => Some("messages of one role in a row have to be sent as one"),
        Shape::Gemini if message.role == Role::Tool => Some("results of one turn are sent as one content"),
        Shape::Gemini | Shape::OpenAi | Shape::Responses => None,
    }
}
