//! `polyloop import`

use std::io::Write;

use polyloop::import::{self, Imported, Injections, Options};
use polyloop::read::Format;
use polyloop::{Code, Error};

use super::render::usage;
use crate::args::{Import, ImportFormat};
use crate::exit::Exit;
use crate::input::{Document, Side};
use crate::io::{note, refuse_overwriting, write_out};

pub fn run(args: &Import) -> anyhow::Result<Exit> {
    if args.injections.as_deref() == Some("-".as_ref()) && args.input.as_os_str() == "-" {
        return Err(usage("only one of the two can be read from standard input").into());
    }
    let read = [Some(args.input.as_path()), args.injections.as_deref()];
    refuse_overwriting(args.output.as_deref(), read.into_iter().flatten())?;
    let source = Document::open(&args.input)?.hold()?;
    let named = |error: Error| error.with_source(&source.name);
    let Some(side) = Side::of(None, Some(&source), args.from.taken()) else { unreachable!("it is held") };
    let side = side?;
    if side.request().is_some() {
        return Err(named(Error::new(Code::InputShape, "this is a run request already"))
            .with_hint("import takes recorded messages; polyloop render shows what a request gives")
            .into());
    }
    let entries = match &args.injections {
        Some(path) => Some(Document::open(path)?.hold()?),
        None => None,
    };
    let injections = match &entries {
        Some(entries) => {
            let text = entries.text()?;
            Injections::read(text, Some(entries.format_of(text))).map_err(|error| error.with_source(&entries.name))?
        }
        None => Injections::default(),
    };
    let format = match args.format {
        ImportFormat::Yaml => Format::Yaml,
        ImportFormat::Json => Format::Json,
    };
    let context = side.context(None)?;
    let imported = import::import(&context, &Options { format, injections }).map_err(named)?;
    write_out(args.output.as_deref(), |out| out.write_all(imported.text.as_bytes()))?;
    say(&source.name, context.messages.len(), &imported);
    Ok(Exit::Done)
}

/// What was found, on stderr: the request itself is the result.
fn say(name: &str, messages: usize, imported: &Imported) {
    const MOST_NOTES: usize = 20;
    let Imported { prefix, injections, goal, steps, .. } = imported;
    let slot = if *injections > 0 { format!("injections {injections}, ") } else { String::new() };
    note(&format!(
        "{name}: {}: prefix {prefix}, {slot}goal {goal}, {}",
        count(messages, "message"),
        count(*steps, "step")
    ));
    match imported.template.as_deref() {
        Some("{observation}") => note(&format!("{name}: no frame round the observations")),
        Some(template) => note(&format!("{name}: frame {template:?}")),
        None => {}
    }
    for found in imported.notes.iter().take(MOST_NOTES) {
        let place = found.message.map(|at| format!("messages[{at}]: ")).unwrap_or_default();
        note(&format!("{name}: {place}{}", found.why));
    }
    if let Some(more) = imported.notes.len().checked_sub(MOST_NOTES).filter(|more| *more > 0) {
        note(&format!("{name}: and {more} more of these"));
    }
    note(&format!("{name}: proved: the request renders to the same bytes, {}", imported.digest));
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
