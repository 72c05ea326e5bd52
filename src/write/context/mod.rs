//! Answers of a context that is asked, for people and as documents.

mod found;
mod rows;
mod state;
mod summary;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::look::Look;
use super::report::Report;
use super::text::View;
use super::words::{chars, count, thousands};
use crate::measure;
use crate::query::{Current, Found, MessageView, Options, Slice, Subject, Summary};
use crate::request::State;

/// What a context said.
#[derive(Debug)]
pub enum Answer<'s> {
    /// Every message, and the state.
    Current(Current<'s>),
    /// What a query is about.
    Search {
        /// What was found.
        found: Found<'s>,
        /// Where and for how much was looked.
        options: &'s Options,
    },
    /// Some messages.
    Slice(Slice<'s>),
    /// Counts and sizes.
    Summary(Summary),
    /// The state of the run.
    State(&'s State<'s>),
}

/// An answer with the name of what was asked.
#[derive(Debug)]
pub struct AnswerView<'v, 's> {
    /// The name it is shown by.
    pub source: &'v str,
    /// What was asked.
    pub subject: &'v Subject<'s>,
    /// What it said.
    pub answer: Answer<'s>,
}

/// The answer's own fields behind those that say what it is.
#[derive(Serialize)]
struct Document<'v, T> {
    schema: &'static str,
    source: &'v str,
    #[serde(flatten)]
    answer: &'v T,
}

impl Serialize for AnswerView<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn document<'v, T>(schema: &'static str, source: &'v str, answer: &'v T) -> Document<'v, T> {
            Document { schema, source, answer }
        }
        match &self.answer {
            Answer::Current(current) => document("polyloop.current/1", self.source, current).serialize(serializer),
            Answer::Search { found, .. } => document("polyloop.search/1", self.source, found).serialize(serializer),
            Answer::Slice(slice) => document("polyloop.slice/1", self.source, slice).serialize(serializer),
            Answer::Summary(summary) => document("polyloop.summary/1", self.source, summary).serialize(serializer),
            Answer::State(state) => document("polyloop.state/1", self.source, *state).serialize(serializer),
        }
    }
}

impl AnswerView<'_, '_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        match &self.answer {
            Answer::Current(current) => self.current(current, look, out),
            Answer::Search { found, options } => self.found(found, options, look, out),
            Answer::Slice(slice) => self.slice(slice, look, out),
            Answer::Summary(summary) => summary::write(summary, self.subject.state, look, out),
            Answer::State(state) => state::write(state, look, out),
        }
    }

    fn current<W: Write>(&self, current: &Current<'_>, look: &Look, out: &mut W) -> io::Result<()> {
        self.messages(&current.messages, look, out)?;
        let all = current.messages.len() as u64;
        let size = chars(measure::context(self.subject.context));
        writeln!(out, "{}, {size}", count(all, "message"))?;
        state::write(current.runtime_state, look, out)
    }

    fn slice<W: Write>(&self, slice: &Slice<'_>, look: &Look, out: &mut W) -> io::Result<()> {
        self.messages(&slice.messages, look, out)?;
        let of = count(slice.total as u64, "message");
        match (&*slice.messages, slice.total.checked_sub(1)) {
            ([], None) => writeln!(out, "there is no message at all"),
            ([], Some(last)) => writeln!(out, "none of {of}: they are #0 to #{last}"),
            ([one], _) => writeln!(out, "1 of {of}: #{}", one.index),
            ([first, .., last], _) => {
                let taken = thousands(slice.messages.len() as u64);
                writeln!(out, "{taken} of {of}: #{} to #{}", first.index, last.index)
            }
        }
    }

    /// Messages as `render` shows them, and an empty line behind them.
    fn messages<W: Write>(&self, messages: &[MessageView<'_>], look: &Look, out: &mut W) -> io::Result<()> {
        let report = Report::new(self.source, self.subject.context, None);
        let view = View::new(&report, look);
        messages.iter().try_for_each(|message| view.message(message.index, message.message, out))?;
        if messages.is_empty() { Ok(()) } else { writeln!(out) }
    }
}
