//! Goldens whose messages are right and whose bytes are not.

use super::{OTHER, OTHER_STREAM, Tree};

/// The golden, its classes, the first byte that is wrong and the message whose line that is.
fn spellings() -> Vec<(&'static str, String, &'static [&'static str], usize, usize)> {
    let second = OTHER_STREAM.find('\n').expect("two lines") + 1;
    let end = OTHER_STREAM.len();
    let spaced = OTHER_STREAM.replace("\":", "\": ");
    let accent = OTHER_STREAM.find('\u{e9}').expect("an accent");
    let blocks = |text: &str| format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]");
    let as_string = OTHER_STREAM.replace(&blocks("Be brief."), "\"Be brief.\"");
    let turned =
        OTHER_STREAM.replace("\"type\":\"text\",\"text\":\"Be brief.\"", "\"text\":\"Be brief.\",\"type\":\"text\"");
    vec![
        ("CRLF", OTHER_STREAM.replace('\n', "\r\n"), &["line_ending"], second - 1, 0),
        ("no final newline", OTHER_STREAM.trim_end().to_owned(), &["trailing_newline"], end - 1, 1),
        ("one newline more", format!("{OTHER_STREAM}\n"), &["trailing_newline"], end, 2),
        ("spaces as json.dumps writes them", spaced, &["whitespace"], "{\"role\":".len(), 0),
        ("a byte order mark", format!("\u{feff}{OTHER_STREAM}"), &["bom"], 0, 0),
        ("ASCII only", OTHER_STREAM.replace('\u{e9}', "\\u00e9"), &["content"], accent, 1),
        ("content as a string", as_string, &["content"], "{\"role\":\"system\",\"content\":".len(), 0),
        ("keys in another order", turned, &["content"], "{\"role\":\"system\",\"content\":[{\"t".len(), 0),
    ]
}

#[test]
fn equal_messages_in_other_bytes_are_different() {
    for (what, golden, classes, byte, message) in spellings() {
        let tree = Tree::new();
        tree.file("a.yaml", OTHER).file("a.render.jsonl", &golden);
        let ran = tree.check(&["--format", "json"]);
        ran.exits(1);
        let result = &ran.json()["results"][0];
        assert_eq!(result["status"], "different", "{what}");
        assert_eq!(result["classes"], serde_json::json!(classes), "{what}");
        assert_eq!(result["golden_byte"], byte, "{what}");
        assert_eq!(result["first_difference"]["message"], message, "{what}");
        let text = tree.check(&[]);
        text.exits(1);
        assert!(text.text().contains("(the messages are equal)"), "{what}: {}", text.text());
        assert!(text.text().contains(classes[0]), "{what}: {}", text.text());
        // And what is to be done about it does it.
        tree.check(&["--accept"]).exits(0);
        assert_eq!(tree.read("a.render.jsonl"), OTHER_STREAM.as_bytes(), "{what}");
    }
}

#[test]
fn the_first_difference_is_where_it_is() {
    let tree = Tree::new();
    tree.file("a.yaml", OTHER).file("a.render.jsonl", OTHER_STREAM.replace("Caf\u{e9}?", "Caf\u{e8}?"));
    let ran = tree.check(&["--format", "json"]);
    ran.exits(1);
    let first = &ran.json()["results"][0]["first_difference"];
    let wanted = serde_json::json!({
        "message": 1, "block": 0, "byte": 3, "char": 3, "line": 1, "column": 4,
        "origin_a": "messages[1].content[0]", "origin_b": "goal[0]",
    });
    assert_eq!(*first, wanted);
    let text = tree.check(&[]);
    let lines: Vec<&str> = text.text().lines().collect();
    assert_eq!(lines[0], "1 request: 1 different (125 bytes compared)");
    assert!(lines[1].starts_with(" \u{2717} a.yaml  #1 goal[0] char 3: "), "{}", lines[1]);
    assert_eq!(lines[2], "   to see it:   polyloop diff a.render.jsonl a.yaml");
    assert_eq!(lines[3], "   to take it:  polyloop check a.yaml --accept");
}
