//! `polyloop render`

use std::io::Write;
use std::path::PathBuf;

use polyloop::context::{Origin, Status};
use polyloop::diff;
use polyloop::measure::Verdict;
use polyloop::provider::{Repair, Source as Recording, repair};
use polyloop::read::{self, As, Format};
use polyloop::stream::{Outline, write};
use polyloop::write::{Report, View, write_yaml};
use polyloop::{Code, Context, Error, Result};

use super::chat_template::to_terminal_safely;
use super::stream;
use crate::args::{Render, RenderFormat};
use crate::exit::Exit;
use crate::input::{Document, Side, Source, folder_of, is_plain};
use crate::io::{file_of, is_same_file, note, refuse_overwriting, save_if, write_json, write_out_if};
use crate::terminal::Terminal;

pub fn run(args: &Render, terminal: &Terminal) -> anyhow::Result<Exit> {
    check_outputs(args)?;
    let taken = args.from.taken();
    if is_plain(taken)
        && let Some(exit) = super::batch::stream(args, terminal)?
    {
        return Ok(exit);
    }
    let mut document = Document::open(&args.input)?;
    let is_seen = args.chat_template.is_some() || args.lens.is_some();
    if is_plain(taken)
        && !is_seen
        && !args.repair
        && let Some(exit) = stream::run(args, &mut document, terminal)?
    {
        return Ok(exit);
    }
    let store = document.store()?;
    let mut outline = document.outline_as(store.as_ref(), stream::options(args, shows_digest(args)), taken);
    let kept = outline.as_mut().and_then(Outline::input);
    let held = if kept.is_none() { Some(document.hold()?) } else { None };
    if let Some(source) = &held
        && is_plain(taken)
        && is_batch(source)?
    {
        return Ok(super::batch::run(args, source, terminal)?);
    }
    let Some(side) = Side::of(kept, held.as_ref(), taken) else { unreachable!("one of the two is there") };
    let mut side = side?.resolve(&folder_of(&args.input, &args.root)?).map_err(|error| document.placed(error))?;
    match side.request() {
        Some(request) => check_steps(args.steps, request.parts().trajectory.len())?,
        None if args.steps.is_some() => {
            return Err(usage("--steps goes with a run request, not with recorded messages").into());
        }
        None => {}
    }
    let mut repairs = args.repair.then(Vec::new);
    if let Some(repairs) = &mut repairs {
        side.mark_missing_results(repairs);
    }
    let own = side.take_recorded();
    let selection = side.selection(args.steps).map_err(|error| document.placed(error))?;
    let mut context = match own {
        Some(context) => context,
        None if selection.is_none() => side.context(args.steps)?,
        None => Context::default(),
    };
    let source = side.recorded().map_or_else(Recording::default, |recorded| Recording {
        shape: recorded.shape,
        wire: recorded.wire.as_deref(),
    });
    if let Some(repairs) = &mut repairs {
        let known = |origin: &Origin<'_>| source.wire.map_or(Status::Lost, |wire| wire.status_of(origin));
        repairs.extend(repair(&mut context, source.shape, known));
    }
    let is_repaired = repairs.as_ref().is_some_and(|repairs| !repairs.is_empty());
    let mut report = match &selection {
        Some(selection) => Report::of_selection(document.name(), selection),
        None => Report::new(document.name(), &context, side.request()),
    };
    if let Some(recorded) = side.recorded() {
        report.note_recorded(recorded);
    }
    report.repairs = repairs;
    if let Some(digest) = side.digest.as_ref().filter(|_| !is_repaired) {
        report.set_digest(digest.clone());
    }
    let is_unchanged = || document.check(store.as_ref());

    let Some(path) = &args.against else { return print(args, &report, source, &is_unchanged, terminal) };
    let mut earlier = Document::open(path)?;
    let store = earlier.store()?;
    let mut outline = earlier.outline(store.as_ref(), polyloop::stream::Options::default());
    let kept = outline.as_mut().and_then(Outline::input);
    let held = if kept.is_none() { Some(earlier.hold()?) } else { None };
    let Some(side) = Side::of(kept, held.as_ref(), As::default()) else { unreachable!("one of the two is there") };
    let side = side?;
    if side.request().is_some() {
        return Err(Error::new(Code::InputShape, "--against takes a render, not a run request")
            .with_hint("compare two requests with polyloop diff")
            .with_source(earlier.name())
            .into());
    }
    let recorded = side.context(None)?;
    let subject = side.subject(earlier.name(), &recorded);
    report.previous = Some((diff::compare(subject, report.subject(), args.work.threads()), subject));
    let is_unchanged = || is_unchanged().and_then(|()| earlier.check(store.as_ref()));
    print(args, &report, source, &is_unchanged, terminal)
}

