//! Chat templates: the texts that Jinja2, set up as transformers sets it up, gave for the same messages.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::root;
use polyloop::chat_template::{ChatTemplate, Options, Rendered};
use polyloop::context::Json;
use polyloop::read::{self, Format};
use polyloop::request::Time;
use polyloop::{Code, Error};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A fixture: what a template is given, and its text or its error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case<'c> {
    #[serde(borrow)]
    messages: &'c RawValue,
    #[serde(borrow)]
    tools: Option<&'c RawValue>,
    as_of: Option<String>,
    add_generation_prompt: Option<bool>,
    name: Option<String>,
    beside: Option<String>,
    text: Option<String>,
    dropped: Option<Vec<usize>>,
    error: Option<Expected>,
}

/// What is not given is not compared; `hint` is a part of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    code: String,
    message: Option<String>,
    path: Option<String>,
    hint: Option<String>,
}

/// JSON as it stands, key order and number spelling included.
fn items(list: Option<&RawValue>) -> Vec<Json<'static>> {
    list.map_or(Ok(Vec::new()), |list| read::json_items(list.get(), Some(Format::Json))).expect("a list of JSON")
}

fn render(template: &str, case: &Case<'_>) -> Result<Rendered, Error> {
    let template = ChatTemplate::parse(template, case.beside.as_deref(), case.name.as_deref())?;
    let as_of = case.as_of.as_deref().map(|text| Time::parse(text).expect("a time"));
    let options = Options { add_generation_prompt: case.add_generation_prompt.unwrap_or(true), as_of: as_of.as_ref() };
    template.render(&items(Some(case.messages)), &items(case.tools), &options)
}

fn read_text(path: &Path) -> String {
    String::from_utf8(common::read(path)).expect("a fixture is UTF-8")
}

#[test]
fn fixtures_give_their_text_or_their_error() {
    let folder = root().join("fixtures/chat_templates");
    let mut unread: BTreeSet<PathBuf> = common::files_under(&folder).into_iter().collect();
    let is_template = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "jinja");
    let is_config = |path: &&PathBuf| path.to_string_lossy().ends_with(".config.json");
    let templates: Vec<PathBuf> = unread.iter().filter(|path| is_template(path) || is_config(path)).cloned().collect();
    assert!(templates.len() > 40, "there are only {} fixtures", templates.len());
    for template in &templates {
        let answer = PathBuf::from(template.to_string_lossy().replace(".config.json", ".jinja")).with_extension("json");
        assert!(unread.remove(template) && unread.remove(&answer), "{} has no answer", template.display());
        let answer = read_text(&answer);
        let case: Case<'_> = serde_json::from_str(&answer).expect("an answer is JSON");
        check(&template.display().to_string(), &case, render(&read_text(template), &case));
    }
    assert!(unread.is_empty(), "nobody reads {unread:?}");
}

fn check(id: &str, case: &Case<'_>, found: Result<Rendered, Error>) {
    match (found, &case.error) {
        (Ok(rendered), None) => {
            assert_eq!(Some(&rendered.text), case.text.as_ref(), "{id}");
            assert_eq!(Some(&rendered.dropped), case.dropped.as_ref(), "{id}");
        }
        (Err(error), Some(expected)) => {
            assert_eq!(error.code().as_str(), expected.code, "{id}: {error}");
            assert!(expected.message.as_ref().is_none_or(|message| message == error.message()), "{id}: {error}");
            assert!(expected.path.is_none() || expected.path.as_deref() == error.path(), "{id}: {:?}", error.path());
            let hint = error.hint().unwrap_or_default();
            assert!(expected.hint.as_ref().is_none_or(|part| hint.contains(part)), "{id}: {hint}");
        }
        (Ok(rendered), Some(_)) => panic!("{id}: gave {:?}", rendered.text),
        (Err(error), None) => panic!("{id}: {error}"),
    }
}

