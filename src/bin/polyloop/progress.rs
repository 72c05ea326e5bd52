//! Progress of long runs.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// How far a long run has come: on stderr, only on a terminal, only past half a second.
pub struct Progress {
    total: usize,
    done: usize,
    is_bytes: bool,
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    pub fn new(total: usize, terminal: &Terminal) -> Self {
        let next = terminal.stderr_is_terminal.then(|| Instant::now() + Duration::from_millis(500));
        Progress { total, done: 0, is_bytes: false, next, shown: false }
    }

    /// Through an input of so many bytes, whose number of things is not known beforehand.
    pub fn through(bytes: usize, terminal: &Terminal) -> Self {
        Progress { is_bytes: true, ..Progress::new(bytes, terminal) }
    }

    pub fn step(&mut self) {
        self.reach(self.done + 1);
    }

    pub fn reach(&mut self, done: usize) {
        self.done = done;
        if let Some(next) = self.next.filter(|next| Instant::now() >= *next) {
            const COLUMNS: usize = 30;
            let share = |whole: usize| (self.done.min(self.total) * whole).checked_div(self.total).unwrap_or(whole);
            let full = share(COLUMNS);
            let bar = format!("{}{}", "█".repeat(full), "░".repeat(COLUMNS - full));
            let count =
                if self.is_bytes { format!("{} %", share(100)) } else { format!("{} of {}", self.done, self.total) };
            let _ = write!(std::io::stderr(), "\r{bar} {count}");
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
