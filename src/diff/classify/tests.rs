use proptest::prelude::*;

use super::Class::{self, *};
use super::*;

fn found(a: &str, b: &str) -> Vec<Class> {
    let classes = classify(a, b);
    assert_eq!(classes, classify(b, a), "{a:?} {b:?}");
    classes
}

/// Each pair, given with what lies between the two, has exactly these classes.
fn check(expected: &[Class], pairs: &[(&str, &str)]) {
    for (a, b) in pairs {
        assert_eq!(found(a, b), expected, "{a:?} {b:?}");
    }
}

#[test]
fn equal_texts_have_no_class() {
    check(&[], &[("", ""), ("a", "a")]);
}

#[test]
fn line_endings() {
    check(
        &[LineEnding],
        &[("a\nb\n", "a\r\nb\r\n"), ("a\nb\nc\n", "a\nb\r\nc\n"), ("a\rb", "a\nb"), ("a\r\n", "a\r"), ("\r\n", "\n")],
    );
    check(&[Whitespace], &[("a\n\rb", "a\nb"), ("a\r\n\r\nb", "a\nb"), ("a\u{2028}b", "a\nb"), ("a\r b", "ab")]);
}

#[test]
fn trailing_newlines() {
    check(
        &[TrailingNewline],
        &[("a", "a\n"), ("a", "a\r\n"), ("a\n", "a\n\n\n"), ("", "\n"), ("a ", "a \n"), ("a\r", "a")],
    );
    check(&[Whitespace], &[("a\nb", "a\n\nb"), ("a", "\na")]);
    check(&[LineEnding, TrailingNewline], &[("a\r\nb\r\n", "a\nb")]);
}

#[test]
fn trailing_white_space() {
    check(
        &[TrailingWhitespace],
        &[
            ("a", "a "),
            ("a\nb", "a \nb"),
            ("a\r\nb", "a\t \r\nb"),
            ("a\n", "a\u{a0}\u{3000}\n"),
            ("a\n\nb", "a\n  \nb"),
            ("a \n", "a\t\n"),
            ("a\n", "a\n "),
            ("", " "),
        ],
    );
    check(&[Whitespace], &[("a b", "a  b"), ("a", " a"), ("a b", "ab"), ("a\u{2028}", "a"), ("a\u{b}\n", "a\n")]);
    check(&[TrailingNewline, TrailingWhitespace], &[("a", "a \n"), ("a \n", "a\t")]);
    check(&[LineEnding, TrailingWhitespace], &[("a \r\nb", "a\nb")]);
}

#[test]
fn white_space() {
    check(
        &[Whitespace],
        &[
            ("a b", "a\u{a0}b"),
            ("a b", "a\tb"),
            ("a b", "a\nb"),
            ("a b", "a\u{3000}b"),
            ("a\u{2003}b", "a\u{2009}b"),
            ("  a", "\ta"),
            ("12 ms", "12ms"),
            ("12 ms", "12\u{a0}ms"),
            ("12 ms", "12  ms"),
        ],
    );
    check(&[Content], &[("a b", "a_b"), ("a b", "a\0b")]);
}

#[test]
fn byte_order_marks_and_what_cannot_be_seen() {
    check(&[Bom], &[("a", "\u{feff}a"), ("ab", "a\u{feff}b"), ("", "\u{feff}"), ("a\n", "a\n\u{feff}")]);
    check(
        &[Invisible],
        &[
            ("agent", "ag\u{200b}ent"),
            ("👨\u{200d}👩", "👨👩"),
            ("coop", "co\u{ad}op"),
            ("a b", "a \u{202e}b\u{202c}"),
            ("☺\u{fe0f}", "☺\u{fe0e}"),
            ("a", "a\u{e0061}\u{e007f}"),
            ("a", "\u{3164}a\u{2060}"),
            ("a\n", "a\u{200b}\n"),
            ("", "\u{200b}"),
            ("12", "1\u{200b}2"),
        ],
    );
    check(&[Bom, Invisible], &[("a", "\u{feff}a\u{200b}")]);
    check(&[TrailingNewline, Bom], &[("a", "\u{feff}a\n"), ("a", "a\n\u{feff}"), ("a", "a\u{feff}\n")]);
    check(&[Whitespace, Invisible], &[("a b", "a\u{2800}b")]);
    check(&[TrailingWhitespace, Invisible], &[("a", "a \u{200b}")]);
    check(&[Content], &[("a", "a\0"), ("a", "a\u{1b}")]);
}

