//! A batch: one request a line in, one document a line out.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::Stdio;
use std::thread;

use serde_json::Value;

use crate::common::{
    assert_calm, assert_error_document, command, digest, finish, fixture, polyloop, polyloop_with, wait,
};
use crate::{REQUEST, STREAM, Scratch};

fn documents(lines: &str) -> Vec<Value> {
    assert!(lines.is_empty() || lines.ends_with('\n'));
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn every_line_has_its_document_in_order() {
    let batch = fixture("batch/requests.jsonl");
    let ran = polyloop(["render", &batch, "--format", "json"]);
    let documents = documents(ran.exits(2).text());
    assert_calm(ran.text());
    assert_eq!(documents.len(), 5);
    for (index, document) in documents.iter().enumerate() {
        if index == 1 {
            assert_error_document(document);
            assert_eq!(document["code"], "request.unknown_field");
            assert_eq!([&document["path"], &document["source"]], ["budgets", batch.as_str()]);
            assert_eq!([&document["line"], &document["column"]], [2, 64]);
        } else {
            assert_eq!(document["schema"], "polyloop.render/1");
            assert!(document["digest"].as_str().is_some_and(|digest| digest.starts_with("sha256:")));
        }
    }
    assert_eq!(documents[0]["messages"][0]["blocks"][0]["text"], "first: fine");
    assert_eq!(documents[3]["budget"]["verdict"], "context_overflow");
    assert_eq!(documents[4]["run"]["request_id"], "req-5");
    let start = format!("polyloop: {batch}:2:64: ");
    assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);
}

#[test]
fn a_document_is_that_of_the_request_alone() {
    let alone = polyloop_with(["render", "-", "--format", "json"], REQUEST.as_bytes());
    let mut alone = alone.exits(0).json();
    let batch = polyloop_with(["render", "-", "--format", "json"], format!("{REQUEST}\n{REQUEST}\n").as_bytes());
    for mut document in documents(batch.exits(0).text()) {
        assert_eq!(document["digest"], digest(STREAM.as_bytes()));
        document["source"] = Value::Null;
        alone["source"] = Value::Null;
        assert_eq!(document, alone);
    }
}

#[test]
fn other_formats_are_refused() {
    let batch = fixture("batch/requests.jsonl");
    let scratch = Scratch::new();
    let save = scratch.join("out.jsonl");
    for extra in [&[][..], &["--format", "text"], &["--format", "jsonl"], &["--format", "yaml"], &["--summary"]] {
        let ran = polyloop(["render", &batch].iter().chain(extra));
        assert!(ran.fails().stderr.contains("--format json"), "{}", ran.stderr);
    }
    let save = save.to_str().expect("UTF-8");
    for extra in [["--save", save], ["--against", &fixture("minimal/request.render.jsonl")]] {
        let ran = polyloop(["render", &batch, "--format", "json"].into_iter().chain(extra));
        assert_error_document(&ran.exits(2).json());
    }
    assert!(scratch.names().is_empty());
}

#[test]
fn steps_are_those_of_every_line() {
    let batch = fixture("batch/requests.jsonl");
    let ran = polyloop(["render", &batch, "--format", "json", "--steps", "1"]);
    let documents = documents(ran.exits(2).text());
    let is_error: Vec<bool> = documents.iter().map(|document| document["schema"] == "polyloop.error/1").collect();
    assert_eq!(is_error, [true, true, false, true, true]);
    let lines: Vec<&Value> = documents.iter().map(|document| &document["line"]).collect();
    assert_eq!([lines[0], lines[1], lines[3], lines[4]], [1, 2, 4, 5]);
}

#[test]
fn blank_lines_are_no_requests_and_line_numbers_are_those_of_the_file() {
    let lines = format!("\n{REQUEST}\r\n\n  \n{{\"x\":1}}\n{REQUEST}");
    let scratch = Scratch::new();
    let ran = polyloop(["render", &scratch.file("batch.jsonl", lines), "--format", "json"]);
    let documents = documents(ran.exits(2).text());
    assert_eq!(documents.len(), 3);
    assert_eq!(documents[1]["line"], 5);
}

#[test]
fn a_bad_first_line_is_a_bad_request() {
    for bad in ["{", "{}}", "[1,", "{\"goal\": nope}"] {
        let scratch = Scratch::new();
        let file = scratch.file("batch.jsonl", format!("{bad}\n{REQUEST}\n"));
        let ran = polyloop(["render", &file, "--format", "json"]);
        let documents = documents(ran.exits(2).text());
        assert_eq!(documents.len(), 2, "{bad}");
        assert_eq!([&documents[0]["line"], &documents[0]["code"]], [&Value::from(1), &Value::from("request.syntax")]);
    }
}

