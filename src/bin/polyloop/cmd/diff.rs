//! `polyloop diff`

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use polyloop::context::Store;
use polyloop::diff::{self, Subject};
use polyloop::provider::{Wire, WireChange, compare};
use polyloop::stream::{self, Outline};
use polyloop::write::{DiffOptions, DiffReport};
use polyloop::{Result, RunRequest};

use super::render::usage;
use crate::args::{Diff, DiffFormat};
use crate::exit::Exit;
use crate::input::{Document, Side, folder_of, is_plain, same_bytes};
use crate::io::{both, refuse_overwriting, write_json, write_out_if};
use crate::terminal::Terminal;

pub fn run(args: &Diff, terminal: &Terminal) -> anyhow::Result<Exit> {
    if args.a.as_os_str() == "-" && args.b.as_os_str() == "-" {
        return Err(usage("only one side can be read from standard input").into());
    }
    refuse_overwriting(args.output.as_deref(), [args.a.as_path(), args.b.as_path()])?;
    let (mut document_a, mut document_b) = (Document::open(&args.a)?, Document::open(&args.b)?);
    let taken = args.from.taken();
    let (store_a, store_b) = match is_plain(taken) {
        true => (document_a.store()?, document_b.store()?),
        false => (None, None),
    };
    let at_once = args.work.threads().get() > 1;
    let files = match document_a.format() == document_b.format() {
        true => document_a.reopened().zip(document_b.reopened()),
        false => None,
    };
    let is_same = || files.is_some_and(|(a, b)| same_bytes(a, b));
    let mut sides = [(&mut document_a, store_a.as_ref()), (&mut document_b, store_b.as_ref())];
    let (is_same, [mut outline_a, mut outline_b]) = outlines(at_once, is_same, &mut sides);
    let (kept_a, kept_b) =
        both(at_once, || outline_a.as_mut().and_then(Outline::input), || outline_b.as_mut().and_then(Outline::input));
    let held_a = if kept_a.is_none() { Some(document_a.hold()?) } else { None };
    let held_b = if kept_b.is_none() && !is_same { Some(document_b.hold()?) } else { None };
    let (side_a, side_b) = both(
        at_once,
        || Side::of(kept_a, held_a.as_ref(), taken).transpose(),
        || Side::of(kept_b, held_b.as_ref(), taken).transpose(),
    );
    // Equal requests in two folders may name unequal files.
    let names_files = |side: &Side<'_>| side.request().is_some_and(RunRequest::has_files);
    let late = is_same && side_a.as_ref().is_ok_and(|side| side.as_ref().is_some_and(names_files));
    let held_late = if late { Some(document_b.hold()?) } else { None };
    let side_b = if late { Side::of(None, held_late.as_ref(), taken).transpose() } else { side_b };
    let (folder_a, folder_b) = (folder_of(&args.a, &args.root)?, folder_of(&args.b, &args.root)?);
    let side_a = side_a.and_then(|side| side.map(|side| side.resolve(&folder_a)).transpose());
    let side_b = side_b.and_then(|side| side.map(|side| side.resolve(&folder_b)).transpose());
    let side_a = side_a.map_err(|error| document_a.placed(error))?;
    let side_b = side_b.map_err(|error| document_b.placed(error))?;
    // One of the two is always there for the first.
    let (Some(mut side_a), mut side_b) = (side_a, side_b) else { unreachable!("the first side is always read") };
    let (own_a, own_b) = (side_a.take_recorded(), side_b.as_mut().and_then(Side::take_recorded));
    let context_a = match own_a {
        Some(context) => context,
        None => side_a.context(None).map_err(|error| document_a.placed(error))?,
    };
    let context_b = match own_b {
        Some(context) => Some(context),
        None => {
            let context = side_b.as_ref().map(|side| side.context(None)).transpose();
            context.map_err(|error| document_b.placed(error))?
        }
    };
    let is_unchanged = || document_a.check(store_a.as_ref()).and_then(|()| document_b.check(store_b.as_ref()));
    let (name_a, name_b) = (document_a.name(), document_b.name());
    let a = side_a.subject(name_a, &context_a);
    let b = match (&side_b, &context_b) {
        (Some(side_b), Some(context_b)) => side_b.subject(name_b, context_b),
        _ => Subject { name: name_b, ..a },
    };
    let wire = if args.wire { Some(on_the_wire(&side_a, side_b.as_ref(), [name_a, name_b])?) } else { None };
    print(args, [a, b], wire.as_deref(), &is_unchanged, terminal)
}

