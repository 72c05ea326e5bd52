//! What the views say of slot, budget and content.

use crate::REQUEST;
use crate::common::{assert_calm, digest, fixture, polyloop, polyloop_with, read, root};

#[test]
fn an_empty_slot_is_equal_to_no_slot() {
    let bytes = read(root().join(fixture("slot_absent/request.render.jsonl")));
    for name in ["absent", "null", "empty_map", "empty_channel"] {
        let request = fixture(&format!("slot_{name}/request.yaml"));
        for summary in [None, Some("--summary")] {
            let view = polyloop(["render", &request].into_iter().chain(summary));
            let text = view.exits(0).text();
            assert!(text.contains("equal to no slot"), "{text}");
            assert!(!text.contains("not equal to no slot"), "{text}");
        }
        assert_eq!(polyloop(["render", &request, "--format", "jsonl"]).stdout, bytes, "{name}");
        let slot = polyloop(["render", &request, "--format", "json"]).json()["slot"].clone();
        assert_eq!([&slot["entries"], &slot["messages"]], [0, 0]);
        assert_eq!([&slot["empty"], &slot["equal_to_no_slot"]], [true, true]);
    }
}

#[test]
fn an_empty_entry_is_not_equal_to_no_slot() {
    let request = fixture("slot_empty_entry/request.yaml");
    for summary in [None, Some("--summary")] {
        let view = polyloop(["render", &request].into_iter().chain(summary));
        let text = view.exits(0).text();
        assert!(text.contains("not equal to no slot"), "{text}");
        assert!(text.contains("injections.skills[0]#blank"), "{text}");
    }
    let report = polyloop(["render", &request, "--format", "json"]).json();
    let slot = &report["slot"];
    assert_eq!([&slot["entries"], &slot["messages"]], [1, 1]);
    assert_eq!([&slot["empty"], &slot["equal_to_no_slot"]], [false, false]);
    assert_eq!(report["warnings"][0]["code"], "slot.empty_message");
}

#[test]
fn recorded_messages_have_no_slot_and_no_run() {
    let golden = fixture("minimal/request.render.jsonl");
    let report = polyloop(["render", &golden, "--format", "json"]);
    let report = report.exits(0).json();
    assert!(report["slot"].is_null() && report["run"].is_null(), "{report}");
    assert_eq!(report["budget"]["verdict"], "unset");
    assert_eq!(report["messages"][0]["blocks"][0]["origin"], "messages[0].content[0]");
    assert_eq!(report["digest"], digest(&read(root().join(&golden))));
}

#[test]
fn a_passed_budget_says_by_how_much_and_by_whom() {
    let request = fixture("budget_over/request.yaml");
    for summary in [None, Some("--summary")] {
        let view = polyloop(["render", &request].into_iter().chain(summary));
        let text = view.exits(3).text();
        for words in ["context_overflow, 1 over", "of 39 chars", "#0 prefix[0] 17"] {
            assert!(text.contains(words), "no {words:?} in\n{text}");
        }
    }
    let budget = polyloop(["render", &request, "--format", "json"]).json()["budget"].clone();
    assert_eq!([&budget["max_prompt_chars"], &budget["used_chars"]], [39, 40]);
    assert_eq!(budget["verdict"], "context_overflow");
    let golden = read(root().join(fixture("budget_over/request.render.jsonl")));
    let jsonl = polyloop(["render", &request, "--format", "jsonl"]);
    assert_eq!(jsonl.exits(3).stdout, golden, "the render is whole");
    assert!(jsonl.stderr.contains("context_overflow"), "{}", jsonl.stderr);
}

#[test]
fn budgets_are_exact_at_the_edge() {
    for (budget, verdict, exit) in
        [("12", "context_overflow", 3), ("13", "fits", 0), ("18446744073709551615", "fits", 0)]
    {
        let request = REQUEST.replace("]}", &format!("], \"budget\": {{\"max_prompt_chars\": {budget}}}}}"));
        let ran = polyloop_with(["render", "-", "--format", "json"], request.as_bytes());
        assert_eq!(ran.exits(exit).json()["budget"]["verdict"], verdict);
    }
}

#[test]
fn the_report_has_the_keys_it_promises_in_their_order() {
    let ran = polyloop(["render", &fixture("react/request.yaml"), "--format", "json"]);
    let mut at = 0;
    for key in
        ["schema", "source", "run", "messages", "tools", "segments", "total", "digest", "budget", "slot", "warnings"]
    {
        let found = ran.text()[at..].find(&format!("\n  \"{key}\": "));
        at += found.unwrap_or_else(|| panic!("no {key} after the others"));
    }
    let report = ran.json();
    let segments: Vec<&String> = report["segments"].as_object().expect("a map").keys().collect();
    assert_eq!(segments.len(), 5, "{segments:?}");
    assert!(report["previous"].is_null());
    assert_eq!(report["run"]["model"], "example-large");
    let block = &report["messages"][7]["blocks"][0];
    assert_eq!(block["origin"], "injections.skills[0]#flaky-tests");
    assert_eq!(
        [&block["type"], &block["chars"], &block["bytes"]],
        [&"text".into(), &176.into(), &serde_json::Value::from(176)]
    );
}

