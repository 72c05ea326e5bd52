//! What inflected forms of an English word have in common.

use frostem::{Algorithm, Stemmer};

/// The longest word that is one of a language, in bytes.
const LONGEST: usize = 40;
/// The shortest word that has other forms.
const SHORTEST: usize = 3;

/// The stem of a word in lower case, by the Porter 2 rules; none of what is no word of plain letters.
pub(super) fn stem(word: &str) -> Option<String> {
    let is_word = (SHORTEST..=LONGEST).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word.then(|| Stemmer::new(Algorithm::English).stem(word).into_owned())
}

/// What all the forms of a stem begin with: `retr` for `retri`, the stem of `retry` and of `retries`.
pub(super) fn stem_start(stem: &str) -> &str {
    stem.strip_suffix('i').filter(|start| start.len() > 1).unwrap_or(stem)
}
