//! `polyloop trace`

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use polyloop::context::{Context, Fingerprint, Message, Origin};
use polyloop::read::{self, Calls, LoggedCall, Session};
use polyloop::trace::cache::{Provider, Rules, simulate};
use polyloop::trace::{Call, Trace};
use polyloop::write::TraceView;
use polyloop::{Error, Result, RunRequest, assemble};

use super::render::usage;
use crate::args::{CacheProvider, Require, Trace as Args, TraceFormat};
use crate::exit::Exit;
use crate::input::{Document, Source, folder_of};
use crate::io::{cannot_read, name_of, refuse_overwriting, write_json, write_out};
use crate::terminal::Terminal;

pub fn run(args: &Args, terminal: &Terminal) -> anyhow::Result<Exit> {
    refuse_overwriting(args.output.as_deref(), args.inputs.iter().map(PathBuf::as_path))?;
    if args.across {
        return super::across::run(args, terminal);
    }
    let [input] = &*args.inputs else {
        return Err(usage("calls of one input are traced at a time")
            .with_hint("--across sets several runs against each other; a folder is traced in the order of its names")
            .into());
    };
    let sources = sources(input)?;
    let mut documents = Vec::with_capacity(sources.len());
    for source in &sources {
        documents.push(read_calls(args, input, source)?);
    }
    let max_prompt_chars = documents.iter().find_map(|calls| match calls {
        Calls::Request(request) => request.parts().max_prompt_chars,
        _ => None,
    });
    let mut laid = Laid::default();
    for (source, calls) in sources.iter().zip(&mut documents) {
        let prefix = if sources.len() == 1 { "" } else { &source.name };
        laid.add(prefix, calls).map_err(|error| placed(source, error))?;
    }
    let calls = laid.calls();
    let trace = Trace::of(&calls);
    let rules = args.provider.zip(args.chars_per_token).map(|(provider, chars_per_token)| Rules {
        provider: match provider {
            CacheProvider::Anthropic => Provider::Anthropic,
            CacheProvider::OpenAi => Provider::OpenAi,
        },
        chars_per_token,
        min_tokens: args.min_tokens,
    });
    let cached = rules.map(|rules| simulate(&calls, &trace, rules));
    let cost = args.prices.zip(cached.as_deref()).map(|(prices, cached)| prices.of(cached));
    let name = name_of(input);
    let view = TraceView { source: &name, trace: &trace, max_prompt_chars, cached: cached.as_deref(), cost };
    write_out(args.output.as_deref(), |out| match args.format {
        TraceFormat::Json => write_json(out, &view, true),
        TraceFormat::Text => view.write(&terminal.look(args.output.as_deref()), out),
    })?;
    let is_broken = match args.require {
        Some(Require::AppendOnly) => trace.summary.breaks > 0,
        None => false,
    };
    Ok(if is_broken { Exit::Differs } else { Exit::Done })
}

/// The file, or the files of a folder in the order of their names.
fn sources(input: &Path) -> Result<Vec<Source>> {
    files_of(input, &["json", "jsonl"])?.iter().map(|path| Document::open(path)?.hold()).collect()
}

/// A file, or the files of a folder with these endings, in the order of their names.
pub fn files_of(input: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    if !input.is_dir() {
        return Ok(vec![input.to_owned()]);
    }
    let fail = |error: &std::io::Error| cannot_read(error).with_source(name_of(input));
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(input).map_err(|error| fail(&error))? {
        let path = entry.map_err(|error| fail(&error))?.path();
        let is_named = path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known));
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_named && !is_hidden && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(usage(format!("the folder holds no file that ends in .{}", endings.join(" or .")))
            .with_source(name_of(input)));
    }
    Ok(paths)
}

fn read_calls<'s>(args: &Args, input: &Path, source: &'s Source) -> Result<Calls<'s>> {
    let text = source.text()?;
    let calls = read::calls(text, Some(source.format_of(text)), args.from.taken());
    match calls.map_err(|error| error.with_source(&source.name))? {
        Calls::Request(request) if request.has_files() => {
            let request = request.resolve(&folder_of(input, &args.root)?);
            Ok(Calls::Request(Box::new(request.map_err(|error| placed(source, error))?)))
        }
        calls => Ok(calls),
    }
}

