//! Texts that are too long for one result, and parts of them.

use serde::Serialize;

/// How a long text is called in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// The text of the one block of a message.
    Text,
    /// The line of a message in the canonical stream.
    Canonical,
    /// The JSON of the state.
    State,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Part<'t> {
    /// What it is a part of.
    pub of: Of,
    /// The part.
    pub text: &'t str,
    /// The characters from and to.
    pub chars: [usize; 2],
    /// The characters of the whole text.
    pub total_chars: usize,
}

/// How many bytes and characters of a text, from its start, take at most so many bytes in JSON; one character at least.
pub fn prefix_within(text: &str, json_bytes: usize) -> (usize, usize) {
    let (mut used, mut bytes, mut chars) = (0, 0, 0);
    for character in text.chars() {
        used += json_len(character);
        if used > json_bytes && chars > 0 {
            break;
        }
        bytes += character.len_utf8();
        chars += 1;
    }
    (bytes, chars)
}

/// The bytes of a character in a string of JSON.
fn json_len(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_counted_as_json_spells_it() {
        for character in (0..=0x2fff).chain(0x1f600..0x1f610).filter_map(char::from_u32) {
            let spelled = serde_json::to_string(&character).unwrap().len() - 2;
            assert_eq!(json_len(character), spelled, "{character:?}");
        }
    }

    #[test]
    fn prefixes_end_between_characters() {
        for (text, json_bytes, expected) in [
            ("", 5, (0, 0)),
            ("abc", 2, (2, 2)),
            ("abc", 9, (3, 3)),
            ("aé", 2, (1, 1)),
            ("é", 1, (2, 1)),
            ("\u{1}\u{1}", 11, (1, 1)),
            ("\n\n", 4, (2, 2)),
        ] {
            assert_eq!(prefix_within(text, json_bytes), expected, "{text:?} in {json_bytes}");
        }
    }
}
