//! What a query asks for, word by word: in the forms it may be found in, and how much each counts.

use regex::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use super::stem::{stem, stem_start};
use super::words::{Class, Kind, Run, fold, folded, next_boundary, runs};

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
        /// Folded, as another style of names writes it, `checkauth` for `check_auth` and the other way round; and with its
        /// marks as characters of their own.
        others: Vec<String>,
        /// What inflected forms of it have in common.
        stem: Option<String>,
        /// What all of these begin with.
        start: String,
    },
    /// One or two characters, and whether the query's own text begins or ends with them.
    Gram { text: Vec<char>, begins: bool, ends: bool },
}

#[derive(Default)]
pub(super) struct Terms {
    pub list: Vec<Term>,
}

impl Terms {
    /// Adds the terms of a text; those that are found wherever it is.
    pub fn add(&mut self, text: &str, weight: f64) -> Vec<usize> {
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
        let mut others: Vec<String> = (!is_plain).then(|| other_style(&written, &atoms)).into_iter().collect();
        others.extend([written.nfc().collect(), written.nfd().collect::<String>()]);
        others.retain(|other| *other != written);
        others.dedup();
        let own_weight = if is_stop_word(&written) { weight * STOP_WORD } else { weight };
        let of_word = if is_plain { stem(&written) } else { None };
        let place = self.push(What::word(written, others, of_word), own_weight);
        if !is_plain {
            for atom in atoms.iter().filter(|atom| atom.chars().count() > 1) {
                let written = folded(atom);
                let stem = stem(&written);
                self.push(What::word(written, Vec::new(), stem), weight * PART);
            }
        }
        Some(place)
    }

    fn add_spaceless(&mut self, text: &str, weight: f64, places: &mut Vec<usize>) {
        let characters: Vec<char> = text.nfc().map(fold).collect();
        let len = characters.len().min(2);
        let grams = characters.windows(len.max(1));
        let last = grams.len().saturating_sub(1);
        for (index, gram) in grams.enumerate() {
            let is_kana = |character: &char| Class::of(*character) == Class::Spaceless(Kind::Hiragana);
            let own = match gram.iter().filter(|character| is_function(**character)).count() {
                0 if gram.iter().all(is_kana) => weight * BESIDE_FUNCTION,
                0 => weight,
                few if few < gram.len() => weight * BESIDE_FUNCTION,
                _ => weight * STOP_WORD,
            };
            let gram = What::Gram { text: gram.to_vec(), begins: index == 0, ends: index == last };
            places.push(self.push(gram, own));
        }
        // The stem of a verb is often one character, and what follows it changes: 走る, 走って.
        let kinds: Vec<Class> = characters.iter().map(|character| Class::of(*character)).collect();
        for (index, pair) in kinds.windows(2).enumerate() {
            let is_stem = pair == [Class::Spaceless(Kind::Han), Class::Spaceless(Kind::Hiragana)]
                && (index == 0 || kinds[index - 1] != pair[0])
                && !is_function(characters[index + 1]);
            if is_stem {
                let gram = What::Gram { text: vec![characters[index]], begins: false, ends: false };
                self.push(gram, weight * PART);
            }
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

    pub fn starts(&self) -> Option<Regex> {
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

/// What a pair of characters counts of which one is a particle or the like, or both are of an ending.
const BESIDE_FUNCTION: f64 = 0.3;

const STOP_WORDS: &str = " a an and are as at be but by can could did do does for from had has have how i if in into is it \
    its me my no not of on or our so than that the their them then there these they this to was we were what when where \
    which who why will with would you your ";
const FUNCTION_WORDS: &str =
    "的了是在和与或吗呢吧啊哪些什么怎样我你他她它们这那有个为就都也嗎與個為樣這們のはがをにでともへや";

/// Whether a character of a spaceless script says little of what a text is about.
fn is_function(character: char) -> bool {
    FUNCTION_WORDS.contains(character)
}

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
        let goes_on = is_digits || after_digits && !word[at..end].starts_with(char::is_uppercase);
        if at > start && !goes_on {
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

/// How many letters of a term are looked for first.
pub(super) const STARTS: usize = 3;

impl What {
    fn word(written: String, others: Vec<String>, stem: Option<String>) -> What {
        let mut start = written.as_str();
        for form in others.iter().map(String::as_str).chain(stem.as_deref().map(stem_start)) {
            start = common_start(start, form);
        }
        What::Word { start: start.to_owned(), written, others, stem }
    }

    /// What every text begins with that it is found in, but not much of it: a few letters in any case are found much
    /// faster than many.
    pub fn first_letters(&self) -> String {
        match self {
            What::Gram { text, .. } => text.iter().collect(),
            What::Word { start, .. } => start.chars().take(STARTS).collect(),
        }
    }
}

fn common_start<'a>(a: &'a str, b: &str) -> &'a str {
    let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    &a[..equal]
}
