//! Text that is not held: it lies in a file, and is read again where it is looked at.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::text::Piece;

/// A file that text is left in. It has to stay as it is; what could not be read again is remembered, and whoever shows
/// anything of what was read asks for that with [`Store::check`].
pub struct Store {
    file: Mutex<Box<dyn Source>>,
    failed: OnceLock<io::Error>,
}

/// What can be read at any place, from any thread.
trait Source: Read + Seek + Send {}

impl<T: Read + Seek + Send> Source for T {}

impl Store {
    /// A store over a file.
    pub fn new(file: impl Read + Seek + Send + 'static) -> Self {
        Store { file: Mutex::new(Box::new(file)), failed: OnceLock::new() }
    }

    /// # Errors
    /// The first thing that could not be read again; the text that was to be there was taken for empty.
    pub fn check(&self) -> io::Result<()> {
        match self.failed.get() {
            None => Ok(()),
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    fn read(&self, place: u64, len: usize) -> String {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::with_capacity(len);
        let read =
            file.seek(SeekFrom::Start(place)).and_then(|_| (&mut *file).take(len as u64).read_to_string(&mut text));
        let changed = || io::Error::other("it changed while it was read");
        match read.and_then(|read| if read == len { Ok(()) } else { Err(changed()) }) {
            Ok(()) => text,
            Err(error) => {
                let _ = self.failed.set(error);
                String::new()
            }
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// A stretch of a file that holds text.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    pub(crate) store: &'a Store,
    /// Its first byte in the file.
    pub(crate) place: u64,
    /// Its length in the file in bytes.
    pub(crate) len: usize,
    pub(crate) form: Form,
    /// A hash of its bytes in the file: what differs in it differs.
    pub(crate) hash: u64,
}

/// How text is written where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The inside of a JSON string that is escaped just as the canonical stream escapes.
    Escaped,
    /// Lines of a literal block scalar in YAML, each behind so many spaces.
    Block {
        /// In bytes.
        indent: usize,
    },
}

impl Stored<'_> {
    /// The text itself.
    pub(crate) fn load(&self) -> Piece<'static> {
        let text = self.store.read(self.place, self.len);
        match self.form {
            Form::Escaped => Piece::Escaped(Cow::Owned(text)),
            Form::Block { indent } => Piece::Plain(Cow::Owned(without_indent(&text, indent))),
        }
    }

    /// Whether it is known, without looking at it, to be another text than `other`.
    pub(super) fn surely_differs(&self, other: &Stored<'_>) -> bool {
        self.form == other.form && (self.len, self.hash) != (other.len, other.hash)
    }
}

/// Lines without their indentation; a line that is shorter is an empty one.
fn without_indent(block: &str, indent: usize) -> String {
    let mut text = String::with_capacity(block.len());
    for line in block.split_inclusive('\n') {
        let is_short = line.len() <= indent;
        text.push_str(if is_short { line.trim_start_matches(' ') } else { &line[indent..] });
    }
    text
}

/// Equal bytes: where the hashes are equal too, they are read.
impl PartialEq for Stored<'_> {
    fn eq(&self, other: &Self) -> bool {
        !self.surely_differs(other) && self.load() == other.load()
    }
}

impl Eq for Stored<'_> {}
