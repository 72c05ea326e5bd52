//! A query, understood: the words it asks for, what has to stand together, and how much each of it counts.

use regex::{Regex, RegexBuilder};

use super::stem::{stem, stem_start};
use super::words::{Class, Kind, Run, fold, folded, is_boundary, next_boundary, runs};
use crate::error::{Code, Error, Result};

/// How the text of a query is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// As words, of which any may be found; quoted ones stand together and have to be found.
    #[default]
    Words,
    /// As it stands, its letters in any case.
    Substring,
    /// As a regular expression of the crate `regex`, `^` and `$` at lines; letters in the case written, unless it begins
    /// with `(?i)`.
    Regex,
}

/// A query that has been understood.
#[derive(Clone, Debug)]
pub struct Question {
    pub(super) terms: Vec<Term>,
    pub(super) literals: Vec<Literal>,
    /// Where a term may stand: whatever this finds begins with the first letters of one.
    pub(super) starts: Option<Regex>,
}

/// A word, or two characters of spaceless text, and how much it counts.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub what: What,
    pub weight: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    Word {
        /// Folded, as it was written.
        written: String,
        /// Folded, as another style of names writes it: `checkauth` for `check_auth` and the other way round.
        other: Option<String>,
        /// What inflected forms of it have in common.
        stem: Option<String>,
        /// What all of these begin with.
        start: String,
    },
    /// One or two characters, and whether the query's own text begins or ends with them.
    Gram { text: Vec<char>, begins: bool, ends: bool },
}

/// Text that is looked for as it stands.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub pattern: Regex,
    /// Whether it begins and ends where words do.
    pub whole: bool,
    /// Whether a message without it is no result.
    pub required: bool,
    /// The terms that are found wherever it is.
    pub terms: Vec<usize>,
    pub weight: f64,
}

impl Question {
    /// The longest query in characters.
    pub const MAX_CHARS: usize = 2_000;

    /// Understands a query.
    ///
    /// # Errors
    /// `usage.arguments` for one without anything to look for, one that is too long, and for a regular expression that is
    /// none.
    pub fn new(text: &str, how: How) -> Result<Question> {
        let chars = text.chars().count();
        if chars > Self::MAX_CHARS {
            return Err(unusable(format!("a query of {chars} characters is too long"))
                .with_hint(format!("polyloop's limit is {}", Self::MAX_CHARS)));
        }
        if text.trim().is_empty() && how == How::Words || text.is_empty() {
            return Err(unusable("the query is empty").with_hint("write what to look for, such as \"login timeout\""));
        }
        match how {
            How::Words => Ok(Question::of_words(text)),
            How::Substring => Question::of_pattern(&regex::escape(text), true),
            How::Regex => Question::of_pattern(text, false),
        }
    }

    fn of_pattern(pattern: &str, any_case: bool) -> Result<Question> {
        let pattern = RegexBuilder::new(pattern).case_insensitive(any_case).multi_line(true).build();
        let pattern = pattern.map_err(|error| {
            let reason = match &error {
                regex::Error::CompiledTooBig(limit) => format!("it takes more than {limit} bytes"),
                other => last_line(&other.to_string()),
            };
            unusable(format!("the regular expression cannot be used: {reason}"))
                .with_hint("look for text as it stands with --substring")
        })?;
        let literal = Literal { pattern, whole: false, required: true, terms: Vec::new(), weight: 1.0 };
        Ok(Question { terms: Vec::new(), literals: vec![literal], starts: None })
    }

    fn of_words(text: &str) -> Question {
        let mut terms = Terms::default();
        let mut literals = Vec::new();
        for part in parts(text) {
            let (text, required) = match part {
                Part::Phrase(text) => (text, true),
                Part::Chunk(text) => (trimmed(text).to_owned(), false),
            };
            // The words of a phrase count by the phrase alone.
            let of_words = terms.add(&text, if required { 0.0 } else { 1.0 });
            if required || is_compound(&text) {
                literals.extend(Literal::of(&text, required, of_words));
            }
        }
        if terms.list.is_empty() && literals.is_empty() {
            // Nothing but punctuation: it is looked for as it stands.
            literals.extend(Literal::of(text.trim(), true, Vec::new()));
        }
        let starts = terms.starts();
        Question { terms: terms.list, literals, starts }
    }
}

fn unusable(message: impl Into<String>) -> Error {
    Error::new(Code::UsageArguments, message)
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[derive(Debug, PartialEq)]
enum Part<'t> {
    /// What stood in quotes.
    Phrase(String),
    /// What stood between spaces.
    Chunk(&'t str),
}

/// The parts of a query: `"` or `“` begin a phrase where it is closed; `\"` is a quote in it.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let closing = match first {
            '"' => Some('"'),
            '“' => Some('”'),
            _ => None,
        };
        if let Some((phrase, len)) = closing.and_then(|closing| phrase(&text[at + first.len_utf8()..], closing)) {
            at += first.len_utf8() + len;
            if !phrase.trim().is_empty() {
                parts.push(Part::Phrase(phrase));
            }
            continue;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let ends = |(offset, character): (usize, char)| {
            offset > 0 && (character.is_whitespace() || character == '“' || character == '"')
        };
        let len = rest.char_indices().find(|found| ends(*found)).map_or(rest.len(), |(offset, _)| offset);
        parts.push(Part::Chunk(&rest[..len]));
        at += len;
    }
    parts
}

