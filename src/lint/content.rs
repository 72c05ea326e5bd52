//! Rules of the family content: what is empty, cut, or speaks of what is not there.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use xxhash_rust::xxh3::xxh3_128;

use super::{Family, Findings, Rule, Severity, Subject, texts};
use crate::context::{Block, Content, Message, Origin, Role, ToolInput};
use crate::request::Outcome;

pub(super) const FAMILY: Family = Family { rules: RULES, find };

const RULES: &[Rule] = &[EMPTY_BLOCK, TRAILING_WHITESPACE, BROKEN_FENCE, BROKEN_JSON, DANGLING_REFERENCE];

const EMPTY_BLOCK: Rule = Rule {
    code: "content.empty_block",
    severity: Severity::Warning,
    finds: "a text block without a character, or with white space only, and a message without any block",
    why: "some providers refuse the whole request for it, at every later call too, and some drop the message, so that roles no longer alternate",
    fix: "leave the block or the message out, or say what there is to say (`no output`)",
    fine: "where the provider takes it and an empty answer is what there was",
};
const TRAILING_WHITESPACE: Rule = Rule {
    code: "content.trailing_whitespace",
    severity: Severity::Warning,
    finds: "a last message, of the assistant, whose text ends in white space",
    why: "the model is to go on from there: some providers refuse it, and others go on from a token that is unlikely after it, and answer worse",
    fix: "take the white space off the end of that text",
    fine: "where a chat template takes it off, or a user message follows when it is sent",
};
const BROKEN_FENCE: Rule = Rule {
    code: "content.broken_fence",
    severity: Severity::Warning,
    finds: "a code fence that is opened in a text and not closed",
    why: "all that follows in the text reads as code, instructions included; most often the text was cut in the middle",
    fix: "cut at the end of a fence, or close it and say what was cut",
    fine: "where a stop sequence ends an answer at its closing fence and the parser knows",
};
const BROKEN_JSON: Rule = Rule {
    code: "content.broken_json",
    severity: Severity::Warning,
    finds: "a result, or a fenced block of json, that begins as JSON and is cut",
    why: "what is missing cannot be told from what was never there, and whatever parses it fails",
    fix: "cut between the members of a list or the lines of a log, keep the value whole, and say how much was left out",
    fine: "where the agent itself asked for a part of a file",
};
const DANGLING_REFERENCE: Rule = Rule {
    code: "content.dangling_reference",
    severity: Severity::Warning,
    finds: "words that point at something earlier (`unchanged since last read`, `see above`) where no such thing is in the prompt",
    why: "what was pointed at has been evicted or was never sent: the model guesses, or asks for it again and gets the same answer",
    fix: "give the content again where the earlier one is no longer in the prompt; forget what was read when history is cut",
    fine: "where the words are quoted, or point at something a person knows of",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let messages = &subject.context.messages;
    let mut earlier = Earlier::default();
    for (index, message) in messages.iter().enumerate() {
        empty_blocks(message, findings);
        for (block, text) in texts(message) {
            let text = text.to_cow();
            let whole = whole_result(subject, message, block, &text);
            fences(block, &text, findings);
            if let Some(whole) = &whole
                && let Some(line) = cut_json(whole, true)
            {
                findings.add(&BROKEN_JSON, &block.origin, format!("JSON is cut at line {line} of the result"));
            }
            earlier.look_at(message, block, &text, whole.is_some(), findings);
        }
        earlier.answer(message);
        points_before_the_start(messages, index, findings);
    }
    trailing_whitespace(messages, findings);
}

/// A text that came back from the environment, without the frame round it where that is known.
fn whole_result<'t>(
    subject: &'t Subject<'_>,
    message: &Message<'_>,
    block: &Block<'_>,
    text: &'t str,
) -> Option<Cow<'t, str>> {
    if let (Origin::Observation(step), Some(request)) = (&block.origin, subject.request) {
        return match &request.parts().trajectory.get(*step)?.outcome {
            Outcome::Observation(text) => Some(text.to_cow()),
            _ => Some(Cow::Borrowed(text)),
        };
    }
    let is_result = matches!(block.content, Content::ToolResult { .. }) || message.role == Role::Tool;
    is_result.then_some(Cow::Borrowed(text))
}

fn empty_blocks(message: &Message<'_>, findings: &mut Findings) {
    if message.blocks.is_empty() {
        findings.add(&EMPTY_BLOCK, &message.origin, format!("the {} message holds no block", message.role));
    }
    for block in &message.blocks {
        let Some(text) = block.content.as_text() else { continue };
        if text.chunks().all(|chunk| chunk.trim().is_empty()) {
            let what = if text.is_empty() { "is empty" } else { "holds white space only" };
            findings.add(&EMPTY_BLOCK, &block.origin, format!("the text of this {} block {what}", message.role));
        }
    }
}

