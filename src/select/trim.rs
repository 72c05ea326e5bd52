//! What may be cut is cut to the space left: the most of it that fits, at a boundary.

use std::ops::Range;

use super::boundaries::{Place, boundaries};
use super::frame;
use crate::context::Text;
use crate::request::{Fragment, Keep, RunRequest, Trim};

/// What was left of a text: its beginning, its end, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    keep: Keep,
    /// The end of what is kept of the beginning.
    head: Place,
    /// The start of what is kept of the end.
    tail: Place,
    /// The end of the text.
    of: Place,
}

impl Cut {
    /// Which end was kept.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// What was kept, in characters of the text; two ranges where the middle went.
    pub fn kept(&self) -> impl Iterator<Item = Range<u64>> {
        [0..self.head.char, self.tail.char..self.of.char].into_iter().filter(|range| !range.is_empty())
    }

    /// How much was kept, in characters.
    pub fn kept_chars(&self) -> u64 {
        self.head.char + (self.of.char - self.tail.char)
    }

    /// How much there was, in characters.
    pub fn of_chars(&self) -> u64 {
        self.of.char
    }

    /// What is left of the text it was made for; points at it where that lies in one run.
    pub(super) fn text<'t>(&self, text: &'t Text<'_>) -> Text<'t> {
        let whole = text.to_cow();
        let mut left = Text::default();
        for range in [0..self.head.byte, self.tail.byte..self.of.byte] {
            match &whole {
                std::borrow::Cow::Borrowed(whole) => left.push_plain(&whole[range]),
                std::borrow::Cow::Owned(whole) => left.push_plain(whole[range].to_owned()),
            }
        }
        left
    }
}

/// The most of a fragment that fits into a space, in characters with its frame; nothing where that is too little.
pub(super) fn to_fit<'r>(
    request: &'r RunRequest<'r>,
    fragment: &'r Fragment<'r>,
    trim: Trim,
    space: u64,
) -> Option<Cut> {
    let text = fragment.text()?;
    if request.frame().is_none() && space < trim.min_chars {
        return None;
    }
    let places = boundaries(&text.to_cow(), trim.boundary);
    let of = *places.last()?;
    let cut = |head: Place, tail: Place| Cut { keep: trim.keep, head, tail, of };
    let size = |cut: &Cut| match request.frame() {
        None => cut.kept_chars(),
        Some(_) => frame::size(request, fragment, Some(cut)),
    };
    let empty = cut(Place::default(), of);
    let inner = &places[..places.len() - 1];
    let cut = match trim.keep {
        Keep::Head => {
            let fitting = inner.partition_point(|place| size(&cut(*place, of)) <= space);
            cut(inner[fitting.checked_sub(1)?], of)
        }
        Keep::Tail => {
            let outer = &places[1..];
            let too_much = outer.partition_point(|place| size(&cut(Place::default(), *place)) > space);
            cut(Place::default(), *outer.get(too_much)?)
        }
        Keep::HeadTail => {
            let half = space.checked_sub(size(&empty))? / 2;
            let at = inner.partition_point(|place| place.char <= half).checked_sub(1)?;
            let (head, outer) = (inner[at], &places[at + 1..]);
            let too_much = outer.partition_point(|place| size(&cut(head, *place)) > space);
            cut(head, *outer.get(too_much)?)
        }
    };
    (cut.kept_chars() >= trim.min_chars).then_some(cut)
}
