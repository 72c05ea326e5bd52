//! Of what kind a difference between two texts is.
//!
//! A kind of difference holds where the texts are equal once only that kind is removed ([`equal`]). One kind that
//! explains everything is the answer alone; else the fewest and narrowest that do so together; else the texts are taken
//! apart, each differing stretch is explained by itself, and what stays unexplained is content ([`by_parts`]).
//!
//! Texts may be large. Nothing here is slower than linear but the bounded search for what answers to what, and only the
//! text round the differences is looked at.

mod lookalike;
mod moment;
mod normalise;
mod parts;
#[cfg(test)]
mod tests;
mod volatile;
mod window;

use super::Class;
use normalise::{End, Kinds, equal};
use parts::by_parts;
pub(crate) use volatile::{Kind, token_at};
use window::window;

/// The kinds one text can differ from another in, narrowest first.
const KINDS: [Class; 9] = [
    Class::LineEnding,
    Class::TrailingNewline,
    Class::TrailingWhitespace,
    Class::Whitespace,
    Class::Bom,
    Class::Invisible,
    Class::Normalization,
    Class::Homoglyph,
    Class::Volatile,
];

/// How two texts differ: the narrowest classes that are true of them, in the order of [`Class`]. Empty only for equal
/// texts. The same whichever text comes first.
pub(crate) fn classify(a: &str, b: &str) -> Vec<Class> {
    if a == b {
        return Vec::new();
    }
    // The search for stretches may choose another one when the sides change places.
    let (a, b) = if a < b { (a, b) } else { (b, a) };
    let (a, b, end) = window(a, b);
    let found = explain(a, b, end).unwrap_or_else(|| by_parts(a, b, end));
    KINDS.into_iter().chain([Class::Content]).filter(|&class| found.has(class)).collect()
}

/// The kinds that make two texts equal, if any do: those that leave out the broadest.
fn explain(a: &str, b: &str, end: End) -> Option<Kinds> {
    let holds = |kinds| equal(a, b, kinds, end);
    let alone = |classes: &[Class]| classes.iter().map(|&class| Kinds::of(&[class])).find(|&kinds| holds(kinds));
    let together =
        |classes: &[Class]| Some(Kinds::of(classes)).filter(|&kinds| holds(kinds)).map(|all| least(all, holds));
    // Three kinds of white space, together, say more than white space alone. Volatile text comes last also in company:
    // it is told from its surroundings, which the other kinds may have changed on one side only.
    alone(&KINDS[..3])
        .or_else(|| together(&KINDS[..3]))
        .or_else(|| alone(&KINDS[3..]))
        .or_else(|| together(&KINDS[..8]))
        .or_else(|| together(&KINDS))
}

/// A quick look for stretches, of which most have nothing to do with each other: whether all kinds together explain
/// anything. Kinds that hold alone hold in company but for oddities, such as marks behind removed white space.
fn may_explain(a: &str, b: &str, end: End) -> bool {
    equal(a, b, Kinds::of(&KINDS[..8]), end) || equal(a, b, Kinds::of(&KINDS), end)
}

/// What is left of `all` when each kind that is not needed is dropped, the broadest first.
fn least(all: Kinds, holds: impl Fn(Kinds) -> bool) -> Kinds {
    let (mut needed, mut others) = (Kinds::NONE, all);
    for &class in KINDS.iter().rev().filter(|&&class| all.has(class)) {
        others = others.without(class);
        if !holds(needed.and(others)) {
            needed = needed.and(Kinds::of(&[class]));
            if holds(needed) {
                break;
            }
        }
    }
    needed
}
