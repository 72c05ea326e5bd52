//! `polyloop kernel`

use crate::args::Kernel as Args;
use crate::exit::Exit;

#[cfg(unix)]
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    use std::io::{IsTerminal, stdin, stdout};
    use std::path::Path;

    use crate::asked::with_held_subject;
    use crate::cmd::render::usage;
    use crate::kernel::{self, Settings};

    if args.asked.input == Path::new("-") {
        return Err(usage("standard input holds the cells, and cannot hold the context as well")
            .with_hint("write the context to a file first")
            .into());
    }
    let settings = Settings {
        python: args.python.clone(),
        time_limit: args.timeout.0,
        memory_bytes: u64::from(args.memory) << 20,
        max_output_bytes: args.max_output as usize,
    };
    with_held_subject(&args.asked, |_, subject| {
        if stdin().is_terminal() && stdout().is_terminal() {
            kernel::prompt(subject, &settings)
        } else {
            kernel::serve(subject, &settings)
        }
    })
}

#[cfg(not(unix))]
pub fn run(_: &Args) -> anyhow::Result<Exit> {
    use polyloop::{Code, Error};

    Err(Error::new(Code::KernelStart, "the kernel needs a Unix system")
        .with_hint("polyloop context asks the same questions, and polyloop mcp serves them")
        .into())
}
