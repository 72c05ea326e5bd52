//! The inside of a JSON string in one pass: where it ends, how it is escaped, how many characters it holds.

use super::escape::{StringFault, canonical_escape, escape_len};
use super::masks::{BLOCK, Block};

/// What one pass over the inside of a JSON string tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// Bytes before the closing quote.
    pub len: usize,
    /// Bytes that escapes take more than one each.
    pub saved: usize,
    /// Characters of the decoded text.
    pub chars: usize,
    /// Whether every escape is spelled as the canonical stream spells it.
    pub is_canonical: bool,
}

/// One bit a byte of a block.
struct Masks {
    quotes: u64,
    backslashes: u64,
    /// The letter `n`, which most escapes are made with.
    letters_n: u64,
    controls: u64,
    /// Bytes of UTF-8 that begin no character.
    continuations: u64,
}

impl Masks {
    #[inline(always)]
    fn of(block: Block) -> Self {
        Masks {
            quotes: block.equal(b'"'),
            backslashes: block.equal(b'\\'),
            letters_n: block.equal(b'n'),
            controls: block.up_to(0x1f),
            continuations: block.continuations(),
        }
    }

    /// The bytes that a backslash stands before which is not escaped itself: of a row of backslashes every second one,
    /// and what follows a row of an odd number. `carry` is whether the first byte is one of them, and then whether the
    /// first of the next block is.
    fn escaped(&self, carry: &mut bool) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let first = u64::from(*carry);
        let backslashes = self.backslashes & !first;
        let behind = backslashes << 1 | first;
        // Adding the starts of rows at odd places to the rows themselves turns those rows, and no others, over.
        let odd_starts = backslashes & !EVEN & !behind;
        let (rows_at_even, overflow) = odd_starts.overflowing_add(backslashes);
        *carry = overflow;
        (EVEN ^ rows_at_even << 1) & behind
    }
}

/// Scans the inside of a JSON string up to its closing quote; `rest` begins behind the opening one.
pub(crate) fn scan(rest: &[u8]) -> Result<Scanned, StringFault> {
    let (mut saved, mut continuations) = (0, 0);
    let (mut is_canonical, mut has_control) = (true, false);
    let mut carry = false;
    for start in (0..rest.len()).step_by(BLOCK) {
        let masks = Masks::of(Block::at(rest, start));
        let escaped = masks.escaped(&mut carry);
        let end = masks.quotes & !escaped;
        // All bits below the lowest; where there is none, all.
        let inside = end.wrapping_sub(1) & !end;
        let short = escaped & inside & (masks.letters_n | masks.quotes | masks.backslashes);
        saved += short.count_ones() as usize;
        let mut others = escaped & inside & !short;
        while others != 0 {
            let behind = start + others.trailing_zeros() as usize;
            others &= others - 1;
            let at = behind - 1;
            let mut len = canonical_escape(&rest[at..]);
            if len == 0 {
                is_canonical = false;
                len = escape_len(&rest[at..]).ok_or(StringFault::Escape(at))?;
            }
            saved += len - 1;
        }
        has_control |= masks.controls & inside != 0;
        // Text that is all ASCII, or nearly so, goes without counting.
        if masks.continuations != 0 {
            continuations += (masks.continuations & inside).count_ones() as usize;
        }
        if end != 0 {
            let len = start + end.trailing_zeros() as usize;
            if has_control {
                let is_control = |byte: &u8| *byte < 0x20;
                return Err(StringFault::Control(rest[..len].iter().position(is_control).unwrap_or(0)));
            }
            return Ok(Scanned { len, saved, chars: len - saved - continuations, is_canonical });
        }
    }
    // The last byte is a backslash.
    if carry { Err(StringFault::Escape(rest.len() - 1)) } else { Err(StringFault::Unterminated) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, a byte at a time.
    fn plainly(rest: &[u8]) -> Result<Scanned, StringFault> {
        let (mut at, mut saved, mut is_canonical) = (0, 0, true);
        loop {
            match rest.get(at) {
                None => return Err(StringFault::Unterminated),
                Some(b'"') => break,
                Some(b'\\') => {
                    is_canonical &= canonical_escape(&rest[at..]) > 0;
                    let len = escape_len(&rest[at..]).ok_or(StringFault::Escape(at))?;
                    saved += len - 1;
                    at += len;
                }
                Some(_) => at += 1,
            }
        }
        if let Some(control) = rest[..at].iter().position(|byte| *byte < 0x20) {
            return Err(StringFault::Control(control));
        }
        let starts = rest[..at].iter().filter(|byte| (**byte as i8) >= -64).count();
        Ok(Scanned { len: at, saved, chars: starts - saved, is_canonical })
    }

    #[test]
    fn every_place_in_a_block_is_seen() {
        let pieces = ["\"", "\\n", "\\u001b", "\\u001B", "\\\"", "\\\\", "\\/", "\\x", "\\u12", "\n", "é", "😀", "\\"];
        for piece in pieces {
            for before in 0..2 * BLOCK + 2 {
                for behind in ["\"", "", "\\\\\"", "abc\" tail"] {
                    let text = format!("{}{piece}{behind}", "a".repeat(before));
                    assert_eq!(scan(text.as_bytes()), plainly(text.as_bytes()), "{text:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn blocks_tell_what_bytes_tell(text in r#"([a-z ]{0,9}|\\[nt"\\/u]|\\u00[01][0-9a-fA-F]|["\n\u{7f}é漢😀]){0,60}"#) {
            prop_assert_eq!(scan(text.as_bytes()), plainly(text.as_bytes()));
        }
    }
}
