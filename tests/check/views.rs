//! What the views show, and what they do not.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde_json::Value;

use super::{OTHER, OTHER_STREAM, REQUEST, STREAM, Tree, common};

const FORMATS: [&str; 5] = ["text", "json", "junit", "github", "markdown"];
/// Stands in every text of the requests and goldens below.
const SECRET: &str = "xyzzy";

/// One of each kind, with a secret in every text.
fn secrets() -> Tree {
    let tree = Tree::new();
    let request = |text: &str| format!("{{\"goal\": [{{\"role\": \"user\", \"content\": \"{text}\"}}]}}");
    let stream = |text: &str| STREAM.replace("Name a prime.", text);
    tree.file("different.yaml", request("xyzzy one")).file("different.render.jsonl", stream("xyzzy two"));
    tree.file("missing.yaml", request("xyzzy"));
    tree.file("orphan.render.jsonl", stream("xyzzy"));
    tree.file("role.yaml", "goal: [{role: xyzzy, content: xyzzy}]");
    tree.file("key.yaml", "goal: [{role: user, content: {xyzzy: xyzzy}}]").file("key.render.jsonl", "");
    tree.file("top.yaml", "goal: []\nxyzzy: 1\n");
    tree.file("tag.yaml", "goal: [{role: user, content: !!int xyzzy}]");
    tree.file(
        "synthetic.yaml",
        "observation_template: '{observation}'\ntrajectory: [{raw_output: a, synthetic: xyzzy}]",
    );
    tree.file("template.yaml", "observation_template: 'xyzzy {xyzzy} {{'");
    tree.file("syntax.yaml", "goal: [\"xyzzy\n");
    tree.file("block.json", "{\"goal\": [{\"role\": \"user\", \"content\": [{\"type\": \"xyzzy\"}]}]}");
    tree.file("golden.yaml", request("xyzzy")).file("golden.render.jsonl", "{\"role\":\"user\",\"xyzzy\":\"xyzzy\"}\n");
    tree
}

#[test]
fn no_text_of_a_prompt_reaches_a_public_log() {
    let tree = secrets();
    for format in FORMATS {
        let ran = tree.check(&["--format", format]);
        ran.exits(2);
        assert_eq!(ran.json_if(format)["errors"], if format == "json" { Value::from(9) } else { Value::Null });
        if format != "text" {
            assert!(!ran.text().contains(SECRET), "{format}: {}", ran.text());
            assert!(!ran.stderr.contains(SECRET), "{format}: {}", ran.stderr);
            assert!(ran.stderr.contains("--show-content"), "{format}: {}", ran.stderr);
            // What is wrong with each is still said.
            assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("polyloop: ")).count(), 9, "{}", ran.stderr);
        }
        let shown = tree.check(&["--format", format, "--show-content"]);
        shown.exits(2);
        assert!(shown.text().contains("xyzzy two"), "{format}: {}", shown.text());
        assert!(shown.stderr.contains(SECRET), "{format}: {}", shown.stderr);
    }
}

trait JsonIf {
    fn json_if(&self, format: &str) -> Value;
}

impl JsonIf for common::Ran {
    fn json_if(&self, format: &str) -> Value {
        if format == "json" { self.json() } else { Value::Null }
    }
}

/// Names that try to be more than names.
const NASTY: [&[u8]; 10] = [
    b"a\n::error::b",
    b"\x1b[31mred",
    b"it's \"q\" & <b>",
    b"x|`y`|``z",
    b"100%,a:b",
    "\u{202e}gpj".as_bytes(),
    b"-rf",
    b"$(id)",
    b"\\",
    b"\xff\xfe",
];

/// Under each of them one that differs, one without a golden, a faulty one and a golden without a request.
fn nasty() -> Tree {
    let tree = Tree::new();
    for name in NASTY {
        let named = |ending: &[u8]| PathBuf::from(OsString::from_vec([name, ending].concat()));
        tree.file(named(b".yaml"), REQUEST).file(named(b".render.jsonl"), OTHER_STREAM);
        tree.file(named(b"/missing.yaml"), OTHER).file(named(b"/gone.render.jsonl"), "");
        tree.file(named(b"/bad.yaml"), "goal: \u{1}\n");
    }
    std::os::unix::fs::symlink(".", tree.join("loop\r]]>")).expect("a link can be made");
    tree
}

#[test]
fn names_are_no_more_than_names() {
    let tree = nasty();
    for format in FORMATS {
        for more in [&[][..], &["--show-content"], &["--write-actual", ".out"]] {
            let ran = tree.check(&[&["--format", format], more].concat());
            ran.exits(2);
            common::assert_calm(ran.text());
            common::assert_calm(&ran.stderr);
            match format {
                "json" => assert_eq!(ran.json()["checked"], 3 * NASTY.len()),
                "junit" => assert_xml(ran.text(), 4 * NASTY.len()),
                "github" => assert_commands(ran.text()),
                "markdown" => assert_table(ran.text()),
                _ => {}
            }
        }
    }
}

