//! The rules of fragments: what holds inside one, and between them.

use std::collections::HashMap;
use std::ops::Range;

use super::check::check_blocks;
use super::files::verify;
use super::fragments::{Body, Fragment};
use super::stand_in::circle;
use super::words::{FragmentKind, Trust, Unit};
use super::{Expansion, Parts, RunRequest, Warning};
use crate::context::{Content, Role, Text};
use crate::error::{Code, Error, Result};
use crate::template::Template;

/// Checks the fragments and the budget they are selected in.
pub(super) fn check_fragments(parts: &Parts<'_>) -> Result<()> {
    parts.budget.check()?;
    let mut ids = HashMap::with_capacity(parts.fragments.len());
    for (index, fragment) in parts.fragments.iter().enumerate() {
        let under = |error: Error| error.under(&format!("fragments[{index}]"));
        if let Some(first) = ids.insert(&*fragment.id, index) {
            let message = format!("the id {:?} is that of fragments[{first}] already", fragment.id);
            return Err(under(
                Error::new(Code::FragmentDuplicateId, message)
                    .with_hint("reports, groups and supersedes name fragments by id: give each its own")
                    .with_path(".id"),
            ));
        }
        check_fragment(fragment, parts).map_err(under)?;
    }
    check_supersedes(parts, &ids)
}

fn check_fragment(fragment: &Fragment<'_>, parts: &Parts<'_>) -> Result<()> {
    let fault = |code, path: &str, message: String, hint: &str| {
        Err(Error::new(code, message).with_hint(hint).with_path(path.to_owned()))
    };
    let trust = fragment.trust.as_str();
    if fragment.id.is_empty() {
        return fault(Code::RequestType, ".id", "the id is empty".into(), "reports name a fragment by its id");
    }
    if matches!(fragment.role, Role::System | Role::Developer) && fragment.trust != Trust::Runtime {
        let message = format!("a fragment of trust {trust} cannot speak as {}", fragment.role);
        let hint =
            "text from outside stays data, whatever it says: role user, or trust: runtime if it is the program's own";
        return fault(Code::FragmentRoleTrust, ".role", message, hint);
    }
    if let Body::Content(content) = &fragment.body {
        check_blocks(content).map_err(|error| error.under(".content"))?;
        if fragment.trim.is_some() && fragment.text().is_none() {
            let message = "only a single text can be trimmed".to_owned();
            return fault(Code::FragmentTrim, ".trim", message, "leave trim out, or give the content as a string");
        }
    }
    verify(fragment)?;
    if fragment.ttl_s.is_some() {
        let missing = match (&fragment.observed_at, &parts.as_of) {
            (None, _) => Some(("observed_at", "observed_at: 2026-08-11T09:30:00Z says when it was found to be so")),
            (_, None) => Some(("as_of", "give the request as_of: polyloop never reads the clock")),
            _ => None,
        };
        if let Some((missing, hint)) = missing {
            return fault(Code::FragmentTtl, ".ttl_s", format!("ttl_s says nothing without {missing}"), hint);
        }
    }
    if fragment.compaction.is_some() && fragment.kind != FragmentKind::History {
        let message = format!("a fragment of kind {} sums up no history", fragment.kind.as_str());
        return fault(Code::FragmentCompaction, ".kind", message, "replaces and summary_of go with kind: history");
    }
    Ok(())
}

/// All that is superseded is there, and nothing supersedes itself, directly or by way of others.
fn check_supersedes(parts: &Parts<'_>, ids: &HashMap<&str, usize>) -> Result<()> {
    let fragments = &parts.fragments;
    for (index, fragment) in fragments.iter().enumerate() {
        for (at, id) in fragment.supersedes.iter().enumerate() {
            if !ids.contains_key(&**id) {
                let known = fragments.iter().take(100).map(|fragment| &*fragment.id);
                return Err(Error::new(Code::FragmentUnknownId, format!("there is no fragment {id:?}"))
                    .with_nearest(id, known)
                    .with_path(format!("fragments[{index}].supersedes[{at}]")));
            }
        }
    }
    match circle(fragments, ids) {
        None => Ok(()),
        Some(index) => {
            let message =
                format!("the fragment {:?} supersedes itself, directly or by way of others", fragments[index].id);
            Err(Error::new(Code::FragmentSupersedesCircle, message)
                .with_hint("none of them could stay: leave out one of the steps")
                .with_path(format!("fragments[{index}]")))
        }
    }
}

impl RunRequest<'_> {
    /// A frame that repeats its fields, or pads them, could ask for more than any machine holds.
    pub(super) fn check_frames(&self) -> Result<()> {
        let Some(frame) = &self.frame else { return Ok(()) };
        let mut expansion = Expansion::default();
        for fragment in &self.parts.fragments {
            let size = |text: &str| (text.chars().count() as u64, text.len() as u64);
            let source_ref = fragment.source_ref.as_deref().unwrap_or_default();
            let [id, kind, source_ref, trust, truncated] =
                [&*fragment.id, fragment.kind.as_str(), source_ref, fragment.trust.as_str(), "false"].map(size);
            let mut fits = true;
            each_text(fragment.content().unwrap_or_default(), &mut |text| {
                let content = (text.chars(), text.bytes());
                fits &= expansion.add_sizes(frame, &[content, id, kind, source_ref, trust, truncated]);
            });
            if !fits {
                let message = "the frame would make far more text of the fragments than there is: polyloop's limit is \
                               64 MiB and eight times the fragments";
                return Err(Error::new(Code::RequestLimit, message)
                    .with_hint("use fewer fields, or smaller widths")
                    .with_path("fragment_template"));
            }
        }
        Ok(())
    }
}

/// The texts of a content that go through the frame: those of its blocks, and of the results of tools among them.
pub(crate) fn each_text<'c, 'a>(content: &'c [Content<'a>], take: &mut impl FnMut(&'c Text<'a>)) {
    for block in content {
        match block {
            Content::Text(text) => take(text),
            Content::ToolResult { content, .. } => each_text(content, take),
            _ => {}
        }
    }
}

/// What is allowed and has no effect, or one that is not meant.
pub(super) fn fragment_warnings(parts: &Parts<'_>, frame: Option<&Template<'_>>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code, path: String, message: String| warnings.push(Warning { code, path, message });
    // A frame opens and closes with the same words: only a content that stands twice is worth a warning.
    let source = frame.map_or("", Template::source);
    let is_content = |span: &Range<usize>| source.get(span.clone()).is_some_and(|field| field.contains("content"));
    let is_meant = |code: &str, span: &Range<usize>| code == "template.repeated_field" && !is_content(span);
    for warning in frame.map_or(&[][..], Template::warnings) {
        if is_meant(warning.code, &warning.span) {
            continue;
        }
        warn(warning.code, "fragment_template".to_owned(), warning.message.clone());
    }
    let budget = &parts.budget;
    if budget.window.is_none() && (budget.reserved_output > 0 || budget.responsibilities.values().any(|s| s.floor > 0))
    {
        let message = "without a window there is no limit: reserved_output and floors have no effect".to_owned();
        warn("budget.no_window", "budget".to_owned(), message);
    }
    for (index, fragment) in parts.fragments.iter().enumerate().filter(|(_, fragment)| fragment.trim.is_some()) {
        let why = if fragment.required {
            "what is required is never trimmed"
        } else if fragment.group.is_some() {
            "a group goes in whole"
        } else if budget.unit == Unit::Tokens {
            "the tokens of a part are not known"
        } else {
            continue;
        };
        warn("fragment.trim_unused", format!("fragments[{index}].trim"), format!("trim has no effect here: {why}"));
    }
    warnings
}
