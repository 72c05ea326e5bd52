//! The state of a run: read the same from both formats, shown, and nowhere else.

use serde_json::{Value, json};

use crate::common::{polyloop, polyloop_with, read, root};
use crate::{LOGIN, asked, view};

/// The state as it is written, its keys in their order, numbers as they are spelled.
#[test]
fn a_state_is_given_as_it_is_written() {
    for input in LOGIN {
        let ran = polyloop(["context", "state", input, "--format", "json"]);
        let document = ran.exits(0).json();
        let mut keys: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
        let place = |key: &&str| ran.text().find(&format!("\n  \"{key}\":")).expect("a key of the document");
        keys.sort_by_key(place);
        let wanted = ["schema", "source", "alive", "revision", "variables", "phase", "facts", "open_questions"];
        assert_eq!(keys, [&wanted[..], &["pending", "", "18"]].concat(), "{input}");
        assert!(ran.text().contains("\"confidence\":0.90"), "{input}");
        assert_eq!(document["alive"], true);
        assert_eq!(document["revision"], 18);
        let variables = document["variables"].as_array().expect("a list");
        assert_eq!(variables[0]["preview"], "['session.test.ts', \u{1b}[31m'login.test.ts'\u{1b}[0m]\n");
        assert_eq!(variables[2], json!({"name": "会话", "type": null, "preview": null, "size": null}));
        assert_eq!(document["facts"][2], "The log says:\n\u{1b}]0;owned\u{7}  E_SIGNATURE \n");
    }
}

#[test]
fn both_formats_say_the_same() {
    for question in [&["state"][..], &["current"], &["summarize"], &["slice", ":"]] {
        let (name, rest) = question.split_first().expect("a question");
        let [yaml, json] = LOGIN.map(|input| {
            let mut document = asked(&[&[name, input], rest].concat());
            document["source"] = Value::Null;
            document
        });
        assert_eq!(yaml, json, "{question:?}");
    }
}

#[test]
fn without_a_state_nothing_is_alive() {
    for input in ["fixtures/state_absent/request.yaml", "fixtures/react/request.render.jsonl"] {
        assert_eq!(view(&["state", input]), "no state: nothing is alive, and there are no variables\n");
        let wanted = json!({
            "schema": "polyloop.state/1", "source": input, "alive": false, "revision": null, "variables": [],
        });
        assert_eq!(asked(&["state", input]), wanted);
        assert_eq!(asked(&["summarize", input])["runtime_alive"], false);
    }
}

#[test]
fn a_near_miss_of_a_key_is_warned_about() {
    let input = "fixtures/state_json/request.json";
    let ran = polyloop(["render", input, "--format", "json"]);
    let document = ran.exits(0).json();
    let warnings: Vec<(&Value, &Value)> =
        document["warnings"].as_array().expect("a list").iter().map(|it| (&it["code"], &it["path"])).collect();
    let of = |path: &str| (Value::from("state.like_known"), Value::from(path));
    let wanted = [of("state.revison"), of("state.Alive")];
    assert_eq!(warnings, wanted.iter().map(|(code, path)| (code, path)).collect::<Vec<_>>());
    let view = view(&["state", input]);
    assert_eq!(view.matches("warning").count(), 2, "{view}");
    assert!(view.contains("revision may be meant") && view.contains("alive may be meant"), "{view}");
    // Fields that are near to no key are nobody's business.
    for field in ["active", "decision", "version", "phase"] {
        let request = format!("state: {{{field}: 1}}\n");
        let ran = polyloop_with(["render", "-", "--format", "json"], request.as_bytes());
        assert_eq!(ran.exits(0).json()["warnings"], json!([]), "{field}");
    }
}

/// Every command that takes a request takes one with a state.
#[test]
fn a_state_is_in_nobodys_way() {
    let [with, without] = ["fixtures/state/request.yaml", "fixtures/state_absent/request.yaml"];
    let digest = |input: &str| polyloop(["render", input, "--format", "digest"]).exits(0).text().to_owned();
    assert_eq!(digest(with), digest(without));
    polyloop(["diff", with, without]).exits(0);
    polyloop(["check", "fixtures/state"]).exits(0);
    polyloop(["lint", with]).exits(0);
    polyloop(["trace", with]).exits(0);
    polyloop(["manifest", with]).exits(0);
    let request = String::from_utf8(read(root().join(with))).expect("a fixture is UTF-8");
    for (spelling, wanted) in [("18", json!(18)), ("\"18\"", json!("18")), ("0", json!(0))] {
        let request = request.replace("\"2026-08-11/18\"", spelling);
        let ran = polyloop_with(["context", "state", "-", "--format", "json"], request.as_bytes());
        assert_eq!(ran.exits(0).json()["revision"], wanted);
    }
}
