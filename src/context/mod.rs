//! The one value every later room takes: tools and messages, each block with its origin.
//!
//! A [`Context`] is made by [`assemble`](crate::assemble) from a run request, or read directly from a canonical
//! stream or a list of messages, so that every view, diff and check works the same on both.

mod canonical;
mod entries;
mod escape;
mod json;
pub(crate) mod masks;
pub(crate) mod node;
mod origin;
pub(crate) mod reader;
mod scan;
mod spelled;
mod status;
mod store;
mod text;
mod window;
mod within;

pub use canonical::Canonical;
pub(crate) use canonical::digest_text;

pub use json::Json;
pub(crate) use origin::Key;
pub use origin::{Origin, Segment};
pub(crate) use scan::{Scanned, scan};
pub(crate) use spelled::Spelled;
pub use status::Status;
pub(crate) use store::Form;
pub use store::{Store, Stored};
pub use text::{Chunks, Piece, Text};
pub(crate) use window::{equal_start, windows};

use std::borrow::Cow;
use std::fmt;

use xxhash_rust::xxh3::Xxh3Default;

/// Everything a model is given in one call.
#[derive(Clone, Debug, Default)]
pub struct Context<'a> {
    /// Native tool schemas, passed through untouched; never rendered as text.
    pub tools: Vec<Json<'a>>,
    /// The messages, in the order the model meets them.
    pub messages: Vec<Message<'a>>,
}

impl Context<'_> {
    /// The same context, borrowing all text.
    pub fn borrow(&self) -> Context<'_> {
        Context {
            tools: self.tools.iter().map(Json::borrow).collect(),
            messages: self.messages.iter().map(Message::borrow).collect(),
        }
    }
}

impl Message<'_> {
    /// The same message, borrowing all text.
    pub fn borrow(&self) -> Message<'_> {
        Message {
            role: self.role.borrow(),
            blocks: self.blocks.iter().map(Block::borrow).collect(),
            origin: self.origin.borrow(),
            fingerprint: self.fingerprint,
        }
    }
}

impl Block<'_> {
    /// The same block, borrowing all text.
    pub fn borrow(&self) -> Block<'_> {
        Block { content: self.content.borrow(), origin: self.origin.borrow() }
    }
}

/// The unit a model provider receives: a role and an ordered list of blocks.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role<'a>,
    /// What is said; may be empty.
    pub blocks: Vec<Block<'a>>,
    /// Where the message came from; a block may say it more exactly.
    pub origin: Origin<'a>,
    /// What its canonical bytes are known by, where they were seen while it was read and are not held.
    pub fingerprint: Option<Fingerprint>,
}

/// The length and a hash of a message's canonical bytes. What differs in it differs; what does not is equal until bytes
/// say otherwise, which they are asked before two contexts are called identical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Length of the message's line of the canonical stream in bytes.
    pub len: u64,
    /// XXH3, 128 bits, of that line, the lower half first; where it is to be compared.
    pub hash: Option<[u64; 2]>,
}

/// One piece of message content, and where it came from.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// What the block holds.
    pub content: Content<'a>,
    /// Where it came from.
    pub origin: Origin<'a>,
}

impl Message<'_> {
    /// Whether the canonical bytes of both are the same, going by their fingerprints where both have one; where they came
    /// from does not count.
    pub fn same_bytes(&self, other: &Message<'_>) -> bool {
        if let (Some(own), Some(other)) = (self.compared(), other.compared()) {
            return own == other;
        }
        std::ptr::eq(self, other)
            || self.role == other.role
                && self.blocks.len() == other.blocks.len()
                && self.blocks.iter().zip(&other.blocks).all(|(a, b)| a.content == b.content)
    }

    /// The fingerprint it has, if that can be compared.
    pub(crate) fn compared(&self) -> Option<Fingerprint> {
        self.fingerprint.filter(|fingerprint| fingerprint.hash.is_some())
    }

    /// What its canonical bytes are known by.
    pub fn fingerprint(&self) -> Fingerprint {
        self.compared().unwrap_or_else(|| {
            let mut canonical = FingerprintWriter { len: 0, hash: Xxh3Default::new() };
            self.write_canonical(&mut canonical).expect("hashing takes every write");
            let hash = canonical.hash.digest128();
            Fingerprint { len: canonical.len, hash: Some([hash as u64, (hash >> 64) as u64]) }
        })
    }
}

struct FingerprintWriter {
    len: u64,
    hash: Xxh3Default,
}

impl std::io::Write for FingerprintWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.len += bytes.len() as u64;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Who speaks. A run request knows the first five; recorded prompts keep any other spelling as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the roles themselves")]
pub enum Role<'a> {
    System,
    Developer,
    User,
    Assistant,
    Tool,
    /// A role polyloop does not know, as recorded.
    Other(Cow<'a, str>),
}

