//! The outline of a document gives what the document gives, or nothing.

use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use super::node::{Node, Value};
use super::outline::{Block, Outline, Scan};
use super::yaml;
use crate::context::Store;

const WINDOWS: [usize; 6] = [1, 2, 3, 7, 64, 4096];

fn outline(document: &str, window: usize, least: usize) -> Option<Outline> {
    let own_thread = window % 2 == 1;
    Scan { window, least, hashed: true, own_thread }.outline(&mut Cursor::new(document), &AtomicBool::new(false))
}

/// All keys and texts with their sizes, and the spelling of everything else.
fn spell(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Text(text) => *out += &format!("{:?} of {} and {} ", text.to_cow(), text.chars(), text.bytes()),
        Value::List(items) => {
            out.push('[');
            items.iter().for_each(|item| spell(item, out));
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for entry in entries {
                *out += &format!("{:?}: ", entry.key);
                spell(&entry.value, out);
            }
            out.push('}');
        }
        other => *out += &format!("{other:?} "),
    }
}

/// How many texts stay in the file; `None` where the document has to be read whole.
fn stored(document: &str) -> Option<usize> {
    stored_from(document, 4)
}

fn stored_from(document: &str, least: usize) -> Option<usize> {
    let text = document.strip_prefix('\u{feff}').unwrap_or(document);
    let whole = yaml::parse(text).map(|node| {
        let mut spelled = String::new();
        spell(&node, &mut spelled);
        spelled
    });
    let found = WINDOWS.map(|window| {
        let outline = outline(document, window, least)?;
        let store = Store::new(Cursor::new(document.as_bytes().to_vec()));
        let node = yaml::parse_outline(&outline, &store).ok()?;
        let mut spelled = String::new();
        spell(&node, &mut spelled);
        store.check().unwrap();
        assert_eq!(Some(&spelled), whole.as_ref().ok(), "window {window}:\n{document}");
        Some(outline.blocks.len())
    });
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}:\n{document}");
    found[0]
}

#[test]
fn text_in_double_quotes_is_taken_where_json_says_the_same() {
    for (document, count) in [
        ("a: \"plain text \\n\\u001b[0m é漢😀 \\\\ \\\" \"\nb: 1\n", Some(1)),
        ("a: \"  text\\t \"   \n", Some(1)),
        ("- \"some text\"\n- \"more text\"", Some(2)),
        ("a:\n  - b: \"some text\"\n    c: |\n      more text\n", Some(2)),
        ("a: {b: \"some text\"\n  }\n", Some(1)),
        ("a: &x \"some text\"\nb: *x\n", None),
        ("a: \"some text\" # so\n", None),
        ("a: \"some \\/ text\"\n", None),
        ("a: \"some \\x41 text\"\n", None),
        ("a: \"some \\\n  text\"\n", None),
        ("a: !!str \"some text\"\n", None),
        ("a: 'say: \"some text\"'\n", None),
        ("a: '\n  say: \"some text\"\n  '\n", None),
        ("a:\n  say: \"some text\"\n  more\n", None),
        ("a: some\n  say: \"some text\"\n", None),
        ("# a: \"some text\"\nb: 1\n", None),
        ("\"some\": \"some text\"\n", None),
        ("- \"some text\" : b\n", None),
        ("? \"some text\"\n: b\n", None),
        ("a: \"some text\n", None),
        ("a: >\n  b: \"some text\"\n", None),
    ] {
        assert_eq!(stored(document), count, "{document}");
    }
    // Within what is not taken out itself.
    assert_eq!(stored_from("a: |\n  b: \"some text, and more of it\"\n", 60), None);
    assert_eq!(stored_from("a: \"some text\"\n", 10), None);
}

#[test]
fn every_chomping_is_the_parsers() {
    for header in ["|", "|-", "|+", "|2", "|2-", "|-2", "|+2", "|2+", "| # words", "|-   # a | b", "|   "] {
        for end in ["", "\n", "\n\n", "\n\n\n", "\n  \n", "\n \n  \n", "\n    \n", "\n  ", "\n   ", "\n \n "] {
            for behind in ["", "b: c\n", "# words\n", "...\n"] {
                if behind.is_empty() || end.ends_with('\n') {
                    let document = format!("a: {header}\n  first\n\n  last{end}{behind}");
                    assert_eq!(stored(&document), Some(1), "{document:?}");
                }
            }
        }
    }
}

#[test]
fn blocks_are_found_behind_keys_and_dashes() {
    for (document, blocks) in [
        ("- |\n  text text\n- |-\n text text\n", 2),
        ("- - |\n    text text\n", 1),
        ("- a: |\n    text text\n  b: |\n   text text\n", 2),
        ("-   a:   |\n      text text\n", 1),
        ("\"a: |\": |\n  text text\n'b': |\n  text text\n", 2),
        ("? a\n: |\n  text text\n", 1),
        ("a: |\n  text\nb: |\n  text text\n", 2),
        ("a: |\n  t\nb: |\n  text text\n", 1),
        ("\u{feff}a: |\n  text text\n", 1),
        ("---\na: |\n  text text\n", 1),
        ("a: &x {b: c}\nd: |\n  text text\ne: *x\n", 1),
        ("a: &x\n  b: |\n    text text\nc: *x\nd: {<<: *x}\n", 1),
        // No lines of theirs: what follows is a key.
        ("a:\n  b: |\n  c: |\n   text text\n", 1),
        ("a: |\nb: |\n  text text\n", 1),
    ] {
        assert_eq!(stored(document), Some(blocks), "{document}");
    }
}

