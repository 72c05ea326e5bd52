//! Messages as answers hold them.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::searched::fields;
use crate::context::{Block, Content, Message};
use crate::measure;
use crate::request::State;

/// Some messages, and how many there are.
#[derive(Clone, Debug, Serialize)]
pub struct Slice<'s> {
    /// The messages of the range.
    pub messages: Vec<MessageView<'s>>,
    /// All messages of the context.
    pub total: usize,
}

/// Every message, and the state of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Current<'s> {
    /// The messages.
    pub messages: Vec<MessageView<'s>>,
    /// The state of the run.
    pub runtime_state: &'s State<'s>,
}

/// A message and its place: `role` and `content` are those of its line of the canonical stream. `text` is what ranges of
/// characters count in, left out where the content is one block of text, whose text it is. `chars` is `null` where some
/// of it could not be measured.
#[derive(Clone, Copy, Debug)]
pub struct MessageView<'s> {
    /// Its place in the context.
    pub index: usize,
    /// The message.
    pub message: &'s Message<'s>,
}

impl MessageView<'_> {
    /// The text that ranges of characters count in.
    pub fn text(&self) -> String {
        fields(self.message).iter().map(|field| &*field.text).collect()
    }
}

impl Serialize for MessageView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("role", self.message.role.as_str())?;
        map.serialize_entry("origin", &self.message.origin.to_string())?;
        map.serialize_entry("content", &Blocks(&self.message.blocks))?;
        if !matches!(&*self.message.blocks, [block] if matches!(block.content, Content::Text(_))) {
            map.serialize_entry("text", &self.text())?;
        }
        map.serialize_entry("chars", &measure::message(self.message).known_chars())?;
        map.end()
    }
}

/// The contents of blocks, one after the other.
struct Blocks<'s>(&'s [Block<'s>]);

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|block| &block.content))
    }
}