impl<'a> Role<'a> {
    /// The roles a run request may use, as they are spelled.
    pub const NAMES: [&'static str; 5] = ["system", "developer", "user", "assistant", "tool"];

    /// The role with this exact spelling; any other is [`Role::Other`].
    pub fn recorded(name: Cow<'a, str>) -> Self {
        match &*name {
            "system" => Role::System,
            "developer" => Role::Developer,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::Other(name),
        }
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Other(name) => name,
        }
    }

    /// The same role, borrowing its spelling.
    pub fn borrow(&self) -> Role<'_> {
        match self {
            Role::Other(name) => Role::Other(Cow::Borrowed(name)),
            known => Role::recorded(Cow::Borrowed(known.as_str())),
        }
    }
}

impl fmt::Display for Role<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The content of a block. Two are equal exactly if their canonical bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Plain text.
    Text(Text<'a>),
    /// What a reasoning model thought aloud.
    Thinking {
        /// The thought.
        text: Text<'a>,
        /// The provider's signature over it, if one was recorded.
        signature: Option<Text<'a>>,
    },
    /// A call of a native tool.
    ToolUse {
        /// The call's id.
        id: Text<'a>,
        /// The tool's name.
        name: Text<'a>,
        /// The arguments: an object, or a string as it was given.
        input: ToolInput<'a>,
    },
    /// The result of such a call.
    ToolResult {
        /// The id of the call it answers.
        tool_use_id: Text<'a>,
        /// What came back.
        content: Vec<Content<'a>>,
        /// Whether the tool reported a failure, where that was said.
        is_error: Option<bool>,
        /// `lost`, `pending` or `cancelled`, for a call that has no result of its own.
        status: Option<Text<'a>>,
    },
    /// A picture.
    Image {
        /// Where its bytes are, in the provider's own terms.
        source: Json<'a>,
        /// Its declared size in characters; `None` is unknown, never zero.
        chars: Option<u64>,
    },
    /// A block of a recorded body that polyloop does not model.
    Opaque {
        /// What the body calls it.
        kind: Text<'a>,
        /// The block itself.
        value: Json<'a>,
    },
}

impl<'a> Content<'a> {
    /// The types a block of a run request may have, as they are spelled.
    pub const NAMES: [&'static str; 5] = ["text", "thinking", "tool_use", "tool_result", "image"];

    /// The word for this content: `text`, `thinking`, `tool_use`, `tool_result`, `image` or `opaque`.
    pub fn kind(&self) -> &'static str {
        match self {
            Content::Text(_) => "text",
            Content::Thinking { .. } => "thinking",
            Content::ToolUse { .. } => "tool_use",
            Content::ToolResult { .. } => "tool_result",
            Content::Image { .. } => "image",
            Content::Opaque { .. } => "opaque",
        }
    }

    /// The text of a block of plain text.
    pub fn as_text(&self) -> Option<&Text<'a>> {
        match self {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same content, borrowing all text.
    pub fn borrow(&self) -> Content<'_> {
        self.map(&mut Text::borrow, &Json::borrow)
    }

    /// The same content with each of its parts made into another of the same text.
    pub(crate) fn map<'c, 't>(
        &'c self,
        text: &mut impl FnMut(&'c Text<'a>) -> Text<'t>,
        json: &impl Fn(&'c Json<'a>) -> Json<'t>,
    ) -> Content<'t> {
        match self {
            Content::Text(content) => Content::Text(text(content)),
            Content::Thinking { text: thought, signature } => {
                Content::Thinking { text: text(thought), signature: signature.as_ref().map(text) }
            }
            Content::ToolUse { id, name, input } => {
                Content::ToolUse { id: text(id), name: text(name), input: input.map(text, json) }
            }
            Content::ToolResult { tool_use_id, content, is_error, status } => Content::ToolResult {
                tool_use_id: text(tool_use_id),
                content: content.iter().map(|part| part.map(text, json)).collect(),
                is_error: *is_error,
                status: status.as_ref().map(text),
            },
            Content::Image { source, chars } => Content::Image { source: json(source), chars: *chars },
            Content::Opaque { kind, value } => Content::Opaque { kind: text(kind), value: json(value) },
        }
    }
}

/// The arguments of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolInput<'a> {
    /// A JSON value, usually an object.
    Json(Json<'a>),
    /// A string, kept as the string it was given as, valid JSON or not.
    Text(Text<'a>),
}

impl<'a> ToolInput<'a> {
    /// The same arguments, borrowing all text.
    pub fn borrow(&self) -> ToolInput<'_> {
        self.map(&mut Text::borrow, &Json::borrow)
    }

    pub(crate) fn map<'c, 't>(
        &'c self,
        text: &mut impl FnMut(&'c Text<'a>) -> Text<'t>,
        json: &impl Fn(&'c Json<'a>) -> Json<'t>,
    ) -> ToolInput<'t> {
        match self {
            ToolInput::Json(value) => ToolInput::Json(json(value)),
            ToolInput::Text(value) => ToolInput::Text(text(value)),
        }
    }
}
