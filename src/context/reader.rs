//! JSON text to nodes, in one pass over the text.
//!
//! serde_json would do, but for what it does not tell: where a value stands, and how a string was escaped. The escaped
//! text of a string is nearly always already that of the canonical stream, so it is checked once and kept as a slice.
//! The grammar is that of RFC 8259, and tests hold it against serde_json.

use std::borrow::Cow;

use super::escape::StringFault;
use super::node::{Entry, Node, Span, Value, duplicate_key, duplicate_key_error, limit_error, limits};
use super::{Key, Text};
use crate::error::{Code, Error, Result};

/// Reads one JSON value, with nothing but white space round it.
pub(crate) fn parse(text: &str) -> Result<Node<'_>> {
    parse_with(Reader::new(text, 0))
}

/// The same of a report of our own, which holds more than the document it tells of.
pub(crate) fn parse_own(text: &str) -> Result<Node<'_>> {
    parse_with(Reader { most_nodes: usize::MAX, most_depth: 2 * limits::DEPTH, ..Reader::new(text, 0) })
}

fn parse_with(mut reader: Reader<'_>) -> Result<Node<'_>> {
    let node = reader.value(0).map_err(Error::at_top)?;
    reader.skip_space();
    match reader.bytes.get(reader.at) {
        None => Ok(node),
        Some(b'{' | b'[') => Err(reader
            .fault("there is text behind the value")
            .with_hint("one request a file; a batch is JSON Lines, one request a line, in a file named .jsonl")),
        Some(_) => Err(reader.fault("there is text behind the value")),
    }
}

/// A place in JSON text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The next byte.
    at: usize,
    nodes: usize,
    /// Those of the maps that have begun, one behind the other: each map gets as much memory as it needs.
    entries: Vec<Entry<'a>>,
    most_nodes: usize,
    most_depth: usize,
}

impl<'a> Reader<'a> {
    /// At byte `at` of the text.
    pub fn new(text: &'a str, at: usize) -> Self {
        let (most_nodes, most_depth) = (limits::NODES, limits::DEPTH);
        Reader { text, bytes: text.as_bytes(), at, nodes: 0, entries: Vec::new(), most_nodes, most_depth }
    }

