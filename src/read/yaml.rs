//! YAML text to nodes: the 1.2 core schema, one document, merge keys, bounded aliases. The only home of YAML parsing.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag};

use super::node::{Entry, Node, Span, Value, duplicate_key, duplicate_key_error, limit_error, limits};
use super::outline::{Outline, StandIns};
use super::plain::Plain;
use crate::context::{Key as PathKey, Store, Text};
use crate::error::{Code, Error, Result};

/// Reads one YAML document.
pub(crate) fn parse(text: &str) -> Result<Node<'_>> {
    compose(text, None)
}

/// Reads the outline of a document. The error of one whose stand-ins are not all block scalars is for nobody to see: it
/// is the document that has to be read then.
pub(super) fn parse_outline<'a>(outline: &'a Outline, store: &'a Store) -> Result<Node<'a>> {
    compose(&outline.text, Some(outline.stand_ins(store)))
}

fn compose<'a>(text: &'a str, stand_ins: Option<StandIns<'a>>) -> Result<Node<'a>> {
    let options = granit_parser::options! {
        // A block scalar that ends at the end of the file without a newline gains none.
        block_scalar_eof_without_line_feed: true,
        flow_nesting_limit: limits::DEPTH,
        block_nesting_limit: limits::DEPTH,
    };
    let mut composer = Composer { stand_ins, ..Composer::new(text) };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax_error(text, &error))?;
        let range = span.byte_range().unwrap_or(text.len()..text.len());
        let tag_start = span.tag_start().and_then(|mark| mark.byte_offset());
        composer.take(event, Span { start: range.start, end: range.end }, tag_start)?;
    }
    composer.finish()
}

struct Composer<'a> {
    text: &'a str,
    stand_ins: Option<StandIns<'a>>,
    open: Vec<Open<'a>>,
    documents: usize,
    root: Option<Node<'a>>,
    /// Anchored nodes that are complete.
    anchors: HashMap<usize, Node<'a>>,
    nodes: usize,
    /// What aliases have added so far.
    alias_bytes: u64,
    alias_nodes: usize,
}

/// A list or a map whose end has not been met yet.
struct Open<'a> {
    span: Span,
    anchor: usize,
    kind: OpenKind<'a>,
}

enum OpenKind<'a> {
    List(Vec<Node<'a>>),
    Map { entries: Vec<Entry<'a>>, key: Option<Key<'a>>, merge: Option<Entry<'a>> },
}

struct Key<'a> {
    text: Cow<'a, str>,
    span: Span,
    is_merge: bool,
}

impl<'a> Composer<'a> {
    fn new(text: &'a str) -> Self {
        Composer {
            text,
            stand_ins: None,
            open: Vec::new(),
            documents: 0,
            root: None,
            anchors: HashMap::new(),
            nodes: 0,
            alias_bytes: 0,
            alias_nodes: 0,
        }
    }

