//! Writing outputs, and saying what went wrong.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub use polyloop::golden::name_of;
use polyloop::write::{Visible, json_formatter};
use polyloop::{Code, Error, Result};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::exit::Exit;
use crate::terminal::Terminal;

/// Does two things, at once or one after the other.
pub fn both<A: Send, B: Send>(at_once: bool, a: impl FnOnce() -> A, b: impl FnOnce() -> B + Send) -> (A, B) {
    if !at_once {
        return (a(), b());
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(b);
        let a = a();
        match other.join() {
            Ok(b) => (a, b),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What is said of an input that cannot be read.
pub fn cannot_read(error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the path; - reads standard input",
        io::ErrorKind::IsADirectory => "name a file in it",
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "nothing was written",
    };
    Error::new(Code::IoRead, format!("cannot be read: {}", words(error))).with_hint(hint)
}

/// The system's words without the error number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Where results are written to: many small pieces, gathered.
pub type Out<'o> = io::BufWriter<Box<dyn Write + 'o>>;

fn gather<'o>(sink: impl Write + 'o) -> Out<'o> {
    io::BufWriter::with_capacity(64 * 1024, Box::new(sink))
}

/// Writes a result to standard output, or atomically to a file. A reader that has gone away is no error: the verdict
/// stands.
pub fn write_out(output: Option<&Path>, write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> Result<()> {
    match file_of(output) {
        Some(path) => save(path, write),
        None => to_stdout(write),
    }
}

/// The same for what is made of a file as it is read: `check` says whether the file is still what it was. Where it is not,
/// nothing is begun, and nothing takes the place of what is there.
pub fn write_out_if(
    check: &dyn Fn() -> Result<()>,
    output: Option<&Path>,
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> Result<()> {
    unless_changed(check, write, |write| write_out(output, write))
}

/// The same for [`save`].
pub fn save_if(
    check: &dyn Fn() -> Result<()>,
    path: &Path,
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> Result<()> {
    unless_changed(check, write, |write| save(path, write))
}

fn unless_changed(
    check: &dyn Fn() -> Result<()>,
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
    put: impl FnOnce(&mut dyn FnMut(&mut Out<'_>) -> io::Result<()>) -> Result<()>,
) -> Result<()> {
    check()?;
    let mut changed = None;
    let mut write = Some(write);
    let written = put(&mut |out| {
        let written = write.take().map_or(Ok(()), |write| write(out));
        // What could not be written may be for what could not be read.
        check().map_err(|error| {
            changed = Some(error);
            io::Error::other("what is read has changed")
        })?;
        written
    });
    changed.map_or(written, Err)
}

/// The file that is written to, if it is one: `-` is standard output.
pub fn file_of(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}

/// Refuses an output that would take the place of something that is read.
pub fn refuse_overwriting<'p>(output: Option<&Path>, inputs: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    match output.and_then(|output| inputs.into_iter().find(|input| is_same_file(output, input))) {
        None => Ok(()),
        Some(input) => Err(Error::new(Code::UsageArguments, "the output would take the place of what is read")
            .with_hint("name another file")
            .with_source(name_of(input))),
    }
}

/// Whether two paths lead to one file; devices and pipes can be read and written at once.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(real_a), Ok(real_b)) => real_a == real_b && real_a.is_file(),
        _ => a == b && a != Path::new("-"),
    }
}

/// Writes to standard output and flushes.
pub fn to_stdout(write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> Result<()> {
    let mut out = gather(Quiet { inner: io::stdout().lock(), gone: false });
    write(&mut out).and_then(|()| out.flush()).map_err(|error| {
        // What is still buffered cannot be written either; dropping the buffer would try again.
        let _ = std::mem::replace(&mut out, gather(io::sink())).into_parts();
        cannot_write(&error).with_source(STDOUT)
    })
}

const STDOUT: &str = "<stdout>";

/// Whether something was written to standard output: what goes wrong then cannot be a document of its own there.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// A writer whose reader may go away: the rest is dropped, so that the work goes on to its verdict.
struct Quiet<W> {
    inner: W,
    gone: bool,
}

impl<W: Write> Quiet<W> {
    fn unless_gone<T>(&mut self, otherwise: T, write: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.gone {
            return Ok(otherwise);
        }
        IS_BEGUN.store(true, Ordering::Relaxed);
        match write(&mut self.inner) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(otherwise)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_gone(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_gone((), Write::flush)
    }
}

/// Writes a file so that it holds either the old bytes or the new ones: a temporary file in the same folder, synced,
/// then renamed. Keeps the mode. A device or a pipe is written to as it is.
pub fn save(path: &Path, write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> Result<()> {
    let fail = |error: io::Error| cannot_write(&error).with_source(name_of(path));
    let target = target_of(path)?;
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => {
            Err(fail(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")))
        }
        Ok(metadata) if !metadata.is_file() => {
            let file = File::options().write(true).open(&target).map_err(fail)?;
            let mut out = gather(file);
            write(&mut out).and_then(|()| out.flush()).map_err(fail)
        }
        existing => replace(&target, existing.ok().map(|metadata| metadata.permissions()), write).map_err(fail),
    }
}

fn replace(
    target: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".polyloop-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    let mut out = gather(&file);
    write(&mut out).and_then(|()| out.flush())?;
    drop(out);
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    // The rename itself is durable once the folder is; where a folder cannot be synced, the file still is.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Where a path really leads: a symlink may point at a file in its own folder or below, not out of it.
fn target_of(path: &Path) -> Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(target), Ok(folder)) if target.starts_with(&folder) => Ok(target),
        // A link to a device leads out of every folder and harms none.
        (Ok(target), _) if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) => Ok(target),
        _ => Err(Error::new(Code::IoWrite, "is a symbolic link that leads out of its folder")
            .with_hint("name the file itself")
            .with_source(name_of(path))),
    }
}

fn cannot_write(error: &io::Error) -> Error {
    Error::new(Code::IoWrite, format!("cannot be written: {}", words(error)))
        .with_hint("what was there before is unchanged")
}

/// Writes a JSON document with a final newline; what a terminal would act on is `\u`-escaped.
pub fn write_json(out: &mut impl Write, document: &impl Serialize, pretty: bool) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, json_formatter(pretty));
    document.serialize(&mut serializer).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Prints an error to stderr, and as a document to stdout where that is asked for.
pub fn report_error(error: &anyhow::Error, as_json: bool, terminal: &Terminal) -> Exit {
    let owned;
    let error = match error.downcast_ref::<Error>() {
        Some(error) => error,
        None => {
            owned = Error::new(Code::IoWrite, format!("{error:#}"));
            &owned
        }
    };
    print_error(error, terminal);
    // An output that cannot be written to cannot take the error either.
    if as_json && error.source_name() != Some(STDOUT) && !IS_BEGUN.load(Ordering::Relaxed) {
        let _ = to_stdout(|out| write_json(out, error, true));
    }
    Exit::of_error(error)
}

/// Prints an error to stderr: place, source line with a caret, hint.
pub fn print_error(error: &Error, terminal: &Terminal) {
    let styles = terminal.stderr_styles();
    let paint = |style: &polyloop::write::Style, text: &str| format!("{}{text}{}", style.on, style.off);
    let mut text = format!("{} {}\n", paint(&styles.bad, "polyloop:"), Visible(&error.to_string()));
    if let (Some(position), Some(excerpt)) = (error.position(), error.excerpt()) {
        let shown = |skip: usize, take: usize| {
            Visible(&excerpt.text.chars().skip(skip).take(take).collect::<String>()).to_string()
        };
        let number = format!("{:>5}", position.line);
        let before = shown(0, excerpt.start).width();
        let carets = "^".repeat(shown(excerpt.start, excerpt.len).width().max(1));
        text += &format!("{} | {}\n", paint(&styles.faint, &number), shown(0, usize::MAX));
        text += &format!("      | {}{}\n", " ".repeat(before), paint(&styles.bad, &carets));
    }
    if let Some(hint) = error.hint() {
        text += &format!("{} {}\n", paint(&styles.good, "hint:"), Visible(hint));
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints a note to stderr.
pub fn note(words: &str) {
    let _ = writeln!(io::stderr(), "polyloop: {}", Visible(words));
}

/// Prints what clap has to say: help and version to stdout, misuse to stderr.
pub fn report_usage(error: &clap::Error, terminal: &Terminal) -> Exit {
    if !error.use_stderr() {
        let text = error.render();
        let text = if terminal.stdout_colour { text.ansi().to_string() } else { text.to_string() };
        return match to_stdout(|out| out.write_all(text.as_bytes())) {
            Ok(()) => Exit::Done,
            Err(error) => report_error(&error.into(), false, terminal),
        };
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().filter(|line| !line.starts_with("For more information"));
    let lines: Vec<String> = lines.map(|line| Visible(line).to_string()).collect();
    let _ = writeln!(io::stderr(), "polyloop: {}\nhint: see --help", lines.join("\n").trim_end());
    if asks_for_json(&std::env::args_os().collect::<Vec<_>>()) {
        let what: Vec<&str> =
            lines.iter().map(|line| line.trim()).take_while(|line| !line.starts_with("Usage:")).collect();
        let error = Error::new(Code::UsageArguments, what.join(" ").trim()).with_hint("see polyloop --help");
        let _ = to_stdout(|out| write_json(out, &error, true));
    }
    Exit::Failed
}

/// Whether words that could not be parsed ask for JSON all the same.
fn asks_for_json(words: &[std::ffi::OsString]) -> bool {
    let joined = ["--format=json", "-fjson", "-f=json"];
    words.iter().any(|word| joined.iter().any(|asking| word == asking))
        || words.windows(2).any(|pair| (pair[0] == "--format" || pair[0] == "-f") && pair[1] == "json")
}
