//! A reader that goes away.

use std::io::Read;
use std::process::Stdio;

use crate::Scratch;
use crate::common::{command, finish};

/// More than any pipe holds.
fn long_request(scratch: &Scratch, budget: &str) -> String {
    let content = "A line of some length, over and over.\\n".repeat(20_000);
    scratch.file("long.json", format!(r#"{{"goal": [{{"role": "user", "content": "{content}"}}]{budget}}}"#))
}

/// Reads a few bytes of the output, closes the pipe, and gives the exit code and what stderr holds.
fn read_a_little(args: &[&str]) -> (Option<i32>, String) {
    let mut child = command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdout = child.stdout.take().expect("stdout is piped");
    stdout.read_exact(&mut [0; 10]).expect("there is output");
    drop(stdout);
    let output = finish(child, "a reader that goes away");
    (output.status.code(), String::from_utf8(output.stderr).expect("stderr is UTF-8"))
}

#[test]
fn a_closed_pipe_is_quiet() {
    let scratch = Scratch::new();
    let request = long_request(&scratch, "");
    for format in ["text", "json", "jsonl", "yaml"] {
        assert_eq!(read_a_little(&["render", &request, "--format", format]), (Some(0), String::new()), "{format}");
    }
}

#[test]
fn a_closed_pipe_keeps_the_verdict() {
    let scratch = Scratch::new();
    let request = long_request(&scratch, r#", "budget": {"max_prompt_chars": 10}"#);
    for format in ["text", "json"] {
        assert_eq!(read_a_little(&["render", &request, "--format", format]), (Some(3), String::new()), "{format}");
    }
    let (code, stderr) = read_a_little(&["render", &request, "--format", "jsonl"]);
    assert_eq!(code, Some(3));
    assert!(!stderr.to_lowercase().contains("pipe"), "{stderr}");
    let golden = scratch.file("golden.jsonl", "");
    let (code, _) = read_a_little(&["render", &request, "--format", "text", "--against", &golden]);
    assert_eq!(code, Some(3));
}

#[test]
fn a_closed_pipe_keeps_the_verdict_of_a_batch() {
    let scratch = Scratch::new();
    let good = format!("{{\"goal\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}\n", "x".repeat(1000));
    let batch = scratch.file("batch.jsonl", good.repeat(300) + "{\"x\":1}\n" + &good);
    for threads in ["1", "2", "8"] {
        let (code, stderr) = read_a_little(&["render", &batch, "--format", "json", "--threads", threads]);
        assert_eq!(code, Some(2), "the bad line counts, read or not");
        assert!(stderr.contains(":301:"), "{stderr}");
    }
}

#[test]
fn other_commands_are_quiet_too() {
    for args in [&["schema"][..], &["completions", "bash"], &["man"], &["--help"]] {
        let (code, stderr) = read_a_little(args);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}
