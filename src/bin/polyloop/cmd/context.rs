//! `polyloop context`

use polyloop::Result;
use polyloop::query::{How, Options, Question, Range, Subject, search};
use polyloop::write::{Answer, AnswerView};

use super::render::usage;
use crate::args::Context as Args;
use crate::args::context::{Action, Search};
use crate::asked::with_unchanged;
use crate::exit::Exit;
use crate::io::{refuse_overwriting, write_json, write_out_if};
use crate::terminal::Terminal;

pub fn run(args: &Args, terminal: &Terminal) -> anyhow::Result<Exit> {
    let (asked, shown) = (args.action.asked(), args.action.answer());
    let output = shown.output.as_deref();
    refuse_overwriting(output, [asked.input.as_path()])?;
    let question = Asking::of(&args.action)?;
    with_unchanged(asked, |source, subject, check| {
        let view = AnswerView { source, subject, answer: question.ask(subject)? };
        write_out_if(check, output, |out| match args.prints_json() {
            true => write_json(out, &view, true),
            false => view.write(&terminal.look(output), out),
        })?;
        Ok(Exit::Done)
    })
}

/// A question that has been understood, before the input is read.
enum Asking {
    Current,
    Search(Question, Options),
    Slice(Range),
    Summarize,
    State,
}

impl Asking {
    fn of(action: &Action) -> Result<Self> {
        Ok(match action {
            Action::Current(_) => Asking::Current,
            Action::Search(search) => Asking::Search(question(search)?, options(search)),
            Action::Slice(slice) => Asking::Slice(slice.range.parse()?),
            Action::Summarize(_) => Asking::Summarize,
            Action::State(_) => Asking::State,
        })
    }

    fn ask<'s>(&'s self, subject: &Subject<'s>) -> Result<Answer<'s>> {
        Ok(match self {
            Asking::Current => Answer::Current(subject.current()),
            Asking::Search(question, options) => {
                options.check(subject)?;
                Answer::Search { found: search(subject, question, options), options }
            }
            Asking::Slice(range) => Answer::Slice(subject.slice(*range)),
            Asking::Summarize => Answer::Summary(subject.summarize()),
            Asking::State => Answer::State(subject.state()),
        })
    }
}

fn question(search: &Search) -> Result<Question> {
    // Only what is taken as it stands can be nothing but spaces.
    let query = if search.substring { &*search.query } else { search.query.trim() };
    if query.is_empty() {
        return Err(usage("the query is empty")
            .with_hint("write what to search for; polyloop context current INPUT gives every message"));
    }
    let how = match (search.substring, search.regex) {
        (true, _) => How::Substring,
        (_, true) => How::Regex,
        _ => How::Words,
    };
    Question::new(&search.query, how)
}

fn options(search: &Search) -> Options {
    Options {
        role: search.role.clone(),
        segment: search.segment,
        limit: search.limit,
        offset: search.offset,
        state: search.state,
    }
}
