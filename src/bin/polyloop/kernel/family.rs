//! Everything that cells have started.

use std::fs;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group, waitid, waitpid,
};

/// The group of the Python process, 0 where there is none of its own.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// Takes in what outlives its parent, so that it can be found: on Linux only.
pub fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Names the group of the Python process.
pub fn set_group(group: Option<Pid>) {
    GROUP.store(group.map_or(0, |group| group.as_raw_nonzero().get()), Ordering::SeqCst);
}

/// Kills the group of the Python process and, on Linux, all that has left it.
pub fn kill_all() {
    if let Some(group) = Pid::from_raw(GROUP.load(Ordering::SeqCst)) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    // What is started meanwhile is found the next time; a process in the middle of a system call takes its time to end.
    for _ in 0..200 {
        let living: Vec<Pid> =
            descendants().into_iter().filter(|found| !found.is_over).map(|found| found.pid).collect();
        if living.is_empty() {
            return;
        }
        for pid in living {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Lets go of what has ended, the Python process apart, whose end is waited for elsewhere.
pub fn reap(python: Option<Pid>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if !matches!(waitid(WaitId::All, options), Ok(Some(_))) {
        return;
    }
    let own = getpid();
    for found in descendants() {
        if found.is_over && found.parent == own && Some(found.pid) != python {
            let _ = waitpid(Some(found.pid), WaitOptions::NOHANG);
        }
    }
}

struct Found {
    pid: Pid,
    parent: Pid,
    /// Whether it has ended, and only waits for its parent to see it.
    is_over: bool,
}

/// The children of this process, theirs, and so on; none where there is no `/proc`.
fn descendants() -> Vec<Found> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()));
    let mut all: Vec<Found> = names.filter_map(found).collect();
    let mut ours = Vec::new();
    let mut parents = vec![getpid()];
    while let Some(parent) = parents.pop() {
        let (children, others) = all.into_iter().partition(|found: &Found| found.parent == parent);
        all = others;
        let children: Vec<Found> = children;
        parents.extend(children.iter().map(|child| child.pid));
        ours.extend(children);
    }
    ours
}

fn found(number: i32) -> Option<Found> {
    // The name of the program stands in parentheses and may hold any character.
    let text = String::from_utf8_lossy(&fs::read(format!("/proc/{number}/stat")).ok()?).into_owned();
    let mut words = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    let is_over = matches!(words.next()?, "Z" | "X");
    let parent = Pid::from_raw(words.next()?.parse().ok()?)?;
    Some(Found { pid: Pid::from_raw(number)?, parent, is_over })
}
