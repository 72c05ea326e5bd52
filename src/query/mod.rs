//! A context that is asked instead of being read: the five questions that the command line, a Python kernel and an MCP
//! client put to it.
//!
//! 1. [`Subject::current`]: all of it.
//! 2. [`search`]: the messages that a query is about, the best first.
//! 3. [`Subject::slice`]: some messages after one another.
//! 4. [`Subject::summarize`]: how many there are, and of which kinds.
//! 5. [`Subject::state`]: the state of the run that the context belongs to.

mod counts;
mod range;
mod search;
mod searched;
mod view;

pub use counts::{MessageCounts, Summary};
pub use range::Range;
pub use search::{Found, Hit, How, Index, Options, Question, search};
pub use searched::{Field, fields};
pub use view::{Current, MessageView, Slice};

use crate::context::Context;
use crate::request::State;

/// A context and the state of its run.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// What is asked.
    pub context: &'s Context<'s>,
    /// The state of the run, where the input says one.
    pub state: &'s State<'s>,
}

impl<'s> Subject<'s> {
    /// Every message, and the state.
    pub fn current(&self) -> Current<'s> {
        Current { messages: self.slice(Range::ALL).messages, runtime_state: self.state }
    }

    /// The messages of a range, as they stand in the context.
    pub fn slice(&self, range: Range) -> Slice<'s> {
        let messages = &self.context.messages;
        let taken = range.of(messages.len());
        let view = |index: usize| MessageView { index, message: &messages[index] };
        Slice { messages: taken.map(view).collect(), total: messages.len() }
    }

    /// Counts and sizes.
    pub fn summarize(&self) -> Summary {
        Summary::of(self.context, self.state)
    }

    /// The state of the run.
    pub fn state(&self) -> &'s State<'s> {
        self.state
    }
}
