//! A file piece by piece, checked to be text that YAML takes as it stands.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::channel;
use std::thread;

use super::limits;
use crate::context::masks::{BLOCK, Block, Tally};

/// Some of a file, cut between two characters.
pub(super) struct Piece {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether the file ends where it does.
    pub is_last: bool,
}

impl Piece {
    /// Room for what was left over of the piece before.
    const FRONT: usize = 4096;

    fn of_size(size: usize) -> Self {
        Piece { bytes: vec![0; 2 * Self::FRONT + size], start: 0, end: 0, is_last: false }
    }

    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Puts what was left over before it.
    fn put_before(&mut self, rest: &[u8]) {
        if rest.len() <= self.start {
            self.start -= rest.len();
            self.bytes[self.start..self.start + rest.len()].copy_from_slice(rest);
        } else {
            self.bytes = [rest, self.bytes()].concat();
            (self.start, self.end) = (0, self.bytes.len());
        }
    }
}

/// What reads and checks pieces.
struct Reader<R> {
    file: R,
    size: usize,
    /// The start of a character that was cut in two.
    cut: Vec<u8>,
    /// How much has been read, in bytes.
    read: usize,
}

impl<R: Read> Reader<R> {
    /// Reads on. `None` is what cannot be read, what is no text, and what YAML takes in no place or for a line break of
    /// another kind.
    fn fill(&mut self, piece: &mut Piece) -> Option<()> {
        if piece.bytes.len() != 2 * Piece::FRONT + self.size {
            *piece = Piece::of_size(self.size);
        }
        // Reads go to the start of a page, which is faster.
        let address = piece.bytes.as_ptr().addr();
        let front = (address + Piece::FRONT).next_multiple_of(Piece::FRONT) - address;
        piece.start = front - self.cut.len();
        piece.bytes[piece.start..front].copy_from_slice(&self.cut);
        piece.end = front;
        piece.is_last = false;
        while piece.end < front + self.size && !piece.is_last {
            match self.file.read(&mut piece.bytes[piece.end..front + self.size]) {
                Ok(0) => piece.is_last = true,
                Ok(read) => piece.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        self.read += piece.end - front;
        if self.read > limits::DOCUMENT_BYTES {
            return None;
        }
        let whole = if piece.is_last { piece.bytes().len() } else { whole_chars(piece.bytes()) };
        self.cut = piece.bytes()[whole..].to_vec();
        piece.end = piece.start + whole;
        let is_text = simdutf8::basic::from_utf8(piece.bytes()).is_ok();
        (is_text && !holds_refused(piece.bytes())).then_some(())
    }
}

/// Shows a file piece by piece: `take` is given what it left over and what follows that, and says how much it used.
/// Where a thread may be started, reading and checking go on beside it. `None` is what either gives up on.
pub(super) fn each<R: Read + Send>(
    file: R,
    size: usize,
    own_thread: bool,
    take: impl FnMut(&Piece) -> Option<usize>,
) -> Option<()> {
    let mut reader = Reader { file, size, cut: Vec::new(), read: 0 };
    let mut first = Piece::of_size(size);
    reader.fill(&mut first)?;
    if first.is_last || !own_thread {
        return show(first, take, |spare| {
            let mut piece = spare.unwrap_or_else(|| Piece::of_size(size));
            reader.fill(&mut piece).map(|()| piece)
        });
    }
    let (full, filled) = channel();
    let (back, spares) = channel();
    thread::scope(|scope| {
        let read_all = move || {
            for mut piece in spares {
                if reader.fill(&mut piece).is_none() || full.send(piece).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("read".to_owned()).spawn_scoped(scope, read_all).ok()?;
        // One is read while one waits and one is looked at.
        (0..2).try_for_each(|_| back.send(Piece::of_size(size))).ok()?;
        show(first, take, move |spare| {
            // Behind the end of the file nobody asks for it.
            spare.map(|spare| back.send(spare));
            filled.recv().ok()
        })
    })
}

fn show(
    mut piece: Piece,
    mut take: impl FnMut(&Piece) -> Option<usize>,
    mut next: impl FnMut(Option<Piece>) -> Option<Piece>,
) -> Option<()> {
    let mut spare = None;
    loop {
        let used = take(&piece)?;
        if piece.is_last {
            return Some(());
        }
        let mut following = next(spare.take())?;
        following.put_before(&piece.bytes()[used..]);
        spare = Some(std::mem::replace(&mut piece, following));
    }
}

/// Whether there is a character that YAML takes nowhere, or a carriage return.
fn holds_refused(text: &[u8]) -> bool {
    const AT_ONCE: usize = 16 << 10;
    (0..text.len()).step_by(AT_ONCE).any(|start| {
        let end = text.len().min(start + AT_ONCE);
        let mut tally = Tally::default();
        (start..end).step_by(BLOCK).for_each(|at| tally.add(Block::at(text, at)));
        let is_refused = |at| is_refused(&text[start + at..]);
        tally.has_control()
            || tally.has_suspect() && memchr::memchr2_iter(0xc2, 0xef, &text[start..end]).any(is_refused)
    })
}

/// Whether text begins with a character above U+007F that YAML refuses: one of C1 but U+0085, U+FFFE, U+FFFF.
fn is_refused(text: &[u8]) -> bool {
    matches!(text, [0xc2, 0x80..=0x84 | 0x86..=0x9f, ..] | [0xef, 0xbf, 0xbe | 0xbf, ..])
}

/// The length without a character that is cut off at the end.
pub(crate) fn whole_chars(bytes: &[u8]) -> usize {
    let begins = |byte: &u8| (*byte as i8) >= -64;
    let Some(behind) = bytes.iter().rev().take(4).position(begins) else { return bytes.len() };
    let at = bytes.len() - 1 - behind;
    let len = match bytes[at] {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    if behind + 1 < len { at } else { bytes.len() }
}
