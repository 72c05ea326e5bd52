//! Names of files and flags that a terminal would act on, or that are no text.

use crate::common::{assert_calm, assert_error_document, command, polyloop, run};
use crate::{REQUEST, Scratch};

const NASTY: &str = "a\u{1b}[31m\u{7}b\u{202e}c\u{e0041}d";

#[test]
fn a_name_is_shown_escaped() {
    let missing = polyloop(["render", NASTY]);
    assert!(missing.fails().stderr.contains("a␛[31m␇b⟨U+202E⟩c⟨U+E0041⟩d"), "{}", missing.stderr);

    let scratch = Scratch::new();
    let file = scratch.file(NASTY, REQUEST);
    for args in [
        vec!["render", &file, "--steps", "7"],
        vec!["render", &file, "--against", NASTY],
        vec!["render", &file, "--save", &format!("{}/no/{NASTY}", scratch.path().display())],
        vec!["render", &file, "--output", &format!("{}/no/{NASTY}", scratch.path().display())],
        vec!["render", &file, &format!("--{NASTY}")],
        vec!["render", &file, NASTY],
        vec!["render", &file, "--format", NASTY],
        vec!["render", &file, "--color", NASTY],
        vec![NASTY],
        vec!["man", NASTY],
        vec!["completions", NASTY],
    ] {
        polyloop(&args).fails();
        let json = polyloop(args.iter().copied().chain(["--format", "json"]));
        assert_calm(json.text());
        assert_calm(&json.stderr);
    }
}

#[test]
fn a_name_in_a_report_is_the_name() {
    let scratch = Scratch::new();
    let file = scratch.file(NASTY, REQUEST);
    let golden = scratch.file(format!("{NASTY}.jsonl"), "{\"role\":\"user\",\"content\":[]}\n");
    let ran = polyloop(["render", &file, "--format", "json", "--against", &golden]);
    assert_calm(ran.exits(1).text());
    assert_eq!(ran.json()["source"], file.as_str());
    assert_eq!(ran.json()["previous"]["a"]["source"], golden.as_str());
    for format in ["text", "jsonl", "yaml"] {
        let ran = polyloop(["render", &file, "--format", format, "--against", &golden]);
        assert_calm(ran.exits(1).text());
        assert_calm(&ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_shown_byte_by_byte() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let scratch = Scratch::new();
    let name = OsStr::from_bytes(b"caf\xe9\xff.json");
    let render = |extra: &[&str]| {
        let mut command = command(["render"]);
        command.arg(scratch.join(name)).args(extra);
        run(&mut command, b"")
    };
    assert!(render(&[]).fails().stderr.contains(r"caf\xe9\xff.json"), "{}", render(&[]).stderr);
    let document = render(&["--format", "json"]).json();
    assert_error_document(&document);
    assert!(document["source"].as_str().is_some_and(|source| source.ends_with(r"caf\xe9\xff.json")), "{document}");

    std::fs::write(scratch.join(name), REQUEST).expect("a file can be written");
    let report = render(&["--format", "json"]);
    report.exits(0);
    assert!(report.json()["source"].as_str().is_some_and(|source| source.ends_with(r"caf\xe9\xff.json")));
    // As a target, too.
    let mut command = command(["render", "-", "--save"]);
    command.arg(scratch.join(OsStr::from_bytes(b"out\xff.jsonl")));
    run(&mut command, REQUEST.as_bytes()).exits(0);
    assert_eq!(scratch.names().len(), 2);
}
