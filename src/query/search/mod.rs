//! Which messages a query is about, the best first.
//!
//! 1. [`Question`]: a query becomes terms (words, and pairs of characters where a script puts no spaces between words) and
//!    literals (phrases, paths).
//! 2. What it asks for is counted in every message, in one pass over the text or by an [`Index`]; both find the same.
//! 3. The counts become scores, and the best messages are looked at once more: to hold all of a query counts, and to hold it
//!    together.
//! 4. Round the best match of those that are given stands a snippet.

mod document;
mod index;
mod matching;
mod parts;
mod question;
mod rank;
mod snippet;
mod stem;
mod tally;
mod terms;
mod unescaped;
mod words;

pub use index::Index;
pub use question::{How, Question};

use std::borrow::Cow;

use serde::Serialize;

use super::{Field, Subject};
use crate::context::{Origin, Role, Segment};
use crate::error::{Code, Error, Result};
use document::{Document, What, documents};
use matching::Matcher;
use rank::Weights;
use snippet::Best;
use tally::{Tally, scan};

/// Which messages are looked at, and how many results are given.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only messages of this role, as it is spelled.
    pub role: Option<String>,
    /// Only messages of this part of a request.
    pub segment: Option<Segment>,
    /// Whether the state is searched too: each variable, each field, of a list each item.
    pub state: bool,
    /// How many results are given at most.
    pub limit: usize,
    /// How many of the best results are passed over.
    pub offset: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { role: None, segment: None, state: false, limit: 10, offset: 0 }
    }
}

impl Options {
    /// Whether there can be anything in what is to be looked at: a role that is none of the five is one that was recorded,
    /// or a slip.
    ///
    /// # Errors
    /// `usage.arguments` for a role that nobody has.
    pub fn check(&self, subject: &Subject<'_>) -> Result<()> {
        /// What is told has to be read: a recording may make up any number of roles.
        const TOLD: usize = 20;
        let Some(role) = self.role.as_deref().filter(|role| !Role::NAMES.contains(role)) else { return Ok(()) };
        let mut there: Vec<&str> = Vec::new();
        for message in &subject.context.messages {
            let recorded = message.role.as_str();
            if recorded == role {
                return Ok(());
            }
            if there.len() < TOLD && !there.contains(&recorded) {
                there.push(recorded);
            }
        }
        let error = Error::new(Code::UsageArguments, format!("no message has the role {role:?}"));
        Err(match there.is_empty() {
            true => error.with_hint("there is no message at all"),
            false => error.with_nearest(role, there),
        })
    }
}

/// The results of a search, the best first; of equally good ones the earlier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found<'s> {
    /// At most as many as were asked for.
    pub results: Vec<Hit<'s>>,
    /// Everything in which something was found.
    pub total: usize,
}

/// A message in which something was found, or a part of the state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit<'s> {
    /// The message's place in the context; none of what is found in the state.
    pub index: Option<usize>,
    /// Its role; none of what is found in the state.
    pub role: Option<Cow<'s, str>>,
    /// Where the block came from in which the best match lies, or the place in the state.
    #[serde(serialize_with = "as_text")]
    pub origin: Origin<'s>,
    /// Text round the best match, as it stands.
    pub snippet: String,
    /// How well it fits; only the order of the scores of one search means something.
    pub score: f64,
    /// The best match: characters from and to in the text of the message.
    pub chars: [usize; 2],
    /// Where the snippet begins in that text, in characters.
    pub snippet_start: usize,
    /// Every match in the snippet, as `chars`; of one that reaches out of it, what is in it.
    pub matches: Vec<[usize; 2]>,
}

fn as_text<S: serde::Serializer>(origin: &Origin<'_>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
}

/// Searches a context once, in one pass over its text and without an index.
pub fn search<'s>(subject: &Subject<'s>, question: &Question, options: &Options) -> Found<'s> {
    let documents = documents(subject);
    answer(&documents, question, options, |asked| scan(&documents, asked, question))
}

/// Scores what was counted, and shows the best.
fn answer<'s>(
    documents: &[Document<'s>],
    question: &Question,
    options: &Options,
    count: impl FnOnce(&[usize]) -> Vec<Tally>,
) -> Found<'s> {
    let asked: Vec<usize> = (0..documents.len()).filter(|document| documents[*document].is_asked(options)).collect();
    let tallies = count(&asked);
    let weights = Weights::of(question, &tallies, documents, &asked);
    let score = |tally: &Tally| weights.score(question, tally, documents).map(|score| (tally.document, score));
    let mut ranked: Vec<(usize, f64)> = tallies.iter().filter_map(score).collect();
    sort(&mut ranked);
    let matcher = Matcher::new(question);
    let looked_at = look_closer(&mut ranked, documents, &matcher, &weights);
    let total = ranked.len();
    let shown = ranked.into_iter().enumerate().skip(options.offset).take(options.limit);
    let results = shown.filter_map(|(_, (document, score))| {
        let fields = documents[document].fields();
        let best = match looked_at.iter().find(|(looked_at, _)| *looked_at == document) {
            Some((_, best)) => best.clone(),
            None => snippet::best(&fields, &matcher, &weights)?,
        };
        Some(hit(&documents[document], &fields, &best, score))
    });
    Found { results: results.collect(), total }
}

fn sort(ranked: &mut [(usize, f64)]) {
    ranked.sort_by(|(a, of_a), (b, of_b)| of_b.total_cmp(of_a).then(a.cmp(b)));
}

/// Raises the score of those of the best documents that hold much of what is asked for, and together. Scores are only
/// raised, so that what is not looked at stays behind.
fn look_closer(
    ranked: &mut [(usize, f64)],
    documents: &[Document<'_>],
    matcher: &Matcher<'_>,
    weights: &Weights,
) -> Vec<(usize, Best)> {
    /// How many are looked at, and how many bytes of them.
    const MOST: usize = 100;
    const MOST_BYTES: u64 = 4 << 20;
    let parts = weights.terms.len() + weights.literals.len();
    let mut looked_at = Vec::new();
    let mut bytes = 0;
    for (document, score) in ranked.iter_mut().take(MOST) {
        bytes += documents[*document].bytes;
        if parts < 2 || bytes > MOST_BYTES {
            break;
        }
        if let Some(best) = snippet::best(&documents[*document].fields(), matcher, weights) {
            *score *= 1.0 + best.coverage;
            looked_at.push((*document, best));
        }
    }
    sort(&mut ranked[..looked_at.len()]);
    looked_at
}

fn hit<'s>(document: &Document<'s>, fields: &[Field<'_>], best: &Best, score: f64) -> Hit<'s> {
    let text = &*fields[best.field].text;
    let before: usize = fields[..best.field].iter().map(|field| field.text.chars().count()).sum();
    let to_snippet = before + text[..best.snippet.0].chars().count();
    let snippet = &text[best.snippet.0..best.snippet.1];
    // Ranges may reach out of the snippet: a match may be longer.
    let at = |byte: usize| match text.get(best.snippet.0..byte) {
        Some(between) => to_snippet + between.chars().count(),
        None => before + text[..byte].chars().count(),
    };
    let (index, role) = match &document.what {
        What::Message(index, message) => (Some(*index), Some(Cow::Borrowed(message.role.as_str()))),
        What::State { .. } => (None, None),
    };
    Hit {
        index,
        role,
        origin: fields[best.field].origin.to_owned(),
        snippet: snippet.to_owned(),
        score,
        chars: [at(best.range.0), at(best.range.1)],
        snippet_start: to_snippet,
        matches: best.matches.iter().map(|(start, end)| [at(*start), at(*end)]).collect(),
    }
}
