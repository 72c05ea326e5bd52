//! What successive calls kept of each other.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{polyloop, root};
use polyloop::context::{Fingerprint, Message};
use polyloop::read::{self, As, Calls, Format};
use polyloop::trace::{Call, Trace};
use polyloop::write::{Look, TraceView};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

/// File, relation of the last call, what changed, words that its causes hold, and whether that is a break.
const CASES: &[(&str, &str, &[&str], &[&str])] = &[
    ("append_only", "append_only", &[], &[]),
    ("stable", "stable", &[], &[]),
    ("clock", "changed", &["system"], &["message 0 (system): a clock time, 12:01. → 12:02."]),
    ("model", "changed", &["model"], &["model: gpt-x → gpt-y"]),
    ("tools_order", "changed", &["tools"], &["tools: the same tools in another order"]),
    ("tools_changed", "changed", &["tools"], &["saw added", "mend removed", "the schema of read changed"]),
    ("system", "changed", &["system"], &["message 0 (system)"]),
    ("truncated", "changed", &["messages"], &["message 3 (tool): rewritten by truncation"]),
    ("evicted", "changed", &["messages"], &["messages 2–3 (assistant first) left the context"]),
    ("pinned_lost", "changed", &["messages"], &["message 1 (user) left the context"]),
    ("marker_moved", "append_only", &[], &["the markers for the cache moved, which breaks nothing"]),
    ("inserted", "changed", &["messages"], &["message 1 (user) was put in before what was there"]),
];

fn file(name: &str) -> PathBuf {
    root().join("fixtures/trace").join(format!("{name}.jsonl"))
}

fn traced(name: &str) -> Value {
    polyloop(["trace", file(name).to_str().unwrap(), "--format", "json"]).exits(0).json()
}

#[test]
fn every_reason_is_told() {
    for (name, relation, changed, causes) in CASES {
        let report = traced(name);
        let last = report["calls"].as_array().unwrap().last().unwrap();
        assert_eq!(last["relation"], *relation, "{name}: {last:#}");
        assert_eq!(last["changed"], json!(changed), "{name}");
        let told = last["causes"].to_string();
        causes.iter().for_each(|cause| assert!(told.contains(cause), "{name}: no {cause:?} in {told}"));
        let is_break = *relation == "changed";
        assert_eq!(report["summary"]["breaks"], usize::from(is_break), "{name}");
        let required = polyloop(["trace", file(name).to_str().unwrap(), "--require", "append-only"]);
        required.exits(i32::from(is_break));
        assert_eq!(last["first_difference"].is_null(), !is_break, "{name}");
    }
}

#[test]
fn every_fixture_has_a_reason() {
    for entry in fs::read_dir(root().join("fixtures/trace")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let known = CASES.iter().any(|(case, ..)| *case == name) || name == "two_conversations";
        assert!(known, "{} is not tested", path.display());
    }
}

#[test]
fn sizes_add_up() {
    for (name, ..) in CASES {
        let report = traced(name);
        let of = |value: &Value, key: &str| value[key].as_u64().unwrap();
        for call in report["calls"].as_array().unwrap() {
            let parts = of(call, "kept_chars") + of(call, "new_chars") + of(call, "resent_chars");
            assert_eq!(parts, of(call, "chars"), "{name}: {call}");
        }
        let summary = &report["summary"];
        let parts = of(summary, "shared_chars") + of(summary, "new_chars") + of(summary, "resent_chars");
        assert_eq!(parts, of(summary, "sent_chars"), "{name}");
    }
    // 310 characters of the prefix were kept in the words of the contract; here it is what stands before the minute.
    let clock = traced("clock");
    let last = &clock["calls"][1];
    assert_eq!(last["kept_chars"], "You mend boats. It is 12:0".len());
    assert_eq!(last["new_chars"], "I look at the log.Go on.".len());
    assert_eq!(last["classes"], json!(["volatile"]));
}

#[test]
fn conversations_are_told_apart() {
    let report = traced("two_conversations");
    let calls = report["calls"].as_array().unwrap();
    let told: Vec<(u64, Option<u64>)> =
        calls.iter().map(|call| (call["conversation"].as_u64().unwrap(), call["previous"].as_u64())).collect();
    assert_eq!(told, [(0, None), (1, None), (0, Some(0)), (1, Some(1))]);
    assert_eq!(report["summary"]["breaks"], 0);
    assert_eq!(report["summary"]["conversations"], 2);
}

