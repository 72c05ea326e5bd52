//! The shape of fragments, and of the budget they are selected in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{BlockContent, Role};

/// A piece of context that may become one message of its own: exactly one of content and file.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["content"] }, { "required": ["file"] }]))]
#[allow(dead_code, reason = "read by the derive alone")]
pub(super) struct Fragment {
    /// What it is called: unique in the request.
    #[schemars(length(min = 1))]
    id: String,
    /// What it is: this decides where it stands and which responsibility it draws on.
    kind: FragmentKind,
    /// What it says: a string is one text block.
    #[schemars(default, with = "BlockContent")]
    content: Option<BlockContent>,
    /// Where what it says is written.
    #[schemars(default, with = "FileRange")]
    file: Option<FileRange>,
    /// Who speaks; `user`, where nothing is said. Only what is of trust `runtime` speaks as `system` or `developer`.
    #[schemars(default, with = "Role")]
    role: Option<Role>,
    /// Where the project has it from.
    #[schemars(default, with = "String")]
    source_ref: Option<String>,
    /// Which state of the source it is: whole numbers compare as numbers, else as text.
    #[schemars(default, with = "Version")]
    version: Option<Version>,
    /// What its content must hash to: of a single text its UTF-8 bytes, else the list of its blocks.
    #[schemars(default, with = "String", regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    content_hash: Option<String>,
    /// Where its text comes from; `external`, where nothing is said.
    #[schemars(default, with = "Trust")]
    trust: Option<Trust>,
    /// Higher is chosen first; 0, where nothing is said.
    #[schemars(default, with = "i64", range(min = i64::MIN, max = i64::MAX))]
    priority: Option<i64>,
    /// Whether the prompt is wrong without it.
    #[schemars(default, with = "bool")]
    required: Option<bool>,
    /// Fresher is chosen first among those of one priority; 0, where nothing is said.
    #[schemars(default, with = "f64", range(min = 0, max = 1))]
    freshness: Option<f64>,
    /// When it was found to be so (RFC 3339).
    #[schemars(default, with = "String")]
    observed_at: Option<String>,
    /// How long it holds from then on, in seconds.
    #[schemars(default, with = "u64")]
    ttl_s: Option<u64>,
    /// For what it holds.
    #[schemars(default, with = "String")]
    scope: Option<String>,
    /// How well it is known.
    #[schemars(default, with = "EvidenceLevel")]
    evidence: Option<EvidenceLevel>,
    /// What it says of something that others may say otherwise.
    #[schemars(default, with = "Claim")]
    claim: Option<Claim>,
    /// Ids of fragments it stands in for.
    #[schemars(default)]
    supersedes: Vec<String>,
    /// The size of its message in tokens, as declared; with the frame, if there is one.
    #[schemars(default, with = "u64")]
    tokens: Option<u64>,
    /// Fragments of one group are in or out together.
    #[schemars(default, with = "String")]
    group: Option<String>,
    /// How its text may be cut to the space there is; without it the whole or nothing.
    #[schemars(default, with = "Trim")]
    trim: Option<Trim>,
    /// Why the project offers it.
    #[schemars(default, with = "String")]
    reason: Option<String>,
    /// What a summary stands for, such as `trajectory[0:12]`; the end is not included.
    #[schemars(
        default,
        inner(regex(pattern = r"^(prefix|goal|trajectory|fragments|injections\..+)\[[0-9]+(:[0-9]+)?\]$"))
    )]
    replaces: Vec<String>,
    /// What has to be known from now on of what a summary replaces.
    #[schemars(default, with = "Summary")]
    summary_of: Option<Summary>,
    /// Free-form notes that never reach the prompt.
    #[schemars(default, with = "Map<String, Value>")]
    metadata: Option<Map<String, Value>>,
}

/// What a fragment is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum FragmentKind {
    Policy,
    Instruction,
    ToolSpec,
    Skill,
    Goal,
    SuccessContract,
    OutputContract,
    Plan,
    RunState,
    History,
    Evidence,
    Memory,
    ToolResult,
    UserInput,
}

/// Where a text comes from.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Trust {
    Runtime,
    User,
    Workspace,
    External,
}

/// How well something is known.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum EvidenceLevel {
    Observed,
    Verified,
    Reported,
    Inferred,
}

