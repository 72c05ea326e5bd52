//! One file a subcommand.

pub mod across;
pub mod batch;
pub mod body;
pub mod chat_template;
pub mod check;
pub mod completions;
pub mod context;
pub mod diff;
pub mod import;
pub mod kernel;
pub mod lint;
pub mod man;
pub mod manifest;
pub mod mcp;
pub mod render;
pub mod schema;
pub mod stream;
pub mod trace;