    fn take(&mut self, event: Event<'a>, span: Span, tag_start: Option<usize>) -> Result<()> {
        let tag_span = tag_start.map_or(span, |start| Span { start, end: span.end });
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(syntax("a second document begins here", span)
                        .with_hint("one request a file; a batch is JSON Lines, one request a line"));
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                if let Some(block) = self.stand_ins.as_mut().and_then(|stand_ins| stand_ins.in_span(span)) {
                    let its_style = if block.is_quoted { ScalarStyle::DoubleQuoted } else { ScalarStyle::Literal };
                    let is_value = style == its_style && tag.is_none() && !self.expects_key();
                    let text = self.stand_ins.as_ref().and_then(|stand_ins| stand_ins.text(block, &value, span));
                    let text = text.filter(|_| is_value).ok_or_else(|| syntax("not a block scalar", span))?;
                    if !block.is_quoted {
                        refuse_tab_line(self.text, span)?;
                    }
                    return self.node(Node { span, value: Value::Text(text) }, anchor);
                }
                let plain = style == ScalarStyle::Plain;
                if style == ScalarStyle::DoubleQuoted {
                    refuse_surrogates(self.text, span)?;
                }
                if self.expects_key() {
                    return self.key(value, plain, tag.as_deref(), span, tag_span, anchor);
                }
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    refuse_tab_line(self.text, span)?;
                }
                let value = scalar(value, plain, tag.as_deref(), tag_span)?;
                self.node(Node { span, value }, anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_collection_tag(tag.as_deref(), "seq", tag_span)?;
                self.start(OpenKind::List(Vec::new()), anchor, span)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                check_collection_tag(tag.as_deref(), "map", tag_span)?;
                self.start(OpenKind::Map { entries: Vec::new(), key: None, merge: None }, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(id) => self.alias(id, span)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Node<'a>> {
        let end = self.text.len();
        if self.stand_ins.is_some_and(|stand_ins| !stand_ins.is_over()) {
            return Err(syntax("not a block scalar", Span { start: end, end }));
        }
        self.root.ok_or_else(|| {
            Error::new(Code::RequestType, "the document is empty")
                .with_hint("an empty request is {}")
                .with_span(end..end)
        })
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: OpenKind::Map { key: None, .. }, .. }))
    }

    fn key(
        &mut self,
        value: Cow<'a, str>,
        plain: bool,
        tag: Option<&Tag>,
        span: Span,
        tag_span: Span,
        anchor: usize,
    ) -> Result<()> {
        let is_merge = plain && tag.is_none() && value == "<<";
        let spelling = value.clone();
        let node = Node { span, value: scalar(value, plain, tag, tag_span)? };
        if !matches!(node.value, Value::Text(_)) {
            return Err(node
                .error(Code::RequestType, format!("a key must be a string, not {}", node.kind()))
                .with_hint(format!("quote it: \"{spelling}\"")));
        }
        if anchor != 0 {
            self.remember(anchor, &node)?;
        }
        self.set_key(Key { text: spelling, span, is_merge });
        Ok(())
    }

    fn set_key(&mut self, new: Key<'a>) {
        if let Some(Open { kind: OpenKind::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(new);
        }
    }

    fn start(&mut self, kind: OpenKind<'a>, anchor: usize, span: Span) -> Result<()> {
        if self.expects_key() {
            return Err(
                Error::new(Code::RequestType, "a key must be a string, not a list or a map").with_span(span.range())
            );
        }
        if self.open.len() >= limits::DEPTH {
            return Err(too_deep(span));
        }
        self.open.push(Open { span, anchor, kind });
        Ok(())
    }

    fn end(&mut self, end: Span) -> Result<()> {
        let Some(Open { span, anchor, kind }) = self.open.pop() else { return Ok(()) };
        let value = match kind {
            OpenKind::List(items) => Value::List(items),
            OpenKind::Map { entries, merge, .. } => {
                if let Some(entry) = duplicate_key(&entries) {
                    return Err(self.placed(duplicate_key_error(entry)));
                }
                Value::Map(match merge {
                    Some(merge) => merged(merge, entries)?,
                    None => entries,
                })
            }
        };
        let span = Span { start: span.start, end: end.end.max(span.end) };
        self.node(Node { span, value }, anchor)
    }

    /// Puts the path of what is open before that of an error in it.
    fn placed(&self, error: Error) -> Error {
        let inside = |error: Error, open: &Open<'_>| match &open.kind {
            OpenKind::List(items) => error.inside(format_args!("[{}]", items.len())),
            OpenKind::Map { key: Some(key), .. } => error.inside(PathKey(&key.text)),
            OpenKind::Map { key: None, .. } => error,
        };
        self.open.iter().rev().fold(error, inside).at_top()
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<()> {
        let Some(node) = self.anchors.get(&id) else {
            return Err(syntax("an alias stands inside the very value it refers to", span)
                .with_hint("write the value out: a value cannot contain itself"));
        };
        let node = node.clone();
        self.pay_for(&node, span)?;
        if self.expects_key() {
            let Value::Text(text) = &node.value else {
                return Err(Error::new(Code::RequestType, format!("a key must be a string, not {}", node.kind()))
                    .with_span(span.range()));
            };
            self.set_key(Key { text: Cow::Owned(text.to_string()), span, is_merge: false });
            return Ok(());
        }
        self.node(node, 0)
    }

    fn remember(&mut self, anchor: usize, node: &Node<'a>) -> Result<()> {
        self.pay_for(node, node.span)?;
        self.anchors.insert(anchor, node.clone());
        Ok(())
    }

    /// Counts a copy of a node against the limits for aliases.
    fn pay_for(&mut self, node: &Node<'a>, span: Span) -> Result<()> {
        let (bytes, nodes) = node.weight();
        self.alias_bytes += bytes;
        self.alias_nodes += nodes;
        let error = if self.alias_bytes > limits::ALIAS_BYTES {
            limit_error("anchors and aliases expand to too much text", format_args!("{} bytes", limits::ALIAS_BYTES))
        } else if self.alias_nodes > limits::ALIAS_NODES {
            limit_error("anchors and aliases expand to too many values", limits::ALIAS_NODES)
        } else {
            return Ok(());
        };
        Err(error.with_hint("write the repeated values out").with_span(span.range()))
    }

    /// Puts a complete node where it belongs.
    fn node(&mut self, node: Node<'a>, anchor: usize) -> Result<()> {
        self.nodes += 1;
        if self.nodes > limits::NODES {
            return Err(limit_error("too many values in one document", limits::NODES).with_span(node.span.range()));
        }
        if anchor != 0 {
            self.remember(anchor, &node)?;
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map { entries, key, merge }) => {
                let Some(Key { text, span, is_merge }) = key.take() else { return Ok(()) };
                let entry = Entry { key: text, key_span: span, value: node };
                if !is_merge {
                    entries.push(entry);
                } else if merge.is_some() {
                    return Err(duplicate_key_error(&entry));
                } else {
                    *merge = Some(entry);
                }
            }
        }
        Ok(())
    }
}

