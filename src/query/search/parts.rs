//! How a query is cut: at spaces, and round what stands in quotes.

use super::words::runs;

#[derive(Debug, PartialEq)]
pub(super) enum Part<'t> {
    /// What stood in quotes.
    Phrase(String),
    /// What stood between spaces.
    Chunk(&'t str),
}

/// The parts of a query: `"` or `“` begin a phrase where it is closed; `\"` is a quote in it.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
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
pub(super) fn trimmed(chunk: &str) -> &str {
    let is_of_sentence =
        |character: char| ".,;:!?()[]{}<>'\"“”‘’…、。，；：！？（）「」『』【】《》".contains(character);
    let inner = chunk.trim_matches(is_of_sentence);
    // Punctuation alone may be what is looked for.
    if runs(inner).next().is_none() { chunk } else { inner }
}

/// Whether there is more in a chunk than one word: a path, a version, an operator.
pub(super) fn is_compound(chunk: &str) -> bool {
    runs(chunk).next().is_none_or(|(_, _, run)| run.len() < chunk.len()) && !chunk.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