#[test]
fn it_is_written_to_a_file_whole() {
    let scratch = Scratch::new();
    let out = scratch.join("out.jsonl");
    let batch = fixture("batch/requests.jsonl");
    let ran = polyloop(["render", &batch, "--format", "json", "--output", out.to_str().expect("UTF-8")]);
    assert!(ran.exits(2).stdout.is_empty());
    assert_eq!(documents(&std::fs::read_to_string(out).expect("a file")).len(), 5);
}

#[test]
fn a_line_may_be_no_text_at_all() {
    let scratch = Scratch::new();
    let batch = scratch.file("broken.jsonl", b"{\"goal\":[]}\n{\"goal\":[\xff]}\n{\"goal\":[]}\n");
    let ran = polyloop(["render", &batch, "--format", "json"]);
    let documents: Vec<serde_json::Value> =
        ran.exits(2).text().lines().map(|line| serde_json::from_str(line).expect("a document a line")).collect();
    let schemas: Vec<_> = documents.iter().map(|document| document["schema"].as_str()).collect();
    assert_eq!(schemas, [Some("polyloop.render/1"), Some("polyloop.error/1"), Some("polyloop.render/1")]);
    assert_eq!((&documents[1]["code"], &documents[1]["line"]), (&"request.encoding".into(), &2.into()));
}

/// Numbers of threads, the first of which is the caller's alone.
const THREADS: [&str; 3] = ["1", "2", "8"];