fn trailing_whitespace(messages: &[Message<'_>], findings: &mut Findings) {
    let Some(last) = messages.last().filter(|message| message.role == Role::Assistant) else { return };
    let Some((block, text)) = last.blocks.last().and_then(|block| Some((block, block.content.as_text()?))) else {
        return;
    };
    let text = text.to_cow();
    let kept = text.trim_end();
    if !kept.is_empty() && kept.len() < text.len() {
        let count = text[kept.len()..].chars().count();
        let characters = if count == 1 { "character" } else { "characters" };
        let message = format!("the last message ends in {count} {characters} of white space");
        findings.add(&TRAILING_WHITESPACE, &block.origin, message);
    }
}

/// A fence that is open: its mark, how often it stands there, its line counted from 1, and where its inside begins.
struct Fence<'t> {
    mark: char,
    len: usize,
    line: usize,
    info: &'t str,
    inside: usize,
}

/// Fences left open, and blocks of json that are cut, in a text.
fn fences(block: &Block<'_>, text: &str, findings: &mut Findings) {
    let (mut open, mut cut): (Option<Fence<'_>>, Vec<usize>) = (None, Vec::new());
    let mut end = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = end;
        end += line.len();
        let Some((mark, len, info)) = fence(line) else { continue };
        match &open {
            None => open = Some(Fence { mark, len, line: index + 1, info, inside: end }),
            Some(fence) if fence.mark == mark && len >= fence.len && info.is_empty() => {
                let is_json = fence.info.eq_ignore_ascii_case("json");
                if is_json && let Some(line) = cut_json(&text[fence.inside..start], false) {
                    cut.push(fence.line + line);
                }
                open = None;
            }
            // A fence inside a fence is text.
            Some(_) => {}
        }
    }
    if let Some(line) = cut.first() {
        let more = match cut.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more blocks"),
        };
        findings.add(&BROKEN_JSON, &block.origin, format!("a fenced block of json is cut at line {line}{more}"));
    }
    if let Some(fence) = open.filter(|fence| is_odd(text, fence.mark)) {
        let message = format!("the fence that is opened at line {} is not closed", fence.line);
        findings.add(&BROKEN_FENCE, &block.origin, message);
    }
}

/// The mark, its count and the words behind it, of a line that opens or closes a fence.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let body = line.trim_start_matches(' ');
    let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = body.trim_start_matches(mark);
    let len = body.len() - info.len();
    let info = info.trim();
    (len >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, len, info))
}

/// Whether fences cannot all be in pairs, wherever they stand: a fence in a fence, and one closed behind text, are.
fn is_odd(text: &str, mark: char) -> bool {
    let (mut count, mut run) = (0, 0);
    for character in text.chars().chain(['\0']) {
        if character == mark {
            run += 1;
            continue;
        }
        count += usize::from(run >= 3);
        run = 0;
    }
    count % 2 == 1
}

/// What a text says where a part of it was left out.
const CUTS: [&str; 8] = ["truncated", "truncation", "omitted", "elided", "clipped", "[...", "...", "…"];

/// How far behind the place where JSON breaks off such words are looked for, in characters.
const CUT_CHARS: usize = 64;

fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// The line, from 1, at which a text that begins as JSON ends too early, or says that a part is left out if such words
/// count.
fn cut_json(text: &str, words_count: bool) -> Option<usize> {
    let body = text.trim_start();
    let next = |open: char| body.strip_prefix(open).and_then(|rest| rest.trim_start().chars().next());
    let begins = next('{') == Some('"') || matches!(next('['), Some('{' | '[' | '"'));
    if !begins {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let error = values.find_map(std::result::Result::err)?;
    let is_cut = match error.classify() {
        Category::Eof => true,
        Category::Syntax if words_count => {
            let start: usize = text.split_inclusive('\n').take(error.line() - 1).map(str::len).sum();
            // A column counts bytes, and may lie behind the end of its line.
            let at = (0..=start + error.column().saturating_sub(1)).rev().find(|at| text.is_char_boundary(*at));
            let near = first_chars(&text[at.unwrap_or_default()..], CUT_CHARS);
            CUTS.iter().any(|word| near.contains(word))
        }
        _ => false,
    };
    is_cut.then(|| error.line().max(1))
}

/// What a result says in place of what was returned before, in lower case.
const STANDS_FOR_EARLIER: [&str; 10] = [
    "unchanged since",
    "file unchanged",
    "not changed since",
    "no changes since",
    "same as the previous",
    "same as previous",
    "identical to the previous",
    "identical to previous",
    "same output as before",
    "already in context",
];
/// What says so is short.
const STAND_IN_BYTES: usize = 600;

/// What was asked for and returned so far.
#[derive(Default)]
struct Earlier {
    /// The calls by their id, the last one of an id counting: their hash and the paths in them.
    calls: HashMap<u128, (u128, Vec<u128>)>,
    /// What the assistant said last, for agents that call in plain words.
    said: (u128, Vec<u128>),
    /// Calls, and paths of calls, that have been answered with content.
    answered: HashSet<u128>,
}

impl Earlier {
    /// Remembers what a message asks for.
    fn answer(&mut self, message: &Message<'_>) {
        for block in &message.blocks {
            match &block.content {
                Content::ToolUse { id, name, input } => {
                    let input = match input {
                        ToolInput::Json(json) => Cow::Borrowed(json.as_str()),
                        ToolInput::Text(text) => text.to_cow(),
                    };
                    let call = xxh3_128(format!("{name}\0{input}").as_bytes());
                    self.calls.insert(xxh3_128(id.to_cow().as_bytes()), (call, paths(&input).collect()));
                }
                Content::Text(text) if message.role == Role::Assistant => {
                    let text = text.to_cow();
                    self.said = (xxh3_128(text.trim().as_bytes()), paths(&text).collect());
                }
                _ => {}
            }
        }
    }

    /// Finds a result that stands for an earlier one which is not there, and remembers any other.
    fn look_at(
        &mut self,
        message: &Message<'_>,
        block: &Block<'_>,
        text: &str,
        is_result: bool,
        findings: &mut Findings,
    ) {
        if !is_result {
            // Results of agents that call in plain words are messages of the user.
            if message.role == Role::User && !self.answered.contains(&self.said.0) {
                self.answered.extend(self.said.1.iter().copied().chain([self.said.0]));
            }
            return;
        }
        let (call, paths_of_call) = match &block.content {
            Content::ToolResult { tool_use_id, .. } => match self.calls.get(&xxh3_128(tool_use_id.to_cow().as_bytes()))
            {
                Some(call) => call,
                None => return,
            },
            _ => &self.said,
        };
        let stands_in = (text.len() <= STAND_IN_BYTES).then(|| text.to_ascii_lowercase()).and_then(|lower| {
            STANDS_FOR_EARLIER.into_iter().find(|words| memmem::find(lower.as_bytes(), words.as_bytes()).is_some())
        });
        let Some(words) = stands_in else {
            if !self.answered.contains(call) {
                self.answered.extend(paths_of_call.iter().copied().chain([*call]));
            }
            return;
        };
        let is_known = |hash: &u128| self.answered.contains(hash);
        if !is_known(call) && !paths_of_call.iter().any(is_known) && !paths(text).any(|path| is_known(&path)) {
            let message = format!("`{words}` stands for an earlier result, and there is none of this call before it");
            findings.add(&DANGLING_REFERENCE, &block.origin, message);
        }
    }
}

/// Hashes of the words of a text that may be paths or names of files.
fn paths(text: &str) -> impl Iterator<Item = u128> + '_ {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~');
    text.split(move |c: char| !is_part(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.len() >= 3 && word.trim_start_matches('.').contains(['/', '.']))
        .map(|word| xxh3_128(word.as_bytes()))
}

/// Words that point at what stands before a text, in lower case.
const ABOVE: [&str; 7] = [
    "see above",
    "as shown above",
    "as described above",
    "as mentioned above",
    "the output above",
    "the above output",
    "the code above",
];
/// Words that point at an earlier part of a conversation.
const BEFORE: [&str; 8] = [
    "as shown earlier",
    "as discussed earlier",
    "as mentioned earlier",
    "as we discussed",
    "earlier in this conversation",
    "in my previous message",
    "in our previous conversation",
    "where we left off",
];
/// How far into a text nothing of it can be meant, in characters.
const OPENING_CHARS: usize = 400;

/// Words in the opening of a first message that point at what would have to stand before it.
fn points_before_the_start(messages: &[Message<'_>], index: usize, findings: &mut Findings) {
    let message = &messages[index];
    let is_instruction = |message: &Message<'_>| matches!(message.role, Role::System | Role::Developer);
    if !messages[..index].iter().take(8).all(is_instruction) || index >= 8 {
        return;
    }
    let Some((block, text)) = texts(message).next() else { return };
    let text = text.to_cow();
    let opening = first_chars(&text, OPENING_CHARS);
    let opening = opening.split("\n\n").next().unwrap_or_default().to_ascii_lowercase();
    let above = ABOVE.iter().filter(|_| index == 0);
    let before = BEFORE.iter().filter(|_| !is_instruction(message));
    if let Some(words) = above.chain(before).find(|words| opening.contains(**words)) {
        let message = format!("`{}` points at something before it, and there is nothing", words);
        findings.add(&DANGLING_REFERENCE, &block.origin, message);
    }
}
