//! The text of a message, as it is searched and as ranges of characters count in it.

use std::borrow::Cow;

use crate::context::{Content, Json, Message, Origin, Text, ToolInput};

/// A piece of a message's text that stands for itself: no match reaches out of it.
#[derive(Clone, Debug)]
pub struct Field<'m> {
    /// Where the block came from that it lies in.
    pub origin: &'m Origin<'m>,
    /// The text.
    pub text: Cow<'m, str>,
    /// Whether it is JSON, in which text is escaped once more.
    pub is_json: bool,
}

/// The text of a message: that of its blocks one after the other, as [`measure`](crate::measure) counts it, and the JSON
/// of what polyloop does not model. Of a picture nothing is text.
pub fn fields<'m>(message: &'m Message<'_>) -> Vec<Field<'m>> {
    let mut fields = Vec::with_capacity(message.blocks.len());
    each_part(message, &mut |origin, part| {
        let (text, is_json) = match part {
            Part::Text(text) => {
                let text = text.to_cow();
                let is_json = is_json(&text);
                (text, is_json)
            }
            Part::Json(json) => (Cow::Borrowed(json.as_str()), true),
        };
        if !text.is_empty() {
            fields.push(Field { origin, text, is_json });
        }
    });
    fields
}

/// Whether text looks like JSON, as what tools are called with and answer most often is.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '['])
}

/// A piece of a message's text as the context holds it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'m> {
    Text(&'m Text<'m>),
    Json(&'m Json<'m>),
}

/// The pieces of a message's text, in their order.
pub(super) fn each_part<'m>(message: &'m Message<'_>, take: &mut impl FnMut(&'m Origin<'m>, Part<'m>)) {
    for block in &message.blocks {
        of_content(&block.content, &mut |part| take(&block.origin, part));
    }
}

fn of_content<'m>(content: &'m Content<'_>, take: &mut dyn FnMut(Part<'m>)) {
    match content {
        Content::Text(text) | Content::Thinking { text, .. } => take(Part::Text(text)),
        Content::ToolUse { name, input, .. } => {
            take(Part::Text(name));
            take(match input {
                ToolInput::Json(json) => Part::Json(json),
                ToolInput::Text(text) => Part::Text(text),
            });
        }
        Content::ToolResult { content, .. } => content.iter().for_each(|part| of_content(part, take)),
        Content::Opaque { value, .. } => take(Part::Json(value)),
        Content::Image { .. } => {}
    }
}
