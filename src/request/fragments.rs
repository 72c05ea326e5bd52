//! Fragments: optional typed pieces of context with provenance, out of which a selection is made.

use std::borrow::Cow;

use super::compaction::Compaction;
use super::hash::ContentHash;
use super::time::Time;
use super::words::{Boundary, EvidenceLevel, FragmentKind, Keep, Trust};
use crate::context::{Content, Json, Role, Text};

/// A piece of context that may become one message of its own.
#[derive(Clone, Debug)]
pub struct Fragment<'a> {
    /// What it is called: unique in the request, not empty.
    pub id: Cow<'a, str>,
    /// What it is, and so where it stands.
    pub kind: FragmentKind,
    /// What it says, or where that is written.
    pub body: Body<'a>,
    /// Who speaks; `system` and `developer` go with [`Trust::Runtime`] alone.
    pub role: Role<'a>,
    /// Where the project has it from: a record, an event, lines of a file.
    pub source_ref: Option<Cow<'a, str>>,
    /// Which state of the source it is.
    pub version: Option<Cow<'a, str>>,
    /// What its content must hash to.
    pub content_hash: Option<ContentHash>,
    /// Where its text comes from; from outside, where nothing is said.
    pub trust: Trust,
    /// Higher is chosen first.
    pub priority: i64,
    /// Whether the prompt is wrong without it.
    pub required: bool,
    /// Fresher is chosen first among those of one priority.
    pub freshness: Freshness,
    /// When it was found to be so.
    pub observed_at: Option<Time<'a>>,
    /// How long it holds from then on, in seconds.
    pub ttl_s: Option<u64>,
    /// For what it holds.
    pub scope: Option<Cow<'a, str>>,
    /// How well it is known.
    pub evidence: Option<EvidenceLevel>,
    /// What it says of something that others may say otherwise.
    pub claim: Option<Claim<'a>>,
    /// Ids of fragments it stands in for.
    pub supersedes: Vec<Cow<'a, str>>,
    /// The declared size of its message in tokens, with the frame if there is one.
    pub tokens: Option<u64>,
    /// Fragments of one group are in or out together.
    pub group: Option<Cow<'a, str>>,
    /// How it may be cut to the space there is; without it the whole or nothing.
    pub trim: Option<Trim>,
    /// Why the project offers it.
    pub reason: Option<Cow<'a, str>>,
    /// What it sums up, if it is a summary.
    pub compaction: Option<Compaction<'a>>,
}

/// What a fragment says.
#[derive(Clone, Debug)]
pub enum Body<'a> {
    /// As it stands in the request.
    Content(Vec<Content<'a>>),
    /// As it stands in a file that has not been read.
    File(FileRange<'a>),
    /// As it stood in a file.
    Read {
        /// Where.
        file: FileRange<'a>,
        /// A single text.
        content: Vec<Content<'a>>,
    },
}

/// A file, or some lines of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange<'a> {
    /// Its path, relative to the folder of the request.
    pub path: Cow<'a, str>,
    /// The lines; all of them where none are named.
    pub lines: Option<LineRange>,
}

/// Lines of a file, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineRange {
    first: u64,
    last: u64,
}

/// A degree between 0 and 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Freshness(f64);

/// A value under a key: others may claim another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// What is spoken of.
    pub key: Cow<'a, str>,
    /// What is said of it.
    pub value: Json<'a>,
}

/// How a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Which end stays.
    pub keep: Keep,
    /// Where it may be cut.
    pub boundary: Boundary,
    /// With fewer characters left it is of no use.
    pub min_chars: u64,
}

impl<'a> Fragment<'a> {
    /// What it says; nothing where that has to be read from a file first.
    pub fn content(&self) -> Option<&[Content<'a>]> {
        match &self.body {
            Body::Content(content) | Body::Read { content, .. } => Some(content),
            Body::File(_) => None,
        }
    }

    /// The single text it is, where it is one.
    pub fn text(&self) -> Option<&Text<'a>> {
        match self.content() {
            Some([Content::Text(text)]) => Some(text),
            _ => None,
        }
    }

    /// The file its content stands in, if it does.
    pub fn file(&self) -> Option<&FileRange<'a>> {
        match &self.body {
            Body::File(file) | Body::Read { file, .. } => Some(file),
            Body::Content(_) => None,
        }
    }
}

impl LineRange {
    /// `None` unless both count from 1 and the last does not stand before the first.
    pub fn new(first: u64, last: u64) -> Option<Self> {
        (1 <= first && first <= last).then_some(LineRange { first, last })
    }

    /// The first line, from 1.
    pub fn first(self) -> u64 {
        self.first
    }

    /// The last line, itself included.
    pub fn last(self) -> u64 {
        self.last
    }
}

impl Freshness {
    /// `None` for anything but 0 to 1.
    pub fn new(degree: f64) -> Option<Self> {
        // The sum makes one zero of the two.
        (0.0..=1.0).contains(&degree).then_some(Freshness(degree + 0.0))
    }

    /// The degree.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Freshness {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Freshness {}

impl PartialOrd for Freshness {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Freshness {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
