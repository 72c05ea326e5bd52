//! Summaries are checked, never written: what the replaced parts are known by must be found in them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

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
    /// The replaced ranges that this request does not hold, or that are too much to look through: nothing can be said of
    /// them.
    pub unchecked: Vec<OriginRange<'r>>,
}

/// Something that a part is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identifier {
    /// `call_id`, `hash`, `path` or `kept`, which is what the summary itself is told to keep.
    pub kind: &'static str,
    /// As it was written.
    pub text: String,
}

/// So much of what is replaced is looked through, for all summaries together: each may stand for all of the request.
const MOST_BYTES: u64 = 256 << 20;

/// What each summary has lost, and the same in words.
pub(super) fn check<'r>(candidates: &[Candidate<'r>], parts: &'r Parts<'r>) -> (Vec<Lost<'r>>, Vec<Warning>) {
    let (mut all, mut warnings) = (Vec::new(), Vec::new());
    let mut left = MOST_BYTES;
    for candidate in candidates {
        let Some(compaction) = &candidate.fragment.compaction else { continue };
        let lost = lost(candidate, compaction, parts, &mut left);
        let mut warn = |code, message| warnings.push(Warning { code, path: candidate.path(), message });
        for Identifier { kind, text } in &lost.identifiers {
            warn("compaction.lost", format!("the summary does not hold the {} {text:?}", kind.replace('_', " ")));
        }
        for range in &lost.unchecked {
            let why = match left {
                0 => format!("the summaries stand for more than {} MiB in all", MOST_BYTES >> 20),
                _ => "it is not in this request".to_owned(),
            };
            warn("compaction.unchecked", format!("what of {range} is lost is not known: {why}"));
        }
        if !lost.identifiers.is_empty() || !lost.unchecked.is_empty() {
            all.push(lost);
        }
    }
    (all, warnings)
}

fn lost<'r>(
    candidate: &Candidate<'r>,
    compaction: &'r Compaction<'r>,
    parts: &'r Parts<'r>,
    left: &mut u64,
) -> Lost<'r> {
    let mut found = Found { left: *left, ..Found::default() };
    let mut unchecked = Vec::new();
    for range in merged(&compaction.replaces) {
        if !found.range(&range, parts) {
            unchecked.push(range);
        }
    }
    *left = found.left;
    for kept in &compaction.summary_of.keep {
        found.add("kept", &kept.to_cow());
    }
    let mut summary = String::new();
    let said = compaction.summary_of.statements.iter().flat_map(|(_, of_field)| of_field);
    for text in texts(candidate.fragment).into_iter().chain(said.map(|statement| &statement.text)) {
        summary.extend(text.chunks());
        summary.push('\n');
    }
    let summary = Said::new(&summary);
    let identifiers = found.identifiers.into_iter().filter(|it| !summary.holds(&it.text)).collect();
    Lost { index: candidate.index, fragment: candidate.fragment, identifiers, unchecked }
}

/// The same stretches, none of which is part of another, in the order in which they are named.
fn merged<'r>(ranges: &[OriginRange<'r>]) -> Vec<OriginRange<'r>> {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    let place = |at: &usize| (&ranges[*at].part, ranges[*at].items.start, Reverse(ranges[*at].items.end));
    order.sort_by(|a, b| place(a).cmp(&place(b)));
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let within = |last: &usize| {
            let last = &ranges[*last];
            last.part == ranges[at].part && ranges[at].items.end <= last.items.end
        };
        if !kept.last().is_some_and(within) {
            kept.push(at);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|at| ranges[at].clone()).collect()
}

fn texts<'r>(fragment: &'r Fragment<'r>) -> Vec<&'r Text<'r>> {
    let mut texts = Vec::new();
    crate::request::each_text(fragment.content().unwrap_or_default(), &mut |text| texts.push(text));
    texts
}

/// A text in which many words are looked for.
struct Said<'t> {
    text: &'t str,
    /// Where each stretch of letters and digits stands.
    runs: HashMap<&'t str, Vec<usize>>,
}

