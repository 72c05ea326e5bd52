//! Inputs: files and pipes, held whole or read from where they lie.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use polyloop::context::{Fingerprint, Store};
use polyloop::diff::Subject;
use polyloop::provider::Repair;
use polyloop::read::{self, As, Folder, Format, Input, Recorded, limits};
use polyloop::request::ToolCall;
use polyloop::select::Selection;
use polyloop::stream::{self, Kept, Outline};
use polyloop::{Code, Context, Error, Result, RunRequest, assemble, select};

use crate::args::Root;
use crate::io::{cannot_read, name_of};

/// An input, read whole.
pub struct Source {
    /// The name it is shown by.
    pub name: String,
    /// What the file name says of the format.
    pub format: Option<Format>,
    bytes: Vec<u8>,
}

impl Source {
    /// Reads what a path leads to.
    fn read_path(path: &Path) -> Result<Self> {
        let name = name_of(path);
        let bytes = read_file(path).map_err(|error| cannot_read(&error).with_source(&name))?;
        Ok(Source { name, format: Format::of_path(path), bytes })
    }

    /// The text, checked to be UTF-8.
    pub fn text(&self) -> Result<&str> {
        read::decode(&self.bytes).map_err(|error| error.locate(&self.bytes).with_source(&self.name))
    }

    /// The bytes as they stand.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines, whether they are text or not.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'\n')
    }

    /// The text as it stands, a leading byte order mark included.
    fn whole_text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// The file's own text, where it is JSON Lines and not the canonical stream of the messages that were read from it.
    fn spelled(&self, recorded: &Recorded<'_>) -> Option<&str> {
        let whole = self.whole_text();
        let has_mark = whole.starts_with('\u{feff}') && recorded.is_stream;
        (has_mark || recorded.not_canonical_at.is_some()).then_some(whole)
    }

    /// The format, by the name or else by the content.
    pub fn format_of(&self, text: &str) -> Format {
        self.format.unwrap_or_else(|| Format::of_content(text))
    }
}

/// An input as it was given: a file that need not be held, or what is held already.
pub struct Document {
    name: String,
    /// Where it can be opened again.
    path: Option<PathBuf>,
    format: Option<Format>,
    from: Origin,
}

enum Origin {
    /// What can be read again and again.
    File(File, Option<Stamp>),
    Held(Vec<u8>),
}

/// What nearly always changes when a file does: its length and its time, and where it lies.
#[derive(PartialEq)]
struct Stamp(u64, Option<SystemTime>, [u64; 2]);

impl Stamp {
    fn of(file: &File) -> Option<Stamp> {
        let metadata = file.metadata().ok()?;
        #[cfg(unix)]
        let place = {
            use std::os::unix::fs::MetadataExt;
            [metadata.dev(), metadata.ino()]
        };
        #[cfg(not(unix))]
        let place = [0; 2];
        Some(Stamp(metadata.len(), metadata.modified().ok(), place))
    }
}

impl Document {
    /// How much of a pipe is held, in bytes; more goes to a temporary file.
    const HELD: usize = 4 << 20;

