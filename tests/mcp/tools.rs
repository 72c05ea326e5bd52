//! What there is to call and to read, and what it gives.

use std::path::Path;

use jsonschema::{Validator, validator_for};
use polyloop::query::{self, How, Options, Question, Range, Subject};
use serde_json::{Value, json};

use crate::common::{polyloop, read, root};
use crate::session::Session;
use crate::{context, fixture, request, written};

const NAMES: [&str; 5] = ["current", "search", "slice", "summarize", "state"];

fn tools(session: &mut Session) -> Vec<Value> {
    let answer = session.ask("tools/list", &json!({}));
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn validator(schema: &Value) -> Validator {
    assert!(jsonschema::meta::is_valid(schema), "{schema}");
    assert_eq!(schema["type"], "object");
    validator_for(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

#[test]
fn a_session_is_opened_in_every_version() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = Session::spawn(&fixture("minimal/request.yaml"), &[]);
        let opened = session.initialize(version);
        assert_eq!(opened["protocolVersion"], version);
        assert_eq!(opened["serverInfo"]["name"], "polyloop");
        assert_eq!(opened["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(opened["capabilities"], json!({"tools": {}, "resources": {}}));
        assert_eq!(tools(&mut session).len(), 5);
        session.ends_quietly();
    }
    let mut session = Session::spawn(&fixture("minimal/request.yaml"), &[]);
    assert_eq!(session.initialize("1999-01-01")["protocolVersion"], "2025-11-25");
    session.ends_quietly();
}

#[test]
fn a_session_needs_no_opening_in_the_newest_version() {
    let mut session = Session::spawn(&fixture("minimal/request.yaml"), &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    });
    let found = session.ask("server/discover", &json!({"_meta": meta}));
    assert!(
        found["result"]["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))),
        "{found}"
    );
    let answer = session.ask("tools/call", &json!({"name": "summarize", "_meta": meta}));
    assert_eq!(answer["result"]["structuredContent"]["total_messages"], 4, "{answer}");
    let unknown = session.ask("resources/read", &json!({"uri": "context:///messages/4", "_meta": meta}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    session.ends_quietly();
}

#[test]
fn tools_say_what_they_take_and_give() {
    let mut session = Session::open(&fixture("minimal/request.yaml"), &[]);
    let tools = tools(&mut session);
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, NAMES);
    for tool in &tools {
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], true, "{tool}");
        assert_eq!(hints["destructiveHint"], false, "{tool}");
        assert_eq!(hints["idempotentHint"], true, "{tool}");
        assert_eq!(hints["openWorldHint"], false, "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        validator(&tool["outputSchema"]);
        let input = validator(&tool["inputSchema"]);
        assert!(!input.is_valid(&json!({"nonsense": 1})), "{tool}");
        if tool["name"] != "search" {
            assert!(input.is_valid(&json!({})), "{tool}");
        }
    }
    let search = &tools[1]["inputSchema"];
    let properties = &search["properties"];
    assert_eq!(search["required"], json!(["query"]));
    assert_eq!(properties["mode"]["enum"], json!(["words", "substring", "regex"]));
    assert_eq!(properties["mode"]["default"], "words");
    assert_eq!((&properties["limit"]["minimum"], &properties["limit"]["maximum"]), (&json!(1), &json!(100)));
    assert_eq!(properties["limit"]["default"], 10);
    let input = validator(search);
    for taken in [
        json!({"query": "x", "role": "tool", "segment": "fragments", "state": true, "limit": 100, "cursor": "c"}),
        json!({"query": "x", "role": null, "segment": null, "cursor": null, "limit": 2.0}),
    ] {
        assert!(input.is_valid(&taken), "{taken}");
    }
    for refused in [json!({"query": ""}), json!({"query": "x", "limit": 0}), json!({"query": "x", "role": "model"})] {
        assert!(!input.is_valid(&refused), "{refused}");
        session.refused("search", &refused);
    }
    session.ends_quietly();
}

/// No word of a context is anywhere but in what is asked for.
#[test]
fn what_the_server_says_of_itself_is_the_same_for_every_context() {
    let said = |input: &Path| {
        let mut session = Session::spawn(input, &[]);
        let mut said = vec![session.initialize("2025-11-25")];
        said.push(json!(tools(&mut session)));
        said.push(session.ask("resources/templates/list", &json!({})));
        session.ends_quietly();
        said
    };
    let first = said(&fixture("minimal/request.yaml"));
    for other in ["controls/request.json", "unicode/request.yaml", "empty_request/request.json"] {
        assert_eq!(said(&fixture(other)), first, "{other}");
    }
}

/// Inputs of every kind.
fn inputs() -> Vec<std::path::PathBuf> {
    let mut inputs: Vec<_> = [
        "react/request.yaml",
        "tool_calls/request.yaml",
        "unicode/request.yaml",
        "controls/request.json",
        "block_kinds/request.yaml",
        "empty_request/request.json",
        "react/request.render.jsonl",
        "import/react/messages.json",
    ]
    .map(fixture)
    .to_vec();
    let bodies = crate::common::files_under(&root().join("fixtures/providers/bodies"));
    inputs.extend(bodies.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")));
    inputs
}

#[test]
fn every_answer_is_what_the_schema_says_and_what_the_text_says() {
    for input in inputs() {
        let mut session = Session::open(&input, &[]);
        for tool in tools(&mut session) {
            let output = validator(&tool["outputSchema"]);
            let name = tool["name"].as_str().expect("tools have names");
            let arguments = if name == "search" { json!({"query": "e", "mode": "substring"}) } else { json!({}) };
            let answer = session.ask("tools/call", &json!({"name": name, "arguments": arguments}));
            let content = &answer["result"]["structuredContent"];
            if let Err(error) = output.validate(content) {
                panic!("{name} of {}: {error} in {content}", input.display());
            }
            let text = answer["result"]["content"][0]["text"].as_str().expect("there is a text");
            assert_eq!(&serde_json::from_str::<Value>(text).expect("it is JSON"), content, "{name}");
            assert_eq!(answer["result"]["content"].as_array().map(Vec::len), Some(1));
        }
        session.ends_quietly();
    }
}

#[test]
fn answers_are_those_of_the_library() {
    let words = ["the keel", "the hull leaks", "a mast", "the sail", "the helm"];
    let goal: Vec<Value> = words.iter().map(|words| json!({"role": "user", "content": words})).collect();
    let text = json!({"goal": goal, "state": {"alive": true, "revision": 2, "variables": []}}).to_string();
    let request = request(&text);
    let context = context(&request);
    let state = &request.parts().state;
    let subject = Subject { context: &context, state };
    let input = written("request.json", &text);
    let mut session = Session::open(&input.path, &[]);
    let current = json!(subject.current());
    let total = context.messages.len();
    assert!(total > 2);
    assert_eq!(
        session.call("current", &json!({})),
        json!({"messages": current["messages"], "total": total, "runtime_state": current["runtime_state"]})
    );
    for (start, end) in
        [(None, None), (Some(1), None), (Some(-2), None), (Some(0), Some(-1)), (None, Some(1)), (Some(3), Some(1))]
    {
        let expected = json!(subject.slice(Range { start, end }));
        assert_eq!(session.call("slice", &json!({"start": start, "end": end})), expected, "{start:?}:{end:?}");
    }
    assert_eq!(
        session.call("slice", &json!({"start": 1.0, "end": 1e300})),
        json!(subject.slice(Range { start: Some(1), end: None }))
    );
    assert_eq!(session.call("summarize", &json!({})), json!(subject.summarize()));
    assert_eq!(session.call("state", &json!({})), json!({"runtime_state": state}));
    let question = Question::new("the", How::Substring).expect("it is a query");
    let found = json!(query::search(&subject, &question, &Options { limit: 2, ..Options::default() }));
    let mut given = session.call("search", &json!({"query": "the", "mode": "substring", "limit": 2}));
    assert!(given.as_object_mut().is_some_and(|given| given.remove("next_cursor").is_some()), "{given}");
    assert_eq!(given, found);
    session.ends_quietly();
}

#[test]
fn arguments_that_do_not_fit_are_said_to_the_model() {
    let mut session = Session::open(&fixture("minimal/request.yaml"), &[]);
    for (tool, arguments, said) in [
        ("slice", json!({"start": "1"}), "slice"),
        ("slice", json!({"start": 1.5}), "1.5 is no integer"),
        ("slice", json!({"from": 1}), "unknown field `from`"),
        ("slice", json!({"cursor": 1}), "slice"),
        ("current", json!({"start": 1}), "unknown field `start`"),
        ("summarize", json!({"cursor": "x"}), "unknown field `cursor`"),
        ("search", json!({}), "missing field `query`"),
        ("search", json!({"query": 1}), "search"),
        ("search", json!({"query": ""}), "query is empty"),
        ("search", json!({"query": "x", "limit": 101}), "limit is 101"),
        ("search", json!({"query": "x", "limit": -1}), "limit is -1"),
        ("search", json!({"query": "x", "mode": "fuzzy"}), "unknown variant `fuzzy`"),
        ("search", json!({"query": "x", "segment": "recorded"}), "unknown variant `recorded`"),
        ("current", json!({"cursor": ""}), "the cursor is not one of this call"),
        ("state", json!({"cursor": "0.0.0.0"}), "the cursor is not one of this call"),
    ] {
        let refused = session.refused(tool, &arguments);
        assert!(refused.contains(said), "{tool} {arguments}: {refused}");
    }
    let long = session.refused("slice", &json!({"x".repeat(100_000): 1}));
    assert!(long.len() < 1100, "{} bytes", long.len());
    session.ends_quietly();
}

#[test]
fn messages_are_resources() {
    let input = fixture("react/request.yaml");
    let golden = String::from_utf8(read(root().join("fixtures/react/request.render.jsonl"))).expect("it is UTF-8");
    let mut session = Session::open(&input, &[]);
    let listed = session.ask("resources/list", &json!({}));
    let listed = listed["result"]["resources"].as_array().expect("there is a list");
    assert_eq!(listed.len(), golden.lines().count());
    for (resource, line) in listed.iter().zip(golden.lines()) {
        assert_eq!(resource["size"], line.len());
        assert_eq!(resource["mimeType"], "application/json");
        let read = session.ask("resources/read", &json!({"uri": resource["uri"]}));
        let expected = json!([{"uri": resource["uri"], "mimeType": "application/json", "text": line}]);
        assert_eq!(read["result"]["contents"], expected);
    }
    let line = golden.lines().nth(3).expect("there are four messages");
    let read = session.ask("resources/read", &json!({"uri": "context:///messages/3?chars=2-9"}));
    let content = &read["result"]["contents"][0];
    assert_eq!(content["text"], line.chars().skip(2).take(7).collect::<String>());
    assert_eq!(content["mimeType"], "text/plain");
    assert_eq!(content["_meta"]["polyloop/chars"], json!([2, 9]));
    assert_eq!(content["_meta"]["polyloop/total_chars"], line.chars().count());
    for uri in [
        "context:///messages/19",
        "context:///messages/-1",
        "file:///etc/hostname",
        "",
        "context:///messages/3?chars=9-2",
    ] {
        let answer = session.ask("resources/read", &json!({"uri": uri}));
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
        assert_eq!(answer["error"]["data"]["uri"], uri);
    }
    let templates = session.ask("resources/templates/list", &json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().expect("there is a list");
    assert_eq!(templates[0]["uriTemplate"], "context:///messages/{index}");
    assert_eq!(templates[1]["uriTemplate"], "context:///messages/{index}{?chars}");
    session.ends_quietly();
}

#[test]
fn steps_and_shapes_are_chosen_as_everywhere() {
    let mut session = Session::open(&fixture("react/request.yaml"), &["--steps", "2"]);
    let fewer = session.call("summarize", &json!({}));
    session.ends_quietly();
    let mut session = Session::open(&fixture("react/request.yaml"), &[]);
    assert!(session.call("summarize", &json!({}))["total_messages"].as_u64() > fewer["total_messages"].as_u64());
    session.ends_quietly();
}

/// A file that is written to while the server runs changes no answer.
#[test]
fn the_input_is_that_of_the_beginning() {
    let text = r#"{"goal": [{"role": "user", "content": "Find the leak."}]}"#;
    let input = written("request.json", text);
    let mut session = Session::open(&input.path, &[]);
    let before = session.call("current", &json!({}));
    std::fs::write(&input.path, text.replace("leak", "plug")).expect("it can be written to");
    assert_eq!(session.call("current", &json!({})), before);
    std::fs::remove_file(&input.path).expect("it can be removed");
    assert_eq!(session.call("current", &json!({})), before);
    session.ends_quietly();
}

#[test]
fn what_cannot_be_served_is_said_before() {
    let refused = polyloop(["mcp", "-"]);
    assert!(refused.fails().stderr.contains("standard input carries the protocol"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: name a file"), "{}", refused.stderr);
    for name in ["err_unknown_top", "err_template_no_field", "err_encoding_invalid_utf8"] {
        let folder = root().join("fixtures").join(name);
        let input = crate::common::files_under(&folder);
        let input =
            input.iter().find(|path| path.file_stem().is_some_and(|stem| stem == "request")).expect("it has a request");
        polyloop(["mcp".as_ref(), input.as_os_str()]).fails();
    }
    polyloop(["mcp", "fixtures/not_there.yaml"]).fails();
    for bytes in ["4095", "67108865", "-1", "many"] {
        let bytes = format!("--max-result-bytes={bytes}");
        assert!(polyloop(["mcp", "fixtures/minimal/request.yaml", &bytes]).fails().stderr.contains("max-result-bytes"));
    }
}
