//! What may be cut is cut to the space left: the most of it that fits, at a boundary.

use std::ops::Range;

use super::boundaries::{Boundaries, Place};
use super::frame::Framed;
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
    let framed = Framed::new(request, fragment);
    // Whatever is kept holds the first line or the last: mostly there is no space even for that, and nothing to look for.
    let least = match trim.keep {
        Keep::Head => text.first_line_chars(),
        Keep::Tail => text.last_line_chars(),
        Keep::HeadTail => text.first_line_chars().min(text.last_line_chars()),
    };
    if framed.least_chars(least.max(trim.min_chars)) > space {
        return None;
    }
    let of = Place { byte: usize::try_from(text.bytes()).ok()?, char: text.chars() };
    let cut = |head: Place, tail: Place| Cut { keep: trim.keep, head, tail, of };
    let size = |cut: &Cut| framed.chars(cut);
    let whole = text.to_cow();
    let mut places = Boundaries::of(&whole, trim.boundary);
    let cut = match trim.keep {
        Keep::Head => {
            let fits = |place: &Place| *place != of && size(&cut(*place, of)) <= space;
            cut(places.take_while(fits).last()?, of)
        }
        Keep::Tail => {
            cut(Place::default(), places.skip(1).find(|place| size(&cut(Place::default(), *place)) <= space)?)
        }
        Keep::HeadTail => {
            let half = space.checked_sub(size(&cut(Place::default(), of)))? / 2;
            let is_head = |place: &Place| *place != of && place.char <= half;
            let mut head = places.next().filter(is_head)?;
            let mut next = places.next();
            while let Some(place) = next.filter(is_head) {
                head = place;
                next = places.next();
            }
            cut(head, next.into_iter().chain(places).find(|place| size(&cut(head, *place)) <= space)?)
        }
    };
    (cut.kept_chars() >= trim.min_chars).then_some(cut)
}
