//! Which messages a query is about.

use std::borrow::Cow;

use serde::Serialize;

use super::{Subject, fields};
use crate::context::{Origin, Segment};
use crate::error::Result;

/// How the text of a query is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// As words, of which any may be found; quoted ones stand together.
    #[default]
    Words,
    /// As it stands, its letters in any case.
    Substring,
    /// As a regular expression.
    Regex,
}

/// A query that has been understood.
#[derive(Clone, Debug)]
pub struct Question {
    text: String,
}

impl Question {
    /// Understands a query.
    ///
    /// # Errors
    /// `usage.arguments` for a regular expression that is none, or one that would be too large.
    pub fn new(text: &str, how: How) -> Result<Question> {
        let _ = how;
        Ok(Question { text: text.to_lowercase() })
    }
}

/// Which messages are looked at, and how many results are given.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only messages of this role, as it is spelled.
    pub role: Option<String>,
    /// Only messages of this part of a request.
    pub segment: Option<Segment>,
    /// How many results are given at most.
    pub limit: usize,
    /// How many of the best results are passed over.
    pub offset: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { role: None, segment: None, limit: 10, offset: 0 }
    }
}

/// The results of a search, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found<'s> {
    /// At most as many as were asked for.
    pub results: Vec<Hit<'s>>,
    /// All messages in which something was found.
    pub total: usize,
}

/// A message in which something was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit<'s> {
    /// The message's place in the context.
    pub index: usize,
    /// Its role.
    pub role: Cow<'s, str>,
    /// Where the block came from in which the best match lies.
    #[serde(serialize_with = "origin")]
    pub origin: Origin<'s>,
    /// Text round the best match.
    pub snippet: String,
    /// How well it fits; only the order of scores of one search means something.
    pub score: f64,
    /// The best match: characters from and to in the text of the message.
    pub chars: [usize; 2],
    /// Where the snippet begins in that text, in characters.
    pub snippet_start: usize,
    /// Every match in the snippet, as `chars`.
    pub matches: Vec<[usize; 2]>,
}

fn origin<S: serde::Serializer>(origin: &Origin<'_>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
}

/// Searches the messages of a context once, without an index.
pub fn search<'s>(subject: &Subject<'s>, question: &Question, options: &Options) -> Found<'s> {
    Index::of(subject).search(question, options)
}

/// What is known of the words of a context, for many searches.
#[derive(Debug)]
pub struct Index<'s> {
    subject: Subject<'s>,
}

impl<'s> Index<'s> {
    /// Reads every message once.
    pub fn of(subject: &Subject<'s>) -> Self {
        Index { subject: *subject }
    }

    /// Searches without reading the messages again, but for those that are shown.
    pub fn search(&self, question: &Question, options: &Options) -> Found<'s> {
        let mut results = Vec::new();
        for (index, message) in self.subject.context.messages.iter().enumerate() {
            let text: String = fields(message).iter().map(|field| &*field.text).collect();
            if let Some(at) = text.to_lowercase().find(&question.text) {
                let at = text.char_indices().take_while(|(byte, _)| *byte < at).count();
                let chars = [at, at + question.text.chars().count()];
                results.push(Hit {
                    index,
                    role: Cow::Borrowed(message.role.as_str()),
                    origin: message.origin.borrow(),
                    snippet: text.chars().take(200).collect(),
                    score: 1.0,
                    chars,
                    snippet_start: 0,
                    matches: vec![chars],
                });
            }
        }
        let total = results.len();
        Found { results: results.into_iter().skip(options.offset).take(options.limit).collect(), total }
    }
}
