//! Every golden of the fixtures, a byte flipped, deleted or inserted: always noticed, and named where it is.

use std::ops::Range;

use polyloop::diff::Subject;
use polyloop::golden::{Difference, Form, Golden, compare, is_identical};
use polyloop::read::{self as reading, Format};
use polyloop::{Context, RunRequest, assemble};
use serde_json::Value;

use super::{Tree, common, fixtures_alone};

/// What is done to a byte.
#[derive(Clone, Copy, Debug)]
enum Change {
    Flip,
    Delete,
    Insert(u8),
    /// Puts another character in its place, so that the JSON holds.
    Replace(u8),
}
use Change::{Delete, Flip, Insert, Replace};

/// Where in the stream a change is made.
#[derive(Clone, Debug)]
enum Place {
    Text {
        message: usize,
    },
    Role {
        message: usize,
    },
    /// The line feed that ends a line.
    LineEnd {
        message: usize,
    },
}

#[derive(Default)]
struct Tally {
    different: usize,
    refused: usize,
    located: usize,
}

#[test]
fn every_mutation_is_noticed_and_named() {
    let mut tally = Tally::default();
    for (index, (request, golden)) in fixtures_alone().iter().enumerate() {
        let text = String::from_utf8(common::read(request)).expect("a fixture is UTF-8");
        let parsed = reading::request(&text, Format::of_path(request)).expect("a fixture is a request");
        let context = assemble(&parsed, None).expect("it assembles");
        let stream = common::read(golden);
        let fixture = Fixture { name: request.display().to_string(), request: &parsed, context: &context, stream };
        assert!(is_identical(&context, fixture.golden(&fixture.stream)).expect("a stream is compared as it is"));
        for (at, place) in places(&fixture.stream) {
            let changes: &[Change] = match place {
                Place::Text { .. } | Place::Role { .. } => &[
                    Flip,
                    Delete,
                    Insert(b'x'),
                    Insert(b'"'),
                    Insert(b'\\'),
                    Insert(0xff),
                    Replace(b'x'),
                    Replace(b'y'),
                ],
                Place::LineEnd { .. } => &[Flip, Delete, Insert(b'\n'), Insert(b'\r'), Insert(b' '), Insert(b'x')],
            };
            for &change in changes {
                if let Some(mutant) = mutate(&fixture.stream, at, change) {
                    // A few of them through the binary as well.
                    let by_binary = at % 97 == index % 97;
                    fixture.check(&mutant, at, &place, change, by_binary, &mut tally);
                }
            }
        }
    }
    eprintln!("{} different, {} of them to the character; {} refused", tally.different, tally.located, tally.refused);
    assert!(tally.different > 1500 && tally.located > 500 && tally.refused > 500, "too few");
}

struct Fixture<'f> {
    name: String,
    request: &'f RunRequest<'f>,
    context: &'f Context<'f>,
    stream: Vec<u8>,
}

impl Fixture<'_> {
    fn golden<'g>(&self, bytes: &'g [u8]) -> Golden<'g> {
        Golden { name: "golden", form: Form::Stream, bytes }
    }

    fn check(&self, mutant: &[u8], at: usize, place: &Place, change: Change, by_binary: bool, tally: &mut Tally) {
        let what = format!("{}: {change:?} at byte {at} ({place:?})", self.name);
        let subject = Subject { name: "request", context: self.context, request: Some(self.request), spelled: None };
        assert!(!matches!(is_identical(self.context, self.golden(mutant)), Ok(true)), "{what}: not noticed");
        let outcome = compare(subject, self.golden(mutant));
        if by_binary {
            self.check_binary(mutant, &what, outcome.is_err());
        }
        match outcome {
            Ok(None) => panic!("{what}: not noticed"),
            Ok(Some(difference)) => {
                tally.different += 1;
                self.check_place(mutant, place, change, &difference, &what, tally);
            }
            Err(error) => {
                tally.refused += 1;
                assert_eq!(error.source_name(), Some("golden"), "{what}: {error}");
                assert!(self.is_broken(mutant), "{what}: refused though it holds: {error}");
            }
        }
    }

    /// Whether a second opinion finds a line that is no message of known blocks.
    fn is_broken(&self, mutant: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(mutant) else { return true };
        let lines = text.split('\n').filter(|line| !line.trim().is_empty());
        !lines.map(serde_json::from_str::<Value>).all(|line| line.is_ok())
    }

    fn check_place(
        &self,
        mutant: &[u8],
        place: &Place,
        change: Change,
        difference: &Difference,
        what: &str,
        tally: &mut Tally,
    ) {
        let first = difference.first.as_ref().unwrap_or_else(|| panic!("{what}: no place"));
        assert!(!difference.classes.is_empty(), "{what}: no class");
        let message = match place {
            Place::Text { message } | Place::Role { message } => *message,
            // What is put before a line feed belongs to its line; another line feed begins a line of its own.
            Place::LineEnd { message } => message + usize::from(matches!(change, Insert(b'\n'))),
        };
        assert_eq!(first.message, Some(message), "{what}: {first:?}");
        match place {
            Place::Text { .. } => {
                if let Some((block, char)) = second_opinion(&self.stream, mutant, message) {
                    assert_eq!((first.block, first.char), (Some(block), Some(char)), "{what}: {first:?}");
                    tally.located += 1;
                }
            }
            Place::Role { .. } => {
                assert_eq!((first.block, first.char), (None, None), "{what}: {first:?}");
                assert!(difference.classes.contains(&polyloop::diff::Class::Role), "{what}: {:?}", difference.classes);
            }
            Place::LineEnd { .. } => assert!(difference.golden_byte.is_some(), "{what}: {difference:?}"),
        }
    }

    fn check_binary(&self, mutant: &[u8], what: &str, is_error: bool) {
        let tree = Tree::new();
        let ending = self.name.rsplit('.').next().unwrap_or_default();
        tree.file(format!("a.{ending}"), common::read(&self.name)).file("a.render.jsonl", mutant);
        let ran = tree.check(&[]);
        assert_eq!(ran.code, Some(if is_error { 2 } else { 1 }), "{what}: {} {}", ran.text(), ran.stderr);
    }
}

