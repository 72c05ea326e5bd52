//! Questions that cannot be asked.

use crate::common::{assert_error_document, polyloop};
use crate::{LOGIN, ask};

#[test]
fn misuse_is_told() {
    for args in [
        &[][..],
        &["find", LOGIN[0], "x"],
        &["search", LOGIN[0]],
        &["search", LOGIN[0], "two", "words"],
        &["search", LOGIN[0], "x", "--substring", "--regex"],
        &["search", LOGIN[0], "x", "--limit", "0"],
        &["search", LOGIN[0], "x", "--limit", "-1"],
        &["search", LOGIN[0], "x", "--segment", "goals"],
        &["search", LOGIN[0], "x", "--format", "yaml"],
        &["slice", LOGIN[0]],
        &["current"],
        &["current", LOGIN[0], "1:"],
        &["state", LOGIN[0], "--steps", "4"],
        &["state", "fixtures/react/request.render.jsonl", "--steps", "1"],
        &["state", "no-such-file"],
        &["state", LOGIN[0], "-o", LOGIN[0]],
    ] {
        polyloop(["context"].iter().chain(args)).fails();
    }
}

#[test]
fn a_query_says_something() {
    for query in ["", " ", "\t\n"] {
        let document = ask(&["search", LOGIN[0], query]).exits(2).json();
        assert_error_document(&document);
        assert_eq!(
            (&document["code"], &document["message"]),
            (&"usage.arguments".into(), &"the query is empty".into())
        );
    }
}

#[test]
fn a_batch_is_no_context() {
    for args in [&["summarize", "fixtures/batch/requests.jsonl"][..], &["search", "fixtures/batch/requests.jsonl", "x"]]
    {
        let document = ask(args).exits(2).json();
        assert_error_document(&document);
        assert_eq!(document["code"], "input.shape");
        assert!(document["message"].as_str().is_some_and(|message| message.contains("batch")), "{document}");
    }
}

#[test]
fn a_fault_in_the_input_has_its_place() {
    let document = ask(&["state", "fixtures/err_state_alive/request.yaml"]).exits(2).json();
    assert_eq!((&document["code"], &document["path"]), (&"request.type".into(), &"state.alive".into()));
    assert_eq!((&document["line"], &document["column"]), (&3.into(), &10.into()));
}
