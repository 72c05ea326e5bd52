//! Summaries are checked, never written: what the replaced parts are known by must be found in them.

use std::collections::HashSet;

use super::candidate::Candidate;
use crate::context::{Content, Text, ToolInput};
use crate::request::{Compaction, Fragment, OriginRange, Outcome, PartOfRequest, Parts, Step, Warning};

/// What a summary does not hold of what it replaces.
#[derive(Clone, Debug)]
pub struct Lost<'r> {
    /// The summary's place in the request.
    pub index: usize,
    /// The summary.
    pub fragment: &'r Fragment<'r>,
    /// What is lost, in the order in which it was said.
    pub identifiers: Vec<Identifier>,
    /// The replaced ranges that this request does not hold: nothing can be said of them.
    pub unchecked: Vec<&'r OriginRange<'r>>,
}

/// Something that a part is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identifier {
    /// `call_id`, `hash`, `path` or `kept`, which is what the summary itself is told to keep.
    pub kind: &'static str,
    /// As it was written.
    pub text: String,
}

/// What each summary has lost, and the same in words.
pub(super) fn check<'r>(candidates: &[Candidate<'r>], parts: &'r Parts<'r>) -> (Vec<Lost<'r>>, Vec<Warning>) {
    let (mut all, mut warnings) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let Some(compaction) = &candidate.fragment.compaction else { continue };
        let lost = lost(candidate, compaction, parts);
        let mut warn = |code, message| warnings.push(Warning { code, path: candidate.path(), message });
        for Identifier { kind, text } in &lost.identifiers {
            warn("compaction.lost", format!("the summary does not hold the {} {text:?}", kind.replace('_', " ")));
        }
        for range in &lost.unchecked {
            warn("compaction.unchecked", format!("{range} is not in this request: what of it is lost is not known"));
        }
        if !lost.identifiers.is_empty() || !lost.unchecked.is_empty() {
            all.push(lost);
        }
    }
    (all, warnings)
}

fn lost<'r>(candidate: &Candidate<'r>, compaction: &'r Compaction<'r>, parts: &'r Parts<'r>) -> Lost<'r> {
    let mut found = Found::default();
    let mut unchecked = Vec::new();
    for range in &compaction.replaces {
        if !found.range(range, parts) {
            unchecked.push(range);
        }
    }
    for kept in &compaction.summary_of.keep {
        found.add("kept", &kept.to_cow());
    }
    let mut summary = String::new();
    let said = compaction.summary_of.statements.iter().flat_map(|(_, of_field)| of_field);
    for text in texts(candidate.fragment).into_iter().chain(said.map(|statement| &statement.text)) {
        summary.extend(text.chunks());
        summary.push('\n');
    }
    let words: HashSet<&str> = words(&summary).collect();
    let is_lost = |it: &Identifier| !words.contains(&*it.text) && !holds(&summary, &it.text);
    let identifiers = found.identifiers.into_iter().filter(is_lost).collect();
    Lost { index: candidate.index, fragment: candidate.fragment, identifiers, unchecked }
}

fn texts<'r>(fragment: &'r Fragment<'r>) -> Vec<&'r Text<'r>> {
    let mut texts = Vec::new();
    crate::request::each_text(fragment.content().unwrap_or_default(), &mut |text| texts.push(text));
    texts
}

/// Whether a text holds a word that does not go on at either end.
fn holds(text: &str, word: &str) -> bool {
    let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !goes_on(text[..at].chars().next_back()) && !goes_on(text[at + word.len()..].chars().next()))
}

/// The identifiers found so far, each once.
#[derive(Default)]
struct Found {
    identifiers: Vec<Identifier>,
    seen: HashSet<Identifier>,
}

impl Found {
    fn add(&mut self, kind: &'static str, text: &str) {
        let identifier = Identifier { kind, text: text.to_owned() };
        if !text.is_empty() && self.seen.insert(identifier.clone()) {
            self.identifiers.push(identifier);
        }
    }

    /// Looks through a range; false where the request does not hold all of it.
    fn range(&mut self, range: &OriginRange<'_>, parts: &Parts<'_>) -> bool {
        let items = range.items.clone();
        match &range.part {
            PartOfRequest::Prefix => self.each(parts.prefix.get(items), |found, it| found.content(&it.content)),
            PartOfRequest::Goal => self.each(parts.goal.get(items), |found, it| found.content(&it.content)),
            PartOfRequest::Injections(channel) => {
                let entries = parts.injections.get(channel).and_then(|entries| entries.get(items));
                self.each(entries, |found, it| found.content(&it.content))
            }
            PartOfRequest::Fragments => self.each(parts.fragments.get(items), |found, it| {
                found.content(it.content().unwrap_or_default());
            }),
            PartOfRequest::Trajectory => self.each(parts.trajectory.get(items), |found, it| found.step(it, parts)),
        }
    }

