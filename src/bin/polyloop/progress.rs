//! Progress of long runs.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// How far a long run has come: on stderr, only on a terminal, only past half a second.
pub struct Progress {
    total: usize,
    done: usize,
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    pub fn new(total: usize, terminal: &Terminal) -> Self {
        let next = terminal.stderr_is_terminal.then(|| Instant::now() + Duration::from_millis(500));
        Progress { total, done: 0, next, shown: false }
    }

    pub fn step(&mut self) {
        self.done += 1;
        if let Some(next) = self.next.filter(|next| Instant::now() >= *next) {
            const COLUMNS: usize = 30;
            let full = self.done * COLUMNS / self.total.max(1);
            let bar = format!("{}{}", "█".repeat(full), "░".repeat(COLUMNS - full));
            let _ = write!(std::io::stderr(), "\r{bar} {} of {}", self.done, self.total);
            self.next = Some(next + Duration::from_millis(100));
            self.shown = true;
        }
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
