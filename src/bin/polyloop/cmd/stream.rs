//! `polyloop render` of a request that need not be held.

use std::fs::{File, Metadata};
use std::io::Write;

use polyloop::measure::Verdict;
use polyloop::read::{self, Format};
use polyloop::stream::{self, Rendered};
use polyloop::write::Report;
use polyloop::{Result, assemble};

use super::render::{say_aside, verdict};
use crate::args::{Render, RenderFormat};
use crate::exit::Exit;
use crate::io::{Source, Spool, file_of, save, was_changed, write_out};
use crate::terminal::Terminal;

/// What came of it.
pub enum Outcome {
    /// It was rendered.
    Done(Exit),
    /// It has to be held, for whatever reason.
    Held(Source),
}

/// Renders to the formats that need nothing but the canonical stream: a request in JSON straight from the file.
pub fn run(args: &Render, terminal: &Terminal) -> Result<Outcome> {
    let to_terminal = terminal.stdout_is_terminal && file_of(args.output.as_deref()).is_none();
    let is_plain = match args.format {
        RenderFormat::Jsonl => !to_terminal,
        RenderFormat::Digest => true,
        _ => false,
    };
    let may_be_json = !matches!(Format::of_path(&args.input), Some(Format::Yaml | Format::JsonLines));
    if !is_plain || !may_be_json || args.against.is_some() {
        return Source::read(&args.input).map(Outcome::Held);
    }
    let mut spool = match Spool::open(&args.input)? {
        Ok(spool) => spool,
        Err(source) => return Ok(Outcome::Held(source)),
    };
    let before = Stamp::of(&spool.file);
    let options = stream::Options {
        steps: args.steps,
        digest: args.format == RenderFormat::Digest,
        own_thread: args.work.threads().get() > 1,
        ..stream::Options::default()
    };
    match stream::render(&mut spool.file, options) {
        Some(rendered) => print(args, &mut spool, rendered, before).map(Outcome::Done),
        None => spool.into_source().map(Outcome::Held),
    }
}

fn print(args: &Render, spool: &mut Spool, mut rendered: Rendered, before: Option<Stamp>) -> Result<Exit> {
    let name = spool.name.clone();
    if let Some(path) = &args.save {
        save(path, |out| rendered.write(&mut spool.file, out))?;
    }
    let digest = match args.format {
        RenderFormat::Digest => rendered.digest(),
        _ => None,
    };
    write_out(args.output.as_deref(), |out| match &digest {
        Some(digest) => writeln!(out, "{digest}"),
        None => rendered.write(&mut spool.file, out),
    })?;
    if before.is_none() || before != Stamp::of(&spool.file) {
        return Err(was_changed(&name));
    }
    let request = read::request(&rendered.head, Some(Format::Json)).map_err(|error| error.with_source(&name))?;
    let context = assemble(&request, None);
    let mut report = Report::new(&name, &context, Some(&request));
    report.total.size = rendered.size;
    report.verdict = Verdict::of(rendered.size, report.max_prompt_chars);
    say_aside(&report);
    Ok(verdict(&report))
}

/// What changes when a file does.
#[derive(PartialEq)]
struct Stamp(u64, Option<std::time::SystemTime>);

impl Stamp {
    fn of(file: &File) -> Option<Stamp> {
        let metadata: Metadata = file.metadata().ok()?;
        Some(Stamp(metadata.len(), metadata.modified().ok()))
    }
}
