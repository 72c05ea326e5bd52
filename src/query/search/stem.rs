//! What inflected forms of a word have in common, in the languages that a script tells: English and Russian.

use frostem::{Algorithm, Stemmer};

/// The longest word that is one of a language, in characters.
const LONGEST: usize = 40;
/// The shortest word that has other forms.
const SHORTEST: usize = 3;

/// The stem of a folded word, by the rules of Snowball; none of what is no word of plain letters of one language.
pub(super) fn stem(word: &str) -> Option<String> {
    if !(SHORTEST..=LONGEST).contains(&word.chars().count()) {
        return None;
    }
    let algorithm = if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Algorithm::English
    } else if word.chars().all(|letter| ('а'..='ё').contains(&letter)) {
        Algorithm::Russian
    } else {
        return None;
    };
    Some(Stemmer::new(algorithm).stem(word).into_owned())
}

/// What all the forms of a stem begin with: `retr` for `retri`, the stem of `retry` and of `retries`.
pub(super) fn stem_start(stem: &str) -> &str {
    stem.strip_suffix('i').filter(|start| start.len() > 1).unwrap_or(stem)
}
