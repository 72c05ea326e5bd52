//! Render, prove and inspect the contexts that LLM agents are given.
#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod assemble;
pub mod context;
pub mod diff;
pub mod error;
pub mod measure;
pub mod read;
pub mod request;
pub mod template;

pub use assemble::{MAX_EXPANSION, assemble};
pub use context::Context;
pub use error::{Code, Error, Result};
pub use request::RunRequest;
