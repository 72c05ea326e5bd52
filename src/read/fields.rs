//! Taking a node apart, with errors that name the place.

use std::borrow::Cow;
use std::fmt;

use super::node::{Entry, Node, Value, is_same};
use crate::context::{Key, Text};
use crate::error::{Code, Error, Result};

/// Where in the document a node stands.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => {
                let key = Key(key).to_string();
                f.write_str(key.strip_prefix('.').unwrap_or(&key))
            }
            Path::Key(parent, key) => write!(f, "{parent}{}", Key(key)),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl Path<'_> {
    /// An error about the node that stands at this path.
    pub fn error(&self, node: &Node<'_>, code: Code, message: impl Into<String>) -> Error {
        node.error(code, message).with_path(self.to_string())
    }

    pub fn wrong_type(&self, node: &Node<'_>, expected: &str) -> Error {
        let error = self.error(node, Code::RequestType, format!("{self} must be {expected}, not {}", node.kind()));
        match (&node.value, expected) {
            (Value::Number(spelling), "a string") => error.with_hint(format!("quote it: \"{spelling}\"")),
            (Value::Bool(value), "a string") => error.with_hint(format!("quote it: \"{value}\"")),
            (Value::Null, "a string") => {
                error.with_hint("quote it if it is text (\"null\"); an empty string is written \"\"")
            }
            (Value::Map(entries), "a string") if is_bare_field(entries) => {
                error.with_hint(format!("quote it: \"{{{}}}\"; without quotes braces are a map", entries[0].key))
            }
            _ => match self.example() {
                Some(example) => error.with_hint(format!("write {example}")),
                None => error,
            },
        }
    }

    /// What stands at this place, written out.
    fn example(&self) -> Option<&'static str> {
        match self {
            Path::Key(Path::Root, key) => Some(match *key {
                "prefix" | "goal" => "a list of messages: [{role: user, content: \"...\"}]",
                "injections" => "channels of entries: {skills: [{entry_id: name, content: \"...\"}]}",
                "trajectory" => "a list of steps: [{raw_output: \"...\", observation: \"...\"}]",
                "synthetic_observations" => "texts by name: {action_rejected: \"...\"}",
                "observation_fields" => "a list of names: [open_file]",
                "budget" => "{max_prompt_chars: 200000}",
                "fragments" => "a list of fragments: [{id: name, kind: evidence, content: \"...\"}]",
                "conflicts" => "{prefer: [newer_version, higher_trust]}",
                "tools" => "a list of tool schemas",
                "state" => "what is known of the run: {alive: true, revision: 18, phase: verify}",
                _ => return None,
            }),
            Path::Key(Path::Key(Path::Root, "injections"), _) => {
                Some("a list of entries: [{entry_id: name, content: \"...\"}]")
            }
            Path::Index(Path::Key(Path::Key(Path::Root, "injections"), _), _) => {
                Some("an entry: {entry_id: name, content: \"...\"}")
            }
            Path::Index(Path::Key(Path::Root, "prefix" | "goal"), _) => {
                Some("a message: {role: user, content: \"...\"}")
            }
            Path::Index(Path::Key(Path::Root, "trajectory"), _) => {
                Some("a step: {raw_output: \"...\", observation: \"...\"}")
            }
            Path::Index(Path::Key(Path::Root, "fragments"), _) => {
                Some("a fragment: {id: name, kind: evidence, content: \"...\"}")
            }
            Path::Key(Path::Index(..), "file") => Some("{path: src/auth.ts, lines: [40, 132]}"),
            Path::Key(Path::Index(..), "claim") => Some("{key: database.version, value: \"16\"}"),
            Path::Key(Path::Index(..), "trim") => Some("{keep: head, boundary: line, min_chars: 200}"),
            Path::Key(Path::Index(..), "fields") => Some("values by name: {open_file: \"...\"}"),
            Path::Key(Path::Key(Path::Root, "state"), "variables") => {
                Some("a list of variables: [{name: rows, type: list, preview: \"[1, 2]\", size: 2}]")
            }
            Path::Index(Path::Key(Path::Key(Path::Root, "state"), "variables"), _) => {
                Some("a variable: {name: rows, type: list, preview: \"[1, 2]\", size: 2}")
            }
            Path::Key(_, "source") => Some("a map: {type: base64, media_type: image/png, data: \"...\"}"),
            _ => None,
        }
    }
}

/// `{observation}` without quotes is a map in YAML.
fn is_bare_field(entries: &[Entry<'_>]) -> bool {
    matches!(entries, [Entry { value: Node { value: Value::Null, .. }, .. }])
}

pub(crate) fn list<'n, 'a>(node: &'n Node<'a>, path: &Path<'_>) -> Result<&'n [Node<'a>]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(path.wrong_type(node, "a list")),
    }
}

pub(crate) fn map<'n, 'a>(node: &'n Node<'a>, path: &Path<'_>) -> Result<&'n [Entry<'a>]> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(path.wrong_type(node, "a map")),
    }
}

pub(crate) fn text<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Text<'a>> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err(path.wrong_type(node, "a string")),
    }
}

