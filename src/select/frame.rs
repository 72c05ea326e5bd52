//! The frame round fragments: every text of one goes through the project's template; polyloop frames nothing by itself.
//!
//! The frame is put round each text of a fragment, those in the results of tools among them; thinking, calls and images
//! stay as they are.

use super::Included;
use super::trim::Cut;
use crate::context::{Content, Json, Text};
use crate::measure;
use crate::request::{Fragment, RunRequest, Warning, each_text};
use crate::template::Template;

/// What a fragment gives: what is left of it, framed.
pub(super) fn content<'r>(
    request: &'r RunRequest<'r>,
    fragment: &'r Fragment<'r>,
    cut: Option<&Cut>,
) -> Vec<Content<'r>> {
    let left = |text: &'r Text<'r>| cut.map_or_else(|| text.borrow(), |cut| cut.text(text));
    let framed = |text: &'r Text<'r>| match request.frame() {
        None => left(text),
        Some(frame) => frame.fill(&arguments(fragment, left(text), cut.is_some())),
    };
    let content = fragment.content().unwrap_or_default();
    content.iter().map(|block| map_texts(block, &framed)).collect()
}

/// The size of a whole fragment in characters, with its frame.
pub(super) fn chars<'r>(request: &'r RunRequest<'r>, fragment: &'r Fragment<'r>) -> u64 {
    let content = fragment.content().unwrap_or_default();
    let Some(frame) = request.frame() else { return content.iter().map(|block| measure::block(block).chars).sum() };
    let words = words(fragment, false);
    let framed = |text: &'r Text<'r>| {
        let known = frame.chars(text.chars(), &words);
        known.unwrap_or_else(|| frame.fill(&arguments(fragment, text.borrow(), false)).chars())
    };
    content.iter().fold(0, |sum, block| sum.saturating_add(chars_of(block, &framed)))
}

fn chars_of<'r>(block: &'r Content<'r>, framed: &impl Fn(&'r Text<'r>) -> u64) -> u64 {
    match block {
        Content::Text(text) => framed(text),
        Content::ToolResult { content, .. } => {
            content.iter().fold(0, |sum, part| sum.saturating_add(chars_of(part, framed)))
        }
        other => measure::block(other).chars,
    }
}

/// How large parts of a fragment are with their frame.
pub(super) struct Framed<'r> {
    fragment: &'r Fragment<'r>,
    frame: Option<(&'r Template<'r>, [&'r str; 6])>,
}

impl<'r> Framed<'r> {
    pub fn new(request: &'r RunRequest<'r>, fragment: &'r Fragment<'r>) -> Self {
        let frame = request.frame().map(|frame| (frame, words(fragment, true)));
        Framed { fragment, frame }
    }

    /// The size of what is left, in characters.
    pub fn chars(&self, cut: &Cut) -> u64 {
        let Some((frame, words)) = &self.frame else { return cut.kept_chars() };
        frame.chars(cut.kept_chars(), words).unwrap_or_else(|| {
            let left = self.fragment.text().map(|text| cut.text(text)).unwrap_or_default();
            frame.fill(&arguments(self.fragment, left, true)).chars()
        })
    }

    /// No part of so many characters is smaller than this.
    pub fn least_chars(&self, kept: u64) -> u64 {
        match &self.frame {
            None => kept,
            Some((frame, words)) => frame.chars(kept, words).unwrap_or(0),
        }
    }
}

/// What goes into the frame; in the place of the content there is none.
fn words<'r>(fragment: &'r Fragment<'_>, truncated: bool) -> [&'r str; 6] {
    let source_ref = fragment.source_ref.as_deref().unwrap_or_default();
    let truncated = if truncated { "true" } else { "false" };
    ["", &fragment.id, fragment.kind.as_str(), source_ref, fragment.trust.as_str(), truncated]
}

fn arguments<'r>(fragment: &'r Fragment<'r>, content: Text<'r>, truncated: bool) -> [Text<'r>; 6] {
    let mut all = words(fragment, truncated).map(Text::plain);
    all[0] = content;
    all
}

fn map_texts<'r>(block: &'r Content<'r>, framed: &impl Fn(&'r Text<'r>) -> Text<'r>) -> Content<'r> {
    match block {
        Content::Text(text) => Content::Text(framed(text)),
        Content::ToolResult { tool_use_id, content, is_error, status } => Content::ToolResult {
            tool_use_id: tool_use_id.borrow(),
            content: content.iter().map(|part| map_texts(part, framed)).collect(),
            is_error: *is_error,
            status: status.as_ref().map(Text::borrow),
        },
        other => other.map(&mut Text::borrow, &Json::borrow),
    }
}

/// Texts that hold the words their own frame closes with: what follows there would look as if it stood outside.
pub(super) fn closers<'r>(included: &[Included<'r>], request: &'r RunRequest<'r>) -> Vec<Warning> {
    let Some(frame) = request.frame() else { return Vec::new() };
    let mut warnings = Vec::new();
    for Included { index, fragment, cut, .. } in included {
        let closing = frame.closing(&arguments(fragment, Text::default(), cut.is_some()));
        let closing = closing.trim();
        if closing.is_empty() {
            continue;
        }
        let mut holds = false;
        each_text(fragment.content().unwrap_or_default(), &mut |text| {
            holds |= match cut {
                None => text.contains(closing),
                Some(cut) => cut.text(text).contains(closing),
            };
        });
        if holds {
            warnings.push(Warning {
                code: "trust.frame_closer",
                path: format!("fragments[{index}]"),
                message: format!("the content of {:?} holds {closing:?}, which closes its frame", fragment.id),
            });
        }
    }
    warnings
}
