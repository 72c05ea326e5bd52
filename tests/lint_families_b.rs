//! Rules of lint on templates, pairing, roles, tools, budgets and freshness: each on an input that breaks it, and on one
//! that does not.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::{cases, files_under, root};
use polyloop::lint::{self, Finding, Options, Severity, Subject};
use polyloop::provider::Shape;
use polyloop::read::{self, Format, Input, Recorded};
use polyloop::{RunRequest, assemble, select};

const FAMILIES: [&str; 6] = ["template", "pairing", "roles", "tools", "budget", "freshness"];

/// Raises on two messages of one role in a row, as templates of open-weight models do.
const STRICT: &str = "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}\
                      {{ raise_exception('Roles must alternate: user, assistant, user ...') }}{% endif %}{% endfor %}";

/// Who the prompt is meant for.
#[derive(Clone, Copy, Default)]
struct For {
    target: Option<Shape>,
    chat_template: Option<&'static str>,
}

/// Whom the fixtures of a rule are meant for: most rules need nobody.
fn meant_for(code: &str) -> For {
    let target = match code {
        "pairing.refused" | "roles.refused" => Some(Shape::Anthropic),
        "roles.consecutive" => Some(Shape::Bedrock),
        _ => None,
    };
    For { target, chat_template: None }
}

fn is_ours(code: &str) -> bool {
    FAMILIES.iter().any(|family| code.split('.').next() == Some(family))
}

fn of_recorded(recorded: &Recorded<'_>, meant: For) -> Vec<Finding> {
    lint_all(Subject {
        context: &recorded.context,
        request: None,
        selection: None,
        wire: recorded.wire.as_deref(),
        shape: recorded.shape,
        target: meant.target,
        chat_template: meant.chat_template,
    })
}

fn lint_all(subject: Subject<'_>) -> Vec<Finding> {
    let all = lint::lint(&subject, &Options::default());
    all.into_iter().filter(|finding| is_ours(finding.code)).collect()
}

fn of_request(request: &RunRequest<'_>, meant: For) -> Vec<Finding> {
    let selection = request.needs_selection().then(|| select(request, None).expect("a selection"));
    let assembled = assemble(request, None).expect("a context");
    lint_all(Subject {
        context: &assembled,
        request: Some(request),
        selection: selection.as_ref(),
        wire: None,
        shape: None,
        target: meant.target,
        chat_template: meant.chat_template,
    })
}

fn of_text(text: &str, format: Option<Format>, meant: For) -> polyloop::Result<Vec<Finding>> {
    Ok(match read::read(text, format)? {
        Input::Request(request) => of_request(&request, meant),
        Input::Recorded(recorded) => of_recorded(&recorded, meant),
    })
}

fn of_file(path: &Path, meant: For) -> Vec<Finding> {
    let text = fs::read_to_string(path).expect("a fixture is text");
    of_text(&text, Format::of_path(path), meant).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn codes(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding.code).collect()
}

/// The fixture of a rule, whatever its format.
fn fixture(code: &str, case: &str) -> PathBuf {
    let folder = root().join("fixtures/lint");
    let paths = ["yaml", "json", "jsonl"].map(|ending| folder.join(format!("{code}.{case}.{ending}")));
    let mut found = paths.into_iter().filter(|path| path.is_file());
    let path = found.next().unwrap_or_else(|| panic!("{code} has no fixture {case}"));
    assert!(found.next().is_none(), "{code} has two fixtures {case}");
    path
}