/// The block and the character in which two texts part, by serde_json's reading of the two lines. `None` where the
/// change went further than one text.
fn second_opinion(stream: &[u8], mutant: &[u8], message: usize) -> Option<(usize, u64)> {
    let line = |bytes: &[u8]| -> Option<Value> {
        let text = std::str::from_utf8(bytes).ok()?;
        let tools = usize::from(text.starts_with("{\"tools\""));
        serde_json::from_str(text.split('\n').nth(message + tools)?).ok()
    };
    let (a, b) = (line(stream)?, line(mutant)?);
    let (blocks_a, blocks_b) = (a["content"].as_array()?, b["content"].as_array()?);
    let block = blocks_a.iter().zip(blocks_b).position(|(a, b)| a != b)?;
    let (text_a, text_b) = (blocks_a[block]["text"].as_str()?, blocks_b[block]["text"].as_str()?);
    let char = text_a.chars().zip(text_b.chars()).take_while(|(a, b)| a == b).count();
    Some((block, char as u64))
}

fn mutate(stream: &[u8], at: usize, change: Change) -> Option<Vec<u8>> {
    let mut mutant = stream.to_vec();
    match change {
        Flip => mutant[at] ^= 1,
        Delete => drop(mutant.remove(at)),
        Insert(byte) => mutant.insert(at, byte),
        // An escape, or a part of a character, cannot be exchanged for a letter.
        Replace(byte) => {
            if !stream[at].is_ascii_alphanumeric() && stream[at] != b' ' {
                return None;
            }
            mutant[at] = byte;
        }
    }
    (mutant != stream).then_some(mutant)
}

/// Start, middle and end of every block's text and of every role, and the end of every line.
fn places(stream: &[u8]) -> Vec<(usize, Place)> {
    let mut places = Vec::new();
    let mut start = 0;
    let mut message = 0;
    for line in stream.split_inclusive(|&byte| byte == b'\n') {
        if !line.starts_with(b"{\"tools\"") {
            let spread = |range: Range<usize>| [range.start, range.start + range.len() / 2, range.end - 1];
            let role = "{\"role\":\"".len()..line.iter().skip(9).position(|&b| b == b'"').expect("a role ends") + 9;
            places.extend(spread(role).map(|at| (start + at, Place::Role { message })));
            for text in texts(line).into_iter().filter(|text| !text.is_empty()) {
                places.extend(spread(text).map(|at| (start + at, Place::Text { message })));
            }
            places.push((start + line.len() - 1, Place::LineEnd { message }));
            message += 1;
        }
        start += line.len();
    }
    places
}

/// The insides of the strings under `text` in a line.
fn texts(line: &[u8]) -> Vec<Range<usize>> {
    const KEY: &[u8] = b",\"text\":\"";
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(distance) = line[at..].windows(KEY.len()).position(|part| part == KEY) {
        let from = at + distance + KEY.len();
        let mut to = from;
        while line[to] != b'"' {
            to += if line[to] == b'\\' { 2 } else { 1 };
        }
        found.push(from..to);
        at = to;
    }
    found
}
