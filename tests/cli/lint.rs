//! `polyloop lint` from the command line: forms, codes, exits.

use crate::Scratch;
use crate::common::polyloop;

const CLEAN: &str =
    "prefix:\n  - {role: system, content: Be brief.}\ngoal:\n  - {role: user, content: Name a prime.}\n";
/// An escape sequence and a NUL.
const LIVE: &str = "goal:\n  - role: user\n    content: \"a \\e[31mred\\e[0m word and \\0\"\n";

#[test]
fn nothing_is_found_in_what_is_clean() {
    let scratch = Scratch::new();
    let clean = scratch.file("clean.yaml", CLEAN);
    assert_eq!(polyloop(["lint", &clean]).exits(0).text(), "nothing found\n");
    let report = polyloop(["lint", &clean, "--format", "json"]).exits(0).json();
    assert_eq!(report["schema"], "polyloop.lint/1");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0));
    assert_eq!(polyloop(["lint", &clean, "--format", "github"]).exits(0).text(), "");
}

#[test]
fn findings_have_a_code_a_place_and_a_line() {
    let scratch = Scratch::new();
    let live = scratch.file("live.yaml", LIVE);
    let report = polyloop(["lint", &live, "--format", "json"]).exits(1).json();
    let findings = report["findings"].as_array().expect("a list");
    let ansi = findings.iter().find(|finding| finding["code"] == "encoding.ansi").expect("it is found");
    assert_eq!(ansi["origin"], "goal[0]");
    assert_eq!(ansi["line"], 2);
    assert!(!ansi["hint"].as_str().expect("text").is_empty());
    let text = polyloop(["lint", &live]);
    crate::common::assert_calm(text.exits(1).text());
    assert!(text.text().contains("encoding.ansi"));
    let github = polyloop(["lint", &live, "--format", "github"]);
    assert!(github.exits(1).text().contains("title=encoding.ansi::goal[0]"), "{}", github.text());
    let sarif = polyloop(["lint", &live, "--format", "sarif"]).exits(1).json();
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
        assert_eq!(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "goal[0]");
    }
}

#[test]
fn codes_and_families_are_allowed_and_denied() {
    let scratch = Scratch::new();
    let live = scratch.file("live.yaml", LIVE);
    polyloop(["lint", &live, "--allow", "encoding"]).exits(0);
    polyloop(["lint", &live, "--allow", "encoding.ansi,encoding.nul"]).exits(0);
    let denied =
        polyloop(["lint", &live, "--allow", "encoding", "--deny", "encoding.nul", "-f", "json"]).exits(1).json();
    assert_eq!(denied["counts"]["error"], 1);
    let inside = scratch.file("inside.yaml", format!("{LIVE}metadata: {{lint: {{allow: [encoding]}}}}\n"));
    polyloop(["lint", &inside]).exits(0);
    let unknown = polyloop(["lint", &live, "--allow", "encoding.ansy"]);
    assert!(unknown.exits(2).stderr.contains("did you mean encoding.ansi?"), "{}", unknown.stderr);
}

#[test]
fn rules_are_listed_and_explained() {
    let rules = polyloop(["lint", "--rules"]);
    let listed: Vec<&str> = rules
        .exits(0)
        .text()
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(rules.text().lines().all(|line| line.chars().count() <= 80), "{}", rules.text());
    assert!(listed.len() > 30, "{listed:?}");
    for code in listed {
        let told = polyloop(["lint", "--explain", code]);
        for part in ["finds", "why", "fix", "fine"] {
            assert!(told.exits(0).text().lines().any(|line| line.trim() == part), "{code} has no {part}");
        }
        assert!(told.text().lines().all(|line| line.chars().count() <= 80), "{code}: {}", told.text());
    }
    polyloop(["lint", "--explain", "nothing.like_it"]).exits(2);
    polyloop(["lint"]).exits(2);
}

#[test]
fn what_it_is_meant_for_is_a_provider_or_a_template() {
    let scratch = Scratch::new();
    let clean = scratch.file("clean.yaml", CLEAN);
    for target in ["openai", "responses", "anthropic", "gemini", "bedrock"] {
        polyloop(["lint", &clean, "--for", target]).exits(0);
    }
    polyloop(["lint", &clean, "--for", "fixtures/providers/templates/merging.jinja"]).exits(0);
    assert_eq!(polyloop(["lint", &clean, "--for", "nowhere.jinja"]).exits(2).code, Some(2));
}

/// An id and a name may be a key too.
#[test]
fn a_key_is_told_by_no_rule() {
    let key = format!("ghp_{}", "aB3dEf7hIjaB3dEf7hIjaB3dEf7hIjkL9mNo");
    let call = format!(r#"{{"id":"{key}","type":"function","function":{{"name":"{key}","arguments":"{{}}"}}}}"#);
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"go"}},{{"role":"assistant","tool_calls":[{call}]}},{{"role":"{key}","content":"{key}"}}]}}"#
    );
    let scratch = Scratch::new();
    let file = scratch.file("body.json", body);
    for target in [&[][..], &["--for", "openai"], &["--for", "anthropic"]] {
        for format in ["text", "json", "github", "sarif"] {
            let ran = polyloop([&["lint", &file, "--format", format], target].concat());
            assert!(!ran.exits(1).text().contains("aB3dEf7"), "{format}: {}", ran.text());
            assert!(ran.text().contains("pairing.missing_result"), "{format}: {}", ran.text());
        }
    }
}
