//! The flags of `polyloop mcp`.

use clap::Args;

use super::Asked;
use crate::mcp::{DEFAULT_RESULT_BYTES, MAX_RESULT_BYTES, MIN_RESULT_BYTES};

/// Serve the context to MCP clients over standard input and output
///
/// Five tools that only read: current, search, slice, summarize and state; and every message as a resource,
/// context:///messages/0 and so on. INPUT is a file, since standard input carries the protocol; it is held as it was when
/// the server began, and what changes in it later is not seen. The server ends when its standard input does.
#[derive(Args, Debug)]
pub struct Mcp {
    #[command(flatten)]
    pub asked: Asked,

    /// How many bytes of JSON one result may have, 4096 at least; what is longer is given in parts, with a cursor for the
    /// next one
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RESULT_BYTES,
        value_parser = clap::value_parser!(u32).range(MIN_RESULT_BYTES as i64..=MAX_RESULT_BYTES as i64))]
    pub max_result_bytes: u32,
}
