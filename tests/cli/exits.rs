//! What the exit codes say, and which of two wins.

use crate::common::{fixture, polyloop, polyloop_with};
use crate::{REQUEST, STREAM, Scratch};

/// A render of other messages.
const OTHER: &str = "{\"role\":\"user\",\"content\":[]}\n";

#[test]
fn done_is_0() {
    polyloop(["render", &fixture("minimal/request.yaml")]).exits(0);
    polyloop(["render", &fixture("budget_exact/request.yaml")]).exits(0);
}

#[test]
fn a_warning_is_no_failure() {
    let ran = polyloop(["render", &fixture("empty_entry_id/request.yaml"), "--format", "json"]);
    ran.exits(0);
    assert_eq!(ran.json()["warnings"][0]["path"], "injections.skills[0].entry_id");
    let ran = polyloop(["render", &fixture("empty_entry_id/request.yaml"), "--format", "jsonl"]);
    assert!(ran.exits(0).stderr.contains("warning"), "{:?}", ran.stderr);
}

#[test]
fn differing_is_1() {
    let scratch = Scratch::new();
    let other = scratch.file("other.jsonl", OTHER);
    polyloop_with(["render", "-", "--against", &other], REQUEST.as_bytes()).exits(1);
}

#[test]
fn bad_input_is_2() {
    polyloop(["render", &fixture("err_unknown_top/request.yaml")]).exits(2);
}

#[test]
fn a_passed_budget_is_3() {
    for format in ["text", "json", "jsonl", "yaml"] {
        let ran = polyloop(["render", &fixture("budget_over/request.yaml"), "--format", format]);
        assert!(!ran.exits(3).stdout.is_empty(), "the render is printed all the same");
    }
}

#[test]
fn two_beats_three_beats_one_beats_zero() {
    let scratch = Scratch::new();
    let over = r#"{"goal":[{"role":"user","content":"too long"}],"budget":{"max_prompt_chars":7}}"#;
    let other = scratch.file("other.jsonl", OTHER);
    let missing = scratch.join("missing.jsonl");
    let same = scratch.file("same.jsonl", STREAM);
    let against =
        |request: &str, golden: &str| polyloop_with(["render", "-", "--against", golden], request.as_bytes()).code;
    assert_eq!(against(over, &other), Some(3));
    assert_eq!(against(over, missing.to_str().expect("UTF-8")), Some(2));
    assert_eq!(against(REQUEST, &same), Some(0));
    assert_eq!(against("{", &other), Some(2));

    let batch = |lines: &[&str]| {
        let file = scratch.file("batch.jsonl", lines.join("\n"));
        polyloop(["render", &file, "--format", "json"]).code
    };
    assert_eq!(batch(&[REQUEST, REQUEST]), Some(0));
    assert_eq!(batch(&[REQUEST, over]), Some(3));
    assert_eq!(batch(&[over, REQUEST]), Some(3));
    assert_eq!(batch(&[REQUEST, "{\"goals\":[]}", over]), Some(2));
    assert_eq!(batch(&[over, "{", REQUEST]), Some(2));
}

/// An image may declare any size: a sum that is too large to hold is no small one.
#[test]
fn sizes_that_cannot_be_summed_are_over_every_budget() {
    let image = |chars: &str| format!(r#"{{"type":"image","source":{{}},"chars":{chars}}}"#);
    let [half, most] = ["9223372036854775808", "18446744073709551615"].map(image);
    for blocks in
        [format!("{half},{half}"), format!("{most},{most}"), format!("{most},{{\"type\":\"text\",\"text\":\"ab\"}}")]
    {
        let request =
            format!(r#"{{"goal":[{{"role":"user","content":[{blocks}]}}],"budget":{{"max_prompt_chars":5}}}}"#);
        for format in ["text", "json", "jsonl"] {
            polyloop_with(["render", "-", "--format", format], request.as_bytes()).exits(3);
        }
    }
}
