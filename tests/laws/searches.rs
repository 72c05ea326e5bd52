//! What a search finds is the same in one pass and by an index, in one page and in many, and is where it is said to be.

use polyloop::query::{Found, How, Index, MessageView, Options, Question, Subject, search};
use polyloop::read::{self, Format, Input};
use polyloop::request::State;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Pieces of words, and what stands between words.
const PIECES: [&str; 44] = [
    "check",
    "Auth",
    "auth",
    "_",
    "HTTP",
    "Server",
    "2",
    "server",
    " ",
    " ",
    " ",
    "\n",
    "/",
    ".",
    ":",
    "retry",
    "retries",
    "ing",
    "URLs",
    "E0308",
    "登录",
    "失败",
    "京",
    "都",
    "東",
    "データ",
    "ー",
    "한국",
    "ไทย",
    "é",
    "e\u{301}",
    "ß",
    "İ",
    "ſ",
    "K",
    "Σ",
    "ς",
    "\"",
    "\\",
    "\\n",
    "{",
    "the",
    "👩\u{200d}👧",
    "\u{1b}",
];

fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..most).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        4 => words(40).prop_map(|text| json!({"type": "text", "text": text})),
        1 => (words(3), words(20)).prop_map(|(key, text)| {
            json!({"type": "tool_use", "id": "a", "name": "checkAuth", "input": {key: text}})
        }),
        1 => words(20).prop_map(|text| {
            json!({"type": "tool_use", "id": "a", "name": "x", "input": json!({"c": text}).to_string()})
        }),
    ];
    let role = prop::sample::select(&["user", "assistant", "tool", "narrator"][..]);
    (role, prop::collection::vec(block, 0..3)).prop_map(|(role, content)| json!({"role": role, "content": content}))
}

fn check(messages: &[Value], query: &str, how: How, limit: usize) {
    let Ok(question) = Question::new(query, how) else { return };
    let document = Value::from(messages.to_vec()).to_string();
    let Input::Recorded(recorded) = read::read(&document, Some(Format::Json)).expect("it is read") else {
        unreachable!("messages are no request")
    };
    let state = State::default();
    let subject = Subject { context: &recorded.context, state: &state };
    let all = Options { limit: usize::MAX, ..Options::default() };
    let found = search(&subject, &question, &all);
    let index = Index::of(&subject);
    assert_eq!(index.search(&question, &all), found, "{query:?} {how:?} in\n{document}");
    assert_eq!(found.results.len(), found.total);
    is_where_it_is_said_to_be(&subject, &found);

    let mut pages = Vec::new();
    while pages.len() < found.total {
        let page = index.search(&question, &Options { limit, offset: pages.len(), ..Options::default() });
        assert_eq!(page.total, found.total);
        assert!(!page.results.is_empty());
        pages.extend(page.results);
    }
    assert_eq!(pages, found.results);
}

fn is_where_it_is_said_to_be(subject: &Subject<'_>, found: &Found<'_>) {
    for pair in found.results.windows(2) {
        let is_before =
            pair[0].score > pair[1].score || pair[0].score == pair[1].score && pair[0].index < pair[1].index;
        assert!(is_before, "{pair:?}");
    }
    for hit in &found.results {
        let index = hit.index.expect("it is a message");
        let message = &subject.context.messages[index];
        let text: Vec<char> = MessageView { index, message }.text().chars().collect();
        let snippet: Vec<char> = hit.snippet.chars().collect();
        let [start, end] = hit.chars;
        assert!(start < end && end <= text.len() && hit.score > 0.0, "{hit:?}");
        assert_eq!(snippet, text[hit.snippet_start..hit.snippet_start + snippet.len()], "{hit:?}");
        assert!(hit.snippet_start <= start, "{hit:?}");
        for [start, end] in &hit.matches {
            assert!(start < end && hit.snippet_start <= *start && *end <= hit.snippet_start + snippet.len(), "{hit:?}");
        }
    }
}

proptest! {
    #[test]
    fn every_way_to_search_finds_the_same(
        messages in prop::collection::vec(message(), 0..6), query in words(8), quoted in any::<bool>(), limit in 1..4usize,
    ) {
        let query = if quoted { format!("\"{query}\" {query}") } else { query };
        check(&messages, &query, How::Words, limit);
        check(&messages, &query, How::Substring, limit);
        check(&messages, &query, How::Regex, limit);
    }
}
