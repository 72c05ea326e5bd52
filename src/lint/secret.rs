//! Rules of the family secret: text that looks like a key. What it is and where it stands is told, never any of it.

use memchr::memmem;

use super::{Family, Findings, Rule, Severity, Subject};
use crate::context::{Content, Text, ToolInput};

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[KEY];

const KEY: Rule = Rule {
    code: "secret.key",
    severity: Severity::Error,
    finds: "text in the shape of a key: tokens of well-known services, private keys, bearer tokens",
    why: "a prompt is sent, logged, cached and kept as a golden: a key in it is out, and a model may repeat it",
    fix: "take the key out where it enters and put a name in its place; then revoke it, for it has been sent",
    fine: "a made-up key of an example, or one that was revoked",
};

/// A shape of key: what it begins with, the characters that follow and how many of them at least.
struct Shape {
    kind: &'static str,
    start: &'static str,
    follows: fn(u8) -> bool,
    at_least: usize,
}

const fn shape(kind: &'static str, start: &'static str, follows: fn(u8) -> bool, at_least: usize) -> Shape {
    Shape { kind, start, follows, at_least }
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn token(byte: u8) -> bool {
    word(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~')
}

const SHAPES: [Shape; 21] = [
    shape("an API key (sk-)", "sk-", word, 20),
    shape("a secret payment key", "sk_live_", alphanumeric, 20),
    shape("a restricted payment key", "rk_live_", alphanumeric, 20),
    shape("a GitHub token", "ghp_", alphanumeric, 36),
    shape("a GitHub token", "gho_", alphanumeric, 36),
    shape("a GitHub token", "ghu_", alphanumeric, 36),
    shape("a GitHub token", "ghs_", alphanumeric, 36),
    shape("a GitHub token", "ghr_", alphanumeric, 36),
    shape("a GitHub token", "github_pat_", word, 40),
    shape("a GitLab token", "glpat-", word, 20),
    shape("an AWS access key id", "AKIA", upper, 16),
    shape("an AWS access key id", "ASIA", upper, 16),
    shape("a Slack token", "xoxb-", word, 20),
    shape("a Slack token", "xoxp-", word, 20),
    shape("a Slack token", "xoxa-", word, 20),
    shape("a Slack token", "xoxs-", word, 20),
    shape("a Google API key", "AIza", word, 35),
    shape("a Hugging Face token", "hf_", alphanumeric, 30),
    shape("an npm token", "npm_", alphanumeric, 36),
    shape("a SendGrid key", "SG.", token, 60),
    shape("a bearer token", "Bearer ", token, 24),
];

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    for block in subject.context.messages.iter().flat_map(|message| &message.blocks) {
        let mut keys = Keys::default();
        look_into(&block.content, &mut keys);
        let Some((kind, line, column)) = keys.first else { continue };
        let more = match keys.count - 1 {
            0 => String::new(),
            more => format!(", and {more} more of some kind"),
        };
        findings.add(&KEY, &block.origin, format!("what looks like {kind} at line {line}, column {column}{more}"));
    }
}

/// Words of a finding, without what looks like a key: ids and names may be one too.
pub(super) fn masked(words: String) -> String {
    let mut masked = words;
    for shape in &SHAPES {
        loop {
            let first = of_shape(&masked, shape).next();
            let Some((at, kind)) = first else { break };
            let start = at + shape.start.len();
            let len = masked.as_bytes()[start..].iter().take_while(|byte| (shape.follows)(**byte)).count();
            masked.replace_range(at..start + len, &format!("[{kind}]"));
        }
    }
    masked
}

#[derive(Default)]
struct Keys {
    count: usize,
    first: Option<(&'static str, usize, usize)>,
}

fn look_into(content: &Content<'_>, keys: &mut Keys) {
    let mut text = |text: &Text<'_>| look_at(&text.to_cow(), keys);
    match content {
        Content::Text(of) | Content::Thinking { text: of, .. } => text(of),
        Content::ToolUse { input: ToolInput::Text(of), .. } => text(of),
        Content::ToolUse { input: ToolInput::Json(json), .. } => look_at(json.as_str(), keys),
        Content::Opaque { value, .. } => look_at(value.as_str(), keys),
        Content::ToolResult { content, .. } => content.iter().for_each(|content| look_into(content, keys)),
        // A picture is base64: any shape may occur in it.
        Content::Image { .. } => {}
    }
}

fn look_at(text: &str, keys: &mut Keys) {
    let mut found: Vec<(usize, &'static str)> = SHAPES.iter().flat_map(|shape| of_shape(text, shape)).collect();
    found.extend(private_keys(text).map(|at| (at, "a private key")));
    found.sort_unstable();
    // A bearer token may be a key of another shape.
    found.dedup_by(|later, earlier| later.0 - earlier.0 <= "Bearer ".len());
    keys.count += found.len();
    if let (None, Some((at, kind))) = (keys.first, found.first()) {
        let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..*at]).count() + 1;
        let start = text[..*at].rfind('\n').map_or(0, |end| end + 1);
        keys.first = Some((kind, line, text[start..*at].chars().count() + 1));
    }
}

fn of_shape<'t>(text: &'t str, shape: &'t Shape) -> impl Iterator<Item = (usize, &'static str)> + 't {
    let bytes = text.as_bytes();
    let places = memmem::find_iter(bytes, shape.start).filter(|at| starts_word(&bytes[..*at]));
    places.filter_map(move |at| {
        let rest = &bytes[at + shape.start.len()..];
        // What is longer than any key is no key, and need not be walked to its end.
        let len = rest.iter().take(LONGEST).take_while(|byte| (shape.follows)(**byte)).count();
        (len >= shape.at_least && looks_random(&rest[..len])).then_some((at, shape.kind))
    })
}

/// Whether a word may start behind these bytes; the letter of an escape such as `\n` is part of none.
fn starts_word(before: &[u8]) -> bool {
    !before.last().is_some_and(|byte| word(*byte)) || matches!(before, [.., b'\\', b'n' | b't' | b'r'])
}

const LONGEST: usize = 4096;

/// Whether characters look drawn at random: a digit and a letter, many different ones, and nothing that says "sample".
fn looks_random(key: &[u8]) -> bool {
    let mut counts = [0u32; 256];
    key.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let len = key.len() as f64;
    let share = |count: &u32| f64::from(*count) / len;
    let bits: f64 = counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum();
    let says_sample = ["EXAMPLE", "example", "your", "YOUR", "xxxx", "XXXX"];
    let is_sample = says_sample.iter().any(|word| memmem::find(key, word.as_bytes()).is_some());
    bits >= 3.0 && key.iter().any(u8::is_ascii_digit) && key.iter().any(u8::is_ascii_alphabetic) && !is_sample
}

/// The places of PEM headers of private keys that have a body behind them.
fn private_keys(text: &str) -> impl Iterator<Item = usize> + '_ {
    memmem::find_iter(text.as_bytes(), "-----BEGIN ").filter(|at| {
        let rest = &text[at + "-----BEGIN ".len()..];
        let Some(end) = rest.as_bytes()[..rest.len().min(64)].windows(5).position(|window| window == b"-----") else {
            return false;
        };
        let body = rest[end + 5..].trim_start_matches(['\r', '\n', '\\', 'n', 'r']);
        rest[..end].ends_with("PRIVATE KEY") && body.bytes().take_while(|byte| token(*byte)).take(16).count() == 16
    })
}
