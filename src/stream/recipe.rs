//! How a canonical stream is made of stretches of a file, so that it can be written without being assembled again.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::Place;

/// A stream as a row of literals and stretches of the file, in turn. What is said once is kept once: the frames round
/// the steps of a trajectory are all the same, so a message takes a few bytes here, whatever its size.
#[derive(Debug, Default)]
pub(super) struct Recipe {
    /// For each literal with the stretch behind it: the literal's number, the distance of the stretch from the end of
    /// the one before, its length.
    parts: Vec<u8>,
    literals: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, usize>,
    /// Bytes of all literals.
    literal_bytes: usize,
    /// The literal that is being written.
    literal: Vec<u8>,
    /// Where the last stretch ended.
    end: u64,
}

impl Recipe {
    /// What a recipe may take: a stream that is more literals than stretches is assembled again instead.
    const BYTES: usize = 2 << 20;

    /// A writer for what is assembled from the text at `place`.
    pub fn at<'p>(&'p mut self, place: Place<'p>) -> Recorder<'p> {
        Recorder { recipe: self, place }
    }

    /// Whether it has grown too large to be worth its memory.
    pub fn is_too_large(&self) -> bool {
        self.parts.len() + 2 * self.literal_bytes + self.literal.len() > Self::BYTES
    }

    fn stretch(&mut self, start: u64, len: usize) {
        let number = match self.numbers.get(&self.literal) {
            Some(number) => *number,
            None => {
                let number = self.literals.len();
                self.literal_bytes += self.literal.len();
                self.literals.push(self.literal.clone());
                self.numbers.insert(self.literal.clone(), number);
                number
            }
        };
        self.literal.clear();
        self.push(number as u64);
        let distance = start.wrapping_sub(self.end).cast_signed();
        // Small numbers of either sign are small numbers without one.
        self.push((distance << 1 ^ distance >> 63).cast_unsigned());
        self.push(len as u64);
        self.end = start + len as u64;
    }

    /// Seven bits a byte, the lowest first; all but the last have the eighth.
    fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.parts.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.parts.push(number as u8);
    }

    /// Writes the stream.
    ///
    /// # Errors
    /// Those of the writer and of the file.
    pub fn write<R: Read + Seek, W: Write>(&self, file: &mut R, out: &mut W) -> io::Result<()> {
        let mut stretches = Stretches { file, bytes: vec![0; Stretches::<R>::SIZE], place: 0, len: 0 };
        let mut numbers = self.parts.iter();
        let mut next = || {
            let mut number = 0;
            for (index, byte) in numbers.by_ref().enumerate() {
                number |= u64::from(byte & 0x7f) << (7 * index);
                if byte & 0x80 == 0 {
                    return Some(number);
                }
            }
            None
        };
        let mut end = 0u64;
        while let (Some(number), Some(distance), Some(len)) = (next(), next(), next()) {
            out.write_all(self.literals.get(number as usize).map_or(&[], Vec::as_slice))?;
            let start = end.wrapping_add((distance >> 1) ^ (distance & 1).wrapping_neg());
            stretches.copy(start, len, out)?;
            end = start + len;
        }
        out.write_all(&self.literal)
    }
}

/// Writes into a recipe.
pub(super) struct Recorder<'p> {
    recipe: &'p mut Recipe,
    place: Place<'p>,
}

impl Write for Recorder<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.place.of(bytes) {
            Some(start) => self.recipe.stretch(start, bytes.len()),
            None => self.recipe.literal.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stretches of a file, most of them close behind one another.
struct Stretches<'f, R> {
    file: &'f mut R,
    bytes: Vec<u8>,
    /// Where in the file `bytes` begin, and how many of them are filled.
    place: u64,
    len: usize,
}

impl<R: Read + Seek> Stretches<'_, R> {
    const SIZE: usize = 256 << 10;
    /// Steps whose keys stand in another order go back by a little: that much stays in sight.
    const BEHIND: u64 = 32 << 10;

    fn copy<W: Write>(&mut self, mut start: u64, mut len: u64, out: &mut W) -> io::Result<()> {
        while len > 0 {
            let inside = start.checked_sub(self.place).filter(|inside| *inside < self.len as u64);
            let Some(inside) = inside else {
                self.fill(start)?;
                continue;
            };
            let bytes = &self.bytes[inside as usize..self.len];
            let now = bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX));
            out.write_all(&bytes[..now])?;
            start += now as u64;
            len -= now as u64;
        }
        Ok(())
    }

    fn fill(&mut self, start: u64) -> io::Result<()> {
        let from = start.saturating_sub(Self::BEHIND);
        // Reading on from where the last read ended needs no seek and no byte twice.
        let goes_on = self.place + self.len as u64 == start && self.len as u64 >= Self::BEHIND;
        let kept = if goes_on { Self::BEHIND as usize } else { 0 };
        self.bytes.copy_within(self.len - kept..self.len, 0);
        if !goes_on {
            self.file.seek(SeekFrom::Start(from))?;
        }
        (self.place, self.len) = (from, kept);
        while self.place + self.len as u64 <= start {
            match self.file.read(&mut self.bytes[self.len..])? {
                0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter while it was read")),
                read => self.len += read,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_written_again(
            parts in proptest::collection::vec((0usize..300_000, 0usize..50_000, "[a-c]{0,3}"), 0..40),
        ) {
            let text: String = (0..400_000).map(|n: u32| char::from(b'a' + (n % 23) as u8)).collect();
            let place = Place { text: &text, start: 7 };
            let mut recipe = Recipe::default();
            let mut expected = Vec::new();
            for (start, len, literal) in &parts {
                for bytes in [literal.as_bytes(), &text.as_bytes()[*start..start + len]] {
                    recipe.at(place).write_all(bytes).unwrap();
                    expected.extend_from_slice(bytes);
                }
            }
            let mut file = io::Cursor::new(format!("1234567{text}"));
            let mut written = Vec::new();
            recipe.write(&mut file, &mut written).unwrap();
            prop_assert!(written == expected);
        }
    }
}
