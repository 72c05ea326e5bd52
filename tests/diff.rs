//! Comparisons: one fixture a class, and what a person sees of every character there is.

mod common;

use std::path::PathBuf;

use common::{assert_calm, polyloop, read, root};
use polyloop::context::{Block, Content, Message, Origin, Role, Text};
use polyloop::diff::{Subject, compare};
use polyloop::write::{DiffOptions, DiffReport, Look};
use polyloop::{Code, Context};
use serde_json::{Value, json};

fn cases() -> Vec<PathBuf> {
    let folder = root().join("fixtures/diff");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("there are fixtures")
        .map(|entry| entry.expect("it is listed").path())
        .collect();
    cases.sort();
    cases
}

fn name(case: &std::path::Path, file: &str) -> String {
    case.join(file).strip_prefix(root()).expect("a fixture lies in the repository").display().to_string()
}

#[test]
fn every_class_is_found_where_it_is() {
    let cases = cases();
    for case in &cases {
        let expected: Value = serde_json::from_slice(&read(case.join("expected.json"))).expect("it is JSON");
        let (a, b) = (name(case, "a.yaml"), name(case, "b.yaml"));
        let exit = if expected["identical"] == true { 0 } else { 1 };

        let found = polyloop(["diff", &a, &b, "--format", "json"]);
        let document = found.exits(exit).json();
        assert_eq!(document["schema"], "polyloop.diff/1");
        for key in ["identical", "classes", "changes", "first_difference"] {
            assert_eq!(document[key], expected[key], "{a}: {key}");
        }
        for (side, file) in [("a", &a), ("b", &b)] {
            let render = polyloop(["render", file, "--format", "json"]).json();
            assert_eq!(document[side]["digest"], render["digest"], "{file}");
            assert_eq!(document[side]["chars"], render["total"]["chars"], "{file}");
        }

        // The other way round it is the same difference.
        let reverse = polyloop(["diff", &b, &a, "--format", "json"]);
        assert_eq!(reverse.exits(exit).json()["classes"], expected["classes"], "{a} reversed");

        for format in ["text", "markdown"] {
            let view = polyloop(["diff", &a, &b, "--format", format]);
            assert_calm(view.exits(exit).text());
            for class in expected["classes"].as_array().expect("a list") {
                let class = class.as_str().expect("a word");
                // What came or went as a whole is named by that.
                assert!(view.text().contains(class) || class == "content", "{a}: no {class} in\n{}", view.text());
            }
        }
        assert!(polyloop(["diff", &a, &b, "--quiet"]).exits(exit).stdout.is_empty());
    }
    assert!(cases.len() > 20, "only {} cases", cases.len());
}

#[test]
fn a_golden_is_compared_like_its_request() {
    for case in cases() {
        let (a, b) = (name(&case, "a.yaml"), name(&case, "b.yaml"));
        let folder = tempfile::tempdir().expect("a folder can be made");
        let golden = folder.path().join("a.render.jsonl").display().to_string();
        polyloop(["render", &a, "--save", &golden, "--summary"]).exits(0);
        polyloop(["diff", &golden, &a]).exits(0);
        let against_golden = polyloop(["diff", &golden, &b, "--format", "json"]).json();
        let against_request = polyloop(["diff", &a, &b, "--format", "json"]).json();
        assert_eq!(against_golden["shared_prefix"], against_request["shared_prefix"], "{a}");
        assert_eq!(against_golden["classes"], against_request["classes"], "{a}");
        let against = polyloop(["render", &b, "--against", &golden, "--format", "json"]);
        assert_eq!(against.json()["previous"]["classes"], against_request["classes"], "{a}");
    }
}

fn one(text: &str) -> Context<'static> {
    let origin = Origin::Goal(0);
    let block = Block { content: Content::Text(Text::plain(text.to_owned())), origin: origin.clone() };
    Context {
        tools: Vec::new(),
        messages: vec![Message { role: Role::User, blocks: vec![block], origin, fingerprint: None }],
    }
}

fn view(a: &str, b: &str) -> String {
    let (context_a, context_b) = (one(a), one(b));
    let subject = |name, context| Subject { name, context, request: None, spelled: None };
    let (a, b) = (subject("a", &context_a), subject("b", &context_b));
    let comparison = compare(a, b, std::num::NonZeroUsize::MIN);
    let mut out = Vec::new();
    let report = DiffReport { comparison: &comparison, a, b, wire: None };
    report.write_text(&Look::default(), DiffOptions::default(), &mut out).expect("a vector takes every write");
    String::from_utf8(out).expect("a view is UTF-8")
}

/// The lines of one side of a view, without what stands before their text.
fn side(view: &str, sign: char) -> Vec<&str> {
    let line = |line: &'_ str| -> Option<usize> {
        let numbered = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        numbered.starts_with(sign).then(|| line.len() - numbered.len() + 2)
    };
    view.lines().filter_map(|shown| shown.get(line(shown)?..)).collect()
}