    /// Opens a file, or standard input for `-`; what is no file is read whole.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Document::stdin();
        }
        // A pipe that is opened twice may be read by nobody; and whatever is wrong with a path is said there.
        match fs::metadata(path).is_ok_and(|metadata| metadata.is_file()).then(|| File::open(path)) {
            Some(Ok(file)) => {
                let document = Document::of(name_of(path), Format::of_path(path), file);
                Ok(Document { path: Some(path.to_owned()), ..document })
            }
            _ => Source::read_path(path).map(Document::from),
        }
    }

    fn stdin() -> Result<Self> {
        let name = "<stdin>".to_owned();
        let fail = |error: io::Error| cannot_read(&error).with_source(&name);
        let mut stdin = io::stdin().lock();
        let mut bytes = Vec::new();
        stdin.by_ref().take(Self::HELD as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() <= Self::HELD || is_no_text(&bytes) {
            return Ok(Source { name, format: None, bytes }.into());
        }
        let rest = limits::DOCUMENT_BYTES as u64 + 1 - bytes.len() as u64;
        let keep = || {
            let mut file = tempfile::tempfile()?;
            file.write_all(&bytes)?;
            io::copy(&mut stdin.take(rest), &mut file).map(|_| file)
        };
        match keep() {
            Ok(file) => Ok(Document::of(name, None, file)),
            Err(error) => Err(cannot_read(&error)
                .with_hint(format!(
                    "more than {} MiB go to a file in the temporary folder: make room there, set TMPDIR, or name a file",
                    Self::HELD >> 20
                ))
                .with_source(name)),
        }
    }

    fn of(name: String, format: Option<Format>, file: File) -> Self {
        let stamp = Stamp::of(&file);
        Document { name, path: None, format, from: Origin::File(file, stamp) }
    }

    /// The name it is shown by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its name says of the format.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The file opened once more, with a place of its own in it; nothing where another file has taken its name.
    pub fn reopened(&self) -> Option<File> {
        let (Origin::File(_, stamp), Some(path)) = (&self.from, &self.path) else { return None };
        File::open(path).ok().filter(|file| stamp.is_some() && *stamp == Stamp::of(file))
    }

    /// The file, if it is one.
    pub fn file(&mut self) -> Option<&mut File> {
        match &mut self.from {
            Origin::File(file, _) => Some(file),
            Origin::Held(_) => None,
        }
    }

    /// The same file, for text that is left in it.
    pub fn store(&self) -> Result<Option<Store>> {
        match &self.from {
            Origin::File(file, _) => match file.try_clone() {
                Ok(file) => Ok(Some(Store::new(file))),
                Err(error) => Err(cannot_read(&error).with_source(&self.name)),
            },
            Origin::Held(_) => Ok(None),
        }
    }

    /// What one pass over the file finds; nothing where it has to be held.
    pub fn outline<'s>(&mut self, store: Option<&'s Store>, options: stream::Options) -> Option<Outline<'s>> {
        self.outline_until(store, options, &AtomicBool::new(false))
    }

    /// The same, for what may be a recorded prompt that is to be taken in a certain way: then it is held.
    pub fn outline_as<'s>(
        &mut self,
        store: Option<&'s Store>,
        options: stream::Options,
        taken: As,
    ) -> Option<Outline<'s>> {
        if is_plain(taken) { self.outline(store, options) } else { None }
    }

    /// The same, until `stop` is set: then it finds nothing.
    pub fn outline_until<'s>(
        &mut self,
        store: Option<&'s Store>,
        options: stream::Options,
        stop: &AtomicBool,
    ) -> Option<Outline<'s>> {
        let format = self.format;
        stream::outline(self.file()?, store?, format, options, stop)
    }

    /// All of it.
    pub fn hold(&mut self) -> Result<Source> {
        let bytes = match &mut self.from {
            Origin::File(file, _) => {
                let expected = file.metadata().map_or(0, |metadata| metadata.len());
                let expected = usize::try_from(expected).unwrap_or(usize::MAX).min(limits::DOCUMENT_BYTES) + 1;
                let bytes = file.rewind().and_then(|()| read_bounded(file, expected));
                bytes.map_err(|error| cannot_read(&error).with_source(&self.name))?
            }
            Origin::Held(bytes) => std::mem::take(bytes),
        };
        Ok(Source { name: self.name.clone(), format: self.format, bytes })
    }

    /// An error of a rule that was broken after the document was read, with its place there.
    pub fn placed(&mut self, error: Error) -> Error {
        if error.source_name().is_some() {
            return error;
        }
        match self.hold() {
            Ok(source) => placed_in(Some(&source), error),
            Err(_) => error.with_source(&self.name),
        }
    }

    /// # Errors
    /// `io.read` for a file that is not as it was when it was opened, or could not be read again.
    pub fn check(&self, store: Option<&Store>) -> Result<()> {
        let is_same = match &self.from {
            Origin::File(file, stamp) => stamp.is_some() && *stamp == Stamp::of(file),
            Origin::Held(_) => true,
        };
        if is_same && store.is_none_or(|store| store.check().is_ok()) {
            return Ok(());
        }
        Err(Error::new(Code::IoRead, "was changed while it was read")
            .with_hint("what was written is not of one state of it: run the command again")
            .with_source(&self.name))
    }
}

