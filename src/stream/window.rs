//! The text of a source, a stretch at a time.

use std::io::Read;

use crate::read::{limits, whole_chars};

/// A stretch of a source that is read on and on: what has been used is dropped, what has not stays in front of what is
/// read next. Memory is that of the longest stretch that had to be seen at once.
pub(super) struct Window<R> {
    source: R,
    /// How much is read at once; reads go to the start of a page, which is faster.
    size: usize,
    bytes: Vec<u8>,
    /// What is filled and not used.
    start: usize,
    end: usize,
    /// Where `start` lies in the source, in bytes.
    place: u64,
    is_last: bool,
}

const PAGE: usize = 4096;

impl<R: Read> Window<R> {
    /// A window on a source whose next byte is its byte `place`. `None` is what this cannot read.
    pub fn new(source: R, size: usize, place: u64) -> Option<Self> {
        let mut window = Window { source, size, bytes: Vec::new(), start: 0, end: 0, place, is_last: false };
        window.read_on()?;
        Some(window)
    }

    /// The text that is in sight, cut between two characters; `None` if it is not UTF-8.
    pub fn text(&self) -> Option<&str> {
        let bytes = &self.bytes[self.start..self.end];
        let whole = if self.is_last { bytes.len() } else { whole_chars(bytes) };
        simdutf8::basic::from_utf8(&bytes[..whole]).ok()
    }

    /// Whether the source ends where the text does.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Where the text begins in the source, in bytes.
    pub fn place(&self) -> u64 {
        self.place
    }

    /// Drops the first `used` bytes of the text.
    pub fn drop_start(&mut self, used: usize) {
        self.start += used;
        self.place += used as u64;
    }

    /// Reads on: as much as at first, or more where there is much that could not be used. `None` at the end of the
    /// source, where it cannot be read, and past the size of the largest document.
    pub fn read_on(&mut self) -> Option<()> {
        let read = self.place + (self.end - self.start) as u64;
        if self.is_last || read > limits::DOCUMENT_BYTES as u64 {
            return None;
        }
        let kept = self.start..self.end;
        let more = self.size.max(kept.len());
        let front = page_behind(&self.bytes, kept.len());
        let front = if front + more <= self.bytes.len() {
            self.bytes.copy_within(kept.clone(), front - kept.len());
            front
        } else {
            let mut bytes = vec![0; kept.len() + PAGE + more];
            let front = page_behind(&bytes, kept.len());
            bytes[front - kept.len()..front].copy_from_slice(&self.bytes[kept.clone()]);
            self.bytes = bytes;
            front
        };
        (self.start, self.end) = (front - kept.len(), front);
        let until = front + more;
        while self.end < until && !self.is_last {
            match self.source.read(&mut self.bytes[self.end..until]) {
                Ok(0) => self.is_last = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(())
    }
}

/// The first place at or behind `at` that is the start of a page of memory.
fn page_behind(bytes: &[u8], at: usize) -> usize {
    let address = bytes.as_ptr().addr();
    (address + at).next_multiple_of(PAGE) - address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut_and_no_byte_lost() {
        let text = "aé漢😀\u{7ff}\u{800}\u{ffff}\u{10000}".repeat(40);
        for size in 1..40 {
            for step in [1, 3, 17, usize::MAX] {
                let mut window = Window::new(text.as_bytes(), size, 0).unwrap();
                let mut seen = String::new();
                loop {
                    let shown = window.text().unwrap();
                    assert_eq!(window.place(), seen.len() as u64);
                    if window.is_last() {
                        seen.push_str(shown);
                        break;
                    }
                    let mut used = step.min(shown.len());
                    while !shown.is_char_boundary(used) {
                        used -= 1;
                    }
                    seen.push_str(&shown[..used]);
                    window.drop_start(used);
                    window.read_on().unwrap();
                }
                assert_eq!(seen, text, "{size} {step}");
            }
        }
    }

    #[test]
    fn what_is_no_text_is_seen() {
        for bytes in [&b"ab\xff"[..], b"ab\xe2\x82", b"\xc0\x80", b"\x80", b"ab\xed\xa0\x80cd"] {
            let mut window = Window::new(bytes, 2, 0).unwrap();
            while window.text().is_some() && !window.is_last() {
                window.read_on().unwrap();
            }
            assert_eq!(window.text(), None, "{bytes:?}");
        }
    }
}