/// The entries of a map with a merge key: keys of its own win, then those of the first merged map that has them.
fn merged<'a>(merge: Entry<'a>, own: Vec<Entry<'a>>) -> Result<Vec<Entry<'a>>> {
    let wrong = |node: &Node<'_>| {
        node.error(Code::RequestType, format!("a merge key takes a map or a list of maps, not {}", node.kind()))
            .with_hint("quote the key, \"<<\", if it is meant as text")
    };
    let sources = match merge.value.value {
        Value::List(items) => items,
        _ => vec![merge.value],
    };
    let mut all: Vec<Entry<'a>> = Vec::new();
    let mut seen: std::collections::HashSet<Cow<'a, str>> = own.iter().map(|entry| entry.key.clone()).collect();
    for source in sources {
        let Value::Map(entries) = source.value else { return Err(wrong(&source)) };
        all.extend(entries.into_iter().filter(|entry| seen.insert(entry.key.clone())));
    }
    all.extend(own);
    Ok(all)
}

/// What a scalar is, by its tag or by the core schema (YAML 1.2.2, 10.3.2).
fn scalar<'a>(text: Cow<'a, str>, plain: bool, tag: Option<&Tag>, span: Span) -> Result<Value<'a>> {
    let Some(tag) = tag else {
        return Ok(match Plain::of(&text) {
            _ if !plain => Value::Text(Text::plain(text)),
            Plain::Null => Value::Null,
            Plain::Bool(value) => Value::Bool(value),
            Plain::Int | Plain::Float => Value::Number(text),
            Plain::Text => Value::Text(Text::plain(text)),
        });
    };
    let suffix = tag.core_suffix().ok_or_else(|| unknown_tag(tag, span))?;
    Ok(match (suffix, Plain::of(&text)) {
        ("str", _) => Value::Text(Text::plain(text)),
        ("null", Plain::Null) => Value::Null,
        ("bool", Plain::Bool(value)) => Value::Bool(value),
        ("int", Plain::Int) | ("float", Plain::Float) => Value::Number(text),
        ("float", Plain::Int) => Value::Number(Cow::Owned(format!("{text}.0"))),
        _ => {
            return Err(Error::new(Code::RequestType, format!("{text:?} is no value of the type {tag}"))
                .with_span(span.range()));
        }
    })
}