/// Whether an input is JSON Lines that hold requests.
fn is_batch(source: &Source) -> Result<bool> {
    let named = |error: Error| error.with_source(&source.name);
    if source.format == Some(Format::JsonLines) && source.text().is_err() {
        // A line of a batch may be broken in any way; the others are rendered all the same.
        let readable: Vec<&str> = source.lines().filter_map(|line| read::decode(line).ok()).collect();
        if read::is_batch(&readable.join("\n")).is_ok_and(|is_batch| is_batch) {
            return Ok(true);
        }
    }
    let text = source.text()?;
    Ok(source.format_of(text) == Format::JsonLines && read::is_batch(text).map_err(named)?)
}

/// Refuses to write two outputs to one file, or one over what is read. To save over the render that was compared with
/// is how it is updated.
fn check_outputs(args: &Render) -> Result<()> {
    let is_seen = args.chat_template.is_some() || args.lens.is_some();
    if args.format.shape().is_none() && (args.lossy && !is_seen || !args.params.is_empty()) {
        return Err(usage("--lossy and --param go with a provider's format")
            .with_hint("add --format openai, responses, anthropic, gemini or bedrock"));
    }
    if args.lens.is_some() && !matches!(args.format, RenderFormat::Text | RenderFormat::Json) {
        return Err(usage("--lens goes with --format text or json").with_hint("leave one of the two out"));
    }
    if !is_seen && (args.as_of.is_some() || args.no_generation_prompt || args.template_name.is_some()) {
        return Err(usage("--as-of, --no-generation-prompt and --template-name go with --chat-template or --lens")
            .with_hint("name the template: --chat-template tokenizer_config.json"));
    }
    if args.summary && args.format != RenderFormat::Text {
        return Err(usage("--summary goes with --format text").with_hint("leave one of the two out"));
    }
    if let (Some(save), Some(output)) = (&args.save, &args.output)
        && is_same_file(save, output)
    {
        return Err(usage("--save and --output name the same file"));
    }
    refuse_overwriting(args.save.as_deref(), [args.input.as_path()])?;
    refuse_overwriting(
        args.output.as_deref(),
        [Some(&args.input), args.against.as_ref()].into_iter().flatten().map(PathBuf::as_path),
    )
}

/// Refuses a number of steps that the trajectory does not have.
pub fn check_steps(steps: Option<usize>, there_are: usize) -> Result<()> {
    match steps {
        Some(steps) if steps > there_are => Err(usage(format!("--steps {steps}: the trajectory has {there_are}"))
            .with_hint(format!("give a number from 0 to {there_are}"))),
        _ => Ok(()),
    }
}

pub fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::UsageArguments, message)
}

/// What a verdict means for the exit code.
pub fn of_verdict(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::ContextOverflow => Exit::OverBudget,
        Verdict::Unknown => Exit::Differs,
        Verdict::Unset | Verdict::Fits => Exit::Done,
    }
}

/// What a report means for the exit code.
pub fn verdict(report: &Report<'_>) -> Exit {
    let budget = of_verdict(report.verdict);
    match &report.previous {
        Some((comparison, _)) if !comparison.identical => budget.max(Exit::Differs),
        _ => budget,
    }
}

/// Whether the digest is part of what is printed.
fn shows_digest(args: &Render) -> bool {
    matches!(args.format, RenderFormat::Text | RenderFormat::Json | RenderFormat::Digest)
}

