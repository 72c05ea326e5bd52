//! Requests too large to hold: read in windows, assembled step by step, written from the file.
//!
//! There are two doors, and one for `check`, which compares with a golden meanwhile. [`render`] is the fast way from a request in JSON to its canonical stream: it goes through the
//! file once to check and assemble all of it, measuring and hashing on the way, and keeps of every message only where its
//! text lies in the file. Nothing can be written before that is done, so nothing is ever written of a request that is
//! invalid; then the stream is put together from the file's own bytes ([`Rendered::write`]). [`outline`] gives what
//! [`read`](crate::read::read) gives, of a request in JSON or YAML and of a canonical stream, with all large texts left
//! in the file until they are looked at; what is done with the document then is done as ever.
//!
//! It has no rules of its own: what a step is, is checked for and gives is what [`read`](crate::read),
//! [`RunRequest`](crate::RunRequest) and [`assemble`](crate::assemble()) say. What it cannot do, it leaves to them:
//! whatever is wrong with a document, documents of other kinds, and what is mostly not large texts.

mod digest;
mod keep;
mod prove;
mod recipe;
mod walk;
mod window;

use std::io::{self, Read, Seek, Write};

use crate::context::{Context, Message};
use crate::measure::{self, Size};
use digest::{Digester, Pending};
pub use keep::{Kept, Outline, outline, sign};
pub(crate) use prove::prove;
use recipe::Recipe;
use walk::{Sink, Walk};

/// How a file is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Assemble the first completed steps only; all are checked.
    pub steps: Option<usize>,
    /// Whether the digest is wanted.
    pub digest: bool,
    /// Whether messages that are kept are to be compared with others.
    pub fingerprints: bool,
    /// Whether a second thread may be started to hash.
    pub own_thread: bool,
    /// How the file is cut.
    pub sizes: Sizes,
}

impl Default for Options {
    fn default() -> Self {
        Options { steps: None, digest: false, fingerprints: true, own_thread: true, sizes: Sizes::default() }
    }
}

impl Options {
    fn walk(self) -> Walk {
        Walk { assembled: self.steps.unwrap_or(usize::MAX), window: self.sizes.window }
    }

    fn digester(self) -> Option<Digester> {
        self.digest.then(|| Digester::new(self.own_thread))
    }
}

/// How a file is cut, in bytes. What is found in it does not depend on that.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// How much of it is read at once.
    pub window: usize,
    /// The shortest text that is left in it, where text is left there.
    pub shortest: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { window: 256 << 10, shortest: 256 }
    }
}

/// A request that was rendered: its sizes, and how its canonical stream is put together from the file.
pub struct Rendered {
    /// The document without its steps: a request of its own, from which the rest of a report can be made.
    pub head: String,
    /// Number of steps in the document.
    pub steps: usize,
    /// Size of all messages.
    pub size: Size,
    steps_at: Option<u64>,
    recipe: Option<Recipe>,
    digest: Option<Pending>,
    walk: Walk,
}

/// Goes through a request in JSON. `None` says nothing of it but that it has to be read whole: it may be invalid, or a
/// document of another kind.
pub fn render<R: Read + Seek>(file: &mut R, options: Options) -> Option<Rendered> {
    let walk = options.walk();
    let walked = walk.through(file, || Scan {
        size: Size::default(),
        recipe: Some(Recipe::default()),
        digester: options.digester(),
    })?;
    let Scan { size, recipe, digester } = walked.sink;
    let digest = digester.map(Digester::finish);
    Some(Rendered { head: walked.head, steps: walked.steps, size, steps_at: walked.steps_at, recipe, digest, walk })
}

impl Rendered {
    /// Writes the canonical stream; the file is read again, and has to be unchanged.
    ///
    /// # Errors
    /// Those of the writer, and of a file that cannot be read as before.
    pub fn write<R: Read + Seek, W: Write>(&self, file: &mut R, out: &mut W) -> io::Result<()> {
        if let Some(recipe) = &self.recipe {
            return recipe.write(file, out);
        }
        let mut failed = None;
        let copy = Copy { out, failed: &mut failed };
        let is_whole = self.walk.again(file, &self.head, self.steps_at, copy).is_some();
        match failed {
            Some(error) => Err(error),
            None if is_whole => Ok(()),
            None => Err(io::Error::other("it changed while it was read")),
        }
    }

    /// `sha256:` and hex of the canonical stream, where it was asked for; waits for it to be ready.
    pub fn digest(&mut self) -> Option<String> {
        self.digest.take().map(Pending::wait)
    }
}

/// Writes a context's canonical stream, and gives its digest (`sha256:` and hex), hashed meanwhile on a thread of its own
/// where that is allowed.
///
/// # Errors
/// Those of the writer.
pub fn write<W: Write>(context: &Context<'_>, out: W, own_thread: bool) -> io::Result<String> {
    let mut both = Both { digester: Digester::new(own_thread), out };
    context.write_canonical(&mut both)?;
    Ok(both.digester.finish().wait())
}

/// Hashes what it passes on.
struct Both<W> {
    digester: Digester,
    out: W,
}

impl<W: Write> Write for Both<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.digester.write_all(bytes)?;
        self.out.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Some text, and where in the file it lies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place<'t> {
    /// The text.
    pub text: &'t str,
    /// Its first byte in the file.
    pub start: u64,
}

impl Place<'_> {
    /// Where in the file some bytes lie, if they are part of the text itself.
    fn of(&self, bytes: &[u8]) -> Option<u64> {
        let inside = bytes.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        (!bytes.is_empty() && inside + bytes.len() <= self.text.len()).then_some(self.start + inside as u64)
    }
}

/// Measures what is assembled, hashes it, and notes where it came from.
struct Scan {
    size: Size,
    recipe: Option<Recipe>,
    digester: Option<Digester>,
}

impl Scan {
    fn put(&mut self, place: Place<'_>, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Option<()> {
        if let Some(digester) = &mut self.digester {
            write(digester).ok()?;
        }
        if let Some(recipe) = &mut self.recipe {
            write(&mut recipe.at(place)).ok()?;
            if recipe.is_too_large() {
                self.recipe = None;
            }
        }
        Some(())
    }
}

impl Sink for Scan {
    fn begin(&mut self, context: &Context<'_>) -> Option<()> {
        self.size += measure::context(context);
        self.put(Place { text: "", start: 0 }, |mut out| context.write_canonical(&mut out))
    }

    fn message(&mut self, message: &Message<'_>, place: Place<'_>) -> Option<()> {
        self.size += measure::message(message);
        self.put(place, |mut out| message.write_canonical(&mut out))
    }
}

/// Writes what is assembled.
struct Copy<'w, W> {
    out: &'w mut W,
    failed: &'w mut Option<io::Error>,
}

impl<W: Write> Sink for Copy<'_, W> {
    fn begin(&mut self, context: &Context<'_>) -> Option<()> {
        context.write_canonical(self.out).map_err(|error| *self.failed = Some(error)).ok()
    }

    fn message(&mut self, message: &Message<'_>, _: Place<'_>) -> Option<()> {
        message.write_canonical(self.out).map_err(|error| *self.failed = Some(error)).ok()
    }
}
