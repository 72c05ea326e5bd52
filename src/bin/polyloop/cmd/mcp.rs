//! `polyloop mcp`

use std::path::Path;

use crate::args::Mcp as Args;
use crate::asked::with_held_subject;
use crate::cmd::render::usage;
use crate::exit::Exit;
use crate::mcp;

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.asked.input == Path::new("-") {
        return Err(usage("standard input carries the protocol, so the context cannot come from it")
            .with_hint("name a file")
            .into());
    }
    let max_result_bytes = usize::try_from(args.max_result_bytes).unwrap_or(usize::MAX);
    with_held_subject(&args.asked, |_, subject| {
        mcp::serve(subject, max_result_bytes)?;
        Ok(Exit::Done)
    })
}