    fn each<T>(&mut self, items: Option<&[T]>, mut look: impl FnMut(&mut Self, &T)) -> bool {
        items.into_iter().flatten().for_each(|item| look(self, item));
        items.is_some()
    }

    fn step(&mut self, step: &Step<'_>, parts: &Parts<'_>) {
        self.text(&step.raw_output);
        match &step.outcome {
            Outcome::Observation(text) => self.text(text),
            Outcome::Synthetic(name) => parts.synthetic_observations.get(name).into_iter().for_each(|it| self.text(it)),
            Outcome::ToolCalls(calls) => {
                for call in calls {
                    self.add("call_id", &call.id.to_cow());
                    self.input(&call.input);
                    self.content(call.result.as_deref().unwrap_or_default());
                }
            }
        }
        step.fields.values().for_each(|text| self.text(text));
    }

    fn content(&mut self, content: &[Content<'_>]) {
        for block in content {
            match block {
                Content::Text(text) | Content::Thinking { text, .. } => self.text(text),
                Content::ToolUse { id, input, .. } => {
                    self.add("call_id", &id.to_cow());
                    self.input(input);
                }
                Content::ToolResult { tool_use_id, content, .. } => {
                    self.add("call_id", &tool_use_id.to_cow());
                    self.content(content);
                }
                Content::Image { .. } | Content::Opaque { .. } => {}
            }
        }
    }

    fn input(&mut self, input: &ToolInput<'_>) {
        match input {
            ToolInput::Text(text) => self.text(text),
            ToolInput::Json(json) => self.plain(json.as_str()),
        }
    }

    fn text(&mut self, text: &Text<'_>) {
        self.plain(&text.to_cow());
    }

    fn plain(&mut self, text: &str) {
        for word in words(text) {
            if is_hash(word) {
                self.add("hash", word);
            } else if is_path(word) {
                self.add("path", word);
            }
        }
    }
}

/// The words of a text, as names and paths are made of them, without the marks of the sentence round them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./~@:+%#=".contains(c);
    let words = text.split(move |c: char| !is_part(c));
    words
        .map(|word| word.trim_end_matches(['.', ':', '-', '=']).trim_start_matches([':', '=']))
        .filter(|word| !word.is_empty())
}

/// Seven hex digits or more, digits and letters among them; a name of the algorithm may stand before them.
fn is_hash(word: &str) -> bool {
    let hex = word.rsplit_once([':', '@']).map_or(word, |(_, hex)| hex);
    let digits = hex.bytes().filter(u8::is_ascii_digit).count();
    hex.len() >= 7 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) && (1..hex.len()).contains(&digits)
}

/// A path or an address: it begins like one, ends in a name with an ending, or has two slashes.
fn is_path(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').collect();
    let [first, .., last] = parts[..] else { return false };
    let has_names = parts.iter().filter(|part| part.chars().any(char::is_alphanumeric)).count();
    let has_ending = last.split_once('.').is_some_and(|(_, ending)| !ending.is_empty());
    has_names > 0 && (["", ".", "..", "~"].contains(&first) || has_ending || (parts.len() > 2 && has_names > 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, String)> {
        let mut found = Found::default();
        found.plain(text);
        found.identifiers.into_iter().map(|it| (it.kind, it.text)).collect()
    }

    #[test]
    fn identifiers_are_told_from_words() {
        let text =
            "See src/auth.ts (commit 9a2f41c), /etc/hosts; sha256:00ffee11. And/or: defaced 1234567, \"./run\", 和/或.";
        let expected = [
            ("path", "src/auth.ts"),
            ("hash", "9a2f41c"),
            ("path", "/etc/hosts"),
            ("hash", "sha256:00ffee11"),
            ("path", "./run"),
        ];
        assert_eq!(found(text), expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn a_word_is_held_whole() {
        assert!(holds("call call_1.", "call_1"));
        assert!(!holds("call call_12", "call_1"));
        assert!(holds("(a b)", "a b"));
    }
}
