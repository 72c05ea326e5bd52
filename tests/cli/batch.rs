//! A batch: one request a line in, one document a line out.

use serde_json::Value;

use crate::common::{assert_calm, assert_error_document, digest, fixture, polyloop, polyloop_with};
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
