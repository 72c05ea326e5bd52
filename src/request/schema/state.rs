//! The shape of the state of a run.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::fragments::Version;

/// What is known of the run. Besides the keys that mean something it takes fields of any name and value: the phase, facts,
/// open questions, what is pending.
#[derive(JsonSchema)]
#[schemars(extend("propertyNames" = { "not": { "enum": ["schema", "source"] } }))]
#[allow(dead_code, reason = "read by the derive alone")]
pub(super) struct State {
    /// Whether the run's process is alive; false, where nothing is said.
    #[schemars(default, with = "bool")]
    alive: Option<bool>,
    /// Which state of the run it is: a whole number or text. It is part of the cache key of a selection.
    #[schemars(default, with = "Version")]
    revision: Option<Version>,
    /// What the process holds, each name once.
    #[schemars(default)]
    variables: Vec<Variable>,
    /// Fields of the project's own.
    #[schemars(flatten)]
    fields: Map<String, Value>,
}

/// A variable of the run's process.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derive alone")]
struct Variable {
    /// Its name.
    #[schemars(length(min = 1))]
    name: String,
    /// The name of its type.
    #[schemars(default, with = "String")]
    r#type: Option<String>,
    /// The start of how it shows itself.
    #[schemars(default, with = "String")]
    preview: Option<String>,
    /// How many items or characters it holds.
    #[schemars(default, with = "u64")]
    size: Option<u64>,
}
