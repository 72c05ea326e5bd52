//! Content as an object of a report: the keys of the canonical stream, written piece by piece.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Content, ToolInput};

impl Content<'_> {
    /// The keys of a block, in the order of the canonical stream.
    pub(crate) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("type", self.kind())?;
        match self {
            Content::Text(text) => map.serialize_entry("text", text)?,
            Content::Thinking { text, signature } => {
                map.serialize_entry("text", text)?;
                if let Some(signature) = signature {
                    map.serialize_entry("signature", signature)?;
                }
            }
            Content::ToolUse { id, name, input } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                match input {
                    ToolInput::Json(json) => map.serialize_entry("input", json)?,
                    ToolInput::Text(text) => map.serialize_entry("input", text)?,
                }
            }
            Content::ToolResult { tool_use_id, content, is_error, status } => {
                map.serialize_entry("tool_use_id", tool_use_id)?;
                map.serialize_entry("content", content)?;
                if let Some(is_error) = is_error {
                    map.serialize_entry("is_error", is_error)?;
                }
                if let Some(status) = status {
                    map.serialize_entry("status", status)?;
                }
            }
            Content::Image { source, chars } => {
                map.serialize_entry("source", source)?;
                if let Some(chars) = chars {
                    map.serialize_entry("chars", chars)?;
                }
            }
            Content::Opaque { kind, value } => {
                map.serialize_entry("kind", kind)?;
                map.serialize_entry("value", value)?;
            }
        }
        Ok(())
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}
