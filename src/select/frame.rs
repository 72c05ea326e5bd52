//! The frame round fragments: every text of one goes through the project's template; polyloop frames nothing by itself.
//!
//! The frame is put round each text of a fragment, those in the results of tools among them; thinking, calls and images
//! stay as they are.

use super::Included;
use super::trim::Cut;
use crate::context::{Content, Json, Text};
use crate::measure;
use crate::request::{Fragment, RunRequest, Warning, each_text};

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

/// The size of that in characters.
pub(super) fn size<'r>(request: &'r RunRequest<'r>, fragment: &'r Fragment<'r>, cut: Option<&Cut>) -> u64 {
    let sizes = |content: &[Content<'_>]| content.iter().map(measure::block).sum::<measure::Size>().chars;
    match (request.frame(), cut) {
        (None, None) => sizes(fragment.content().unwrap_or_default()),
        (None, Some(cut)) => cut.kept_chars(),
        (Some(_), _) => sizes(&content(request, fragment, cut)),
    }
}

fn arguments<'r>(fragment: &'r Fragment<'r>, content: Text<'r>, truncated: bool) -> [Text<'r>; 6] {
    [
        content,
        Text::plain(&*fragment.id),
        Text::plain(fragment.kind.as_str()),
        Text::plain(fragment.source_ref.as_deref().unwrap_or_default()),
        Text::plain(fragment.trust.as_str()),
        Text::plain(if truncated { "true" } else { "false" }),
    ]
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
            let left = cut.as_ref().map_or_else(|| text.borrow(), |cut| cut.text(text));
            holds |= memchr::memmem::find(left.to_cow().as_bytes(), closing.as_bytes()).is_some();
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
