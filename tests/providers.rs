//! What providers are sent: read, written back, refused, repaired, and compared on the wire.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use polyloop::context::{Content, Context, Status};
use polyloop::provider::{self, Body, RULES, Shape, Source, What};
use polyloop::read::{self, As, Format, Input, Recorded};
use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/providers").join(name)
}

/// The files of a folder whose names end so, in order; a folder without any is a mistake.
fn files(name: &str, ending: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    assert!(!files.is_empty(), "no file of {name} ends in {ending}");
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn recorded<'t>(text: &'t str, path: &Path, taken: As) -> Recorded<'t> {
    match read::read_as(text, Format::of_path(path), taken) {
        Ok(Input::Recorded(recorded)) => recorded,
        Ok(Input::Request(_)) => panic!("{}: taken for a request", path.display()),
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

fn written(context: &Context<'_>, shape: Shape, source: Source<'_>) -> String {
    let mut out = Vec::new();
    Body::of(context, shape, source).write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn source<'r>(recorded: &'r Recorded<'_>) -> Source<'r> {
    Source { shape: recorded.shape, wire: recorded.wire.as_deref() }
}

/// JSON without the white space between its tokens, every spelling kept.
fn compact(text: &str) -> String {
    polyloop::context::Json::read(text).unwrap().as_str().to_owned()
}

fn shape_in(name: &str) -> Shape {
    let found = name.split(['.', '_']).find_map(Shape::of_name);
    found.unwrap_or_else(|| panic!("{name} names no shape"))
}

fn polyloop(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_polyloop")).args(args).output().unwrap()
}

#[test]
fn a_body_is_read_as_its_shape_and_written_back_as_it_was() {
    for path in files("bodies", ".json") {
        let text = fs::read_to_string(&path).unwrap();
        let shape = shape_in(&name(&path));
        let recorded = recorded(&text, &path, As::default());
        assert_eq!(recorded.shape, Some(shape), "{}", path.display());
        let got = written(&recorded.context, shape, source(&recorded));
        let expected = match name(&path).contains("list") {
            true => format!("{{\"messages\":{}}}", compact(&text)),
            false => compact(&text),
        };
        assert_eq!(got, expected, "{}", path.display());
        // The context holds all that is modelled, so that it reads back the same from what it is written as.
        let again = recorded_of(&got, shape);
        assert_eq!(again.0, recorded.context.to_canonical(), "{}", path.display());
    }
}

fn recorded_of(text: &str, shape: Shape) -> (Vec<u8>, usize) {
    let recorded = recorded(text, Path::new("x.json"), As { shape: Some(shape), call: None });
    (recorded.context.to_canonical(), recorded.context.messages.len())
}

/// The canonical stream of every body, and what of it is not modelled, are kept beside it.
#[test]
fn what_is_read_of_a_body() {
    let mut wrong = Vec::new();
    for path in files("bodies", ".json") {
        let text = fs::read_to_string(&path).unwrap();
        let recorded = recorded(&text, &path, As::default());
        let mut got = String::from_utf8(recorded.context.to_canonical()).unwrap();
        for message in &recorded.context.messages {
            let blocks: Vec<String> = message.blocks.iter().map(|block| block.origin.to_string()).collect();
            got += &format!("# {} <- {}\n", message.origin, blocks.join(" "));
        }
        for unmodelled in &recorded.unmodelled {
            got += &format!("! {} {} {}\n", unmodelled.code(), unmodelled.path, unmodelled.in_words());
        }
        let expected = path.with_extension("read");
        if std::env::var_os("POLYLOOP_WRITE_EXPECTED").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        if fs::read_to_string(&expected).unwrap_or_default() != got {
            wrong.push(format!("{}:\n{got}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_log_gives_one_of_its_calls_and_else_the_last() {
    for path in files("logs", "") {
        let text = fs::read_to_string(&path).unwrap();
        if name(&path).contains("session") {
            continue;
        }
        let read = |call| recorded(&text, &path, As { shape: None, call });
        let last = read(None);
        let call = last.call.as_ref().unwrap_or_else(|| panic!("{} is no log", path.display()));
        assert_eq!((call.index, call.of), (1, 2), "{}", path.display());
        assert_eq!(last.context.messages.len(), 3, "{}", path.display());
        let first = read(Some(0));
        assert_eq!(first.context.messages.len(), 1, "{}", path.display());
        assert_eq!(first.call.as_ref().map(|call| call.index), Some(0));
        let past = read::read_as(&text, Format::of_path(&path), As { shape: None, call: Some(2) }).unwrap_err();
        assert_eq!(past.code().as_str(), "usage.arguments", "{}", path.display());
    }
}

/// A body that is broken was a call all the same: the one before it is not taken in its place.
#[test]
fn a_broken_body_of_a_log_is_told_of() {
    let whole = r#"{"request":{"body":"{\"messages\":[{\"role\":\"user\",\"content\":\"One\"}]}"}}"#;
    for (body, code) in [
        (r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#, "request.duplicate_key"),
        (r#"{"messages":[{"role":"user","content":"\ud800"}]}"#, "request.encoding"),
        (r#"{"contents":[{"parts":[{"te"#, "request.syntax"),
    ] {
        let text = format!("{whole}\n{}\n", serde_json::json!({"request": {"body": body}}));
        let error = read::read_as(&text, Some(Format::JsonLines), As::default()).unwrap_err();
        assert_eq!((error.code().as_str(), error.position().map(|at| at.line)), (code, Some(2)), "{body}");
        let first = recorded(&text, Path::new("x.jsonl"), As { shape: None, call: Some(0) });
        assert_eq!(first.call.map(|call| call.of), Some(2));
    }
}

#[test]
fn the_shape_is_found_where_others_copy_it() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    for (text, shape) in [
        (format!(r#"{{"model":"m","stop_sequences":["x"],"messages":[{call}]}}"#), Shape::OpenAi),
        (r#"{"contents":{"parts":[{"text":"x"}]}}"#.to_owned(), Shape::Gemini),
        (r#"{"contents":"x"}"#.to_owned(), Shape::Gemini),
    ] {
        assert_eq!(recorded(&text, Path::new("x.json"), As::default()).shape, Some(shape), "{text}");
    }
}

#[test]
fn a_session_is_what_the_model_saw_at_its_end() {
    let path = folder("logs/session.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let recorded = recorded(&text, &path, As::default());
    let origins: Vec<String> = recorded.context.messages.iter().map(|message| message.origin.to_string()).collect();
    assert_eq!(origins, ["[3].message", "[4].message", "[7].message", "[8].message"]);
    let blocks: Vec<usize> = recorded.context.messages.iter().map(|message| message.blocks.len()).collect();
    assert_eq!(blocks, [1, 2, 1, 1], "the lines of one answer are one message");
    let left: Vec<(&str, usize)> = recorded
        .unmodelled
        .iter()
        .filter(|unmodelled| unmodelled.what == What::Left)
        .map(|unmodelled| (&*unmodelled.name, unmodelled.count))
        .collect();
    let expected = [("messages from before the conversation was compacted", 1), ("messages of side conversations", 1)];
    assert_eq!(left, expected);
    assert_eq!(recorded.shape, Some(Shape::Anthropic));
    let body = written(&recorded.context, Shape::Anthropic, source(&recorded));
    assert_eq!(recorded_of(&body, Shape::Anthropic).0, recorded.context.to_canonical());
}

/// A body is refused for every rule and every shape that enforces it, and one near it is taken.
#[test]
fn every_rule_refuses_what_breaks_it_and_nothing_near_it() {
    let check = |path: &Path, shape: Shape| {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let recorded = recorded(&text, path, As { shape: Some(shape), call: None });
        provider::check(&recorded.context, shape, recorded.wire.as_deref())
    };
    let mut wrong = Vec::new();
    let mut expected = BTreeSet::new();
    for (rule, shape) in RULES.iter().flat_map(|rule| rule.shapes.iter().map(move |shape| (rule, *shape))) {
        let code = rule.code.strip_prefix("provider.").unwrap();
        let file = |kind: &str| folder("rules").join(format!("{code}.{shape}.{kind}.json"));
        expected.extend([name(&file("refused")), name(&file("taken"))]);
        let findings = check(&file("refused"), shape);
        // A result that stands elsewhere is not there for its call.
        let comes_along = |code: &str| rule.code.ends_with("misplaced") && code == "provider.call_without_result";
        let is_other = |code: &str| code != rule.code && !comes_along(code);
        if !findings.iter().any(|finding| finding.code == rule.code) || findings.iter().any(|f| is_other(f.code)) {
            wrong.push(format!("{code}.{shape}: for this rule alone: {findings:?}"));
        }
        let findings = check(&file("taken"), shape);
        if !findings.is_empty() {
            wrong.push(format!("{code}.{shape} is taken, but: {findings:?}"));
        }
        // The command line says the same.
        for (kind, exit) in [("refused", 2), ("taken", 0)] {
            let path = file(kind);
            let args = ["render", path.to_str().unwrap(), "--from", shape.as_str(), "--format", shape.as_str()];
            let out = polyloop(&args);
            if out.status.code() != Some(exit) || (exit == 2) != out.stdout.is_empty() {
                wrong.push(format!("{code}.{shape}.{kind}: {}", String::from_utf8_lossy(&out.stderr)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let there: BTreeSet<String> = files("rules", "").iter().map(|path| name(path)).collect();
    assert_eq!(there, expected, "a file of no rule proves nothing");
}

#[test]
fn the_readme_lists_every_rule() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let table: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `provider.")).collect();
    let head = readme.lines().find(|line| line.starts_with("| rule |")).unwrap();
    let shapes: Vec<Shape> = head.split(" | ").filter_map(Shape::of_name).collect();
    assert_eq!(shapes.len(), Shape::ALL.len());
    let rules: Vec<String> = RULES
        .iter()
        .map(|rule| {
            let mark = |shape| if rule.shapes.contains(shape) { " x |" } else { "  |" };
            let marks: String = shapes.iter().map(mark).collect();
            format!("| `{}` |{marks} {} |", rule.code, rule.why.replace('|', "\\|"))
        })
        .collect();
    assert_eq!(table.join("\n"), rules.join("\n"));
    assert!(RULES.iter().all(|rule| !rule.reason.is_empty() && !rule.reason.ends_with('.')));
}

/// Two results in messages of their own, a call without an id: what a context goes out as is what is looked at.
#[test]
fn a_context_of_another_shape_is_taken_as_it_is_written() {
    let path = folder("rules/result_without_call.gemini.taken.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"id\": \"x\",", "");
    let recorded = recorded(&text, &path, As::default());
    assert_eq!(recorded.shape, Some(Shape::Gemini));
    for shape in [Shape::OpenAi, Shape::Responses, Shape::Anthropic] {
        assert_eq!(provider::check(&recorded.context, shape, recorded.wire.as_deref()), [], "{shape}");
        let body = written(&recorded.context, shape, source(&recorded));
        let (again, _) = recorded_of(&body, shape);
        assert!(String::from_utf8(again).unwrap().contains("call_0"), "{body}");
    }
}

#[test]
fn bodies_differ_on_the_wire_as_expected() {
    for path in files("wire", ".expected.json") {
        let expected: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let side = |side: &str| path.to_string_lossy().replace(".expected.", &format!(".{side}."));
        let out = polyloop(&["diff", &side("a"), &side("b"), "--wire", "--format", "json"]);
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(report["identical"], true, "{}: {report}", path.display());
        assert_eq!(report["wire"], expected, "{}", path.display());
        let code = if expected["identical"] == true { 0 } else { 1 };
        assert_eq!(out.status.code(), Some(code), "{}", path.display());
        let plain = polyloop(&["diff", &side("a"), &side("b")]);
        assert_eq!(plain.status.code(), Some(0), "{}", path.display());
        let text = polyloop(&["diff", &side("a"), &side("b"), "--wire"]);
        for change in expected["changes"].as_array().unwrap() {
            let text = String::from_utf8_lossy(&text.stdout).into_owned();
            assert!(text.contains(change["class"].as_str().unwrap()), "{}", path.display());
            assert!(text.contains(change["path"].as_str().unwrap()), "{}", path.display());
        }
    }
}

#[test]
fn a_run_request_has_no_wire() {
    let file = folder("repair/request.yaml");
    let file = file.to_str().unwrap();
    let out = polyloop(&["diff", file, file, "--wire"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("--wire compares bodies"));
}

/// Every file of the folder is repaired to what lies beside it, and only then taken.
#[test]
fn lost_results_are_marked_and_nothing_is_dropped() {
    for path in files("repair", "").into_iter().filter(|path| !name(path).contains(".repaired.")) {
        let file = path.to_str().unwrap();
        let shape = if name(&path).contains("request") { Shape::OpenAi } else { shape_in(&name(&path)) };
        let without = polyloop(&["render", file, "--format", shape.as_str()]);
        assert_eq!(without.status.code(), Some(2), "{file}");
        assert!(String::from_utf8_lossy(&without.stderr).contains("--repair"), "{file}");
        let with = polyloop(&["render", file, "--format", shape.as_str(), "--repair"]);
        assert_eq!(with.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&with.stderr));
        let expected = path.with_extension("repaired.txt");
        if std::env::var_os("POLYLOOP_WRITE_EXPECTED").is_some() {
            fs::write(&expected, &with.stdout).unwrap();
        }
        assert_eq!(String::from_utf8_lossy(&with.stdout), fs::read_to_string(&expected).unwrap_or_default(), "{file}");

        let report = |args: &[&str]| -> Value {
            let args = [&["render", file, "--format", "json"], args].concat();
            serde_json::from_slice(&polyloop(&args).stdout).unwrap()
        };
        let (before, after) = (report(&[]), report(&["--repair"]));
        let repairs = after["repairs"].as_array().unwrap();
        assert!(!repairs.is_empty(), "{file}");
        let blocks = |report: &Value| -> Vec<Value> {
            let messages = report["messages"].as_array().unwrap().iter();
            messages.flat_map(|message| message["blocks"].as_array().unwrap().clone()).collect()
        };
        let (before, after) = (blocks(&before), blocks(&after));
        assert_eq!(before.len() + repairs.len(), after.len(), "{file}");
        let kept: Vec<&Value> = after.iter().filter(|block| block["status"].is_null()).collect();
        assert_eq!(kept, before.iter().collect::<Vec<_>>(), "{file}: what was there is there as it was");
        for repair in repairs {
            let status = repair["status"].as_str().unwrap();
            let marked = after.iter().filter(|block| block["status"] == status).count();
            assert!(marked > 0, "{file}: {repair}");
        }
    }
}

#[test]
fn what_is_known_of_a_call_is_said() {
    let path = folder("repair/responses.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut recorded = recorded(&text, &path, As::default());
    let wire = recorded.wire.clone().unwrap();
    let repairs = provider::repair(&mut recorded.context, recorded.shape, |origin| wire.status_of(origin));
    let said: Vec<(String, Status)> = repairs.into_iter().map(|repair| (repair.tool_use_id, repair.status)).collect();
    assert_eq!(said, [("a".to_owned(), Status::Pending), ("b".to_owned(), Status::Cancelled)]);
}

/// What answers a call is counted by its id, and stands anywhere behind it.
#[test]
fn only_calls_without_a_result_are_repaired() {
    let call = |ids: &[&str]| {
        let calls = ids.iter().map(|id| serde_json::json!({"id": id, "function": {"name": "f", "arguments": "{}"}}));
        serde_json::json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
    };
    let result = |id: &str| serde_json::json!({"role": "tool", "tool_call_id": id, "content": "r"});
    let said = || serde_json::json!({"role": "user", "content": "x"});
    for (messages, repaired) in [
        (vec![call(&["a", "a"]), result("a"), result("a")], vec![]),
        (vec![call(&["a", "a"]), result("a")], vec!["messages[0].tool_calls[1]"]),
        (vec![call(&["a", "b"]), result("a"), call(&["a"]), result("a"), result("b")], vec![]),
        (vec![call(&["a"]), said(), call(&["a"]), result("a")], vec!["messages[0].tool_calls[0]"]),
        (vec![call(&["a"]), call(&["b"]), said(), result("b")], vec!["messages[0].tool_calls[0]"]),
        (
            vec![call(&["a"]), said(), call(&["b"]), said()],
            vec!["messages[0].tool_calls[0]", "messages[2].tool_calls[0]"],
        ),
    ] {
        let text = serde_json::json!({ "messages": messages }).to_string();
        let mut recorded = recorded(&text, Path::new("x.json"), As::default());
        let repairs = provider::repair(&mut recorded.context, recorded.shape, |_| Status::Lost);
        let paths: Vec<&str> = repairs.iter().map(|repair| &*repair.path).collect();
        assert_eq!(paths, repaired, "{text}");
        let lost = provider::check(&recorded.context, Shape::Responses, None);
        let lost = lost.iter().filter(|finding| finding.code == "provider.call_without_result").count();
        assert!(lost == 0 || text.matches(r#""id":"a""#).count() > 1, "{text}");
    }
}

#[test]
fn a_parameter_takes_no_place_of_the_context() {
    let file = folder("bodies/openai.json");
    let file = file.to_str().unwrap();
    for key in ["messages=5", "tools=[]", "system=x", "input=x"] {
        let out = polyloop(&["render", file, "--format", "openai", "--param", key]);
        assert_eq!(out.status.code(), Some(2), "{key}");
        assert!(out.stdout.is_empty(), "{key}");
    }
}

/// OpenAI to Anthropic to Gemini to OpenAI, each step through a canonical context.
#[test]
fn parallel_calls_come_back_from_a_journey() {
    let path = folder("journey/openai.json");
    let text = fs::read_to_string(&path).unwrap();
    let start = recorded(&text, &path, As::default());
    let canonical = start.context.to_canonical();
    let mut text = text.clone();
    let mut from = Shape::OpenAi;
    for to in [Shape::Anthropic, Shape::Gemini, Shape::Bedrock, Shape::Responses, Shape::OpenAi] {
        let recorded = recorded(&text, Path::new("x.json"), As { shape: Some(from), call: None });
        assert_eq!(provider::check(&recorded.context, to, None), [], "{from} to {to}");
        let body = Body::of(&recorded.context, to, Source { shape: recorded.shape, wire: recorded.wire.as_deref() });
        assert_eq!(body.losses, [], "{from} to {to}");
        let mut out = Vec::new();
        body.write(&mut out).unwrap();
        text = String::from_utf8(out).unwrap();
        from = to;
    }
    let back = recorded(&text, Path::new("x.json"), As { shape: Some(Shape::OpenAi), call: None });
    assert_eq!(String::from_utf8(back.context.to_canonical()), String::from_utf8(canonical));
}

#[test]
fn what_a_shape_cannot_say_is_named_and_kept_back() {
    let path = folder("bodies/openai.json");
    let file = path.to_str().unwrap();
    let strict = polyloop(&["render", file, "--format", "anthropic"]);
    assert_eq!(strict.status.code(), Some(2));
    let path = folder("bodies/anthropic.json");
    let file = path.to_str().unwrap();
    let strict = polyloop(&["render", file, "--format", "openai"]);
    assert_eq!(strict.status.code(), Some(2));
    assert!(strict.stdout.is_empty());
    let said = String::from_utf8_lossy(&strict.stderr).into_owned();
    for lost in ["a thought", "redacted_thinking", "is_error: true", "document", "provider.loss"] {
        assert!(said.contains(lost) || lost == "provider.loss", "{lost}: {said}");
    }
    let lossy = polyloop(&["render", file, "--format", "openai", "--lossy"]);
    let body: Value = serde_json::from_slice(&lossy.stdout).unwrap();
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], r#"{"path":"hull.log","deep":1.50}"#);
    let said = String::from_utf8_lossy(&lossy.stderr).into_owned();
    assert!(said.contains("lost: messages[1].content[0]: a thought"), "{said}");
    assert!(said.contains("parameters are not carried over: model, max_tokens"), "{said}");
    assert!(said.contains("markers for the cache are not carried over: 1"), "{said}");
}

/// Four user messages in a row are normal in a request, and one interface takes none.
#[test]
fn messages_in_a_row_become_one_only_where_that_is_asked_for() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/react/request.yaml");
    let file = file.to_str().unwrap();
    let strict = polyloop(&["render", file, "--format", "bedrock"]);
    assert_eq!(strict.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&strict.stderr).contains("--lossy makes messages"));
    let lossy = polyloop(&["render", file, "--format", "bedrock", "--lossy"]);
    assert_eq!(lossy.status.code(), Some(0), "{}", String::from_utf8_lossy(&lossy.stderr));
    assert!(String::from_utf8_lossy(&lossy.stderr).contains("become one"));
    let body: Value = serde_json::from_slice(&lossy.stdout).unwrap();
    let roles: Vec<&str> = body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    let blocks: usize =
        body["messages"].as_array().unwrap().iter().map(|m| m["content"].as_array().unwrap().len()).sum();
    assert_eq!(blocks, 19, "every block is there");
}

#[test]
fn a_request_leaves_as_a_body_with_its_parameters() {
    let path = folder("repair/request.yaml");
    let args = ["render", path.to_str().unwrap(), "--format", "anthropic", "--repair"];
    let out = polyloop(&[&args[..], &["--param", "max_tokens=64", "--param", "model=m"]].concat());
    let body: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(body["max_tokens"], 64);
    assert_eq!(body["model"], "m");
    assert_eq!(body["messages"][2]["content"].as_array().unwrap().len(), 4, "results of one turn are one message");
    assert!(!String::from_utf8_lossy(&out.stderr).contains("wants"));
}

/// The handed bodies, where they are there: each reads, and comes back to its own shape as the value it was.
#[test]
fn handed_bodies_come_back() {
    let Some(folder) = common::cases("provider") else { return };
    let mut bodies = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_log = path.extension().is_some_and(|ending| ending == "jsonl");
        if path.extension().is_none_or(|ending| ending != "json") && !is_log {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let calls = recorded(&text, &path, As::default()).call.map_or(1, |call| call.of);
        for call in 0..calls {
            let taken = As { shape: None, call: (calls > 1).then_some(call) };
            let recorded = recorded(&text, &path, taken);
            let (Some(shape), Some(wire)) = (recorded.shape, &recorded.wire) else { continue };
            let findings = provider::check(&recorded.context, shape, Some(wire));
            assert_eq!(findings, [], "{} {call}: it was sent and taken", path.display());
            let got = written(&recorded.context, shape, source(&recorded));
            let again = recorded_of(&got, shape);
            assert_eq!(again.0, recorded.context.to_canonical(), "{} {call}", path.display());
            let document: Value = serde_json::from_str(&text).unwrap();
            let got: Value = serde_json::from_str(&got).unwrap();
            let is_part = holds(&document, &got) || holds(&document, &got["messages"]);
            assert!(is_part, "{} {call}: what was written does not stand in the file", path.display());
            bodies += 1;
        }
    }
    assert!(bodies > 0, "no body was found");
}

fn holds(document: &Value, value: &Value) -> bool {
    document == value
        || match document {
            Value::Array(items) => items.iter().any(|item| holds(item, value)),
            Value::Object(entries) => entries.values().any(|item| holds(item, value)),
            _ => false,
        }
}

#[test]
fn blocks_of_every_kind_stand_in_the_fixtures() {
    let mut kinds = BTreeSet::new();
    for path in files("bodies", ".json") {
        let text = fs::read_to_string(&path).unwrap();
        for block in recorded(&text, &path, As::default()).context.messages.iter().flat_map(|message| &message.blocks) {
            kinds.insert(block.content.kind());
        }
    }
    let all: BTreeSet<&str> = Content::NAMES.into_iter().chain(["opaque"]).collect();
    assert_eq!(kinds, all);
}

mod laws {
    use polyloop::context::{Role, ToolInput};
    use proptest::prelude::*;

    use super::*;

    /// Messages of a canonical stream, a line each.
    fn stream() -> impl Strategy<Value = String> {
        let text = || prop::sample::select(&["x", " y\\n", "\u{e9}", "{}", ""][..]);
        let id = || prop::sample::select(&["a", "b", "c", ""][..]);
        let input = prop::sample::select(&[r#"{"k":1.50}"#, "{}", r#""{\"k\": 1}""#, r#""{\"k\":1}""#, r#""no""#][..]);
        let said = text().prop_map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#));
        let call = (id(), input)
            .prop_map(|(id, input)| format!(r#"{{"type":"tool_use","id":"{id}","name":"f{id}","input":{input}}}"#));
        let inner = prop::collection::vec(said.clone(), 0..3);
        let result = (id(), inner, any::<Option<bool>>()).prop_map(|(id, inner, is_error)| {
            let is_error = is_error.map_or(String::new(), |is_error| format!(r#","is_error":{is_error}"#));
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{}]{is_error}}}"#, inner.join(","))
        });
        let of = |role: &'static str, block: BoxedStrategy<String>| {
            prop::collection::vec(block, 0..4)
                .prop_map(move |blocks| format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(",")))
        };
        let message = prop_oneof![
            1 => of("system", said.clone().boxed()),
            1 => of("developer", said.clone().boxed()),
            2 => of("user", prop_oneof![said.clone(), result.clone()].boxed()),
            4 => of("assistant", prop_oneof![said, call].boxed()),
            4 => of("tool", result.boxed()),
        ];
        prop::collection::vec(message, 0..7).prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// All that is said, and by whom, without the boundaries of messages, which shapes draw where they must.
    fn said(context: &Context<'_>) -> Vec<String> {
        let mut said = Vec::new();
        for message in &context.messages {
            let is_users = matches!(message.role, Role::Tool | Role::User);
            let role = if is_users { "user" } else { message.role.as_str() };
            for block in &message.blocks {
                said.push(match &block.content {
                    Content::ToolUse { id, name, input } => {
                        let input = match input {
                            ToolInput::Json(json) => json.as_str().to_owned(),
                            ToolInput::Text(text) => text.to_string(),
                        };
                        format!("{role} calls {id} {name} {input}")
                    }
                    Content::ToolResult { tool_use_id, content, is_error, .. } => {
                        let texts: Vec<String> =
                            content.iter().filter_map(|c| Some(c.as_text()?.to_string())).collect();
                        format!("result {tool_use_id} {texts:?} {is_error:?}")
                    }
                    content => format!("{role} says {:?}", content.as_text().map(ToString::to_string)),
                });
            }
        }
        said
    }

    /// JSON in the words of the shapes, with numbers and strings in every spelling.
    fn value() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(
            &["null", "true", "1.0", "-0", "1E+2", "1e999", r#""x""#, r#""\u00e9\/\n""#, r#""{\"a\":1}""#, "[]", "{}"]
                [..],
        );
        let key = prop::sample::select(
            &[
                "type",
                "text",
                "role",
                "content",
                "id",
                "name",
                "input",
                "arguments",
                "function",
                "parts",
                "functionCall",
                "args",
                "toolUse",
                "toolUseId",
                "toolResult",
                "tool_use_id",
                "call_id",
                "output",
                "cache_control",
                "cachePoint",
                "thinking",
                "signature",
                "summary",
                "image",
                "source",
                "x\\u00e9",
            ][..],
        );
        leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, move |inner| {
            let map = prop::collection::btree_map(key.clone(), inner.clone(), 0..4).prop_map(|map| {
                let entries: Vec<String> =
                    map.iter().rev().map(|(key, value)| format!(r#""{key}" : {value}"#)).collect();
                format!("{{{}}}", entries.join(" ,"))
            });
            let list = prop::collection::vec(inner, 0..3).prop_map(|items| format!("[ {}]", items.join(",")));
            prop_oneof![2 => map, 1 => list]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_without_a_word_says_the_same(stream in stream()) {
            let context = recorded(&stream, Path::new("x.jsonl"), As::default()).context;
            for shape in Shape::ALL {
                let body = Body::of(&context, shape, Source::default());
                let mut text = Vec::new();
                body.write(&mut text).unwrap();
                let text = String::from_utf8(text).unwrap();
                let read = recorded(&text, Path::new("x.json"), As { shape: Some(shape), call: None }).context;
                if body.losses.is_empty() && body.changes.is_empty() {
                    prop_assert_eq!(said(&read), said(&context), "{}: {}", shape, text);
                }
            }
        }

        #[test]
        fn what_is_read_of_a_shape_is_written_back_as_it_was(
            parts in prop::collection::vec(value(), 0..4),
            extra in value(),
            is_first in any::<bool>(),
        ) {
            let parts = parts.join(",");
            for shape in Shape::ALL {
                let (list, message) = match shape {
                    Shape::Gemini => ("contents", format!(r#"{{"parts":[{parts}],"role":"model"}}"#)),
                    Shape::Responses => ("input", format!(r#"{{"content":[{parts}],"role":"user"}}"#)),
                    _ => ("messages", format!(r#"{{"content":[{parts}],"role":"user"}}"#)),
                };
                let list = format!(r#""{list}":[{message}]"#);
                let text = if is_first { format!(r#"{{{list},"k":{extra}}}"#) } else { format!(r#"{{"k":{extra},{list}}}"#) };
                let taken = As { shape: Some(shape), call: None };
                let Ok(Input::Recorded(read)) = read::read_as(&text, Some(Format::Json), taken) else { continue };
                prop_assert_eq!(written(&read.context, shape, source(&read)), compact(&text));
            }
        }
    }
}
