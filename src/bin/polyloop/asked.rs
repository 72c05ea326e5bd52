//! Inputs that are asked: by the command line, from Python cells, over MCP.

use polyloop::Result;
use polyloop::query::Subject;
use polyloop::request::State;
use polyloop::stream::{self, Outline};

use crate::args::Asked;
use crate::cmd::render::{self, usage};
use crate::input::{Document, Side, folder_of};

/// Reads an input and asks it; `ask` is also given the name it is shown by.
///
/// # Errors
/// What is wrong with the input, and those of `ask`; `io.read` where the input changed meanwhile.
pub fn with_subject<T>(args: &Asked, ask: impl FnOnce(&str, &Subject<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let taken = args.from.taken();
    let mut document = Document::open(&args.input)?;
    let store = document.store()?;
    let options = stream::Options { fingerprints: false, ..stream::Options::default() };
    let mut outline = document.outline_as(store.as_ref(), options, taken);
    let kept = outline.as_mut().and_then(Outline::input);
    let held = if kept.is_none() { Some(document.hold()?) } else { None };
    let Some(side) = Side::of(kept, held.as_ref(), taken) else { unreachable!("one of the two is there") };
    let side = side?.resolve(&folder_of(&args.input, &args.root)?).map_err(|error| document.placed(error))?;
    let steps = side.request().map(|request| request.parts().trajectory.len());
    check_steps(args.steps, steps)?;
    let context = side.context(args.steps).map_err(|error| document.placed(error))?;
    let none = State::default();
    let state = side.request().map_or(&none, |request| &request.parts().state);
    let answer = ask(document.name(), &Subject { context: &context, state })?;
    document.check(store.as_ref())?;
    Ok(answer)
}

fn check_steps(asked: Option<usize>, there: Option<usize>) -> Result<()> {
    match (asked, there) {
        (Some(_), None) => Err(usage("--steps goes with a run request, not with recorded messages")),
        (Some(asked), Some(there)) => render::check_steps(Some(asked), there),
        (None, _) => Ok(()),
    }
}