    /// Where it is, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether all of the text has been read.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// How many values have been read.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The next byte that is no white space.
    pub fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.bytes.get(self.at).copied()
    }

    /// Steps over a byte that was seen.
    pub fn step_over(&mut self) {
        self.at += 1;
    }

    /// A value that lies in `depth` lists and maps.
    pub fn value(&mut self, depth: usize) -> Result<Node<'a>> {
        self.skip_space();
        let start = self.at;
        let value = match self.bytes.get(self.at) {
            Some(b'"') => Value::Text(self.string()?),
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        let span = Span { start, end: self.at };
        self.nodes += 1;
        if self.nodes > self.most_nodes {
            return Err(limit_error("too many values in one document", limits::NODES).with_span(span.range()));
        }
        Ok(Node { span, value })
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>> {
        self.open(depth)?;
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Value::List(items));
        }
        loop {
            let item = self.value(depth + 1).map_err(|error| error.inside(format_args!("[{}]", items.len())))?;
            items.push(item);
            if !self.goes_on(b']', "expected `,` or `]`")? {
                return Ok(Value::List(items));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value<'a>> {
        self.open(depth)?;
        if self.closes(b'}') {
            return Ok(Value::Map(Vec::new()));
        }
        let first = self.entries.len();
        loop {
            self.skip_space();
            let start = self.at;
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.fault("a key must be a string in double quotes"));
            }
            let key = self.scanned(Text::scan_json_string)?;
            let key_span = Span { start, end: self.at };
            self.skip_space();
            if self.bytes.get(self.at) != Some(&b':') {
                return Err(self.fault("expected `:`"));
            }
            self.at += 1;
            let value = self.value(depth + 1).map_err(|error| error.inside(Key(&key)))?;
            self.entries.push(Entry { key, key_span, value });
            if !self.goes_on(b'}', "expected `,` or `}`")? {
                break;
            }
        }
        let entries: Vec<_> = self.entries.drain(first..).collect();
        match duplicate_key(&entries) {
            Some(entry) => Err(duplicate_key_error(entry)),
            None => Ok(Value::Map(entries)),
        }
    }

    fn open(&mut self, depth: usize) -> Result<()> {
        if depth >= self.most_depth {
            let error = limit_error("lists and maps are nested too deeply", limits::DEPTH);
            return Err(error.with_span(self.at..self.at + 1));
        }
        self.at += 1;
        Ok(())
    }

    /// Whether an empty list or map ends here.
    fn closes(&mut self, close: u8) -> bool {
        self.skip_space();
        let closes = self.bytes.get(self.at) == Some(&close);
        self.at += usize::from(closes);
        closes
    }

    /// Behind an item: true for a comma with another item behind it, false for the end.
    fn goes_on(&mut self, close: u8, expected: &str) -> Result<bool> {
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b',') => {
                let comma = self.at;
                self.at += 1;
                self.skip_space();
                if matches!(self.bytes.get(self.at), Some(b']' | b'}')) {
                    self.at = comma;
                    return Err(self
                        .fault("there is a comma with nothing behind it")
                        .with_hint("JSON has no comma before a closing bracket"));
                }
                Ok(true)
            }
            Some(byte) if *byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.fault(expected)),
        }
    }

    /// A string; its opening quote is the next byte.
    pub fn string(&mut self) -> Result<Text<'a>> {
        self.scanned(Text::scan_json)
    }

    /// What `scan` makes of a string.
    fn scanned<T>(&mut self, scan: impl Fn(&'a str) -> Result<(T, usize), StringFault>) -> Result<T> {
        let start = self.at + 1;
        let fault = match scan(&self.text[start..]) {
            Ok((text, len)) => {
                self.at = start + len + 1;
                return Ok(text);
            }
            Err(fault) => fault,
        };
        match fault {
            StringFault::Unterminated => {
                self.at = self.bytes.len();
                Err(self.fault("a string has no closing quote"))
            }
            StringFault::Control(at) => {
                self.at = start + at;
                let hint = "in a JSON string a line break is written \\n, a tab \\t, another control character \\u00XX";
                Err(self.fault("a control character stands in a string").with_hint(hint))
            }
            StringFault::Escape(at) => {
                self.at = start + at;
                Err(self
                    .fault("a backslash begins no escape")
                    .with_hint("a backslash in a JSON string is written \\\\"))
            }
            StringFault::Surrogate(at) => {
                Err(Error::new(Code::RequestEncoding, "a lone surrogate stands for no character and has no bytes")
                    .with_hint("write both halves of the pair, or leave the broken character out")
                    .with_span(start + at..start + at + 6))
            }
        }
    }

    fn number(&mut self) -> Result<Value<'a>> {
        let start = self.at;
        self.at += usize::from(self.bytes[self.at] == b'-');
        let first = self.at;
        let whole = self.digits();
        let leading_zero = whole > 1 && self.bytes[first] == b'0';
        let mut complete = whole > 0 && !leading_zero;
        if complete && self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            complete = self.digits() > 0;
        }
        if complete && matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            complete = self.digits() > 0;
        }
        let goes_on =
            self.bytes.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
        if !complete || goes_on {
            self.at = start;
            return Err(self
                .fault("this is no number of JSON")
                .with_hint("JSON knows finite decimal numbers: -12, 0.5, 1e9"));
        }
        Ok(Value::Number(Cow::Borrowed(&self.text[start..self.at])))
    }

    fn digits(&mut self) -> usize {
        let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }

    /// `null`, `true` or `false`; anything else is no value.
    fn word(&mut self) -> Result<Value<'a>> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let value = match &rest[..len] {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return Err(self.fault("expected a value")),
        };
        self.at += len;
        Ok(value)
    }

    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// A syntax error at the next byte, with what people usually meant.
    fn fault(&self, words: &str) -> Error {
        let at = self.at.min(self.text.len());
        let rest = &self.text[at..];
        let hint = if self.text.trim().is_empty() {
            "an empty request is {}"
        } else if rest.trim().is_empty() {
            "the text ends too early: is the file cut short?"
        } else if rest.starts_with(['#', '/']) {
            "JSON has no comments"
        } else if rest.starts_with(['\'', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}']) {
            "JSON strings stand in straight double quotes"
        } else if ["NaN", "Infinity", "None", "True", "False", "undefined"].iter().any(|word| rest.starts_with(word)) {
            "JSON knows true, false, null and finite numbers"
        } else {
            "check the text round this place: a quote, comma or bracket may be missing"
        };
        Error::new(Code::RequestSyntax, format!("invalid JSON: {words}")).with_hint(hint).with_span(at..at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// serde_json takes lone surrogates in a raw value and nests deeper; all else must agree.
    fn agrees(text: &str) {
        let theirs = serde_json::from_str::<&RawValue>(text);
        match (parse(text), theirs) {
            (Ok(node), Ok(raw)) => {
                let value: serde_json::Value = serde_json::from_str(raw.get()).unwrap();
                let ours: serde_json::Value = serde_json::from_str(node.to_json().unwrap().as_str()).unwrap();
                assert_eq!(ours, value, "{text:?}");
            }
            (Err(ours), Err(_)) => assert!(ours.span().is_some(), "{text:?}"),
            (Err(ours), Ok(_)) => {
                let known =
                    matches!(ours.code(), Code::RequestEncoding | Code::RequestLimit | Code::RequestDuplicateKey);
                assert!(known, "{text:?}: {ours}");
            }
            (Ok(_), Err(theirs)) => panic!("{text:?} should be refused: {theirs}"),
        }
    }

    #[test]
    fn the_grammar_is_that_of_serde_json() {
        for text in [
            "",
            " ",
            "{}",
            "[]",
            "null",
            "nul",
            "nulll",
            "true",
            "tru",
            "0",
            "-0",
            "-",
            "01",
            "1.",
            ".5",
            "1.5e",
            "1e5",
            "1E+5",
            "1e-05",
            "+1",
            "0x1",
            "1_0",
            "NaN",
            "-Infinity",
            "\"",
            "\"a",
            "\"a\"b",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12G4\"",
            "\"\\ud83d\"",
            "\"\\ud83d\\ude00\"",
            "\"\t\"",
            "\"\u{7f}\"",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "[1]]",
            "[[1]",
            "{\"a\":{\"b\":[]}}",
            "\u{a0}1",
            "\u{c}1",
            "1 \n\r\t",
            "{\"a\":1}{\"b\":2}",
            "[\"a\",\n\"b\"]",
            "{\"\\u0061\":1,\"a\":2}",
            "// x",
            "'a'",
            "[1}",
            "{]",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn spans_are_those_of_the_text() {
        let text = "{ \"a\" : [ 1 , \"x\\ny\" ] }";
        let node = parse(text).unwrap();
        assert_eq!(&text[node.span.range()], text);
        let list = node.get("a").unwrap();
        assert_eq!(&text[list.span.range()], "[ 1 , \"x\\ny\" ]");
        let Value::List(items) = &list.value else { panic!() };
        assert_eq!(&text[items[1].span.range()], "\"x\\ny\"");
    }

    #[test]
    fn depth_is_limited() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(&deep(limits::DEPTH)).is_ok());
        assert_eq!(parse(&deep(limits::DEPTH + 1)).unwrap_err().code(), Code::RequestLimit);
        assert_eq!(parse(&"[".repeat(1_000_000)).unwrap_err().code(), Code::RequestLimit);
    }

    proptest! {
        #[test]
        fn damaged_documents_are_judged_alike(
            cut in 0usize..60,
            with in proptest::sample::select(vec!["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "e", "u", "\n", "é"]),
            skip in 0usize..3,
        ) {
            let text = r#"{"a": [1, -2.5e3, "x\u00e9\n"], "b": {"c": null, "": true}}"#;
            let cut = (0..=cut.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            let rest = text[cut..].chars().skip(skip).collect::<String>();
            agrees(&format!("{}{with}{rest}", &text[..cut]));
        }
    }
}
