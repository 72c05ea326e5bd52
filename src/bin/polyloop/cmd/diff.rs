//! `polyloop diff`

use std::sync::OnceLock;

use polyloop::diff::{self, Subject};
use polyloop::read::{self, Input, Recorded};
use polyloop::write::{DiffOptions, DiffReport};
use polyloop::{Context, Result, RunRequest, assemble};

use super::render::usage;
use crate::args::{Diff, DiffFormat};
use crate::exit::Exit;
use crate::io::{Source, both, refuse_overwriting, write_json, write_out};
use crate::terminal::Terminal;

pub fn run(args: &Diff, terminal: &Terminal) -> anyhow::Result<Exit> {
    if args.a.as_os_str() == "-" && args.b.as_os_str() == "-" {
        return Err(usage("only one side can be read from standard input").into());
    }
    refuse_overwriting(args.output.as_deref(), [args.a.as_path(), args.b.as_path()])?;
    let (source_a, source_b) = both(|| Source::read(&args.a), || Source::read(&args.b));
    let (source_a, source_b) = (source_a?, source_b?);
    let name_b = source_b.name.clone();
    let kept_b = OnceLock::new();
    // Of equal files one is enough to find what is wrong with both; the other is let go.
    let (side_a, side_b) = both(
        || Side::read(&source_a),
        || match source_a.same_bytes(&source_b) {
            true => Ok(None),
            false => Side::read(kept_b.get_or_init(|| source_b)).map(Some),
        },
    );
    let (side_a, side_b) = (side_a?, side_b?);
    let context_a = side_a.context();
    let a = side_a.subject(&source_a.name, &context_a);
    match &side_b {
        None => print(args, a, Subject { name: &name_b, ..a }, terminal),
        Some(side_b) => {
            let context_b = side_b.context();
            print(args, a, side_b.subject(&name_b, &context_b), terminal)
        }
    }
}

fn print(args: &Diff, a: Subject<'_>, b: Subject<'_>, terminal: &Terminal) -> anyhow::Result<Exit> {
    let comparison = diff::compare(a, b);
    let exit = if comparison.identical { Exit::Done } else { Exit::Differs };
    if args.quiet {
        return Ok(exit);
    }
    let report = DiffReport { comparison: &comparison, a, b };
    let mut options = DiffOptions { context_lines: args.context, ..DiffOptions::default() };
    if args.all {
        options.details = usize::MAX;
    }
    write_out(args.output.as_deref(), |out| match args.format {
        DiffFormat::Text => report.write_text(&terminal.look(args.output.as_deref()), options, out),
        DiffFormat::Json => write_json(out, &report, true),
        DiffFormat::Markdown => report.write_markdown(options, out),
    })?;
    Ok(exit)
}

/// A side that has been read: a request keeps what it was assembled from.
struct Side<'s> {
    input: Input<'s>,
    source: &'s Source,
}

impl<'s> Side<'s> {
    fn read(source: &'s Source) -> Result<Self> {
        let text = source.text()?;
        let input = read::read(text, Some(source.format_of(text))).map_err(|error| error.with_source(&source.name))?;
        Ok(Side { input, source })
    }

    fn context(&self) -> Context<'_> {
        match &self.input {
            Input::Request(request) => assemble(request, None),
            Input::Recorded(Recorded { context, .. }) => context.clone(),
        }
    }

    fn subject<'d>(&'d self, name: &'d str, context: &'d Context<'d>) -> Subject<'d> {
        let request: Option<&'d RunRequest<'d>> = match &self.input {
            Input::Request(request) => Some(request),
            Input::Recorded(_) => None,
        };
        let spelled = match &self.input {
            Input::Recorded(recorded) => self.source.spelled(recorded),
            Input::Request(_) => None,
        };
        Subject { name, context, request, spelled }
    }
}