impl From<Source> for Document {
    fn from(source: Source) -> Self {
        Document { name: source.name, path: None, format: source.format, from: Origin::Held(source.bytes) }
    }
}

/// Whether nothing is said of how a prompt was recorded.
pub fn is_plain(taken: As) -> bool {
    taken.shape.is_none() && taken.call.is_none()
}

/// Where the files of a request may be: those of standard input are looked for from the current folder on.
pub fn folder_of(path: &Path, root: &Root) -> Result<Folder> {
    // The name - has no folder, and so stands for the current one.
    Ok(Folder::of_request(path, root.checked()?))
}

/// An input that has been read: a request keeps what it was assembled from.
pub struct Side<'s> {
    pub input: Input<'s>,
    /// The digest, where it was found on the way.
    pub digest: Option<String>,
    fingerprints: Vec<Fingerprint>,
    /// Where it is held.
    source: Option<&'s Source>,
}

impl<'s> Side<'s> {
    /// Of what one pass found, or else of what is held.
    pub fn of(kept: Option<Kept<'s>>, held: Option<&'s Source>, taken: As) -> Option<Result<Self>> {
        let Some(Kept { input, fingerprints, digest }) = kept else {
            return held.map(|source| Side::read(source, taken));
        };
        Some(Ok(Side { input, digest, fingerprints, source: None }))
    }

    fn read(source: &'s Source, taken: As) -> Result<Self> {
        let text = source.text()?;
        let input = read::read_as(text, Some(source.format_of(text)), taken)
            .map_err(|error| error.with_source(&source.name))?;
        Ok(Side { input, digest: None, fingerprints: Vec::new(), source: Some(source) })
    }

    /// The same with the content of the files that its fragments name; `folder` is where they may be.
    pub fn resolve(self, folder: &Folder) -> Result<Self> {
        let Side { input, digest, fingerprints, source } = self;
        let input = match input {
            Input::Request(request) if request.has_files() => match request.resolve(folder) {
                Ok(request) => Input::Request(Box::new(request)),
                Err(error) => return Err(placed_in(source, error)),
            },
            other => other,
        };
        Ok(Side { input, digest, fingerprints, source })
    }

