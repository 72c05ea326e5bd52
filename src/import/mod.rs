//! A recorded list of messages to a run request: prefix, injections, goal, steps, and the frame round the observations.
//!
//! What is written is proved: it is read back, assembled, and its canonical stream compared with that of the recording.
//! Where a split does not give the very bytes, a coarser one is tried; what cannot be split stays in the prefix or the goal.

mod document;
mod frame;
mod injections;
mod look;
mod split;
mod steps;

pub use injections::Injections;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::assemble::assemble;
use crate::context::{Content, Context, Role};
use crate::error::{Code, Error, Result};
use crate::read::{self, Format};
use crate::write::{json_formatter, write_document};
use document::Parts;
use frame::Frame;
use split::Split;

/// How a recording is imported.
#[derive(Debug)]
pub struct Options<'a> {
    /// How the request is written: [`Format::Yaml`], or else JSON.
    pub format: Format,
    /// The entries that are recognised between prefix and goal.
    pub injections: Injections<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { format: Format::Yaml, injections: Injections::default() }
    }
}

/// A run request that gives the bytes of a recording.
#[derive(Debug)]
pub struct Imported {
    /// The document.
    pub text: String,
    /// Messages of the prefix.
    pub prefix: usize,
    /// Entries in the injection slot.
    pub injections: usize,
    /// Messages of the goal.
    pub goal: usize,
    /// Completed steps.
    pub steps: usize,
    /// The observation template, where any step goes through one.
    pub template: Option<String>,
    /// The names of what varies in the frame besides the observation.
    pub fields: Vec<String>,
    /// What could not be split, and whatever else is to be known.
    pub notes: Vec<Note>,
    /// The digest of the recording, and so of what the request renders to.
    pub digest: String,
}

/// Something to know about an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The message of the recording in question, if it is about one.
    pub message: Option<usize>,
    /// Lower case, one sentence, no full stop.
    pub why: String,
}

/// Makes a run request of recorded messages, and proves that it gives them back byte for byte.
///
/// # Errors
/// `import.unfaithful` for messages that no run request gives: with a role that a request does not know, an image without
/// its size, a block that is not modelled; or nested deeper, or larger, than a request may be.
///
/// ```
/// use polyloop::import::{self, Options};
/// use polyloop::read::{self, Input};
///
/// let messages = r#"[
///   {"role": "system", "content": "You are at a shell."},
///   {"role": "user", "content": "Which files are here?"},
///   {"role": "assistant", "content": "ls"},
///   {"role": "user", "content": "Output:\na.txt"},
///   {"role": "assistant", "content": "cat a.txt"},
///   {"role": "user", "content": "Output:\nhello"}
/// ]"#;
/// let Input::Recorded(recorded) = read::read(messages, None)? else { unreachable!("a list of messages") };
/// let imported = import::import(&recorded.context, &Options::default())?;
/// assert_eq!(imported.steps, 2);
/// assert_eq!(imported.template.as_deref(), Some("Output:\n{observation}"));
/// assert_eq!(imported.digest, recorded.context.digest());
/// # Ok::<(), polyloop::Error>(())
/// ```
pub fn import(context: &Context<'_>, options: &Options<'_>) -> Result<Imported> {
    check_modelled(context)?;
    let wanted = context.to_canonical();
    let split = Split::of(&context.messages);
    let observations = split.observations(&context.messages);
    let texts: Vec<&str> = observations.iter().map(|(_, text)| &**text).collect();
    let (framed, plain) = (Frame::find(&texts), Frame::default());
    let whole = split.without_steps(&context.messages);
    let mut fault = None;
    for (split, frame) in [(&split, &framed), (&split, &plain), (&whole, &plain)] {
        let slot = options.injections.find(&context.messages[..split.goal_end]);
        let parts = Parts { context, split, slot: &slot, injections: &options.injections, frame };
        let proved =
            written(&parts, options.format).and_then(|text| prove(&text, options.format, &wanted).map(|()| text));
        match proved {
            Ok(text) => {
                let mut notes = notes(&parts);
                if let Some(fault) = fault {
                    notes.push(Note { message: None, why: format!("a finer split was given up: {fault}") });
                }
                if frame.is_plain() {
                    notes.extend(outliers(&observations));
                }
                return Ok(imported(&parts, text, notes));
            }
            Err(error) => fault = Some(error),
        }
    }
    let why = fault.map(|error| error.message().to_owned()).unwrap_or_default();
    Err(Error::new(Code::ImportUnfaithful, format!("no run request was found that gives these messages: {why}"))
        .with_hint("a request has the same limits as a list of messages, and is one level deeper"))
}

