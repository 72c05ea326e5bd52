//! Render, prove and inspect the contexts that LLM agents are given.
#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod context;
pub mod error;
pub mod template;

pub use context::Context;
pub use error::{Code, Error, Result};
