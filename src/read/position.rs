//! From a path, or a place inside a decoded text, back to the place in the document.

use std::ops::Range;

use super::node::{Node, Span, Value};
use crate::context::Key;
use crate::error::{Error, Position};

/// Gives an error of a rule between parts the place of the part that breaks it. A range the error has is one in the
/// text of that part.
pub(crate) fn place(error: Error, root: &Node<'_>, source: &str) -> Error {
    let path = error.path().unwrap_or_default();
    let Found { node, key_span, exact } = find(root, path);
    let range = match (error.span(), key_span) {
        _ if !exact => node.span.start..node.span.start + 1,
        (_, Some(key)) if error.is_at_key() => key.range(),
        (Some(inner), _) => in_source(node, source, &inner).unwrap_or(node.span.range()),
        (None, _) => node.span.range(),
    };
    error.with_span(range)
}

/// The node at a path, or the innermost one on the way to it.
struct Found<'n, 'a> {
    node: &'n Node<'a>,
    /// Where its key stands, if it has one.
    key_span: Option<Span>,
    exact: bool,
}

fn find<'n, 'a>(node: &'n Node<'a>, path: &str) -> Found<'n, 'a> {
    let mut found = Found { node, key_span: None, exact: true };
    let mut rest = path;
    while !rest.is_empty() {
        let next = match &found.node.value {
            Value::Map(entries) => entries.iter().find_map(|entry| {
                let key = Key(&entry.key).to_string();
                let behind = rest.strip_prefix(&key).or_else(|| rest.strip_prefix(key.strip_prefix('.')?));
                let behind = behind.filter(|behind| behind.is_empty() || behind.starts_with(['.', '[']))?;
                Some((&entry.value, Some(entry.key_span), behind))
            }),
            Value::List(items) => index_at(rest).and_then(|(index, behind)| Some((items.get(index)?, None, behind))),
            _ => None,
        };
        let Some((node, key_span, behind)) = next else {
            found.exact = false;
            return found;
        };
        found = Found { node, key_span, exact: true };
        rest = behind;
    }
    found
}

/// The index that a path begins with, and what stands behind it.
fn index_at(path: &str) -> Option<(usize, &str)> {
    let (index, behind) = path.strip_prefix('[')?.split_once(']')?;
    index.parse().ok().map(|index| (index, behind))
}

/// Where the parts at some paths stand, or the innermost on the way to them, each as line and column; nothing for a path
/// that leads nowhere.
pub(crate) fn positions(root: &Node<'_>, source: &str, paths: &[String]) -> Vec<Option<Position>> {
    // A list of messages is what the body under that name holds.
    let is_list = matches!(root.value, Value::List(_));
    let inside = |path: &'_ String| match path.strip_prefix("messages") {
        Some(rest) if is_list => rest.to_owned(),
        _ => path.clone(),
    };
    let places = paths.iter().enumerate().map(|(at, path)| (at, find(root, &inside(path)).node));
    let mut starts: Vec<(usize, usize)> =
        places.filter(|(_, node)| !std::ptr::eq(*node, root)).map(|(at, node)| (node.span.start, at)).collect();
    starts.sort_unstable();
    let mut positions = vec![None; paths.len()];
    let (mut from, mut position) = (0, Position { line: 1, column: 1 });
    for (start, at) in starts {
        for character in source[from..start].chars() {
            match character {
                '\n' => position = Position { line: position.line + 1, column: 1 },
                _ => position.column += 1,
            }
        }
        from = start;
        positions[at] = Some(position);
    }
    positions
}

/// Where a range of a decoded text stands in the source. `None` where the two do not run side by side: a folded
/// scalar has no single place for a position in it.
fn in_source(node: &Node<'_>, source: &str, inner: &Range<usize>) -> Option<Range<usize>> {
    let Value::Text(text) = &node.value else { return None };
    let text = text.to_cow();
    let Span { start, end } = node.span;
    let literal = source.get(start..end)?;
    let quoted = match literal.as_bytes() {
        [quote @ (b'"' | b'\''), .., last] if quote == last => Some((*quote, &literal[1..literal.len() - 1])),
        _ => None,
    };
    // A block may begin with a quote too: what is quoted is spelled by its inside to the very end.
    let is_spelled_by = |(quote, body): &(u8, &str)| {
        Walk { quote: *quote, body, at: 0, indent: 0 }.advance(&text, 0, text.len()) == Some(body.len())
    };
    let (quote, body) = quoted.filter(is_spelled_by).unwrap_or((b' ', literal));
    let body_start = start + usize::from(quote != b' ');
    // What a block scalar is indented by stands before its first character too.
    let line = &source[..start];
    let indent = line.len() - line.trim_end_matches(' ').len();
    let mut walk = Walk { quote, body, at: 0, indent };
    let from = walk.advance(&text, 0, inner.start)?;
    let to = walk.advance(&text, inner.start, inner.end)?;
    Some(body_start + from..body_start + to.max(from + 1))
}

/// Walks a decoded text and its spelling side by side.
struct Walk<'s> {
    quote: u8,
    body: &'s str,
    at: usize,
    /// Spaces before each line that do not belong to the text.
    indent: usize,
}

impl Walk<'_> {
    /// Goes on from one place in the decoded text to another; the place in the spelling before the latter.
    fn advance(&mut self, text: &str, from: usize, to: usize) -> Option<usize> {
        for character in text.get(from..to)?.chars() {
            self.step(character)?;
        }
        if self.quote == b' ' {
            self.skip_indent();
        }
        Some(self.at)
    }

    fn step(&mut self, character: char) -> Option<()> {
        let rest = &self.body[self.at..];
        self.at += match (self.quote, rest.as_bytes().first()?) {
            (b'"', b'\\') => match rest.as_bytes().get(1)? {
                b'x' => 4,
                b'u' if character as u32 > 0xffff => 12,
                b'u' => 6,
                b'U' => 10,
                _ => 2,
            },
            (b'\'', b'\'') => 2,
            _ => {
                if self.quote == b' ' {
                    self.skip_indent();
                }
                let rest = &self.body[self.at..];
                match character {
                    '\n' if rest.starts_with("\r\n") => 2,
                    '\n' if rest.starts_with('\r') => 1,
                    // A block scalar is said to begin at its first line that is not empty.
                    '\n' if self.at == 0 && !rest.starts_with('\n') => 0,
                    _ => rest.starts_with(character).then_some(character.len_utf8())?,
                }
            }
        };
        (self.at <= self.body.len() && self.body.is_char_boundary(self.at)).then_some(())
    }

    /// At the start of a line, what a block scalar is indented by; a blank line may have less.
    fn skip_indent(&mut self) {
        if self.body[..self.at].ends_with(['\n', '\r']) {
            let rest = self.body[self.at..].bytes();
            self.at += rest.take(self.indent).take_while(|byte| *byte == b' ').count();
        }
    }
}