/// A request knows five roles, and has no block without a size.
fn check_modelled(context: &Context<'_>) -> Result<()> {
    for message in &context.messages {
        if let Role::Other(name) = &message.role {
            let fault = format!("{name:?} is no role of a request");
            return Err(
                unfaithful(fault, &message.origin).with_hint(format!("a request knows {}", Role::NAMES.join(", ")))
            );
        }
        for block in &message.blocks {
            check_block(&block.content).map_err(|fault| unfaithful(fault.to_owned(), &block.origin))?;
        }
    }
    Ok(())
}

fn unfaithful(message: String, origin: &impl std::fmt::Display) -> Error {
    Error::new(Code::ImportUnfaithful, format!("{origin}: {message}")).with_path(origin.to_string())
}

fn check_block(content: &Content<'_>) -> Result<(), &'static str> {
    match content {
        Content::Image { chars: None, .. } => {
            Err("an image of a request says its size in chars, and this one has none")
        }
        Content::Opaque { .. } => Err("a request holds no opaque blocks"),
        Content::ToolResult { content, .. } => content.iter().try_for_each(check_block),
        _ => Ok(()),
    }
}

/// The document as text.
fn written(parts: &Parts<'_>, format: Format) -> Result<String> {
    let document = parts.document()?;
    let mut bytes = Vec::new();
    let wrote = match format {
        Format::Yaml => write_document(&document, &mut bytes),
        Format::Json | Format::JsonLines => {
            use serde::Serialize;
            let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, json_formatter(true));
            document.serialize(&mut serializer).map(|()| bytes.push(b'\n')).map_err(std::io::Error::from)
        }
    };
    let text = wrote.and_then(|()| String::from_utf8(bytes).map_err(std::io::Error::other));
    text.map_err(|error| Error::new(Code::ImportUnfaithful, error.to_string()))
}

/// Reads a document as it would be read from a file, and compares what it gives.
fn prove(text: &str, format: Format, wanted: &[u8]) -> Result<()> {
    let format = if format == Format::Yaml { Format::Yaml } else { Format::Json };
    let request = read::request(read::decode(text.as_bytes())?, Some(format))?;
    match assemble(&request, None)?.to_canonical() == wanted {
        true => Ok(()),
        false => Err(Error::new(Code::ImportUnfaithful, "its canonical stream has other bytes")),
    }
}

fn notes(parts: &Parts<'_>) -> Vec<Note> {
    let fault = |fault: &steps::Fault| Note { message: Some(fault.message), why: fault.why.clone() };
    let missing = |(channel, id): (&str, &str)| Note {
        message: None,
        why: format!("the entry {id:?} of the channel {channel:?} is not in the recording: it is left out"),
    };
    let found: Vec<Note> = parts.split.faults.iter().map(fault).collect();
    found.into_iter().chain(parts.injections.missing(parts.slot).map(missing)).collect()
}

/// Observations without the frame that most others have: no template can go round those alone.
fn outliers(observations: &[(usize, Cow<'_, str>)]) -> Vec<Note> {
    let by_line: [fn(&str) -> &str; 2] =
        [|text| text.split('\n').next().unwrap_or(text), |text| text.rsplit('\n').next().unwrap_or(text)];
    let most_common = by_line.iter().filter_map(|line_of| {
        let mut counts = BTreeMap::<&str, usize>::new();
        observations.iter().for_each(|(_, text)| *counts.entry(line_of(text)).or_default() += 1);
        let (line, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        Some((count, line, line_of))
    });
    let Some((_, line, line_of)) =
        most_common.max_by_key(|(count, ..)| *count).filter(|(count, ..)| 2 * count > observations.len())
    else {
        return Vec::new();
    };
    let (alike, others): (Vec<_>, Vec<_>) = observations.iter().partition(|(_, text)| line_of(text) == line);
    let frame = Frame::find(&alike.iter().map(|(_, text)| &**text).collect::<Vec<_>>());
    if frame.is_plain() {
        return Vec::new();
    }
    let why = format!("it lacks the frame {:?}, which therefore stays in the observations", frame.template());
    others.into_iter().map(|(at, _)| Note { message: Some(*at), why: why.clone() }).collect()
}

fn imported(parts: &Parts<'_>, text: String, notes: Vec<Note>) -> Imported {
    let [prefix, goal_start] = parts.borders();
    let is_pair = |(_, step): &(usize, steps::Found)| matches!(step.shape, steps::Shape::Pair);
    Imported {
        text,
        prefix,
        injections: goal_start - prefix,
        goal: parts.split.goal_end - goal_start,
        steps: parts.split.steps.len(),
        template: parts.split.steps.iter().any(is_pair).then(|| parts.frame.template()),
        fields: parts.frame.fields().into_iter().map(str::to_owned).collect(),
        notes,
        digest: parts.context.digest(),
    }
}

#[cfg(test)]
mod frame_tests;
#[cfg(test)]
mod tests;
