//! A query, understood: the words it asks for, what has to stand together, and how much each of it counts.

use regex::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use super::parts::{Part, is_compound, parts, trimmed};
use super::terms::{Term, Terms};
use super::words::is_boundary;
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
    pub const MAX_CHARS: usize = 1_000;

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
        /// What a pattern may take, and what is kept while it is looked for: without the latter a pattern that is taken is
        /// found too slowly.
        const PATTERN_BYTES: usize = 256 << 10;
        const KEPT_BYTES: usize = 64 << 20;
        let pattern = RegexBuilder::new(pattern)
            .case_insensitive(any_case)
            .multi_line(true)
            .crlf(true)
            .size_limit(PATTERN_BYTES)
            .dfa_size_limit(KEPT_BYTES)
            .build();
        let pattern = pattern.map_err(|error| {
            let reason = match &error {
                regex::Error::CompiledTooBig(limit) => format!("it takes more than {limit} bytes"),
                other => last_line(&other.to_string()),
            };
            unusable(format!("the regular expression cannot be used: {reason}"))
                .with_hint("look for text as it stands, as a substring")
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
            if !required {
                // Wide letters, half-width kana, ligatures: what people take for the same.
                let plain: String = text.nfkc().collect();
                if plain != text {
                    terms.add(&plain, 1.0);
                }
            }
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

/// What several words count that are written as one, such as a path.
const COMPOUND: f64 = 2.0;

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

/// Whether a match is whole: it does not begin or end within a word.
pub(super) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    is_boundary(text, start) && is_boundary(text, end)
}

#[cfg(test)]
mod tests {
    use super::super::terms::What;
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
