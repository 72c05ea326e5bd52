//! Lines that are no requests, and those around them.

use serde_json::json;

use crate::common::{command, polyloop, run};
use crate::session::{INPUT, Kernel, failed, has_python};

#[test]
fn what_is_no_request_is_answered_and_the_next_line_works() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let deep = format!("{{\"cell\": {}", "[".repeat(1_000_000));
    let huge = format!("{{\"cell\": \"{}\"}}", "a".repeat(65 << 20));
    for (line, code) in [
        (&b"{\"cell\": \"1\""[..], "request.syntax"),
        (b"print(1)", "request.syntax"),
        (b"\xff\xfe", "request.encoding"),
        (b"[\"1\"]", "request.type"),
        (b"{\"cell\": 1}", "request.type"),
        (b"{\"cell\": \"1\", \"timeout\": 3}", "request.unknown_field"),
        (b"{\"cell\": \"1\", \"cell\": \"2\"}", "request.duplicate_key"),
        (deep.as_bytes(), "request.syntax"),
        (huge.as_bytes(), "request.limit"),
    ] {
        let answer = kernel.ask(line);
        assert_eq!(failed(&answer), ("request", false));
        assert_eq!(answer["error"]["code"], code, "{answer:#}");
        kernel.is_well();
    }
    let answer = kernel.ask(b"{\"cell\": \"1\", \"timeout_second\": 3, \"id\": [1.50, null]}");
    assert_eq!(answer["error"]["hint"], "did you mean timeout_seconds?");
    assert_eq!(answer["id"].to_string(), "[1.5,null]");
    kernel.close();
}

#[test]
fn ids_come_back_and_answers_keep_the_order() {
    if !has_python() {
        return;
    }
    let cells: Vec<String> =
        (0..50).map(|number| json!({"cell": number.to_string(), "id": number}).to_string()).collect();
    let ran = run(&mut command(["kernel", INPUT]), cells.join("\n").as_bytes());
    ran.exits(0);
    let answers: Vec<serde_json::Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!(answers.len(), 50);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!((&answer["id"], &answer["result"]), (&json!(number), &json!(number.to_string())));
    }
}

#[test]
fn blank_lines_and_interrupts_of_nothing_have_no_answer() {
    if !has_python() {
        return;
    }
    let ran = run(&mut command(["kernel", INPUT]), b"\n \r\n{\"interrupt\": true}\n{\"cell\": \"1\"}\r\n");
    ran.exits(0);
    assert_eq!(ran.text().lines().count(), 1);
    assert!(ran.text().contains("\"result\":\"1\""), "{}", ran.text());
    run(&mut command(["kernel", INPUT]), b"").exits(0);
}

#[test]
fn a_cell_of_ten_million_bytes_runs() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let cell = format!("text = '{}'\nprint(len(text))", "a".repeat(10_000_000));
    assert_eq!(kernel.prints(&cell), "10000000\n");
    let answer = kernel.run("a\0b");
    assert_eq!(failed(&answer), ("exception", false));
    kernel.is_well();
    kernel.close();
}

#[test]
fn what_cannot_be_run_is_said_at_once() {
    let ran = polyloop(["kernel", "-"]);
    ran.fails();
    assert!(ran.stderr.contains("standard input holds the cells"), "{}", ran.stderr);
    let ran = polyloop(["kernel", INPUT, "--python", "/there/is/none"]);
    ran.fails();
    assert!(ran.stderr.contains("hint: name a Python, 3.8 or later, with --python"), "{}", ran.stderr);
    let ran = polyloop(["kernel", INPUT, "--python", "false"]);
    ran.fails();
    assert!(ran.stderr.contains("false does not run the kernel"), "{}", ran.stderr);
    let ran = polyloop(["kernel", "fixtures/there_is_none.yaml"]);
    ran.fails();
    for flags in [["--timeout", "-1"], ["--timeout", "nan"], ["--memory", "x"], ["--max-output", "9999999999"]] {
        polyloop(["kernel", INPUT].iter().chain(&flags)).fails();
    }
}
