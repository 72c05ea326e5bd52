//! The view of a manifest keeps to its columns, whatever stands in it.

use unicode_width::UnicodeWidthStr;

use super::ManifestView;
use crate::read::{self, Format};
use crate::write::look::{Look, Style, Styles};
use crate::write::{is_live, words::thousands_in};

/// Names that are long, wide or live, and the largest of all numbers.
fn request() -> String {
    let long = "a".repeat(300);
    let wide = "证据".repeat(60);
    format!(
        r#"{{
        "budget": {{"window": 18446744073709551615, "max_prompt_chars": 18446744073709551615, "reserved_output": 9999999,
            "responsibilities": {{
                "retrieved_material": {{"floor": 123456789, "cap": 18446744073709551615}},
                "user_input": {{"floor": 1000000, "cap": 10000000}}}}}},
        "conflicts": {{"prefer": ["higher_trust"]}},
        "prefix": [{{"role": "system", "content": "{wide}"}}],
        "injections": {{"{wide}": [{{"entry_id": "{long}", "content": "x"}}]}},
        "fragments": [
            {{"id": "{wide}", "kind": "evidence", "content": "1", "source_ref": "{wide}", "reason": "{wide}", "version": 1}},
            {{"id": "{long}", "kind": "evidence", "content": "2", "source_ref": "{long}", "reason": "{long} {long}",
              "claim": {{"key": "{long}", "value": "{long}"}}, "priority": -9223372036854775808}},
            {{"id": "new\nline \u202e\u0007\u001b[31m", "kind": "evidence", "content": "3", "trust": "user",
              "claim": {{"key": "{long}", "value": "\u001b[0m\u202e"}}}},
            {{"id": "é\u0301👩‍👧🇩🇪", "kind": "tool_result", "content": "4", "supersedes": ["old"]}},
            {{"id": "old", "kind": "memory", "content": "5", "source_ref": "{wide}"}},
            {{"id": "image", "kind": "evidence", "content": [{{"type": "image", "source": {{"type": "url", "url": "u"}},
              "chars": 9223372036854775807}}]}},
            {{"id": "huge", "kind": "user_input", "content": [{{"type": "image", "source": {{"type": "url", "url": "u"}},
              "chars": 12345678}}]}}
        ]}}"#
    )
}

fn shown(columns: usize, styles: Styles) -> String {
    let document = request();
    let request = read::request(&document, Some(Format::Json)).unwrap();
    let selection = crate::select(&request, None).unwrap();
    let manifest = selection.manifest();
    let look = Look { columns: Some(columns), styles, ..Look::default() };
    let mut out = Vec::new();
    ManifestView::new(&selection, &manifest, &look, false).write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn no_line_is_longer_than_there_are_columns() {
    for columns in [40, 47, 60, 79, 80, 84, 100, 160] {
        let shown = shown(columns, Styles::default());
        for line in shown.lines() {
            assert!(line.width() <= columns, "{} of {columns} columns: {line}", line.width());
        }
        assert!(!shown.chars().any(|c| c != '\n' && is_live(c)), "{shown:?}");
        assert!(shown.contains("18,446P"), "{shown}");
    }
}

#[test]
fn numbers_stand_apart() {
    for columns in [40, 80, 160] {
        let shown = shown(columns, Styles::default());
        let picture = shown.lines().skip_while(|line| !line.contains("left out")).skip(1);
        let rows = picture.take_while(|line| !line.contains("█ used")).filter(|line| line.contains('–'));
        for row in rows {
            let is_number = |word: &&str| *word == "–" || word.starts_with(|c: char| c.is_ascii_digit());
            assert_eq!(row.split_whitespace().filter(is_number).count(), 4, "{row}");
        }
        assert!(shown.lines().any(|line| line.ends_with("   9,223P  floor")), "{shown}");
    }
}

#[test]
fn colours_change_no_word() {
    let style = || Style { on: "\u{1b}[1m".to_owned(), off: "\u{1b}[0m".to_owned() };
    let styles = || Styles {
        prefix: style(),
        injections: style(),
        goal: style(),
        trajectory: style(),
        fragments: style(),
        recorded: style(),
        strong: style(),
        faint: style(),
        sign: style(),
        mark: style(),
        good: style(),
        bad: style(),
        warning: style(),
    };
    for columns in [40, 80, 160] {
        let painted = shown(columns, styles());
        assert_eq!(painted.matches("\u{1b}[1m").count(), painted.matches("\u{1b}[0m").count());
        for line in painted.lines() {
            assert_eq!(line.matches("\u{1b}[1m").count(), line.matches("\u{1b}[0m").count(), "{line:?}");
        }
        let plain = painted.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        assert_eq!(plain, shown(columns, Styles::default()));
    }
}

#[test]
fn long_numbers_are_rounded_down() {
    for (number, expected) in
        [(0, "0"), (999_999, "999,999"), (9_999_999, "9,999k"), (123_456_789, "123,456k"), (u64::MAX, "18,446P")]
    {
        assert_eq!(thousands_in(number, 8), expected);
    }
    assert_eq!(thousands_in(9_999_999, 9), "9,999,999");
}