#[test]
fn normalization_forms() {
    check(
        &[Normalization],
        &[
            ("café", "cafe\u{301}"),
            ("한", "\u{1112}\u{1161}\u{11ab}"),
            ("ﬁne", "fine"),
            ("Ａ１", "A1"),
            ("Å", "\u{212b}"),
            ("x²", "x2"),
            ("…", "..."),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"),
            ("が", "か\u{3099}"),
            ("𝐚", "a"),
        ],
    );
    check(&[Content], &[("é", "e"), ("é", "è"), ("é", "É"), ("x²", "x³"), ("①", "②"), ("a", "A")]);
    check(&[Whitespace, Normalization], &[("é b", "e\u{301}\u{a0}b")]);
    check(&[Invisible, Normalization], &[("é", "e\u{200d}\u{301}")]);
    check(&[Normalization, Volatile], &[("é 1", "e\u{301} 2")]);
}

#[test]
fn characters_that_look_alike() {
    check(
        &[Homoglyph],
        &[
            ("careful", "c\u{430}reful"),
            ("time - reply", "time \u{2212} reply"),
            ("\"agent\"", "\u{201c}agent\u{201d}"),
            ("it's", "it\u{2019}s"),
            ("ë", "ё"),
            ("l", "\u{4cf}"),
            ("I", "\u{406}"),
            ("0", "\u{41e}"),
            ("1", "\u{661}"),
            ("末", "未"),
        ],
    );
    check(
        &[Content],
        &[
            ("xO", "x0"),
            ("l", "1"),
            ("I", "l"),
            ("rn", "m"),
            ("\"a\"", "'a'"),
            ("\"", "''"),
            ("|", "l"),
            ("`a`", "'a'"),
            ("a", "б"),
        ],
    );
    check(&[Normalization, Homoglyph], &[("é a", "e\u{301} \u{430}")]);
    check(&[Whitespace, Homoglyph], &[("a a", "a\u{a0}\u{430}")]);
    check(&[Homoglyph, Volatile], &[("a 1", "\u{430} 2")]);
    // The typing error among them is not explained.
    check(&[Homoglyph, Content], &[("an agent is all it takes here", "\u{430}n agent is a1l it takes here")]);
}

