//! Render, prove and inspect the contexts that LLM agents are given.
//!
//! 1. [`read`]: bytes become a [`RunRequest`], checked while it is read, or a context that was recorded.
//! 2. [`assemble()`]: a request becomes a [`Context`]: tools and messages, each block with its origin. Pure. What its
//!    fragments give is selected in a budget, and accounted for by [`select()`].
//! 3. [`Context::write_canonical`]: a context becomes the bytes that stand for it; equality is decided on them.
//! 4. [`measure`]: sizes in characters and bytes, and what the budget says.
//! 5. [`stream`]: the same for inputs too large to hold, by the same rules.
//! 6. [`import`](mod@import): the way back, from messages that were recorded to a request that is proved to give them.
//! 7. [`diff`], [`golden`] and [`write`](mod@write): what differs, what is proved, and how all of it is shown.
//! 8. [`provider`]: the bodies that providers are really sent, read and written; [`chat_template`]: the very text that an
//!    open-weight model is fed.
//! 9. [`trace`] and [`lint`](mod@lint): what calls kept of each other, and what is wrong with a prompt.
//! 10. [`query`]: a context that is asked instead of being read: search, slice, summarize, state.
//!
//! ```
//! use polyloop::{assemble, read};
//!
//! let request = read::request(
//!     r#"
//! prefix:
//!   - {role: system, content: "You are at a shell."}
//! goal:
//!   - {role: user, content: "Which files are here?"}
//! observation_template: "Output: {observation}"
//! trajectory:
//!   - {raw_output: "ls", observation: "a.txt"}
//! "#,
//!     Some(read::Format::Yaml),
//! )?;
//! let context = assemble(&request, None)?;
//! assert_eq!(context.messages.len(), 4);
//! assert_eq!(context.messages[3].origin.to_string(), "trajectory[0].observation");
//! assert!(context.to_canonical().ends_with(br#"{"role":"user","content":[{"type":"text","text":"Output: a.txt"}]}
//! "#));
//! # Ok::<(), polyloop::Error>(())
//! ```
//!
//! # Units
//!
//! `chars` are Unicode scalar values, Python's `len`; `bytes` are those of UTF-8, or of the canonical stream where that
//! is said. Indices count from 0; `line` and `column` from 1, in characters.
//!
//! # Errors
//!
//! Everything that can go wrong is an [`Error`]: a stable [`Code`], a message, the place in the document and what to
//! write instead. The library never prints, exits, reads the clock or the environment.
#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod assemble;
pub mod chat_template;
pub mod context;
pub mod diff;
pub mod error;
pub mod golden;
pub mod import;
pub mod lint;
pub mod measure;
pub mod provider;
pub mod query;
pub mod read;
pub mod request;
pub mod select;
pub mod stream;
pub mod template;
pub mod trace;
pub mod write;

pub use assemble::{assemble, select};
pub use context::Context;
pub use error::{Code, Error, Result};
pub use request::RunRequest;
