//! Views of answers that were made by hand.

use std::borrow::Cow;

use super::rows::write_marked;
use super::{Answer, AnswerView};
use crate::context::{Context, Origin};
use crate::query::{Found, Hit, Options, Subject};
use crate::request::State;
use crate::write::look::{Look, Style, Styles};

fn marked(text: &str, marks: &[[usize; 2]], look: &Look) -> String {
    let mut out = Vec::new();
    write_marked(text, marks, (1, &Style::default()), look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn painting() -> Styles {
    Styles { mark: Style { on: "<".into(), off: ">".into() }, ..Styles::default() }
}

#[test]
fn matches_are_pointed_at_by_columns() {
    let look = Look::default();
    for (text, marks, shown) in [
        ("abc", &[[1, 2]][..], " │ abc\n    ^\n"),
        ("登录失败 x", &[[2, 4]], " │ 登录失败 x\n       ^^^^\n"),
        ("a\u{202e}b", &[[1, 2]], " │ a⟨U+202E⟩b\n    ^^^^^^^^\n"),
        ("\u{1b}[31m", &[[0, 1]], " │ ␛[31m\n   ^\n"),
        ("one\ntwo\n", &[[2, 5]], " │ one\n     ^\n │ two\n   ^\n"),
        ("a b a", &[[0, 1], [4, 5]], " │ a b a\n   ^   ^\n"),
        ("a  \nb", &[], " │ a␠␠\n │ b\n"),
        ("", &[[0, 0]], " │\n"),
        ("abc", &[[1, 1], [9, 12]], " │ abc\n"),
    ] {
        assert_eq!(marked(text, marks, &look), shown, "{text:?}");
    }
}

#[test]
fn rows_are_as_wide_as_the_terminal_and_paint_ends_with_each() {
    let look = |styles| Look { wrap: Some(25), columns: Some(25), styles };
    let text = "a".repeat(30);
    let shown = marked(&text, &[[20, 25]], &look(painting()));
    assert_eq!(shown, format!(" │ {}<aa>\n ┆ <aaa>{}\n", "a".repeat(20), "a".repeat(5)));
    let pointed = marked(&text, &[[20, 25]], &look(Styles::default()));
    let (first, second) = ("a".repeat(22), "a".repeat(8));
    assert_eq!(pointed, format!(" │ {first}\n{}^^\n ┆ {second}\n   ^^^\n", " ".repeat(23)));
    // A character that is wider than what is left goes on; one that is wider than all is shown all the same.
    let wide = marked(&"登".repeat(12), &[], &look(Styles::default()));
    assert_eq!(wide, format!(" │ {}\n ┆ 登\n", "登".repeat(11)));
}

#[test]
fn results_in_the_state_are_told_from_messages() {
    let hit = |index: Option<usize>, origin: &'static str| Hit {
        index,
        role: index.map(|_| Cow::Borrowed("user")),
        origin: Origin::Body(Cow::Borrowed(origin)),
        snippet: "the upgrade".into(),
        score: 2.345,
        chars: [4, 11],
        snippet_start: 0,
        matches: vec![[4, 11]],
    };
    let (context, state) = (Context::default(), State::default());
    let subject = Subject { context: &context, state: &state };
    let options = Options { state: true, ..Options::default() };
    let view = |results: Vec<Hit<'static>>, total| {
        let answer = Answer::Search { found: Found { results, total }, options: &options };
        let mut out = Vec::new();
        AnswerView { source: "my run.yaml", subject: &subject, answer }.write(&Look::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let shown = view(vec![hit(None, "state.facts[2]")], 1);
    let head = " state            state.facts[2]                          score 2.35  chars 4:11\n";
    assert_eq!(
        shown,
        format!(
            "1 result in 0 messages and the state\n{head} │ the upgrade\n       ^^^^^^^\n\n\
             to read it all:  polyloop context state 'my run.yaml'\n"
        )
    );
    let both = view(vec![hit(Some(3), "messages[3]"), hit(None, "state.facts[2]")], 7);
    assert!(both.starts_with("7 results in 0 messages and the state, best first: 1 to 2\n #3   user "), "{both}");
    assert!(both.ends_with("\nthe next ones:  --offset 2\n"), "{both}");
    assert_eq!(view(Vec::new(), 0), "nothing found in 0 messages and the state\n");
}
