//! The rules between the parts of a request; the first one broken is an error with the path of what breaks it.

use std::borrow::Cow;

use super::{InputMessage, Outcome, Parts, RunRequest, Step};
use crate::context::{Content, Key};
use crate::error::{Code, Error, Result};

pub(super) fn check_field_names(names: &[Cow<'_, str>]) -> Result<()> {
    for (index, name) in names.iter().enumerate() {
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        let fault = if name.is_empty() || !name.chars().all(plain) || name.starts_with(char::is_numeric) {
            format!("{name:?} cannot be the name of a template field")
        } else if name == RunRequest::OBSERVATION || names[..index].contains(name) {
            format!("the field {name:?} is declared already")
        } else {
            continue;
        };
        return Err(Error::new(Code::RequestType, fault)
            .with_hint("names are letters, digits and _, each declared once; observation itself is always there")
            .with_path(format!("observation_fields[{index}]")));
    }
    Ok(())
}

/// The rules between a step and the rest; paths are those inside the step.
pub(super) fn check_step(parts: &Parts<'_>, step: &Step<'_>) -> Result<()> {
    if let Outcome::ToolCalls(_) = step.outcome {
        return match step.fields.is_empty() {
            true => Ok(()),
            false => Err(Error::new(Code::RequestUnknownField, "a step with tool_calls goes through no template")
                .with_hint("leave fields out of this step")
                .with_path(".fields")),
        };
    }
    if let Outcome::Synthetic(name) = &step.outcome
        && !parts.synthetic_observations.contains_key(name)
    {
        let known = parts.synthetic_observations.keys().map(|name| &**name);
        return Err(Error::new(Code::RequestUnknownField, format!("synthetic_observations has no text {name:?}"))
            .with_nearest(name, known)
            .with_path(".synthetic"));
    }
    for name in &parts.observation_fields {
        if !step.fields.contains_key(name) {
            return Err(Error::new(Code::RequestType, format!("the step gives no value for the field {name:?}"))
                .with_hint(format!("add fields: {{{name}: \"...\"}}; an empty string is a value"))
                .with_path(format!(".fields{}", Key(name))));
        }
    }
    if let Some(name) = step.fields.keys().find(|name| !parts.observation_fields.contains(name)) {
        let known = parts.observation_fields.iter().map(|name| &**name);
        return Err(Error::new(Code::RequestUnknownField, format!("the field {name:?} is not declared"))
            .with_nearest(name, known)
            .with_path(format!(".fields{}", Key(name)))
            .at_key());
    }
    Ok(())
}

/// A request has no block without a size, so that no sum is ever too small.
pub(super) fn check_measures(parts: &Parts<'_>) -> Result<()> {
    let messages = |segment, messages: &[InputMessage<'_>]| {
        messages.iter().enumerate().try_for_each(|(index, message)| {
            check_blocks(&message.content).map_err(|error| error.under(&format!("{segment}[{index}].content")))
        })
    };
    messages("prefix", &parts.prefix)?;
    for (channel, entries) in &parts.injections {
        for (index, entry) in entries.iter().enumerate() {
            let path = || format!("injections{}[{index}].content", Key(channel));
            check_blocks(&entry.content).map_err(|error| error.under(&path()))?;
        }
    }
    messages("goal", &parts.goal)
}

pub(super) fn check_blocks(blocks: &[Content<'_>]) -> Result<()> {
    for (index, block) in blocks.iter().enumerate() {
        let checked = match block {
            Content::Image { chars: None, .. } => {
                Err(Error::new(Code::BlockUnmeasurable, "an image block needs its size in characters")
                    .with_hint("add chars: N, what the image counts for in the budget; unknown is never 0"))
            }
            Content::Opaque { .. } => Err(Error::new(Code::BlockUnknownType, "a request holds no opaque blocks")
                .with_nearest("opaque", Content::NAMES)),
            Content::ToolResult { content, .. } => check_blocks(content).map_err(|error| error.under(".content")),
            _ => Ok(()),
        };
        checked.map_err(|error| error.under(&format!("[{index}]")))?;
    }
    Ok(())
}
