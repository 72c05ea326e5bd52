//! Tool schemas, from any shape to any other.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::writing::{Loss, Writing};
use super::{Draft, Shape};
use crate::context::Json;

/// A JSON map, its order kept and its values as they stand.
struct Entries<'j>(Vec<(String, &'j RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keep;
        impl<'de> Visitor<'de> for Keep {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Keep)
    }
}

impl<'j> Entries<'j> {
    fn of(json: &'j str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    fn get(&self, keys: &[&str]) -> Option<&'j str> {
        let value = self.0.iter().find(|(key, _)| keys.contains(&&**key))?.1.get();
        (value != "null").then_some(value)
    }

    /// What is there beyond the keys that are understood.
    fn beyond(&self, keys: &[&str]) -> Vec<&str> {
        self.0.iter().map(|(key, _)| &**key).filter(|key| !keys.contains(key)).collect()
    }
}

/// A function that a model may call, as all shapes have it.
struct Function<'j> {
    name: &'j str,
    description: Option<&'j str>,
    parameters: Option<&'j str>,
    /// Whether the provider holds the model to the schema.
    strict: Option<&'j str>,
    beyond: Vec<String>,
}

/// The functions that one entry of a list of tools declares; `None` for a tool of the provider's own.
fn functions(tool: &str) -> Option<Vec<Function<'_>>> {
    const PARAMETERS: [&str; 4] = ["parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"];
    const OWN: [&str; 5] = ["name", "description", "strict", "type", "inputSchema"];
    let entries = Entries::of(tool)?;
    if let Some(function) = entries.get(&["function", "toolSpec"]) {
        let beyond = entries.beyond(&["type", "function", "toolSpec"]).into_iter().map(str::to_owned);
        let mut all = functions(function)?;
        all.iter_mut().for_each(|function| function.beyond.extend(beyond.clone()));
        return Some(all);
    }
    if let Some(list) = entries.get(&["functionDeclarations", "function_declarations"]) {
        if entries.0.len() > 1 {
            return None;
        }
        let list: Vec<&RawValue> = serde_json::from_str(list).ok()?;
        let mut all = Vec::new();
        for function in list {
            all.extend(functions(function.get())?);
        }
        return Some(all);
    }
    let kind = entries.get(&["type"]);
    if kind.is_some_and(|kind| !matches!(kind, "\"function\"" | "\"custom\"")) {
        return None;
    }
    let parameters = entries.get(&PARAMETERS);
    let inner = entries.get(&["inputSchema"]).and_then(Entries::of).and_then(|inner| inner.get(&["json"]));
    let beyond = entries.beyond(&OWN).into_iter().filter(|key| !PARAMETERS.contains(key));
    let beyond = beyond.map(str::to_owned).collect();
    Some(vec![Function {
        name: entries.get(&["name"])?,
        description: entries.get(&["description"]),
        parameters: parameters.or(inner),
        strict: entries.get(&["strict"]),
        beyond,
    }])
}

/// The shape that a list of tools is written in, going by its first entry; a list may be handed through to its own.
fn shape_of(tool: &str) -> Option<Shape> {
    let entries = Entries::of(tool)?;
    let has = |key: &str| entries.get(&[key]).is_some();
    Some(match () {
        () if has("function") => Shape::OpenAi,
        () if has("input_schema") => Shape::Anthropic,
        () if has("toolSpec") || has("cachePoint") => Shape::Bedrock,
        () if has("functionDeclarations") || has("function_declarations") => Shape::Gemini,
        () if has("parameters") && has("name") => Shape::Responses,
        () => return None,
    })
}

impl<'c> Writing<'c> {
    /// The tools as the shape has them; nothing where there are none.
    pub fn tools(&mut self) -> Option<Draft<'c>> {
        let tools = &self.context.tools;
        if tools.is_empty() {
            return None;
        }
        let is_own = |tool: &Json<'_>| match shape_of(tool.as_str()) {
            Some(shape) => shape == self.to,
            // A tool of the provider's own is known to it alone.
            None => self.from.is_none_or(|from| from == self.to),
        };
        if tools.iter().all(is_own) {
            return Some(Draft::List(tools.iter().map(|tool| Draft::Json(tool.borrow())).collect()));
        }
        let mut drafts = Vec::new();
        for (index, tool) in tools.iter().enumerate() {
            let path = format!("tools[{index}]");
            let Some(functions) = functions(tool.as_str()) else {
                self.losses.push(Loss { path: Some(path), what: "a tool of the provider's own".to_owned() });
                continue;
            };
            for function in functions {
                if !function.beyond.is_empty() {
                    let what = format!("{} of a tool", function.beyond.join(", "));
                    self.change_at(Some(path.clone()), what);
                }
                if function.strict.is_some() && !matches!(self.to, Shape::OpenAi | Shape::Responses) {
                    self.change_at(Some(path.clone()), "strict of a tool".to_owned());
                }
                drafts.push(self.function(&function));
            }
        }
        if drafts.is_empty() {
            return None;
        }
        Some(match self.to {
            Shape::Gemini => Draft::List(vec![Draft::map([("functionDeclarations", Draft::List(drafts))])]),
            _ => Draft::List(drafts),
        })
    }

    fn function(&self, function: &Function<'c>) -> Draft<'c> {
        let raw = |json: &'c str| Draft::Json(Json::from_canonical(json));
        let mut draft = Draft::map([]);
        if self.to == Shape::Responses {
            draft.push("type", Draft::word("function"));
        }
        draft.push("name", raw(function.name));
        if let Some(description) = function.description {
            draft.push("description", raw(description));
        }
        let empty = r#"{"type":"object","properties":{}}"#;
        let parameters = function.parameters;
        match self.to {
            Shape::Anthropic => draft.push("input_schema", raw(parameters.unwrap_or(empty))),
            Shape::Bedrock => {
                draft.push("inputSchema", Draft::map([("json", raw(parameters.unwrap_or(empty)))]));
            }
            _ => {
                if let Some(parameters) = parameters {
                    draft.push("parameters", raw(parameters));
                }
            }
        }
        if let (Some(strict), Shape::OpenAi | Shape::Responses) = (function.strict, self.to) {
            draft.push("strict", raw(strict));
        }
        match self.to {
            Shape::OpenAi => Draft::map([("type", Draft::word("function")), ("function", draft)]),
            Shape::Bedrock => Draft::map([("toolSpec", draft)]),
            _ => draft,
        }
    }
}
