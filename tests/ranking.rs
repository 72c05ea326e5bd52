//! Which message a query finds first, in four kinds of text; and that an index finds what a pass over the text finds.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use polyloop::query::{Found, How, Index, Options, Question, Subject, search};
use polyloop::read::{self, Format, Input};
use polyloop::request::State;
use polyloop::{Context, assemble};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/context/ranking")
}

/// A set of messages and its queries, each with the message that it is to find first.
struct Set {
    name: String,
    messages: String,
    queries: Vec<(String, usize)>,
}

fn sets() -> Vec<Set> {
    let mut sets = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let queries = fs::read_to_string(path.join("queries.tsv")).unwrap();
        let queries = queries.lines().map(|line| {
            let (query, first) = line.split_once('\t').unwrap();
            (query.to_owned(), first.parse().unwrap())
        });
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let messages = fs::read_to_string(path.join("messages.yaml")).unwrap();
        sets.push(Set { name, messages, queries: queries.collect() });
    }
    assert!(sets.len() >= 4 && sets.iter().all(|set| set.queries.len() >= 10), "no queries were found");
    sets
}

fn with_context<T>(text: &str, ask: impl FnOnce(&Context<'_>) -> T) -> T {
    match read::read(text, Some(Format::Yaml)).unwrap() {
        Input::Recorded(recorded) => ask(&recorded.context),
        Input::Request(request) => ask(&assemble(&request, None).unwrap()),
    }
}

fn shown(found: &Found<'_>) -> String {
    found.results.iter().fold(String::new(), |mut shown, hit| {
        write!(shown, " #{} {:.2} {:?}", hit.index.unwrap(), hit.score, hit.matches).unwrap();
        shown
    })
}

#[test]
fn the_right_message_comes_first() {
    let mut wrong = String::new();
    for Set { name, messages, queries } in sets() {
        with_context(&messages, |context| {
            let state = State::default();
            let subject = Subject { context, state: &state };
            for (query, first) in &queries {
                let question = Question::new(query, How::Words).unwrap();
                let found = search(&subject, &question, &Options::default());
                if found.results.first().and_then(|hit| hit.index) != Some(*first) {
                    writeln!(wrong, "{name}: {query:?} is to find #{first} first:{}", shown(&found)).unwrap();
                }
            }
        });
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn an_index_finds_what_a_pass_over_the_text_finds() {
    for Set { messages, queries, .. } in sets() {
        with_context(&messages, |context| {
            let state = State::default();
            let subject = Subject { context, state: &state };
            let index = Index::of(&subject);
            for (query, _) in &queries {
                for how in [How::Words, How::Substring] {
                    let question = Question::new(query, how).unwrap();
                    let options = Options { limit: usize::MAX, ..Options::default() };
                    assert_eq!(index.search(&question, &options), search(&subject, &question, &options), "{query:?}");
                }
            }
        });
    }
}
