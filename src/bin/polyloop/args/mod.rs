//! The command line, and nothing else: parser, help, man page and completions all come from here.

pub mod context;
mod kernel;
mod mcp;

pub use context::Context;
pub use kernel::Kernel;
pub use mcp::Mcp;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use polyloop::context::Json;
use polyloop::provider::Shape;
use polyloop::read::As;
use polyloop::trace::cache::Prices;
use polyloop::{Code, Error, Result};

use crate::io::name_of;

/// Render, prove and inspect the contexts that LLM agents are given.
///
/// A run request (YAML or JSON) holds everything that one prompt is assembled from: a run-level prefix, injected
/// entries, the goal, and one pair of messages a completed step. polyloop assembles it into the exact message list,
/// down to the byte, and says where every message came from and what it weighs.
#[derive(Debug, Parser)]
#[command(name = "polyloop", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colour; NO_COLOR, CLICOLOR_FORCE and TERM=dumb are heeded
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Render(Render),
    Diff(Diff),
    Check(Check),
    Manifest(Manifest),
    Import(Import),
    Trace(Trace),
    Lint(Lint),
    Context(Context),
    Kernel(Kernel),
    Mcp(Mcp),
    /// Print the JSON Schema (draft-07) of a run request
    Schema,
    Completions(Completions),
    #[command(hide = true)]
    Man(Man),
}

