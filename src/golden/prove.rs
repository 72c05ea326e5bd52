//! The proof that goldens are compared: bytes of each are flipped, in memory, and every flip has to be noticed.

use super::compare::{Form, Golden, decode, is_identical, recorded};
use crate::context::{Block, Content, Context, Message};
use crate::error::Result;

/// What flipping bytes of a golden showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many bytes were flipped, one at a time.
    pub flips: usize,
    /// Where a flip was taken for no difference.
    pub uncaught: Vec<Place>,
}

/// A place in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The message; `None` for the tools.
    pub message: Option<usize>,
    /// The block in it; `None` for the role.
    pub block: Option<usize>,
}

/// What the comparison says to a golden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    NoDifference,
    Difference,
    /// A difference, and where it lies.
    At(Place),
    /// A golden that is none.
    Fault,
}

/// Flips one byte in every block of an identical golden, of a message without blocks in its role, and of the tools, and
/// runs the same comparison on each result. Files are not touched.
pub fn prove(context: &Context<'_>, golden: Golden<'_>) -> Proof {
    match golden.form {
        Form::Stream => {
            prove_stream(context, golden.bytes, |bytes| match is_identical(context, Golden { bytes, ..golden }) {
                Ok(true) => Seen::NoDifference,
                Ok(false) => Seen::Difference,
                Err(_) => Seen::Fault,
            })
        }
        Form::Json | Form::Yaml => {
            prove_list(context, golden.bytes, |bytes| match first_place(context, Golden { bytes, ..golden }) {
                Ok(None) => Seen::NoDifference,
                Ok(Some(place)) => Seen::At(place),
                Err(_) => Seen::Fault,
            })
        }
    }
}

/// Where a list of messages is not what it should be.
fn first_place(context: &Context<'_>, golden: Golden<'_>) -> Result<Option<Place>> {
    if is_identical(context, golden)? {
        return Ok(None);
    }
    let recorded = recorded(decode(golden)?, golden)?;
    let pairs = || context.messages.iter().zip(&recorded.messages);
    let message = pairs().position(|(a, b)| !a.same_bytes(b));
    let block = message
        .and_then(|index| pairs().nth(index))
        .and_then(|(a, b)| a.blocks.iter().zip(&b.blocks).position(|(a, b)| a.content != b.content));
    Ok(Some(Place { message, block }))
}

fn prove_stream(context: &Context<'_>, bytes: &[u8], look: impl Fn(&[u8]) -> Seen) -> Proof {
    let mut bytes = bytes.to_vec();
    let mut proof = Proof::default();
    for (place, at) in places(context) {
        let seen = flipped(&mut bytes, at, &look);
        proof.count(place, seen != Seen::NoDifference);
    }
    proof
}

fn prove_list(context: &Context<'_>, bytes: &[u8], look: impl Fn(&[u8]) -> Seen) -> Proof {
    let mut bytes = bytes.to_vec();
    let mut proof = Proof::default();
    let mut from = 0;
    for (index, message) in context.messages.iter().enumerate() {
        let blocks = message.blocks.len();
        for block in if blocks == 0 { vec![None] } else { (0..blocks).map(Some).collect() } {
            let place = Place { message: Some(index), block };
            let is_caught = is_noticed(message, place, &mut from, &mut bytes, &look);
            proof.count(place, is_caught);
        }
    }
    proof
}

impl Proof {
    fn count(&mut self, place: Place, is_caught: bool) {
        self.flips += 1;
        if !is_caught {
            self.uncaught.push(place);
        }
    }
}

/// Flips the lowest bit of a byte for as long as something looks at it.
fn flipped<T>(bytes: &mut [u8], at: usize, look: impl FnOnce(&[u8]) -> T) -> T {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1;
    }
    let seen = look(bytes);
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1;
    }
    seen
}

/// A byte of every block in the canonical stream.
fn places(context: &Context<'_>) -> Vec<(Place, usize)> {
    let mut places = Vec::new();
    let mut line = Vec::new();
    context.write_tools(&mut line).expect("a vector takes every write");
    if !line.is_empty() {
        places.push((Place { message: None, block: None }, telling(&line)));
    }
    let mut start = line.len();
    for (index, message) in context.messages.iter().enumerate() {
        line.clear();
        message.write_canonical(&mut line).expect("a vector takes every write");
        let blocks: Vec<Vec<u8>> = message.blocks.iter().map(canonical).collect();
        let place = |block| Place { message: Some(index), block };
        if blocks.is_empty() {
            places.push((place(None), start + b"{\"role\":\"".len()));
        }
        // The blocks stand at the end of the line, a comma between them.
        let after = b"]}\n".len() + blocks.iter().map(Vec::len).sum::<usize>() + blocks.len().saturating_sub(1);
        let mut at = start + line.len().saturating_sub(after);
        for (n, block) in blocks.iter().enumerate() {
            places.push((place(Some(n)), at + telling(block)));
            at += block.len() + 1;
        }
        start += line.len();
    }
    places
}

