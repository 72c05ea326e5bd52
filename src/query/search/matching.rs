//! Where the terms of a query stand in a text.

use std::collections::BTreeMap;

use regex::Regex;

use super::question::{Literal, Question, is_whole};
use super::stem::stem;
use super::terms::{STARTS, Term, What};
use super::words::{Class, Kind, end_of, fold, folded, is_boundary, next_boundary};

/// What a found word counts, in hundredths: whole numbers, so that sums do not depend on their order.
pub(super) const WHOLE: u64 = 100;
/// The same of a word that is not as it was written: in the other style of names, in another form, with more behind it.
/// The last counts only where nothing else is found in the whole context.
const OTHER_STYLE: u64 = 80;
const OTHER_FORM: u64 = 40;
const LONGER: u64 = 50;
/// The same of spaceless text of which one end may be within a word, or both.
const WITHIN: u64 = 70;
const WITHIN_BOTH: u64 = 49;
/// The shortest word that longer ones are found by, in characters.
const SHORTEST_START: usize = 3;

/// A term that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Which term.
    pub term: usize,
    /// The bytes it stands in.
    pub start: usize,
    pub end: usize,
    /// How much it counts as the term, in hundredths.
    pub tally: u64,
    /// Whether it only begins like the term.
    pub is_longer: bool,
}

/// The terms of a query, ready to be looked for.
#[derive(Debug)]
pub(super) struct Matcher<'q> {
    pub question: &'q Question,
    /// The terms that begin with the same letters, up to three of them, in order.
    by_start: Vec<([char; STARTS], Vec<usize>)>,
    starts: Option<Regex>,
}

impl<'q> Matcher<'q> {
    pub fn new(question: &'q Question) -> Self {
        let mut by_start: BTreeMap<[char; STARTS], Vec<usize>> = BTreeMap::new();
        for (index, term) in question.terms.iter().enumerate() {
            by_start.entry(starting(term.what.first_letters().chars())).or_default().push(index);
        }
        let by_start = by_start.into_iter().collect();
        // A clone has a cache of its own: threads do not wait for each other.
        Matcher { question, by_start, starts: question.starts.clone() }
    }

    pub fn terms(&self) -> &'q [Term] {
        &self.question.terms
    }

    /// Whether a text may hold anything that is looked for, going by how it is spelled.
    pub fn may_hold(&self, spelled: &str) -> bool {
        let is_anywhere = self.question.literals.iter().any(|literal| literal.terms.is_empty());
        is_anywhere || self.starts.as_ref().is_some_and(|starts| starts.is_match(spelled))
    }

    /// Every place in a text where a term stands, in order.
    pub fn each(&self, text: &str, mut found: impl FnMut(Place)) {
        let Some(starts) = &self.starts else { return };
        let mut at = 0;
        while let Some(start) = starts.find_at(text, at).map(|start| start.start()) {
            let Some(first) = text[start..].chars().next() else { return };
            let letters = starting(text[start..].chars().map(fold));
            let there_are = letters.iter().take_while(|letter| **letter != '\0').count();
            for len in 1..=there_are {
                let mut shorter = letters;
                shorter[len..].fill('\0');
                let Ok(of_start) = self.by_start.binary_search_by_key(&shorter, |(start, _)| *start) else { continue };
                for term in &self.by_start[of_start].1 {
                    if let Some((end, tally, is_longer)) = place(&self.question.terms[*term].what, text, start) {
                        found(Place { term: *term, start, end, tally, is_longer });
                    }
                }
            }
            at = start + first.len_utf8();
        }
    }
}

/// The first letters of a text; where there are fewer, the rest is NUL.
fn starting(letters: impl Iterator<Item = char>) -> [char; STARTS] {
    let mut start = ['\0'; STARTS];
    start.iter_mut().zip(letters).for_each(|(place, letter)| *place = letter);
    start
}

/// Where a term ends that stands at `at`, how much it counts, and whether it only begins there.
fn place(what: &What, text: &str, at: usize) -> Option<(usize, u64, bool)> {
    match what {
        What::Word { start, .. } => {
            end_of(start, text, at)?;
            is_boundary(text, at).then(|| word(what, text, at)).flatten()
        }
        What::Gram { text: gram, begins, ends } => {
            let mut end = at;
            for wanted in gram {
                let next = text[end..].chars().next()?;
                if fold(next) != *wanted {
                    return None;
                }
                end += next.len_utf8();
            }
            let edges = gram_edges(gram, text[..at].chars().next_back(), text[end..].chars().next());
            Some((end, gram_tally(edges, *begins, *ends), false))
        }
    }
}

/// The same for a word, where one may begin.
fn word(what: &What, text: &str, at: usize) -> Option<(usize, u64, bool)> {
    let What::Word { written, others, stem: of_word, .. } = what else { return None };
    let mut is_longer = None;
    if let Some(end) = end_of(written, text, at) {
        if is_boundary(text, end) {
            return Some((end, WHOLE, false));
        }
        is_longer = (written.chars().nth(SHORTEST_START - 1).is_some()).then_some((end, LONGER, true));
    }
    let mut ends = others.iter().filter_map(|other| end_of(other, text, at));
    if let Some(end) = ends.find(|end| is_boundary(text, *end)) {
        return Some((end, OTHER_STYLE, false));
    }
    if let Some(of_word) = of_word {
        let end = next_boundary(text, at);
        let form = &text[at..end];
        if stem(&folded(form)).as_ref() == Some(of_word) {
            return Some((end, OTHER_FORM, false));
        }
    }
    is_longer
}

/// Whether the word goes on before and behind a piece of spaceless text: where the character there is of the same script.
pub(super) fn gram_edges(gram: &[char], before: Option<char>, behind: Option<char>) -> [bool; 2] {
    let goes_on = |own: Option<&char>, other: Option<char>| {
        let (Some(own), Some(other)) = (own, other) else { return false };
        matches!(
            (Class::of(*own), Class::of(other)),
            (Class::Spaceless(a), Class::Spaceless(b)) if a == b && a != Kind::Hangul
        )
    };
    [goes_on(gram.first(), before), goes_on(gram.last(), behind)]
}

/// How much a piece of spaceless text counts: less where it is the end of what is asked for, and the text goes on.
pub(super) fn gram_tally([before, behind]: [bool; 2], begins: bool, ends: bool) -> u64 {
    match u8::from(before && begins) + u8::from(behind && ends) {
        0 => WHOLE,
        1 => WITHIN,
        _ => WITHIN_BOTH,
    }
}

impl Literal {
    /// Every place where it stands.
    pub fn each<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
        let found = self.pattern.find_iter(text).map(|found| (found.start(), found.end()));
        found.filter(|(start, end)| start < end && (!self.whole || is_whole(text, *start, *end)))
    }
}
