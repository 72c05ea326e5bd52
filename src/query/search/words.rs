//! Where words begin and end: in prose, in identifiers, and in scripts that are written without spaces.
//!
//! All rules are local: whether a word may begin or end at a place is decided by the characters next to it. So a text can
//! be searched for words without being cut into words first, and what is found is what an index of its words would find.

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

/// What a character is to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Space, punctuation, symbols.
    None,
    Underscore,
    Lower,
    Upper,
    /// A letter that has no case.
    Letter,
    Digit,
    /// Belongs to the character before it.
    Mark,
    /// A character of a script that puts no spaces between words.
    Spaceless(Kind),
}

/// Scripts that are written without spaces between words, or whose words carry particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Han,
    Hiragana,
    Katakana,
    Hangul,
    /// Thai, Lao, Khmer, Burmese and their like.
    Other,
}

impl Class {
    pub fn of(character: char) -> Class {
        match character {
            'a'..='z' => Class::Lower,
            'A'..='Z' => Class::Upper,
            '0'..='9' => Class::Digit,
            '_' => Class::Underscore,
            '\0'..='\x7f' => Class::None,
            _ => Class::of_other(character),
        }
    }

    fn of_other(character: char) -> Class {
        match character {
            // Both are shared by two scripts; they stand in words of either.
            '々' | '〆' | '〇' => return Class::Spaceless(Kind::Han),
            'ー' | 'ｰ' => return Class::Spaceless(Kind::Katakana),
            _ => {}
        }
        match character.script() {
            Script::Han => Class::Spaceless(Kind::Han),
            Script::Hiragana => Class::Spaceless(Kind::Hiragana),
            Script::Katakana => Class::Spaceless(Kind::Katakana),
            Script::Hangul => Class::Spaceless(Kind::Hangul),
            Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar | Script::Tibetan | Script::Javanese => {
                Class::Spaceless(Kind::Other)
            }
            _ if is_combining_mark(character) => Class::Mark,
            _ if character.is_uppercase() => Class::Upper,
            _ if character.is_lowercase() => Class::Lower,
            _ if character.is_alphabetic() => Class::Letter,
            _ if character.is_numeric() => Class::Digit,
            _ => Class::None,
        }
    }

    /// Whether it stands in words that have spaces between them.
    fn is_spaced(self) -> bool {
        !matches!(self, Class::None | Class::Spaceless(_))
    }

    fn is_letter(self) -> bool {
        matches!(self, Class::Lower | Class::Upper | Class::Letter)
    }
}

/// A character as it is compared: in lower case, where that is one character.
pub(super) fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        // The two small sigmas are one letter.
        (Some('ς'), None) => 'σ',
        (Some(one), None) => one,
        _ => character,
    }
}

/// A text as it is compared.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}

/// Where in `text`, from `at` on, `word` ends if it stands there, letters in any case; `word` is folded.
pub(super) fn end_of(word: &str, text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if word.is_ascii() {
        let found = rest.as_bytes().get(..word.len())?;
        return found.eq_ignore_ascii_case(word.as_bytes()).then_some(at + word.len());
    }
    let mut characters = rest.char_indices();
    for wanted in word.chars() {
        let (_, found) = characters.next()?;
        if fold(found) != wanted {
            return None;
        }
    }
    Some(characters.next().map_or(text.len(), |(offset, _)| at + offset))
}

/// Whether a word may begin or end here: beside what is no letter or digit, beside an underscore, between `check` and
/// `Auth`, between `HTTP` and `Server`, between letters and digits, behind what looks like an escape, such as `\n`, and
/// round every character of a spaceless script.
pub(super) fn is_boundary(text: &str, at: usize) -> bool {
    let Some(next) = text[at..].chars().next() else { return true };
    if let [.., b'\\', letter] = text.as_bytes()[..at]
        && is_escape(letter)
    {
        return true;
    }
    let mut before = text[..at].chars().rev().map(Class::of);
    let Some(previous) = before.next() else { return true };
    let class = Class::of(next);
    let previous = match previous {
        // What a mark belongs to is what counts. A heap of marks is no word.
        Class::Mark if class != Class::Mark => {
            before.take(8).find(|class| *class != Class::Mark).unwrap_or(Class::None)
        }
        previous => previous,
    };
    match (previous, class) {
        (_, Class::Mark) => false,
        (a, b) if !a.is_spaced() || !b.is_spaced() => true,
        (Class::Underscore, _) | (_, Class::Underscore) => true,
        (Class::Lower, Class::Upper) => true,
        (Class::Upper, Class::Upper) => begins_capitalised(&text[at + next.len_utf8()..]),
        (a, b) => a.is_letter() != b.is_letter(),
    }
}

