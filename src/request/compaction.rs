//! Compaction records: what a summary says it stands for. polyloop checks summaries and writes none.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::context::Text;

/// What a fragment of history sums up.
#[derive(Clone, Debug, Default)]
pub struct Compaction<'a> {
    /// Where the replaced parts stand or stood.
    pub replaces: Vec<OriginRange<'a>>,
    /// What of them has to be known from now on.
    pub summary_of: Summary<'a>,
}

/// The structured part of a summary.
#[derive(Clone, Debug, Default)]
pub struct Summary<'a> {
    /// Statements by field, in the order of [`Summary::FIELDS`].
    pub statements: Vec<(&'static str, Vec<Statement<'a>>)>,
    /// Words and numbers that must survive besides what is found to be an identifier.
    pub keep: Vec<Text<'a>>,
}

/// Something a summary says.
#[derive(Clone, Debug)]
pub struct Statement<'a> {
    /// What.
    pub text: Text<'a>,
    /// Whether it was concluded, not observed.
    pub inferred: bool,
}

impl Summary<'_> {
    /// The fields of a summary; the first and the last are single statements, the others lists.
    pub const FIELDS: [&'static str; 9] = [
        "goal",
        "completed_steps",
        "pending_steps",
        "decisions",
        "constraints",
        "evidence_refs",
        "side_effects",
        "known_failures",
        "next_action",
    ];
}

/// A stretch of a part of the request, such as `trajectory[0:12]`, `fragments[3]` or `injections.skills[0:2]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginRange<'a> {
    /// The part.
    pub part: PartOfRequest<'a>,
    /// Its items, counted from 0; the end is not included.
    pub items: Range<usize>,
}

/// A part of a request that has items.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are the words of the request")]
pub enum PartOfRequest<'a> {
    Prefix,
    /// A channel of `injections`.
    Injections(Cow<'a, str>),
    Goal,
    Trajectory,
    Fragments,
}

impl<'a> OriginRange<'a> {
    /// Reads `PART[INDEX]` or `PART[START:END]`; `None` for anything else, and for a stretch that holds nothing.
    pub fn parse(text: impl Into<Cow<'a, str>>) -> Option<Self> {
        let text = text.into();
        let (part, items) = text.strip_suffix(']')?.rsplit_once('[')?;
        let number =
            |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<usize>().ok())?;
        let items = match items.split_once(':') {
            Some((start, end)) => number(start)?..number(end)?,
            None => number(items)?..number(items)?.checked_add(1)?,
        };
        let part = match part {
            "prefix" => PartOfRequest::Prefix,
            "goal" => PartOfRequest::Goal,
            "trajectory" => PartOfRequest::Trajectory,
            "fragments" => PartOfRequest::Fragments,
            _ => {
                let channel = part.strip_prefix("injections.").filter(|channel| !channel.is_empty())?;
                PartOfRequest::Injections(Cow::Owned(channel.to_owned()))
            }
        };
        (!items.is_empty()).then_some(OriginRange { part, items })
    }
}

impl fmt::Display for OriginRange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            PartOfRequest::Prefix => f.write_str("prefix"),
            PartOfRequest::Injections(channel) => write!(f, "injections.{channel}"),
            PartOfRequest::Goal => f.write_str("goal"),
            PartOfRequest::Trajectory => f.write_str("trajectory"),
            PartOfRequest::Fragments => f.write_str("fragments"),
        }?;
        match self.items {
            Range { start, end } if end == start + 1 => write!(f, "[{start}]"),
            Range { start, end } => write!(f, "[{start}:{end}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_back() {
        for text in ["trajectory[0:12]", "prefix[3]", "fragments[1:3]", "injections.skills[0]", "goal[0]"] {
            assert_eq!(OriginRange::parse(text).expect(text).to_string(), text);
        }
        for text in [
            "",
            "trajectory",
            "trajectory[]",
            "trajectory[2:2]",
            "trajectory[3:1]",
            "trajectory[-1]",
            "tools[0]",
            "injections[0]",
            "injections.[0]",
            "trajectory[+1]",
            "trajectory[0:]",
            "[0]",
        ] {
            assert_eq!(OriginRange::parse(text), None, "{text}");
        }
    }
}
