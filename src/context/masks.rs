//! Sixty-four bytes at a time: what matters in them becomes masks of one bit a byte, and only the bits are walked.

use wide::u8x16;

/// How many bytes are looked at together.
pub(crate) const BLOCK: usize = 64;

const LANES: usize = 16;

/// A block of bytes that questions can be asked of.
#[derive(Clone, Copy)]
pub(crate) struct Block([u8x16; BLOCK / LANES]);

impl Block {
    /// The bytes from `at` on; behind their end stand spaces, which no mask shows unless it asks for them.
    #[inline(always)]
    pub fn at(bytes: &[u8], at: usize) -> Self {
        let rest = &bytes[at..];
        match rest.first_chunk() {
            Some(block) => Block::of(block),
            None => {
                let mut tail = [b' '; BLOCK];
                tail[..rest.len()].copy_from_slice(rest);
                Block::of(&tail)
            }
        }
    }

    #[inline(always)]
    fn of(bytes: &[u8; BLOCK]) -> Self {
        let mut lanes = [u8x16::default(); BLOCK / LANES];
        for (lanes, bytes) in lanes.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
            *lanes = u8x16::new(*bytes);
        }
        Block(lanes)
    }

    #[inline(always)]
    fn mask(self, test: impl Fn(u8x16) -> u8x16) -> u64 {
        let bits = |part: usize| u64::from(test(self.0[part]).to_bitmask()) << (part * LANES);
        bits(0) | bits(1) | bits(2) | bits(3)
    }

    /// Which bytes are this one.
    #[inline(always)]
    pub fn equal(self, byte: u8) -> u64 {
        self.mask(|lanes| lanes.simd_eq(u8x16::splat(byte)))
    }

    /// Which bytes are no larger.
    #[inline(always)]
    pub fn up_to(self, byte: u8) -> u64 {
        self.mask(|lanes| lanes.min(u8x16::splat(byte)).simd_eq(lanes))
    }

    /// Which bytes the canonical stream escapes.
    #[inline(always)]
    pub fn escaped(self) -> u64 {
        self.mask(|lanes| {
            let quote_or_backslash = lanes.simd_eq(u8x16::splat(b'"')) | lanes.simd_eq(u8x16::splat(b'\\'));
            quote_or_backslash | lanes.min(u8x16::splat(0x1f)).simd_eq(lanes)
        })
    }

    /// Which bytes of UTF-8 begin no character.
    #[inline(always)]
    pub fn continuations(self) -> u64 {
        self.mask(begin_no_character)
    }
}

/// What has been seen in some blocks, taken together.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    controls: u8x16,
    suspects: u8x16,
}

impl Tally {
    /// Adds a block.
    #[inline(always)]
    pub fn add(&mut self, block: Block) {
        for lanes in block.0 {
            let equal = |byte: u8| lanes.simd_eq(u8x16::splat(byte));
            let control = lanes.min(u8x16::splat(0x1f)).simd_eq(lanes);
            let fine = equal(b'\n') | equal(b'\t');
            self.controls |= (control & !fine) | equal(0x7f);
            self.suspects |= equal(0xc2) | equal(0xef);
        }
    }

    /// Whether there was a control character other than the line feed and the tab.
    pub fn has_control(self) -> bool {
        self.controls.to_bitmask() != 0
    }

    /// Whether there was a byte with which characters begin that YAML refuses.
    pub fn has_suspect(self) -> bool {
        self.suspects.to_bitmask() != 0
    }
}

/// How many bytes of UTF-8 begin no character.
pub(crate) fn continuations(bytes: &[u8]) -> usize {
    /// What a lane of eight bits can count.
    const BLOCKS: usize = u8::MAX as usize / (BLOCK / LANES);
    let in_part = |part: &[u8]| -> usize {
        let mut counts = u8x16::default();
        for at in (0..part.len()).step_by(BLOCK) {
            Block::at(part, at).0.into_iter().for_each(|lanes| counts -= begin_no_character(lanes));
        }
        counts.to_array().into_iter().map(usize::from).sum()
    };
    bytes.chunks(BLOCKS * BLOCK).map(in_part).sum()
}

#[inline(always)]
fn begin_no_character(lanes: u8x16) -> u8x16 {
    (lanes & u8x16::splat(0xc0)).simd_eq(u8x16::splat(0x80))
}

/// The bits from `at` on.
#[inline(always)]
pub(crate) fn from_bit(at: usize) -> u64 {
    u32::try_from(at).ok().and_then(|at| u64::MAX.checked_shl(at)).unwrap_or(0)
}

/// How many spaces stand at `at`, no more than `most`.
#[inline(always)]
pub(crate) fn spaces_at(bytes: &[u8], at: usize, most: usize) -> usize {
    const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
    let most = most.min(bytes.len() - at);
    let mut found = 0;
    while let Some(eight) = bytes[at + found..].first_chunk() {
        let others = u64::from_le_bytes(*eight) ^ SPACES;
        if others != 0 || found + 8 >= most {
            return (found + others.trailing_zeros() as usize / 8).min(most);
        }
        found += 8;
    }
    found += bytes[at + found..].iter().take_while(|byte| **byte == b' ').count();
    found.min(most)
}
