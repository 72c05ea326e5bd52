//! What the shapes have in common when they are written.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::{Draft, Shape};
use crate::context::{Content, Context, Json, Message, Origin, Role, Text, ToolInput, reader};

/// Something that does not come over as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where in the context; none for what belongs to all of it.
    pub path: Option<String>,
    /// What it is.
    pub what: String,
}

/// What one side says in its turn: a message, or several that the shape wants as one.
#[derive(Debug)]
pub(crate) struct Turn<'c> {
    pub role: Role<'c>,
    pub origin: &'c Origin<'c>,
    pub said: Vec<Said<'c>>,
    /// Whether all of it are results of calls.
    is_results: bool,
}

/// A block in its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'c> {
    pub content: &'c Content<'c>,
    pub origin: &'c Origin<'c>,
    /// Its message and its place there.
    pub at: (usize, usize),
}

/// A context that is being written as a shape.
pub(crate) struct Writing<'c> {
    pub context: &'c Context<'c>,
    /// The shape it was read from.
    pub from: Option<Shape>,
    pub to: Shape,
    /// What the shape cannot say.
    pub losses: Vec<Loss>,
    /// What it says in another way, or in a way that does not come back.
    pub changes: Vec<Loss>,
    ids: HashMap<(usize, usize), String>,
    /// For the shape whose results name their tool.
    pub names: Rc<HashMap<String, String>>,
}

impl<'c> Writing<'c> {
    /// `names` are those of [`tool_names`], where `context` is a part of the whole.
    pub fn new(
        context: &'c Context<'c>,
        from: Option<Shape>,
        to: Shape,
        names: Option<Rc<HashMap<String, String>>>,
    ) -> Self {
        let names =
            names.unwrap_or_else(|| Rc::new(if to == Shape::Gemini { tool_names(context) } else { HashMap::new() }));
        let (losses, changes, ids) = (Vec::new(), Vec::new(), HashMap::new());
        let mut writing = Writing { context, from, to, losses, changes, ids, names };
        if to != Shape::Gemini {
            writing.name_calls();
        }
        writing
    }

    pub fn lose(&mut self, origin: &Origin<'_>, what: impl Into<String>) {
        add(&mut self.losses, Some(origin.to_string()), what.into());
    }

    pub fn change(&mut self, origin: &Origin<'_>, what: impl Into<String>) {
        add(&mut self.changes, Some(origin.to_string()), what.into());
    }

    pub fn change_at(&mut self, path: Option<String>, what: String) {
        add(&mut self.changes, path, what);
    }

    /// Gives calls without an id one, and their results the same: by their order.
    fn name_calls(&mut self) {
        let mut taken: HashSet<Cow<'_, str>> = HashSet::new();
        for content in self.context.messages.iter().flat_map(|message| &message.blocks).map(|block| &block.content) {
            if let Content::ToolUse { id, .. } = content {
                taken.insert(id.to_cow());
            }
        }
        let mut waiting = VecDeque::new();
        let mut next = 0;
        for (message, block, said) in blocks(self.context) {
            match said {
                Content::ToolUse { id, .. } if id.is_empty() => {
                    let name = loop {
                        let name = format!("call_{next}");
                        next += 1;
                        if !taken.contains(&*name) {
                            break name;
                        }
                    };
                    waiting.push_back(name.clone());
                    self.ids.insert((message, block), name);
                }
                Content::ToolResult { tool_use_id, .. } if tool_use_id.is_empty() => {
                    if let Some(name) = waiting.pop_front() {
                        self.ids.insert((message, block), name);
                    }
                }
                _ => {}
            }
        }
        if next > 0 {
            let what = format!("{next} calls had no id: they are given one, by their order");
            add(&mut self.changes, None, what);
        }
    }

    /// The id of a call or of a result.
    pub fn id(&self, said: Said<'c>, own: &'c Text<'c>) -> Text<'c> {
        match self.ids.get(&said.at) {
            Some(id) => Text::plain(id.clone()),
            None => own.borrow(),
        }
    }

    /// The system messages at the head, which have a place of their own, and the turns behind them.
    pub fn turns(&mut self) -> (Vec<Turn<'c>>, Vec<Turn<'c>>) {
        let messages = &self.context.messages;
        let leads = |message: &Message<'_>| matches!(message.role, Role::System | Role::Developer);
        let lead = match self.to {
            Shape::OpenAi => 0,
            // It has room for one.
            Shape::Responses => {
                let fits = |message: &&Message<'_>| {
                    message.role == Role::System
                        && matches!(&*message.blocks, [block] if matches!(block.content, Content::Text(_)))
                };
                usize::from(messages.first().as_ref().is_some_and(fits))
            }
            _ => messages.iter().take_while(|message| leads(message)).count(),
        };
        let head = (0..lead).map(|index| self.turn(index)).collect();
        let mut turns: Vec<Turn<'c>> = Vec::new();
        for index in lead..messages.len() {
            let turn = self.turn(index);
            match turns.last_mut() {
                Some(last) if self.joins(last, &turn) => {
                    last.is_results &= turn.is_results;
                    last.said.extend(turn.said);
                }
                _ => turns.push(turn),
            }
        }
        (head, turns)
    }

