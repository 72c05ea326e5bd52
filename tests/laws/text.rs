//! Text that has broken programs before.

use proptest::prelude::*;

/// Pieces that mean something to JSON, YAML, a template, a terminal, or to nobody but Unicode.
const PIECES: &[&str] = &[
    "a",
    "word",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "\"",
    "'",
    "\\",
    "\\n",
    "/",
    "\0",
    "\u{1}",
    "\u{b}",
    "\u{1b}[31m",
    "\u{1f}",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "\u{9b}",
    "\u{a0}",
    "\u{ad}",
    "é",
    "e\u{301}",
    "중",
    "\u{1100}\u{1161}",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}",
    "\u{2028}",
    "\u{2029}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{fe0f}",
    "\u{feff}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "😀",
    "\u{1fffe}",
    "\u{e0041}",
    "\u{10ffff}",
    "{",
    "}",
    "{{",
    "}}",
    "{}",
    "{observation}",
    "{{observation}}",
    "{observation!r}",
    "%s",
    "$x",
    "#",
    " #",
    ": ",
    "- ",
    "? ",
    "---",
    "...",
    "|",
    ">",
    "&a",
    "*a",
    "!!str",
    "<<",
    "~",
    "null",
    "true",
    "no",
    "123",
    "0o7",
    ",",
    "[",
    "]",
    "`",
    "@",
];

/// A short text of such pieces and of any characters.
pub fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

/// A source of choices that says the same for the same seed.
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Choices(seed | 1)
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
