//! Where a block came from.

use std::borrow::Cow;
use std::fmt;

/// Where a block came from. Indices count from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin<'a> {
    /// `prefix[2]`
    Prefix(usize),
    /// `injections.skills[0]#retry-policy`
    Injection {
        /// The channel's name.
        channel: Cow<'a, str>,
        /// The entry's place in its channel.
        index: usize,
        /// The entry's id.
        entry_id: Cow<'a, str>,
    },
    /// `goal[0]`
    Goal(usize),
    /// `trajectory[4].raw_output`
    RawOutput(usize),
    /// `trajectory[4].observation`, synthetic or not
    Observation(usize),
    /// `trajectory[4].tool_calls[1]`: the call, and its result
    ToolCall {
        /// The step's place in the trajectory.
        step: usize,
        /// The call's place in the step.
        call: usize,
    },
    /// `fragments[3]#evidence-7`
    Fragment {
        /// The fragment's place in the request.
        index: usize,
        /// The fragment's id.
        id: Cow<'a, str>,
    },
    /// `messages[3]`, `messages[3].content[0]`: a place in a recorded prompt
    Recorded {
        /// The message's place.
        message: usize,
        /// The block's place in the message.
        block: Option<usize>,
    },
    /// `input[3].content[0]`: a place in a recorded body, as its provider names it
    Body(Cow<'a, str>),
    /// `repair(messages[3].tool_calls[1])`: nothing recorded; added for the call at that place
    Repair(Cow<'a, str>),
}

/// A part of a request, as sizes are summed and colours chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are the words themselves")]
pub enum Segment {
    Prefix,
    Injections,
    Goal,
    Trajectory,
    Fragments,
    /// Not a part of a request: a recorded prompt.
    Recorded,
}

impl Segment {
    /// The parts of a request, in prompt order.
    pub const OF_REQUEST: [Segment; 5] =
        [Segment::Prefix, Segment::Injections, Segment::Goal, Segment::Trajectory, Segment::Fragments];

    /// All there are.
    pub const ALL: [Segment; 6] = [
        Segment::Prefix,
        Segment::Injections,
        Segment::Goal,
        Segment::Trajectory,
        Segment::Fragments,
        Segment::Recorded,
    ];

    /// The one with this name.
    pub fn of_name(name: &str) -> Option<Segment> {
        Segment::ALL.into_iter().find(|segment| segment.as_str() == name)
    }

    /// The word for it, as in the request.
    pub fn as_str(self) -> &'static str {
        match self {
            Segment::Prefix => "prefix",
            Segment::Injections => "injections",
            Segment::Goal => "goal",
            Segment::Trajectory => "trajectory",
            Segment::Fragments => "fragments",
            Segment::Recorded => "recorded",
        }
    }
}

impl Origin<'_> {
    /// The part of the request this lies in.
    pub fn segment(&self) -> Segment {
        match self {
            Origin::Prefix(_) => Segment::Prefix,
            Origin::Injection { .. } => Segment::Injections,
            Origin::Goal(_) => Segment::Goal,
            Origin::RawOutput(_) | Origin::Observation(_) | Origin::ToolCall { .. } => Segment::Trajectory,
            Origin::Fragment { .. } => Segment::Fragments,
            Origin::Recorded { .. } | Origin::Body(_) | Origin::Repair(_) => Segment::Recorded,
        }
    }
}

impl<'a> Origin<'a> {
    /// The same place, borrowing its names.
    pub fn borrow(&self) -> Origin<'_> {
        self.map(Cow::Borrowed)
    }

    /// The same place, on its own.
    pub(crate) fn to_owned<'t>(&self) -> Origin<'t> {
        self.map(|text| Cow::Owned(text.to_owned()))
    }

    fn map<'o, 't>(&'o self, own: impl Fn(&'o str) -> Cow<'t, str>) -> Origin<'t> {
        match self {
            Origin::Injection { channel, index, entry_id } => {
                Origin::Injection { channel: own(channel), index: *index, entry_id: own(entry_id) }
            }
            Origin::Fragment { index, id } => Origin::Fragment { index: *index, id: own(id) },
            Origin::Prefix(index) => Origin::Prefix(*index),
            Origin::Goal(index) => Origin::Goal(*index),
            Origin::RawOutput(step) => Origin::RawOutput(*step),
            Origin::Observation(step) => Origin::Observation(*step),
            Origin::ToolCall { step, call } => Origin::ToolCall { step: *step, call: *call },
            Origin::Recorded { message, block } => Origin::Recorded { message: *message, block: *block },
            Origin::Body(path) => Origin::Body(own(path)),
            Origin::Repair(of) => Origin::Repair(own(of)),
        }
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Prefix(index) => write!(f, "prefix[{index}]"),
            Origin::Injection { channel, index, entry_id } => {
                write!(f, "injections{}[{index}]#{entry_id}", Key(channel))
            }
            Origin::Goal(index) => write!(f, "goal[{index}]"),
            Origin::RawOutput(step) => write!(f, "trajectory[{step}].raw_output"),
            Origin::Observation(step) => write!(f, "trajectory[{step}].observation"),
            Origin::ToolCall { step, call } => write!(f, "trajectory[{step}].tool_calls[{call}]"),
            Origin::Fragment { index, id } => write!(f, "fragments[{index}]#{id}"),
            Origin::Recorded { message, block: None } => write!(f, "messages[{message}]"),
            Origin::Recorded { message, block: Some(block) } => write!(f, "messages[{message}].content[{block}]"),
            Origin::Body(path) => f.write_str(path),
            Origin::Repair(of) => write!(f, "repair({of})"),
        }
    }
}

impl serde::Serialize for Origin<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A map key as a step of a path: `.name`, or `["any text"]` where a plain name would be read wrongly.
pub(crate) struct Key<'a>(pub &'a str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
        if !self.0.is_empty() && self.0.chars().all(plain) {
            write!(f, ".{}", self.0)
        } else {
            write!(f, "[{:?}]", self.0)
        }
    }
}
