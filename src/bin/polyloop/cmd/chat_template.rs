//! `polyloop render --chat-template` and `--lens`: what a model or a provider really sees.

use std::fs;
use std::io::Write;
use std::path::Path;

use polyloop::chat_template::{ChatTemplate, Options};
use polyloop::provider::{Body, Shape, Source, lens, lens_of_text};
use polyloop::request::Time;
use polyloop::write::{LensView, Report, is_live};
use polyloop::{Code, Error, Result};

use super::body::losses;
use super::render::usage;
use crate::args::{Render, RenderFormat};
use crate::io::{cannot_read, file_of, name_of, note, write_json, write_out_if};
use crate::terminal::Terminal;

/// Prints the text that a model is fed.
pub fn print(
    args: &Render,
    path: &Path,
    report: &Report<'_>,
    source: Source<'_>,
    is_unchanged: &dyn Fn() -> Result<()>,
    terminal: &Terminal,
) -> Result<()> {
    let (text, notes) = text(args, path, report, source)?;
    let to_terminal = terminal.stdout_is_terminal && file_of(args.output.as_deref()).is_none();
    write_out_if(is_unchanged, args.output.as_deref(), |out| match to_terminal {
        true => to_terminal_safely(&text, out),
        false => out.write_all(text.as_bytes()),
    })?;
    notes.iter().for_each(|words| note(words));
    Ok(())
}

/// Prints the message list as it is seen through a lens.
pub fn print_lens(
    args: &Render,
    name: &str,
    report: &Report<'_>,
    source: Source<'_>,
    is_unchanged: &dyn Fn() -> Result<()>,
    terminal: &Terminal,
) -> Result<()> {
    let (seen, notes) = match Shape::of_name(name) {
        Some(shape) => (lens(report.context, shape), Vec::new()),
        None => {
            let (text, notes) = text(args, Path::new(name), report, source)?;
            (lens_of_text(report.context, &text), notes)
        }
    };
    let view = LensView::new(report.source, name, &seen, report.context);
    write_out_if(is_unchanged, args.output.as_deref(), |out| match args.format {
        RenderFormat::Json => write_json(out, &view, true),
        _ => view.write(&terminal.look(args.output.as_deref()), out),
    })?;
    notes.iter().for_each(|words| note(words));
    Ok(())
}

/// The text and what is to be said of it. A recorded body reaches the template as it was sent; anything else as strings and,
/// where there are several blocks, lists.
fn text(args: &Render, path: &Path, report: &Report<'_>, source: Source<'_>) -> Result<(String, Vec<String>)> {
    let named = |error: Error| match error.source_name() {
        Some(_) => error,
        None => error.with_source(report.source),
    };
    let template = template(args, path)?;
    let shape = Shape::OpenAi;
    let body = Body::of(report.context, shape, source);
    if !args.lossy {
        body.whole(shape).map_err(named)?;
    }
    let mut notes = losses(report.source, &body);
    let as_of = match args.as_of.as_deref() {
        Some(text) => Some(Time::parse(text).ok_or_else(|| {
            usage(format!("--as-of: {text:?} is no time")).with_hint("write it 2024-05-01T12:00:00Z")
        })?),
        None => None,
    };
    let options = Options { add_generation_prompt: !args.no_generation_prompt, as_of: as_of.as_ref() };
    let rendered =
        template.render(&body.messages(shape), &body.tools(), &options).map_err(at_message).map_err(named)?;
    for index in &rendered.dropped {
        notes.push(format!(
            "{}: warning: the template drops messages[{index}], or rewrites it: its text does not appear (chat_template.dropped)",
            report.source
        ));
    }
    Ok((rendered.text, notes))
}

/// The message at fault is named in words: it has no place in the source that could be told instead.
fn at_message(error: Error) -> Error {
    let Some(path) = error.path().map(str::to_owned) else { return error };
    let told = Error::new(error.code(), format!("{path}: {}", error.message())).with_path(path);
    match error.hint() {
        Some(hint) => told.with_hint(hint.to_owned()),
        None => told,
    }
}

fn template(args: &Render, path: &Path) -> Result<ChatTemplate> {
    /// Templates are a few kilobytes.
    const MOST: u64 = 16 << 20;
    let read = |path: &Path| -> Result<String> {
        let name = name_of(path);
        let fail = |error: &std::io::Error| cannot_read(error).with_source(&name);
        let metadata = fs::metadata(path).map_err(|error| fail(&error))?;
        if metadata.len() > MOST || !metadata.is_file() {
            return Err(Error::new(Code::IoRead, "is no file of at most 16 MiB").with_source(&name));
        }
        let bytes = fs::read(path).map_err(|error| fail(&error))?;
        polyloop::read::decode(&bytes).map(str::to_owned).map_err(|error| error.with_source(&name))
    };
    let text = read(path)?;
    let is_config = text.trim_start().starts_with('{') && path.extension().is_some_and(|ending| ending == "json");
    let beside = path.with_file_name("chat_template.jinja");
    let beside = if is_config && beside.is_file() { Some(read(&beside)?) } else { None };
    ChatTemplate::parse(&text, beside.as_deref(), args.template_name.as_deref())
        .map_err(|error| error.with_source(name_of(path)))
}

/// On a terminal what it would act on is shown by its number; line breaks stay.
pub fn to_terminal_safely(text: &str, out: &mut impl Write) -> std::io::Result<()> {
    let mut escaped = false;
    for character in text.chars() {
        if is_live(character) && character != '\n' {
            escaped = true;
            character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
        } else {
            write!(out, "{character}")?;
        }
    }
    if escaped {
        note("some characters are escaped for the terminal: these are not the exact bytes (redirect for those)");
    }
    Ok(())
}
