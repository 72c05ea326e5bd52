//! Work shared by several threads, its results in the order of the work.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What takes room while it waits.
pub trait Held {
    fn bytes(&self) -> usize;
}

impl<T: Held> Held for io::Result<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, T::bytes)
    }
}

/// Items held for each thread: enough that none stands idle behind one that takes long.
const ITEMS_A_THREAD: usize = 8;

/// Bytes held of items and results together, past which the oldest must leave before another item comes in. An item
/// that is larger is held alone.
const BYTES: usize = 64 << 20;

/// Does the work on each item and takes the results in the order of the items. Items are fetched no faster than results
/// are taken, so that what is held stays bounded. With one thread there is none but the caller's.
///
/// # Errors
/// The first of `take`, with which all ends.
pub fn in_order<T: Held + Send, R: Held + Send>(
    threads: NonZeroUsize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> io::Result<()>,
) -> io::Result<()> {
    let held = AtomicUsize::new(0);
    let answer = |item: T, to: SyncSender<R>| {
        let before = item.bytes();
        let result = work(item);
        held.fetch_add(result.bytes(), Ordering::Relaxed);
        held.fetch_sub(before, Ordering::Relaxed);
        // Nobody waits for it any more where all has ended.
        let _ = to.send(result);
    };
    let (jobs, queue) = mpsc::channel::<(T, SyncSender<R>)>();
    let queue = Mutex::new(queue);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    let worker = || {
        while let Ok((item, to)) = next() {
            answer(item, to);
        }
    };
    let mut take = |result: Result<R, _>| {
        // The scope passes the panic itself on.
        let result = result.map_err(|_| io::Error::other("a thread has panicked"))?;
        held.fetch_sub(result.bytes(), Ordering::Relaxed);
        take(result)
    };
    thread::scope(|scope| {
        // With it the workers end, however this ends.
        let jobs = jobs;
        let mut most = if threads == NonZeroUsize::MIN { 0 } else { threads.get() };
        let mut workers = 0;
        let mut pending: VecDeque<Receiver<R>> = VecDeque::new();
        for item in items {
            let bytes = item.bytes();
            while let Some(oldest) = pending.front() {
                let is_full = pending.len() >= ITEMS_A_THREAD * workers.max(1)
                    || held.load(Ordering::Relaxed).saturating_add(bytes) > BYTES;
                match if is_full { oldest.recv().map_err(Into::into) } else { oldest.try_recv() } {
                    Err(mpsc::TryRecvError::Empty) => break,
                    result => take(result)?,
                }
                pending.pop_front();
            }
            held.fetch_add(bytes, Ordering::Relaxed);
            let (to, result) = mpsc::sync_channel(1);
            pending.push_back(result);
            if workers < most && workers < pending.len() {
                // Documents may be nested a hundred levels deep; a thread has less room than the main one.
                const STACK_BYTES: usize = 8 << 20;
                match thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker) {
                    Ok(_) => workers += 1,
                    // Where no further thread is to be had, those there are do the work.
                    Err(_) => most = workers,
                }
            }
            match workers {
                0 => answer(item, to),
                // There is somebody to take it: the queue lives longer than all of this.
                _ => drop(jobs.send((item, to))),
            }
        }
        pending.into_iter().try_for_each(|oldest| take(oldest.recv().map_err(Into::into)))
    })
}
