//! Each step by example, and each error with its code and place.

mod accounts;
mod faults;

use super::*;
use crate::context::Content;
use crate::measure::Verdict;
use crate::read::{self, Format};
use crate::request::{Files, Keep, Responsibility};

fn parse(yaml: &str) -> RunRequest<'_> {
    read::request(yaml, Some(Format::Yaml)).unwrap_or_else(|error| panic!("{error}, {:?}", error.hint()))
}

fn chosen<'r>(request: &'r RunRequest<'r>) -> Selection<'r> {
    crate::select(request, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Ids that are in, in prompt order, and those that are out, each with its reason and what it left for.
fn outcome(yaml: &str) -> (Vec<String>, Vec<String>) {
    let request = parse(yaml);
    let selection = chosen(&request);
    let manifest = selection.manifest();
    let included = manifest.entries.iter().filter_map(|entry| entry.id.map(str::to_owned)).collect();
    let fragments = &request.parts().fragments;
    let excluded = selection.excluded.iter().map(|it| match it.by {
        Some(by) => format!("{} {} {}", it.fragment.id, it.reason.as_str(), fragments[by].id),
        None => format!("{} {}", it.fragment.id, it.reason.as_str()),
    });
    (included, excluded.collect())
}

#[track_caller]
fn gives(yaml: &str, included: &[&str], excluded: &[&str]) {
    let (ours, out) = outcome(yaml);
    assert_eq!((&ours[..], &out[..]), (&included.map_to_owned()[..], &excluded.map_to_owned()[..]), "{yaml}");
}

trait MapToOwned {
    fn map_to_owned(&self) -> Vec<String>;
}

impl MapToOwned for [&str] {
    fn map_to_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

#[test]
fn what_does_not_hold_leaves() {
    gives(
        "as_of: 2026-08-11T12:00:00Z
fragments:
  - {id: a, kind: evidence, content: a, observed_at: 2026-08-11T11:59:00Z, ttl_s: 59}
  - {id: b, kind: evidence, content: b, observed_at: 2026-08-11T11:59:00Z, ttl_s: 60}
  - {id: c, kind: evidence, content: c, observed_at: 2020-01-01T00:00:00Z}
  - {id: d, kind: evidence, content: d, observed_at: 2026-08-11T13:59:00+02:00, ttl_s: 59}",
        &["b", "c"],
        &["a stale", "d stale"],
    );
}

#[test]
fn the_same_is_said_once() {
    gives(
        "fragments:
  - {id: a, kind: memory, content: x, trust: workspace}
  - {id: b, kind: evidence, content: [{type: text, text: x}], trust: user}
  - {id: d, kind: evidence, content: y, version: 9}
  - {id: c, kind: evidence, content: y, version: 10}
  - {id: f, kind: evidence, content: z}
  - {id: e, kind: evidence, content: z}",
        &["b", "c", "e"],
        &["a duplicate b", "d duplicate c", "f duplicate e"],
    );
}

#[test]
fn what_is_required_is_no_duplicate_and_a_call_keeps_its_result() {
    gives(
        "fragments:
  - {id: a, kind: evidence, content: x, trust: runtime}
  - {id: b, kind: evidence, content: x, required: true}
  - {id: c, kind: policy, content: x, required: true}
  - {id: call, kind: tool_result, content: c1, group: g}
  - {id: result, kind: tool_result, content: ok, group: g}
  - {id: other, kind: tool_result, content: ok}",
        &["c", "b", "call", "result", "other"],
        &["a duplicate b"],
    );
}

#[test]
fn an_older_version_leaves_and_so_does_what_is_named() {
    gives(
        "fragments:
  - {id: a, kind: evidence, content: a, source_ref: s, version: 9}
  - {id: b, kind: evidence, content: b, source_ref: s, version: 10}
  - {id: c, kind: evidence, content: c, source_ref: s}
  - {id: d, kind: evidence, content: d, source_ref: t, version: 10}
  - {id: e, kind: evidence, content: e, supersedes: [d]}
  - {id: f, kind: evidence, content: f, supersedes: [e]}
  - {id: g, kind: history, content: g, replaces: ['fragments[7]']}
  - {id: h, kind: history, content: h}",
        &["g", "b", "c", "f"],
        &["a superseded b", "d superseded f", "e superseded f", "h superseded g"],
    );
}

#[test]
fn a_named_replacement_goes_before_a_version() {
    // By version the first would leave, by name the second: one of them stays.
    gives(
        "fragments:
  - {id: a, kind: evidence, content: a, source_ref: s, version: 1, supersedes: [b]}
  - {id: b, kind: evidence, content: b, source_ref: s, version: 2}",
        &["a"],
        &["b superseded a"],
    );
}

#[test]
fn lines_of_one_file_are_sources_of_their_own() {
    let yaml = "fragments:
  - {id: a, kind: evidence, file: {path: f, lines: [1, 1]}, source_ref: s, version: 1}
  - {id: b, kind: evidence, file: {path: f, lines: [2, 3]}, source_ref: s, version: 2}";
    let request = parse(yaml).resolve(&Held("one\ntwo\nthree\n")).expect("it has the lines");
    let selection = chosen(&request);
    assert_eq!(selection.excluded.len(), 0);
    assert_eq!(request.parts().fragments[1].text().map(ToString::to_string).as_deref(), Some("two\nthree\n"));
    assert_eq!(selection.manifest().entries[1].transform, "lines_2_3");
}

/// One file of any name.
struct Held(&'static str);

impl Files for Held {
    fn read(&self, _: &str) -> Result<String> {
        Ok(self.0.to_owned())
    }
}

#[test]
fn a_broken_group_leaves_whole() {
    gives(
        "as_of: 2026-08-11T12:00:00Z
budget: {window: 10}
fragments:
  - {id: a, kind: evidence, content: a, group: g, observed_at: 2026-08-11T11:00:00Z, ttl_s: 1}
  - {id: b, kind: evidence, content: b, group: g}
  - {id: c, kind: evidence, content: ccccccc, group: h, priority: 1}
  - {id: d, kind: evidence, content: dddd, group: h}
  - {id: e, kind: evidence, content: eeeee, group: i}
  - {id: f, kind: user_input, content: fffff, group: i}",
        &["e", "f"],
        &["a stale", "b group a", "c over_budget", "d group c"],
    );
}

#[test]
fn a_group_with_a_required_member_is_required() {
    let yaml = "budget: {window: 2}
fragments:
  - {id: a, kind: evidence, content: a, group: g, required: true}
  - {id: b, kind: evidence, content: b, group: g}
  - {id: c, kind: evidence, content: c, priority: 9}";
    gives(yaml, &["a", "b"], &["c over_budget"]);
}

#[test]
fn turns_go_by_priority_then_freshness_then_size_then_id() {
    gives(
        "budget: {window: 13}
fragments:
  - {id: e, kind: evidence, content: eee}
  - {id: d, kind: evidence, content: ddd}
  - {id: c, kind: evidence, content: cc}
  - {id: b, kind: evidence, content: bbbb, freshness: 0.5}
  - {id: a, kind: evidence, content: aaaa, priority: 1}
  - {id: f, kind: evidence, content: '', priority: -1}",
        &["d", "c", "b", "a", "f"],
        &["e over_budget"],
    );
}

#[test]
fn floors_come_first_and_caps_last() {
    gives(
        "budget:
  window: 12
  responsibilities:
    retrieved_material: {floor: 4}
    recent_history: {cap: 5}
prefix: [{role: system, content: ab}]
fragments:
  - {id: low, kind: evidence, content: abcd, priority: -5}
  - {id: lower, kind: evidence, content: abcde, priority: -6}
  - {id: h1, kind: history, content: abcdef, priority: 5}
  - {id: h2, kind: history, content: abce, priority: 4}
  - {id: h3, kind: history, content: ab, priority: 3}
  - {id: u, kind: user_input, content: a}",
        &["h2", "low", "u"],
        &["lower over_budget", "h1 over_cap", "h3 over_cap"],
    );
}

#[test]
fn tools_and_the_answer_take_their_part_of_the_window() {
    let yaml = "budget: {window: 30, reserved_output: 10}
tools: [{name: t}]
fragments: [{id: a, kind: evidence, content: '12345678'}, {id: b, kind: evidence, content: '123456789'}]";
    let request = parse(yaml);
    let space = chosen(&request).space;
    assert_eq!((space.tools, space.available, space.used, space.verdict), (12, Some(8), 8, Verdict::Fits));
}

#[test]
fn what_may_be_cut_is_cut_at_its_turn() {
    let yaml = "budget: {window: 12}
fragments:
  - {id: a, kind: evidence, content: \"1\\n22\\n333\\n4444\\n55555\\n\", priority: 1, trim: {keep: head}}
  - {id: b, kind: evidence, content: \"xx\\n\"}";
    let request = parse(yaml);
    let selection = chosen(&request);
    let cut = selection.included[0].cut.expect("it is cut");
    assert_eq!((cut.keep(), cut.kept().next(), cut.of_chars()), (Keep::Head, Some(0..9), 20));
    assert_eq!(selection.included.len(), 2);
    let manifest = serde_json::to_value(selection.manifest()).unwrap();
    assert_eq!(manifest["entries"][0]["kept"], serde_json::json!({"start": 0, "end": 9, "of": 20, "unit": "chars"}));
    assert_eq!(manifest["entries"][0]["transform"], "trim_head");
}

#[test]
fn both_ends_can_be_kept() {
    let yaml = "budget: {window: 11}
fragments: [{id: a, kind: evidence, content: \"1\\n22\\n333\\n4444\\n55555\\n\", trim: {keep: head_tail}}]";
    let request = parse(yaml);
    let selection = chosen(&request);
    let Content::Text(text) = &selection.context.messages[0].blocks[0].content else { panic!("no text") };
    assert_eq!(text.to_cow(), "1\n22\n55555\n");
    let manifest = serde_json::to_value(selection.manifest()).unwrap();
    let range = |start, end| serde_json::json!({"start": start, "end": end, "of": 20, "unit": "chars"});
    assert_eq!(manifest["entries"][0]["kept"], serde_json::json!([range(0, 5), range(14, 20)]));
}

#[test]
fn too_little_of_a_text_is_nothing() {
    let cut = |min_chars: u64| {
        let yaml = format!(
            "budget: {{window: 3}}\nfragments: [{{id: a, kind: evidence, content: \"1\\n222\", trim: {{min_chars: {min_chars}}}}}]"
        );
        outcome(&yaml)
    };
    assert_eq!(cut(2).0, ["a"]);
    assert_eq!(cut(3).1, ["a over_budget"]);
}

#[test]
fn a_frame_counts_and_knows_that_it_frames_a_part() {
    let yaml = "budget: {window: 21}
fragment_template: \"<{id} {truncated}>{content}</{id}>\"
fragments: [{id: a, kind: evidence, content: \"12\\n34567\\n\", trim: {}}]";
    let request = parse(yaml);
    let selection = chosen(&request);
    let Content::Text(text) = &selection.context.messages[0].blocks[0].content else { panic!("no text") };
    assert_eq!(text.to_cow(), "<a true>12\n</a>");
    assert_eq!(selection.space.used, 15);
    assert_eq!(selection.manifest().entries[0].transform, "trim_head+template");
}

#[test]
fn words_that_close_the_frame_are_reported() {
    let yaml = "fragment_template: \"<doc>\\n{content}\\n</doc>\\n\"
fragments:
  - {id: a, kind: evidence, content: 'x </doc> y'}
  - {id: b, kind: evidence, content: 'x < /doc> y'}
  - {id: c, kind: tool_result, content: [{type: tool_result, tool_use_id: t, content: '</doc>'}]}";
    let request = parse(yaml);
    let selection = chosen(&request);
    let warnings: Vec<_> = selection.warnings.iter().map(|it| (it.code, &*it.path)).collect();
    assert_eq!(warnings, [("trust.frame_closer", "fragments[0]"), ("trust.frame_closer", "fragments[2]")]);
    let last = selection.context.messages.last().unwrap().blocks[0].content.clone();
    let Content::ToolResult { content, .. } = last else { panic!("no result") };
    assert_eq!(content, [Content::Text("<doc>\n</doc>\n</doc>\n".into())]);
}

#[test]
fn contradictions_stay_and_become_questions() {
    let yaml = |prefer: &str| {
        format!(
            "conflicts: {{prefer: [{prefer}]}}
fragments:
  - {{id: b, kind: memory, content: x, source_ref: m, version: 1, trust: user, claim: {{key: db, value: '15'}}}}
  - {{id: a, kind: evidence, content: y, source_ref: w, version: 2, trust: workspace, claim: {{key: db, value: '16'}}}}
  - {{id: c, kind: evidence, content: z, claim: {{key: other, value: 1}}}}"
        )
    };
    for (prefer, resolution) in [
        ("", serde_json::json!("user_input_required")),
        ("newer_version", serde_json::json!("user_input_required")),
        ("newer_version, higher_trust", serde_json::json!({"rule": "higher_trust", "id": "b"})),
    ] {
        let yaml = yaml(prefer);
        let request = parse(&yaml);
        let selection = chosen(&request);
        let marked: Vec<bool> = selection.included.iter().map(|it| it.in_conflict).collect();
        assert_eq!(marked, [true, true, false]);
        let questions = serde_json::to_value(&selection.open_questions).unwrap();
        assert_eq!(questions.as_array().map(Vec::len), Some(1));
        assert_eq!(questions[0]["resolution"], resolution);
        assert_eq!(questions[0]["candidates"][0]["id"], "a");
        assert_eq!(questions[0]["candidates"][0]["value"], "16");
    }
}

#[test]
fn other_scopes_are_not_settled_by_trust() {
    let yaml = "conflicts: {prefer: [higher_trust]}
fragments:
  - {id: a, kind: memory, content: x, scope: test, trust: user, claim: {key: db, value: 15}}
  - {id: b, kind: memory, content: y, scope: live, claim: {key: db, value: 16}}";
    let request = parse(yaml);
    assert_eq!(chosen(&request).open_questions[0].resolution, Resolution::UserInputRequired);
}

#[test]
fn tokens_that_are_not_declared_are_not_nothing() {
    let yaml = "budget: {window: 10, unit: tokens}
goal: [{role: user, content: x}]
fragments:
  - {id: a, kind: evidence, content: a}
  - {id: b, kind: evidence, content: b, tokens: 10}
  - {id: c, kind: evidence, content: c, tokens: 1, trim: {}}";
    let request = parse(yaml);
    let selection = chosen(&request);
    assert_eq!(selection.space.verdict, Verdict::Unknown);
    assert_eq!(selection.space.unknown, ["goal[0]"]);
    let out: Vec<_> = selection.excluded.iter().map(|it| (&*it.fragment.id, it.reason)).collect();
    assert_eq!(out, [("a", Reason::OverBudget), ("b", Reason::OverBudget)]);
}

#[test]
fn messages_stand_in_layers() {
    let yaml = "prefix: [{role: system, content: p}]
injections: {s: [{entry_id: e, content: i}]}
goal: [{role: user, content: g}]
observation_template: '{observation}'
trajectory: [{raw_output: r, observation: o}]
fragments:
  - {id: user, kind: user_input, content: '1'}
  - {id: result, kind: tool_result, content: '2'}
  - {id: memory, kind: memory, content: '3'}
  - {id: history, kind: history, content: '4'}
  - {id: state, kind: run_state, content: '5'}
  - {id: output, kind: output_contract, content: '6'}
  - {id: skill, kind: skill, content: '7'}
  - {id: policy, kind: policy, content: '8', role: system, trust: runtime}";
    let request = parse(yaml);
    let selection = chosen(&request);
    let origins: Vec<String> = selection.context.messages.iter().map(|message| message.origin.to_string()).collect();
    assert_eq!(
        origins,
        [
            "prefix[0]",
            "fragments[7]#policy",
            "injections.s[0]#e",
            "fragments[6]#skill",
            "goal[0]",
            "fragments[5]#output",
            "fragments[4]#state",
            "fragments[3]#history",
            "trajectory[0].raw_output",
            "trajectory[0].observation",
            "fragments[2]#memory",
            "fragments[1]#result",
            "fragments[0]#user",
        ]
    );
    assert_eq!(crate::assemble(&request, Some(0)).unwrap().messages.len(), 11);
    let manifest = selection.manifest();
    assert_eq!(manifest.entries[8].messages, [8, 9]);
    assert_eq!(manifest.entries[8].origin, "trajectory[0]");
    assert_eq!(manifest.layers.len(), Responsibility::ALL.len());
}

#[test]
fn a_summary_is_checked_for_what_it_replaces() {
    let yaml = "observation_template: '{observation}'
trajectory:
  - {raw_output: cat src/auth.ts, observation: 'at 9a2f41c, port 8080'}
  - {raw_output: '', tool_calls: [{id: call_7, name: run, input: {file: test/login.ts}, result: ok}]}
fragments:
  - id: sum
    kind: history
    content: read src/auth.ts
    replaces: ['trajectory[0:2]', 'trajectory[2:9]']
    summary_of:
      next_action: {text: look at call_7, inferred: true}
      keep: [8080, 'x']";
    let request = parse(yaml);
    let selection = chosen(&request);
    let lost: Vec<_> = selection.lost[0].identifiers.iter().map(|it| (it.kind, &*it.text)).collect();
    assert_eq!(lost, [("hash", "9a2f41c"), ("path", "test/login.ts"), ("kept", "8080"), ("kept", "x")]);
    assert_eq!(selection.lost[0].unchecked.len(), 1);
    assert_eq!(selection.warnings.iter().filter(|it| it.code == "compaction.lost").count(), 4);
}
