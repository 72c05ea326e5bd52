//! What a cell asks the context.

use polyloop::context::Segment;
use polyloop::query::{How, Index, Options, Question, Range, Subject};
use polyloop::{Code, Error, Result};
use serde::{Deserialize, Serialize};

/// A context that answers. What its words are is found out at the first search and kept.
pub struct Questions<'s> {
    subject: &'s Subject<'s>,
    index: Option<Index<'s>>,
}

#[derive(Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
enum Call {
    Current,
    Search(Search),
    Slice { start: Option<i64>, end: Option<i64> },
    Summarize,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: usize,
    offset: usize,
    role: Option<String>,
    segment: Option<String>,
    substring: bool,
    regex: bool,
    state: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    Answer(T),
    Error(Refusal),
}

#[derive(Serialize)]
struct Refusal {
    code: String,
    message: String,
    hint: Option<String>,
}

impl<'s> Questions<'s> {
    pub fn of(subject: &'s Subject<'s>) -> Self {
        Questions { subject, index: None }
    }

    /// Answers a question: both are the text of a frame.
    pub fn answer(&mut self, question: &[u8]) -> Vec<u8> {
        let answer = serde_json::from_slice(question)
            .map_err(|error| Error::new(Code::UsageArguments, format!("this is no question: {error}")))
            .and_then(|call| self.call(call));
        match answer {
            Ok(answer) if u32::try_from(answer.len()).is_ok() => answer,
            Ok(_) => refuse(
                &Error::new(Code::RequestLimit, "the answer is longer than 4 GiB")
                    .with_hint("take the messages in slices"),
            ),
            Err(error) => refuse(&error),
        }
    }

    fn call(&mut self, call: Call) -> Result<Vec<u8>> {
        Ok(match call {
            // The state is that of the process, which adds it.
            Call::Current => written(&self.subject.slice(Range::ALL)),
            Call::Slice { start, end } => written(&self.subject.slice(Range { start, end })),
            Call::Summarize => written(&self.subject.summarize()),
            Call::Search(search) => self.search(search)?,
        })
    }

    fn search(&mut self, search: Search) -> Result<Vec<u8>> {
        let how = match (search.substring, search.regex) {
            (true, true) => {
                return Err(Error::new(Code::UsageArguments, "substring and regex exclude each other")
                    .with_hint("give one of them"));
            }
            (true, false) => How::Substring,
            (false, true) => How::Regex,
            (false, false) => How::Words,
        };
        let question = Question::new(&search.query, how)?;
        let options = Options {
            role: search.role,
            segment: search.segment.as_deref().map(segment).transpose()?,
            state: search.state,
            limit: search.limit,
            offset: search.offset,
        };
        options.check(self.subject)?;
        let index = self.index.get_or_insert_with(|| Index::of(self.subject));
        Ok(written(&index.search(&question, &options)))
    }
}

fn segment(name: &str) -> Result<Segment> {
    Segment::of_name(name).ok_or_else(|| {
        Error::new(Code::UsageArguments, format!("there is no segment {name:?}"))
            .with_nearest(name, Segment::ALL.map(Segment::as_str))
    })
}

fn written(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(&Answer::Answer(answer))
        .unwrap_or_else(|error| refuse(&Error::new(Code::IoWrite, format!("the answer cannot be written: {error}"))))
}

fn refuse(error: &Error) -> Vec<u8> {
    let refusal = Refusal {
        code: error.code().to_string(),
        message: error.message().to_owned(),
        hint: error.hint().map(ToOwned::to_owned),
    };
    serde_json::to_vec(&Answer::<()>::Error(refusal)).unwrap_or_default()
}