impl Command {
    /// Whether results, and so errors, are JSON documents on standard output.
    pub fn prints_json(&self) -> bool {
        match self {
            Command::Render(render) => render.format == RenderFormat::Json,
            Command::Diff(diff) => diff.format == DiffFormat::Json && !diff.quiet,
            Command::Check(check) => check.format == CheckFormat::Json,
            Command::Manifest(manifest) => manifest.format == ManifestFormat::Json,
            Command::Trace(trace) => trace.format == TraceFormat::Json,
            Command::Lint(lint) => lint.format == LintFormat::Json,
            Command::Import(import) => import.format == ImportFormat::Json,
            Command::Context(context) => context.prints_json(),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Assemble a run request and show the exact message list
///
/// INPUT is a run request (.yaml, .yml, .json), a batch of requests (.jsonl, one a line; only with --format json), a
/// canonical stream (.jsonl), a JSON or YAML list of messages, the body of a request to OpenAI, Anthropic, Gemini or
/// Bedrock, a log or recording that holds such bodies, or a session of Claude Code. With another name, or -, the content
/// decides.
#[derive(Args, Debug)]
pub struct Render {
    /// What to render; - is standard input
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: RenderFormat,

    /// Leave out the messages: only the tables, the verdicts and the digest
    #[arg(long)]
    pub summary: bool,

    /// Assemble the first K completed steps only: what the model saw at call K
    #[arg(long, value_name = "K")]
    pub steps: Option<usize>,

    /// Compare with an earlier render: a canonical stream, or a JSON or YAML list of messages. Exits 1 where the bytes
    /// differ
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,

    /// Write the canonical stream to FILE as well, atomically
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,

    /// Show the message list as a provider (openai, responses, anthropic, gemini, bedrock) or the chat template in a FILE
    /// sees it after its own merging, and which boundaries vanish; with --format text or json
    #[arg(long, value_name = "LENS", conflicts_with_all = ["against", "save", "summary", "chat_template"])]
    pub lens: Option<String>,

    /// Print the very text that an open-weight model is fed: FILE is a tokenizer_config.json, or a template in Jinja
    #[arg(long, value_name = "FILE", conflicts_with_all = ["against", "save", "summary", "format"])]
    pub chat_template: Option<PathBuf>,

    /// Which template of a config that has several; the one for tools, or else the default, unless given
    #[arg(long, value_name = "NAME")]
    pub template_name: Option<String>,

    /// The time that a chat template may ask for, such as 2024-05-01T12:00:00Z; the clock is never read
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,

    /// Leave out the beginning of the answer that a chat template adds behind the messages
    #[arg(long)]
    pub no_generation_prompt: bool,

    /// Write a body without what its shape cannot say, and name that on stderr
    #[arg(long)]
    pub lossy: bool,

    /// Add a result for every call that has none, marked as lost; drops nothing, and lists what it did
    #[arg(long)]
    pub repair: bool,

    /// Set a parameter of a provider's body, such as max_tokens=4096; VALUE is JSON, or else a string
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = param)]
    pub params: Vec<(String, Json<'static>)>,

    #[command(flatten)]
    pub from: From,

    #[command(flatten)]
    pub root: Root,

    #[command(flatten)]
    pub work: Work,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How a recorded prompt is to be taken.
#[derive(Args, Clone, Copy, Debug)]
pub struct From {
    /// The shape of a provider's body; found out unless given
    #[arg(long, value_name = "SHAPE", value_parser = shapes())]
    from: Option<Shape>,

    /// Which call of a log, counted from 0; the last unless given
    #[arg(long, value_name = "N")]
    call: Option<usize>,
}

impl From {
    /// For the library.
    pub fn taken(self) -> As {
        As { shape: self.from, call: self.call }
    }
}

/// A parameter as it is written.
fn param(text: &str) -> Result<(String, Json<'static>), String> {
    let (key, value) = text.split_once('=').ok_or("write it KEY=VALUE")?;
    let quoted = || serde_json::to_string(value).ok().and_then(|text| Json::read(&text).ok());
    let value = Json::read(value).ok().or_else(quoted).ok_or("the value cannot be written as JSON")?;
    Ok((key.to_owned(), value))
}

fn shapes() -> impl TypedValueParser<Value = Shape> {
    let known = |name: String| Shape::of_name(&name).ok_or("no shape");
    PossibleValuesParser::new(Shape::ALL.map(Shape::as_str)).try_map(known)
}

/// What is asked.
#[derive(Args, Debug)]
pub struct Asked {
    /// What is asked: whatever render takes, a batch apart; - is standard input, where that holds nothing else
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Assemble the first K completed steps only: what the model saw at call K
    #[arg(long, value_name = "K")]
    pub steps: Option<usize>,

    #[command(flatten)]
    pub from: From,

    #[command(flatten)]
    pub root: Root,
}

/// Where files may be read from.
#[derive(Args, Debug)]
pub struct Root {
    /// The folder that files named in fragments may be read from; the request's own unless given. Their paths are relative
    /// to the request all the same, in standard input to the current folder
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl Root {
    /// The folder, if one is named: it has to be there.
    pub fn checked(&self) -> Result<Option<&Path>> {
        match self.root.as_deref() {
            Some(root) if !root.is_dir() => Err(Error::new(Code::UsageArguments, "--root is no folder")
                .with_hint("name the folder that files may be read from")
                .with_source(name_of(root))),
            root => Ok(root),
        }
    }
}

/// How work is shared.
#[derive(Args, Debug)]
pub struct Work {
    /// How many threads work at a time; as many as there are processors unless given
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Work {
    /// How many threads work at a time.
    pub fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(|| available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RenderFormat {
    /// For people: messages, sizes, budget, slot, digest
    #[default]
    Text,
    /// One document, polyloop.render/1; for a batch one a line
    Json,
    /// The canonical stream: the exact bytes
    Jsonl,
    /// A list of messages that reads back to the same bytes
    Yaml,
    /// The digest of the canonical stream alone, on one line
    Digest,
    /// A body for OpenAI Chat Completions, and what copies it
    #[value(name = "openai")]
    OpenAi,
    /// A body for OpenAI Responses
    Responses,
    /// A body for Anthropic Messages
    Anthropic,
    /// A body for Gemini generateContent
    Gemini,
    /// A body for Bedrock Converse
    Bedrock,
}

impl RenderFormat {
    /// The shape of a provider's body, if it is one.
    pub fn shape(self) -> Option<Shape> {
        match self {
            RenderFormat::OpenAi => Some(Shape::OpenAi),
            RenderFormat::Responses => Some(Shape::Responses),
            RenderFormat::Anthropic => Some(Shape::Anthropic),
            RenderFormat::Gemini => Some(Shape::Gemini),
            RenderFormat::Bedrock => Some(Shape::Bedrock),
            _ => None,
        }
    }
}

/// Compare two contexts byte for byte, and explain every difference
///
/// Either side is anything that render takes: a run request, a canonical stream, a list of messages, a recorded body or
/// log. Exits 0 where the bytes are identical, 1 where they are not.
#[derive(Args, Debug)]
pub struct Diff {
    /// The first side; - is standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,

    /// The second side
    #[arg(value_name = "B")]
    pub b: PathBuf,

    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: DiffFormat,

    /// Print nothing: the exit code is the answer
    #[arg(long, short, conflicts_with = "output")]
    pub quiet: bool,

    /// Equal lines shown round each changed one
    #[arg(long, short = 'U', value_name = "LINES", default_value_t = 2)]
    pub context: usize,

    /// Show the lines of every change; without it those of the first 100
    #[arg(long)]
    pub all: bool,

    /// Compare the recorded bodies too, as they were sent: block shapes, key order, cache markers, spelling, parameters
    #[arg(long)]
    pub wire: bool,

    #[command(flatten)]
    pub from: From,

    #[command(flatten)]
    pub root: Root,

    #[command(flatten)]
    pub work: Work,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people: the verdict, a map of the prompt, every change
    #[default]
    Text,
    /// One document, polyloop.diff/1
    Json,
    /// For a pull request
    Markdown,
}

/// Compare every request with its golden, byte for byte
///
/// The golden of a request NAME.yaml, NAME.yml or NAME.json is NAME.render.jsonl beside it: its canonical stream. A list
/// of messages that other code recorded may stand in its place, as NAME.render.json or NAME.render.yaml. Exits 0 only
/// where every request has a golden with the very bytes, 1 where one differs or a golden has no request, 2 where there
/// is no golden or no request at all, or something could not be read. Nothing is written without --accept.
#[derive(Args, Debug)]
pub struct Check {
    /// Requests, or folders that hold requests
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: CheckFormat,

    /// Show the text round each difference; without it only positions, classes and digests
    #[arg(long)]
    pub show_content: bool,

    /// Write the golden of every request that differs or has none. Refused where CI is set
    #[arg(long)]
    pub accept: bool,

    /// With --accept: write goldens although CI is set, and over recordings by other code
    #[arg(long, requires = "accept")]
    pub force: bool,

    /// Flip one byte in every block of every identical golden, in memory, and show that each flip is caught
    #[arg(long, conflicts_with = "accept")]
    pub prove: bool,

    /// Write what each request that differs or has no golden gives to a file below DIR
    #[arg(long, value_name = "DIR")]
    pub write_actual: Option<PathBuf>,

    #[command(flatten)]
    pub root: Root,

    #[command(flatten)]
    pub work: Work,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people: the verdict, what differs and what to do about it
    #[default]
    Text,
    /// One document, polyloop.check/1
    Json,
    /// For test runners: one test case a request
    Junit,
    /// For GitHub Actions: annotations
    Github,
    /// For a pull request
    Markdown,
}

/// Say what went into a prompt, what stayed out, and why
///
/// INPUT is a run request. Its fragments are selected in the budget; the manifest accounts for every one of them, and for
/// every part of the request that is always in.
#[derive(Args, Debug)]
pub struct Manifest {
    /// The run request; - is standard input
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: ManifestFormat,

    /// Show the contents as well, of what is in and of what is out
    #[arg(long)]
    pub show_content: bool,

    /// Assemble the first K completed steps only: what the model saw at call K
    #[arg(long, value_name = "K")]
    pub steps: Option<usize>,

    #[command(flatten)]
    pub root: Root,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ManifestFormat {
    /// For people: the verdict, what is in, what is out, how the budget is shared
    #[default]
    Text,
    /// One document, polyloop.manifest/1
    Json,
    /// The same document in YAML
    Yaml,
}

/// Make a run request of recorded messages, and prove that it gives them back
///
/// INPUT is a list of messages, a canonical stream, or whatever else holds recorded messages. What can be told apart is:
/// prefix and goal, entries of the injection slot, completed steps, and the frame round the observations, which becomes
/// the observation_template. What cannot be split stays in the prefix or the goal, and is named on standard error. The
/// request is read back and rendered before anything is written: its bytes are those of the recording.
#[derive(Args, Debug)]
pub struct Import {
    /// The recorded messages; - is standard input
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Entries to recognise between prefix and goal: a map of channels to entries, in YAML or JSON, as under injections in
    /// a request
    #[arg(long, value_name = "FILE")]
    pub injections: Option<PathBuf>,

    #[command(flatten)]
    pub from: From,

    /// How to write the request
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: ImportFormat,

    /// Write the request to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// Text of several lines in block scalars
    #[default]
    Yaml,
    /// Indented
    Json,
}

/// Say what each call kept of the one before it, and why the cache missed
///
/// INPUT is a log of calls (JSON Lines, or a JSON or YAML list of exchanges), a session of Claude Code, a folder of files
/// (.json, .jsonl, in the order of their names), or one run request, of which call k sees k steps. Calls of several
/// conversations in one log are told apart. It looks at bytes alone, and claims nothing about what a provider did.
#[derive(Args, Debug)]
pub struct Trace {
    /// The log, the folder or the request; - is standard input. With --across, as many as there are runs, and folders of them
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Set runs against each other instead of calls: what they begin with in common, and what breaks that
    #[arg(long, conflicts_with_all = ["require", "call"])]
    pub across: bool,

    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: TraceFormat,

    /// Exit 1 where it does not hold: append-only wants every call to begin with all of the one before
    #[arg(long, value_enum, value_name = "WHAT")]
    pub require: Option<Require>,

    /// Say what the published rules of a provider's prefix cache would let it keep; wants --chars-per-token
    #[arg(long, value_enum, value_name = "PROVIDER", requires = "chars_per_token", conflicts_with = "across")]
    pub provider: Option<CacheProvider>,

    /// How many characters to take for a token
    #[arg(long, value_name = "N", requires = "provider", value_parser = positive)]
    pub chars_per_token: Option<f64>,

    /// What a million tokens cost: input, read from the cache and written to it, such as 3,0.3,3.75
    #[arg(long, value_name = "INPUT,READ,WRITTEN", requires = "provider", value_parser = prices)]
    pub prices: Option<Prices>,

    /// The shortest prefix that is cached, in tokens; some models want more than most
    #[arg(long, value_name = "N", default_value_t = 1024, requires = "provider")]
    pub min_tokens: u64,

    #[command(flatten)]
    pub from: From,

    #[command(flatten)]
    pub root: Root,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// For people: a line a call, with what it kept and what broke it
    #[default]
    Text,
    /// One document, polyloop.trace/1
    Json,
}

/// Three prices.
fn prices(text: &str) -> Result<Prices, String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match *numbers {
        [input, read, written] if numbers.iter().all(|price| price.is_finite() && *price >= 0.0) => {
            Ok(Prices { input, read, written })
        }
        _ => Err("write three numbers: 3,0.3,3.75".to_owned()),
    }
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("write a number above zero, such as 4 or 3.5".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CacheProvider {
    /// Markers, a look-back of 20 blocks
    Anthropic,
    /// By itself, in steps of 128 tokens
    #[value(name = "openai")]
    OpenAi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Require {
    /// No call changes anything of the one before it
    AppendOnly,
}

/// Say what is wrong with a prompt, or likely to be
///
/// INPUT is anything that render takes. Rules have stable codes, family.rule; --explain CODE says what one finds, why that
/// matters, what to do, and when it is fine. A request may allow codes itself: metadata: {lint: {allow: [CODE]}}. Exits 1
/// where anything but notes is found.
#[derive(Args, Debug)]
pub struct Lint {
    /// What to look at; - is standard input
    #[arg(value_name = "INPUT", required_unless_present_any = ["rules", "explain"])]
    pub input: Option<PathBuf>,

    /// What it is meant for: openai, responses, anthropic, gemini, bedrock, or the FILE of a chat template
    #[arg(long = "for", value_name = "TARGET")]
    pub target: Option<String>,

    /// Do not tell of a rule, or of a family of rules
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub allow: Vec<String>,

    /// Take what a rule, or a family of rules, finds for an error, allowed or not
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub deny: Vec<String>,

    /// How to print it
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: LintFormat,

    /// List the rules
    #[arg(long, conflicts_with_all = ["input", "explain", "format"])]
    pub rules: bool,

    /// Say what a rule is about
    #[arg(long, value_name = "CODE", conflicts_with_all = ["input", "format"])]
    pub explain: Option<String>,

    #[command(flatten)]
    pub from: From,

    #[command(flatten)]
    pub root: Root,

    /// Write what is printed to FILE instead, atomically; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// For people: what was found, where, and what to do
    #[default]
    Text,
    /// One document, polyloop.lint/1
    Json,
    /// For GitHub Actions: annotations
    Github,
    /// SARIF 2.1.0
    Sarif,
}

/// Print shell completions
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell to complete in
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Print the man page of a command
#[derive(Args, Debug)]
pub struct Man {
    /// The command; none for polyloop itself
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}
