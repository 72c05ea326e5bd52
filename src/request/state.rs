//! The state of a run: what is known of its process, to be queried and never rendered.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Warning;
use crate::context::{Json, Key};

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

impl State<'_> {
    /// The keys that mean something; any other is a field of the project's own.
    pub const KEYS: [&'static str; 3] = ["alive", "revision", "variables"];

    /// What no field can be called: answers have keys of these names beside those of the state.
    pub const TAKEN: [&'static str; 2] = ["schema", "source"];

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        !self.alive && self.revision.is_none() && self.variables.is_empty() && self.fields.is_empty()
    }

    /// Fields whose names are one slip away from a key that means something.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.fields.iter().filter_map(|(name, _)| {
            let known = nearest(name)?;
            let message =
                format!("{name:?} is a field of its own, which says nothing to polyloop: {known} may be meant");
            Some(Warning { code: "state.like_known", path: format!("state{}", Key(name)), message })
        })
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    // What is far longer than any of them is near to none.
    let folded = if name.len() > 64 { return None } else { name.trim().to_lowercase() };
    State::KEYS.into_iter().find(|known| strsim::damerau_levenshtein(&folded, known) <= 1)
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