/// Fails unless this is XML, as far as it is used here, with so many test cases.
#[track_caller]
fn assert_xml(text: &str, cases: usize) {
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a declaration");
    let is_char =
        |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(body.chars().all(is_char));
    for (at, _) in body.match_indices('&') {
        let entity = body[at..].split_inclusive(';').next().unwrap_or_default();
        assert!(["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"].contains(&entity), "{entity}");
    }
    let mut open = Vec::new();
    let mut found = 0;
    for tag in body.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let mut rest = tag[name.len()..].trim_end_matches('/');
        while !rest.is_empty() {
            let (key, value) = rest.strip_prefix(' ').and_then(|rest| rest.split_once("=\"")).expect("an attribute");
            assert!(key.bytes().all(|byte| byte.is_ascii_lowercase()), "{tag}");
            let (value, behind) = value.split_once('"').expect("quotes are closed");
            assert!(!value.contains('\n'), "{tag}");
            rest = behind;
        }
        found += usize::from(name == "testcase");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(found, cases);
}

/// Fails unless every line after the verdict is one well-formed workflow command.
#[track_caller]
fn assert_commands(text: &str) {
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|verdict| verdict.starts_with("30 requests: ")));
    for line in lines {
        let (properties, _) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).expect("a command");
        let (level, properties) = properties.split_once(' ').expect("properties");
        assert!(["error", "warning"].contains(&level), "{line}");
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').expect("a property");
            assert!(["file", "line", "col", "title"].contains(&key) && !value.contains(':'), "{line}");
        }
        for (at, _) in line.match_indices('%') {
            assert!(["%25", "%0A", "%0D", "%3A", "%2C"].contains(&&line[at..at + 3]), "{line}");
        }
    }
}

/// Fails unless every row of the table has as many cells as its head: a bar in a name is escaped.
#[track_caller]
fn assert_table(text: &str) {
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    let cells = |row: &str| row.replace("\\|", "").matches('|').count();
    assert_eq!(rows.len(), 2 + 4 * NASTY.len(), "{text}");
    assert!(rows.iter().all(|row| cells(row) == 6), "{text}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for tree in [secrets(), nasty()] {
        for format in FORMATS {
            let outputs = ["1", "2", "4", "64"].map(|threads| {
                let ran = tree.check(&["--format", format, "--threads", threads, "--prove"]);
                (ran.code, ran.text().to_owned(), ran.stderr)
            });
            assert!(outputs.iter().all(|output| *output == outputs[0]), "{format}: {outputs:#?}");
        }
    }
    let outputs = ["1", "4"].map(|threads| {
        let ran = common::polyloop(["check", "fixtures", "--threads", threads]);
        (ran.code, ran.text().to_owned(), ran.stderr)
    });
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn junit_tells_findings_from_errors() {
    let tree = secrets();
    tree.file("good.yaml", OTHER).file("good.render.jsonl", OTHER_STREAM);
    let ran = tree.check(&["--format", "junit"]);
    ran.exits(2);
    assert!(ran.text().contains("tests=\"13\" failures=\"2\" errors=\"10\""), "{}", ran.text());
    assert!(ran.text().contains("<testcase classname=\".\" name=\"good.yaml\" file=\"good.yaml\"/>"), "{}", ran.text());
    assert_xml(ran.text(), 13);
}

#[test]
fn a_fault_is_annotated_where_it_is() {
    let tree = Tree::new();
    tree.file("a.yaml", "goal:\n  - {role: user, content: 1}\n");
    let ran = tree.check(&["--format", "github"]);
    ran.exits(2);
    assert!(ran.text().contains("::error file=a.yaml,line=2,col=27,title="), "{}", ran.text());
}

#[test]
fn commands_to_paste_do_what_they_say() {
    let tree = nasty();
    let ran = tree.check(&[]);
    let mut pasted = 0;
    for line in ran.text().lines().filter_map(|line| line.strip_prefix("   to take it:  polyloop ")) {
        let script = format!("'{}' {line}", common::BINARY);
        let mut shell = std::process::Command::new("bash");
        let done = common::run(shell.args(["-c", &script]).current_dir(tree.path()).env_remove("CI"), b"");
        done.exits(0);
        pasted += 1;
    }
    assert_eq!(pasted, 2 * NASTY.len());
    let after = tree.check(&["--format", "json"]);
    assert_eq!((&after.json()["different"], &after.json()["missing"]), (&0.into(), &0.into()));
}

#[test]
fn the_document_has_its_keys() {
    let tree = secrets();
    let document = tree.check(&["--format", "json"]).json();
    let keys: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut wanted = [
        "schema",
        "tool_version",
        "checked",
        "identical",
        "different",
        "missing",
        "orphaned",
        "skipped",
        "errors",
        "compared_bytes",
        "warnings",
        "results",
    ];
    wanted.sort_unstable();
    assert_eq!(keys, wanted);
    for result in document["results"].as_array().expect("a list") {
        for key in ["request", "golden", "status", "digest", "golden_digest", "first_difference", "classes", "bytes"] {
            assert!(result.get(key).is_some(), "no {key} in {result}");
        }
    }
    let to_file = tree.check(&["--format", "json", "-o", ".report"]);
    to_file.exits(2);
    assert!(to_file.stdout.is_empty());
    assert_eq!(serde_json::from_slice::<Value>(&tree.read(".report")).expect("JSON"), document);
}
