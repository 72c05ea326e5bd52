//! The flags of `polyloop mcp`.

use clap::Args;

use super::Asked;

/// Serve the context to MCP clients over standard input and output
#[derive(Args, Debug)]
pub struct Mcp {
    #[command(flatten)]
    pub asked: Asked,
}
