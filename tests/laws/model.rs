//! Requests as the tests see them, with an assembly of the tests' own: short, slow and obvious.

use std::collections::BTreeMap;

/// A value of a document.
#[derive(Clone, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it is spelled.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// Keys in any order.
    Map(Vec<(String, Json)>),
    /// Keys in an order that a model sees.
    Object(Vec<(String, Json)>),
}

#[derive(Clone, Debug)]
pub struct Request {
    pub prefix: Vec<Message>,
    pub injections: BTreeMap<String, Vec<(String, Content)>>,
    pub goal: Vec<Message>,
    pub template: Vec<Part>,
    pub synthetic: [String; 2],
    pub steps: Vec<Step>,
    pub budget: Option<u32>,
    pub tools: Vec<Json>,
    /// Never in the stream.
    pub state: Option<Json>,
}

#[derive(Clone, Debug)]
pub struct Message {
    pub role: &'static str,
    pub content: Content,
}

/// Blocks; a single text may be written as a string.
#[derive(Clone, Debug)]
pub enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Clone, Debug)]
pub enum Block {
    Text(String),
    Thinking(String, Option<String>),
    ToolUse { id: String, name: String, input: Json },
    ToolResult { id: String, content: Box<Content>, is_error: Option<bool>, status: Option<&'static str> },
    Image { source: Json, chars: u16 },
}

#[derive(Clone, Debug)]
pub enum Part {
    Literal(String),
    Observation,
    OpenFile,
    Padded { fill: char, align: char, width: usize },
}

#[derive(Clone, Debug)]
pub struct Step {
    pub raw_output: String,
    pub outcome: Outcome,
    pub open_file: String,
}

#[derive(Clone, Debug)]
pub enum Outcome {
    Observation(String),
    Synthetic(usize),
    ToolCalls(Vec<Call>),
}

#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub input: Json,
    pub result: Option<Content>,
}

const SYNTHETIC: [&str; 2] = ["action_rejected", "a name: of \"ours\""];