#[test]
fn a_fault_in_the_syntax_says_the_line() {
    let source = "{% for m in messages %}\n{{ m.content | }}\n{% endfor %}\n";
    let error = ChatTemplate::parse(source, None, None).expect_err("no template").locate(source.as_bytes());
    assert_eq!((error.code(), error.position().map(|place| place.line)), (Code::ChatTemplateSyntax, Some(2)));
}

#[test]
fn a_single_template_has_no_other_name() {
    let error = ChatTemplate::parse("x", None, Some("tool_use")).expect_err("no such name");
    assert_eq!((error.code(), error.hint()), (Code::InputShape, Some("name one of: default")));
}

#[test]
fn large_conversations_are_rendered() {
    let turn = |n: usize| format!(r#"{{"role": "{}", "content": "Turn {n}"}}"#, ["user", "assistant"][n % 2]);
    let list = format!("[{}]", (0..4_000).map(turn).collect::<Vec<_>>().join(","));
    let template = ChatTemplate::parse(
        "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('no') }}\
         {% endif %}{{ '<' + m.role + '>' + m.content | trim + '\n' }}{% endfor %}",
        None,
        None,
    )
    .expect("a template");
    let messages = read::json_items(&list, None).expect("a list");
    let rendered = template.render(&messages, &[], &Options::default()).expect("it renders");
    assert!(rendered.dropped.is_empty() && rendered.text.ends_with("<assistant>Turn 3999\n"));

    let twice = list.replace(r#"{"role": "user", "content": "Turn 2000"},"#, "");
    let messages = read::json_items(&twice, None).expect("a list");
    let error = template.render(&messages, &[], &Options::default()).expect_err("turns are not taken");
    assert_eq!((error.message(), error.path()), ("no", Some("messages[2000]")));
}

/// The corpus beside the repository.
#[derive(Deserialize)]
struct Corpus<'c> {
    #[serde(borrow)]
    probes: BTreeMap<String, &'c RawValue>,
    #[serde(borrow)]
    tools: &'c RawValue,
    clock: String,
    renders: BTreeMap<String, BTreeMap<String, Outcome>>,
}

#[derive(Deserialize)]
struct Outcome {
    status: String,
    text: Option<String>,
    message: Option<String>,
}

#[test]
fn published_templates_agree_with_jinja2() {
    let folder = root().join("../shared/cases/chat_templates");
    if !folder.exists() {
        eprintln!("skipped: there is no corpus chat_templates");
        return;
    }
    let text = fs::read_to_string(folder.join("renders.json")).expect("the corpus is there");
    let corpus: Corpus<'_> = serde_json::from_str(&text).expect("the corpus is JSON");
    let mut count = 0;
    for (name, outcomes) in &corpus.renders {
        let config = read_text(&folder.join(format!("tokenizer_config/{name}.json")));
        for (probe, outcome) in outcomes {
            let error = |code: &str| {
                let message = outcome.message.clone().filter(|_| outcome.status == "raise");
                Expected { code: code.to_owned(), message, path: None, hint: None }
            };
            let mut case = Case {
                messages: corpus.probes[probe],
                tools: (probe == "tools_list").then_some(corpus.tools),
                as_of: Some(format!("{}Z", corpus.clock)),
                add_generation_prompt: Some(probe != "no_generation_prompt"),
                name: None,
                beside: None,
                text: outcome.text.clone(),
                dropped: None,
                error: match outcome.status.as_str() {
                    "ok" => None,
                    "raise" => Some(error("chat_template.raised")),
                    _ => Some(error("chat_template.failed")),
                },
            };
            let found = render(&config, &case);
            case.dropped = found.as_ref().ok().map(|rendered| rendered.dropped.clone());
            check(&format!("{name} {probe}"), &case, found);
            count += 1;
        }
    }
    eprintln!("{count} renders");
    assert!(count > 1_000, "the corpus holds only {count} renders");
}
