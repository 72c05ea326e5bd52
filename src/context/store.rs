//! Text that is not held: it lies in a file, and is read again where it is looked at.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::num::NonZeroU64;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::escape::Escaper;
use super::text::Piece;

/// A file that text is left in. It has to stay as it is; what could not be read again is remembered, and whoever shows
/// anything of what was read asks for that with [`Store::check`].
pub struct Store {
    reader: Mutex<Reader>,
    failed: OnceLock<io::Error>,
}

/// What can be read at any place, from any thread.
trait Source: Read + Seek + Send {}

impl<T: Read + Seek + Send> Source for T {}

impl Store {
    /// A store over a file.
    pub fn new(file: impl Read + Seek + Send + 'static) -> Self {
        let reader = Reader {
            file: Box::new(file),
            bytes: Vec::new(),
            place: 0,
            front: 0,
            len: 0,
            room: Vec::new(),
            gathered: Vec::new(),
        };
        Store { reader: Mutex::new(reader), failed: OnceLock::new() }
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
        let mut reader = self.reader();
        let mut gathered = std::mem::take(&mut reader.gathered);
        gathered.clear();
        while gathered.len() < len
            && let Some(piece) = self.seen(reader.piece(place + gathered.len() as u64, len - gathered.len()))
        {
            gathered.extend_from_slice(piece);
        }
        // Others may read while it is looked at.
        drop(reader);
        let text = simdutf8::basic::from_utf8(&gathered).ok().filter(|text| text.len() == len);
        let taken = take(text.unwrap_or_else(|| {
            self.seen(Err::<(), _>(changed()));
            ""
        }));
        self.reader().gathered = gathered;
        taken
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read; what went wrong is remembered.
    fn seen<T>(&self, read: io::Result<T>) -> Option<T> {
        read.map_err(|error| self.failed.set(error)).ok()
    }
}

fn changed() -> io::Error {
    io::Error::other("it changed while it was read")
}

/// A file with a stretch of it in sight: most of what is asked for lies close behind what was asked for before.
struct Reader {
    file: Box<dyn Source>,
    bytes: Vec<u8>,
    /// Where in the file the stretch begins, where in `bytes`, and its length.
    place: u64,
    front: usize,
    len: usize,
    /// Where text is escaped.
    room: Vec<u8>,
    /// Where a text is put together.
    gathered: Vec<u8>,
}

impl Reader {
    const AHEAD: usize = 128 << 10;
    /// What is asked for further behind than this is not read ahead of: it may be anywhere.
    const NEAR: u64 = 16 << 10;
    const PAGE: usize = 4096;

    /// What stands at a place in the file, as much of it as is in sight.
    fn piece(&mut self, place: u64, at_most: usize) -> io::Result<&[u8]> {
        if !(self.place..self.place + self.len as u64).contains(&place) {
            self.read_at(place, at_most)?;
        }
        let from = (place - self.place) as usize;
        let taken = at_most.min(self.len - from);
        Ok(&self.bytes[self.front + from..self.front + from + taken])
    }

    fn read_at(&mut self, place: u64, len: usize) -> io::Result<()> {
        let end = self.place + self.len as u64;
        let wanted = if place >= end && place - end < Self::NEAR { Self::AHEAD } else { len.min(Self::AHEAD) };
        if self.bytes.len() < Self::PAGE + wanted {
            self.bytes = vec![0; Self::PAGE + wanted];
        }
        // Reads go to the start of a page, which is faster.
        self.front = self.bytes.as_ptr().addr().next_multiple_of(Self::PAGE) - self.bytes.as_ptr().addr();
        (self.place, self.len) = (place, 0);
        self.file.seek(SeekFrom::Start(place))?;
        while self.len < wanted {
            match self.file.read(&mut self.bytes[self.front + self.len..self.front + wanted]) {
                Ok(0) if self.len == 0 => return Err(changed()),
                Ok(0) => break,
                Ok(read) => self.len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
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
    /// A stretch of `len` bytes from byte `place` of a file on, with a hash of them where it is to be compared. None
    /// where it lies behind all that is read of a file.
    pub(crate) fn new(store: &'a Store, place: u64, len: usize, form: Form, hash: Option<u64>) -> Option<Self> {
        let (place, len) = (u32::try_from(place).ok()?, u32::try_from(len).ok()?);
        Some(Stored { store, hash: hash.and_then(NonZeroU64::new), place, len, form })
    }

    /// Writes the text as the inside of a JSON string, without holding it.
    pub(super) fn write_escaped<W: Write>(&self, out: &mut W) -> io::Result<()> {
        /// A piece that a buffer of 64 KiB passes on as it is.
        const ROOM: usize = 80 << 10;
        let mut reader = self.store.reader();
        let mut escaper = match self.form {
            Form::Escaped => None,
            Form::Block { indent } => {
                let room = std::mem::take(&mut reader.room);
                let room = if room.is_empty() { vec![0; ROOM] } else { room };
                Some(Escaper::new(room, usize::from(indent)))
            }
        };
        let (len, mut at) = (self.len as usize, 0);
        while at < len
            && let Some(piece) = self.store.seen(reader.piece(u64::from(self.place) + at as u64, len - at))
        {
            match &mut escaper {
                None => out.write_all(piece)?,
                Some(escaper) => escaper.push(piece, out)?,
            }
            at += piece.len();
        }
        if let Some(escaper) = escaper {
            reader.room = escaper.finish(out)?;
        }
        Ok(())
    }

    /// The text itself.
    pub(crate) fn load(&self) -> Piece<'static> {
        self.store.read(u64::from(self.place), self.len as usize, |text| match self.form {
            Form::Escaped => Piece::Escaped(Cow::Owned(text.to_owned())),
            Form::Block { indent } => Piece::Plain(Cow::Owned(without_indent(text, usize::from(indent)))),
        })
    }

    /// Appends the text as it is spelled; whether that is escaped.
    pub(super) fn push_spelled(&self, spelled: &mut String) -> bool {
        self.store.read(u64::from(self.place), self.len as usize, |text| match self.form {
            Form::Escaped => {
                spelled.push_str(text);
                true
            }
            Form::Block { indent } => {
                spelled.push_str(&without_indent(text, usize::from(indent)));
                false
            }
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