#[test]
fn what_must_stay_and_left_is_a_finding_of_its_own() {
    let report = traced("pinned_lost");
    let evicted = &report["calls"][1]["evicted"];
    assert_eq!(evicted[0]["message"], 1);
    assert_eq!(evicted[0]["pinned"], true);
    assert_eq!(report["summary"]["pinned_lost"], 1);
    let text = polyloop(["trace", file("pinned_lost").to_str().unwrap()]);
    assert!(text.exits(0).text().contains("must stay, and left"));
    assert_eq!(traced("evicted")["summary"]["pinned_lost"], 0);
}

/// The prefix law: the steps of a request are append-only.
#[test]
fn steps_of_a_request_are_append_only() {
    let mut requests =
        vec![root().join("fixtures/react/request.yaml"), root().join("fixtures/tool_calls/request.yaml")];
    if let Some(folder) = common::cases("real") {
        let handed = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        requests.extend(handed.filter(|path| path.to_string_lossy().ends_with(".request.json")));
    }
    for path in requests {
        let ran = polyloop(["trace", path.to_str().unwrap(), "--format", "json", "--require", "append-only"]);
        let report = ran.exits(0).json();
        let calls = report["calls"].as_array().unwrap();
        assert_eq!(calls[0]["relation"], "initial", "{}", path.display());
        let others = calls[1..].iter().all(|call| call["relation"] == "append_only" || call["relation"] == "stable");
        assert!(others, "{}", path.display());
    }
}

#[test]
fn a_folder_is_read_in_the_order_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(file("append_only")).unwrap();
    for (name, line) in ["b.json", "a.json", "c.json"].into_iter().zip([1, 0, 2]) {
        fs::write(folder.path().join(name), text.lines().nth(line).unwrap()).unwrap();
    }
    let report = polyloop(["trace", folder.path().to_str().unwrap(), "--format", "json"]).exits(0).json();
    let relations: Vec<&str> =
        report["calls"].as_array().unwrap().iter().map(|call| call["relation"].as_str().unwrap()).collect();
    assert_eq!(relations, ["initial", "append_only", "append_only"]);
    fs::remove_file(folder.path().join("a.json")).unwrap();
    let empty = tempfile::tempdir().unwrap();
    assert!(polyloop(["trace", empty.path().to_str().unwrap()]).exits(2).stderr.contains("holds no"));
}

#[test]
fn a_session_is_a_call_an_answer() {
    let path = root().join("fixtures/providers/logs/session.jsonl");
    let report = polyloop(["trace", path.to_str().unwrap(), "--format", "json"]).exits(0).json();
    let told: Vec<(String, u64)> = report["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (call["path"].as_str().unwrap().to_owned(), call["messages"].as_u64().unwrap()))
        .collect();
    let expected = [("[4].message", 1), ("[6].message", 0), ("[8].message", 3)];
    assert_eq!(told, expected.map(|(path, messages)| (path.to_owned(), messages)));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [40, 50, 60, 75, 76, 80, 100, 160] {
        for (name, ..) in CASES {
            let text = fs::read_to_string(file(name)).unwrap();
            let Calls::Logged(recorded) = read::calls(&text, Some(Format::JsonLines), As::default()).unwrap() else {
                panic!("{name} is a log");
            };
            let prints: Vec<Vec<Fingerprint>> =
                recorded.iter().map(|call| call.context.messages.iter().map(Message::fingerprint).collect()).collect();
            let calls: Vec<Call<'_>> = recorded
                .iter()
                .zip(&prints)
                .map(|(recorded, prints)| Call {
                    path: "",
                    tools: &recorded.context.tools,
                    messages: &recorded.context.messages,
                    prints,
                    model: None,
                    markers: &[],
                })
                .collect();
            let trace = Trace::of(&calls);
            let view =
                TraceView { source: name, trace: &trace, max_prompt_chars: Some(10), cached: None, cost: Some(1.5) };
            let mut out = Vec::new();
            view.write(&Look { columns: Some(columns), ..Look::default() }, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
            assert!(widest <= columns, "{name}: {widest} at {columns}\n{text}");
        }
    }
}

#[test]
fn handed_logs_are_traced() {
    let Some(folder) = common::cases("provider") else { return };
    let mut traced = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
            let report = polyloop(["trace", path.to_str().unwrap(), "--format", "json"]).exits(0).json();
            assert!(!report["calls"].as_array().unwrap().is_empty(), "{}", path.display());
            traced += 1;
        }
    }
    assert!(traced > 0, "no log was found");
}