fn placed(source: &Source, error: Error) -> Error {
    match source.text() {
        Ok(text) => read::place(error, text, Some(source.format_of(text))).with_source(&source.name),
        Err(_) => error.with_source(&source.name),
    }
}

/// Every call, as a range of messages that are held once.
#[derive(Default)]
struct Laid<'l> {
    groups: Vec<Group<'l>>,
    calls: Vec<One>,
}

/// Messages that one call holds, or several one after the other.
struct Group<'l> {
    context: Context<'l>,
    prints: Vec<Fingerprint>,
}

struct One {
    path: String,
    group: usize,
    messages: Range<usize>,
    model: Option<String>,
    markers: Vec<String>,
}

impl<'l> Laid<'l> {
    fn add(&mut self, prefix: &str, calls: &'l mut Calls<'_>) -> Result<()> {
        let path = |path: &str| match prefix {
            "" => path.to_owned(),
            _ => format!("{prefix}{path}"),
        };
        match calls {
            Calls::Request(request) => self.add_request(request, path)?,
            Calls::Logged(logged) => {
                for LoggedCall { path: at, context, model, markers } in logged.drain(..) {
                    let (group, len) = self.group(context);
                    self.calls.push(One { path: path(&at), group, messages: 0..len, model, markers });
                }
            }
            Calls::Session(Session { conversations, calls }) => {
                let groups = conversations.each_mut().map(|side| self.group(std::mem::take(side)).0);
                for call in calls {
                    let group = groups[usize::from(call.is_side)];
                    let messages = call.messages.clone();
                    self.calls.push(One { path: path(&call.path), group, messages, model: None, markers: Vec::new() });
                }
            }
        }
        Ok(())
    }

    /// Call k sees k completed steps.
    fn add_request(&mut self, request: &'l RunRequest<'_>, path: impl Fn(&str) -> String) -> Result<()> {
        let steps = request.parts().trajectory.len();
        let name = |step: usize| path(&format!("steps[..{step}]"));
        let one = |path, group, messages| One { path, group, messages, model: None, markers: Vec::new() };
        if request.needs_selection() {
            for step in 0..=steps {
                let (group, len) = self.group(assemble(request, Some(step))?);
                self.calls.push(one(name(step), group, 0..len));
            }
            return Ok(());
        }
        let (group, len) = self.group(assemble(request, None)?);
        let messages = &self.groups[group].context.messages;
        let step_of = |message: &Message<'_>| match message.origin {
            Origin::RawOutput(step) | Origin::Observation(step) | Origin::ToolCall { step, .. } => Some(step),
            _ => None,
        };
        let ends: Vec<usize> = (0..=steps)
            .scan(0, |from, step| {
                let is_in = |message: &Message<'_>| step_of(message).is_none_or(|of| of < step);
                *from += messages[*from..].iter().take_while(|message| is_in(message)).count();
                Some(*from)
            })
            .collect();
        debug_assert_eq!(ends.last(), Some(&len));
        self.calls.extend(ends.into_iter().enumerate().map(|(step, end)| one(name(step), group, 0..end)));
        Ok(())
    }

    fn group(&mut self, context: Context<'l>) -> (usize, usize) {
        let prints = context.messages.iter().map(Message::fingerprint).collect();
        let len = context.messages.len();
        self.groups.push(Group { context, prints });
        (self.groups.len() - 1, len)
    }

    fn calls(&self) -> Vec<Call<'_>> {
        let call = |one: &'_ One| {
            let Group { context, prints } = &self.groups[one.group];
            (&*context.tools, &context.messages[one.messages.clone()], &prints[one.messages.clone()])
        };
        self.calls
            .iter()
            .map(|one| {
                let (tools, messages, prints) = call(one);
                let (path, model) = (&*one.path, one.model.as_deref());
                Call { path, tools, messages, prints, model, markers: &one.markers }
            })
            .collect()
    }
}
