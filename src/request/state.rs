//! The state of a run: what is known of its process, to be queried and never rendered.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::context::Json;

/// The state of a run. Without one nothing is alive and there are no variables.
#[derive(Clone, Debug, Default)]
pub struct State<'a> {
    /// Whether the run's process is alive.
    pub alive: bool,
    /// Which state of the run it is: a number that grows, or text.
    pub revision: Option<Json<'a>>,
    /// What the process holds.
    pub variables: Vec<Variable<'a>>,
    /// Whatever else is known, in the order given: the phase, facts, open questions, what is pending.
    pub fields: Vec<(Cow<'a, str>, Json<'a>)>,
}

/// A variable of the run's process.
#[derive(Clone, Debug, Serialize)]
pub struct Variable<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// The name of its type.
    #[serde(rename = "type")]
    pub kind: Option<Cow<'a, str>>,
    /// The start of how it shows itself.
    pub preview: Option<Cow<'a, str>>,
    /// How many items or characters it holds.
    pub size: Option<u64>,
}

impl Serialize for State<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("alive", &self.alive)?;
        map.serialize_entry("revision", &self.revision)?;
        map.serialize_entry("variables", &self.variables)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