impl<'t> Said<'t> {
    fn new(text: &'t str) -> Self {
        let mut all: HashMap<&'t str, Vec<usize>> = HashMap::new();
        runs(text).for_each(|(at, run)| all.entry(run).or_default().push(at));
        Said { text, runs: all }
    }

    /// Whether it holds a word that does not go on at either end.
    fn holds(&self, word: &str) -> bool {
        let is_here = |at: usize| {
            let (before, rest) = self.text.split_at(at);
            let behind = rest.strip_prefix(word);
            behind.is_some_and(|behind| !before.ends_with(goes_on) && !behind.starts_with(goes_on))
        };
        // All stretches of the word would have to be there: the one that is seldom says where.
        let places = runs(word).map(|(at, run)| (at, self.runs.get(run).map_or(&[][..], Vec::as_slice)));
        match places.min_by_key(|(_, places)| places.len()) {
            Some((at, places)) => places
                .iter()
                .filter_map(|place| place.checked_sub(at).filter(|start| self.text.is_char_boundary(*start)))
                .any(is_here),
            None => self.text.match_indices(word).any(|(at, _)| is_here(at)),
        }
    }
}

fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The stretches of what goes on, and where they begin.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(|c| !goes_on(c)).filter_map(move |piece| {
        let start = at;
        at += piece.len();
        let run = piece.trim_end_matches(|c| !goes_on(c));
        (!run.is_empty()).then_some((start, run))
    })
}

/// The identifiers found so far, each once.
#[derive(Default)]
struct Found {
    identifiers: Vec<Identifier>,
    seen: HashSet<Identifier>,
    /// How many bytes may yet be looked through.
    left: u64,
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
        for item in items.into_iter().flatten() {
            look(self, item);
            if self.left == 0 {
                return false;
            }
        }
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
        // An empty text is a step of the way as well.
        self.left = self.left.saturating_sub(text.len() as u64 + 16);
        if self.left == 0 {
            return;
        }
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
    if word.len() < 7 {
        return false;
    }
    let hex = word.rsplit_once([':', '@']).map_or(word, |(_, hex)| hex);
    let digits = hex.bytes().filter(u8::is_ascii_digit).count();
    hex.len() >= 7 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) && (1..hex.len()).contains(&digits)
}

/// A path or an address: it begins like one, ends in a name with an ending, or has two slashes.
fn is_path(word: &str) -> bool {
    if !word.contains('/') {
        return false;
    }
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
        let mut found = Found { left: MOST_BYTES, ..Found::default() };
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
    fn so_much_is_looked_through_and_no_more() {
        let items = ["src/a.rs", "src/b.rs", "src/c.rs"];
        let look = |left| {
            let mut found = Found { left, ..Found::default() };
            let is_all = found.each(Some(&items[..]), |found, text| found.plain(text));
            (is_all, found.identifiers.len())
        };
        assert_eq!(look(1000), (true, 3));
        assert_eq!(look(60), (false, 2));
        assert_eq!(look(0), (false, 0));
    }

    #[test]
    fn stretches_within_others_are_looked_through_once() {
        let ranges = ["trajectory[2:4]", "goal[0]", "trajectory[0:9]", "trajectory[0:9]", "trajectory[8:12]"];
        let ranges: Vec<OriginRange<'_>> = ranges.iter().map(|it| OriginRange::parse(*it).unwrap()).collect();
        let merged: Vec<String> = merged(&ranges).iter().map(ToString::to_string).collect();
        assert_eq!(merged, ["goal[0]", "trajectory[0:9]", "trajectory[8:12]"]);
    }

    #[test]
    fn a_word_is_held_whole() {
        let holds = |text: &str, word: &str| Said::new(text).holds(word);
        assert!(holds("call call_1.", "call_1"));
        assert!(!holds("call call_12", "call_1"));
        assert!(holds("(a b)", "a b"));
        assert!(holds("é-1 a:b/1", "b/1") && !holds("é-1 a:b/12", "b/1"));
        assert!(holds("a -- b", "--") && !holds("a--b", "--"));
        assert!(holds("x/a x/b", "x/b") && !holds("x/a y/b", "x/b"));
    }
}