/// Where the bodies differ. Of equal files only the first is there.
fn on_the_wire(a: &Side<'_>, b: Option<&Side<'_>>, [name_a, name_b]: [&str; 2]) -> Result<Vec<WireChange>> {
    let wire_a = wire_of(a, name_a)?;
    match b {
        Some(b) => Ok(compare(wire_a, wire_of(b, name_b)?)),
        None => Ok(Vec::new()),
    }
}

fn wire_of<'w>(side: &'w Side<'_>, name: &str) -> Result<&'w Wire<'w>> {
    side.recorded().and_then(|recorded| recorded.wire.as_deref()).ok_or_else(|| {
        usage("--wire compares bodies as they were sent, and this is none")
            .with_hint("bodies and lists of messages have a wire; run requests, canonical streams and sessions do not")
            .with_source(name)
    })
}

/// What one pass over each file finds. Of equal files one is enough to find what is wrong with both, and all there is to
/// say: while the files are compared, the first is read as if it were equal to the other.
fn outlines<'s>(
    at_once: bool,
    is_same: impl FnOnce() -> bool + Send,
    [(a, store_a), (b, store_b)]: &mut [(&mut Document, Option<&'s Store>); 2],
) -> (bool, [Option<Outline<'s>>; 2]) {
    let to_compare = stream::Options::default();
    let alone = stream::Options { fingerprints: false, ..to_compare };
    if !at_once {
        return match is_same() {
            true => (true, [a.outline(*store_a, alone), None]),
            false => (false, [a.outline(*store_a, to_compare), b.outline(*store_b, to_compare)]),
        };
    }
    let differs = AtomicBool::new(false);
    let (tell, told) = mpsc::channel();
    let (outline_a, (is_same, outline_b)) = both(
        true,
        || {
            let outline = a.outline_until(*store_a, alone, &differs);
            match told.recv() {
                Ok(true) => outline,
                _ => a.outline(*store_a, to_compare),
            }
        },
        || {
            let is_same = is_same();
            differs.store(!is_same, Ordering::Relaxed);
            // The other side is there until it has been told.
            let _ = tell.send(is_same);
            (is_same, if is_same { None } else { b.outline(*store_b, to_compare) })
        },
    );
    (is_same, [outline_a, outline_b])
}

/// Nothing is said of files that changed while they were compared.
fn print(
    args: &Diff,
    [a, b]: [Subject<'_>; 2],
    wire: Option<&[WireChange]>,
    is_unchanged: &dyn Fn() -> Result<()>,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    let comparison = diff::compare(a, b, args.work.threads());
    is_unchanged()?;
    let exit =
        if comparison.identical && wire.is_none_or(<[WireChange]>::is_empty) { Exit::Done } else { Exit::Differs };
    if args.quiet {
        return Ok(exit);
    }
    let report = DiffReport { comparison: &comparison, a, b, wire };
    let mut options = DiffOptions { context_lines: args.context, ..DiffOptions::default() };
    if args.all {
        options.details = usize::MAX;
    }
    write_out_if(is_unchanged, args.output.as_deref(), |out| match args.format {
        DiffFormat::Text => report.write_text(&terminal.look(args.output.as_deref()), options, out),
        DiffFormat::Json => write_json(out, &report, true),
        DiffFormat::Markdown => report.write_markdown(options, out),
    })?;
    Ok(exit)
}
