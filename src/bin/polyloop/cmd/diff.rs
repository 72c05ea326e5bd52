//! `polyloop diff`

use std::path::Path;

use polyloop::context::{Fingerprint, Store};
use polyloop::diff::{self, Subject};
use polyloop::read::{self, Format, Input, Recorded};
use polyloop::stream::{self, Kept, Outline};
use polyloop::write::{DiffOptions, DiffReport};
use polyloop::{Context, Result, RunRequest, assemble};

use super::render::usage;
use crate::args::{Diff, DiffFormat};
use crate::exit::Exit;
use crate::io::{Source, Spool, both, refuse_overwriting, same_files, was_changed, write_json, write_out};
use crate::terminal::Terminal;

pub fn run(args: &Diff, terminal: &Terminal) -> anyhow::Result<Exit> {
    if args.a.as_os_str() == "-" && args.b.as_os_str() == "-" {
        return Err(usage("only one side can be read from standard input").into());
    }
    refuse_overwriting(args.output.as_deref(), [args.a.as_path(), args.b.as_path()])?;
    let (mut document_a, mut document_b) = (Document::open(&args.a)?, Document::open(&args.b)?);
    let (store_a, store_b) = (document_a.store()?, document_b.store()?);
    // Of equal files one is enough to find what is wrong with both, and all there is to say.
    let at_once = args.work.threads().get() > 1;
    let (mut outline_a, (is_same, mut outline_b)) = both(
        at_once,
        || document_a.outline(store_a.as_ref()),
        || match Format::of_path(&args.a) == Format::of_path(&args.b) && same_files(&args.a, &args.b) {
            true => (true, None),
            false => (false, document_b.outline(store_b.as_ref())),
        },
    );
    let (name_a, name_b) = (document_a.name().to_owned(), document_b.name().to_owned());
    let held_a = if outline_a.is_none() { Some(document_a.into_source()?) } else { None };
    let held_b = if outline_b.is_none() && !is_same { Some(document_b.into_source()?) } else { None };
    let (side_a, side_b) = both(
        at_once,
        || Side::of(outline_a.as_mut(), held_a.as_ref()),
        || Side::of(outline_b.as_mut(), held_b.as_ref()),
    );
    let (side_a, side_b) = (side_a?, side_b?);
    let stores = [(&store_a, &name_a), (&store_b, &name_b)];
    let is_unchanged = || {
        stores.iter().try_for_each(|(store, name)| match store {
            Some(store) => store.check().map_err(|_| was_changed(name)),
            None => Ok(()),
        })
    };
    let side_a = side_a.ok_or_else(|| was_changed(&name_a))?;
    let context_a = side_a.context();
    let a = side_a.subject(&name_a, &context_a);
    match &side_b {
        None => print(args, a, Subject { name: &name_b, ..a }, &is_unchanged, terminal),
        Some(side_b) => {
            let context_b = side_b.context();
            print(args, a, side_b.subject(&name_b, &context_b), &is_unchanged, terminal)
        }
    }
}

/// Nothing is said of files that changed while they were compared.
fn print(
    args: &Diff,
    a: Subject<'_>,
    b: Subject<'_>,
    is_unchanged: &dyn Fn() -> Result<()>,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    let comparison = diff::compare(a, b, args.work.threads());
    is_unchanged()?;
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
    is_unchanged()?;
    Ok(exit)
}

/// A side as it was given: a file that need not be held, or what is held already.
enum Document {
    Spooled(Spool),
    Held(Source),
}

impl Document {
    fn open(path: &Path) -> Result<Self> {
        Ok(match Spool::open(path)? {
            Ok(spool) => Document::Spooled(spool),
            Err(source) => Document::Held(source),
        })
    }

    fn name(&self) -> &str {
        match self {
            Document::Spooled(spool) => &spool.name,
            Document::Held(source) => &source.name,
        }
    }

    fn store(&self) -> Result<Option<Store>> {
        match self {
            Document::Spooled(spool) => spool.store().map(Some),
            Document::Held(_) => Ok(None),
        }
    }

    /// What one pass over the file finds; nothing where it has to be held.
    fn outline<'s>(&mut self, store: Option<&'s Store>) -> Option<Outline<'s>> {
        match self {
            Document::Spooled(spool) => {
                let format = spool.format();
                stream::outline(&mut spool.file, store?, format, stream::Sizes::default())
            }
            Document::Held(_) => None,
        }
    }

    fn into_source(self) -> Result<Source> {
        match self {
            Document::Spooled(spool) => spool.into_source(),
            Document::Held(source) => Ok(source),
        }
    }
}

/// A side that has been read: a request keeps what it was assembled from.
struct Side<'s> {
    input: Input<'s>,
    fingerprints: Vec<Fingerprint>,
    /// Where it is held.
    source: Option<&'s Source>,
}

impl<'s> Side<'s> {
    /// The side, or nothing where there is neither.
    fn of(outline: Option<&'s mut Outline<'_>>, held: Option<&'s Source>) -> Result<Option<Self>> {
        if let Some(outline) = outline {
            let Kept { input, fingerprints } = outline.input();
            return Ok(Some(Side { input, fingerprints, source: None }));
        }
        held.map(Self::read).transpose()
    }

    fn read(source: &'s Source) -> Result<Self> {
        let text = source.text()?;
        let input = read::read(text, Some(source.format_of(text))).map_err(|error| error.with_source(&source.name))?;
        Ok(Side { input, fingerprints: Vec::new(), source: Some(source) })
    }

    fn context(&self) -> Context<'_> {
        let mut context = match &self.input {
            Input::Request(request) => assemble(request, None),
            Input::Recorded(Recorded { context, .. }) => context.clone(),
        };
        stream::sign(&mut context, &self.fingerprints);
        context
    }

    fn subject<'d>(&'d self, name: &'d str, context: &'d Context<'d>) -> Subject<'d> {
        let request: Option<&'d RunRequest<'d>> = match &self.input {
            Input::Request(request) => Some(request),
            Input::Recorded(_) => None,
        };
        let spelled = match &self.input {
            Input::Recorded(recorded) => self.source.and_then(|source| source.spelled(recorded)),
            Input::Request(_) => None,
        };
        Subject { name, context, request, spelled }
    }
}