    /// Names what becomes of the system messages at the head in a shape that has one place for all of them.
    pub fn name_head(&mut self, head: &[Turn<'c>]) {
        for (index, turn) in head.iter().enumerate() {
            if turn.role == Role::Developer {
                self.change(turn.origin, "a developer message becomes system");
            }
            if index > 0 {
                self.change(turn.origin, "the boundary between two system messages");
            }
        }
    }

    fn turn(&self, index: usize) -> Turn<'c> {
        let message = &self.context.messages[index];
        let is_results = !message.blocks.is_empty()
            && message.blocks.iter().all(|block| matches!(block.content, Content::ToolResult { .. }));
        let role = match (&message.role, self.to) {
            (role, Shape::OpenAi | Shape::Responses) => role.borrow(),
            (Role::Tool, _) => Role::User,
            (Role::Other(name), _) if is_results && name == "function" => Role::User,
            (role, _) => role.borrow(),
        };
        let said = message.blocks.iter().enumerate();
        let said = said.map(|(n, block)| Said { content: &block.content, origin: &block.origin, at: (index, n) });
        Turn { role, origin: &message.origin, said: said.collect(), is_results }
    }

    /// Whether the shape wants the two as one.
    fn joins(&mut self, last: &Turn<'c>, turn: &Turn<'c>) -> bool {
        if last.role != turn.role {
            return false;
        }
        let has_boundaries = matches!(self.to, Shape::OpenAi | Shape::Responses);
        if last.is_results && turn.is_results && !has_boundaries {
            return true;
        }
        let calls = turn.said.iter().all(|said| matches!(said.content, Content::ToolUse { .. }));
        if turn.role == Role::Assistant && calls && !turn.said.is_empty() && self.to != Shape::Responses {
            self.change(turn.origin, "the calls of one turn become one message");
            return true;
        }
        if self.to == Shape::Bedrock {
            self.lose(turn.origin, "messages of one role in a row become one: roles must alternate");
            return true;
        }
        false
    }

    /// Arguments as a map, which is what the shape wants.
    pub fn input_map(&mut self, said: Said<'c>, input: &'c ToolInput<'c>) -> Draft<'c> {
        match input {
            ToolInput::Json(json) if json.as_str().starts_with('{') => Draft::Json(json.borrow()),
            ToolInput::Json(json) => {
                self.lose(said.origin, format!("arguments that are no map: {}", start_of(json.as_str())));
                Draft::Json(json.borrow())
            }
            ToolInput::Text(text) => {
                let text = text.to_cow();
                if text.trim_ascii().is_empty() {
                    self.change(said.origin, "arguments that are an empty string become an empty map");
                    return Draft::map([]);
                }
                match compact(&text) {
                    Some(json) if json.as_str().starts_with('{') => {
                        if json.as_str() != text {
                            self.change(said.origin, "the white space or the escapes of the arguments' string");
                        }
                        Draft::Json(json)
                    }
                    _ => {
                        self.lose(said.origin, format!("arguments that are no map in JSON: {}", start_of(&text)));
                        Draft::map([])
                    }
                }
            }
        }
    }

    /// Arguments as a string, which is what the shape wants.
    pub fn input_text(&self, input: &'c ToolInput<'c>) -> Draft<'c> {
        Draft::Text(match input {
            ToolInput::Text(text) => text.borrow(),
            ToolInput::Json(json) => Text::plain(json.as_str()),
        })
    }

    /// A block of another shape has no place in this one; its own takes it back.
    pub fn opaque(&mut self, said: Said<'c>, kind: &Text<'_>, value: &'c Json<'c>) -> Option<Draft<'c>> {
        if self.from == Some(self.to) {
            return Some(Draft::Json(value.borrow()));
        }
        self.lose(said.origin, format!("a block of type {:?}", kind.to_cow()));
        None
    }

    /// A role that the shape does not know.
    pub fn unknown_role(&mut self, turn: &Turn<'c>) {
        if self.from != Some(self.to) {
            self.lose(turn.origin, format!("the role {:?}", turn.role.as_str()));
        }
    }
}

/// The name of the tool of each result, by the place the result stands at: a result without an id is of the call whose
/// turn it is.
pub(super) fn tool_names(context: &Context<'_>) -> HashMap<String, String> {
    let mut by_id: HashMap<String, String> = HashMap::new();
    let mut waiting = VecDeque::new();
    let mut names = HashMap::new();
    for block in context.messages.iter().flat_map(|message| &message.blocks) {
        match &block.content {
            Content::ToolUse { id, name, .. } if id.is_empty() => waiting.push_back(name.to_string()),
            Content::ToolUse { id, name, .. } => {
                by_id.insert(id.to_string(), name.to_string());
            }
            Content::ToolResult { tool_use_id, .. } => {
                let own = by_id.get(&tool_use_id.to_string()).cloned();
                let name = if tool_use_id.is_empty() { waiting.pop_front() } else { own };
                names.extend(name.map(|name| (block.origin.to_string(), name)));
            }
            _ => {}
        }
    }
    names
}

fn add(list: &mut Vec<Loss>, path: Option<String>, what: String) {
    let loss = Loss { path, what };
    // What is said of a block is said once, though it be found part by part.
    if list.last() != Some(&loss) {
        list.push(loss);
    }
}

fn blocks<'c>(context: &'c Context<'c>) -> impl Iterator<Item = (usize, usize, &'c Content<'c>)> {
    let of_message = |(index, message): (usize, &'c Message<'c>)| {
        message.blocks.iter().enumerate().map(move |(n, block)| (index, n, &block.content))
    };
    context.messages.iter().enumerate().flat_map(of_message)
}

/// The start of a text, for messages.
fn start_of(text: &str) -> String {
    const CHARS: usize = 40;
    let start: String = text.chars().take(CHARS).collect();
    let dots = if start.len() < text.len() { "…" } else { "" };
    format!("{start:?}{dots}")
}

/// The JSON value that a text is, in canonical spelling.
fn compact(text: &str) -> Option<Json<'static>> {
    reader::parse(text).ok()?.to_json().ok()
}
