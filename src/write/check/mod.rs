//! What a check came to, for people, for programs, for test runners and for a pull request.
//!
//! What is written here lands in logs that others read: without `show_content` no view holds text of a prompt, only
//! positions, origins, classes and digests.

mod github;
mod json;
mod junit;
mod markdown;
mod text;

pub(super) use github::annotate;

use std::borrow::Cow;

use super::words::{count, thousands};
use crate::error::{Code, Error};
use crate::golden::{Outcome, Report, Status, name_of};

/// The views of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckReport<'c> {
    /// What was found.
    pub report: &'c Report,
    /// Whether text of prompts may be shown.
    pub show_content: bool,
}

/// What is wrong, in words that quote nothing of the document: those of the error itself where they cannot.
pub fn public_words(error: &Error) -> Cow<'_, str> {
    Cow::Borrowed(match error.code() {
        Code::UsageArguments
        | Code::InputShape
        | Code::IoRead
        | Code::IoWrite
        | Code::RequestEncoding
        | Code::RequestLimit
        | Code::BlockUnmeasurable => return Cow::Borrowed(error.message()),
        Code::RequestSyntax => "the text cannot be parsed",
        Code::RequestUnknownField => "a key that is not known here",
        Code::RequestDuplicateKey => "a key stands twice in one map",
        Code::BlockUnknownType => "a block type that is not known",
        _ if error.code().as_str().starts_with("template.") => "the observation template is not valid",
        _ => "a value is not valid here",
    })
}

/// An error on one line, with the file it lies in, its place there and its code.
pub fn public_line(error: &Error) -> String {
    let mut line = error.source_name().unwrap_or_default().to_owned();
    if let Some(position) = error.position() {
        line += &format!(":{}:{}", position.line, position.column);
    }
    format!("{line}: {} ({})", public_words(error), error.code())
}

impl CheckReport<'_> {
    /// The answer in one line.
    fn verdict(&self) -> String {
        let report = self.report;
        let checked = report.checked();
        let of = |status: Status| report.count(status) as u64;
        let mut parts = Vec::new();
        for status in [Status::Identical, Status::Different, Status::Missing] {
            if of(status) > 0 {
                parts.push(format!("{} {}", thousands(of(status)), status.as_str()));
            }
        }
        if of(Status::Error) > 0 {
            parts.push(count(of(Status::Error), "error"));
        }
        if of(Status::Orphaned) > 0 {
            parts.push(count(of(Status::Orphaned), "orphaned golden"));
        }
        if report.accepted() > 0 {
            parts.push(format!("{} written", count(report.accepted() as u64, "golden")));
        }
        let mut aside = Vec::new();
        if report.compared_bytes() > 0 {
            aside.push(format!("{} compared", count(report.compared_bytes(), "byte")));
        }
        if report.skipped > 0 {
            aside.push(format!("{} skipped", count(report.skipped as u64, "other file")));
        }
        let requests = if checked == 0 { "no requests".to_owned() } else { count(checked as u64, "request") };
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        let aside = if aside.is_empty() { String::new() } else { format!(" ({})", aside.join(", ")) };
        format!("{requests}{parts}{aside}")
    }

    /// What the proof showed, where it was asked for.
    fn proof(&self) -> Option<String> {
        let (goldens, proof) = self.report.proof()?;
        let flips = format!("{} in {}", count(proof.flips as u64, "flip"), count(goldens as u64, "golden"));
        Some(match (proof.flips, proof.uncaught.len()) {
            (0, _) => format!("{flips}: nothing to prove"),
            (_, 0) => format!("{flips}: all caught"),
            (_, uncaught) => format!("{flips}: {} not caught", thousands(uncaught as u64)),
        })
    }

    /// Why an outcome is not what it should be, on one line. What an error says of the document only where content may
    /// be shown.
    fn reason(&self, outcome: &Outcome) -> String {
        match outcome.status {
            Status::Identical => match outcome.proof.as_ref().and_then(|proof| proof.uncaught.first()) {
                Some(place) => {
                    let message = place.message.map_or("the tools".to_owned(), |message| format!("#{message}"));
                    let block = place.block.map_or(String::new(), |block| format!(" block {block}"));
                    format!("a flipped byte in {message}{block} of the golden was not caught")
                }
                None => "identical".to_owned(),
            },
            Status::Different => {
                let classes: Vec<&str> = outcome.classes.iter().map(|class| class.as_str()).collect();
                format!("{}: {}", place(outcome), classes.join(", "))
            }
            Status::Missing => "missing: there is no golden beside it".to_owned(),
            Status::Orphaned => "orphaned: there is no request beside it".to_owned(),
            Status::Error => outcome.error.as_ref().map_or_else(String::new, |error| self.fault(outcome, error)),
        }
    }

    /// An error with its place: the file is named where it is another than the outcome's own.
    fn fault(&self, outcome: &Outcome, error: &Error) -> String {
        let source = error.source_name().filter(|source| *source != name(outcome));
        let position = error.position().map(|at| format!("{}:{}", at.line, at.column));
        let place = match (source, position) {
            (Some(source), Some(position)) => format!(" in {source}:{position}"),
            (Some(source), None) => format!(" in {source}"),
            (None, Some(position)) => format!(" at {position}"),
            (None, None) => String::new(),
        };
        let words = if self.show_content { Cow::Borrowed(error.message()) } else { public_words(error) };
        format!("error{place}: {words} ({})", error.code())
    }
}

/// The name an outcome goes by.
fn name(outcome: &Outcome) -> String {
    let path = outcome.request.as_deref().or(outcome.golden.as_deref());
    let of_error = || outcome.error.as_ref().and_then(Error::source_name).unwrap_or_default().to_owned();
    path.map_or_else(of_error, name_of)
}

/// Where golden and request part: `#4 goal[0] char 12`.
fn place(outcome: &Outcome) -> String {
    let Some(first) = &outcome.first_difference else { return "the bytes".to_owned() };
    let mut place = first.message.map_or("the tools".to_owned(), |message| format!("#{message}"));
    let origin = first.origin_b.as_ref().or(first.origin_a.as_ref());
    if let (Some(origin), Some(_)) = (origin, first.message) {
        place += &format!(" {origin}");
    }
    if let Some(block) = first.block.filter(|block| *block > 0) {
        place += &format!(" block {block}");
    }
    if let Some(char) = first.char {
        place += &format!(" char {}", thousands(char));
    }
    match (outcome.golden_byte, &first.origin_a, &first.origin_b) {
        (Some(byte), ..) => place += &format!(", byte {} of the golden (the messages are equal)", thousands(byte)),
        (None, None, Some(_)) if first.message.is_some() => place += ", which the golden does not have",
        (None, Some(_), None) if first.message.is_some() => place += ", which only the golden has",
        _ => {}
    }
    place
}