/// Whether a letter behind a backslash may stand for white space.
fn is_escape(letter: u8) -> bool {
    matches!(letter, b'n' | b'r' | b't')
}

/// Whether the capital before this text begins a word, as in `HTTPServer`, and is not the last one of `URLs`.
fn begins_capitalised(rest: &str) -> bool {
    let mut characters = rest.chars();
    let Some(next) = characters.next().filter(|next| Class::of(*next) == Class::Lower) else { return false };
    next != 's' || characters.next().is_some_and(|after| Class::of(after) == Class::Lower)
}

/// The place of the next boundary behind `at`.
pub(super) fn next_boundary(text: &str, at: usize) -> usize {
    let starts = text[at..].char_indices().skip(1).map(|(offset, _)| at + offset);
    starts.into_iter().find(|at| is_boundary(text, *at)).unwrap_or(text.len())
}

/// A piece of text that words are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Letters, digits and underscores.
    Word,
    /// Characters of spaceless scripts.
    Spaceless,
}

/// The runs of a text, with the bytes they stand in. A word that may begin with an escape has the backslash before it.
pub(super) fn runs(text: &str) -> Runs<'_> {
    Runs { text, at: 0 }
}

pub(super) struct Runs<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Runs<'t> {
    type Item = (Run, usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            let first = self.text[self.at..].chars().next()?;
            let is_spaceless = match Class::of(first) {
                Class::None => {
                    self.at += first.len_utf8();
                    continue;
                }
                class => matches!(class, Class::Spaceless(_)),
            };
            let start = self.at;
            self.at += first.len_utf8();
            while let Some(byte) = bytes.get(self.at) {
                if byte.is_ascii() {
                    if is_spaceless || !(byte.is_ascii_alphanumeric() || *byte == b'_') {
                        break;
                    }
                    self.at += 1;
                    continue;
                }
                let Some(next) = self.text[self.at..].chars().next() else { break };
                let belongs = match Class::of(next) {
                    Class::Mark => true,
                    Class::Spaceless(_) => is_spaceless,
                    class => !is_spaceless && class.is_spaced(),
                };
                if !belongs {
                    break;
                }
                self.at += next.len_utf8();
            }
            let run = if is_spaceless { Run::Spaceless } else { Run::Word };
            let is_escaped = is_escape(bytes[start]) && start > 0 && bytes[start - 1] == b'\\';
            let start = if is_escaped { start - 1 } else { start };
            return Some((run, start, &self.text[start..self.at]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(word: &str) -> Vec<&str> {
        let mut atoms = Vec::new();
        let mut at = 0;
        while at < word.len() {
            let end = next_boundary(word, at);
            atoms.push(&word[at..end]);
            at = end;
        }
        atoms
    }

    #[test]
    fn identifiers_come_apart_where_people_read_them_apart() {
        for (word, expected) in [
            ("checkAuth", vec!["check", "Auth"]),
            ("check_auth", vec!["check", "_", "auth"]),
            ("HTTPServer2", vec!["HTTP", "Server", "2"]),
            ("E0308", vec!["E", "0308"]),
            ("URLs", vec!["URLs"]),
            ("IDset", vec!["I", "Dset"]),
            ("naïveÉtat", vec!["naïve", "État"]),
            ("nai\u{308}ve", vec!["nai\u{308}ve"]),
            ("ΣΟΦΟΣ", vec!["ΣΟΦΟΣ"]),
            ("ERR_CONN", vec!["ERR", "_", "CONN"]),
        ] {
            assert_eq!(atoms(word), expected);
        }
    }

    #[test]
    fn runs_are_words_and_spaceless_text() {
        let text = r"调用checkAuth(「京都」) don't x_1\nworld\x";
        let found = runs(text).map(|(run, at, word)| {
            assert_eq!(&text[at..at + word.len()], word);
            (run == Run::Spaceless, word)
        });
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (true, "调用"),
                (false, "checkAuth"),
                (true, "京都"),
                (false, "don"),
                (false, "t"),
                (false, "x_1"),
                (false, r"\nworld"),
                (false, "x")
            ]
        );
    }
}
