//! The lines of a literal block scalar, found without a parser.

use crate::context::masks::{BLOCK, Block, continuations, from_bit, spaces_at};

/// A stretch of such lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// Where the last of them that is not blank ends, before its line break: as far as it is in sight.
    pub end: usize,
    /// Whether no further line can belong to them.
    pub is_whole: bool,
    /// Bytes of indentation.
    pub indentation: usize,
    /// Bytes of UTF-8 that begin no character.
    pub continuations: usize,
}

/// Goes on in a line at `at`, behind its indentation.
pub(super) fn lines(bytes: &[u8], at: usize, indent: usize, is_last: bool) -> Lines {
    let (end, is_whole, indentation) = ends(bytes, at, indent, is_last);
    Lines { end, is_whole, indentation, continuations: continuations(&bytes[at..end]) }
}

/// Where the lines end, whether it is known that there are no more, and the bytes of their indentation.
fn ends(bytes: &[u8], at: usize, indent: usize, is_last: bool) -> (usize, bool, usize) {
    let (mut line, mut indentation) = (at, 0);
    for start in (at..bytes.len()).step_by(BLOCK) {
        let mut breaks = Block::at(bytes, start).equal(b'\n') & from_bit(line.saturating_sub(start));
        while breaks != 0 {
            let end = start + breaks.trailing_zeros() as usize;
            match next_line(bytes, end + 1, indent, is_last) {
                Next::Line { at, spaces } => {
                    line = at;
                    indentation += spaces;
                    breaks &= from_bit(line - start);
                }
                Next::None => return (end, true, indentation),
                Next::Unseen => return (end, false, indentation),
            }
        }
    }
    (bytes.len(), is_last, indentation)
}

enum Next {
    /// The next line that is not blank goes on at `at`, behind so many spaces of its own and of blank lines.
    Line { at: usize, spaces: usize },
    /// There is none that belongs to the block.
    None,
    /// It is not in sight.
    Unseen,
}

#[inline(always)]
fn next_line(bytes: &[u8], mut at: usize, indent: usize, is_last: bool) -> Next {
    let mut all = 0;
    loop {
        let spaces = spaces_at(bytes, at, indent);
        all += spaces;
        at += spaces;
        match bytes.get(at) {
            None if is_last => return Next::None,
            None => return Next::Unseen,
            // Blank: it belongs to the block if a line behind it does.
            Some(b'\n') => at += 1,
            Some(_) if spaces == indent => return Next::Line { at, spaces: all },
            Some(_) => return Next::None,
        }
    }
}
