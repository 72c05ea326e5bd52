//! Clients that say what is no message, too much, or nothing more.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{command, run, wait};
use crate::fixture;
use crate::session::Session;

/// The id and the code that answer a message; nothing, where it is not answered.
type Answer = Option<(Value, i64)>;

/// What is sent, and what answers it.
fn messages() -> Vec<(&'static [u8], Answer)> {
    let none = Value::Null;
    vec![
        (b"not json", Some((none.clone(), -32700))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", Some((none.clone(), -32700))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"} x", Some((none.clone(), -32700))),
        (b"\xff\xfe\x00\x01\x80garbage\x00", Some((none.clone(), -32700))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"\xff\"}", Some((none.clone(), -32700))),
        (b"[]", Some((none.clone(), -32600))),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", Some((none.clone(), -32600))),
        (b"null", Some((none.clone(), -32600))),
        (b"7", Some((none.clone(), -32600))),
        (b"\"ping\"", Some((none.clone(), -32600))),
        (b"{}", Some((none.clone(), -32600))),
        (b"{\"id\":\"b\",\"method\":\"ping\"}", Some((json!("b"), -32600))),
        (b"{\"jsonrpc\":\"1.0\",\"id\":\"c\",\"method\":\"ping\"}", Some((json!("c"), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"d\"}", Some((json!("d"), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":5}", Some((json!("e"), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", Some((none.clone(), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", Some((none.clone(), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", Some((json!(1.5), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"notifications/initialized\"}", Some((json!(1.5), -32600))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"f\",\"method\":\"no/such\"}", Some((json!("f"), -32601))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"g\",\"method\":\"prompts/list\"}", Some((json!("g"), -32601))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"x\"}}", Some((json!("h"), -32601))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"tools/call\"}", Some((json!("i"), -32602))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"j\",\"method\":\"tools/call\",\"params\":null}", Some((json!("j"), -32602))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"k\",\"method\":\"tools/call\",\"params\":{\"name\":7}}", Some((json!("k"), -32602))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"tools/call\",\"params\":{\"name\":\"slice\",\"arguments\":[1]}}", Some((json!("l"), -32602))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"m\",\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}", Some((json!("m"), -32602))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"n\",\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}", Some((json!("n"), -32602))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"o\",\"method\":\"resources/read\",\"params\":{\"uri\":7}}", Some((json!("o"), -32602))),
        (b"", None),
        (b"  \r", None),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/no_such\",\"params\":{\"a\":1}}", None),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":12345}}", None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}", None),
        (b"{\"id\":1,\"error\":7}", None),
    ]
}

#[test]
fn what_is_no_request_is_answered_or_passed_over_and_the_server_lives() {
    for is_open in [true, false] {
        let mut session = Session::spawn(&fixture("minimal/request.yaml"), &[]);
        if is_open {
            session.initialize("2025-11-25");
        }
        for (message, expected) in messages() {
            session.send_bytes(message);
            session.send_bytes(b"\n");
            if let Some((id, code)) = expected {
                let answer = session.message();
                let words = String::from_utf8_lossy(message);
                assert_eq!(answer.get("id"), Some(&id), "{words}: {answer}");
                assert_eq!(answer["jsonrpc"], "2.0");
                // Before a session is open, whatever else is wrong, that is.
                let is_refused = !is_open && matches!(code, -32601);
                assert!(answer["error"]["code"] == code || is_refused, "{words}: {answer}");
            }
            session.lives();
        }
        if !is_open {
            session.initialize("2025-11-25");
        }
        assert_eq!(session.call("summarize", &json!({}))["total_messages"], 4);
        session.ends_quietly();
    }
}

#[test]
fn a_request_before_the_session_is_open_is_refused() {
    let mut session = Session::spawn(&fixture("minimal/request.yaml"), &[]);
    for (method, params) in
        [("tools/list", json!({})), ("tools/call", json!({"name": "current"})), ("resources/list", json!({}))]
    {
        let answer = session.ask(method, &params);
        assert!(answer["error"]["code"].is_i64() && answer.get("result").is_none(), "{answer}");
    }
    session.initialize("2025-11-25");
    session.call("current", &json!({}));
    session.ends_quietly();
}

/// As much as a pipe can bring: none of it is held.
#[test]
fn a_line_too_long_is_answered_by_its_id() {
    let mut session = Session::open(&fixture("minimal/request.yaml"), &[]);
    let megabyte = "x".repeat(1 << 20);
    session.send_bytes(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"search\",\"arguments\":{\"query\":\"",
    );
    for _ in 0..64 {
        session.send_bytes(megabyte.as_bytes());
    }
    session.send_bytes(b"\"}},\"id\":\"last\"}\n");
    let answer = session.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("last"), &json!(-32600)), "{answer}");
    session.send_bytes("[".repeat(4 << 20).as_bytes());
    session.send_bytes(b"\n");
    let answer = session.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)), "{answer}");
    session.lives();
    // A long one that is not too long.
    let told = session.refused("search", &json!({"query": "y".repeat(1_000_000), "mode": "substring"}));
    assert!(told.len() < 200 && told.contains("limit"), "{told}");
    session.ends_quietly();
}

#[test]
fn json_too_deep_is_answered_by_its_id() {
    let mut session = Session::open(&fixture("minimal/request.yaml"), &[]);
    for depth in [100, 1_000, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{{"name":"slice","arguments":{{"x":{deep}}}}}}}"#
        );
        session.send_bytes(message.as_bytes());
        session.send_bytes(b"\n");
        let answer = session.message();
        assert_eq!(answer["id"], "deep", "{answer}");
        assert!(answer["error"]["code"] == -32600 || answer["result"]["isError"] == true, "{answer}");
    }
    session.lives();
    session.ends_quietly();
}

