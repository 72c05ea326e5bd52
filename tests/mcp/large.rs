//! Contexts that do not fit into one result.

use polyloop::query::{MessageView, Subject};
use polyloop::request::State;
use serde_json::{Value, json};

use crate::session::Session;
use crate::{context, request, written};

/// The least that one result may have.
const BYTES: usize = 4096;

/// Text with characters of all lengths, and such as JSON escapes.
fn text(chars: usize) -> String {
    "a\u{1}é\n\"漢\\🌊\r\n".chars().cycle().take(chars).collect()
}

fn large() -> String {
    let short = |number: usize| json!({"role": "user", "content": format!("short {number}")});
    let mut goal: Vec<Value> = (0..150).map(short).collect();
    goal.insert(3, json!({"role": "user", "content": text(50_000)}));
    goal.insert(4, json!({"role": "user", "content": text(9_001)}));
    goal.push(json!({"role": "assistant", "content": [
        {"type": "text", "text": text(2_000)},
        {"type": "tool_use", "id": "call-1", "name": "look", "input": {"z": text(3_000), "a": 1}},
    ]}));
    goal.push(json!({"role": "tool", "content": [
        {"type": "tool_result", "tool_use_id": "call-1", "content": [{"type": "text", "text": text(5_000)}]},
    ]}));
    goal.push(json!({"role": "user", "content": [
        {"type": "image", "chars": 1, "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(20_000)}},
    ]}));
    let skills = json!([{"entry_id": "e".repeat(6_000), "content": text(6_000)}, {"entry_id": "s", "content": "x"}]);
    let state = json!({"alive": true, "revision": 7, "variables": [], "facts": text(9_000), "next_cursor": "no"});
    json!({"goal": goal, "injections": {"skills": skills}, "state": state}).to_string()
}

/// Puts parts together; each begins where the one before it ended.
#[derive(Default)]
struct Whole {
    text: String,
    chars: u64,
}

impl Whole {
    fn add(&mut self, part: &Value) -> bool {
        let text = part["text"].as_str().expect("parts have a text");
        let end = self.chars + text.chars().count() as u64;
        assert_eq!(part["chars"], json!([self.chars, end]));
        self.text.push_str(text);
        self.chars = end;
        part["total_chars"] == end
    }
}

#[test]
fn a_large_context_comes_in_parts_without_loss() {
    let text = large();
    let input = written("request.json", &text);
    let request = request(&text);
    let context = context(&request);
    let state = &request.parts().state;
    let subject = Subject { context: &context, state };
    let bytes = BYTES.to_string();
    let mut session = Session::open(&input.path, &["--max-result-bytes", &bytes]);
    let tools = session.ask("tools/list", &json!({}));
    for tool in ["current", "slice"] {
        let schema = tools["result"]["tools"]
            .as_array()
            .and_then(|tools| tools.iter().find(|of| of["name"] == tool))
            .expect("it is there");
        let output = jsonschema::validator_for(&schema["outputSchema"]).expect("it is a schema");
        let (mut index, mut whole, mut state_whole) = (0, Whole::default(), Whole::default());
        let mut has_state = false;
        for page in session.pages(tool, &json!({})) {
            assert!(page.to_string().len() <= BYTES, "{} bytes", page.to_string().len());
            assert!(output.is_valid(&page), "{page}");
            assert_eq!(page["total"], context.messages.len());
            for given in page["messages"].as_array().expect("there is a list") {
                assert_eq!(given["index"], index);
                let message = &context.messages[index];
                let Some(part) = given.get("part") else {
                    assert_eq!(given, &json!(MessageView { index, message }));
                    assert!(whole.text.is_empty(), "message {index} is whole and in parts");
                    index += 1;
                    continue;
                };
                let origin = message.origin.to_string();
                assert!(origin.starts_with(given["origin"].as_str().expect("there is an origin")));
                let cut = given.get("cut").and_then(|cut| cut["origin"].as_u64());
                assert_eq!(cut.is_some(), given["origin"] != origin, "what is cut says so");
                assert!(cut.is_none_or(|chars| chars as usize == origin.chars().count()));
                if whole.add(part) {
                    let expected = match part["of"].as_str().expect("it says what it is") {
                        "text" => subject.slice("0:".parse().expect("it is a range")).messages[index].text(),
                        "canonical" => {
                            let mut line = Vec::new();
                            message.write_canonical(&mut line).expect("a vector takes every write");
                            String::from_utf8(line).expect("it is UTF-8").trim_end_matches('\n').to_owned()
                        }
                        other => panic!("a part of {other}"),
                    };
                    assert!(whole.text == expected, "message {index} is not what it was");
                    whole = Whole::default();
                    index += 1;
                }
            }
            if let Some(part) = page.get("runtime_state_part") {
                assert_eq!(index, context.messages.len(), "the state comes last");
                has_state = state_whole.add(part);
            }
        }
        assert_eq!(index, context.messages.len());
        let state = serde_json::to_string(state).expect("it is JSON");
        assert_eq!(has_state, tool == "current" && state.len() > BYTES);
        assert!(!has_state || state_whole.text == state);
    }
    session.ends_quietly();
}

/// Numbers and the order of keys are handed through, as they are everywhere else.
#[test]
fn json_of_a_project_keeps_its_spelling() {
    let spelled = r#"{"z":1.50,"a":123456789012345678901234567890,"b":1e400,"c":-0.0}"#;
    let content = format!(r#"[{{"type":"tool_use","id":"c","name":"n","input":{spelled}}}]"#);
    let text = format!(
        r#"{{"goal":[{{"role":"assistant","content":{content}}}],"state":{{"alive":true,"facts":{spelled}}}}}"#
    );
    let input = written("request.json", &text);
    let mut session = Session::open(&input.path, &[]);
    for tool in ["current", "slice"] {
        session.request("tools/call", &json!({"name": tool}));
        let line = session.line();
        assert!(line.contains(spelled), "{tool}: {line}");
    }
    session.ends_quietly();
}

#[test]
fn searches_are_given_in_pages() {
    let goal: Vec<Value> =
        (0..250).map(|number| json!({"role": "user", "content": format!("a leak in hull {number}")})).collect();
    let text = json!({"goal": goal}).to_string();
    let input = written("request.json", &text);
    let mut session = Session::open(&input.path, &["--max-result-bytes", "4096"]);
    for limit in [1, 7, 100] {
        let mut indices = Vec::new();
        for page in session.pages("search", &json!({"query": "leak", "limit": limit})) {
            assert!(page.to_string().len() <= BYTES);
            let results = page["results"].as_array().expect("there is a list");
            assert!(!results.is_empty() && results.len() <= limit);
            assert_eq!(page["total"], 250);
            indices.extend(results.iter().map(|hit| hit["index"].as_u64().expect("a message was found")));
        }
        indices.sort_unstable();
        assert_eq!(indices, (0..250).collect::<Vec<u64>>(), "{limit} at a time");
    }
    session.ends_quietly();
}

#[test]
fn a_hit_with_a_long_origin_is_shortened_and_says_so() {
    let skills = json!([{"entry_id": "e".repeat(60_000), "content": "a leak"}]);
    let text = json!({"injections": {"skills": skills}}).to_string();
    let input = written("request.json", &text);
    let mut session = Session::open(&input.path, &["--max-result-bytes", "4096"]);
    let found = session.call("search", &json!({"query": "leak"}));
    assert!(found.to_string().len() <= BYTES);
    assert_eq!(found["results"][0]["cut"]["origin"], "injections.skills[0]#".len() + 60_000, "{found}");
    session.ends_quietly();
}

#[test]
fn a_cursor_belongs_to_its_call() {
    let text = large();
    let input = written("request.json", &text);
    let args = ["--max-result-bytes", "4096"];
    let mut session = Session::open(&input.path, &args);
    let cursor = session.call("slice", &json!({"start": 2}))["next_cursor"].clone();
    let same = session.call("slice", &json!({"start": 2, "cursor": cursor}));
    for (tool, arguments) in [
        ("slice", json!({"cursor": cursor})),
        ("slice", json!({"start": 3, "cursor": cursor})),
        ("slice", json!({"start": 2, "end": -1, "cursor": cursor})),
        ("current", json!({"cursor": cursor})),
        ("state", json!({"cursor": cursor})),
        ("search", json!({"query": "x", "cursor": cursor})),
        ("slice", json!({"start": 2, "cursor": format!("{}0", cursor.as_str().expect("it is text"))})),
        ("slice", json!({"start": 2, "cursor": "3.17.9.0123456789abcdef"})),
        ("slice", json!({"start": 2, "cursor": "\u{0}é".repeat(1000)})),
    ] {
        let said = session.refused(tool, &arguments);
        assert!(said.contains("the cursor is not one of this call"), "{tool}: {said}");
    }
    let refused = session.ask("resources/list", &json!({"cursor": cursor}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    session.ends_quietly();
    // Another server of the same context goes on where this one ended; of another context it does not.
    let mut again = Session::open(&input.path, &args);
    assert_eq!(again.call("slice", &json!({"start": 2, "cursor": cursor})), same);
    again.ends_quietly();
    let other = written("request.json", &text.replace("short 1\"", "other 1\""));
    let mut other = Session::open(&other.path, &args);
    other.refused("slice", &json!({"start": 2, "cursor": cursor}));
    other.ends_quietly();
}

#[test]
fn resources_are_listed_and_read_in_parts() {
    let text = large();
    let input = written("request.json", &text);
    let request = request(&text);
    let context = context(&request);
    let stream = String::from_utf8(context.to_canonical()).expect("it is UTF-8");
    let mut session = Session::open(&input.path, &["--max-result-bytes", "4096"]);
    let mut listed = Vec::new();
    let mut params = json!({});
    loop {
        let answer = session.ask("resources/list", &params);
        let result = &answer["result"];
        assert!(result.to_string().len() <= BYTES);
        listed.extend(result["resources"].as_array().expect("there is a list").clone());
        match result.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    assert_eq!(listed.len(), stream.lines().count());
    let mut in_parts = 0;
    for (resource, line) in listed.iter().zip(stream.lines()) {
        let mut uri = resource["uri"].clone();
        let (mut whole, mut parts) = (Whole::default(), 0);
        loop {
            let answer = session.ask("resources/read", &json!({"uri": uri}));
            assert!(answer["result"].to_string().len() <= BYTES, "{} bytes", answer["result"].to_string().len());
            let content = answer["result"]["contents"][0].clone();
            parts += 1;
            if content["mimeType"] == "application/json" {
                assert_eq!(content["text"], line);
                break;
            }
            let meta = &content["_meta"];
            let part = json!({"text": content["text"], "chars": meta["polyloop/chars"], "total_chars": meta["polyloop/total_chars"]});
            if whole.add(&part) {
                assert!(whole.text == line, "{uri} is not what it was");
                assert_eq!(meta.get("polyloop/next"), None);
                break;
            }
            uri = meta["polyloop/next"].clone();
        }
        in_parts += usize::from(parts > 1);
    }
    assert_eq!(in_parts, 6);
    session.ends_quietly();
}

/// The state of the run is given beside the messages where both fit.
#[test]
fn a_small_state_is_given_whole() {
    let text = r#"{"goal":[{"role":"user","content":"x"}],"state":{"alive":true,"revision":"r1","phase":"plan","variables":[{"name":"n","type":"int","preview":"3","size":1}]}}"#;
    let input = written("request.json", text);
    let request = request(text);
    let state: &State<'_> = &request.parts().state;
    let mut session = Session::open(&input.path, &[]);
    assert_eq!(session.call("state", &json!({})), json!({"runtime_state": state}));
    assert_eq!(session.call("current", &json!({}))["runtime_state"], json!(state));
    assert_eq!(session.call("summarize", &json!({}))["runtime_variables"], state.variables.len());
    session.ends_quietly();
}
