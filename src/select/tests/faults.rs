//! Each error with its code, its place and a hint.

use super::{Held, parse};
use crate::error::{Code, Error};
use crate::read::{self, Format};

/// What is wrong with a request, read or selected from; where it stands.
fn fault(yaml: &str) -> Error {
    let request = match read::request(yaml, Some(Format::Yaml)) {
        Ok(request) => request,
        Err(error) => return error,
    };
    let error = crate::select(&request, None).map(drop).expect_err("something is wrong with it");
    read::place(error, yaml, Some(Format::Yaml))
}

#[track_caller]
fn fails(yaml: &str, code: &str, path: &str, line: usize) -> Error {
    let error = fault(yaml);
    let found = (error.code().as_str(), error.path(), error.position().map(|position| position.line));
    assert_eq!(found, (code, Some(path), Some(line)), "{error}");
    assert!(error.hint().is_some(), "{error}");
    error
}

#[test]
fn what_is_required_and_does_not_fit_is_an_error() {
    let yaml = "prefix:
  - {role: system, content: '12345'}
budget:
  window: 8
  reserved_output: 1
fragments:
  - {id: a, kind: evidence, content: '1234', required: true}
";
    let error = fails(yaml, "budget.required_exceeds", "budget.window", 4);
    let expected = "what is required comes to 9 chars, 2 over what there is (window 8 − reserved_output 1): \
                    prefix[0] 5, fragments[0]#a 4";
    assert_eq!(error.message(), expected);
}

#[test]
fn what_is_required_and_does_not_hold_is_an_error() {
    let stale = "as_of: 2026-08-11T12:00:00Z
fragments:
  - {id: a, kind: evidence, content: a, required: true, observed_at: 2026-08-11T11:59:00Z, ttl_s: 1}";
    fails(stale, "fragment.required_stale", "fragments[0]", 3);
    let superseded = "fragments:
  - {id: a, kind: evidence, content: a, required: true}
  - {id: b, kind: evidence, content: b, supersedes: [a]}";
    fails(superseded, "fragment.required_superseded", "fragments[0]", 2);
    fails("fragments:\n  - id: a\n    kind: goal\n    file: {path: x}", "fragment.unresolved", "fragments[0].file", 4);
}

#[test]
fn each_fault_has_its_code_and_its_place() {
    let one = |fields: &str| format!("fragments:\n  - id: a\n    kind: evidence\n    content: x\n    {fields}\n");
    for (fields, code, path) in [
        ("role: system", "fragment.role_trust", "fragments[0].role"),
        (
            "content_hash: sha256:0000000000000000000000000000000000000000000000000000000000000000",
            "fragment.hash_mismatch",
            "fragments[0].content_hash",
        ),
        ("content_hash: abc", "request.type", "fragments[0].content_hash"),
        ("observed_at: yesterday", "request.time", "fragments[0].observed_at"),
        ("ttl_s: 5", "fragment.ttl", "fragments[0].ttl_s"),
        ("supersedes: [b]", "fragment.unknown_id", "fragments[0].supersedes[0]"),
        ("summary_of: {}", "fragment.compaction", "fragments[0].kind"),
        ("priority: 1.5", "request.type", "fragments[0].priority"),
        ("freshness: 2", "request.type", "fragments[0].freshness"),
        ("trust: me", "request.type", "fragments[0].trust"),
        ("colour: red", "request.unknown_field", "fragments[0].colour"),
    ] {
        let line = if path.ends_with(".kind") { 3 } else { 5 };
        fails(&one(fields), code, path, line);
    }
    for (yaml, code, path, line) in [
        ("fragments:\n  - id: a\n    kind: fact\n    content: x", "fragment.unknown_kind", "fragments[0].kind", 3),
        (
            "fragments:\n  - {id: a, kind: goal, content: x}\n  - {id: a, kind: goal, content: y}",
            "fragment.duplicate_id",
            "fragments[1].id",
            3,
        ),
        (
            "fragments:\n  - {id: a, kind: goal, content: x, supersedes: [b]}\n  - {id: b, kind: goal, content: y, supersedes: [a]}",
            "fragment.supersedes_circle",
            "fragments[0]",
            2,
        ),
        ("fragments:\n  - {id: a, kind: goal, content: [], trim: {}}", "fragment.trim", "fragments[0].trim", 2),
        ("as_of: today", "request.time", "as_of", 1),
        ("budget:\n  window: -1", "budget.negative", "budget.window", 2),
        (
            "budget:\n  responsibilities:\n    run_state: {floor: 2, cap: 1}",
            "budget.floor_over_cap",
            "budget.responsibilities.run_state.floor",
            3,
        ),
        (
            "budget:\n  window: 5\n  reserved_output: 1\n  responsibilities: {run_state: {floor: 3}, user_input: {floor: 2}}",
            "budget.floors_over_window",
            "budget.responsibilities",
            4,
        ),
        ("budget:\n  window: 5\n  reserved_output: 6", "budget.reserved_over_window", "budget.reserved_output", 3),
        ("fragment_template: x\nfragments: []", "template.no_field", "fragment_template", 1),
    ] {
        fails(yaml, code, path, line);
    }
}

#[test]
fn lines_beyond_the_file_and_other_bytes_are_errors() {
    let yaml = "fragments:
  - id: a
    kind: evidence
    file:
      path: f
      lines: [2, 3]";
    let error = parse(yaml).resolve(&Held("one\ntwo")).map(drop).expect_err("it has two lines");
    let error = read::place(error, yaml, Some(Format::Yaml));
    assert_eq!((error.code(), error.position().map(|at| at.line)), (Code::FragmentLines, Some(6)));

    let hash = crate::request::ContentHash::of_bytes(b"two");
    let yaml =
        format!("fragments:\n  - {{id: a, kind: evidence, file: {{path: f, lines: [2, 2]}}, content_hash: '{hash}'}}");
    assert!(parse(&yaml).resolve(&Held("one\ntwo")).is_ok());
    let error = parse(&yaml).resolve(&Held("one\ntwo\n")).map(drop).expect_err("it ends otherwise");
    assert_eq!((error.code(), error.path()), (Code::FragmentHashMismatch, Some("fragments[0].content_hash")));
}
