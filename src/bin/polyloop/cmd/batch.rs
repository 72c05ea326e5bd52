//! A batch: one request a line in, one compact document a line out.

use std::io::Write;

use polyloop::read::{self, Format};
use polyloop::write::Report;
use polyloop::{Result, assemble};

use super::render::{check_steps, usage, verdict};
use crate::args::{Render, RenderFormat};
use crate::exit::Exit;
use crate::io::{Source, print_error, write_json, write_out};
use crate::progress::Progress;
use crate::terminal::Terminal;

pub fn run(args: &Render, source: &Source, terminal: &Terminal) -> Result<Exit> {
    let name = &source.name;
    if args.format != RenderFormat::Json || args.summary || args.against.is_some() || args.save.is_some() {
        return Err(usage("a batch of requests is rendered with --format json alone")
            .with_hint("put a single request into a file of its own for the other formats and options")
            .with_source(name));
    }
    let mut exit = Exit::Done;
    let mut progress = Progress::new(source.lines().count(), terminal);
    write_out(args.output.as_deref(), |out| {
        let lines = source.lines().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        for (number, line) in lines {
            exit = exit.max(match one(args, name, number, line, out)? {
                Ok(exit) => exit,
                Err(error) => {
                    let error = error.shift_lines(number).with_source(name);
                    progress.clear();
                    print_error(&error, terminal);
                    write_json(out, &error, false)?;
                    Exit::Failed
                }
            });
            progress.step();
        }
        Ok(())
    })?;
    progress.clear();
    Ok(exit)
}

/// Renders a line; the outer result is that of writing.
fn one(args: &Render, source: &str, number: usize, line: &[u8], out: &mut impl Write) -> std::io::Result<Result<Exit>> {
    let source = format!("{source}:{}", number + 1);
    let text = match read::decode(line) {
        Ok(text) => text,
        Err(error) => return Ok(Err(error.locate(line))),
    };
    let request = match read::request(text, Some(Format::Json)) {
        Ok(request) => request,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = check_steps(args.steps, request.parts().trajectory.len()) {
        return Ok(Err(error.with_span(0..line.len()).locate(line)));
    }
    let context = assemble(&request, args.steps);
    let report = Report::new(&source, &context, Some(&request));
    write_json(out, &report, false)?;
    Ok(Ok(verdict(&report)))
}
