//! How far two canonical streams agree, and where in the messages they part.

use crate::context::{Content, Context, Message, Text, equal_start};

/// What the canonical streams of both sides begin with: what a provider's prefix cache could keep.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SharedPrefix {
    /// Common leading bytes.
    pub bytes: u64,
    /// Whole messages in them.
    pub messages: usize,
    /// The bytes' share of the first side, 0 to 1; of an empty stream, 1.
    pub of_a: f64,
    /// The bytes' share of the second side, 0 to 1.
    pub of_b: f64,
}

/// Where two contexts part.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FirstDifference {
    /// The message, counted from 0; `None` where the tools differ.
    pub message: Option<usize>,
    /// The block in the message, counted from 0; `None` where a side has ended or only the role differs.
    pub block: Option<usize>,
    /// Bytes of UTF-8 before the first differing character of the block's text.
    pub byte: Option<u64>,
    /// Characters before it.
    pub char: Option<u64>,
    /// Its line in the block's text, counted from 1.
    pub line: Option<u64>,
    /// Its column in that line, counted from 1 in characters.
    pub column: Option<u64>,
    /// Where the first side's message or block came from; `None` where that side has ended.
    pub origin_a: Option<String>,
    /// Where the second side's came from.
    pub origin_b: Option<String>,
}

/// Walks both sides message by message; memory is that of one message's canonical bytes a side.
pub(super) fn locate(
    a: &Context<'_>,
    b: &Context<'_>,
    bytes_a: u64,
    bytes_b: u64,
) -> (SharedPrefix, Option<FirstDifference>) {
    let mut shared = 0u64;
    let (mut line_a, mut line_b) = (Vec::new(), Vec::new());
    a.write_tools(&mut line_a).expect("a vector takes every write");
    b.write_tools(&mut line_b).expect("a vector takes every write");
    let prefix = |bytes: u64, messages: usize| SharedPrefix {
        bytes,
        messages,
        of_a: share(bytes, bytes_a),
        of_b: share(bytes, bytes_b),
    };
    if line_a != line_b {
        // Where one side has no tools its first message lies against the other's tools.
        if line_a.is_empty() {
            first_line(a, &mut line_a);
        } else if line_b.is_empty() {
            first_line(b, &mut line_b);
        }
        let difference = FirstDifference {
            origin_a: (!a.tools.is_empty()).then(|| "tools".to_owned()),
            origin_b: (!b.tools.is_empty()).then(|| "tools".to_owned()),
            ..FirstDifference::in_message(None)
        };
        return (prefix(common(&line_a, &line_b), 0), Some(difference));
    }
    shared += line_a.len() as u64;
    for (index, (message_a, message_b)) in a.messages.iter().zip(&b.messages).enumerate() {
        if !message_a.same_bytes(message_b) {
            line_a.clear();
            line_b.clear();
            message_a.write_canonical(&mut line_a).expect("a vector takes every write");
            message_b.write_canonical(&mut line_b).expect("a vector takes every write");
            let bytes = shared + common(&line_a, &line_b);
            return (prefix(bytes, index), Some(in_messages(index, message_a, message_b)));
        }
        shared += message_a.canonical_len();
    }
    let both = a.messages.len().min(b.messages.len());
    let difference = (a.messages.len() != b.messages.len()).then(|| FirstDifference {
        origin_a: a.messages.get(both).map(|message| message.origin.to_string()),
        origin_b: b.messages.get(both).map(|message| message.origin.to_string()),
        ..FirstDifference::in_message(Some(both))
    });
    (prefix(shared, both), difference)
}

impl FirstDifference {
    /// A difference of which no more is known than the message.
    pub(crate) fn in_message(message: Option<usize>) -> Self {
        FirstDifference {
            message,
            block: None,
            byte: None,
            char: None,
            line: None,
            column: None,
            origin_a: None,
            origin_b: None,
        }
    }
}

/// Two messages at the same place that are not equal.
fn in_messages(index: usize, a: &Message<'_>, b: &Message<'_>) -> FirstDifference {
    let origins = FirstDifference {
        origin_a: Some(a.origin.to_string()),
        origin_b: Some(b.origin.to_string()),
        ..FirstDifference::in_message(Some(index))
    };
    let blocks = a.blocks.len().max(b.blocks.len());
    let differs = |&n: &usize| match (a.blocks.get(n), b.blocks.get(n)) {
        (Some(a), Some(b)) => canonical(&a.content) != canonical(&b.content),
        _ => true,
    };
    let Some(block) = (0..blocks).find(differs) else { return origins };
    let origin = |message: &Message<'_>| Some(message.blocks.get(block)?.origin.to_string());
    let mut difference = FirstDifference { block: Some(block), origin_a: origin(a), origin_b: origin(b), ..origins };
    if let (Some(a), Some(b)) = (a.blocks.get(block), b.blocks.get(block))
        && let (Some(a), Some(b)) = (text_of(&a.content), text_of(&b.content))
    {
        in_texts(a, b, &mut difference);
    }
    difference
}

fn in_texts(a: &Text<'_>, b: &Text<'_>, difference: &mut FirstDifference) {
    let (a, b) = (a.to_cow(), b.to_cow());
    let mut at = common(a.as_bytes(), b.as_bytes()) as usize;
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    let before = &a[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    difference.byte = Some(at as u64);
    difference.char = Some(before.chars().count() as u64);
    difference.line = Some(before.matches('\n').count() as u64 + 1);
    difference.column = Some(before[line_start..].chars().count() as u64 + 1);
}

fn text_of<'c, 'a>(content: &'c Content<'a>) -> Option<&'c Text<'a>> {
    match content {
        Content::Text(text) | Content::Thinking { text, .. } => Some(text),
        _ => None,
    }
}

fn canonical(content: &Content<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    content.write_canonical(&mut bytes).expect("a vector takes every write");
    bytes
}

fn first_line(context: &Context<'_>, line: &mut Vec<u8>) {
    if let Some(message) = context.messages.first() {
        message.write_canonical(line).expect("a vector takes every write");
    }
}

fn common(a: &[u8], b: &[u8]) -> u64 {
    equal_start(a, b) as u64
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