/// An escape in double quotes is one code point each, so a pair of surrogates is two lone ones; the parser joins them.
fn refuse_surrogates(text: &str, span: Span) -> Result<()> {
    let source = text.get(span.range()).unwrap_or("");
    let mut at = 0;
    while let Some(distance) = memchr::memchr(b'\\', &source.as_bytes()[at..]) {
        at += distance;
        if let [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..] = source.as_bytes()[at..] {
            return Err(Error::new(Code::RequestEncoding, "a lone surrogate stands for no character and has no bytes")
                .with_hint("in YAML a character above U+FFFF is written as itself, or with eight digits: \\U0001F600")
                .with_span(span.start + at..span.start + at + 6));
        }
        at += 2;
    }
    Ok(())
}

/// A line of white space with a tab in its indentation ends a block scalar, and what follows may pass for a comment:
/// text would be lost and nobody would be told.
fn refuse_tab_line(text: &str, span: Span) -> Result<()> {
    // The parser ends a block behind its last line, or in the indentation of the line behind that.
    let end = span.end.min(text.len());
    let mut at = text[..end].rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
    for line in text[at..].split_inclusive(['\n', '\r']) {
        let behind = at + line.len() > end;
        let blank = line.trim_matches([' ', '\t', '\r', '\n']).is_empty();
        if behind && !blank {
            break;
        }
        if behind && line.contains('\t') {
            return Err(syntax(
                "a tab stands where the indentation of a block ends",
                Span { start: at, end: at + line.len() },
            )
            .with_hint("remove it, or indent the line with spaces to the depth of the block"));
        }
        at += line.len();
    }
    Ok(())
}

fn check_collection_tag(tag: Option<&Tag>, expected: &str, span: Span) -> Result<()> {
    match tag {
        Some(tag) if tag.core_suffix() != Some(expected) => Err(unknown_tag(tag, span)),
        _ => Ok(()),
    }
}

fn unknown_tag(tag: &Tag, span: Span) -> Error {
    Error::new(Code::RequestType, format!("the tag {tag} is not understood here"))
        .with_hint("leave the tag out; text that begins with ! is quoted")
        .with_span(span.range())
}

fn syntax(message: &str, span: Span) -> Error {
    Error::new(Code::RequestSyntax, format!("invalid YAML: {message}")).with_span(span.range())
}

fn too_deep(span: Span) -> Error {
    limit_error("lists and maps are nested too deeply", limits::DEPTH).with_span(span.range())
}

/// The parser's words, with what people usually meant.
fn syntax_error(text: &str, error: &ScanError) -> Error {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let span = Span { start: at, end: at + 1 };
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(span);
    }
    let line = &text[text[..at].rfind('\n').map_or(0, |n| n + 1)..];
    let line = line.split('\n').next().unwrap_or("");
    let hint = if line.trim_start_matches(' ').starts_with('\t') {
        "YAML indents with spaces, never with tabs"
    } else if line.trim_start().starts_with(['@', '`', '%']) || text[at..].starts_with(['@', '`', '%', '*', '&']) {
        "quote text that begins with a special character"
    } else if text[..at].ends_with('\\') || text[at..].starts_with('\\') {
        "in double quotes a backslash is written \\\\; in single quotes it stands for itself"
    } else {
        "check indentation and quotes round this place; quote text that holds `: `, ` #` or begins with a special character"
    };
    syntax(&error.info(), span).with_hint(hint)
}
