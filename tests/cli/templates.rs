//! `render --chat-template`: the text that a model is fed.

use std::process::Command;

use crate::Scratch;
use crate::common::{assert_calm, command, fixture, polyloop, run};

/// Says of each message whether its content is a string, and what it is.
const SHOWING: &str = "{%- for m in messages %}{{ m.role }}:{{ 'text' if m.content is string else 'blocks' }}\
                       :{{ m.content if m.content is string else m.content[0].text }}\n{% endfor %}\
                       {% if add_generation_prompt %}>{% endif %}";
const BLOCKS: &str = r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "Name a prime."}]}]}"#;

#[test]
fn a_recorded_body_reaches_it_as_it_was_sent_and_a_request_as_strings() {
    let scratch = Scratch::new();
    let template = scratch.file("showing.jinja", SHOWING);
    let body = scratch.file("body.json", BLOCKS);
    let out = polyloop(["render", &body, "--from", "openai", "--chat-template", &template]);
    assert_eq!(out.exits(0).text(), "user:blocks:Name a prime.\n>");
    let request = scratch.file("request.json", crate::REQUEST);
    let out = polyloop(["render", &request, "--chat-template", &template]);
    assert_eq!(out.exits(0).text(), "user:text:Name a prime.\n>");
    let out = polyloop(["render", &request, "--chat-template", &template, "--no-generation-prompt"]);
    assert_eq!(out.exits(0).text(), "user:text:Name a prime.\n");
}

#[test]
fn a_template_that_wants_strings_fails_on_blocks_and_the_hint_says_so() {
    let scratch = Scratch::new();
    let template = scratch.file("strings.jinja", "{% for m in messages %}{{ m.role + m.content }}{% endfor %}");
    let body = scratch.file("body.json", BLOCKS);
    let out = polyloop(["render", &body, "--from", "openai", "--chat-template", &template]);
    let said = &out.exits(2).stderr;
    assert!(out.stdout.is_empty());
    assert!(said.contains("messages[0]"), "{said}");
    assert!(said.contains("hint:"), "{said}");
}

#[test]
fn one_of_several_templates_is_picked_by_name() {
    let scratch = Scratch::new();
    let config = scratch.file(
        "tokenizer_config.json",
        r#"{"bos_token": "<s>", "chat_template": [
            {"name": "default", "template": "{{ bos_token }}plain"}, {"name": "tool_use", "template": "tools"}]}"#,
    );
    let request = scratch.file("request.json", crate::REQUEST);
    let render = |more: &[&str]| {
        let args = [&["render", &*request, "--chat-template", &*config], more].concat();
        polyloop(args)
    };
    assert_eq!(render(&[]).exits(0).text(), "<s>plain");
    assert_eq!(render(&["--template-name", "tool_use"]).exits(0).text(), "tools");
    let out = render(&["--template-name", "rag"]);
    let said = &out.exits(2).stderr;
    assert!(said.contains("rag") && said.contains("tool_use"), "{said}");

    // A file beside the config goes first.
    scratch.file("chat_template.jinja", "beside {{ bos_token }}");
    assert_eq!(render(&[]).exits(0).text(), "beside <s>");
}

#[test]
fn the_clock_is_what_is_given() {
    let scratch = Scratch::new();
    let template = scratch.file("clock.jinja", "{{ strftime_now('%d %B %Y') }}");
    let request = scratch.file("request.json", crate::REQUEST);
    let render = |more: &[&str]| polyloop([&["render", &*request, "--chat-template", &*template], more].concat());
    assert!(render(&["--as-of", "2024-05-01T12:00:00Z"]).exits(0).text().starts_with("01 May 2024"));
    let out = render(&[]);
    assert!(out.exits(2).stderr.contains("--as-of"), "{}", out.stderr);
    let out = render(&["--as-of", "noon"]);
    assert!(out.exits(2).stderr.contains("is no time"), "{}", out.stderr);
    let out = polyloop(["render", &request, "--as-of", "2024-05-01T12:00:00Z"]);
    assert!(out.exits(2).stderr.contains("go with --chat-template"), "{}", out.stderr);
}

#[test]
fn a_template_that_raises_says_why_and_of_which_message() {
    let scratch = Scratch::new();
    let template = scratch.file(
        "raising.jinja",
        "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}{% endfor %}",
    );
    let body = fixture("providers/lens/calls.json");
    let out = polyloop(["render", &body, "--chat-template", &template]);
    let said = &out.exits(2).stderr;
    assert!(said.contains("no tools here") && said.contains("messages[3]"), "{said}");
    assert!(out.stdout.is_empty());
    assert_calm(said);
}

#[test]
fn a_message_that_is_dropped_is_named() {
    let request = fixture("minimal/request.yaml");
    let template = fixture("providers/templates/no_system.jinja");
    let out = polyloop(["render", &request, "--chat-template", &template]);
    let said = &out.exits(0).stderr;
    assert!(said.contains("warning: the template drops messages[0]"), "{said}");
    assert!(said.contains("chat_template.dropped"), "{said}");
    assert!(!said.contains("messages[1]"), "{said}");
}

#[test]
fn a_file_gets_the_exact_bytes() {
    let scratch = Scratch::new();
    let template = scratch.file("loud.jinja", "\u{1b}[1m{{ messages[0].content }}\u{8}.");
    let request = scratch.file("request.json", crate::REQUEST);
    let out = polyloop(["render", &request, "--chat-template", &template]);
    assert_eq!(out.exits(0).text(), "\u{1b}[1mName a prime.\u{8}.");
    let file = scratch.join("out.txt");
    let mut to_file = command(["render", &request, "--chat-template", &template, "-o"]);
    run(to_file.arg(&file), b"").exits(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\u{1b}[1mName a prime.\u{8}.");
}

/// `script` gives the command a terminal; where it is not there the test says nothing.
#[test]
fn a_terminal_gets_what_it_would_act_on_by_number() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let scratch = Scratch::new();
    let template = scratch.file("loud.jinja", "\u{1b}]0;owned\u{7}{{ messages[0].content }}\u{202e}");
    let request = scratch.file("request.json", crate::REQUEST);
    let line = format!("{} render {request} --chat-template {template}", env!("CARGO_BIN_EXE_polyloop"));
    let out = Command::new("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("\\u001b]0;owned\\u0007Name a prime.\\u202e"), "{text:?}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    assert!(text.contains("these are not the exact bytes"), "{text:?}");
}
