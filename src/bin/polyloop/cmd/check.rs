//! `polyloop check`

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use polyloop::golden::{self, Actual, Form, Found, Golden, Options, Report, Status, Written};
use polyloop::write::{CheckReport, Visible, public_line, write_yaml};
use polyloop::{Code, Context, Error, Result};

use super::render::usage;
use crate::args::{Check, CheckFormat};
use crate::exit::Exit;
use crate::io::{name_of, note, print_error, refuse_overwriting, save, write_json, write_out};
use crate::progress::Progress;
use crate::terminal::Terminal;

pub fn run(args: &Check, terminal: &Terminal) -> anyhow::Result<Exit> {
    if args.accept && !args.force && is_ci() {
        return Err(usage("--accept is refused where CI is set: a check that takes what it finds proves nothing")
            .with_hint("accept on your own machine and commit the goldens; --force does it here all the same")
            .into());
    }
    let found = golden::find(&args.paths)?;
    let files = found.pairs().flat_map(|pair| std::iter::once(&pair.request).chain(&pair.goldens));
    let files = files.map(PathBuf::as_path);
    refuse_overwriting(args.output.as_deref(), files)?;
    if args.write_actual.is_some() {
        refuse_collisions(&found)?;
    }
    let progress = Mutex::new(Progress::new(found.len(), terminal));
    let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let options = Options {
        root: args.root.checked()?,
        threads: args.work.threads(),
        prove: args.prove,
        digests: matches!(args.format, CheckFormat::Json | CheckFormat::Junit),
        take: &|actual| take(args, actual),
        step: &|| {
            if terminal.stderr_is_terminal {
                progress().step();
            }
        },
    };
    let report = golden::check(found, &options);
    progress().clear();

    say_errors(args, &report, terminal);
    print(args, &report, terminal)?;
    let exit = exit(&report);
    // The process ends: to give back the many small pieces of a large report would only take time.
    std::mem::forget(report);
    Ok(exit)
}

/// Set to anything but empty, `0` and `false`.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !["", "0", "false"].iter().any(|off| value == *off))
}

fn print(args: &Check, report: &Report, terminal: &Terminal) -> Result<()> {
    let view = CheckReport { report, show_content: args.show_content };
    let look = terminal.look(args.output.as_deref());
    write_out(args.output.as_deref(), |out| match args.format {
        CheckFormat::Text => view.write_text(&look, out),
        CheckFormat::Json => write_json(out, &view, true),
        CheckFormat::Junit => view.write_junit(out),
        CheckFormat::Github => view.write_github(out),
        CheckFormat::Markdown => view.write_markdown(out),
    })
}

/// Errors as every command prints them; where the output is meant for a log that others read, without the source line.
fn say_errors(args: &Check, report: &Report, terminal: &Terminal) {
    let in_full = args.show_content || args.format == CheckFormat::Text;
    let mut is_cut = false;
    for error in report.outcomes.iter().filter_map(|outcome| outcome.error.as_ref()) {
        if in_full {
            print_error(error, terminal);
        } else {
            note(&public_line(error));
            is_cut = true;
        }
    }
    if is_cut {
        let hint = "--show-content, or --format text, says more and shows the lines";
        let _ = writeln!(io::stderr(), "hint: {}", Visible(hint));
    }
}

fn exit(report: &Report) -> Exit {
    let exits = report.outcomes.iter().map(|outcome| match outcome.status {
        _ if outcome.is_settled() => Exit::Done,
        Status::Different | Status::Orphaned => Exit::Differs,
        Status::Identical | Status::Missing | Status::Error => {
            outcome.error.as_ref().map_or(Exit::Failed, Exit::of_error)
        }
    });
    exits.max().unwrap_or(Exit::Failed)
}