/// Three runs whose prompts have the same head and tail, and a clock or another goal between.
fn runs(between: impl Fn(usize) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..3 {
        let request = json!({
            "prefix": [{"role": "system", "content": "You mend boats."}],
            "injections": {"skills": [{"entry_id": "clock", "content": between(run)}, {"entry_id": "saw", "content": "x".repeat(100)}]},
            "goal": [{"role": "user", "content": "Which plank leaks?"}],
        });
        fs::write(folder.path().join(format!("{run}.json")), request.to_string()).unwrap();
        fs::write(folder.path().join(format!("{run}.render.json")), "[]").unwrap();
    }
    folder
}

#[test]
fn what_breaks_sharing_across_runs_is_named() {
    let head = "You mend boats.".len();
    let folder = runs(|run| format!("It is 12:0{run}."));
    let report = polyloop(["trace", "--across", folder.path().to_str().unwrap(), "--format", "json"]).exits(0).json();
    assert_eq!(report["schema"], "polyloop.across/1");
    assert_eq!(report["runs"], 3);
    assert_eq!(report["shared_by_all"], 1);
    assert_eq!(report["shared_chars"], 2 * head);
    let tail = 100 + "Which plank leaks?".len();
    let expected = json!([{
        "after": 1, "runs": 3, "ways": 3, "origin": "injections.skills[0]#clock", "segment": "injections",
        "would_share_chars": 2 * tail,
    }]);
    assert_eq!(report["breaks"], expected);
    let tree = json!([{"depth": 0, "runs": 3, "from": 0, "messages": 1, "chars": head, "origin": "prefix[0]"}]);
    assert_eq!(report["tree"], tree);
    let text = polyloop(["trace", "--across", folder.path().to_str().unwrap()]);
    assert!(text.exits(0).text().contains("   3 runs: 1 message, 15 chars from prefix[0]"), "{}", text.text());
    assert!(text.exits(0).text().contains("injections.skills[0]#clock"));

    let same = runs(|_| "It is noon.".to_owned());
    let files: Vec<String> = (0..3).map(|run| format!("{}/{run}.json", same.path().display())).collect();
    let args = ["trace", "--across", "--format", "json"].into_iter().map(str::to_owned).chain(files);
    let report = polyloop(args).exits(0).json();
    assert_eq!(report["breaks"], json!([]));
    assert_eq!(report["shared_by_all"], 4);
    assert_eq!(report["tree"].as_array().unwrap().len(), 1);
    assert_eq!(report["tree"][0]["messages"], 4);
    assert!(polyloop(["trace", "a.json", "b.json"]).exits(2).stderr.contains("--across"));
}

