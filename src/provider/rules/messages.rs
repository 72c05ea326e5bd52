//! What is refused of messages: their roles, their order, their content.

use super::super::Shape;
use super::Checks;
use crate::context::{Block, Content, Message, Role, Text};

use Shape::{Anthropic, Bedrock, Gemini, OpenAi, Responses};

impl Checks {
    pub(super) fn messages(&mut self, messages: &[Message<'_>]) {
        let has_head = !matches!(self.shape, OpenAi | Responses);
        let in_head = |message: &&Message<'_>| is_system(&message.role) && !self.stands_in_list(message);
        let head = if has_head { messages.iter().take_while(in_head).count() } else { 0 };
        let (head, rest) = messages.split_at(head);
        if rest.is_empty() && !self.goes_on {
            self.find_at("provider.no_messages", "messages".to_owned(), "there is no message");
        }
        for (index, message) in rest.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &rest[before]);
            self.role(message, before.is_none());
            self.placement(before, message, rest.get(index + 1));
            self.content(message, index + 1 == rest.len());
        }
        for message in head {
            self.texts(message, head.len() == 1);
        }
    }

    /// Whether a system message was sent among the others, and not in the place of its own.
    fn stands_in_list(&self, message: &Message<'_>) -> bool {
        let list = format!("{}[", self.shape.list_key());
        self.is_recorded && message.origin.to_string().starts_with(&list)
    }

    fn role(&mut self, message: &Message<'_>, is_first: bool) {
        if let Role::Other(name) = &message.role
            && name != "function"
        {
            let what = format!("the role {name:?} is not known to {}", self.shape);
            // What is no message has no role of its own.
            let is_item = self.shape == Responses
                && message.blocks.iter().all(|block| matches!(block.content, Content::Opaque { .. }));
            if !is_item {
                self.find("provider.role", &message.origin, what);
            }
        }
        if is_first && side(&message.role) == Side::Assistant {
            self.find("provider.leading_role", &message.origin, "the first message is the assistant's");
        }
    }

    fn placement(&mut self, before: Option<&Message<'_>>, message: &Message<'_>, behind: Option<&Message<'_>>) {
        let side_of = |message: Option<&Message<'_>>| message.map(|message| side(&message.role));
        if is_system(&message.role) {
            let is_between = matches!(side_of(before), Some(Side::User | Side::System))
                && !matches!(side_of(behind), Some(Side::User));
            if self.shape != Anthropic {
                self.find("provider.system_placement", &message.origin, "a system message stands among the others");
            } else if !is_between {
                let what = "a system message stands elsewhere than between the user's turn and the assistant's";
                self.find("provider.system_placement", &message.origin, what);
            }
        }
        let is_joined = before.is_some_and(|before| !self.is_recorded && written_as_one(before, message));
        if is_joined {
            return;
        }
        if before.is_some_and(|before| side(&before.role) == side(&message.role)) {
            self.find("provider.alternation", &message.origin, "this message has the role of the one before it");
        }
        let makes_calls = message.blocks.iter().any(|block| matches!(block.content, Content::ToolUse { .. }));
        let may_call = side_of(before) == Some(Side::User) || before.is_none() && self.goes_on;
        if side(&message.role) == Side::Assistant && makes_calls && !may_call {
            let what = match before {
                None => "this call stands at the head of the conversation",
                Some(_) => "this call stands behind another message of the assistant",
            };
            self.find("provider.call_placement", &message.origin, what);
        }
    }

    fn content(&mut self, message: &Message<'_>, is_last: bool) {
        // Anthropic takes an assistant who has said nothing, anywhere.
        let may_be_empty = self.shape == Anthropic && message.role == Role::Assistant;
        // What is said aloud stands for the content, and is looked at where it was sent.
        let is_left_to_wire = self.shape == OpenAi && self.is_recorded;
        if message.blocks.is_empty() && !may_be_empty && !is_left_to_wire {
            self.find("provider.no_content", &message.origin, "this message has no content");
        }
        self.texts(message, true);
        self.parts(message);
        if is_last
            && message.role == Role::Assistant
            && let Some(Block { content: Content::Text(text), origin }) = message.blocks.last()
            && ends_in_space(text)
        {
            self.find("provider.trailing_space", origin, "the last message ends in white space");
        }
    }

    /// `may_be_string` is whether one text alone is written as a string.
    fn texts(&mut self, message: &Message<'_>, may_be_string: bool) {
        let is_alone = message.blocks.len() == 1;
        let says_more = message.blocks.iter().any(|block| !block.content.as_text().is_some_and(is_blank));
        for block in &message.blocks {
            let Some(text) = block.content.as_text().filter(|text| is_blank(text)) else { continue };
            let is_string = match self.is_recorded {
                true => is_alone && !block.origin.to_string().ends_with(']'),
                false => is_alone && may_be_string,
            };
            match (self.shape, text.is_empty()) {
                (Anthropic, true) if is_string && side(&message.role) == Side::User => {
                    self.find("provider.no_content", &message.origin, "this message has no content");
                }
                (Anthropic, true) if is_string => {}
                (Anthropic, false) if says_more => {}
                _ => self.find("provider.empty_text", &block.origin, "this text is empty, or white space"),
            }
        }
    }

    /// What is refused of single blocks.
    fn parts(&mut self, message: &Message<'_>) {
        for block in &message.blocks {
            match &block.content {
                Content::ToolResult { content, is_error, .. } if self.shape == Bedrock => {
                    let is_blank = |content: &Content<'_>| content.as_text().is_some_and(is_blank);
                    if content.is_empty() && *is_error == Some(true) {
                        let what = "this result is an error and says nothing";
                        self.find("provider.no_content", &block.origin, what);
                    }
                    if content.len() > 1 && content.iter().any(is_blank) {
                        let what = "a text in this result is empty, or white space";
                        self.find("provider.empty_text", &block.origin, what);
                    }
                }
                Content::Opaque { value, .. } if self.shape == Gemini && value.as_str() == "{}" => {
                    self.find("provider.no_content", &block.origin, "this part holds nothing");
                }
                _ => {}
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Assistant,
    System,
    Other,
}

pub(super) fn side(role: &Role<'_>) -> Side {
    match role {
        Role::Assistant => Side::Assistant,
        Role::User | Role::Tool => Side::User,
        Role::System | Role::Developer => Side::System,
        Role::Other(_) => Side::Other,
    }
}

fn is_system(role: &Role<'_>) -> bool {
    side(role) == Side::System
}

/// Results of one turn are written as one message, and calls stand with what was said before them.
fn written_as_one(before: &Message<'_>, message: &Message<'_>) -> bool {
    let results =
        |message: &Message<'_>| message.blocks.iter().all(|block| matches!(block.content, Content::ToolResult { .. }));
    let calls = |message: &Message<'_>| {
        !message.blocks.is_empty()
            && message.blocks.iter().all(|block| matches!(block.content, Content::ToolUse { .. }))
    };
    let is_side = side(&before.role) == side(&message.role);
    is_side && (results(before) && results(message) || message.role == Role::Assistant && calls(message))
}

fn is_blank(text: &Text<'_>) -> bool {
    text.chunks().all(|chunk| chunk.chars().all(char::is_whitespace))
}

fn ends_in_space(text: &Text<'_>) -> bool {
    let last = text.chunks().filter(|chunk| !chunk.is_empty()).last();
    last.is_some_and(|chunk| chunk.ends_with(char::is_whitespace))
}
