//! How a view is laid out and painted; the colours themselves are the binary's.

use crate::context::Segment;

/// How a view is laid out and painted. Without styles every word is still there.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Columns to wrap content at; `None` leaves lines as long as they are.
    pub wrap: Option<usize>,
    /// Columns to lay tables out in; 80 if unset.
    pub columns: Option<usize>,
    /// Escape sequences, or none.
    pub styles: Styles,
}

/// What is written before and after a painted part.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Switches the style on.
    pub on: String,
    /// Switches it off.
    pub off: String,
}

/// One style for each meaning; one colour a segment, the same in every command.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the fields are named by what they paint")]
pub struct Styles {
    pub prefix: Style,
    pub injections: Style,
    pub goal: Style,
    pub trajectory: Style,
    pub fragments: Style,
    pub recorded: Style,
    pub strong: Style,
    pub faint: Style,
    /// Signs that stand for characters which cannot be seen.
    pub sign: Style,
    /// What was searched for.
    pub mark: Style,
    pub good: Style,
    pub bad: Style,
    pub warning: Style,
}

impl Styles {
    pub(crate) fn of(&self, segment: Segment) -> &Style {
        match segment {
            Segment::Prefix => &self.prefix,
            Segment::Injections => &self.injections,
            Segment::Goal => &self.goal,
            Segment::Trajectory => &self.trajectory,
            Segment::Fragments => &self.fragments,
            Segment::Recorded => &self.recorded,
        }
    }
}

impl Style {
    pub(crate) fn paint(&self, text: impl std::fmt::Display) -> String {
        format!("{}{text}{}", self.on, self.off)
    }
}
