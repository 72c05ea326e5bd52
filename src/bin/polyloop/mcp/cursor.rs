//! Cursors: where a result goes on that was too large for one.

use std::fmt;
use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

/// A place in a list of things, the first of which may have been given in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The thing that comes next.
    pub item: usize,
    /// The bytes of its text that have been given.
    pub byte: usize,
    /// The characters that these are.
    pub char: usize,
}

impl Position {
    /// The start of a thing.
    pub fn at(item: usize) -> Self {
        Position { item, ..Position::default() }
    }
}

/// What a cursor belongs to: the context and its state, a tool, and the arguments.
#[derive(Clone)]
pub struct Binding(Xxh3);

impl Binding {
    pub fn new(subject: &[&[u8]]) -> Self {
        let mut hash = Xxh3::new();
        subject.iter().for_each(|part| add(&mut hash, part));
        Binding(hash)
    }

    /// The same, for a call.
    pub fn to(&self, tool: &str, arguments: &str) -> Self {
        let mut hash = self.0.clone();
        add(&mut hash, tool.as_bytes());
        add(&mut hash, arguments.as_bytes());
        Binding(hash)
    }

    /// The cursor for a position.
    pub fn cursor(&self, position: Position) -> String {
        let Position { item, byte, char } = position;
        format!("{item}.{byte}.{char}.{:016x}", self.check(position))
    }

    /// The position of a cursor, if it is one of this call.
    pub fn position(&self, cursor: &str) -> Result<Position, NoCursor> {
        let mut parts = cursor.split('.');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or(NoCursor);
        let position = Position { item: number()?, byte: number()?, char: number()? };
        if self.cursor(position) == cursor { Ok(position) } else { Err(NoCursor) }
    }

    fn check(&self, position: Position) -> u64 {
        let mut hash = self.0.clone();
        for number in [position.item, position.byte, position.char] {
            hash.write_u64(number as u64);
        }
        hash.finish()
    }
}

fn add(hash: &mut Xxh3, part: &[u8]) {
    hash.write_u64(part.len() as u64);
    hash.update(part);
}

/// The cursor belongs to something else, or to nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct NoCursor;

impl fmt::Display for NoCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the cursor is not one of this call; give next_cursor of a result with the same other arguments")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_lead_back_to_their_call_alone() {
        let subject = Binding::new(&[b"context", b"state"]);
        let binding = subject.to("slice", "{}");
        let position = Position { item: 3, byte: 20, char: 10 };
        let cursor = binding.cursor(position);
        assert_eq!(binding.position(&cursor), Ok(position));
        for other in [
            subject.to("current", "{}"),
            subject.to("slice", "{\"start\":1}"),
            subject.to("slice{}", ""),
            Binding::new(&[b"contexts", b"tate"]).to("slice", "{}"),
        ] {
            assert_eq!(other.position(&cursor), Err(NoCursor));
        }
        let check = cursor.rsplit('.').next().unwrap();
        for garbage in [
            "",
            "...",
            "0",
            &format!("4.20.10.{check}"),
            &format!("3.20.10.{check}.0"),
            &format!("+3.20.10.{check}"),
            &format!("03.20.10.{check}"),
            &format!("3.20.10.{}", check.to_uppercase() + " "),
            "99999999999999999999999.0.0.0",
            "-1.0.0.0",
            "é.\u{0}",
        ] {
            assert_eq!(binding.position(garbage), Err(NoCursor), "{garbage:?}");
        }
    }
}
