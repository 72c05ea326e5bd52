//! The flags of `polyloop context`.

use clap::{Args, Subcommand};

use super::Asked;

/// Ask a context: all of it, what a query is about, some messages, counts, the state
#[derive(Args, Debug)]
pub struct Context {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Count messages, characters and tool calls
    Summarize(Summarize),
}

#[derive(Args, Debug)]
pub struct Summarize {
    #[command(flatten)]
    pub asked: Asked,
}

impl Context {
    /// Whether the answer is a JSON document.
    pub fn prints_json(&self) -> bool {
        true
    }
}