fn canonical(block: &Block<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    block.content.write_canonical(&mut bytes).expect("a vector takes every write");
    bytes
}

/// The last byte that is no punctuation: in a block with text, one of the text.
fn telling(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).unwrap_or(0)
}

/// Whether a flip in a block is noticed in a list of messages. Where a block stands in the file is found by its words,
/// from the end of the block before it on: the flip that is noticed at this very place counts. A block without words is
/// proven by the role of its message.
fn is_noticed(
    message: &Message<'_>,
    place: Place,
    from: &mut usize,
    bytes: &mut [u8],
    look: impl Fn(&[u8]) -> Seen,
) -> bool {
    const OCCURRENCES: usize = 64;
    let role = Place { block: None, ..place };
    let mut is_refused = false;
    let words = place.block.and_then(|block| message.blocks.get(block)).map(words).unwrap_or_default();
    let of_role = Word { text: message.role.as_str().to_owned(), rest: 0 };
    for Word { text, rest } in words.into_iter().chain([of_role]) {
        let start = (*from).min(bytes.len());
        let behind = memchr::memmem::find_iter(&bytes[start..], &text).map(|at| start + at);
        let found: Vec<usize> = behind.chain(memchr::memmem::find_iter(bytes, &text)).take(OCCURRENCES).collect();
        for at in found {
            match flipped(bytes, at + text.len() - 1, &look) {
                Seen::At(seen) if seen == place || seen == role => {
                    *from = (*from).max(at + rest);
                    return true;
                }
                Seen::Fault => is_refused = true,
                Seen::At(_) | Seen::Difference | Seen::NoDifference => {}
            }
        }
    }
    is_refused
}

/// A word of a block, and how many bytes of the block there are from it on: the file has no fewer.
struct Word {
    text: String,
    rest: usize,
}

/// The longest words of a block, longest first.
fn words(block: &Block<'_>) -> Vec<Word> {
    const WORDS: usize = 8;
    // Only text surely stands in the file in no fewer bytes.
    let (text, is_text) = match &block.content {
        Content::Text(text) => (text.to_string(), true),
        _ => (String::from_utf8_lossy(&canonical(block)).into_owned(), false),
    };
    let mut words = Vec::new();
    let mut start = 0;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if !character.is_alphanumeric() {
            words.push(start..at);
            start = at + character.len_utf8();
        }
    }
    words.retain(|word| !word.is_empty());
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let rest = |from: usize| if is_text { text.len() - from } else { 0 };
    words
        .into_iter()
        .take(WORDS)
        .map(|word| Word { text: text[word.clone()].to_owned(), rest: rest(word.start) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{Outcome, Status};
    use crate::{assemble, read};

    const REQUEST: &str = r#"{"tools": [{"name": "t"}], "goal": [{"role": "user", "content": [
        {"type": "text", "text": "a"}, {"type": "text", "text": ""}]}, {"role": "user", "content": []}]}"#;

    #[test]
    fn a_blind_comparison_is_found_out() {
        let request = read::request(REQUEST, None).unwrap();
        let context = assemble(&request, None).unwrap();
        let bytes = context.to_canonical();
        let blind = prove_stream(&context, &bytes, |_| Seen::NoDifference);
        let places: Vec<_> = blind.uncaught.iter().map(|place| (place.message, place.block)).collect();
        assert_eq!(places, [(None, None), (Some(0), Some(0)), (Some(0), Some(1)), (Some(1), None)]);
        assert_eq!(blind.flips, 4);
        assert_eq!(prove_list(&context, &bytes, |_| Seen::NoDifference).uncaught.len(), 3);
        // What is noticed elsewhere says nothing of this block.
        let elsewhere = Seen::At(Place { message: Some(7), block: None });
        assert_eq!(prove_list(&context, &bytes, |_| elsewhere).uncaught.len(), 3);

        let outcome = |proof| Outcome { status: Status::Identical, proof: Some(proof), ..Outcome::default() };
        assert!(!outcome(blind).is_settled());
        assert!(outcome(Proof::default()).is_settled());
    }

    #[test]
    fn every_flip_is_one_byte_and_is_undone() {
        let request = read::request(REQUEST, None).unwrap();
        let context = assemble(&request, None).unwrap();
        let stream = context.to_canonical();
        let proof = prove_stream(&context, &stream, |bytes| {
            assert_eq!(bytes.iter().zip(&stream).filter(|(a, b)| a != b).count(), 1);
            Seen::Difference
        });
        assert_eq!(proof, Proof { flips: 4, uncaught: Vec::new() });
    }
}