#[test]
fn each_rule_finds_what_it_is_for_and_nothing_else() {
    let rules: Vec<&lint::Rule> = lint::rules().filter(|rule| is_ours(rule.code)).collect();
    for family in FAMILIES {
        let count = rules.iter().filter(|rule| rule.code.split('.').next() == Some(family)).count();
        assert!(count > 1, "{family} has {count} rules");
    }
    let mut faults = Vec::new();
    for rule in &rules {
        let code = rule.code;
        let found = of_file(&fixture(code, "found"), meant_for(code));
        let mut own = found.iter().filter(|finding| finding.code == code).peekable();
        if own.peek().is_none() {
            faults.push(format!("{code} is not found, but {:?}", codes(&found)));
        }
        for finding in own {
            assert_eq!((finding.severity, finding.hint), (rule.severity, rule.fix), "{code}");
            assert!(!finding.origin.is_empty() && !finding.message.is_empty(), "{finding:?}");
            assert!(!finding.message.ends_with('.'), "{finding:?}");
        }
        let fine = of_file(&fixture(code, "fine"), meant_for(code));
        faults.extend(fine.iter().filter(|finding| finding.code == code).map(|finding| format!("fine: {finding:?}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_rule_explains_itself() {
    for rule in lint::rules().filter(|rule| is_ours(rule.code)) {
        for words in [rule.finds, rule.why, rule.fix, rule.fine] {
            assert!(words.len() > 4 && !words.ends_with('.') && !words.contains("  "), "{}: {words:?}", rule.code);
        }
    }
}

#[test]
fn where_a_finding_is() {
    for (code, places) in [
        ("template.lossy", &["observation_template"][..]),
        ("template.empty_step", &["trajectory[0].observation"]),
        ("template.unseen_observation", &["trajectory[0].observation"]),
        ("pairing.missing_result", &["messages[1].content[1]"]),
        ("pairing.orphan_result", &["messages[2].content[0]"]),
        ("pairing.misplaced_result", &["messages[4].content[0]"]),
        ("roles.late_system", &["messages[1]"]),
        ("roles.goal_missing", &["goal"]),
        ("roles.goal_not_last", &["fragments[0]#notes"]),
        ("tools.unknown_call", &["messages[1].content[0]"]),
        ("tools.named_but_gone", &["messages[0].content[0]"]),
        ("tools.duplicate_name", &["tools[1]"]),
        ("budget.over", &["budget.max_prompt_chars"]),
        ("budget.unknown", &["budget.window"]),
        ("freshness.stale", &["fragments[0]#tests"]),
        ("freshness.superseded_kept", &["fragments[1]#before"]),
        ("freshness.conflict_unmarked", &["fragments[0]#page"]),
    ] {
        let found = of_file(&fixture(code, "found"), meant_for(code));
        let origins: Vec<&str> =
            found.iter().filter(|finding| finding.code == code).map(|finding| &*finding.origin).collect();
        assert_eq!(origins, places, "{code}");
    }
}

/// Requests in YAML, and the codes of all that is found in them.
#[test]
fn what_else_a_rule_goes_by() {
    const GOAL: &str = "goal: [{role: user, content: \"Mend the login.\"}]\n";
    const CLAIMS: &str = "fragments:\n\
        \x20 - {id: page, kind: evidence, source_ref: s, version: \"1\", claim: {key: 数据库 port, value: 1}, content: One.}\n\
        \x20 - {id: file, kind: memory, source_ref: t, version: \"2\", trust: user, claim: {key: 数据库 port, value: 2}, content: ";
    let template = |text: &str| format!("{GOAL}observation_template: \"{text}\"\n");
    let steps = |steps: &str| format!("{GOAL}observation_template: \"{{observation}}\"\ntrajectory: [{steps}]\n");
    let claims = |rest: &str| format!("{GOAL}{CLAIMS}{rest}");
    let frame =
        |text: &str| format!("{GOAL}fragment_template: \"{text}\"\nfragments: [{{id: a, kind: memory, content: x}}]\n");
    let cases: Vec<(String, &[&str])> = vec![
        // Padding, and a conversion that changes nothing.
        (template("{observation!s:>3}"), &[]),
        (template("{observation!r}"), &["template.lossy"]),
        (template("{observation}{observation:.3}"), &["template.doubled", "template.lossy"]),
        (steps("{raw_output: ls, tool_calls: []}"), &["template.empty_step"]),
        (steps("{raw_output: ls, observation: \" \"}"), &[]),
        // A result that says nothing is still a result.
        (steps("{raw_output: ls, tool_calls: [{id: a, name: b, input: {}, result: \"\"}]}"), &[]),
        (steps("{raw_output: ls, tool_calls: [{id: a, name: b, input: {}}]}"), &["pairing.missing_result"]),
        // A frame opens and closes with the same words.
        (frame("<{kind}>{content}</{kind}>"), &[]),
        (frame("{content}{content}"), &["template.doubled"]),
        (frame("{content:.3}"), &["template.lossy"]),
        // A conflict is marked by the key, by the ids, or by one of those that differ; by parts of them it is not.
        (claims("Two.}\n"), &["freshness.conflict_unmarked"]),
        (claims("Two.}\nfragment_template: \"{id}: {content}\"\n"), &["freshness.conflict_unmarked"]),
        (claims("\"Two; page says otherwise.\"}\n"), &[]),
        (claims("Two.}\n  - {id: note, kind: run_state, content: \"page and file differ\"}\n"), &[]),
        (
            claims("Two.}\n  - {id: note, kind: run_state, content: \"page differs\"}\n"),
            &["freshness.conflict_unmarked"],
        ),
        (claims("Two.}\n  - {id: note, kind: run_state, content: \"数据库的 port?\"}\n"), &[]),
        (claims("Two.}\n  - {id: note, kind: run_state, content: \"port?\"}\n"), &["freshness.conflict_unmarked"]),
        (claims("Two.}\nconflicts: {prefer: [higher_trust]}\n"), &["freshness.conflict_unmarked"]),
        // Only one side is in the prompt, which fills its window.
        (claims("Two and much more than there is space for.}\nbudget: {window: 20}\n"), &["budget.nearly_used"]),
        (format!("{GOAL}budget: {{window: 16}}\n"), &["budget.nearly_used"]),
        (format!("{GOAL}budget: {{window: 17}}\n"), &[]),
        (format!("{GOAL}budget: {{window: 18, reserved_output: 2}}\n"), &["budget.nearly_used"]),
        ("prefix: [{role: user, content: \"Mend the login.\"}]\n".to_owned(), &["roles.goal_missing"]),
        ("{}".to_owned(), &["roles.goal_missing"]),
    ];
    let mut faults = Vec::new();
    for (text, wanted) in &cases {
        let found = of_text(text, Some(Format::Yaml), For::default()).unwrap_or_else(|error| panic!("{text}{error}"));
        if codes(&found) != wanted.iter().copied().collect() {
            faults.push(format!("{text}{found:#?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Streams of messages, and the codes of all that is found in them.
#[test]
fn what_else_a_rule_goes_by_in_recordings() {
    let text = |role: &str, text: &str| {
        format!("{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}\n")
    };
    let call = "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"look\",\"input\":{}}]}\n\
                {\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[]}]}\n";
    let peek = "{\"tools\":[{\"name\":\"peek\",\"description\":\"Peeks.\"}]}\n";
    let server =
        "{\"tools\":[{\"name\":\"peek\",\"description\":\"Peeks.\"},{\"type\":\"mcp\",\"server_url\":\"x\"}]}\n";
    let go = text("user", "Go.");
    let gone: &[&str] = &["tools.named_but_gone", "tools.unknown_call"];
    let cases: Vec<(String, &[&str])> = vec![
        (text("assistant", "Hello."), &["roles.goal_missing"]),
        ([go.as_str(), call].concat(), &[]),
        ([peek, &go, call].concat(), &["tools.unknown_call"]),
        // What a server brings along may be called anything.
        ([server, &go, call].concat(), &[]),
        ([peek, &text("system", "Call look(path)."), &go, call].concat(), gone),
        ([peek, &text("developer", "There is `look`."), &go, call].concat(), gone),
        (
            [peek, &text("system", "There is `look at it`, `a look`, and overlook(x)."), &go, call].concat(),
            &["tools.unknown_call"],
        ),
        // Only instructions count, and only tools that were called.
        ([peek, &text("user", "Call look(path)."), call].concat(), &["tools.unknown_call"]),
        ([peek, &text("system", "Call see(path)."), &go, call].concat(), &["tools.unknown_call"]),
    ];
    let mut faults = Vec::new();
    for (text, wanted) in &cases {
        let found = of_text(text, Some(Format::JsonLines), For::default()).expect("a stream");
        if codes(&found) != wanted.iter().copied().collect() {
            faults.push(format!("{text}{found:#?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn clean_inputs_are_clean() {
    for name in ["minimal", "react", "tool_calls"] {
        let found = of_file(&root().join(format!("fixtures/{name}/request.yaml")), For::default());
        assert_eq!(found, [], "{name}");
    }
    for shape in Shape::ALL {
        let meant = For { target: Some(shape), chat_template: Some(STRICT) };
        assert_eq!(of_file(&root().join("fixtures/minimal/request.yaml"), meant), [], "{shape}");
    }
}

#[test]
fn a_chat_template_that_raises_wants_roles_to_alternate() {
    let path = fixture("roles.consecutive", "found");
    let with =
        |chat_template| codes(&of_file(&path, For { target: None, chat_template })).contains("roles.consecutive");
    assert!(with(Some(STRICT)));
    assert!(!with(None));
    assert!(!with(Some("{# roles alternate #}{{ raise_exception('No system, please.') }}")));
    assert!(!with(Some("{% for m in messages %}{{ m.content }}{% endfor %}")));
    let calls = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look.\"}]}\n\
                 {\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"look\",\"input\":{}}]}\n\
                 {\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[]}]}\n\
                 {\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Seen.\"}]}\n";
    let meant = For { target: None, chat_template: Some(STRICT) };
    assert_eq!(of_text(calls, Some(Format::JsonLines), meant).expect("a stream"), []);
}

/// What a provider refuses is told when it is named, once a place and in prompt order.
#[test]
fn what_a_provider_refuses_is_told() {
    let files = files_under(&root().join("fixtures/providers/rules"));
    let (mut refused, mut taken) = (0, 0);
    for path in &files {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let [rule, shape, case, "json"] = name.split('.').collect::<Vec<_>>()[..] else { continue };
        let shape = Shape::of_name(shape).expect("a shape");
        let text = fs::read_to_string(path).expect("a fixture is text");
        let as_shape = read::As { shape: Some(shape), ..read::As::default() };
        let Ok(Input::Recorded(recorded)) = read::read_as(&text, Some(Format::Json), as_shape) else {
            panic!("{name} is not read")
        };
        let found = of_recorded(&recorded, For { target: Some(shape), chat_template: None });
        let wanted = match rule {
            "call_without_result" => "pairing.missing_result",
            "result_without_call" => "pairing.orphan_result",
            "result_misplaced" | "result_order" => "pairing.misplaced_result",
            "result_twice" => "pairing.repeated_result",
            "id_repeated" => "pairing.repeated_id",
            "alternation" => "roles.consecutive",
            "role" => "roles.unknown",
            "call_placement" | "empty_calls" | "id_missing" | "id_spelling" | "tool_name" | "tools_missing" => {
                "pairing.refused"
            }
            _ => "roles.refused",
        };
        match case {
            "refused" => {
                assert!(codes(&found).contains(wanted), "{name}: {wanted} is not among {found:?}");
                refused += 1;
            }
            _ => {
                let is_error =
                    |finding: &&Finding| finding.severity == Severity::Error && !finding.code.starts_with("tools.");
                assert_eq!(found.iter().find(is_error), None, "{name}");
                taken += 1;
            }
        }
    }
    assert!(refused > 40 && taken > 40, "{refused} refused, {taken} taken");
}

#[test]
fn findings_stand_in_prompt_order_and_once() {
    let message = |role: &str, text: &str| {
        format!("{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}\n")
    };
    let call = |id: &str| {
        format!(
            "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"look\",\"input\":{{}}}}]}}\n"
        )
    };
    let result = "{\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"x\",\"content\":[]}]}\n";
    let stream = [message("user", "Go."), call("a"), result.to_owned(), message("user", "On."), call("b")].concat();
    let found = of_text(&stream, Some(Format::JsonLines), For::default()).expect("a stream");
    let told: Vec<(&str, &str)> = found.iter().map(|finding| (finding.code, &*finding.origin)).collect();
    assert_eq!(
        told,
        [
            ("pairing.missing_result", "messages[1].content[0]"),
            ("pairing.orphan_result", "messages[2].content[0]"),
            ("pairing.missing_result", "messages[4].content[0]"),
        ]
    );
}

/// Blocks of one message of a request have one origin.
#[test]
fn what_is_refused_is_told_once() {
    let meant = |shape| For { target: Some(shape), chat_template: None };
    let told = |text: &str, shape| {
        let found = of_text(text, None, meant(shape)).expect("an input");
        found.into_iter().map(|finding| (finding.code, finding.origin)).collect::<Vec<_>>()
    };
    let empty = "goal: [{role: user, content: [{type: text, text: \"\"}, {type: text, text: \"\"}]}]\n";
    assert_eq!(told(empty, Shape::Anthropic), [("roles.refused", "goal[0]".to_owned())]);
    let late = "goal: [{role: user, content: Go.}, {role: system, content: Be brief.}, {role: user, content: On.}]\n";
    assert_eq!(told(late, Shape::Gemini), [("roles.refused", "goal[1]".to_owned())]);
    assert_eq!(told(late, Shape::OpenAi), [("roles.late_system", "goal[1]".to_owned())]);
}

/// Prints how often each rule fires on what was recorded: `cargo test --test lint_families_b -- --ignored --nocapture`.
#[test]
#[ignore = "prints counts for people to look at"]
fn counts_on_recorded_runs() {
    for folder in ["real", "provider"] {
        let Some(folder) = cases(folder) else { continue };
        let (mut counts, mut inputs) = (BTreeMap::<&str, (usize, usize, String)>::new(), 0);
        let mut count = |name: String, found: Vec<Finding>| {
            inputs += 1;
            for code in codes(&found) {
                let of_code = found.iter().filter(|finding| finding.code == code);
                let first = of_code.clone().next().expect("one is there");
                let known = lint::rule(code).expect("a rule").code;
                let (files, all, shown) = counts.entry(known).or_default();
                *files += 1;
                *all += of_code.count();
                if *files <= 10 {
                    *shown += &format!("    {name}: {}: {}\n", first.origin, first.message);
                }
            }
        };
        for path in files_under(&folder).iter().filter(|path| Format::of_path(path).is_some()) {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(path).expect("text");
            // Of a log the last call.
            match read::read(&text, Format::of_path(path)) {
                Ok(Input::Request(request)) => count(name, of_request(&request, For::default())),
                Ok(Input::Recorded(recorded)) => count(name, of_recorded(&recorded, For::default())),
                Err(error) => eprintln!("{name}: {error}"),
            }
        }
        eprintln!("{}: {inputs} inputs", folder.display());
        for (code, (files, all, shown)) in counts {
            eprint!("{code}: {all} in {files}\n{shown}");
        }
    }
}
