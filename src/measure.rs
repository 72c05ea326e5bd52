//! Sizes: characters and bytes of every block, message and context, and the budget verdict.

use std::ops::AddAssign;

use crate::context::{Content, Context, Json, Message, ToolInput};

/// A size, or what is known of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Unicode scalar values, Python's `len`, of everything that could be measured.
    pub chars: u64,
    /// Bytes of UTF-8 of the same.
    pub bytes: u64,
    /// Blocks that could not be measured; where there are any, the sums are lower bounds.
    pub unmeasured: u64,
}

impl Size {
    /// The characters, if all of them are known.
    pub fn known_chars(&self) -> Option<u64> {
        (self.unmeasured == 0).then_some(self.chars)
    }

    /// The bytes, if all of them are known.
    pub fn known_bytes(&self) -> Option<u64> {
        (self.unmeasured == 0).then_some(self.bytes)
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        // An image may declare any size; a sum too large to hold is still larger than every budget but one.
        self.chars = self.chars.saturating_add(other.chars);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.unmeasured += other.unmeasured;
    }
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Size>>(sizes: I) -> Size {
        let mut all = Size::default();
        sizes.for_each(|size| all += size);
        all
    }
}

/// The size of a block: of `text` and `thinking` their text, of `tool_use` name and input, of `tool_result` its
/// content, of `image` its declared characters (which have no bytes). Unknown is never zero.
pub fn block(content: &Content<'_>) -> Size {
    let known = |chars, bytes| Size { chars, bytes, unmeasured: 0 };
    match content {
        Content::Text(text) | Content::Thinking { text, .. } => known(text.chars(), text.bytes()),
        Content::ToolUse { name, input, .. } => {
            let input = match input {
                ToolInput::Json(value) => json(value),
                ToolInput::Text(text) => known(text.chars(), text.bytes()),
            };
            known(name.chars().saturating_add(input.chars), name.bytes().saturating_add(input.bytes))
        }
        Content::ToolResult { content, .. } => content.iter().map(block).sum(),
        Content::Image { chars: Some(chars), .. } => known(*chars, 0),
        Content::Image { chars: None, .. } | Content::Opaque { .. } => Size { unmeasured: 1, ..Size::default() },
    }
}

/// The size of a message: that of its blocks.
pub fn message(message: &Message<'_>) -> Size {
    message.blocks.iter().map(|part| block(&part.content)).sum()
}

/// The size of all messages. Tools are measured apart, by [`tools`].
pub fn context(context: &Context<'_>) -> Size {
    context.messages.iter().map(message).sum()
}

/// The size of the tool schemas as compact JSON.
pub fn tools(context: &Context<'_>) -> Size {
    context.tools.iter().map(json).sum()
}

fn json(value: &Json<'_>) -> Size {
    let text = value.as_str();
    Size { chars: text.chars().count() as u64, bytes: text.len() as u64, unmeasured: 0 }
}

/// What a budget says to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There is no budget.
    Unset,
    /// At most as large as allowed.
    Fits,
    /// Larger than allowed.
    ContextOverflow,
    /// Some of it could not be measured, and the rest alone is not over.
    Unknown,
}

impl Verdict {
    /// Compares a size with `max_prompt_chars`: over is over by one character.
    pub fn of(size: Size, max_prompt_chars: Option<u64>) -> Verdict {
        match max_prompt_chars {
            None => Verdict::Unset,
            Some(limit) if size.chars > limit => Verdict::ContextOverflow,
            Some(_) if size.unmeasured > 0 => Verdict::Unknown,
            Some(_) => Verdict::Fits,
        }
    }

    /// The word for it, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Unset => "unset",
            Verdict::Fits => "fits",
            Verdict::ContextOverflow => "context_overflow",
            Verdict::Unknown => "unknown",
        }
    }
}
