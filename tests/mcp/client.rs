//! The official Python SDK as a client.
//!
//! It is run where a Python is named that has the package `mcp`: in POLYLOOP_MCP_PYTHON, or else in `mcp-venv` below the
//! target folder, which `.ci/run` makes.

use std::env;
use std::ffi::OsString;
use std::io::{Write, stderr};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{BINARY, polyloop, root, run};
use crate::written;

/// A request whose messages take many results, in all the ways there are.
fn large() -> String {
    let mut goal: Vec<Value> =
        (0..200).map(|number| json!({"role": "user", "content": format!("hay {number} 漢字 🌊")})).collect();
    goal[120] = json!({"role": "user", "content": "here is the needle"});
    goal[50] = json!({"role": "user", "content": "\u{1b}[31mlong\u{0}é\r\n".repeat(3_000)});
    goal[60] = json!({"role": "assistant", "content": [
        {"type": "text", "text": "calls"},
        {"type": "tool_use", "id": "c", "name": "look", "input": {"b": 1, "a": "<x>".repeat(4_000)}},
    ]});
    json!({"goal": goal, "state": {"alive": true, "revision": 3, "variables": []}}).to_string()
}

fn python() -> Option<OsString> {
    if let Some(named) = env::var_os("POLYLOOP_MCP_PYTHON") {
        return Some(named);
    }
    let target = Path::new(BINARY).parent().and_then(Path::parent)?;
    let python = target.join("mcp-venv/bin/python");
    python.exists().then(|| python.into_os_string())
}

#[test]
fn the_official_python_client_finds_its_way() {
    let Some(python) = python() else {
        // Not by the macro, whose words are only shown where a test fails.
        let said = "not run: no Python with the package mcp; .ci/run makes one, POLYLOOP_MCP_PYTHON names one";
        writeln!(stderr(), "the_official_python_client_finds_its_way: {said}").expect("stderr can be written to");
        return;
    };
    let input = written("request.json", &large());
    let stream = polyloop(["render".as_ref(), input.path.as_os_str(), "-f".as_ref(), "jsonl".as_ref()]);
    let stream = written("stream.jsonl", stream.exits(0).text());
    let mut command = Command::new(python);
    command.arg(root().join("tests/mcp/client.py")).arg(BINARY).arg(&input.path).arg(&stream.path);
    let ran = run(&mut command, b"");
    assert_eq!(ran.code, Some(0), "{}\n{}", String::from_utf8_lossy(&ran.stdout), ran.stderr);
    assert_eq!(ran.text().lines().filter(|line| line.ends_with("the server lives")).count(), 2, "{}", ran.text());
    write!(stderr(), "{}", ran.text()).expect("stderr can be written to");
}
