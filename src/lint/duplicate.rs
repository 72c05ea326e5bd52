//! Rules of the family duplicate: what is said more than once, and what leaves no room for the rest.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::{Family, Findings, Rule, Severity, Subject, texts};
use crate::context::{Block, Origin};
use crate::context::{Content, Message, Role, Segment, ToolInput};

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[PARAGRAPH, MESSAGE, DOMINANT_SOURCE];

const PARAGRAPH: Rule = Rule {
    code: "duplicate.paragraph",
    severity: Severity::Warning,
    finds: "the same paragraph of at least 200 characters in more than one message",
    why: "it is paid for twice, weighs more than it was meant to, and where only one copy is changed later the two contradict each other",
    fix: "say it once, where it holds for all that follows; look for a skill or file that is injected by two ways, or again on every resume",
    fine: "a reminder that is repeated on purpose; what tools print twice, and what a model repeats, is not reported",
};
const MESSAGE: Rule = Rule {
    code: "duplicate.message",
    severity: Severity::Warning,
    finds: "messages in a row with the same role and the same content",
    why: "most often a message was sent again after a failure and kept twice; a model takes it for emphasis or for two requests",
    fix: "keep one of them; where a send is tried again, do not add the message to the history again",
    fine: "in a demonstration of just that",
};
const DOMINANT_SOURCE: Rule = Rule {
    code: "duplicate.dominant_source",
    severity: Severity::Note,
    finds: "one message, instructions apart, that holds more than 80 % of the characters of a prompt of more than 20,000",
    why: "it crowds out the rest: what stands round it is found less often, and a budget is spent on one file or log",
    fix: "keep the part that matters (first error, head and tail, the lines in question) and name where the whole is",
    fine: "where the task is about that one document",
};

/// The shortest paragraph that counts, in characters.
const PARAGRAPH_CHARS: usize = 200;
/// The smallest prompt that a message can dominate, in characters.
const PROMPT_CHARS: u64 = 20_000;

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let messages = &subject.context.messages;
    paragraphs(messages, findings);
    in_a_row(messages, findings);
    dominant(messages, findings);
}

/// A message, and what of it stands again in others.
struct Source<'m> {
    origin: &'m Origin<'m>,
    paragraphs: usize,
    /// The place of the first repeat, and that of the last message that repeats any.
    repeated: Option<(&'m Origin<'m>, usize)>,
    messages: usize,
}

/// One finding a message that is repeated, at the first place where it is.
fn paragraphs(messages: &[Message<'_>], findings: &mut Findings) {
    let mut sources: Vec<Source<'_>> = Vec::new();
    // The message a paragraph was first seen in, by its hash, and whether it was seen again.
    let mut seen: HashMap<u128, (usize, bool)> = HashMap::new();
    for (index, message) in messages.iter().enumerate() {
        sources.push(Source { origin: &message.origin, paragraphs: 0, repeated: None, messages: 0 });
        // What is the same as a whole has a rule of its own.
        if index > 0 && message.same_bytes(&messages[index - 1]) {
            continue;
        }
        for (block, text) in texts(message).filter(|(block, _)| is_written(message, block)) {
            for paragraph in long_paragraphs(&text.to_cow()) {
                let (first, again) = seen.entry(xxh3_128(paragraph.as_bytes())).or_insert((index, false));
                if *first == index {
                    continue;
                }
                let source = &mut sources[*first];
                source.paragraphs += usize::from(!std::mem::replace(again, true));
                let (_, last) = source.repeated.get_or_insert((&block.origin, usize::MAX));
                source.messages += usize::from(std::mem::replace(last, index) != index);
            }
        }
    }
    for source in &sources {
        let Some((first, _)) = source.repeated else { continue };
        let what = match source.paragraphs {
            1 => "a paragraph".to_owned(),
            many => format!("{many} paragraphs"),
        };
        let more = match source.messages - 1 {
            0 => String::new(),
            more => format!(", and in {more} later messages"),
        };
        findings.add(&PARAGRAPH, first, format!("{what} of {} again{more}", source.origin));
    }
}

/// Whether someone wrote it into the prompt: a model may repeat itself, and so may a tool.
fn is_written(message: &Message<'_>, block: &Block<'_>) -> bool {
    let from_outside = matches!(block.origin, Origin::Observation(_) | Origin::ToolCall { .. })
        || matches!(block.content, Content::ToolResult { .. });
    !from_outside && !matches!(message.role, Role::Assistant | Role::Tool)
}

/// The paragraphs that are long enough: what lies between blank lines, without the white space round it.
fn long_paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = 0;
        let mut start = None;
        for line in rest.split_inclusive('\n') {
            let is_blank = line.trim().is_empty();
            match start {
                None if !is_blank => start = Some(end),
                Some(_) if is_blank => break,
                _ => {}
            }
            end += line.len();
        }
        let paragraph = rest[start?..end].trim();
        rest = &rest[end..];
        Some(paragraph)
    })
    .filter(|paragraph| paragraph.len() >= PARAGRAPH_CHARS && paragraph.chars().count() >= PARAGRAPH_CHARS)
}

fn in_a_row(messages: &[Message<'_>], findings: &mut Findings) {
    let mut at = 0;
    while at < messages.len() {
        let first = &messages[at];
        let again = messages[at + 1..].iter().take_while(|message| message.same_bytes(first)).count();
        if again > 0 && !first.blocks.is_empty() {
            let what = format!("the same {} message as {}", first.role, first.origin);
            let message = if again == 1 { what } else { format!("{what}, {again} times in a row") };
            findings.add(&MESSAGE, &messages[at + 1].origin, message);
        }
        at += again + 1;
    }
}

fn dominant(messages: &[Message<'_>], findings: &mut Findings) {
    let sizes: Vec<u64> =
        messages.iter().map(|message| message.blocks.iter().map(|b| chars(&b.content)).sum()).collect();
    let total: u64 = sizes.iter().sum();
    let Some((largest, size)) = sizes.iter().enumerate().max_by_key(|(_, size)| **size) else { return };
    let message = &messages[largest];
    // An agent's own instructions are most of its first prompt.
    let is_own = matches!(message.role, Role::System | Role::Developer) || message.origin.segment() == Segment::Prefix;
    if total > PROMPT_CHARS && u128::from(*size) * 100 > u128::from(total) * 80 && !is_own {
        let share = u128::from(*size) * 100 / u128::from(total);
        let text = format!("{share} % of the prompt: {size} of {total} characters");
        findings.add(&DOMINANT_SOURCE, &message.origin, text);
    }
}

/// The characters that are known; what cannot be measured counts nothing.
fn chars(content: &Content<'_>) -> u64 {
    match content {
        Content::Text(text) | Content::Thinking { text, .. } => text.chars(),
        Content::ToolUse { name, input: ToolInput::Text(text), .. } => name.chars() + text.chars(),
        Content::ToolUse { name, input: ToolInput::Json(json), .. } => {
            name.chars() + json.as_str().chars().count() as u64
        }
        Content::ToolResult { content, .. } => content.iter().map(chars).sum(),
        Content::Image { chars, .. } => chars.unwrap_or(0),
        Content::Opaque { .. } => 0,
    }
}
