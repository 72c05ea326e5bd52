//! `polyloop render` of a request that need not be held.

use std::io::Write;

use polyloop::measure::Verdict;
use polyloop::read::{self, Format};
use polyloop::stream::{self, Rendered};
use polyloop::write::Report;
use polyloop::{Result, assemble};

use super::render::{say_aside, verdict};
use crate::args::{Render, RenderFormat};
use crate::exit::Exit;
use crate::input::Document;
use crate::io::{file_of, save_if, write_out_if};
use crate::terminal::Terminal;

/// Renders to the formats that need nothing but the canonical stream: a request in JSON straight from the file. `None`
/// says that this cannot be done.
pub fn run(args: &Render, document: &mut Document, terminal: &Terminal) -> Result<Option<Exit>> {
    let to_terminal = terminal.stdout_is_terminal && file_of(args.output.as_deref()).is_none();
    let is_plain = match args.format {
        RenderFormat::Jsonl => !to_terminal,
        RenderFormat::Digest => true,
        _ => false,
    };
    let may_be_json = !matches!(document.format(), Some(Format::Yaml | Format::JsonLines));
    if !is_plain || !may_be_json || args.against.is_some() {
        return Ok(None);
    }
    let options = options(args, args.format == RenderFormat::Digest);
    let Some(file) = document.file() else { return Ok(None) };
    let Some(mut rendered) = stream::render(file, options) else { return Ok(None) };
    let Ok(mut file) = file.try_clone() else { return Ok(None) };
    let is_unchanged = || document.check(None);
    if let Some(path) = &args.save {
        save_if(&is_unchanged, path, |out| rendered.write(&mut file, out))?;
    }
    let digest = rendered.digest();
    write_out_if(&is_unchanged, args.output.as_deref(), |out| match &digest {
        Some(digest) => writeln!(out, "{digest}"),
        None => rendered.write(&mut file, out),
    })?;
    aside(document.name(), &rendered).map(Some)
}

/// How a request is gone through.
pub fn options(args: &Render, digest: bool) -> stream::Options {
    let own_thread = args.work.threads().get() > 1;
    stream::Options { steps: args.steps, digest, own_thread, ..stream::Options::default() }
}

/// Says what goes to stderr, and what all of it means.
fn aside(name: &str, rendered: &Rendered) -> Result<Exit> {
    let request = read::request(&rendered.head, Some(Format::Json)).map_err(|error| error.with_source(name))?;
    let context = assemble(&request, None)?;
    let mut report = Report::new(name, &context, Some(&request));
    report.total.size = rendered.size;
    report.verdict = Verdict::of(rendered.size, report.max_prompt_chars);
    say_aside(&report);
    Ok(verdict(&report))
}
