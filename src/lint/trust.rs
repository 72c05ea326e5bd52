//! Rules of the family trust: text from outside that speaks as if it came from inside.

use std::collections::BTreeSet;
use std::collections::HashSet;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_128;

use super::{Family, Findings, Rule, Severity, Subject, texts};
use crate::context::{Block, Content, Message, Origin, Role, Text};
use crate::request::{Outcome, RunRequest};

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[FRAME_CLOSER, ROLE_MARKER, EXTERNAL_INSTRUCTION];

const FRAME_CLOSER: Rule = Rule {
    code: "trust.frame_closer",
    severity: Severity::Warning,
    finds: "an observation, or a text in a pair of tags, that holds the words its frame is closed by",
    why: "to the model the frame ends there: what follows in the observation reads as if the loop, or the user, had said it",
    fix: "take a frame whose end cannot occur inside (a longer fence, a tag with an id of the run), or escape the words where the observation is kept",
    fine: "where the text only shows such words, as a Markdown file in a fence, and nothing behind them could be taken for an instruction",
};
const ROLE_MARKER: Rule = Rule {
    code: "trust.role_marker",
    severity: Severity::Warning,
    finds: "a role marker of a chat template in what a user, a tool or the environment said",
    why: "a template pastes text between such markers: a server that does not escape them reads the text as a message of another role",
    fix: "break the marker up where the text enters, or make sure that the tokenizer takes it as plain text (no special tokens in content)",
    fine: "where the text is about chat templates, and the server is known to escape",
};
const EXTERNAL_INSTRUCTION: Rule = Rule {
    code: "trust.external_instruction",
    severity: Severity::Warning,
    finds: "a late system or developer message that holds what a tool returned, or a result that says it is a system message",
    why: "text from outside is data whatever it says; in an instruction role, or believed to be one, it can change what the agent may do",
    fix: "give tool output back in a tool or user message; look at where a result that gives orders came from before the run goes on",
    fine: "where a runtime quotes a result it has checked, or a page that is read is about prompts",
};

/// Markers that common templates put round messages.
const MARKERS: [&str; 24] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|im_sep|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool|>",
    "<|end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|begin_of_text|>",
    "<|channel|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|END_OF_TURN_TOKEN|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "[INST]",
    "[/INST]",
    "\n\nHuman:",
    "\n\nAssistant:",
];

/// What a text says that gives itself out for an instruction, in lower case: at the start of a line, and anywhere.
const LINE_STARTS: [&str; 6] =
    ["system:", "[system]", "<system>", "system message:", "[system message]", "system prompt:"];
const ORDERS: [&str; 6] = [
    "ignore all previous instructions",
    "ignore previous instructions",
    "ignore all prior instructions",
    "ignore the above instructions",
    "disregard all previous instructions",
    "disregard previous instructions",
];

/// The shortest line that shows that a text was taken from another, in bytes.
const LINE_BYTES: usize = 80;

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let messages = &subject.context.messages;
    let closer = subject.request.and_then(closer);
    let markers = markers(subject.chat_template);
    for message in messages {
        let is_instruction = matches!(message.role, Role::System | Role::Developer | Role::Assistant);
        for (block, text) in texts(message).filter(|(block, _)| !is_instruction || is_result(message, block)) {
            let text = text.to_cow();
            let observed = subject.request.and_then(|request| observed(request, block));
            match closer.as_deref().zip(observed) {
                Some((closer, observed)) => inside_frame(block, closer, &observed.to_cow(), findings),
                None => inside_tags(block, &text, findings),
            }
            role_markers(block, &text, &markers, findings);
            if is_result(message, block) {
                gives_orders(block, &text, findings);
            }
        }
    }
    late_instructions(messages, findings);
}

/// What the observation template puts behind an observation, up to its next field; nothing where that is too little to
/// be known again.
fn closer(request: &RunRequest<'_>) -> Option<String> {
    const FIELD: &str = "\0";
    let fields = request.parts().observation_fields.iter().map(|_| Text::plain(FIELD));
    let arguments: Vec<Text<'_>> = std::iter::once(Text::default()).chain(fields).collect();
    let closing = request.template()?.closing(&arguments);
    let closer = closing.split(FIELD).next().unwrap_or_default().trim();
    (closer.chars().count() >= 3).then(|| closer.to_owned())
}

/// The observation a block was made of, as the request has it.
fn observed<'r>(request: &'r RunRequest<'_>, block: &Block<'_>) -> Option<&'r Text<'r>> {
    let Origin::Observation(step) = block.origin else { return None };
    match &request.parts().trajectory.get(step)?.outcome {
        Outcome::Observation(text) => Some(text),
        Outcome::Synthetic(name) => request.parts().synthetic_observations.get(name),
        Outcome::ToolCalls(_) => None,
    }
}

fn inside_frame(block: &Block<'_>, closer: &str, text: &str, findings: &mut Findings) {
    // A fence is closed at the start of a line only.
    let is_fence = closer.starts_with("```") || closer.starts_with("~~~");
    let starts_line =
        |at: usize| matches!(text[..at].trim_end_matches([' ', '\t']).chars().next_back(), None | Some('\n'));
    let places = memmem::find_iter(text.as_bytes(), closer).filter(|at| !is_fence || starts_line(*at));
    tell(&FRAME_CLOSER, block, text, places, "what closes the frame round it", findings);
}

