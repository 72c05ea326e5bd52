//! Python cells in which a context is a variable.
//!
//! 1. A Python process is started ([`process`]), with the sources under `python/` in it and two private channels ([`frames`]) to it.
//! 2. Requests come as JSON Lines ([`request`]); a [`session`] sends their cells down the first channel and waits.
//! 3. While a cell runs it may ask the context on the second channel; [`questions`] answers it.
//! 4. What the cell writes is collected all the time ([`output`]), and goes into the [`answer`] with its outcome.
//! 5. Whatever cells have started ends with the kernel ([`family`]).
//!
//! On a terminal Python's own [`prompt`] takes the place of the requests.

mod answer;
mod family;
mod frames;
mod output;
mod process;
mod prompt;
mod questions;
mod request;
mod session;

use std::ffi::OsString;
use std::time::Duration;

pub use prompt::prompt;
pub use session::serve;

/// How the process is run.
pub struct Settings {
    /// The program.
    pub python: OsString,
    /// How long a cell may take that names no limit of its own.
    pub time_limit: Option<Duration>,
    /// How much address space the process may take; 0 is no limit.
    pub memory_bytes: u64,
    /// How much is kept of what a cell writes to each stream, and of its result.
    pub max_output_bytes: usize,
}

/// What happens while the kernel waits.
enum Event {
    /// A request came, or something that is none.
    Line(polyloop::Result<request::Request, request::Refusal>),
    /// No more requests come.
    InputEnd,
    /// Nobody reads the answers.
    Unread,
    /// A process, by its number, says that it is ready or what came of a cell.
    Outcome(u64, Vec<u8>),
    /// A process asks the context.
    Question(u64, Vec<u8>),
    /// A channel of a process is closed, or holds no frames.
    Broken(u64),
    /// A process has ended.
    Exited(u64),
}
