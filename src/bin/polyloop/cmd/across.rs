//! `polyloop trace --across`

use std::path::Path;

use polyloop::trace::across::Runs;
use polyloop::write::AcrossView;
use polyloop::{Error, Result};

use super::trace::files_of;
use crate::args::{Trace as Args, TraceFormat};
use crate::exit::Exit;
use crate::input::{Document, Side, folder_of};
use crate::io::{write_json, write_out};
use crate::terminal::Terminal;

pub fn run(args: &Args, terminal: &Terminal) -> anyhow::Result<Exit> {
    let mut runs = Runs::default();
    for input in &args.inputs {
        for path in files_of(input, &["yaml", "yml", "json"])? {
            // A golden is the run beside it once more.
            let is_render = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".render."));
            if !is_render || path == *input {
                add(args, &path, &mut runs)?;
            }
        }
    }
    let across = runs.across();
    let view = AcrossView { across: &across };
    write_out(args.output.as_deref(), |out| match args.format {
        TraceFormat::Json => write_json(out, &view, true),
        TraceFormat::Text => view.write(&terminal.look(args.output.as_deref()), out),
    })?;
    Ok(Exit::Done)
}

fn add(args: &Args, path: &Path, runs: &mut Runs) -> Result<()> {
    let mut document = Document::open(path)?;
    let source = document.hold()?;
    let Some(side) = Side::of(None, Some(&source), args.from.taken()) else { unreachable!("it is held") };
    let placed = |error: Error| error.with_source(&source.name);
    let side = side?.resolve(&folder_of(path, &args.root)?).map_err(placed)?;
    runs.add(&side.context(None)?);
    Ok(())
}