    /// What is selected of a request's fragments, where there is anything to select.
    pub fn selection(&self, steps: Option<usize>) -> Result<Option<Selection<'_>>> {
        match self.request().filter(|request| request.needs_selection()) {
            Some(request) => select(request, steps).map(Some).map_err(|error| placed_in(self.source, error)),
            None => Ok(None),
        }
    }

    /// The messages after so many steps, or all.
    pub fn context(&self, steps: Option<usize>) -> Result<Context<'_>> {
        let mut context = match &self.input {
            Input::Request(request) => assemble(request, steps).map_err(|error| placed_in(self.source, error))?,
            Input::Recorded(Recorded { context, .. }) => context.borrow(),
        };
        stream::sign(&mut context, &self.fingerprints);
        Ok(context)
    }

    /// The messages of a recorded prompt, which are then no longer held here.
    pub fn take_recorded(&mut self) -> Option<Context<'s>> {
        let Input::Recorded(recorded) = &mut self.input else { return None };
        let mut context = std::mem::take(&mut recorded.context);
        stream::sign(&mut context, &self.fingerprints);
        Some(context)
    }

    /// The recorded prompt, if it is one.
    pub fn recorded(&self) -> Option<&Recorded<'s>> {
        match &self.input {
            Input::Recorded(recorded) => Some(recorded),
            Input::Request(_) => None,
        }
    }

    /// Marks what became of the calls of a request's steps that have no result.
    pub fn mark_missing_results(&mut self, repairs: &mut Vec<Repair>) {
        let Input::Request(request) = &mut self.input else { return };
        let before = repairs.len();
        request.mark_missing_results(|step, call, ToolCall { id, name, status, .. }| {
            let path = polyloop::context::Origin::ToolCall { step, call }.to_string();
            let status = status.unwrap_or_default();
            repairs.push(Repair { path, tool_use_id: id.to_string(), name: name.to_string(), status });
        });
        if repairs.len() > before {
            // They are of what was read.
            self.fingerprints.clear();
            self.digest = None;
        }
    }

    /// What the messages were assembled from, if they were.
    pub fn request(&self) -> Option<&RunRequest<'s>> {
        match &self.input {
            Input::Request(request) => Some(request),
            Input::Recorded(_) => None,
        }
    }

    /// One side of a comparison.
    pub fn subject<'d>(&'d self, name: &'d str, context: &'d Context<'d>) -> Subject<'d> {
        let spelled = match &self.input {
            Input::Recorded(recorded) => self.source.and_then(|source| source.spelled(recorded)),
            Input::Request(_) => None,
        };
        Subject { name, context, request: self.request().map(|request| request as &RunRequest<'d>), spelled }
    }
}

/// An error of a rule that was broken after the document was read, with its place there.
fn placed_in(source: Option<&Source>, error: Error) -> Error {
    let Some(source) = source else { return error };
    match source.text() {
        Ok(text) => read::place(error, text, source.format).with_source(&source.name),
        Err(_) => error.with_source(&source.name),
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    let len = usize::try_from(metadata.len()).unwrap_or(usize::MAX).min(limits::DOCUMENT_BYTES);
    read_bounded(file, if metadata.is_file() { len + 1 } else { 0 })
}

/// Whether two files hold the same bytes.
pub fn same_bytes(mut a: File, mut b: File) -> bool {
    const PIECE: usize = 64 << 10;
    const PAGE: usize = 4096;
    let len = |file: &File| file.metadata().ok().map(|metadata| metadata.len());
    if len(&a).is_none() || len(&a) != len(&b) {
        return false;
    }
    let mut room = vec![0; 2 * PIECE + PAGE];
    // Reads to the start of a page are faster.
    let start = room.as_ptr().addr().next_multiple_of(PAGE) - room.as_ptr().addr();
    let (bytes_a, bytes_b) = room[start..start + 2 * PIECE].split_at_mut(PIECE);
    loop {
        let (Ok(read_a), Ok(read_b)) = (fill(&mut a, bytes_a), fill(&mut b, bytes_b)) else { return false };
        if bytes_a[..read_a] != bytes_b[..read_b] {
            return false;
        }
        if read_a < PIECE {
            return true;
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Stops one byte past the largest document, and at the first piece of a device that can be no text: it may be endless.
fn read_bounded(mut input: impl Read, expected: usize) -> io::Result<Vec<u8>> {
    const PIECE: usize = 1 << 20;
    let mut bytes = Vec::with_capacity(expected);
    loop {
        let before = bytes.len();
        let piece = PIECE.max(expected.saturating_sub(before));
        input.by_ref().take(piece as u64).read_to_end(&mut bytes)?;
        let is_over = bytes.len() > limits::DOCUMENT_BYTES || (expected == 0 && is_no_text(&bytes[before..]));
        if bytes.len() == before || is_over {
            return Ok(bytes);
        }
    }
}

/// Whether bytes are not text with a broken line here or there, but something else.
fn is_no_text(bytes: &[u8]) -> bool {
    let nuls = bytes.iter().filter(|byte| **byte == 0).count();
    let is_broken = || bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).take(nuls + 2).count() > nuls;
    nuls > 0 && (nuls > bytes.len() / 100 || is_broken())
}
