//! Rules of the family cache: what keeps a provider from using again what it has read before.

use super::{Family, Findings, Rule, Severity, Subject, texts};
use crate::context::{Message, Role, Segment};
use crate::diff::classify::{Kind, token_at};

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[VOLATILE_PREFIX];

const VOLATILE_PREFIX: Rule = Rule {
    code: "cache.volatile_prefix",
    severity: Severity::Warning,
    finds: "a date, a clock time, an epoch, an id or a counter of this run in the part of the prompt that should be the same in every run",
    why: "a provider's cache keeps a prompt up to its first changed byte: everything behind such a value is read, and paid for, anew",
    fix: "put it behind what does not change: in the goal, or in the last message; a date alone costs less than a clock time",
    fine: "where it never changes, as in a sample or a version that was written into the prompt; then allow it",
};

/// How far before a value a word is looked for that says what the value is, in characters.
const REACH: usize = 48;
/// Words before a date or a time that say it is that of the run.
const NOW: [&str; 12] = [
    "today",
    "now",
    "current",
    "date:",
    "date is",
    "time:",
    "time is",
    "timestamp",
    "as of",
    "started",
    "generated",
    "updated",
];
/// Words right before an id.
const ID: [&str; 9] = ["request", "session", "run", "trace", "conversation", "thread", "call", "uuid", "nonce"];
/// Words right before a number of seconds since 1970.
const EPOCH: [&str; 7] = ["time", "epoch", "stamp", "now", "ts", "seed", "nonce"];
/// Words right before a number that counts.
const COUNTED: [&str; 7] = ["used", "remaining", "left", "elapsed", "so far", "uptime", "usage"];

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let messages = &subject.context.messages;
    for (index, message) in messages.iter().enumerate().take_while(|(index, _)| is_early(messages, *index)) {
        let mut seen = Seen::default();
        for (_, text) in texts(message) {
            look_at(&text.to_cow(), is_instruction(message), &mut seen);
        }
        let Some((what, line, column)) = seen.first else { continue };
        let more = match seen.count - 1 {
            0 => String::new(),
            more => format!(", and {more} more of the kind"),
        };
        let behind = messages.len() - index - 1;
        let messages = if behind == 1 { "message stands" } else { "messages stand" };
        let told = format!("{what} at line {line}, column {column}{more}; {behind} {messages} behind it");
        findings.add(&VOLATILE_PREFIX, &message.origin, told);
    }
}

/// Whether a message stands in the part that should be the same in every run: prefix and injections of a request, what
/// comes before the first word of a user in a recorded prompt.
fn is_early(messages: &[Message<'_>], index: usize) -> bool {
    match messages[index].origin.segment() {
        Segment::Prefix | Segment::Injections => true,
        Segment::Fragments | Segment::Recorded => is_instruction(&messages[index]),
        Segment::Goal | Segment::Trajectory => false,
    }
}

fn is_instruction(message: &Message<'_>) -> bool {
    matches!(message.role, Role::System | Role::Developer) || matches!(message.origin.segment(), Segment::Injections)
}

#[derive(Default)]
struct Seen {
    count: usize,
    first: Option<(&'static str, usize, usize)>,
}

/// Demonstrations hold the dates of what they show, which never change: outside of instructions a word must say that a
/// value is of now.
fn look_at(text: &str, is_instruction: bool, seen: &mut Seen) {
    for (number, line) in text.lines().enumerate() {
        let mut at = 0;
        while let Some(next) = line.as_bytes()[at..].iter().position(u8::is_ascii_alphanumeric) {
            at += next;
            let Some(token) = token_at(line, at) else {
                at += word_len(&line[at..]);
                continue;
            };
            let value = &line[at..at + token.len];
            if let Some(what) = volatile(value, token.kind, &line[..at], is_instruction) {
                seen.count += 1;
                let column = || line[..at].chars().count() + 1;
                if seen.first.is_none() {
                    seen.first = Some((what, number + 1, column()));
                }
            }
            at += token.len;
        }
    }
}

/// The length of the letters and digits a text begins with.
fn word_len(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_alphanumeric).count().max(1)
}

fn volatile(value: &str, kind: Kind, before: &str, is_instruction: bool) -> Option<&'static str> {
    match kind {
        Kind::Moment => {
            let has_clock = value.contains(':');
            let has_day = value.bytes().filter(u8::is_ascii_digit).count() >= 8;
            let is_of_now = says(before, &NOW, REACH) || is_instruction && has_clock && has_day;
            is_of_now.then_some(if has_clock { "a clock time" } else { "a date" })
        }
        Kind::Id => {
            let is_uuid = value.len() == 36 && value.contains('-');
            (is_uuid && is_instruction || says(before, &ID, 20)).then_some(if is_uuid { "a uuid" } else { "an id" })
        }
        Kind::Number if is_epoch(value) => says(before, &EPOCH, 20).then_some("an epoch"),
        Kind::Number | Kind::Quantity => says_directly(before, &COUNTED).then_some("a counter"),
    }
}

/// Seconds or milliseconds since 1970, of the years 2014 to 2033.
fn is_epoch(value: &str) -> bool {
    let digits = value.split('.').next().unwrap_or(value);
    matches!(digits.len(), 10 | 13) && matches!(digits.as_bytes(), [b'1', b'4'..=b'9', ..])
}

/// Whether one of the words stands in the last characters of a text, in any case, as a word or the start of one.
fn says(before: &str, words: &[&str], reach: usize) -> bool {
    let near = near(before, reach);
    words
        .iter()
        .any(|word| near.match_indices(word).any(|(at, _)| !near[..at].ends_with(|c: char| c.is_ascii_alphabetic())))
}

/// Whether a text ends in one of the words and a colon or an equals sign.
fn says_directly(before: &str, words: &[&str]) -> bool {
    let near = near(before, 20);
    let label = near.trim_end().trim_end_matches(['"', '\'']);
    let Some(label) = label.strip_suffix([':', '=']) else { return false };
    let label = label.trim_end().trim_end_matches(['"', '\'', '*']);
    words.iter().any(|word| label.ends_with(word))
}

fn near(before: &str, reach: usize) -> String {
    let start = before.char_indices().rev().nth(reach - 1).map_or(0, |(at, _)| at);
    before[start..].to_ascii_lowercase()
}
