//! What is asked of any input: the answers are about the messages that `render` gives.

use serde_json::{Value, json};

use crate::common::{assert_calm, polyloop, polyloop_with, read, root};
use crate::{asked, inputs, view};

/// The messages of an input as `render` gives them, each with its origin.
fn rendered(input: &str) -> Option<Vec<Value>> {
    let stream = polyloop(["render", input, "--format", "jsonl"]);
    let report = polyloop(["render", input, "--format", "json"]);
    if stream.code == Some(2) || stream.code == Some(3) && stream.stdout.is_empty() {
        return None;
    }
    let lines = stream.text().lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let messages: Vec<Value> = lines.filter(|line| line.get("role").is_some()).collect();
    let report = report.json();
    let reported = report["messages"].as_array().expect("a list");
    assert_eq!(messages.len(), reported.len(), "{input}");
    let both = messages.into_iter().zip(reported).enumerate();
    Some(
        both.map(|(index, (mut message, report))| {
            message["index"] = json!(index);
            message["chars"] = report["chars"].clone();
            message
        })
        .collect(),
    )
}

#[test]
fn every_input_is_asked_for_what_it_renders_to() {
    let mut compared = 0;
    for input in inputs() {
        let Some(messages) = rendered(&input) else { continue };
        let current = asked(&["current", &input]);
        assert_eq!(current["schema"], "polyloop.current/1");
        assert_eq!(current["source"], input);
        let mut given = current["messages"].as_array().expect("a list").clone();
        for message in &mut given {
            let message = message.as_object_mut().expect("an object");
            assert!(message.remove("origin").is_some_and(|origin| origin.is_string()), "{input}");
            message.remove("text");
        }
        assert_eq!(given, messages, "{input}");
        assert_eq!(asked(&["slice", &input, ":"])["messages"], current["messages"], "{input}");

        let summary = asked(&["summarize", &input]);
        assert_eq!(summary["schema"], "polyloop.summary/1");
        assert_eq!(summary["total_messages"], messages.len(), "{input}");
        let of_role = |role: &str| messages.iter().filter(|message| message["role"] == role).count();
        for role in ["system", "developer", "user", "assistant", "tool"] {
            assert_eq!(summary["message_counts"][role], of_role(role), "{role} in {input}");
        }
        let blocks = || messages.iter().flat_map(|message| message["content"].as_array().expect("a list"));
        assert_eq!(summary["tool_calls"], blocks().filter(|block| block["type"] == "tool_use").count(), "{input}");
        let chars = messages.iter().map(|message| message["chars"].as_u64()).sum::<Option<u64>>();
        assert_eq!(summary["chars"], json!(chars), "{input}");

        let state = asked(&["state", &input]);
        assert_eq!(state["schema"], "polyloop.state/1");
        assert_eq!(current["runtime_state"]["variables"], state["variables"], "{input}");
        compared += 1;
    }
    assert!(compared > 50, "only {compared} inputs");
}

/// The text that ranges count in: that of the blocks one after the other.
#[test]
fn the_text_of_a_message_is_that_of_its_blocks() {
    for input in inputs() {
        if rendered(&input).is_none() {
            continue;
        }
        for message in asked(&["current", &input])["messages"].as_array().expect("a list") {
            let blocks = message["content"].as_array().expect("a list");
            match &blocks[..] {
                [block] if block["type"] == "text" => assert!(message.get("text").is_none(), "{message}"),
                blocks => {
                    let text = message["text"].as_str().unwrap_or_else(|| panic!("no text in {message}"));
                    let own = blocks.iter().filter_map(|block| block["text"].as_str());
                    own.for_each(|own| assert!(text.contains(own), "{own:?} is not in {text:?}"));
                }
            }
        }
    }
}

#[test]
fn nothing_reaches_a_terminal_alive() {
    for input in inputs() {
        for question in [&["current"][..], &["slice", "-3:"], &["summarize"], &["state"], &["search", "e"]] {
            let (name, rest) = question.split_first().expect("a question");
            for format in [&[][..], &["--format", "json"]] {
                let args = ["context", name, input.as_str()];
                let ran = polyloop(args.iter().chain(rest).chain(format));
                assert_calm(ran.text());
                assert_calm(&ran.stderr);
            }
        }
    }
}

#[test]
fn painting_changes_no_word() {
    // A text that is marked by paint is not pointed at as well.
    for question in [&["current"][..], &["slice", "1:"], &["summarize"], &["state"], &["search", "RS256"]] {
        let (name, rest) = question.split_first().expect("a question");
        let args = ["context", name, "fixtures/context/login.yaml"];
        let painted = polyloop(args.iter().chain(rest).chain(&["--color", "always"])).text().to_owned();
        assert!(painted.contains('\u{1b}'), "{question:?}");
        let is_pointer = |line: &&str| !line.is_empty() && line.chars().all(|it| matches!(it, ' ' | '^'));
        let words = |text: &str| {
            text.lines().filter(|line| !is_pointer(line)).map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(&unpainted(&painted)), words(polyloop(args.iter().chain(rest)).text()));
    }
}

/// Without what paints: `ESC [ … m`.
fn unpainted(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').expect("a sequence that paints").1)
}

#[test]
fn standard_input_is_asked_as_a_file_is() {
    for file in ["fixtures/context/login.yaml", "fixtures/react/request.render.jsonl"] {
        let mut from_file = asked(&["current", file]);
        let ran = polyloop_with(["context", "current", "-", "--format", "json"], &read(root().join(file)));
        from_file["source"] = json!("<stdin>");
        assert_eq!(ran.exits(0).json(), from_file);
    }
}

#[test]
fn flags_of_the_input_are_heeded() {
    let react = "fixtures/react/request.yaml";
    let two = asked(&["current", react, "--steps", "2"]);
    let render = polyloop(["render", react, "--steps", "2", "--format", "jsonl"]);
    assert_eq!(two["messages"].as_array().map(Vec::len), Some(render.text().lines().count()));
    assert!(two["messages"].as_array().map(Vec::len) < asked(&["current", react])["messages"].as_array().map(Vec::len));
    let log = "fixtures/providers/logs/bodies.jsonl";
    let of_call = |call: &str| asked(&["summarize", log, "--call", call])["total_messages"].as_u64();
    assert!(of_call("0") < of_call("1"));
    assert_eq!(of_call("1"), asked(&["summarize", log])["total_messages"].as_u64());
}

#[test]
fn an_answer_is_written_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("answer");
    let path = file.to_str().expect("the name is UTF-8");
    for format in ["text", "json"] {
        let args = ["context", "slice", "fixtures/context/login.yaml", "-2:", "--format", format];
        let ran = polyloop(args.iter().chain(&["-o", path]));
        assert_eq!(ran.exits(0).stdout, b"");
        assert_eq!(read(&file), polyloop(args).stdout);
    }
}

#[test]
fn messages_are_shown_as_render_shows_them() {
    for input in ["fixtures/context/login.yaml", "fixtures/providers/bodies/anthropic.json"] {
        let render = polyloop(["render", input]).text().to_owned();
        let messages = render.split("\n\n").next().expect("messages");
        assert!(view(&["current", input]).starts_with(messages), "{input}");
        let slice = view(&["slice", input, "-1"]);
        let shown = slice.split("\n\n").next().expect("a message");
        assert!(messages.ends_with(shown), "{input}");
    }
}
