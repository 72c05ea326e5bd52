//! `polyloop context`

use crate::args::Context as Args;
use crate::args::context::Action;
use crate::asked::with_subject;
use crate::exit::Exit;
use crate::io::{to_stdout, write_json};
use crate::terminal::Terminal;

pub fn run(args: &Args, _terminal: &Terminal) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Summarize(summarize) => with_subject(&summarize.asked, |_, subject| {
            to_stdout(|out| write_json(out, &subject.summarize(), true))?;
            Ok(Exit::Done)
        }),
    }
}
