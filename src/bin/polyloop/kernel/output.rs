//! What cells write to standard output and standard error.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionread};

/// A pipe that is read all the time, of which the first bytes are kept.
pub struct Output {
    inner: Mutex<Inner>,
}

struct Inner {
    pipe: File,
    kept: Vec<u8>,
    left_out: u64,
    max_bytes: usize,
}

/// What was written since it was last taken.
#[derive(Debug, Default, PartialEq)]
pub struct Written {
    /// The first of it. Bytes that are no UTF-8 are shown as Python's `backslashreplace` does: `\xff`.
    pub text: String,
    /// How many bytes came after it.
    pub left_out_bytes: u64,
}

impl Output {
    /// Reads a pipe until nobody can write to it any more.
    pub fn of(pipe: OwnedFd, max_bytes: usize) -> io::Result<Arc<Output>> {
        let watched = pipe.try_clone()?;
        let inner = Inner { pipe: pipe.into(), kept: Vec::new(), left_out: 0, max_bytes };
        let output = Arc::new(Output { inner: Mutex::new(inner) });
        let reader = Arc::clone(&output);
        thread::spawn(move || reader.read_all(&watched));
        Ok(output)
    }

    fn read_all(&self, pipe: &OwnedFd) {
        loop {
            let mut ready = [PollFd::new(pipe, PollFlags::IN)];
            match poll(&mut ready, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            let is_over = !ready[0].revents().contains(PollFlags::IN);
            match self.lock().read_some(u64::MAX) {
                Ok(0) if is_over => return,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Takes what was written until now, also what has not been read yet, and waits for nothing more.
    pub fn take(&self) -> Written {
        let mut inner = self.lock();
        let mut ready = ioctl_fionread(&inner.pipe).unwrap_or(0);
        while ready > 0 {
            match inner.read_some(ready) {
                Ok(read) if read > 0 => ready -= read,
                _ => break,
            }
        }
        let (kept, left_out) = (std::mem::take(&mut inner.kept), std::mem::take(&mut inner.left_out));
        Written::of(&kept, left_out)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Reads what is there, and so never waits.
    fn read_some(&mut self, most: u64) -> io::Result<u64> {
        let mut piece = [0; 64 * 1024];
        let ready = ioctl_fionread(&self.pipe)?.min(most).min(piece.len() as u64) as usize;
        let read = if ready == 0 { 0 } else { self.pipe.read(&mut piece[..ready])? };
        let room = (self.max_bytes - self.kept.len()).min(read);
        self.kept.extend_from_slice(&piece[..room]);
        self.left_out += (read - room) as u64;
        Ok(read as u64)
    }
}

impl Written {
    fn of(bytes: &[u8], left_out_bytes: u64) -> Written {
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        let mut cut = 0;
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            // A character that the limit cuts in two belongs to what is left out.
            if left_out_bytes > 0 && chunks.peek().is_none() && is_start_of_char(chunk.invalid()) {
                cut = chunk.invalid().len() as u64;
            } else {
                chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
            }
        }
        Written { text, left_out_bytes: left_out_bytes + cut }
    }
}

fn is_start_of_char(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_shown_and_characters_are_not_cut() {
        for (bytes, left_out, text, left_out_bytes) in [
            (&b"plain"[..], 0, "plain", 0),
            (b"a\xffb", 0, "a\\xffb", 0),
            ("é".as_bytes(), 3, "é", 3),
            (b"a\xc3", 0, "a\\xc3", 0),
            (b"a\xc3", 3, "a", 4),
            (b"a\xf0\x9f\x98", 1, "a", 4),
            (b"a\xff", 3, "a\\xff", 3),
        ] {
            let written = Written { text: text.to_owned(), left_out_bytes };
            assert_eq!(Written::of(bytes, left_out), written, "{bytes:?}");
        }
    }
}