pub(crate) fn string<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Cow<'a, str>> {
    match &node.value {
        Value::Text(text) => Ok(text.as_cow()),
        _ => Err(path.wrong_type(node, "a string")),
    }
}

pub(crate) fn boolean(node: &Node<'_>, path: &Path<'_>) -> Result<bool> {
    match &node.value {
        Value::Bool(value) => Ok(*value),
        _ => Err(path.wrong_type(node, "true or false")),
    }
}

/// A whole number of at least `least`, in plain decimal digits: readers differ over every other spelling.
pub(crate) fn whole_number(node: &Node<'_>, path: &Path<'_>, least: u64) -> Result<u64> {
    let expected = format!("a whole number of at least {least}");
    let Value::Number(spelling) = &node.value else { return Err(path.wrong_type(node, &expected)) };
    let digits = spelling.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (spelling.len() == 1 || !spelling.starts_with('0'));
    let error = |message: String| path.error(node, Code::RequestType, message);
    match spelling.parse::<u64>() {
        Ok(value) if plain && value >= least => Ok(value),
        _ if digits && !plain => Err(error(format!("{path} must be {expected}, written without leading zeros"))
            .with_hint("some readers take a leading zero for octal: write plain decimal digits")),
        Err(_) if plain => Err(error(format!("{path} is too large"))
            .with_hint(format!("the largest number that can be written here is {}", u64::MAX))),
        _ => Err(error(format!("{path} must be {expected}, not {}", shortened(spelling)))
            .with_hint("write plain decimal digits")),
    }
}

fn shortened(spelling: &str) -> Cow<'_, str> {
    match spelling.char_indices().nth(24) {
        Some((at, _)) => Cow::Owned(format!("{}…", &spelling[..at])),
        None => Cow::Borrowed(spelling),
    }
}

/// The fields of a map whose keys are all known.
pub(crate) struct Fields<'n, 'a> {
    node: &'n Node<'a>,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// A map that holds no key but those of `known`.
    pub fn of(node: &'n Node<'a>, path: &Path<'_>, known: &[&str]) -> Result<Self> {
        let entries = map(node, path)?;
        match entries.iter().find(|entry| !known.iter().any(|known| is_same(known, &entry.key))) {
            None => Ok(Fields { node }),
            Some(entry) => Err(unknown_field(entry, path, known)),
        }
    }

    pub fn get(&self, key: &str) -> Option<&'n Node<'a>> {
        self.node.get(key)
    }

    /// What `take` makes of a field; the error of a missing or wrong one names it.
    pub fn take<T>(
        &self,
        key: &str,
        path: &Path<'_>,
        take: impl FnOnce(&Node<'a>, &Path<'_>) -> Result<T>,
    ) -> Result<T> {
        take(required(self.node, key, path)?, &Path::Key(path, key))
    }

    /// The same for a field that may be absent.
    pub fn take_if_there<T>(
        &self,
        key: &str,
        path: &Path<'_>,
        take: impl FnOnce(&Node<'a>, &Path<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(key).map(|node| take(node, &Path::Key(path, key))).transpose()
    }
}

/// What `take` makes of every item.
pub(crate) fn each<'a, T>(
    node: &Node<'a>,
    path: &Path<'_>,
    take: impl Fn(&Node<'a>, &Path<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let items = list(node, path)?;
    let mut all = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        all.push(take(item, &Path::Index(path, index))?);
    }
    Ok(all)
}

/// The value of a key that must be there.
pub(crate) fn required<'n, 'a>(node: &'n Node<'a>, key: &str, path: &Path<'_>) -> Result<&'n Node<'a>> {
    node.get(key).ok_or_else(|| {
        let start = node.span.start;
        Error::new(Code::RequestType, format!("{key} is missing"))
            .with_path(Path::Key(path, key).to_string())
            .with_span(start..start + 1)
    })
}

fn unknown_field(entry: &Entry<'_>, path: &Path<'_>, known: &[&str]) -> Error {
    let key = &*entry.key;
    let error = if key == "tool_section_template" {
        Error::new(Code::RequestUnknownField, "tool_section_template is refused: polyloop renders no tool list")
            .with_hint(
                "put the text of the tool list into a message of the prefix, where the project decides how it looks; \
             native tool schemas go under tools",
            )
    } else {
        Error::new(Code::RequestUnknownField, format!("unknown key {key:?}")).with_nearest(key, known.iter().copied())
    };
    error.with_path(Path::Key(path, key).to_string()).with_span(entry.key_span.range())
}
