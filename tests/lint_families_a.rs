//! Rules of lint about what is said: content, cache, duplicate, trust, encoding, secret. Each has a fixture in which it
//! finds something and one, as close to it as can be, in which it finds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use polyloop::lint::{self, Finding, Options, Subject};
use polyloop::read::{self, Format, Input};

const FAMILIES: [&str; 6] = ["content", "cache", "duplicate", "trust", "encoding", "secret"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn in_families(code: &str) -> bool {
    FAMILIES.contains(&code.split('.').next().unwrap_or_default())
}

/// What the six families find in a document.
fn found_in(text: &str, format: Option<Format>, chat_template: Option<&str>) -> polyloop::Result<Vec<Finding>> {
    let input = read::read(text, format)?;
    let (context, request) = match &input {
        Input::Request(request) => {
            let context = match request.needs_selection() {
                true => polyloop::select(request, None)?.context,
                false => polyloop::assemble(request, None)?,
            };
            (context, Some(&**request))
        }
        Input::Recorded(recorded) => (recorded.context.borrow(), None),
    };
    let subject =
        Subject { context: &context, request, selection: None, wire: None, shape: None, target: None, chat_template };
    let mut findings = lint::lint(&subject, &Options::default());
    findings.retain(|finding| in_families(finding.code));
    Ok(findings)
}

fn found(path: &Path) -> Vec<Finding> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    found_in(&text, Format::of_path(path), None).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fixture of a rule, whatever its format.
fn fixture(code: &str, kind: &str) -> PathBuf {
    let paths = ["yaml", "json", "jsonl"].map(|end| root().join(format!("fixtures/lint/{code}.{kind}.{end}")));
    let mut there = paths.into_iter().filter(|path| path.exists());
    let path = there.next().unwrap_or_else(|| panic!("{code} has no {kind} fixture"));
    assert!(there.next().is_none(), "{code} has two {kind} fixtures");
    path
}

fn rules() -> Vec<&'static lint::Rule> {
    let rules: Vec<&lint::Rule> = lint::rules().filter(|rule| in_families(rule.code)).collect();
    let families: BTreeSet<&str> = rules.iter().filter_map(|rule| rule.code.split('.').next()).collect();
    assert_eq!(families, BTreeSet::from(FAMILIES), "a family has no rule");
    rules
}

/// Every finding of the fixtures: rule, origin and words, so that a change of any is seen.
const TOLD: &str = include_str!("lint_families_a.txt");

#[test]
fn each_rule_finds_what_it_is_for_and_nothing_else() {
    let mut told = String::new();
    for rule in rules() {
        let findings = found(&fixture(rule.code, "found"));
        assert!(findings.iter().any(|finding| finding.code == rule.code), "{}: {findings:?}", rule.code);
        for Finding { code, severity, origin, message, hint } in findings.iter().filter(|f| f.code == rule.code) {
            assert_eq!((*severity, *hint), (rule.severity, rule.fix), "{code}");
            assert!(!message.ends_with('.') && !message.is_empty(), "{code}: {message}");
            told += &format!("{code} {origin}: {message}\n");
        }
        let fine = found(&fixture(rule.code, "fine"));
        assert!(fine.iter().all(|finding| finding.code != rule.code), "{fine:?}");
    }
    assert_eq!(told, TOLD, "got\n{told}");
}

#[test]
fn rules_say_what_they_are_about() {
    let mut codes = BTreeSet::new();
    for rule in rules() {
        assert!(codes.insert(rule.code), "{} is there twice", rule.code);
        for words in [rule.finds, rule.why, rule.fix, rule.fine] {
            assert!(words.len() > 20 && !words.ends_with('.') && !words.contains('\n'), "{}: {words:?}", rule.code);
        }
    }
}

#[test]
fn clean_prompts_are_clean() {
    for name in ["minimal", "tools", "slot_absent"] {
        let findings = found(&root().join(format!("fixtures/{name}/request.{}", ending(name))));
        assert!(findings.is_empty(), "{name}: {findings:?}");
    }
    for text in ["{}", r#"[{"role":"user","content":"é"}]"#] {
        assert!(found_in(text, Some(Format::Json), None).unwrap().is_empty(), "{text}");
    }
}

fn ending(name: &str) -> &'static str {
    let is_there = |end: &&&str| root().join(format!("fixtures/{name}/request.{end}")).exists();
    ["yaml", "json"].iter().find(is_there).expect("the fixture has a request")
}

#[test]
fn a_key_is_never_told() {
    let path = fixture("secret.key", "found");
    let text = fs::read_to_string(&path).unwrap();
    let findings = found(&path);
    let told: String = findings.iter().map(|finding| format!("{} {}\n", finding.message, finding.origin)).collect();
    let keys = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() >= 30);
    let parts: Vec<&[u8]> = keys.flat_map(|key| key.as_bytes().windows(5)).collect();
    assert!(parts.len() > 50, "there are no keys in {}", path.display());
    for part in parts {
        let part = std::str::from_utf8(part).unwrap();
        assert!(!told.contains(part), "{part} is told in {told}");
    }
}

#[test]
fn markers_of_the_given_template_count() {
    let text = r#"[{"role":"user","content":"a <|turn_of_all|> b"}]"#;
    assert!(found_in(text, Some(Format::Json), None).unwrap().is_empty());
    let template = "{% for m in messages %}<|turn_of_all|>{{ m.content }}<| x |>{% endfor %}<|";
    let findings = found_in(text, Some(Format::Json), Some(template)).unwrap();
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["trust.role_marker"]);
}

/// Counts by code over folders of recordings, named in `LINT_FOLDERS` with `:` between them.
#[test]
#[ignore = "needs a collection of recordings"]
fn counts_over_recordings() {
    let folders = std::env::var("LINT_FOLDERS").expect("LINT_FOLDERS names folders");
    for folder in folders.split(':') {
        let mut files = 0;
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| !path.to_string_lossy().ends_with(".expected.json")) {
            let text = fs::read_to_string(path).unwrap();
            let Ok(findings) = found_in(&text, Format::of_path(path), None) else { continue };
            files += 1;
            let mut seen = BTreeSet::new();
            for finding in &findings {
                let count = counts.entry(finding.code).or_default();
                count.0 += 1;
                count.1 += usize::from(seen.insert(finding.code));
                let name = path.file_name().unwrap().to_string_lossy();
                println!("{name}: {} {}: {}", finding.code, finding.origin, finding.message);
            }
        }
        println!("== {folder}: {files} files");
        counts.iter().for_each(|(code, (all, files))| println!("{code:32} {all:5} findings in {files} files"));
    }
}