/// The text up to the closing quote, and the length up to behind it.
fn phrase(rest: &str, closing: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut characters = rest.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == closing {
            return Some((text, at + closing.len_utf8()));
        }
        match rest[at + character.len_utf8()..].chars().next() {
            Some(next) if character == '\\' && (next == closing || next == '\\') => {
                characters.next();
                text.push(next);
            }
            _ => text.push(character),
        }
    }
    None
}

/// A chunk without the punctuation of the sentence it stood in.
fn trimmed(chunk: &str) -> &str {
    let is_of_sentence =
        |character: char| ".,;:!?()[]{}<>'\"“”‘’…、。，；：！？（）「」『』【】《》".contains(character);
    let inner = chunk.trim_matches(is_of_sentence);
    // Punctuation alone may be what is looked for.
    if runs(inner).next().is_none() { chunk } else { inner }
}

/// Whether there is more in a chunk than one word: a path, a version, an operator.
fn is_compound(chunk: &str) -> bool {
    runs(chunk).next().is_none_or(|(_, _, run)| run.len() < chunk.len()) && !chunk.is_empty()
}

impl Literal {
    /// Spaces in it stand for any spaces.
    fn of(text: &str, required: bool, terms: Vec<usize>) -> Option<Literal> {
        // Unicode's folding makes an ASCII pattern slower.
        let word = |word: &str| {
            let flags = if word.is_ascii() { "i-u" } else { "i" };
            format!("(?{flags}:{})", regex::escape(word))
        };
        let words: Vec<String> = text.split_whitespace().map(word).collect();
        let pattern = Regex::new(&words.join(r"\s+")).ok()?;
        // A path is in few messages, its parts are in many.
        let weight = if required { 1.0 } else { COMPOUND };
        Some(Literal { pattern, whole: true, required, terms, weight })
    }
}

#[derive(Default)]
struct Terms {
    list: Vec<Term>,
}

impl Terms {
    /// Adds the terms of a text; those that are found wherever it is.
    fn add(&mut self, text: &str, weight: f64) -> Vec<usize> {
        let mut of_text = Vec::new();
        for (run, _, words) in runs(text) {
            match run {
                Run::Word => of_text.extend(self.add_word(words, weight)),
                Run::Spaceless => self.add_spaceless(words, weight, &mut of_text),
            }
        }
        of_text
    }

    fn add_word(&mut self, word: &str, weight: f64) -> Option<usize> {
        let word = word.trim_matches('_');
        if word.is_empty() {
            return None;
        }
        let written = folded(word);
        let atoms = atoms(word);
        let is_plain = atoms.len() <= 1;
        let other = (!is_plain).then(|| other_style(&written, &atoms)).filter(|other| *other != written);
        let own_weight = if is_stop_word(&written) { weight * STOP_WORD } else { weight };
        let of_word = if is_plain { stem(&written) } else { None };
        let place = self.push(What::word(written, other, of_word), own_weight);
        if !is_plain {
            for atom in atoms.iter().filter(|atom| atom.chars().count() > 1) {
                let written = folded(atom);
                let stem = stem(&written);
                self.push(What::word(written, None, stem), weight * PART);
            }
        }
        Some(place)
    }

    fn add_spaceless(&mut self, text: &str, weight: f64, places: &mut Vec<usize>) {
        let characters: Vec<char> = text.chars().map(fold).collect();
        let len = characters.len().min(2);
        let grams = characters.windows(len.max(1));
        let last = grams.len().saturating_sub(1);
        for (index, gram) in grams.enumerate() {
            let is_function = |character: &char| match Class::of(*character) {
                Class::Spaceless(Kind::Hiragana) => true,
                Class::Spaceless(Kind::Han) => FUNCTION_WORDS.contains(*character),
                _ => false,
            };
            let own = if gram.iter().all(is_function) { weight * STOP_WORD } else { weight };
            let gram = What::Gram { text: gram.to_vec(), begins: index == 0, ends: index == last };
            places.push(self.push(gram, own));
        }
    }

    /// A term that is asked for twice counts as its greater weight.
    fn push(&mut self, what: What, weight: f64) -> usize {
        match self.list.iter().position(|term| term.what == what) {
            Some(place) => {
                self.list[place].weight = self.list[place].weight.max(weight);
                place
            }
            None => {
                self.list.push(Term { what, weight });
                self.list.len() - 1
            }
        }
    }

    fn starts(&self) -> Option<Regex> {
        let mut starts: Vec<String> = self.list.iter().map(|term| term.what.first_letters()).collect();
        starts.sort();
        starts.dedup();
        let escaped: Vec<String> = starts.iter().map(|start| regex::escape(start)).collect();
        let pattern = escaped.join("|");
        // Unicode's folding makes an ASCII pattern slower and finds the Kelvin sign.
        let unicode = !pattern.is_ascii();
        (!starts.is_empty())
            .then(|| RegexBuilder::new(&pattern).case_insensitive(true).unicode(unicode).build().ok())
            .flatten()
    }
}

