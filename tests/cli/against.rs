//! `--against`: the bytes of an earlier render, and nothing less.

use serde_json::Value;

use crate::common::{assert_calm, fixture, polyloop, polyloop_with};
use crate::{REQUEST, STREAM, Scratch};

/// Compares the small request with a golden of this name and content.
fn against(name: &str, golden: impl AsRef<[u8]>) -> (i32, Value) {
    let scratch = Scratch::new();
    let golden = scratch.file(name, golden);
    let text = polyloop_with(["render", "-", "--against", &golden], REQUEST.as_bytes());
    let json = polyloop_with(["render", "-", "--against", &golden, "--format", "json"], REQUEST.as_bytes());
    assert_eq!(text.code, json.code, "the verdict depends on the format");
    assert_calm(text.text());
    let code = json.code.expect("an exit code");
    if code < 2 {
        let previous = json.json()["previous"].clone();
        assert_eq!(previous["schema"], "polyloop.diff/1");
        assert_eq!(previous["identical"], code == 0, "{previous}");
        let wanted = if code == 0 { "identical" } else { "differs" };
        let said = text.text().contains(wanted) || text.text().contains("are not");
        assert!(said, "{}", text.text());
    }
    (code, json.json()["previous"].clone())
}

fn verdict(name: &str, golden: impl AsRef<[u8]>) -> i32 {
    against(name, golden).0
}

#[test]
fn the_same_bytes_are_identical() {
    let (code, previous) = against("golden.render.jsonl", STREAM);
    assert_eq!(code, 0);
    assert!(previous["first_difference"].is_null());
    assert_eq!(previous["shared_prefix"]["bytes"], STREAM.len() as u64);
    assert_eq!(previous["a"]["digest"], previous["b"]["digest"]);
    assert_eq!(verdict("golden", STREAM), 0, "whatever its name");
}

#[test]
fn every_golden_of_the_fixtures_is_identical() {
    for name in ["react", "controls", "unicode", "whitespace", "block_kinds", "tools", "empty_request"] {
        let folder = format!("fixtures/{name}");
        let mut requests = ["yaml", "json"].iter().map(|ending| format!("{folder}/request.{ending}"));
        let request = requests.find(|path| crate::common::root().join(path).exists()).expect("a request");
        let golden = fixture(&format!("{name}/request.render.jsonl"));
        polyloop(["render", &request, "--against", &golden]).exits(0);
    }
}

#[test]
fn one_byte_differs() {
    let (code, previous) = against("golden.jsonl", STREAM.replace("prime", "crime"));
    assert_eq!(code, 1);
    let first = &previous["first_difference"];
    assert_eq!([&first["message"], &first["block"], &first["byte"], &first["char"]], [0, 0, 7, 7]);
    assert_eq!([&first["line"], &first["column"]], [1, 8]);
    assert_eq!([&first["origin_a"], &first["origin_b"]], ["messages[0].content[0]", "goal[0]"]);
    assert_ne!(previous["a"]["digest"], previous["b"]["digest"]);
}

#[test]
fn more_and_fewer_messages_differ() {
    let (code, previous) = against("golden.jsonl", STREAM.repeat(2));
    assert_eq!(code, 1);
    let first = &previous["first_difference"];
    assert_eq!(first["message"], 1);
    assert!(first["origin_b"].is_null() && first["block"].is_null() && first["char"].is_null(), "{first}");
    assert_eq!(previous["shared_prefix"]["of_b"], 1.0);
    assert_eq!(verdict("golden.jsonl", ""), 1);
    assert_eq!(verdict("golden.jsonl", STREAM.replace("user", "system")), 1);
    assert_eq!(verdict("golden.jsonl", format!("{{\"tools\":[{{}}]}}\n{STREAM}")), 1);
}

#[test]
fn a_golden_that_is_not_canonical_differs() {
    for (what, golden) in [
        ("CRLF", STREAM.replace('\n', "\r\n")),
        ("no final newline", STREAM.trim().to_owned()),
        ("two final newlines", format!("{STREAM}\n")),
        ("a blank line before", format!("\n{STREAM}")),
        ("spaces", STREAM.replace(':', ": ")),
        ("an escape", STREAM.replace("Name", "\\u004eame")),
        ("other order of keys", STREAM.replace("\"role\":\"user\",", "").replace("]}\n", "],\"role\":\"user\"}\n")),
        ("a string for one block", "{\"role\":\"user\",\"content\":\"Name a prime.\"}\n".to_owned()),
        ("a byte order mark", format!("\u{feff}{STREAM}")),
        ("no tools", format!("{{\"tools\":[]}}\n{STREAM}")),
    ] {
        assert_eq!(verdict("golden.jsonl", golden), 1, "{what}");
    }
}

#[test]
fn a_list_of_messages_is_compared_by_its_messages() {
    let message = r#"{ "content": "Name a prime.", "role": "user" }"#;
    assert_eq!(verdict("golden.json", format!("[{message}]")), 0);
    assert_eq!(verdict("golden.json", format!("[{message}, {message}]")), 1);
    assert_eq!(verdict("golden.yaml", "- role: user\n  content: Name a prime.\n"), 0);
    assert_eq!(verdict("golden.yml", "- role: user\n  content:\n  - {type: text, text: Name a prime}\n"), 1);
}

#[test]
fn what_is_no_render_is_refused() {
    for (name, golden) in [
        ("golden.json", REQUEST),
        ("golden.jsonl", REQUEST),
        ("golden.yaml", "goal: []"),
        ("golden.jsonl", "{"),
        ("golden.jsonl", "{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}\n"),
        ("golden.json", "[1]"),
    ] {
        let scratch = Scratch::new();
        let golden = scratch.file(name, golden);
        let ran = polyloop_with(["render", "-", "--against", &golden], REQUEST.as_bytes());
        assert!(ran.fails().stderr.contains(name), "{}", ran.stderr);
    }
    polyloop_with(["render", "-", "--against", "no/such.jsonl"], REQUEST.as_bytes()).fails();
    polyloop_with(["render", "-", "--against", "fixtures"], REQUEST.as_bytes()).fails();
}

#[test]
fn recorded_messages_are_compared_too() {
    let scratch = Scratch::new();
    let golden = scratch.file("golden.jsonl", STREAM);
    polyloop_with(["render", "-", "--against", &golden], STREAM.as_bytes()).exits(0);
    polyloop_with(["render", "-", "--against", &golden], STREAM.repeat(2).as_bytes()).exits(1);
    polyloop_with(["render", &golden, "--against", "-"], STREAM.as_bytes()).exits(0);
}

#[test]
fn one_standard_input_is_not_two() {
    let ran = polyloop_with(["render", "-", "--against", "-"], STREAM.as_bytes());
    ran.fails();
}
