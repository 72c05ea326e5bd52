//! What providers are really sent: bodies of requests, read into a context and written from one.
//!
//! | shape | interface | system | a call | its result |
//! |---|---|---|---|---|
//! | `openai` | OpenAI Chat Completions, and those that copy it | a message | `tool_calls` of a message | a message of role `tool` |
//! | `responses` | OpenAI Responses | `instructions` | an item `function_call` | an item `function_call_output` |
//! | `anthropic` | Anthropic Messages | `system` | a block `tool_use` | a block `tool_result` of a user message |
//! | `gemini` | Gemini `generateContent` | `systemInstruction` | a part `functionCall` | a part `functionResponse` |
//! | `bedrock` | Bedrock Converse | `system` | a block `toolUse` | a block `toolResult` of a user message |
//!
//! Each is one file that holds both directions and what the provider demands. What a shape has beyond messages, tools and
//! their blocks is not part of the context; it is kept beneath it ([`Wire`]), compared there and written back.

mod anthropic;
mod bedrock;
mod body;
mod compare;
mod detect;
mod draft;
mod gemini;
mod image;
mod lens;
mod openai;
mod reading;
mod repair;
mod responses;
mod rules;
mod tools;
mod wire;
mod writing;

pub use body::{Body, Source, accepted};
pub use compare::{WireChange, WireClass, compare};
pub(crate) use detect::{Marks, messages, parts, shape_of};
pub(crate) use draft::Draft;
pub use lens::{Lens, Seen, Vanished, lens, lens_of_text};
pub(crate) use reading::Reading;
pub use reading::{Unmodelled, What};
pub use repair::{Repair, repair};
pub use rules::{Finding, RULES, Rule, check};
pub use wire::Wire;
pub use writing::Loss;
use writing::Writing;

use crate::context::node::Node;
use crate::error::Result;

/// The shape of a provider's request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// OpenAI Chat Completions.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Bedrock Converse.
    Bedrock,
}

impl Shape {
    /// All of them; where two are equally likely the first is taken.
    pub const ALL: [Shape; 5] = [Shape::OpenAi, Shape::Anthropic, Shape::Bedrock, Shape::Gemini, Shape::Responses];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::OpenAi => "openai",
            Shape::Responses => "responses",
            Shape::Anthropic => "anthropic",
            Shape::Gemini => "gemini",
            Shape::Bedrock => "bedrock",
        }
    }

    /// The shape with this word.
    pub fn of_name(name: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.as_str() == name)
    }

    /// The key that its messages stand under.
    fn list_key(self) -> &'static str {
        match self {
            Shape::OpenAi | Shape::Anthropic | Shape::Bedrock => "messages",
            Shape::Gemini => "contents",
            Shape::Responses => "input",
        }
    }

    fn marks(self, root: &Node<'_>, marks: &mut Marks) {
        match self {
            Shape::OpenAi => openai::marks(root, marks),
            Shape::Responses => responses::marks(root, marks),
            Shape::Anthropic => anthropic::marks(root, marks),
            Shape::Gemini => gemini::marks(root, marks),
            Shape::Bedrock => bedrock::marks(root, marks),
        }
    }

    /// Reads a body, or a list of its messages.
    pub(crate) fn read<'a>(self, root: &Node<'a>) -> Result<Reading<'a>> {
        let mut reading = Reading::default();
        match self {
            Shape::OpenAi => openai::read(root, &mut reading)?,
            Shape::Responses => responses::read(root, &mut reading)?,
            Shape::Anthropic => anthropic::read(root, &mut reading)?,
            Shape::Gemini => gemini::read(root, &mut reading)?,
            Shape::Bedrock => bedrock::read(root, &mut reading)?,
        }
        Ok(reading)
    }

    fn draft<'c>(self, writing: &mut Writing<'c>) -> Draft<'c> {
        match self {
            Shape::OpenAi => openai::write(writing),
            Shape::Responses => responses::write(writing),
            Shape::Anthropic => anthropic::write(writing),
            Shape::Gemini => gemini::write(writing),
            Shape::Bedrock => bedrock::write(writing),
        }
    }

    /// Reads one message, which stands at a path of its own; of shapes whose messages stand alone.
    pub(crate) fn read_message<'a>(self, node: &Node<'a>, path: String, reading: &mut Reading<'a>) -> Result<()> {
        match self {
            Shape::Anthropic => anthropic::message(node, path, reading),
            _ => openai::message(node, path, reading),
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
