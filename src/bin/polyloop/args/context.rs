//! The flags of `polyloop context`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use polyloop::context::Segment;

use super::Asked;

/// Ask a context: all of it, what a query is about, some messages, counts, the state
///
/// INPUT is whatever render takes, a batch apart: of a request that selects fragments the messages are those selected.
/// Ranges of characters count in the text of a message: that of its blocks one after the other.
#[derive(Args, Debug)]
pub struct Context {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    Current(Current),
    Search(Search),
    Slice(Slice),
    Summarize(Summarize),
    State(State),
}

/// Every message, and the state of the run
#[derive(Args, Debug)]
pub struct Current {
    #[command(flatten)]
    pub asked: Asked,

    #[command(flatten)]
    pub answer: Answer,
}

/// The messages that a query is about, the best first
///
/// A query is words, of which any may be found, in other forms too; what stands in double quotes is found together, and
/// has to be found. Upper and lower case are the same, but to --regex. A search that finds nothing has been done all the
/// same: it exits 0.
#[derive(Args, Debug)]
pub struct Search {
    #[command(flatten)]
    pub asked: Asked,

    /// What to search for, as one word of the shell
    #[arg(value_name = "QUERY")]
    pub query: String,

    /// Take the query as it stands, in one piece
    #[arg(long, conflicts_with = "regex")]
    pub substring: bool,

    /// Take the query for a regular expression, in the case it is written in unless it begins with (?i)
    #[arg(long)]
    pub regex: bool,

    /// Only messages of this role: system, developer, user, assistant, tool, or another that was recorded
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,

    /// Only messages of this part of a request; of what is no request all are recorded
    #[arg(long, value_name = "SEGMENT", value_parser = segments())]
    pub segment: Option<Segment>,

    /// How many results to give at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub limit: usize,

    /// How many of the best results to pass over
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: usize,

    /// Search the state of the run too
    #[arg(long)]
    pub state: bool,

    #[command(flatten)]
    pub answer: Answer,
}

/// Some messages after one another
#[derive(Args, Debug)]
pub struct Slice {
    #[command(flatten)]
    pub asked: Asked,

    /// START, START:, START:END or :END, counted from 0 and as Python slices: -2: are the last two
    #[arg(value_name = "RANGE", allow_hyphen_values = true)]
    pub range: String,

    #[command(flatten)]
    pub answer: Answer,
}

/// Count messages, characters and tool calls
#[derive(Args, Debug)]
pub struct Summarize {
    #[command(flatten)]
    pub asked: Asked,

    #[command(flatten)]
    pub answer: Answer,
}

/// The state of the run, as the request says it
#[derive(Args, Debug)]
pub struct State {
    #[command(flatten)]
    pub asked: Asked,

    #[command(flatten)]
    pub answer: Answer,
}

/// How the answer is given.
#[derive(Args, Debug)]
pub struct Answer {
    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: AnswerFormat,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// For people
    #[default]
    Text,
    /// One document: polyloop.current/1, polyloop.search/1, polyloop.slice/1, polyloop.summary/1 or polyloop.state/1
    Json,
}

impl Context {
    /// Whether the answer is a JSON document.
    pub fn prints_json(&self) -> bool {
        self.action.answer().format == AnswerFormat::Json
    }
}

impl Action {
    /// What is asked.
    pub fn asked(&self) -> &Asked {
        match self {
            Action::Current(current) => &current.asked,
            Action::Search(search) => &search.asked,
            Action::Slice(slice) => &slice.asked,
            Action::Summarize(summarize) => &summarize.asked,
            Action::State(state) => &state.asked,
        }
    }

    /// How the answer is given.
    pub fn answer(&self) -> &Answer {
        match self {
            Action::Current(current) => &current.answer,
            Action::Search(search) => &search.answer,
            Action::Slice(slice) => &slice.answer,
            Action::Summarize(summarize) => &summarize.answer,
            Action::State(state) => &state.answer,
        }
    }
}

fn segments() -> impl TypedValueParser<Value = Segment> {
    let known = |name: String| Segment::of_name(&name).ok_or("no segment");
    PossibleValuesParser::new(Segment::ALL.map(Segment::as_str)).try_map(known)
}

fn at_least_one(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number > 0).ok_or("write a whole number of at least 1")
}