/// Writes what was asked for of a request that differs from its golden, or has none.
fn take(args: &Check, actual: &Actual<'_>) -> Result<Written> {
    let mut written = Written::default();
    if let Some(folder) = &args.write_actual {
        written.actual = Some(write_actual(folder, actual)?);
    }
    if args.accept {
        written.golden = Some(accept(args, actual)?);
    }
    Ok(written)
}

/// Writes the golden, in the form it has. What other code recorded is the only proof of what that code did.
fn accept(args: &Check, actual: &Actual<'_>) -> Result<PathBuf> {
    let path = actual.pair.golden();
    let form = Form::of_path(&path).unwrap_or(Form::Stream);
    if form != Form::Stream && !args.force {
        return Err(Error::new(Code::IoWrite, "is a recording by other code, which --accept does not replace")
            .with_hint("remove it to accept a golden of polyloop's own beside the request; --force rewrites it")
            .with_source(name_of(&path)));
    }
    let bytes = match form {
        Form::Stream => {
            save(&path, |out| actual.context.write_canonical(out))?;
            return Ok(path);
        }
        Form::Json => list(actual.context),
        Form::Yaml => {
            let mut bytes = Vec::new();
            write_yaml(actual.context, &mut bytes).map(|()| bytes)
        }
    };
    let name = name_of(&path);
    let bytes = bytes.map_err(|error| Error::new(Code::IoWrite, error.to_string()).with_source(&name))?;
    if !golden::is_identical(actual.context, Golden { name: &name, form, bytes: &bytes })? {
        return Err(Error::new(Code::IoWrite, "a list of messages cannot hold all of this request: it has tools")
            .with_hint("rename the golden to NAME.render.jsonl, then accept again")
            .with_source(name));
    }
    save(&path, |out| out.write_all(&bytes))?;
    Ok(path)
}

/// The messages as a JSON list, one a line.
fn list(context: &Context<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = b"[".to_vec();
    for (index, message) in context.messages.iter().enumerate() {
        bytes.extend(if index == 0 { "\n" } else { ",\n" }.bytes());
        message.write_canonical(&mut bytes)?;
        // The line's own end.
        bytes.pop();
    }
    bytes.extend(b"\n]\n");
    Ok(bytes)
}

/// Writes the actual render below a folder, where the request lies below what is checked.
fn write_actual(folder: &Path, actual: &Actual<'_>) -> Result<PathBuf> {
    let mut path = folder.to_owned();
    let fail = |path: &Path, words: &str| {
        Err(Error::new(Code::IoWrite, words).with_hint("name another folder").with_source(name_of(path)))
    };
    if let Err(error) = fs::create_dir_all(folder) {
        return fail(folder, &format!("cannot be made: {}", error.kind()));
    }
    let inside = actual.pair.inside();
    for part in inside.parent().into_iter().flat_map(Path::components) {
        path.push(part);
        if let Err(error) = fs::create_dir(&path)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return fail(&path, &format!("cannot be made: {}", error.kind()));
        }
        if path.is_symlink() || !path.is_dir() {
            return fail(&path, "is no folder of its own: nothing is written through it");
        }
    }
    path.push(inside.file_name().unwrap_or_default());
    if ["yaml", "yml", "json"].iter().any(|ending| path.with_extension(ending).exists()) {
        return fail(&path, "is a request: what is written beside it would be its golden, which only --accept writes");
    }
    path.set_extension("render.jsonl");
    save(&path, |out| actual.context.write_canonical(out))?;
    Ok(path)
}

/// Requests of several paths may lie at the same place below each.
fn refuse_collisions(found: &Found) -> Result<()> {
    let mut seen = HashMap::new();
    for pair in found.pairs() {
        let request = pair.request.with_extension("");
        let first = seen.entry(pair.inside().with_extension("")).or_insert_with(|| request.clone());
        if *first != request {
            return Err(usage("--write-actual would write what two requests give to one file")
                .with_hint("check one of the folders at a time, or name them by relative paths")
                .with_source(name_of(&pair.request)));
        }
    }
    Ok(())
}