/// A text that is one pair of tags from end to end, with more closing tags than opening ones.
fn inside_tags(block: &Block<'_>, text: &str, findings: &mut Findings) {
    let whole = text.trim();
    let Some(rest) = whole.strip_prefix('<') else { return };
    let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    let (name, after) = rest.split_at(len);
    let closing = format!("</{name}>");
    if name.is_empty() || !after.starts_with(['>', ' ']) || !whole.ends_with(&closing) {
        return;
    }
    let opening = format!("<{name}");
    let opened = memmem::find_iter(text.as_bytes(), &opening)
        .filter(|at| text[at + opening.len()..].starts_with(['>', ' ', '\n', '/']))
        .count();
    let closed = memmem::find_iter(text.as_bytes(), &closing).count();
    if closed > opened {
        let places = memmem::find_iter(text.as_bytes(), &closing).take(closed - opened);
        tell(&FRAME_CLOSER, block, text, places, "the end of the pair of tags round it", findings);
    }
}

/// The markers that are known, and those that the source of a template names.
fn markers(chat_template: Option<&str>) -> BTreeSet<&str> {
    let mut markers: BTreeSet<&str> = MARKERS.into_iter().collect();
    let source = chat_template.unwrap_or_default();
    for at in memmem::find_iter(source.as_bytes(), "<|") {
        let rest = &source[at..];
        let inside = rest[2..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(rest.len(), |end| end + 2);
        if inside > 2 && rest[inside..].starts_with("|>") {
            markers.insert(&rest[..inside + 2]);
        }
    }
    markers
}

fn role_markers(block: &Block<'_>, text: &str, markers: &BTreeSet<&str>, findings: &mut Findings) {
    let mut places: Vec<usize> =
        markers.iter().flat_map(|marker| memmem::find_iter(text.as_bytes(), *marker)).collect();
    places.sort_unstable();
    tell(&ROLE_MARKER, block, text, places.into_iter(), "a role marker", findings);
}

fn gives_orders(block: &Block<'_>, text: &str, findings: &mut Findings) {
    let lower = text.to_ascii_lowercase();
    let starts = lower.split_inclusive('\n').scan(0, |end, line| {
        let start = *end + (line.len() - line.trim_start().len());
        *end += line.len();
        Some((start, line.trim_start()))
    });
    let starts = starts.filter(|(_, line)| LINE_STARTS.iter().any(|start| line.starts_with(start))).map(|(at, _)| at);
    let mut places: Vec<usize> = starts.collect();
    places.extend(ORDERS.iter().flat_map(|order| memmem::find_iter(lower.as_bytes(), *order)));
    places.sort_unstable();
    tell(&EXTERNAL_INSTRUCTION, block, text, places.into_iter(), "what gives itself out for an instruction", findings);
}

/// System and developer messages after the first answer that hold results, or long lines of them.
fn late_instructions(messages: &[Message<'_>], findings: &mut Findings) {
    let begun = messages.iter().position(|message| matches!(message.role, Role::Assistant | Role::Tool));
    let late = begun.map_or(&messages[..0], |begun| &messages[begun..]);
    let is_instruction = |message: &&Message<'_>| matches!(message.role, Role::System | Role::Developer);
    if !late.iter().any(|message| is_instruction(&message)) {
        return;
    }
    let mut returned = HashSet::new();
    for message in late {
        if is_instruction(&message) {
            let holds_result = message.blocks.iter().any(|block| is_result(message, block));
            let quotes = || texts(message).any(|(_, text)| lines(&text.to_cow()).any(|line| returned.contains(&line)));
            if holds_result || quotes() {
                let text =
                    format!("a {} message after the conversation began holds what a tool returned", message.role);
                findings.add(&EXTERNAL_INSTRUCTION, &message.origin, text);
            }
            continue;
        }
        for (_, text) in texts(message).filter(|(block, _)| is_result(message, block)) {
            returned.extend(lines(&text.to_cow()));
        }
    }
}

/// Hashes of the lines that are long enough.
fn lines(text: &str) -> impl Iterator<Item = u128> + '_ {
    text.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES).map(|line| xxh3_128(line.as_bytes()))
}

/// Whether a block is what the environment gave back.
fn is_result(message: &Message<'_>, block: &Block<'_>) -> bool {
    matches!(block.content, Content::ToolResult { .. })
        || matches!(block.origin, Origin::Observation(_))
        || message.role == Role::Tool
}

/// Adds a finding with the first of the places in a text and how many there are, if there is one.
fn tell(
    rule: &'static Rule,
    block: &Block<'_>,
    text: &str,
    mut places: impl Iterator<Item = usize>,
    what: &str,
    findings: &mut Findings,
) {
    let Some(at) = places.next() else { return };
    let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1;
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let column = text[start..at].chars().count() + 1;
    let more = match places.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    findings.add(rule, &block.origin, format!("{what} at line {line}, column {column} of the text{more}"));
}
