//! `polyloop completions`

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, Completions};
use crate::exit::Exit;
use crate::io::to_stdout;

pub fn run(args: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "polyloop", &mut script);
    to_stdout(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}
