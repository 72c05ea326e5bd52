//! The inside of a JSON string in one pass: where it ends, how it is escaped, how many characters it holds.
//!
//! Sixty-four bytes at a time: what matters in them becomes four masks of one bit a byte, and only the bits are walked.

use wide::u8x16;

use super::escape::{StringFault, canonical_escape, escape_len};

/// What one pass over the inside of a JSON string tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    /// Bytes before the closing quote.
    pub len: usize,
    /// Bytes that escapes take more than one each.
    pub saved: usize,
    /// Characters of the decoded text.
    pub chars: usize,
    /// Whether every escape is spelled as the canonical stream spells it.
    pub is_canonical: bool,
}

const BLOCK: usize = 64;

/// One bit a byte of a block.
#[derive(Clone, Copy, Default)]
struct Masks {
    quotes: u64,
    backslashes: u64,
    controls: u64,
    /// Bytes of UTF-8 that begin no character.
    continuations: u64,
}

impl Masks {
    fn of(block: &[u8; BLOCK]) -> Self {
        const LANES: usize = 16;
        let mut masks = Masks::default();
        for (part, bytes) in block.as_chunks::<LANES>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            let equal = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
            let up_to = |byte: u8| bytes.min(u8x16::splat(byte)).simd_eq(bytes);
            let from = |byte: u8| bytes.max(u8x16::splat(byte)).simd_eq(bytes);
            let bits = |lanes: u8x16| u64::from(lanes.to_bitmask()) << (part * LANES);
            masks.quotes |= bits(equal(b'"'));
            masks.backslashes |= bits(equal(b'\\'));
            masks.controls |= bits(up_to(0x1f));
            masks.continuations |= bits(from(0x80) & up_to(0xbf));
        }
        masks
    }
}

/// The bits from `at` on.
fn from_bit(at: usize) -> u64 {
    u32::try_from(at).ok().and_then(|at| u64::MAX.checked_shl(at)).unwrap_or(0)
}

/// Scans the inside of a JSON string up to its closing quote; `rest` begins behind the opening one.
pub(super) fn scan(rest: &[u8]) -> Result<Scanned, StringFault> {
    let (mut saved, mut continuations) = (0, 0);
    let (mut is_canonical, mut has_control) = (true, false);
    // Bytes of the block that belong to an escape which began in the one before.
    let mut taken = 0;
    let mut start = 0;
    while start < rest.len() {
        let mut tail = [b' '; BLOCK];
        let block = match rest[start..].first_chunk() {
            Some(block) => block,
            None => {
                tail[..rest.len() - start].copy_from_slice(&rest[start..]);
                &tail
            }
        };
        let masks = Masks::of(block);
        loop {
            let live = from_bit(taken);
            let quote = (masks.quotes & live).trailing_zeros() as usize;
            let backslash = (masks.backslashes & live).trailing_zeros() as usize;
            if quote < backslash {
                let inside = !from_bit(quote);
                continuations += (masks.continuations & inside).count_ones() as usize;
                let len = start + quote;
                if has_control || masks.controls & inside != 0 {
                    let is_control = |byte: &u8| *byte < 0x20;
                    return Err(StringFault::Control(rest[..len].iter().position(is_control).unwrap_or(0)));
                }
                return Ok(Scanned { len, saved, chars: len - saved - continuations, is_canonical });
            }
            if backslash == BLOCK {
                taken = taken.saturating_sub(BLOCK);
                break;
            }
            let at = start + backslash;
            let mut len = canonical_escape(&rest[at..]);
            if len == 0 {
                is_canonical = false;
                len = escape_len(&rest[at..]).ok_or(StringFault::Escape(at))?;
            }
            saved += len - 1;
            taken = backslash + len;
        }
        has_control |= masks.controls != 0;
        continuations += masks.continuations.count_ones() as usize;
        start += BLOCK;
    }
    Err(StringFault::Unterminated)
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
