//! The shape of the document, as types from which its JSON Schema is derived: each comment is a description there.

mod fragments;
mod state;

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use fragments::{Budget, Conflicts, Fragment};
use state::State;

/// The JSON Schema (draft-07) of a run request.
pub fn json_schema() -> Schema {
    // What is absent is absent: a default would say that null, or an empty list, could be written in its place.
    let without_defaults = RecursiveTransform(|schema: &mut Schema| {
        schema.remove("default");
    });
    let settings = SchemaSettings::draft07().with_transform(without_defaults);
    let mut schema = settings.into_generator().into_root_schema_for::<RunRequest>();
    schema.insert("title".into(), json!("polyloop run request"));
    schema
}

/// Everything needed to assemble one prompt, nothing else.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct RunRequest {
    /// The schema of this document, for editors.
    #[schemars(rename = "$schema", default, with = "String")]
    schema: Option<String>,
    /// Messages that are the same in every run of this agent.
    #[schemars(default)]
    prefix: Vec<Message>,
    /// Channel to entries: the slot between prefix and goal. Channels are laid out in the order of their names by
    /// Unicode code point. Absent, null, an empty map and channels with empty lists all give no message at all.
    injections: Option<BTreeMap<String, Option<Vec<Entry>>>>,
    /// Messages of this one goal.
    #[schemars(default)]
    goal: Vec<Message>,
    /// Python str.format with the argument `observation`; every observation goes through it. May be absent only when
    /// there are no steps.
    #[schemars(default, with = "String")]
    observation_template: Option<String>,
    /// Names the template may use besides `observation`; every step then gives their values under `fields`.
    #[schemars(default)]
    observation_fields: Vec<String>,
    /// Completed steps, oldest first.
    #[schemars(default)]
    trajectory: Vec<Step>,
    /// Texts the loop itself feeds back, by name; a step names one instead of an observation.
    #[schemars(default)]
    synthetic_observations: BTreeMap<String, String>,
    /// How large the prompt may be.
    #[schemars(default, with = "Budget")]
    budget: Option<Budget>,
    /// Native tool schemas, passed through untouched; never rendered as text.
    #[schemars(default)]
    tools: Vec<Map<String, Value>>,
    /// Identity: shown in reports, never in the prompt.
    #[schemars(default, with = "Run")]
    run: Option<Run>,
    /// Typed pieces of context with provenance, out of which a selection is made.
    #[schemars(default)]
    fragments: Vec<Fragment>,
    /// The frame round the texts of fragments: Python str.format with the arguments `content`, `id`, `kind`,
    /// `source_ref`, `trust` and `truncated`.
    #[schemars(default, with = "String")]
    fragment_template: Option<String>,
    /// How conflicting claims of fragments are settled.
    #[schemars(default, with = "Conflicts")]
    conflicts: Option<Conflicts>,
    /// The time the request speaks of (RFC 3339); the clock is never read.
    #[schemars(default, with = "String")]
    as_of: Option<String>,
    /// What is known of the run, to be queried; never in the prompt.
    #[schemars(default, with = "State")]
    state: Option<State>,
    /// Free-form notes that never reach the prompt.
    #[schemars(default, with = "Map<String, Value>")]
    metadata: Option<Map<String, Value>>,
}

/// The unit a model provider receives.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Message {
    /// Who speaks.
    role: Role,
    /// What is said: a string is one text block.
    content: BlockContent,
    /// The size in tokens, as declared.
    #[schemars(default, with = "u64")]
    tokens: Option<u64>,
    /// Free-form notes that never reach the prompt.
    #[schemars(default, with = "Map<String, Value>")]
    metadata: Option<Map<String, Value>>,
}

/// Who speaks.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

/// A string (one text block) or a list of blocks.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "read by the derive alone")]
enum BlockContent {
    Text(String),
    Blocks(Vec<Block>),
}