#[test]
fn what_changes_from_run_to_run() {
    check(
        &[Volatile],
        &[
            ("3", "4"),
            ("It is 2024-01-02.", "It is 2025-11-12."),
            ("Today is Tuesday, March 5, 2024.", "Today is Sunday, 10 November 2025."),
            ("id 550e8400-e29b-41d4-a716-446655440000", "id 6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
            ("at 12:03", "at 12:03:04.250Z"),
            ("1 failed, 14 passed in 0.31s", "0 failed, 15 passed in 12 ms"),
            ("commit 3f2a9bc", "commit 77aa01e"),
            ("<obj at 0x7f3a>", "<obj at 0x1>"),
            ("tokens: 1,204", "tokens: 999"),
            ("used 97%", "used 9.5%"),
            ("5 minutes ago", "1 hour ago"),
            ("file1.txt", "file2.txt"),
        ],
    );
    check(
        &[Content],
        &[
            ("one", "two"),
            ("3 apples", "three apples"),
            ("line", "lime"),
            ("3", ""),
            ("1, 2, 3", "1, 2"),
            ("wait 5 minutes", "wait 5 hours"),
            ("12 ms", "12"),
            ("on Monday", "on Tuesday"),
            ("you may 5", "you can 5"),
            ("-3", "3"),
            ("abcdefg", "abcdef0"),
            ("v1", "w1"),
            ("You are", "2024-01-02 You are"),
        ],
    );
    check(&[TrailingNewline, Volatile], &[("run 1", "run 2\n")]);
    check(&[Whitespace, Volatile], &[("run 1 ok", "run 2\u{a0}ok")]);
    check(&[Invisible, Volatile], &[("run 34", "run 3\u{200b}5")]);
}

#[test]
fn what_is_not_explained_whole_is_looked_at_in_parts() {
    check(&[LineEnding, Content], &[("one\ntwo\nthree\n", "one\r\ntwo\nfour\n")]);
    check(&[TrailingNewline, Content], &[("one word\nsome text\nend", "one work\nsome text\nend\n")]);
    check(&[TrailingWhitespace, Content], &[("a\nb\nword", "a \nb\nbird")]);
    check(
        &[Volatile, Content],
        &[
            ("It is 12:03 and all is fine today.", "It is 12:04 and all is well today."),
            ("time 1\nsame\nword\nsame\n", "time 2\nsame\nwort\nsame\n"),
            ("time 1\nword\n", "time 2\nwort\n"),
        ],
    );
    check(
        &[Content],
        &[
            ("a", "b"),
            ("", "text"),
            ("text", "text and more"),
            ("I have 3 apples", "We own 5 pears"),
            ("one\ntwo\n", "one\nnew\ntwo\n"),
        ],
    );
    check(&[Whitespace, Content], &[("one\ntwo\nx\nthree\n", "one\n\ntwo\nx\nfour\n")]);
}

/// Words, numbers, line breaks of both kinds, letters with accents, and what cannot be seen.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-z]{1,8}",
        4 => Just(" ".to_owned()),
        2 => "[0-9]{1,4}",
        2 => "[.,:;-]",
        2 => prop::sample::select(vec!["\n", "\n\n", "\r\n", " \n"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["é", "界", "😀", "\u{a0}", "\u{200b}", "а"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..60).prop_map(|pieces| pieces.concat())
}

/// A text and a place in it where a character or CRLF begins, or its end.
fn text_and_place() -> impl Strategy<Value = (String, usize)> {
    (text(), any::<prop::sample::Index>()).prop_map(|(text, index)| {
        let is_whole =
            |&at: &usize| text.is_char_boundary(at) && !(text[..at].ends_with('\r') && text[at..].starts_with('\n'));
        let places: Vec<usize> = (0..=text.len()).filter(is_whole).collect();
        let place = places[index.index(places.len())];
        (text, place)
    })
}

fn inserted((text, place): &(String, usize), what: &str) -> String {
    format!("{}{what}{}", &text[..*place], &text[*place..])
}

/// Both sides longer than any window.
fn in_long(text: &str) -> String {
    let around = "The same words, line after line, 12 times.\n".repeat(12);
    format!("{around}{text}<\n{around}")
}

proptest! {
    #[test]
    fn any_two_texts_have_the_same_classes_both_ways(a: String, b: String) {
        let classes = found(&a, &b);
        prop_assert_eq!(classes.is_empty(), a == b);
        prop_assert!(classes.is_sorted());
    }

    #[test]
    fn any_two_plausible_texts_have_the_same_classes_both_ways(a in text(), b in text()) {
        prop_assert_eq!(found(&a, &b).is_empty(), a == b);
        let (long_a, long_b) = (in_long(&a), in_long(&b));
        prop_assert_eq!(found(&long_a, &long_b).is_empty(), a == b);
    }

    #[test]
    fn one_changed_line_ending_is_just_that(text in text_and_place()) {
        let lf = inserted(&text, "x\ny");
        let crlf = inserted(&text, "x\r\ny");
        prop_assert_eq!(found(&lf, &crlf), [LineEnding]);
        prop_assert_eq!(found(&in_long(&lf), &in_long(&crlf)), [LineEnding]);
        prop_assert_eq!(found(&lf, &inserted(&text, "x\ry")), [LineEnding]);
    }

    #[test]
    fn all_line_endings_changed_are_just_that(text in text()) {
        let lf = text.replace("\r\n", "\n") + "\n";
        prop_assert_eq!(found(&lf, &lf.replace('\n', "\r\n")), [LineEnding]);
        let (lf, crlf) = (in_long(&lf), in_long(&lf).replace('\n', "\r\n"));
        prop_assert_eq!(found(&lf, &crlf), [LineEnding]);
    }

    #[test]
    fn a_newline_at_the_end_is_just_that(text in text()) {
        prop_assert_eq!(found(&text, &format!("{text}\n")), [TrailingNewline]);
        prop_assert_eq!(found(&in_long(&text), &(in_long(&text) + "\r\n")), [TrailingNewline]);
    }

    #[test]
    fn white_space_at_a_line_end_is_just_that(text in text(), blank in "[ \t\u{a0}\u{3000}]{1,3}") {
        prop_assert_eq!(found(&format!("{text}.\n{text}"), &format!("{text}.{blank}\n{text}")), [TrailingWhitespace]);
        prop_assert_eq!(found(&format!("{text}."), &format!("{text}.{blank}")), [TrailingWhitespace]);
    }

    #[test]
    fn another_space_is_just_that(text in text_and_place(), space in prop::sample::select(vec!["\u{a0}", "\t", "  ", "\u{3000}", "\n", ""])) {
        let (a, b) = (inserted(&text, "x y"), inserted(&text, &format!("x{space}y")));
        prop_assert_eq!(found(&a, &b), [Whitespace]);
        prop_assert_eq!(found(&in_long(&a), &in_long(&b)), [Whitespace]);
    }

    #[test]
    fn what_cannot_be_seen_is_just_that(
        text in text_and_place(),
        hidden in prop::sample::select(vec!["\u{200b}", "\u{202e}", "\u{ad}", "\u{200d}", "\u{2060}", "\u{e0041}", "\u{fe0f}", "\u{2066}"]),
    ) {
        prop_assert_eq!(found(&text.0, &inserted(&text, hidden)), [Invisible]);
        prop_assert_eq!(found(&in_long(&text.0), &in_long(&inserted(&text, hidden))), [Invisible]);
        prop_assert_eq!(found(&text.0, &inserted(&text, "\u{feff}")), [Bom]);
    }

    #[test]
    fn another_form_of_a_letter_is_just_that(text in text_and_place()) {
        prop_assert_eq!(found(&inserted(&text, "é"), &inserted(&text, "e\u{301}")), [Normalization]);
        prop_assert_eq!(found(&inserted(&text, "ﬁ"), &inserted(&text, "fi")), [Normalization]);
        prop_assert_eq!(found(&inserted(&text, "a"), &inserted(&text, "\u{430}")), [Homoglyph]);
        prop_assert_eq!(found(&in_long(&inserted(&text, "a")), &in_long(&inserted(&text, "\u{430}"))), [Homoglyph]);
    }

    #[test]
    fn another_number_is_just_that(text in text_and_place(), a in 0u64.., b in 0u64..) {
        prop_assume!(a != b);
        let (a, b) = (inserted(&text, &format!(" {a} ")), inserted(&text, &format!(" {b} ")));
        prop_assert_eq!(found(&a, &b), [Volatile]);
        prop_assert_eq!(found(&in_long(&a), &in_long(&b)), [Volatile]);
    }

    #[test]
    fn another_word_is_content_and_nothing_else(text in text_and_place(), a in "q[a-z]{0,7}", b in "q[a-z]{0,7}") {
        prop_assume!(a != b);
        // By themselves, and no units: letters inside an id are part of it.
        let (a, b) = (inserted(&text, &format!(" {a} ")), inserted(&text, &format!(" {b} ")));
        prop_assert_eq!(found(&a, &b), [Content]);
        prop_assert_eq!(found(&text.0, &a), [Content]);
        prop_assert_eq!(found(&in_long(&text.0), &in_long(&a)), [Content]);
    }

    #[test]
    fn a_word_and_a_number_far_apart_are_both_seen(a in text(), b in text()) {
        let with = |number: &str, word: &str| format!("at {number} it\n{}\n{}\nends in {word}", in_long(&a), in_long(&b));
        prop_assert_eq!(found(&with("17", "rain"), &with("18", "snow")), [Volatile, Content]);
        prop_assert_eq!(found(&with("17", "rain"), &with("18", "rain\n")), [TrailingNewline, Volatile]);
    }
}
