//! Runs that are cut off, that meet each other, or whose reader goes away.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::{OTHER, OTHER_STREAM, REQUEST, STREAM, Tree, common};

const REQUESTS: usize = 60;

/// Many requests; `old` is what their goldens hold.
fn many(old: &str) -> (Tree, Vec<PathBuf>) {
    let tree = Tree::new();
    for index in 0..REQUESTS {
        tree.file(format!("{index:03}.yaml"), REQUEST).file(format!("{index:03}.render.jsonl"), old);
    }
    let goldens = (0..REQUESTS).map(|index| tree.join(format!("{index:03}.render.jsonl"))).collect();
    (tree, goldens)
}

#[test]
fn a_golden_is_old_or_new_whenever_it_is_killed() {
    let (tree, goldens) = many(OTHER_STREAM);
    let start = Instant::now();
    let mut command = tree.command(&["--accept", "--threads", "2"]);
    common::wait(&mut command.stdout(Stdio::null()).spawn().expect("it starts"), "accept");
    let whole = start.elapsed();
    let mut cut_off = 0;
    for round in 0..25u32 {
        for golden in &goldens {
            std::fs::write(golden, OTHER_STREAM).expect("a file can be written");
        }
        let mut command = tree.command(&["--accept", "--threads", "2"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        thread::sleep(whole * round / 25);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let new = goldens.iter().filter(|golden| match common::read(golden) {
            bytes if bytes == STREAM.as_bytes() => true,
            bytes => {
                assert!(bytes == OTHER_STREAM.as_bytes(), "round {round}: torn: {}", String::from_utf8_lossy(&bytes));
                false
            }
        });
        let new = new.count();
        cut_off += usize::from(new > 0 && new < REQUESTS);
    }
    eprintln!("{cut_off} of 25 rounds were cut off in the middle");
    // What was left behind hinders nobody.
    tree.check(&["--accept"]).exits(0);
    tree.check(&[]).exits(0);
}

#[test]
fn two_at_once_write_the_same() {
    let (tree, goldens) = many(OTHER_STREAM);
    let start = || {
        let mut command = tree.command(&["--accept"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let both = [start(), start(), start()];
    for child in both {
        let output = common::finish(child, "accept");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(goldens.iter().all(|golden| common::read(golden) == STREAM.as_bytes()));
    assert_eq!(tree.snapshot().len(), 2 * REQUESTS, "something was left behind");
}

#[test]
fn a_reader_that_goes_away_changes_nothing() {
    let tree = Tree::new();
    for index in 0..2000 {
        tree.file(format!("{index:04}.yaml"), "{goal: []}").file(format!("{index:04}.render.jsonl"), "\n");
    }
    for (format, exit) in [("text", 1), ("json", 1), ("junit", 1), ("github", 1), ("markdown", 1)] {
        let mut command = tree.command(&["--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = common::finish(child, format);
        assert_eq!(output.status.code(), Some(exit), "{format}");
        assert!(output.stderr.is_empty(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let tree = Tree::new();
    tree.file("a.yaml", OTHER).file("a.render.jsonl", OTHER_STREAM);
    for format in ["text", "json", "junit", "github", "markdown"] {
        let ran = tree.check(&["--format", format, "-o", "/dev/full"]);
        ran.exits(2);
        assert!(ran.stderr.contains("/dev/full: cannot be written"), "{}", ran.stderr);
        // Standard output takes the error, where that is asked for, and nothing of the report.
        match format {
            "json" => common::assert_error_document(&ran.json()),
            _ => assert!(ran.stdout.is_empty(), "{}", ran.text()),
        }
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full disk");
        let mut command = tree.command(&["--format", format]);
        let child = command.stdout(full).stderr(Stdio::piped()).spawn().expect("it starts");
        let output = common::finish(child, format);
        assert_eq!(output.status.code(), Some(2), "{format}");
    }
}

#[test]
fn a_pipe_without_end_is_not_waited_for() {
    let tree = Tree::new();
    let made = std::process::Command::new("mkfifo").arg(tree.join("a.yaml")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo");
        return;
    }
    let start = Instant::now();
    let ran = tree.check(&[]);
    ran.exits(2);
    assert!(ran.stderr.contains("no regular file"), "{}", ran.stderr);
    assert!(start.elapsed() < Duration::from_secs(5));
}
