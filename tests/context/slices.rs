//! Ranges, on the command line.

use serde_json::Value;

use crate::common::polyloop;
use crate::{LOGIN, ask, asked};

fn indices(range: &str) -> Vec<u64> {
    let slice = asked(&["slice", LOGIN[0], range]);
    assert_eq!(slice["schema"], "polyloop.slice/1");
    assert_eq!(slice["total"], 9);
    let messages = slice["messages"].as_array().expect("a list");
    messages.iter().map(|message| message["index"].as_u64().expect("a number")).collect()
}

#[test]
fn ranges_need_no_escape() {
    for (range, first, last) in [
        ("0", 0, 9),
        ("7", 7, 9),
        ("-2:", 7, 9),
        ("-2", 7, 9),
        ("2:4", 2, 4),
        (":-7", 0, 2),
        ("-4:-3", 5, 6),
        (":", 0, 9),
    ] {
        assert_eq!(indices(range), (first..last).collect::<Vec<u64>>(), "{range}");
    }
    assert!(indices("9:").is_empty() && indices("4:2").is_empty());
}

#[test]
fn flags_stand_on_either_side_of_a_range() {
    let wanted = asked(&["slice", LOGIN[0], "-2:"]);
    for args in [
        &["slice", "--format", "json", LOGIN[0], "-2:"][..],
        &["slice", LOGIN[0], "--format", "json", "-2:"],
        &["slice", LOGIN[0], "-2:", "--format=json"],
        &["slice", LOGIN[0], "-f", "json", "--color", "never", "-2:"],
        &["slice", "--format", "json", "--", LOGIN[0], "-2:"],
    ] {
        assert_eq!(polyloop(["context"].iter().chain(args)).exits(0).json(), wanted, "{args:?}");
    }
}

#[test]
fn what_is_no_range_is_told_with_what_is() {
    for range in ["1-2", "--last", "1:2:3", "", "two"] {
        let ran = ask(&["slice", LOGIN[0], range]);
        let document: Value = ran.exits(2).json();
        assert_eq!(document["code"], "usage.arguments", "{range:?}");
        assert!(document["hint"].as_str().is_some_and(|hint| hint.contains("START:END")), "{document}");
    }
}