fn map(entries: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    Json::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn word(text: &str) -> Json {
    Json::Text(text.to_owned())
}

impl Json {
    /// Without white space, keys as they stand.
    pub fn compact(&self) -> String {
        let joined = |items: Vec<String>| items.join(",");
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Number(spelling) => spelling.clone(),
            Json::Text(text) => quoted(text),
            Json::List(items) => format!("[{}]", joined(items.iter().map(Json::compact).collect())),
            Json::Map(entries) | Json::Object(entries) => {
                let entry = |(key, value): &(String, Json)| format!("{}:{}", quoted(key), value.compact());
                format!("{{{}}}", joined(entries.iter().map(entry).collect()))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

impl Request {
    /// The request as a document.
    pub fn document(&self) -> Json {
        let messages = |messages: &[Message]| Json::List(messages.iter().map(Message::document).collect());
        let entry = |(id, content): &(String, Content)| map([("entry_id", word(id)), ("content", content.document())]);
        let channel = |(name, entries): (&String, &Vec<(String, Content)>)| {
            (name.clone(), Json::List(entries.iter().map(entry).collect()))
        };
        let synthetic = SYNTHETIC.iter().zip(&self.synthetic).map(|(name, text)| ((*name).to_owned(), word(text)));
        let mut entries = vec![
            ("prefix", messages(&self.prefix)),
            ("goal", messages(&self.goal)),
            ("observation_template", word(&self.template())),
            ("observation_fields", Json::List(vec![word("open_file")])),
            ("synthetic_observations", Json::Map(synthetic.collect())),
            ("trajectory", Json::List(self.steps.iter().map(Step::document).collect())),
        ];
        if !self.injections.is_empty() {
            entries.push(("injections", Json::Map(self.injections.iter().map(channel).collect())));
        }
        if !self.tools.is_empty() {
            entries.push(("tools", Json::List(self.tools.clone())));
        }
        if let Some(chars) = self.budget {
            entries.push(("budget", map([("max_prompt_chars", Json::Number(chars.to_string()))])));
        }
        if let Some(state) = &self.state {
            entries.push(("state", state.clone()));
        }
        map(entries)
    }

    fn template(&self) -> String {
        let part = |part: &Part| match part {
            Part::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
            Part::Observation => "{observation}".to_owned(),
            Part::OpenFile => "{open_file}".to_owned(),
            Part::Padded { fill, align, width } => format!("{{observation:{fill}{align}{width}}}"),
        };
        self.template.iter().map(part).collect()
    }

    /// The canonical stream after so many steps.
    pub fn stream(&self, steps: usize) -> String {
        let mut out = String::new();
        if !self.tools.is_empty() {
            let tools: Vec<String> = self.tools.iter().map(Json::compact).collect();
            out += &format!("{{\"tools\":[{}]}}\n", tools.join(","));
        }
        let mut say = |role: &str, blocks: &str| {
            out += &format!("{{\"role\":\"{role}\",\"content\":[{blocks}]}}\n");
        };
        self.prefix.iter().for_each(|message| say(message.role, &message.content.canonical()));
        for (_, content) in self.injections.values().flatten() {
            say("user", &content.canonical());
        }
        self.goal.iter().for_each(|message| say(message.role, &message.content.canonical()));
        for step in &self.steps[..steps] {
            let observation = match &step.outcome {
                Outcome::Observation(text) => text,
                Outcome::Synthetic(index) => &self.synthetic[*index],
                Outcome::ToolCalls(calls) => {
                    let said = (!step.raw_output.is_empty()).then(|| Block::Text(step.raw_output.clone()).canonical());
                    let blocks: Vec<String> = said.into_iter().chain(calls.iter().map(Call::canonical)).collect();
                    say("assistant", &blocks.join(","));
                    calls.iter().filter_map(Call::result).for_each(|result| say("tool", &result));
                    continue;
                }
            };
            say("assistant", &Block::Text(step.raw_output.clone()).canonical());
            say("user", &Block::Text(self.format(observation, &step.open_file)).canonical());
        }
        out
    }

    fn format(&self, observation: &str, open_file: &str) -> String {
        let part = |part: &Part| match part {
            Part::Literal(text) => text.clone(),
            Part::Observation => observation.to_owned(),
            Part::OpenFile => open_file.to_owned(),
            Part::Padded { fill, align, width } => {
                let padding = width.saturating_sub(observation.chars().count());
                let left = match align {
                    '<' => 0,
                    '>' => padding,
                    _ => padding / 2,
                };
                let fill = |count: usize| fill.to_string().repeat(count);
                format!("{}{observation}{}", fill(left), fill(padding - left))
            }
        };
        self.template.iter().map(part).collect()
    }
}

impl Message {
    fn document(&self) -> Json {
        map([("role", word(self.role)), ("content", self.content.document())])
    }
}

impl Content {
    fn document(&self) -> Json {
        match self {
            Content::Text(text) => word(text),
            Content::Blocks(blocks) => Json::List(blocks.iter().map(Block::document).collect()),
        }
    }

    /// The blocks as they stand between the brackets.
    fn canonical(&self) -> String {
        match self {
            Content::Text(text) => Block::Text(text.clone()).canonical(),
            Content::Blocks(blocks) => blocks.iter().map(Block::canonical).collect::<Vec<_>>().join(","),
        }
    }
}

impl Block {
    /// The keys as they are ordered in the canonical stream.
    fn entries(&self) -> Vec<(&'static str, Json)> {
        let mut entries = Vec::new();
        match self {
            Block::Text(text) => entries.extend([("type", word("text")), ("text", word(text))]),
            Block::Thinking(text, signature) => {
                entries.extend([("type", word("thinking")), ("text", word(text))]);
                entries.extend(signature.iter().map(|signature| ("signature", word(signature))));
            }
            Block::ToolUse { id, name, input } => entries.extend([
                ("type", word("tool_use")),
                ("id", word(id)),
                ("name", word(name)),
                ("input", input.clone()),
            ]),
            Block::ToolResult { id, content, is_error, status } => {
                entries.extend([("type", word("tool_result")), ("tool_use_id", word(id))]);
                entries.push(("content", content.document()));
                entries.extend(is_error.map(|is_error| ("is_error", Json::Bool(is_error))));
                entries.extend(status.map(|status| ("status", word(status))));
            }
            Block::Image { source, chars } => entries.extend([
                ("type", word("image")),
                ("source", source.clone()),
                ("chars", Json::Number(chars.to_string())),
            ]),
        }
        entries
    }

    fn document(&self) -> Json {
        map(self.entries())
    }

    fn canonical(&self) -> String {
        let entry = |(key, value): (&str, Json)| match (self, key) {
            // A string is one text block here as well.
            (Block::ToolResult { content, .. }, "content") => format!("\"content\":[{}]", content.canonical()),
            _ => format!("\"{key}\":{}", value.compact()),
        };
        format!("{{{}}}", self.entries().into_iter().map(entry).collect::<Vec<_>>().join(","))
    }
}

impl Step {
    fn document(&self) -> Json {
        let mut entries = vec![("raw_output", word(&self.raw_output))];
        match &self.outcome {
            Outcome::Observation(text) => entries.push(("observation", word(text))),
            Outcome::Synthetic(index) => entries.push(("synthetic", word(SYNTHETIC[*index]))),
            Outcome::ToolCalls(calls) => {
                entries.push(("tool_calls", Json::List(calls.iter().map(Call::document).collect())));
                return map(entries);
            }
        }
        entries.push(("fields", map([("open_file", word(&self.open_file))])));
        map(entries)
    }
}

impl Call {
    fn document(&self) -> Json {
        let mut entries = vec![("id", word(&self.id)), ("name", word(&self.name)), ("input", self.input.clone())];
        entries.extend(self.result.iter().map(|result| ("result", result.document())));
        map(entries)
    }

    fn canonical(&self) -> String {
        let Call { id, name, input, .. } = self.clone();
        Block::ToolUse { id, name, input }.canonical()
    }

    fn result(&self) -> Option<String> {
        let content = Box::new(self.result.clone()?);
        Some(Block::ToolResult { id: self.id.clone(), content, is_error: None, status: None }.canonical())
    }
}
