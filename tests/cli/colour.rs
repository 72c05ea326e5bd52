//! Colour: flag > `NO_COLOR` > `CLICOLOR_FORCE` > `TERM=dumb` > terminal; and what changes on a terminal.

use std::process::Command;

use crate::common::{Ran, assert_calm, command, fixture, run};

fn render(flag: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = command(["render", &fixture("react/request.yaml")]);
    command.args(flag).envs(variables.iter().copied());
    run(&mut command, b"")
}

fn is_coloured(flag: &[&str], variables: &[(&str, &str)]) -> bool {
    render(flag, variables).exits(0).text().contains('\u{1b}')
}

#[test]
fn a_pipe_is_not_coloured() {
    assert!(!is_coloured(&[], &[]));
    assert!(!is_coloured(&["--color", "auto"], &[]));
    assert!(!is_coloured(&[], &[("TERM", "xterm-256color")]));
}

#[test]
fn the_flag_comes_first() {
    for variables in [&[][..], &[("NO_COLOR", "1")], &[("TERM", "dumb")], &[("CLICOLOR_FORCE", "0")]] {
        assert!(is_coloured(&["--color", "always"], variables), "{variables:?}");
        assert!(is_coloured(&["--color=always"], variables), "{variables:?}");
    }
    assert!(!is_coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn no_color_beats_clicolor_force_beats_a_dumb_terminal() {
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(is_coloured(&["--color", "auto"], &[("CLICOLOR_FORCE", "1")]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "0")]), "any value says no");
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")]), "an empty one says nothing");
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "")]));
}

#[test]
fn colour_adds_sequences_and_changes_no_word() {
    let plain = render(&["--color", "never"], &[]);
    let painted = render(&["--color", "always"], &[]);
    assert_calm(plain.text());
    assert_eq!(without_sequences(painted.text()), plain.text());
    for format in ["json", "jsonl", "yaml"] {
        let painted = render(&["--color", "always", "--format", format], &[]);
        assert_eq!(painted.stdout, render(&["--format", format], &[]).stdout, "{format} is data");
    }
}

#[test]
fn errors_are_coloured_alike() {
    let errors = |flag: &str| {
        let mut command = command(["render", &fixture("err_unknown_top/request.yaml"), "--color", flag]);
        run(&mut command, b"").exits(2).stderr.clone()
    };
    assert_calm(&errors("never"));
    assert!(errors("always").contains('\u{1b}'));
    assert_eq!(without_sequences(&errors("always")), errors("never"));
}

/// Takes the sequences that set colours out; anything else live in the text is a fault.
fn without_sequences(text: &str) -> String {
    let mut plain = String::new();
    for (index, part) in text.split("\u{1b}[").enumerate() {
        if index == 0 {
            plain += part;
            continue;
        }
        let (codes, rest) = part.split_once('m').unwrap_or_else(|| panic!("an open sequence in {part:?}"));
        assert!(codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{codes:?}");
        plain += rest;
    }
    assert_calm(&plain);
    plain
}

/// Runs a command on a terminal, if the tool for that is there: `script` of util-linux.
#[cfg(target_os = "linux")]
fn on_a_terminal(line: &str, term: &str) -> Option<String> {
    let script = Command::new("script").arg("--version").output();
    if !script.is_ok_and(|output| output.stdout.starts_with(b"script from util-linux")) {
        eprintln!("skipped: there is no script of util-linux");
        return None;
    }
    let line = format!("stty rows 40 cols 60; {line}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(crate::common::root()).env("TERM", term);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    // The terminal turns line feeds into CRLF.
    Some(run(&mut command, b"").text().replace("\r\n", "\n"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_coloured_and_wrapped() {
    let line = format!("{} render {}", crate::common::BINARY, fixture("react/request.yaml"));
    let Some(shown) = on_a_terminal(&line, "xterm") else { return };
    assert!(shown.contains('\u{1b}'));
    let shown = without_sequences(&shown);
    let content = shown.lines().filter(|line| line.starts_with(" │") || line.starts_with(" ┆"));
    let widest = content.map(|line| line.chars().count()).max();
    assert!(widest <= Some(60), "{widest:?} columns of 60:\n{shown}");
    assert!(shown.contains("\n ┆ "), "nothing is wrapped");

    let dumb = on_a_terminal(&line, "dumb").expect("it was there before");
    assert_calm(&dumb);
    assert_eq!(dumb, shown);
    let forced = on_a_terminal(&format!("CLICOLOR_FORCE=1 {line}"), "dumb").expect("it was there before");
    assert!(forced.contains('\u{1b}'));
    let never = on_a_terminal(&format!("NO_COLOR=1 {line}"), "xterm").expect("it was there before");
    assert_calm(&never);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_is_no_terminal() {
    let scratch = crate::Scratch::new();
    let (out, request) = (scratch.join("out"), fixture("react/request.yaml"));
    let line = format!("{} render {request} --output {}", crate::common::BINARY, out.display());
    if on_a_terminal(&line, "xterm").is_some() {
        let written = crate::common::read(out);
        assert_eq!(String::from_utf8_lossy(&written), render(&[], &[]).text(), "painted or wrapped");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_stream_on_a_terminal_is_escaped() {
    for name in ["controls/request.json", "unicode/request.yaml", "whitespace/request.yaml"] {
        let line = format!("{} render {} --format jsonl", crate::common::BINARY, fixture(name));
        let Some(shown) = on_a_terminal(&line, "xterm") else { return };
        assert_calm(&shown);
        let golden =
            crate::common::read(crate::common::root().join("fixtures").join(name).with_extension("render.jsonl"));
        let golden = String::from_utf8(golden).expect("a stream is UTF-8");
        let values = |text: &str| -> Vec<serde_json::Value> {
            let lines = text.lines().filter(|line| line.starts_with('{'));
            lines.map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
        };
        assert_eq!(values(&shown), values(&golden), "the same values");
        assert!(shown.lines().any(|line| line.starts_with("polyloop: ")), "nobody says that the bytes differ");
    }
}
