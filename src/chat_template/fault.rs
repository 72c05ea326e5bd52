//! What went wrong, in the template's own words, and the message that made it fail.

use std::error::Error as _;
use std::fmt;
use std::ops::Range;

use minijinja::value::ValueKind;
use minijinja::{Error as Fault, ErrorKind, Value};

use super::engine::Run;
use crate::error::{Code, Error};

/// What a template said when it called `raise_exception`.
#[derive(Debug)]
pub(super) struct Raised(pub String);

/// A template asked for the time, and there is none.
#[derive(Debug)]
pub(super) struct NoClock;

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NoClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the template asks for the clock")
    }
}

impl std::error::Error for Raised {}
impl std::error::Error for NoClock {}

/// A template that is none, with the place of the line in it.
pub(super) fn syntax(source: &str, fault: &Fault) -> (Error, Range<usize>) {
    let line = fault.line().unwrap_or(1);
    let start = source.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let end = start + source[start..].find('\n').unwrap_or(source.len() - start);
    let message = format!("the chat template is not valid Jinja: {} (line {line} of the template)", words(fault));
    (Error::new(Code::ChatTemplateSyntax, message), start..end)
}

/// A render that failed.
pub(super) fn explain(run: &Run<'_>, fault: Fault) -> Error {
    if let Some(limit) = limit(&fault) {
        return limit;
    }
    let error = if cause::<Raised>(&fault).is_some() {
        Error::new(Code::ChatTemplateRaised, words(&fault))
    } else if cause::<NoClock>(&fault).is_some() {
        return Error::new(Code::ChatTemplateFailed, words(&fault))
            .with_hint("the clock is never read: say the time as --as-of (as_of)");
    } else {
        let line = fault.line().map(|line| format!(" (line {line} of the template)")).unwrap_or_default();
        Error::new(Code::ChatTemplateFailed, format!("the chat template fails: {}{line}", words(&fault)))
    };
    let index = blamed(run, &fault);
    let error = match index {
        Some(index) => error.with_path(format!("messages[{index}]")),
        None => error,
    };
    match remedy(run) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn limit(fault: &Fault) -> Option<Error> {
    let message = match fault.kind() {
        ErrorKind::OutOfFuel => "the chat template does not come to an end in the work it is allowed",
        ErrorKind::WriteFailure => "the chat template writes more than it is allowed",
        _ if fault.detail() == Some("recursion limit exceeded") => "the chat template nests deeper than it is allowed",
        _ => return fault.source().and_then(|source| source.downcast_ref::<Fault>()).and_then(limit),
    };
    Some(Error::new(Code::RequestLimit, message))
}

/// What the template said, else what the engine says.
fn words(fault: &Fault) -> String {
    if let Some(Raised(message)) = cause(fault) {
        return message.clone();
    }
    if let Some(NoClock) = cause(fault) {
        return NoClock.to_string();
    }
    let mut innermost = fault;
    while let Some(inner) = innermost.source().and_then(|source| source.downcast_ref()) {
        innermost = inner;
    }
    match innermost.detail() {
        Some(detail) => detail.to_owned(),
        None => innermost.kind().to_string(),
    }
}

/// A macro's fault is wrapped in that of its call.
fn cause<E: std::error::Error + 'static>(fault: &Fault) -> Option<&E> {
    let mut source = fault.source();
    while let Some(found) = source {
        match found.downcast_ref() {
            Some(wanted) => return Some(wanted),
            None => source = found.source(),
        }
    }
    None
}

/// What each render of the search may cost: one part in so many of what the first might.
const SHARE: u64 = 8;

/// A message with which the template fails in this way, while it does not with those before it alone: the last, if it is
/// that, else one found by halving.
fn blamed(run: &Run<'_>, fault: &Fault) -> Option<usize> {
    let told = words(fault);
    let fails_alike = |len: usize| match run.render(&run.messages[..len], Some(SHARE)) {
        Ok(_) => Some(false),
        Err(other) if limit(&other).is_some() => None,
        Err(other) => Some(words(&other) == told),
    };
    let mut fails = run.messages.len();
    let last = fails.checked_sub(1)?;
    if !fails_alike(last)? {
        return Some(last);
    }
    if fails_alike(0)? {
        return None;
    }
    let mut holds = 0;
    while fails - holds > 1 {
        let middle = holds + (fails - holds) / 2;
        if fails_alike(middle)? {
            fails = middle;
        } else {
            holds = middle;
        }
    }
    Some(holds)
}

/// What would make the template take the messages.
fn remedy(run: &Run<'_>) -> Option<&'static str> {
    let has = |kind: ValueKind| run.messages.iter().any(|message| content(message).kind() == kind);
    let renders_with = |change: &dyn Fn(&Value) -> Value| {
        let messages: Vec<Value> = run.messages.iter().map(|message| with_content(message, change)).collect();
        run.render(&messages, None).is_ok()
    };
    if has(ValueKind::Seq) && renders_with(&joined) {
        return Some("the template takes text alone: give content as a string, not as a list of blocks");
    }
    let missing = has(ValueKind::None) || has(ValueKind::Undefined);
    if missing && renders_with(&|content| if content.as_str().is_some() { content.clone() } else { joined(content) }) {
        return Some("the template takes text alone: give the empty string as content where there is none");
    }
    None
}

fn content(message: &Value) -> Value {
    message.get_attr("content").unwrap_or_default()
}

/// The text of all blocks as one string; nothing is the empty string.
fn joined(content: &Value) -> Value {
    match content.kind() {
        ValueKind::Seq => {
            let parts = content.try_iter().into_iter().flatten();
            let texts = parts.filter_map(|part| Some(part.get_attr("text").ok()?.as_str()?.to_owned()));
            Value::from(texts.collect::<String>())
        }
        ValueKind::None | ValueKind::Undefined => Value::from(""),
        _ => content.clone(),
    }
}

fn with_content(message: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    let pairs = message.as_object().and_then(|object| object.try_iter_pairs()).into_iter().flatten();
    let others = pairs.filter(|(key, _)| key.as_str() != Some("content"));
    Value::from_pairs(others.chain([(Value::from("content"), change(&content(message)))]))
}