#[test]
fn json_holds_nothing_live() {
    for name in ["controls/request.json", "unicode/request.yaml", "whitespace/request.yaml", "tools/request.json"] {
        let ran = polyloop(["render", &fixture(name), "--format", "json"]);
        assert_calm(ran.exits(0).text());
        // A summary is a view for people.
        polyloop(["render", &fixture(name), "--format", "json", "--summary"]).exits(2);
    }
    let live = "\u{1b}]0;x\u{7}\u{202e}\u{200b}\u{e0041}\u{feff}\u{2028}\u{9b}";
    let request = serde_json::json!({
        "tools": [{"name": live, live: live}],
        "run": {"model": live},
        "injections": {live: [{"entry_id": live, "content": live}, {"entry_id": live, "content": ""}]},
        "goal": [{"role": "assistant", "content": [{"type": "tool_use", "id": live, "name": live, "input": {live: live}}]}],
    });
    let request = request.to_string();
    for format in ["json", "text", "yaml"] {
        let ran = polyloop_with(["render", "-", "--format", format], request.as_bytes());
        assert_calm(ran.exits(0).text());
        assert_calm(&ran.stderr);
    }
    let report = polyloop_with(["render", "-", "--format", "json"], request.as_bytes()).json();
    assert_eq!(report["messages"][0]["blocks"][0]["text"], live, "escaped, and the same value");
    assert_eq!(report["messages"][2]["blocks"][0]["input"][live], live);
    for bad in
        [format!("{{\"{live}\": 1}}"), format!("goal: [\"{live}"), format!("{{\"goal\": [{{\"role\": \"{live}\"}}]}}")]
    {
        let ran = polyloop_with(["render", "-", "--format", "json"], bad.as_bytes());
        assert_calm(ran.exits(2).text());
        assert_calm(&ran.stderr);
    }
}

#[test]
fn what_is_handed_through_keeps_its_spelling() {
    let input = r#"{"z":1e400,"a":-0,"m":1.50,"b":123456789012345678901234567890,"é":[],"":{}}"#;
    let request = format!(
        r#"{{"tools":[{input}],"observation_template":"{{observation}}","trajectory":[
            {{"raw_output":"","tool_calls":[{{"id":"1","name":"n","input":{input}}}]}}]}}"#
    );
    let jsonl = polyloop_with(["render", "-", "--format", "jsonl"], request.as_bytes());
    let use_block = format!(r#"{{"type":"tool_use","id":"1","name":"n","input":{input}}}"#);
    let wanted = format!("{{\"tools\":[{input}]}}\n{{\"role\":\"assistant\",\"content\":[{use_block}]}}\n");
    assert_eq!(jsonl.exits(0).text(), wanted);
    let json = polyloop_with(["render", "-", "--format", "json"], request.as_bytes());
    for number in ["1e400", "-0", "1.50", "123456789012345678901234567890"] {
        assert!(json.exits(0).text().contains(number), "no {number}");
    }
}

#[test]
fn white_space_at_the_ends_is_seen() {
    let request = r#"{"goal": [{"role": "user", "content": "a  \n\tb \r\n"}, {"role": "user", "content": "a"}]}"#;
    let view = polyloop_with(["render", "-"], request.as_bytes());
    for shown in ["a␠␠", "␉b ␍⏎"] {
        assert!(view.exits(0).text().contains(shown), "no {shown:?} in\n{}", view.text());
    }
}

#[test]
fn nothing_is_shown_alike_that_is_not() {
    let show = |content: &str| {
        let request = serde_json::json!({"goal": [{"role": "user", "content": content}]});
        let view = polyloop_with(["render", "-"], request.to_string().as_bytes());
        view.exits(0).text().lines().filter(|line| line.starts_with(" │")).map(str::to_owned).collect::<Vec<_>>()
    };
    let contents = [
        "a",
        "a ",
        "a\u{a0}",
        "a\n",
        "a\n\n",
        "a\r\n",
        "a\r",
        "a␍",
        "a⏎",
        "a␠",
        "a\t",
        "a␉",
        "a\u{200b}",
        "a⟨U+200B⟩",
        "\u{1b}[31ma",
        "␛[31ma",
        "\u{feff}a",
        "a\u{2028}",
        "a\n ",
        "⟨",
        "⟨U+27E8⟩",
        "a\u{301}",
        "á",
        "\n",
        " ",
        "\n\n",
    ];
    for (index, one) in contents.iter().enumerate() {
        for other in &contents[..index] {
            if *one != "á" && *one != "a\u{301}" {
                assert_ne!(show(one), show(other), "{one:?} and {other:?}");
            }
        }
    }
}