/// Two calls of which the second begins with all of the first, 4,400 characters and a word.
fn cached(provider: &str, bodies: &[Value], more: &[&str]) -> Vec<(u64, u64, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let lines: Vec<String> = bodies.iter().map(Value::to_string).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    let args = ["trace", path.to_str().unwrap(), "-f", "json", "--provider", provider, "--chars-per-token", "4"];
    let report = polyloop([&args, more].concat()).exits(0).json();
    let of = |call: &Value| {
        let (read, written) = (call["read_tokens"].as_u64().unwrap(), call["written_tokens"].as_u64().unwrap());
        (read, written, call["why"].as_str().unwrap().to_owned())
    };
    report["cached"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn the_rules_of_openai_go_in_steps() {
    let system = json!({"role": "system", "content": "x".repeat(4400)});
    let said = |text: &str| json!({"role": "user", "content": text});
    let first = json!({"model": "m", "messages": [system, said("go")]});
    let second =
        json!({"model": "m", "messages": [system, said("go"), {"role": "assistant", "content": "ok"}, said("on")]});
    let told = cached("openai", &[first.clone(), second], &[]);
    // 4,402 characters are 1,100 tokens: eight steps of 128.
    assert_eq!((told[0].0, told[0].1), (0, 1024));
    assert_eq!(told[1].0, 1024);
    let other = json!({"model": "m", "messages": [{"role": "system", "content": format!("y{}", "x".repeat(4399))}, said("go")]});
    assert_eq!(cached("openai", &[first.clone(), other], &[])[1].0, 0);
    assert_eq!(cached("openai", &[first.clone(), first], &["--min-tokens", "2048"])[1].0, 0);
}

#[test]
fn prices_are_gone_by_where_they_are_given() {
    let system = json!({"role": "system", "content": "x".repeat(4400)});
    let line = json!({"model": "m", "messages": [system, {"role": "user", "content": "go"}]}).to_string();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    fs::write(&path, format!("{line}\n{line}\n")).unwrap();
    let args = ["trace", path.to_str().unwrap(), "-f", "json", "--provider", "openai", "--chars-per-token", "4"];
    assert!(polyloop(args).exits(0).json()["cost"].is_null());
    let report = polyloop([&args[..], &["--prices", "10,1,20"]].concat()).exits(0).json();
    // 1,100 tokens a call: 1,024 of them written, then read; 76 are neither.
    let expected = (1024.0 * 20.0 + 76.0 * 10.0 + 1024.0 + 76.0 * 10.0) / 1e6;
    assert!((report["cost"].as_f64().unwrap() - expected).abs() < 1e-9, "{report}");
    polyloop([&args[..], &["--prices", "10,1"]].concat()).exits(2);
}

#[test]
fn the_rules_of_anthropic_go_by_markers() {
    let mark = json!({"type": "ephemeral"});
    let system = json!([{"type": "text", "text": "x".repeat(4400), "cache_control": mark}]);
    let bare = json!([{"type": "text", "text": "x".repeat(4400)}]);
    let body = |system: &Value, messages: Vec<Value>| json!({"max_tokens": 9, "system": system, "messages": messages});
    let user = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
    let answer = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}]});
    let marked =
        |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": mark}]});
    let told = cached("anthropic", &[body(&system, vec![user("go")]), body(&system, vec![user("other")])], &[]);
    assert_eq!((told[0].0, told[0].1), (0, 1100));
    assert_eq!((told[1].0, told[1].1), (0, 1100), "another conversation");
    let goes_on = vec![user("go"), answer.clone(), user("on")];
    let told = cached("anthropic", &[body(&system, vec![user("go")]), body(&system, goes_on.clone())], &[]);
    assert_eq!((told[1].0, told[1].1), (1100, 0));
    let told = cached("anthropic", &[body(&bare, vec![user("go")]), body(&bare, goes_on)], &[]);
    assert_eq!(told[1], (0, 0, "there is no marker for the cache".to_owned()));
    // The marker moves to the end: what was cached is found as long as it lies at most 20 blocks before it.
    let long = |turns: usize| {
        let turn = |_| [user("go on"), answer.clone()];
        let mut messages = vec![user("go"), answer.clone()];
        messages.extend((0..turns).flat_map(turn));
        messages.push(marked("now"));
        messages
    };
    let near = [body(&bare, vec![marked("go")]), body(&bare, long(8))];
    assert_eq!(cached("anthropic", &near, &[])[1].0, 1100);
    let first = body(&bare, vec![user("go"), answer.clone(), marked("go on")]);
    assert_eq!(cached("anthropic", &[first.clone(), body(&bare, long(8))], &[])[1].0, 1102);
    let changed = [
        body(&system, vec![user("go")]),
        body(&json!([{"type": "text", "text": "y".repeat(4400), "cache_control": mark}]), vec![user("go")]),
    ];
    assert_eq!(cached("anthropic", &changed, &[])[1].2, "what was cached is no longer the prefix");
    let far = cached("anthropic", &[first, body(&bare, long(12))], &[]);
    assert_eq!(far[1].2, "what was cached lies more than 20 blocks before the markers");
}
