//! The text of a message, as it is searched and as ranges of characters count in it.

use std::borrow::Cow;

use crate::context::{Block, Content, Message, ToolInput};

/// A piece of a message's text that stands for itself: no match reaches out of it.
#[derive(Clone, Debug)]
pub struct Field<'m> {
    /// The block it lies in.
    pub block: &'m Block<'m>,
    /// The text.
    pub text: Cow<'m, str>,
}

/// The text of a message: that of its blocks one after the other, as [`measure`](crate::measure) counts it, and the JSON
/// of what polyloop does not model. Of a picture nothing is text.
pub fn fields<'m>(message: &'m Message<'_>) -> Vec<Field<'m>> {
    let mut fields = Vec::with_capacity(message.blocks.len());
    for block in &message.blocks {
        add(block, &block.content, &mut fields);
    }
    fields
}

fn add<'m>(block: &'m Block<'_>, content: &'m Content<'_>, fields: &mut Vec<Field<'m>>) {
    let mut push = |text: Cow<'m, str>| {
        if !text.is_empty() {
            fields.push(Field { block, text });
        }
    };
    match content {
        Content::Text(text) | Content::Thinking { text, .. } => push(text.to_cow()),
        Content::ToolUse { name, input, .. } => {
            push(name.to_cow());
            push(match input {
                ToolInput::Json(json) => Cow::Borrowed(json.as_str()),
                ToolInput::Text(text) => text.to_cow(),
            });
        }
        Content::ToolResult { content, .. } => content.iter().for_each(|part| add(block, part, fields)),
        Content::Opaque { value, .. } => push(Cow::Borrowed(value.as_str())),
        Content::Image { .. } => {}
    }
}
