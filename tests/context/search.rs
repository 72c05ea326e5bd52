//! Searching, as far as the command has a say in it.

use serde_json::Value;

use crate::common::polyloop;
use crate::{LOGIN, ask, asked, view};

fn origins(found: &Value) -> Vec<&str> {
    found["results"].as_array().expect("a list").iter().map(|it| it["origin"].as_str().expect("text")).collect()
}

/// The text of each message that ranges count in.
fn texts(input: &str) -> Vec<String> {
    let current = asked(&["current", input]);
    let text = |message: &Value| match message["text"].as_str() {
        Some(text) => text.to_owned(),
        None => message["content"][0]["text"].as_str().expect("a text").to_owned(),
    };
    current["messages"].as_array().expect("a list").iter().map(text).collect()
}

#[test]
fn results_point_at_what_was_found() {
    let texts = texts(LOGIN[0]);
    for query in ["decodeSession", "upgrade", "用户", "RS256", "E_SIGNATURE"] {
        for how in [&[][..], &["--substring"], &["--regex"]] {
            let found = asked(&[&["search", LOGIN[0], query], how].concat());
            assert_eq!(found["schema"], "polyloop.search/1");
            let results = found["results"].as_array().expect("a list");
            assert!(!results.is_empty(), "{query} {how:?}");
            for result in results {
                let text = &texts[result["index"].as_u64().expect("an index") as usize];
                let numbers = |range: &Value| [0, 1].map(|end| range[end].as_u64().expect("a number") as usize);
                let cut = |[start, end]: [usize; 2]| text.chars().skip(start).take(end - start).collect::<String>();
                // A part of a name is a match too, but behind the name itself.
                let is_match = |range: &Value| query.to_lowercase().contains(&cut(numbers(range)).to_lowercase());
                assert!(is_match(&result["chars"]), "{result}");
                if *result == results[0] || !how.is_empty() {
                    assert_eq!(cut(numbers(&result["chars"])).to_lowercase(), query.to_lowercase(), "{result}");
                }
                let snippet = result["snippet"].as_str().expect("text");
                let start = result["snippet_start"].as_u64().expect("a number") as usize;
                assert_eq!(cut([start, start + snippet.chars().count()]), snippet, "{result}");
                assert!(result["matches"].as_array().expect("a list").iter().all(is_match), "{result}");
            }
        }
    }
}

#[test]
fn only_what_is_asked_for_is_searched() {
    let all = asked(&["search", LOGIN[0], "session", "--substring"]);
    assert_eq!(all["total"], 3);
    let of = |flags: &[&str]| asked(&[&["search", LOGIN[0], "session", "--substring"], flags].concat());
    let assistant = of(&["--role", "assistant"]);
    assert_eq!(assistant["total"], 2);
    assert!(assistant["results"].as_array().expect("a list").iter().all(|result| result["role"] == "assistant"));
    assert_eq!(of(&["--role", "tool"])["total"], 0);
    assert_eq!(of(&["--segment", "trajectory"])["total"], 3);
    assert_eq!(of(&["--segment", "goal"])["total"], 0);
    assert_eq!(of(&["--segment", "recorded"])["total"], 0);
}

#[test]
fn results_come_in_pages() {
    let page = |flags: &[&str]| asked(&[&["search", LOGIN[0], "session", "--substring"], flags].concat());
    let all = page(&[]);
    let mut paged = Vec::new();
    for offset in ["0", "1", "2", "3"] {
        let one = page(&["--limit", "1", "--offset", offset]);
        assert_eq!(one["total"], 3);
        paged.extend(origins(&one).into_iter().map(str::to_owned));
    }
    assert_eq!(paged, origins(&all));
}

#[test]
fn the_view_says_how_much_and_what_to_do_next() {
    let all = view(&["search", LOGIN[0], "session", "--substring"]);
    assert!(all.starts_with("found in 3 of 9 messages, best first\n"), "{all}");
    let next = all.lines().last().expect("a line");
    let command = next.strip_prefix("to read it all:  polyloop ").unwrap_or_else(|| panic!("{next:?}"));
    let slice = polyloop(command.split(' '));
    assert!(slice.exits(0).text().contains("1 of 9 messages"), "{}", slice.text());

    let some = view(&["search", LOGIN[0], "session", "--substring", "--limit", "2"]);
    assert!(some.starts_with("found in 3 of 9 messages, best first: 1 to 2\n"), "{some}");
    assert!(some.ends_with("\nthe next ones:  --offset 2\n"), "{some}");
    let rest = view(&["search", LOGIN[0], "session", "--substring", "--limit", "2", "--offset", "2"]);
    assert!(rest.starts_with("found in 3 of 9 messages, best first: 3\n"), "{rest}");
    let beyond = view(&["search", LOGIN[0], "session", "--substring", "--offset", "7"]);
    assert_eq!(beyond, "found in 3 of 9 messages, none from 7 on\n");
}

#[test]
fn what_was_found_is_pointed_at() {
    let view = view(&["search", LOGIN[0], "upgrade", "--substring"]);
    let lines: Vec<&str> = view.lines().collect();
    let at = lines.iter().position(|line| line.contains("upgrade")).expect("the line");
    let column = lines[at].split("upgrade").next().expect("what is before").chars().count();
    assert_eq!(lines[at + 1], format!("{}^^^^^^^", " ".repeat(column)));
}

/// A search that finds nothing has been done.
#[test]
fn nothing_found_is_no_failure() {
    assert_eq!(view(&["search", LOGIN[0], "zebra"]), "nothing found in 9 messages\n");
    let found = asked(&["search", LOGIN[0], "zebra"]);
    assert_eq!((&found["total"], found["results"].as_array().map(Vec::len)), (&Value::from(0), Some(0)));
}

#[test]
fn roles_that_no_message_has_are_told() {
    let roles = "fixtures/context/roles.json";
    assert_eq!(asked(&["search", roles, "act", "--role", "critic"])["total"], 1);
    // The five are known, there or not.
    assert_eq!(asked(&["search", roles, "act", "--role", "developer"])["total"], 0);
    for (role, hint) in [("critics", "did you mean critic?"), ("poet", "known here: system, critic, user")] {
        let document = ask(&["search", roles, "act", "--role", role]).exits(2).json();
        assert_eq!((&document["code"], &document["hint"]), (&"usage.arguments".into(), &hint.into()), "{role}");
    }
}

#[test]
fn the_state_is_searched_where_that_is_asked_for() {
    for (query, origin) in [
        ("RS256", "state.facts[1]"),
        ("phase", "state.phase"),
        ("failing", "state.variables[0]"),
        ("verify", "state.phase"),
    ] {
        let of_state = |found: &Value| -> Vec<String> {
            let results = found["results"].as_array().expect("a list").iter();
            results
                .filter(|hit| hit["index"].is_null() && hit["role"].is_null())
                .map(|hit| hit["origin"].as_str().expect("text").to_owned())
                .collect()
        };
        let found = asked(&["search", LOGIN[0], query, "--state"]);
        assert!(of_state(&found).contains(&origin.to_owned()), "{query}: {found}");
        assert!(of_state(&asked(&["search", LOGIN[0], query])).is_empty());
    }
}

#[test]
fn patterns_that_would_take_too_long_are_refused() {
    for pattern in ["a{10000}", "(a{100}){100}", "(.{0,100}[a-m]){20}[0-9]"] {
        let ran = polyloop(["context", "search", LOGIN[0], pattern, "--regex", "--format", "json"]);
        assert_eq!(ran.code, Some(2), "{pattern}");
        assert_eq!(ran.json()["code"], "usage.arguments", "{pattern}");
    }
}
