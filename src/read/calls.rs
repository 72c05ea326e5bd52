//! Every call of a log, of a session or of a folder's files, for what is traced.

use super::recorded::{self, As};
use super::session::Session;
use super::{Format, Input, Lines, Recorded, json, json_lines, lines_are, parse, read_as, session};
use crate::context::Context;
use crate::error::Result;
use crate::provider::Wire;

/// The calls of a document, in its order.
#[derive(Debug)]
pub enum Calls<'a> {
    /// A run request: each completed step is a call.
    Request(Box<crate::request::RunRequest<'a>>),
    /// Calls that were recorded, each by itself.
    Logged(Vec<LoggedCall<'a>>),
    /// The calls of a session.
    Session(Session<'a>),
}

/// A call that was recorded. Of its body no more is kept than what a trace looks at.
#[derive(Debug)]
pub struct LoggedCall<'a> {
    /// Where its body stands in the log.
    pub path: String,
    /// What the model was given.
    pub context: Context<'a>,
    /// The model that was asked, where that is recorded.
    pub model: Option<String>,
    /// Where markers for the cache stand.
    pub markers: Vec<String>,
}

impl<'a> From<Recorded<'a>> for LoggedCall<'a> {
    fn from(recorded: Recorded<'a>) -> Self {
        let wire = recorded.wire.as_deref();
        LoggedCall {
            path: recorded.call.map(|call| call.path).unwrap_or_default(),
            model: wire.and_then(Wire::model),
            markers: wire.map(Wire::markers).unwrap_or_default(),
            context: recorded.context,
        }
    }
}

/// Reads every call that a document holds.
///
/// # Errors
/// As [`read`](super::read).
pub fn calls<'a>(text: &'a str, format: Option<Format>, taken: As) -> Result<Calls<'a>> {
    let format = format.unwrap_or_else(|| Format::of_content(text));
    if format != Format::JsonLines {
        let root = parse(text, format).map_err(|error| error.locate(text.as_bytes()))?;
        let found = recorded::all(root, (format == Format::Json).then_some(text), taken);
        if let Some(calls) = found.map_err(|error| error.locate(text.as_bytes()))? {
            return Ok(Calls::Logged(calls));
        }
    } else if lines_are(text)? == Lines::Log {
        return log(text, taken);
    }
    Ok(match read_as(text, Some(format), taken)? {
        Input::Request(request) => Calls::Request(request),
        Input::Recorded(recorded) => Calls::Logged(vec![recorded.into()]),
    })
}

fn log(text: &str, taken: As) -> Result<Calls<'_>> {
    let mut calls = Vec::new();
    for (number, line) in json_lines(text) {
        let located = |error: crate::Error| error.locate(line.as_bytes()).shift_lines(number);
        let root = json::parse(line).map_err(located)?;
        if session::is_line(&root) && taken.shape.is_none() {
            return session::calls(json_lines(text)).map(Calls::Session);
        }
        let is_body = recorded::is_body(&root);
        let found = match is_body {
            true => Some(vec![
                recorded::read(root, Some(recorded::Holds::Body), Some(line), taken).map_err(located)?.into(),
            ]),
            false => recorded::all(root, Some(line), taken).map_err(located)?,
        };
        for mut call in found.into_iter().flatten() {
            call.path = format!("[{number}]{}", call.path);
            calls.push(call);
        }
    }
    if calls.is_empty() {
        // What is wrong with it is said where one call is asked for.
        return recorded::log(json_lines(text), taken).map(|recorded| Calls::Logged(vec![recorded.into()]));
    }
    Ok(Calls::Logged(calls))
}