/// What a word counts of which every text is full.
const STOP_WORD: f64 = 0.1;
/// What a part of an identifier counts.
const PART: f64 = 0.5;
/// What several words count that are written as one, such as a path.
const COMPOUND: f64 = 2.0;

const STOP_WORDS: &str = " a an and are as at be but by can could did do does for from had has have how i if in into is it \
    its me my no not of on or our so than that the their them then there these they this to was we were what when where \
    which who why will with would you your ";
const FUNCTION_WORDS: &str = "的了是在和与或吗呢吧啊哪些什么怎样我你他她它们这那有个为就都也";

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split(' ').any(|stop| stop == word)
}

/// The parts of an identifier, cut where capitals and underscores say; digits stay with the letters before them.
fn atoms(word: &str) -> Vec<&str> {
    let mut atoms: Vec<&str> = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < word.len() {
        let end = next_boundary(word, at);
        let is_digits = word[at..end].starts_with(|first: char| Class::of(first) == Class::Digit);
        let after_digits = word[..at].ends_with(|last: char| Class::of(last) == Class::Digit);
        if at > start && !is_digits && !(after_digits && !word[at..end].starts_with(char::is_uppercase)) {
            atoms.push(&word[start..at]);
            start = at;
        }
        at = end;
    }
    atoms.push(&word[start..]);
    atoms.retain(|atom| !atom.starts_with('_'));
    atoms
}

/// `checkauth` for `check_auth`, and `check_auth` for `checkAuth`.
fn other_style(written: &str, atoms: &[&str]) -> String {
    if written.contains('_') {
        return written.replace('_', "");
    }
    atoms.iter().map(|atom| folded(atom)).collect::<Vec<_>>().join("_")
}

impl What {
    fn word(written: String, other: Option<String>, stem: Option<String>) -> What {
        let mut start = written.as_str();
        for form in [other.as_deref(), stem.as_deref().map(stem_start)].into_iter().flatten() {
            start = common_start(start, form);
        }
        What::Word { start: start.to_owned(), written, other, stem }
    }

    /// What every text begins with that it is found in, but not much of it: a few letters in any case are found much
    /// faster than many.
    fn first_letters(&self) -> String {
        /// In characters.
        const LONGEST: usize = 3;
        match self {
            What::Gram { text, .. } => text.iter().collect(),
            What::Word { start, .. } => start.chars().take(LONGEST).collect(),
        }
    }
}

fn common_start<'a>(a: &'a str, b: &str) -> &'a str {
    let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    &a[..equal]
}

/// Whether a match is whole: it does not begin or end within a word.
pub(super) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    is_boundary(text, start) && is_boundary(text, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(query: &str) -> Vec<(String, f64)> {
        let question = Question::new(query, How::Words).unwrap();
        let shown = |term: &Term| match &term.what {
            What::Word { written, .. } => written.clone(),
            What::Gram { text, .. } => text.iter().collect(),
        };
        question.terms.iter().map(|term| (shown(term), term.weight)).collect()
    }

    #[test]
    fn a_query_is_cut_at_spaces_and_quotes() {
        assert_eq!(
            parts(r#"fix "login \"x\" fails" now “连接 超时”! "open"#),
            [
                Part::Chunk("fix"),
                Part::Phrase("login \"x\" fails".to_owned()),
                Part::Chunk("now"),
                Part::Phrase("连接 超时".to_owned()),
                Part::Chunk("!"),
                Part::Chunk("\"open"),
            ]
        );
    }

    #[test]
    fn identifiers_are_asked_for_whole_and_in_parts() {
        assert_eq!(
            words("checkAuth"),
            [("checkauth".to_owned(), 1.0), ("check".to_owned(), 0.5), ("auth".to_owned(), 0.5)]
        );
        assert_eq!(words("E0308"), [("e0308".to_owned(), 1.0)]);
        assert_eq!(words("sha256"), [("sha256".to_owned(), 1.0)]);
        assert_eq!(words("the cat"), [("the".to_owned(), 0.1), ("cat".to_owned(), 1.0)]);
    }

    #[test]
    fn spaceless_text_is_asked_for_in_pairs() {
        assert_eq!(
            words("连接超时").iter().map(|(gram, _)| gram.as_str()).collect::<Vec<_>>(),
            ["连接", "接超", "超时"]
        );
        assert_eq!(words("家"), [("家".to_owned(), 1.0)]);
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for (query, how) in [
            ("", How::Words),
            (" \n", How::Words),
            ("", How::Regex),
            ("(", How::Regex),
            (r"(\w{1000}){1000}", How::Regex),
            (&"a ".repeat(1_001), How::Words),
        ] {
            assert_eq!(Question::new(query, how).unwrap_err().code(), Code::UsageArguments, "{query:.20}");
        }
    }
}