/// Both sides are shown differently, whatever the character, and nothing reaches the terminal live.
#[test]
fn every_character_is_told_apart_and_none_is_live() {
    const AT_ONCE: usize = 1024;
    let all: Vec<char> = ('\0'..=char::MAX).filter(|c| !matches!(c, '\n' | 'x')).collect();
    assert_eq!(all.len(), 0x110000 - 0x800 - 2);
    for characters in all.chunks(AT_ONCE) {
        let lines = |of: &dyn Fn(char) -> String| {
            characters.iter().map(|c| format!("one {} two\n", of(*c))).collect::<String>()
        };
        // An insertion is seen where a replacement is; the low ones are tried all the same.
        for other in if characters[0] < '\u{3000}' { &["", "x"][..] } else { &["x"][..] } {
            let text = view(&lines(&|c| c.to_string()), &lines(&|_| (*other).to_owned()));
            let live = text.chars().find(|c| *c != '\n' && polyloop::write::is_live(*c));
            assert_eq!(live, None, "U+{:04X} on", characters[0] as u32);
            let (with, without) = (side(&text, '-'), side(&text, '+'));
            assert_eq!((with.len(), without.len()), (characters.len(), characters.len()), "{text}");
            for ((with, without), character) in with.iter().zip(&without).zip(characters) {
                assert_ne!(with, without, "U+{:04X}", *character as u32);
            }
        }
    }
}

/// The first character that differs is named, so that what looks alike or like nothing is told apart by its name too.
#[test]
fn characters_are_named() {
    let low = (0u32..0x250).chain([0x2028, 0x202e, 0x3000, 0xfeff, 0xfffd, 0xffff, 0xe0041, 0x10ffff]);
    for character in low.chain((0x250..0x110000).step_by(4999)).filter_map(char::from_u32) {
        let text = view(&format!("one {character} two"), "one  two");
        let name = format!("U+{:04X}", character as u32);
        assert!(text.contains(&name), "{name} is not named:\n{text}");
    }
}

#[test]
fn what_looks_alike_is_named() {
    for (a, b, words) in [
        ("é", "e\u{301}", "U+00E9 [c3 a9] → U+0065 U+0301 [65 cc 81]"),
        ("a", "\u{430}", "U+0061 [61] → U+0430 [d0 b0]"),
        ("a", "a\u{200b}", "U+200B [e2 80 8b] added"),
        ("a\r\nb", "a\nb", "U+000D [0d] removed"),
        ("a\n", "a", "U+000A [0a] removed"),
        ("a b", "a\u{a0}b", "U+0020 [20] → U+00A0 [c2 a0]"),
    ] {
        let text = view(a, b);
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
}

#[test]
fn long_lines_are_folded_round_the_change() {
    let text = view(
        &format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000)),
        &format!("{}Y{}", "a".repeat(5_000), "b".repeat(5_000)),
    );
    assert!(text.len() < 1_200, "{text}");
    assert!(text.contains("…4,952 chars…") && text.contains("char 5000, byte 5000, line 1, column 5001"), "{text}");
}

#[test]
fn a_fence_is_longer_than_any_run_of_backticks() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, json!([{"role": "user", "content": text}]).to_string()).expect("a file can be written");
        path.display().to_string()
    };
    let (a, b) = (file("a.json", "```\none\n`````\n"), file("b.json", "```\ntwo\n`````\n"));
    let ran = polyloop(["diff", &a, &b, "--format", "markdown"]);
    let text = ran.exits(1).text().to_owned();
    assert!(text.contains("\n``````text\n") && text.trim_end().ends_with("\n``````"), "{text}");
}

#[test]
fn many_messages_are_bounded_and_said_to_be() {
    // Two shuffles of many messages that stand more than once: no anchor, and no end of an exact search.
    let list = |step: usize| {
        let messages: Vec<Value> =
            (0..6_000).map(|n| json!({"role": "user", "content": format!("{}", n * step % 997)})).collect();
        Value::Array(messages).to_string()
    };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let paths = [("a.json", 7), ("b.json", 11)].map(|(name, step)| {
        let path = folder.path().join(name);
        std::fs::write(&path, list(step)).expect("a file can be written");
        path.display().to_string()
    });
    let document = polyloop(["diff", &paths[0], &paths[1], "--format", "json"]).exits(1).json();
    assert_eq!(document["a"]["messages"], 6_000);
    let touched: usize = document["changes"].as_array().expect("a list").len();
    assert!(touched > 0 && touched <= 12_000);
    let again = polyloop(["diff", &paths[0], &paths[1], "--format", "json"]).json();
    assert_eq!(document, again, "the same question has the same answer");
}

#[test]
fn both_sides_cannot_be_standard_input() {
    let ran = polyloop(["diff", "-", "-", "--format", "json"]);
    assert_eq!(ran.exits(2).json()["code"], Code::UsageArguments.as_str());
}
