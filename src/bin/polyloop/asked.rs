//! Inputs that are asked: by the command line, from Python cells, over MCP.

use polyloop::query::Subject;
use polyloop::read::{self, Format};
use polyloop::request::State;
use polyloop::stream::{self, Outline};
use polyloop::{Code, Error, Result};

use crate::args::Asked;
use crate::cmd::render::{self, usage};
use crate::input::{Document, Side, Source, folder_of};

/// Reads an input and asks it; `ask` is also given the name it is shown by, and says itself when the input is checked to
/// be what it was: before what it wrote counts.
///
/// # Errors
/// What is wrong with the input, and those of `ask`.
pub fn with_unchanged<T>(
    args: &Asked,
    ask: impl FnOnce(&str, &Subject<'_>, &dyn Fn() -> Result<()>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let taken = args.from.taken();
    let mut document = Document::open(&args.input)?;
    let store = document.store()?;
    let options = stream::Options { fingerprints: false, ..stream::Options::default() };
    let mut outline = document.outline_as(store.as_ref(), options, taken);
    let kept = outline.as_mut().and_then(Outline::input);
    let held = if kept.is_none() { Some(document.hold()?) } else { None };
    if let Some(source) = &held {
        refuse_batch(source)?;
    }
    let Some(side) = Side::of(kept, held.as_ref(), taken) else { unreachable!("one of the two is there") };
    ask_side(args, &mut document, side, |document, subject| {
        ask(document.name(), subject, &|| document.check(store.as_ref()))
    })
}

/// The same for what is asked for a long time: all of the input is held, so that it may change meanwhile.
///
/// # Errors
/// What is wrong with the input, and those of `ask`; `io.read` where the input changed while it was read.
pub fn with_held_subject<T>(
    args: &Asked,
    ask: impl FnOnce(&str, &Subject<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut document = Document::open(&args.input)?;
    let held = document.hold()?;
    document.check(None)?;
    refuse_batch(&held)?;
    let Some(side) = Side::of(None, Some(&held), args.from.taken()) else { unreachable!("it is held") };
    ask_side(args, &mut document, side, |document, subject| ask(document.name(), subject))
}

fn ask_side<T>(
    args: &Asked,
    document: &mut Document,
    side: Result<Side<'_>>,
    ask: impl FnOnce(&Document, &Subject<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let side = side?.resolve(&folder_of(&args.input, &args.root)?).map_err(|error| document.placed(error))?;
    let steps = side.request().map(|request| request.parts().trajectory.len());
    check_steps(args.steps, steps)?;
    let context = side.context(args.steps).map_err(|error| document.placed(error))?;
    let none = State::default();
    let state = side.request().map_or(&none, |request| &request.parts().state);
    ask(document, &Subject { context: &context, state })
}

/// A context is asked, and a batch has many.
fn refuse_batch(source: &Source) -> Result<()> {
    let is_batch = source.text().is_ok_and(|text| {
        source.format_of(text) == Format::JsonLines && read::is_batch(text).is_ok_and(|is_batch| is_batch)
    });
    match is_batch {
        true => Err(Error::new(Code::InputShape, "this is a batch of requests, and one context is asked")
            .with_hint("take one line of it: sed -n 3p requests.jsonl | polyloop context summarize -")
            .with_source(&source.name)),
        false => Ok(()),
    }
}

fn check_steps(asked: Option<usize>, there: Option<usize>) -> Result<()> {
    match (asked, there) {
        (Some(_), None) => Err(usage("--steps goes with a run request, not with recorded messages")),
        (Some(asked), Some(there)) => render::check_steps(Some(asked), there),
        (None, _) => Ok(()),
    }
}