/// Nothing is said of a file that changed while it was read.
fn print<'c>(
    args: &'c Render,
    report: &'c Report<'_>,
    source: Recording<'c>,
    is_unchanged: &dyn Fn() -> Result<()>,
    terminal: &Terminal,
) -> anyhow::Result<Exit> {
    if let Some(path) = &args.chat_template {
        super::chat_template::print(args, path, report, source, is_unchanged, terminal)?;
        say_aside(report);
        return Ok(verdict(report));
    }
    if let Some(name) = &args.lens {
        super::chat_template::print_lens(args, name, report, source, is_unchanged, terminal)?;
        return Ok(verdict(report));
    }
    let body = match args.format.shape() {
        Some(shape) => Some(super::body::of(args, report, shape, source)?),
        None => None,
    };
    if args.format == RenderFormat::Json {
        // It holds the digest.
        report.manifest();
    }
    let own_thread = args.work.threads().get() > 1;
    let hashed = |out: &mut dyn Write| write(report.context, out, own_thread).map(|digest| report.set_digest(digest));
    let is_hashed = !shows_digest(args) || report.has_digest();
    match &args.save {
        Some(path) if is_hashed => save_if(is_unchanged, path, |out| report.context.write_canonical(out))?,
        Some(path) => save_if(is_unchanged, path, |out| hashed(out))?,
        None if is_hashed => {}
        None => {
            hashed(&mut std::io::sink()).map_err(|error: std::io::Error| Error::new(Code::IoRead, error.to_string()))?
        }
    }
    let to_terminal = terminal.stdout_is_terminal && file_of(args.output.as_deref()).is_none();
    write_out_if(is_unchanged, args.output.as_deref(), |out| match args.format {
        RenderFormat::Json => write_json(out, report, true),
        RenderFormat::Yaml => write_yaml(report.context, out),
        RenderFormat::Jsonl if to_terminal => jsonl_to_terminal(report.context, out),
        RenderFormat::Jsonl => report.context.write_canonical(out),
        RenderFormat::Digest => writeln!(out, "{}", report.digest()),
        RenderFormat::OpenAi
        | RenderFormat::Responses
        | RenderFormat::Anthropic
        | RenderFormat::Gemini
        | RenderFormat::Bedrock => match &body {
            Some(body) => body.write(out).and_then(|()| writeln!(out)),
            None => Ok(()),
        },
        RenderFormat::Text => {
            let look = terminal.look(args.output.as_deref());
            let view = View::new(report, &look);
            if args.summary { view.write_summary(out) } else { view.write(out) }
        }
    })?;
    if !matches!(args.format, RenderFormat::Text | RenderFormat::Json) {
        say_aside(report);
    }
    if let (Some(body), Some(shape)) = (&body, args.format.shape()) {
        super::body::say_aside(report.source, body, shape);
    }
    Ok(verdict(report))
}

/// The formats that hold the messages alone, or their digest, leave the rest to stderr.
pub fn say_aside(report: &Report<'_>) {
    /// Of each kind so many are told of; the report in JSON has all.
    const TOLD: usize = 100;
    let more = |of: usize, what: &str| {
        if of > TOLD {
            note(&format!("{}: and {} more {what}: --format json lists them all", report.source, of - TOLD));
        }
    };
    for Repair { path, name, status, .. } in report.repairs.iter().flatten().take(TOLD) {
        note(&format!(
            "{}: repair: a result marked {} for the call of {name} at {path}",
            report.source,
            status.as_str()
        ));
    }
    more(report.repairs.as_ref().map_or(0, Vec::len), "repairs");
    for warning in report.warnings.iter().take(TOLD) {
        note(&format!("{}: warning: {} ({}, {})", report.source, warning.message, warning.path, warning.code));
    }
    more(report.warnings.len(), "warnings");
    if report.verdict == Verdict::ContextOverflow {
        note(&format!("{}: context_overflow: {} chars over the budget", report.source, report.over_by()));
    }
    if report.verdict == Verdict::Unknown
        && let Some(unknown) = report.unknown_in_words()
    {
        note(&format!("{}: unknown: {unknown}", report.source));
    }
    if let Some((comparison, earlier)) = report.previous.as_ref().filter(|(comparison, _)| !comparison.identical) {
        let classes: Vec<&str> = comparison.classes().iter().map(|class| class.as_str()).collect();
        note(&format!("{}: differs from {}: {}", report.source, earlier.name, classes.join(", ")));
    }
}

/// On a terminal what it would act on is escaped; the value is the same, the bytes are not.
fn jsonl_to_terminal(context: &Context<'_>, out: &mut impl Write) -> std::io::Result<()> {
    to_terminal_safely(&String::from_utf8_lossy(&context.to_canonical()), out)
}
