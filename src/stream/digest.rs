//! Hashing beside the work that makes the bytes.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use sha2::{Digest, Sha256};

use crate::context::digest_text;

/// Hashes what is written: in pieces, on a thread of its own once there is more than one.
pub(super) struct Digester {
    piece: Vec<u8>,
    hasher: Hasher,
}

enum Hasher {
    Here(Sha256),
    /// Where a thread may be started.
    NotYet,
    There(Worker),
}

struct Worker {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<Sha256>,
}

impl Digester {
    const PIECE: usize = 128 << 10;
    /// Pieces on their way, so that neither side waits for the other's every turn.
    const PIECES: usize = 4;

    pub fn new(own_thread: bool) -> Self {
        let hasher = if own_thread { Hasher::NotYet } else { Hasher::Here(Sha256::new()) };
        Digester { piece: Vec::with_capacity(Self::PIECE), hasher }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        if let Hasher::NotYet = self.hasher {
            self.hasher = Worker::start().map_or_else(|_| Hasher::Here(Sha256::new()), Hasher::There);
        }
        match &mut self.hasher {
            Hasher::Here(hash) => hash.update(&self.piece),
            Hasher::There(worker) => {
                let gone = |_| io::Error::other("the hashing thread is gone");
                worker.full.send(std::mem::take(&mut self.piece)).map_err(gone)?;
                self.piece = worker.empty.recv().map_err(|_| io::Error::other("the hashing thread is gone"))?;
            }
            Hasher::NotYet => {}
        }
        self.piece.clear();
        Ok(())
    }

    /// The digest, which may still be in the making.
    pub fn finish(self) -> Pending {
        match self.hasher {
            Hasher::There(worker) => {
                // A thread that is gone is seen when it is joined.
                let _ = worker.full.send(self.piece);
                Pending::There(worker.thread)
            }
            Hasher::Here(hash) => Pending::Here(hash.chain_update(self.piece)),
            Hasher::NotYet => Pending::Here(Sha256::new_with_prefix(self.piece)),
        }
    }
}

impl Write for Digester {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == Self::PIECE {
            self.pass_on()?;
        }
        let taken = bytes.len().min(Self::PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Worker {
    fn start() -> io::Result<Worker> {
        let (full, pieces) = sync_channel::<Vec<u8>>(Digester::PIECES);
        let (back, empty) = sync_channel(Digester::PIECES + 1);
        for _ in 1..Digester::PIECES {
            let _ = back.send(Vec::with_capacity(Digester::PIECE));
        }
        let hash_all = move || {
            let mut hash = Sha256::new();
            for piece in pieces {
                hash.update(&piece);
                // The last pieces are not asked for again.
                let _ = back.send(piece);
            }
            hash
        };
        let thread = thread::Builder::new().name("digest".to_owned()).spawn(hash_all)?;
        Ok(Worker { full, empty, thread })
    }
}

/// A digest that may still be in the making.
#[derive(Debug)]
pub(super) enum Pending {
    Here(Sha256),
    There(JoinHandle<Sha256>),
}

impl Pending {
    /// `sha256:` and the hex.
    pub fn wait(self) -> String {
        digest_text(match self {
            Pending::Here(hash) => hash,
            Pending::There(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_one_digest() {
        for len in [0, 1, 1000, Digester::PIECE, Digester::PIECE + 1, 9 * Digester::PIECE + 7] {
            let bytes: Vec<u8> = (0..len).map(|n| (n % 251) as u8).collect();
            let of = |own_thread| {
                let mut digester = Digester::new(own_thread);
                bytes.chunks(1013).for_each(|chunk| digester.write_all(chunk).unwrap());
                digester.finish().wait()
            };
            let expected = digest_text(Sha256::new_with_prefix(&bytes));
            assert_eq!([of(true), of(false)], [expected.clone(), expected]);
        }
    }
}
