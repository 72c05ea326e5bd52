//! Text that is not held: it lies in a file, and is read again where it is looked at.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZeroU64;
use std::sync::{Mutex, OnceLock, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::text::Piece;

/// A file that text is left in. It has to stay as it is; what could not be read again is remembered, and whoever shows
/// anything of what was read asks for that with [`Store::check`].
pub struct Store {
    opened: Mutex<Opened>,
    failed: OnceLock<io::Error>,
}

struct Opened {
    file: Box<dyn Source>,
    /// For what is read, again and again.
    bytes: Vec<u8>,
}

/// What can be read at any place, from any thread.
trait Source: Read + Seek + Send {}

impl<T: Read + Seek + Send> Source for T {}

impl Store {
    /// A store over a file.
    pub fn new(file: impl Read + Seek + Send + 'static) -> Self {
        let opened = Opened { file: Box::new(file), bytes: Vec::new() };
        Store { opened: Mutex::new(opened), failed: OnceLock::new() }
    }

    /// # Errors
    /// The first thing that could not be read again; the text that was to be there was taken for empty.
    pub fn check(&self) -> io::Result<()> {
        match self.failed.get() {
            None => Ok(()),
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    /// What `take` makes of a stretch of text; of none, where it cannot be read.
    fn read<T>(&self, place: u64, len: usize, take: impl FnOnce(&str) -> T) -> T {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let Opened { file, bytes } = &mut *opened;
        if bytes.len() < len {
            bytes.resize(len, 0);
        }
        let bytes = &mut bytes[..len];
        let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(bytes));
        let text = read.and_then(|()| {
            simdutf8::basic::from_utf8(bytes).map_err(|_| io::Error::other("it changed while it was read"))
        });
        take(text.unwrap_or_else(|error| {
            let _ = self.failed.set(error);
            ""
        }))
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
    store: &'a Store,
    /// A hash of its bytes in the file, where it is to be compared: what differs in it differs.
    hash: Option<NonZeroU64>,
    /// Its first byte in the file.
    place: u32,
    /// Its length in the file in bytes.
    len: u32,
    form: Form,
}

/// How text is written where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The inside of a JSON string that is escaped just as the canonical stream escapes.
    Escaped,
    /// Lines of a literal block scalar in YAML, each behind so many spaces.
    Block {
        /// In bytes.
        indent: u16,
    },
}

impl<'a> Stored<'a> {
    /// A stretch of text that begins at byte `place` of the file; `raw` is what stands there. None where it lies behind
    /// all that is read of a file.
    pub(crate) fn new(store: &'a Store, place: u64, raw: &[u8], form: Form, hashed: bool) -> Option<Self> {
        let (place, len) = (u32::try_from(place).ok()?, u32::try_from(raw.len()).ok()?);
        let hash = if hashed { NonZeroU64::new(xxh3_64(raw)) } else { None };
        Some(Stored { store, hash, place, len, form })
    }

    /// The text itself.
    pub(crate) fn load(&self) -> Piece<'static> {
        self.store.read(u64::from(self.place), self.len as usize, |text| match self.form {
            Form::Escaped => Piece::Escaped(Cow::Owned(text.to_owned())),
            Form::Block { indent } => Piece::Plain(Cow::Owned(without_indent(text, usize::from(indent)))),
        })
    }

    /// Whether it is known, without looking at it, to be another text than `other`.
    pub(super) fn surely_differs(&self, other: &Stored<'_>) -> bool {
        let differs = self.hash.zip(other.hash).is_some_and(|(own, other)| own != other);
        self.form == other.form && (self.len != other.len || differs)
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