/// Lines of every kind, enough of them that all threads have some.
fn mixed(with_no_text: bool) -> Vec<u8> {
    let mut lines = Vec::new();
    for number in 0..5000 {
        let content = format!("{number} {}", "x".repeat(number * 37 % 1000));
        let goal = format!(r#"{{"goal":[{{"role":"user","content":"{content}"}}]"#);
        match number % 7 {
            1 => lines.extend(format!("{goal},\"budgets\":1}}").bytes()),
            2 => lines.extend(format!(r#"{goal},"budget":{{"max_prompt_chars":4}}}}"#).bytes()),
            3 => lines.extend(b" \t\r"),
            4 if with_no_text => lines.extend(b"{\"goal\":[\xff]}"),
            5 => lines.extend(format!("{goal}}}\r").bytes()),
            _ => lines.extend(format!("{goal}}}").bytes()),
        }
        lines.push(b'\n');
    }
    lines
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let scratch = Scratch::new();
    for with_no_text in [true, false] {
        let batch = scratch.file("batch.jsonl", mixed(with_no_text));
        let outputs = THREADS.map(|threads| {
            let ran = polyloop(["render", &batch, "--format", "json", "--threads", threads]);
            (ran.exits(2).text().to_owned(), ran.stderr)
        });
        let numbers: Vec<u64> = documents(&outputs[0].0).iter().map(|document| number_of(document, &batch)).collect();
        let wanted: Vec<u64> = (1..=5000).filter(|number| number % 7 != 4).collect();
        assert_eq!(numbers, wanted);
        assert_eq!(outputs[0].1.matches(&format!("polyloop: {batch}:")).count(), if with_no_text { 1429 } else { 715 });
        assert!(outputs.iter().all(|output| *output == outputs[0]), "threads make a difference");
    }
}

/// The number of the line that a document is of.
fn number_of(document: &Value, batch: &str) -> u64 {
    document["line"].as_u64().unwrap_or_else(|| {
        let source = document["source"].as_str().and_then(|source| source.strip_prefix(batch));
        source.and_then(|number| number.strip_prefix(':')?.parse().ok()).expect("a request's source ends in its line")
    })
}

#[test]
fn a_pipe_gives_what_the_file_gives_however_slow_it_is() {
    let scratch = Scratch::new();
    let lines = mixed(false)[..40_000].to_vec();
    let batch = scratch.file("batch.jsonl", &lines);
    let from_file = polyloop(["render", &batch, "--format", "json"]);
    for threads in THREADS {
        let mut child = command(["render", "-", "--format", "json", "--threads", threads])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut pipe = child.stdin.take().expect("stdin is piped");
        let lines = lines.clone();
        let writer = thread::spawn(move || lines.iter().all(|byte| pipe.write_all(&[*byte]).is_ok()));
        let output = finish(child, "a slow pipe");
        assert!(writer.join().expect("the writer ends"), "all is read");
        let named = |bytes| String::from_utf8(bytes).expect("it is UTF-8").replace("<stdin>", &batch);
        assert_eq!(output.status.code(), from_file.code);
        assert!(named(output.stdout) == from_file.text(), "stdout with {threads} threads");
        assert!(named(output.stderr) == from_file.stderr, "stderr with {threads} threads");
    }
}

#[test]
fn long_lines_and_short_ones_keep_their_order() {
    let scratch = Scratch::new();
    let content = |number: usize| if number.is_multiple_of(10) { "long ".repeat(40_000) } else { "short".to_owned() };
    let line = |number| format!("{{\"goal\":[{{\"role\":\"user\",\"content\":\"{number} {}\"}}]}}\n", content(number));
    let batch = scratch.file("batch.jsonl", (0..400).map(line).collect::<String>());
    for threads in THREADS {
        let ran = polyloop(["render", &batch, "--format", "json", "--threads", threads]);
        let documents = documents(ran.exits(0).text());
        assert_eq!(documents.len(), 400);
        for (number, document) in documents.iter().enumerate() {
            let text = document["messages"][0]["blocks"][0]["text"].as_str().expect("a text");
            assert!(text == format!("{number} {}", content(number)), "{number}: {text:.20}");
        }
    }
}

#[test]
fn the_first_line_that_is_json_says_what_all_are() {
    const MESSAGE: &str = r#"{"role":"user","content":"x"}"#;
    let lines = |lines: &[&[u8]]| lines.join(&b'\n');
    let (request, message) = (REQUEST.as_bytes(), MESSAGE.as_bytes());
    let (marked_request, marked_message) = (format!("\u{feff}{REQUEST}"), format!("\u{feff}{MESSAGE}"));
    let (marked_request, marked_message) = (marked_request.as_bytes(), marked_message.as_bytes());
    for (lines, documents) in [
        (lines(&[b"{", b"", b"\xff", b"{\"a\":1,\"a\":2}", request, message]), 5),
        (lines(&[marked_request, b"\xff"]), 2),
        (lines(&[b"", marked_request]), 0),
        (lines(&[b"\xe2\x80\x83", b"{}"]), 2),
        // A mark inside the file is dropped where another line is no text, and is no JSON where all are.
        (lines(&[b"{", marked_message, request]), 3),
        (lines(&[b"{", marked_message, request, b"\xff"]), 0),
        (lines(&[b"{", message, request]), 0),
        (lines(&[b"{\"x\":1}", request]), 0),
        (lines(&[b"{", b"}"]), 0),
        (lines(&[b"", b"  "]), 0),
        (Vec::new(), 0),
    ] {
        let scratch = Scratch::new();
        let ran = polyloop(["render", &scratch.file("batch.jsonl", &lines), "--format", "json"]);
        let is_compact = |line: &&str| line.starts_with('{') && line.len() > 1;
        let found = ran.text().lines().filter(is_compact).count();
        assert_eq!(found, documents, "{:?}: {}", String::from_utf8_lossy(&lines), ran.text());
    }
}

#[test]
fn a_batch_that_grows_by_its_own_output_comes_to_an_end() {
    let scratch = Scratch::new();
    let batch = scratch.file("batch.jsonl", format!("{REQUEST}\n").repeat(500));
    let end = OpenOptions::new().append(true).open(&batch).expect("the file can be appended to");
    let args = ["render", &batch, "--format", "json"];
    let mut child = command(args).stdin(Stdio::null()).stdout(end).spawn().expect("the binary starts");
    assert_eq!(wait(&mut child, "a batch that grows").code(), Some(0));
    assert_eq!(std::fs::read_to_string(batch).expect("text").lines().count(), 1000);
}

#[test]
#[cfg(target_os = "linux")]
fn a_batch_takes_no_more_room_for_being_long() {
    const MEMORY_KIB: usize = 64 << 10;
    let scratch = Scratch::new();
    let path = scratch.join("batch.jsonl");
    let mut file = File::create(&path).expect("a file can be made");
    let blank = format!("{:1$}\n", "", 1023).repeat(1024);
    writeln!(file, "{REQUEST}").expect("a line");
    (0..MEMORY_KIB / 512).for_each(|_| file.write_all(blank.as_bytes()).expect("a MiB"));
    writeln!(file, "{REQUEST}").expect("a line");
    let script = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" render \"$1\" --format json --threads 1");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script, crate::common::BINARY]).arg(path);
    assert_eq!(documents(crate::common::run(&mut command, b"").exits(0).text()).len(), 2);
}