/// One piece of message content.
#[derive(JsonSchema)]
#[schemars(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
enum Block {
    /// Plain text.
    Text {
        /// The text, verbatim.
        text: String,
    },
    /// What a reasoning model thought aloud.
    Thinking {
        /// The thought.
        text: String,
        /// The provider's signature over it.
        #[schemars(default, with = "String")]
        signature: Option<String>,
    },
    /// A call of a native tool.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments; a string is kept as that string.
        input: ToolInput,
    },
    /// The result of such a call.
    ToolResult {
        /// The id of the call it answers.
        tool_use_id: String,
        /// What came back.
        content: BlockContent,
        /// Whether the tool reported a failure.
        #[schemars(default, with = "bool")]
        is_error: Option<bool>,
        /// For a call that has no result of its own.
        #[schemars(default, with = "Status")]
        status: Option<Status>,
    },
    /// A picture.
    Image {
        /// Where its bytes are, in the provider's own terms.
        source: Map<String, Value>,
        /// What it counts for in characters.
        chars: u64,
    },
}

/// Why a call has no result of its own.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[allow(dead_code, reason = "read by the derive alone")]
enum Status {
    Lost,
    Pending,
    Cancelled,
}

/// The arguments of a tool call: an object, or a string kept as that string.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "read by the derive alone")]
enum ToolInput {
    Object(Map<String, Value>),
    Text(String),
}

/// One injected message: always of the role user, its content verbatim.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Entry {
    /// What the entry is called in reports; should not be empty.
    entry_id: String,
    /// What is injected; an empty string is still one (empty) message.
    content: BlockContent,
    /// The size in tokens, as declared.
    #[schemars(default, with = "u64")]
    tokens: Option<u64>,
    /// Free-form notes that never reach the prompt.
    #[schemars(default, with = "Map<String, Value>")]
    metadata: Option<Map<String, Value>>,
}

/// A completed step: what the model said, then what came back (exactly one of the three ways).
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    { "required": ["observation"] }, { "required": ["synthetic"] }, { "required": ["tool_calls"] },
]))]
#[allow(dead_code, reason = "read by the derive alone")]
struct Step {
    /// What the model said, fed back as it stands, even if empty.
    raw_output: String,
    /// What the environment answered.
    #[schemars(default, with = "String")]
    observation: Option<String>,
    /// The name of a text under `synthetic_observations`.
    #[schemars(default, with = "String")]
    synthetic: Option<String>,
    /// Native tool calls and their results.
    #[schemars(default)]
    tool_calls: Vec<ToolCall>,
    /// Values of the declared observation fields.
    #[schemars(default)]
    fields: BTreeMap<String, String>,
    /// The size in tokens, as declared.
    #[schemars(default, with = "u64")]
    tokens: Option<u64>,
    /// Free-form notes that never reach the prompt.
    #[schemars(default, with = "Map<String, Value>")]
    metadata: Option<Map<String, Value>>,
}

/// A native tool call.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct ToolCall {
    /// The call's id.
    id: String,
    /// The tool's name.
    name: String,
    /// The arguments; a string is kept as that string.
    input: ToolInput,
    /// What came back; absent for a call without a result.
    #[schemars(default, with = "BlockContent")]
    result: Option<BlockContent>,
    /// Whether the tool reported a failure.
    #[schemars(default, with = "bool")]
    is_error: Option<bool>,
    /// What became of a call without a result: `render --repair` marks it so, `lost` unless given.
    #[schemars(default, with = "Status")]
    status: Option<Status>,
}

/// Identity of a run, for reports.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Run {
    #[schemars(default, with = "String")]
    request_id: Option<String>,
    #[schemars(default, with = "String")]
    run_id: Option<String>,
    #[schemars(default, with = "String")]
    step_id: Option<String>,
    #[schemars(default, with = "String")]
    model: Option<String>,
    #[schemars(default, with = "String")]
    agent_version: Option<String>,
    #[schemars(default, with = "String")]
    policy_version: Option<String>,
    #[schemars(default, with = "String")]
    capability_set_version: Option<String>,
}