#[test]
fn lines_are_the_parsers() {
    for body in [
        "  text\n  more\n",
        "  text\n\n\n  more\n",
        "  text\n \n  \n   \n      \n  more\n",
        "\n\n  text text\n",
        " \n  \n  text text\n",
        "  \ttext\n  \t\n  more\n",
        "  text: |\n    more\n  # more\n  - more\n  ---\n  ...\n",
        "      text\n       more\n      less\n",
        "  é漢😀\u{85}\u{a0}\u{feff}\u{fffd}\u{2028}\u{e000}～\n",
        "  text %d \" ' \\ \\n {a} [b] & * ! | > @ `\n",
    ] {
        let document = format!("a: |\n{body}b: c\n");
        assert_eq!(stored(&document), Some(1), "{document:?}");
        assert_eq!(stored(document.trim_end_matches("b: c\n")), Some(1), "{document:?}");
    }
    for body in ["      text\n  more\n", "\n    text\n   \n  more\n", "   \n      \n  more\n", "  more\n\n   \n"] {
        let document = format!("a: |2\n{body}b: c\n");
        assert_eq!(stored(&document), Some(1), "{document:?}");
    }
}

#[test]
fn what_the_parser_refuses_is_never_taken() {
    let long = "  text text text\n";
    for document in [
        format!("a: |\n      \n{long}"),
        format!("a: |\n\t\n{long}"),
        format!("a: |\n{long} less\n"),
        format!("a: |\n{long} \tless\n"),
        format!("a: |\n{long}\t\nb: c\n"),
        format!("a: |0\n{long}"),
        format!("a: |9\n{long}"),
        format!("a: |+-\n{long}"),
        format!("a: |22\n{long}"),
        format!("a: |#\n{long}"),
        format!("a: |\n{long}b\n"),
        format!("a: |\n{long}a: |\n{long}"),
        format!("a: |\n{long}---\nb: |\n{long}"),
        format!("a: |\n{long}b: *x\n"),
        format!("a: |\n{long}b: !x y\n"),
        format!("\u{feff}\u{feff}a: |\n{long}"),
        format!("a: |\n{long}b: \0\n"),
        format!("a: {{b: |\n{long}}}\n"),
    ] {
        assert_eq!(stored(&document), None, "{document:?}");
    }
}

#[test]
fn what_is_not_surely_a_block_is_left_to_the_parser() {
    let long = "  text text text\n";
    for document in [
        format!("a: \"b: |\n{long}  \"\n"),
        format!("a: 'b: |\n{long}  '\n"),
        "a: >\n  b: |\n    text text text\n".to_owned(),
        format!("a: b\n  c |\n{long}"),
        format!("? |\n{long}: a\n"),
        format!("a: !!str |\n{long}"),
        format!("a: &x |\n{long}"),
        format!("|\n{long}"),
        "a: |\r\n  text text\r\n".to_owned(),
        "a: |\n  text text\r\n".to_owned(),
        "a: |\n  text\r  text\n".to_owned(),
        format!("{{\"a\": \"- |\n{long}\"}}"),
        format!("# a: |\n{long}"),
        format!("a: b # c: |\n{long}"),
    ] {
        assert_eq!(stored(&document), None, "{document:?}");
    }
}

/// The characters that the parser refuses in a block are those that the scan refuses.
#[test]
fn characters_are_judged_alike() {
    let all = (0..=0x2100u32).chain(0xd700..=0xe001).chain(0xf8ff..=0x1_0100).chain(0x10_fff0..=0x10_ffff);
    for character in all.filter_map(char::from_u32) {
        let document = format!("a: |\n  {}{character}text\n", "x".repeat(character as usize % 70));
        let is_taken = outline(&document, 4096, 4).is_some();
        let is_fine = yaml::parse(&document).is_ok() && character != '\r' && character != '\0';
        // A line break is no character of a line.
        assert!(is_taken == is_fine || character == '\n', "{character:?}");
    }
}

#[test]
fn short_texts_stay_where_they_are() {
    let document = "a: |\n  0123\n\n  56\nb: c\n";
    let raw = "  0123\n\n  56";
    for least in [1, raw.len() - 1, raw.len()] {
        assert_eq!(stored_from(document, least), Some(1), "{least}");
    }
    assert_eq!(stored_from(document, raw.len() + 1), None);
    for window in WINDOWS {
        let outline = outline(document, window, 4).unwrap();
        let Block { place, len, indent, chars, bytes, stand_in, .. } = outline.blocks[0];
        assert_eq!(&document[place as usize..][..len], raw);
        assert_eq!((indent, chars, bytes), (2, 8, 8));
        assert_eq!(outline.text, "a: |\n  text\nb: c\n");
        assert_eq!(&outline.text[stand_in..][..4], "text");
    }
}

/// Limits count the text that was left in the file, too.
#[test]
fn aliases_are_paid_for_in_full() {
    let line = format!("    {}\n", "x".repeat(1 << 16));
    let document = |copies: usize| format!("a: &x\n  b: |\n{line}c: [{}]\n", "*x, ".repeat(copies));
    for (copies, is_fine) in [(3, true), (254, true), (256, false)] {
        let document = document(copies);
        let outline = outline(&document, 4096, 256).unwrap();
        let store = Store::new(Cursor::new(document.as_bytes().to_vec()));
        assert_eq!(yaml::parse(&document).is_ok(), is_fine);
        assert_eq!(yaml::parse_outline(&outline, &store).is_ok(), is_fine);
    }
}
