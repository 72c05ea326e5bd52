//! The command line itself: what it takes, what it says when it is misused.

use crate::common::{Ran, assert_error_document, fixture, polyloop};

#[test]
fn the_version_is_that_of_the_crate() {
    let wanted = format!("polyloop {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(polyloop(["--version"]).exits(0).text(), wanted);
    assert_eq!(polyloop(["-V"]).exits(0).text(), wanted);
}

#[test]
fn help_is_no_error() {
    for args in [&["--help"][..], &["-h"], &["render", "--help"], &["render", "-h"], &["schema", "--help"]] {
        let ran = polyloop(args);
        assert!(ran.exits(0).text().contains("Usage: polyloop"), "{}", ran.text());
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn every_command_says_what_it_does() {
    let help = polyloop(["--help"]);
    let commands = commands(&help);
    assert!(commands.len() >= 3, "{commands:?}");
    for (name, words) in commands {
        assert!(words.len() > 10, "{name} says nothing: {words:?}");
        let own = polyloop([name.as_str(), "--help"]);
        assert!(own.exits(0).text().starts_with(&words), "{name} says one thing here and another there");
    }
}

/// The names and words of the list of commands.
pub fn commands(help: &Ran) -> Vec<(String, String)> {
    let lines = help.text().lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (name, words) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            (name.to_owned(), words.trim().to_owned())
        })
        .collect()
}

/// Ways to misuse it.
const WRONG: &[&[&str]] = &[
    &[],
    &["rendr"],
    &["render"],
    &["render", "a", "b"],
    &["render", "a", "--bogus"],
    &["render", "a", "--step", "1"],
    &["render", "a", "--steps"],
    &["render", "a", "--steps", "one"],
    &["render", "a", "--steps", "1", "--steps", "2"],
    &["render", "a", "--format", "xml"],
    &["render", "a", "--format", "JSON"],
    &["render", "a", "--color", "red"],
    &["render", "a", "--color"],
    &["--steps", "1"],
    &["schema", "a"],
    &["completions"],
    &["completions", "tcsh"],
    &["man", "rendr"],
    &["man", "render", "schema"],
];

#[test]
fn misuse_is_told_and_exits_2() {
    for args in WRONG {
        let ran = polyloop(*args);
        assert!(ran.fails().stderr.lines().all(|line| !line.starts_with("error: ")), "{}", ran.stderr);
    }
}

#[test]
fn misuse_is_a_document_where_json_is_asked_for() {
    for words in [&["--format", "json"][..], &["--format=json"], &["-f", "json"], &["-fjson"], &["-f=json"]] {
        for wrong in [&["--bogus"][..], &["--steps", "one"], &["--color", "red"], &["a-second-input"]] {
            for args in [[words, wrong].concat(), [wrong, words].concat()] {
                let ran = polyloop(["render", &fixture("minimal/request.yaml")].iter().chain(&args));
                let document = ran.exits(2).json();
                assert_error_document(&document);
                assert_eq!(document["code"], "usage.arguments", "{args:?}");
                assert!(ran.stderr.starts_with("polyloop: "), "{}", ran.stderr);
            }
        }
    }
    let document = polyloop(["render", "--format", "json"]).exits(2).json();
    assert_eq!(document["code"], "usage.arguments");
    let says_what = document["message"].as_str().is_some_and(|message| message.contains("INPUT"));
    assert!(says_what, "what is missing is not named: {document}");
}

#[test]
fn json_is_asked_for_by_the_flag_alone() {
    for args in [&["render", "a", "--save", "--format", "json"][..], &["render", "--", "--format", "json"]] {
        assert!(polyloop(args).exits(2).stderr.starts_with("polyloop: "));
    }
    let ran = polyloop(["render", "no-such-file", "--against", "json"]);
    ran.fails();
}

#[test]
fn a_near_miss_is_named() {
    for (args, near) in [
        (&["rendr"][..], "render"),
        (&["render", "a", "--sumary"], "--summary"),
        (&["render", "a", "--format", "jsno"], "json"),
    ] {
        let ran = polyloop(args);
        assert!(ran.fails().stderr.contains(near), "{}", ran.stderr);
    }
}