/// Text, or a whole number.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "read by the derive alone")]
pub(super) enum Version {
    Text(String),
    Number(u64),
}

/// A file, or some lines of it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct FileRange {
    /// Its path, relative to the folder of the request.
    path: String,
    /// The first and the last line, from 1, both included; all lines, where none are named.
    #[schemars(default, with = "[u64; 2]", inner(range(min = 1)))]
    lines: Option<[u64; 2]>,
}

/// A value under a key: others may claim another value.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Claim {
    /// What is spoken of.
    key: String,
    /// What is said of it.
    value: Value,
}

/// How a text may be cut; never inside a code fence or a JSON value.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Trim {
    /// Which end stays; the beginning, where nothing is said.
    #[schemars(default, with = "Keep")]
    keep: Option<Keep>,
    /// Where it may be cut; behind any line, where nothing is said.
    #[schemars(default, with = "Boundary")]
    boundary: Option<Boundary>,
    /// With fewer characters left it is left out.
    #[schemars(default, with = "u64", range(min = 1))]
    min_chars: Option<u64>,
}

/// Which end of a text stays.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Keep {
    Head,
    Tail,
    HeadTail,
}

/// Where a text may be cut.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Boundary {
    Line,
    Paragraph,
    Fence,
}

/// The structured part of a summary.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Summary {
    #[schemars(default, with = "Statement")]
    goal: Option<Statement>,
    #[schemars(default)]
    completed_steps: Vec<Statement>,
    #[schemars(default)]
    pending_steps: Vec<Statement>,
    #[schemars(default)]
    decisions: Vec<Statement>,
    #[schemars(default)]
    constraints: Vec<Statement>,
    #[schemars(default)]
    evidence_refs: Vec<Statement>,
    #[schemars(default)]
    side_effects: Vec<Statement>,
    #[schemars(default)]
    known_failures: Vec<Statement>,
    #[schemars(default, with = "Statement")]
    next_action: Option<Statement>,
    /// Words and numbers that must survive in the summary.
    #[schemars(default)]
    keep: Vec<Kept>,
}

/// Something a summary says.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "read by the derive alone")]
enum Statement {
    Text(String),
    Marked(MarkedStatement),
}

/// Something a summary says, and whether it was concluded.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct MarkedStatement {
    /// What.
    text: String,
    /// Whether it was concluded, not observed.
    #[schemars(default, with = "bool")]
    inferred: Option<bool>,
}

/// Text, or a number as it is written.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "read by the derive alone")]
enum Kept {
    Text(String),
    Number(f64),
}

/// How conflicting claims are settled.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
pub(super) struct Conflicts {
    /// The rules, the first that applies; without one the question stays open.
    #[schemars(default)]
    prefer: Vec<Preference>,
}

/// A rule that settles a conflict.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Preference {
    NewerVersion,
    HigherTrust,
}

/// How large the prompt may be.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
pub(super) struct Budget {
    /// The largest allowed sum of characters over all blocks of all messages.
    #[schemars(default, with = "u64", range(min = 1))]
    max_prompt_chars: Option<u64>,
    /// What the model takes in all, in `unit`.
    #[schemars(default, with = "u64")]
    window: Option<u64>,
    /// What is kept free for the answer, in `unit`.
    #[schemars(default, with = "u64")]
    reserved_output: Option<u64>,
    /// What window, reserved_output, floors and caps count; `chars`, where nothing is said.
    #[schemars(default, with = "Unit")]
    unit: Option<Unit>,
    /// The bounds of parts of the budget.
    #[schemars(default)]
    responsibilities: BTreeMap<Responsibility, Share>,
}

/// What a budget counts.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Unit {
    Chars,
    Tokens,
}

/// A part of the budget.
#[derive(JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Responsibility {
    ImmutableInstructions,
    SelectedSkillsAndTools,
    GoalAndAcceptance,
    RunState,
    RecentHistory,
    RetrievedMaterial,
    CurrentObservation,
    UserInput,
}

/// The bounds of a part of the budget.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Share {
    /// Its optional fragments come before all others while it holds less than this.
    #[schemars(default, with = "u64")]
    floor: Option<u64>,
    /// No optional fragment takes it past this.
    #[schemars(default, with = "u64")]
    cap: Option<u64>,
}
