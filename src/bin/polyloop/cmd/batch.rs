//! A batch: one request a line in, one compact document a line out.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;

use polyloop::read::{self, Folder, Format};
use polyloop::write::Report;
use polyloop::{Code, Error, Result, assemble, select};

use super::render::{check_steps, usage, verdict};
use crate::args::{Render, RenderFormat};
use crate::exit::Exit;
use crate::in_order::{Held, in_order};
use crate::input::{Source, folder_of};
use crate::io::{cannot_read, file_of, name_of, print_error, write_json, write_out};
use crate::lines::{Piece, Pieces};
use crate::progress::Progress;
use crate::terminal::Terminal;

/// Renders a batch as it is read, so that it may be of any length; `None` where the input must be read whole before it
/// is known what it is.
pub fn stream(args: &Render, terminal: &Terminal) -> Result<Option<Exit>> {
    match open(&args.input) {
        Some((file, bytes)) => lines(args, &name_of(&args.input), BufReader::new(file), bytes, terminal).map(Some),
        None => Ok(None),
    }
}

/// Renders a batch that has been read.
pub fn run(args: &Render, source: &Source, terminal: &Terminal) -> Result<Exit> {
    lines(args, &source.name, source.bytes(), source.bytes().len(), terminal)
}

/// A file that is a batch by its name and its first lines, and its length. What is appended later is not read: it may
/// be what this very run prints.
fn open(path: &Path) -> Option<(impl Read, usize)> {
    if Format::of_path(path) != Some(Format::JsonLines) || !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    if !is_batch(BufReader::new((&file).take(bytes))) {
        return None;
    }
    file.rewind().ok()?;
    Some((Whole { file, left: bytes }, usize::try_from(bytes).unwrap_or(usize::MAX)))
}

/// A file as long as it was when it was opened: one that ends before was changed.
struct Whole {
    file: File,
    left: u64,
}

impl Read for Whole {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = (&self.file).take(self.left).read(bytes)?;
        if read == 0 && self.left > 0 && !bytes.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter while it was read"));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

/// Whether the first line that is JSON is a request, as [`read::is_batch`] goes by. False as well where that hangs on
/// the lines after it.
fn is_batch(input: impl BufRead) -> bool {
    for piece in Pieces::new(input) {
        for (number, line) in piece.lines() {
            // A byte order mark inside the file is dropped only if some other line is no text.
            if number > 0 && line.starts_with("\u{feff}".as_bytes()) {
                return false;
            }
            let Ok(text) = read::decode(line) else { continue };
            match read::is_batch(text) {
                Ok(false) if text.trim().is_empty() => {}
                Err(error) if error.code() != Code::InputShape => {}
                decided => return decided.is_ok_and(|is_batch| is_batch),
            }
        }
    }
    false
}

fn lines(args: &Render, name: &str, input: impl BufRead, bytes: usize, terminal: &Terminal) -> Result<Exit> {
    if args.format != RenderFormat::Json || args.summary || args.against.is_some() || args.save.is_some() {
        return Err(usage("a batch of requests is rendered with --format json alone")
            .with_hint("put a single request into a file of its own for the other formats and options")
            .with_source(name));
    }
    let folder = folder_of(&args.input, &args.root)?;
    let threads = args.work.threads();
    let mut exit = Exit::Done;
    let mut unread = None;
    let mut progress = Progress::through(bytes, terminal);
    let written = write_out(args.output.as_deref(), |out| {
        let mut pieces = Pieces::new(input);
        in_order(
            threads,
            &mut pieces,
            |piece| render(args, &folder, name, &piece),
            |rendered| {
                let rendered = rendered?;
                exit = exit.max(rendered.exit);
                if !rendered.errors.is_empty() {
                    progress.clear();
                    rendered.errors.iter().for_each(|error| print_error(error, terminal));
                }
                out.write_all(&rendered.documents)?;
                progress.reach(rendered.end);
                Ok(())
            },
        )?;
        let Some(fault) = pieces.into_fault() else { return Ok(()) };
        let error = cannot_read(&fault).with_source(name);
        if file_of(args.output.as_deref()).is_some() {
            // Half a batch does not take the place of what is there.
            unread = Some(error);
            return Err(fault);
        }
        exit = Exit::Failed;
        progress.clear();
        print_error(&error, terminal);
        write_json(out, &error, false)
    });
    progress.clear();
    match unread {
        Some(error) => Err(error),
        None => written.map(|()| exit),
    }
}

/// What some lines come to.
struct Rendered {
    /// A document a line.
    documents: Vec<u8>,
    /// What is wrong with lines, for stderr.
    errors: Vec<Error>,
    exit: Exit,
    /// How much of the input has been rendered.
    end: usize,
}

impl Held for Rendered {
    fn bytes(&self) -> usize {
        self.documents.len()
    }
}

fn render(args: &Render, folder: &Folder, name: &str, piece: &Piece) -> io::Result<Rendered> {
    let mut rendered = Rendered { documents: Vec::new(), errors: Vec::new(), exit: Exit::Done, end: piece.end };
    let out = &mut rendered.documents;
    for (number, line) in piece.lines().filter(|(_, line)| !line.trim_ascii().is_empty()) {
        rendered.exit = rendered.exit.max(match one(args, folder, (name, number), line, out)? {
            Ok(exit) => exit,
            Err(error) => {
                let error = error.shift_lines(number).with_source(name);
                write_json(out, &error, false)?;
                let exit = Exit::of_error(&error);
                rendered.errors.push(error);
                exit
            }
        });
    }
    Ok(rendered)
}

/// Renders a line; the outer result is that of writing.
fn one(
    args: &Render,
    folder: &Folder,
    (source, number): (&str, usize),
    line: &[u8],
    out: &mut impl Write,
) -> io::Result<Result<Exit>> {
    let source = format!("{source}:{}", number + 1);
    let text = match read::decode(line) {
        Ok(text) => text,
        Err(error) => return Ok(Err(error.locate(line))),
    };
    let request = match read::request(text, Some(Format::Json)) {
        Ok(request) => request,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = check_steps(args.steps, request.parts().trajectory.len()) {
        return Ok(Err(error.with_span(0..line.len()).locate(line)));
    }
    let placed = |error| Ok(Err(read::place(error, text, Some(Format::Json))));
    let request = match request.resolve(folder) {
        Ok(request) => request,
        Err(error) => return placed(error),
    };
    if request.needs_selection() {
        return match select(&request, args.steps) {
            Ok(selection) => written(&Report::of_selection(&source, &selection), out),
            Err(error) => placed(error),
        };
    }
    match assemble(&request, args.steps) {
        Ok(context) => written(&Report::new(&source, &context, Some(&request)), out),
        Err(error) => placed(error),
    }
}

fn written(report: &Report<'_>, out: &mut impl Write) -> io::Result<Result<Exit>> {
    write_json(out, report, false)?;
    Ok(Ok(verdict(report)))
}