fn open(id: u64) -> Value {
    let info = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

/// All that is asked before the end is answered, in whatever pieces it comes.
#[test]
fn what_was_asked_before_the_end_is_answered() {
    let mut input = format!("{}\n", open(0));
    for id in 1..=300 {
        let tool = ["current", "summarize", "state"][id % 3];
        input +=
            &format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}));
    }
    let ran = run(&mut command(["mcp", "fixtures/react/request.yaml"]), input.as_bytes());
    let ids: BTreeSet<u64> = ran
        .exits(0)
        .text()
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).expect("each line is a message");
            assert!(answer.get("result").is_some(), "{answer}");
            answer["id"].as_u64().expect("it has an id")
        })
        .collect();
    assert_eq!(ids, (0..=300).collect());
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_end_may_come_anywhere() {
    let whole = format!("{}\n{}", open(0), json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    for end in 0..=whole.len() {
        let ran = run(&mut command(["mcp", "fixtures/minimal/request.yaml"]), &whole.as_bytes()[..end]);
        assert_eq!(ran.exits(0).stderr, "", "{end}");
        let answers: Vec<Value> =
            ran.text().lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
        if end == whole.len() {
            assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": 1, "result": {}}), "the last line needs no end");
        }
        // A line that is not whole is no JSON.
        assert!(
            answers.iter().all(|answer| answer.get("result").is_some() || answer["error"]["code"] == -32700),
            "{end}"
        );
    }
}

#[test]
fn cancelled_requests_leave_the_server_alive() {
    let mut session = Session::open(&fixture("react/request.yaml"), &[]);
    let mut asked = BTreeSet::new();
    for _ in 0..40 {
        let id =
            session.request("tools/call", &json!({"name": "search", "arguments": {"query": "the", "mode": "words"}}));
        asked.insert(id);
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    }
    let ping = session.request("ping", &json!({}));
    // One may have been answered before it was cancelled.
    loop {
        let answer = session.message();
        let id = answer["id"].as_u64().expect("it has an id");
        if id == ping {
            break;
        }
        assert!(asked.remove(&id), "{id} was answered twice, or never asked");
        assert!(answer.get("result").is_some(), "{answer}");
    }
    assert_eq!(session.call("summarize", &json!({}))["total_messages"], 19);
    let (_, status, stderr) = session.end();
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_client_that_stops_reading_ends_the_server_quietly() {
    let mut session = Session::open(&fixture("react/request.yaml"), &[]);
    session.stop_reading();
    let ping = format!("{}\n", json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    // The pipe is closed with the first answer that nobody takes.
    while session.is_running() {
        session.try_send(ping.as_bytes());
        std::thread::sleep(Duration::from_millis(2));
    }
    let (_, status, stderr) = session.end();
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn it_ends_when_it_is_told_to() {
    let mut session = Session::open(&fixture("minimal/request.yaml"), &[]);
    let id = session.child().id().to_string();
    let told = Command::new("kill").args(["-TERM", &id]).status().expect("there is kill");
    assert!(told.success());
    let status = wait(session.child(), "polyloop mcp");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
}
