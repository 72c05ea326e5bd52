//! Nodes to a run request: every key there is, and what each takes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::blocks::{content, status, tool_input};
use super::fields::{Fields, Path, boolean, each, map, string, text, whole_number};
use super::node::{Node, Value};
use super::{fragments, position, state};
use crate::context::{Json, Role, Text};
use crate::error::{Code, Error, Result};
use crate::request::{Budget, Injection, InputMessage, Outcome, Parts, Run, RunRequest, Step, ToolCall};

/// The keys of each object of a request.
pub(crate) mod keys {
    pub const TOP: &[&str] = &[
        "$schema",
        "prefix",
        "injections",
        "goal",
        "observation_template",
        "observation_fields",
        "trajectory",
        "synthetic_observations",
        "budget",
        "tools",
        "run",
        "fragments",
        "fragment_template",
        "conflicts",
        "as_of",
        "state",
        "metadata",
    ];
    pub const MESSAGE: &[&str] = &["role", "content", "tokens", "metadata"];
    pub const ENTRY: &[&str] = &["entry_id", "content", "tokens", "metadata"];
    pub const STEP: &[&str] = &["raw_output", "observation", "synthetic", "tool_calls", "fields", "tokens", "metadata"];
    pub const TOOL_CALL: &[&str] = &["id", "name", "input", "result", "is_error", "status"];
    pub const BUDGET: &[&str] = &["max_prompt_chars", "window", "reserved_output", "unit", "responsibilities"];
    pub const RUN: &[&str] =
        &["request_id", "run_id", "step_id", "model", "agent_version", "policy_version", "capability_set_version"];
}

/// Whether a map is meant as a run request: it has a key that only a request has, or no other keys than those of one. Some
/// keys stand in bodies too.
pub(crate) fn is_meant(node: &Node<'_>) -> bool {
    const COMMON: [&str; 2] = ["$schema", "metadata"];
    const IN_BODIES: [&str; 4] = ["tools", "run", "state", "budget"];
    let Value::Map(entries) = &node.value else { return false };
    let known = |key: &str| keys::TOP.contains(&key);
    let is_own = |key: &str| known(key) && !COMMON.contains(&key);
    let has = |is: &dyn Fn(&str) -> bool| entries.iter().any(|entry| is(&entry.key));
    has(&|key| is_own(key) && !IN_BODIES.contains(&key))
        || entries.iter().all(|entry| known(&entry.key))
        || has(&is_own) && super::recorded::look_at(node).is_none()
}

/// Reads a document as a run request; `source` is the text it came from.
pub(crate) fn run_request<'a>(node: &Node<'a>, source: &'a str) -> Result<RunRequest<'a>> {
    let parts = parts(node)?;
    // A rule between parts knows the path of what breaks it; the document knows where that stands.
    RunRequest::new(parts).map_err(|error| position::place(error, node, source))
}

fn parts<'a>(node: &Node<'a>) -> Result<Parts<'a>> {
    let root = &Path::Root;
    let Value::Map(_) = &node.value else {
        return Err(node
            .error(Code::RequestType, format!("a run request is a map, not {}", node.kind()))
            .with_hint("an empty request is {}; a batch of requests is JSON Lines, in a file named .jsonl"));
    };
    let top = Fields::of(node, root, keys::TOP)?;
    let lint_allow = top.take_if_there("metadata", root, lint_allow)?.unwrap_or_default();
    top.take_if_there("$schema", root, string)?;
    let (max_prompt_chars, budget) = top.take_if_there("budget", root, budget)?.unwrap_or_default();
    let messages = |key: &str| {
        top.take_if_there(key, root, |node, path| each(node, path, input_message)).map(Option::unwrap_or_default)
    };
    let strings = |node: &Node<'a>, path: &Path<'_>| each(node, path, string);
    Ok(Parts {
        prefix: messages("prefix")?,
        injections: top.take_if_there("injections", root, injections)?.unwrap_or_default(),
        goal: messages("goal")?,
        observation_template: top.take_if_there("observation_template", root, string)?,
        observation_fields: top.take_if_there("observation_fields", root, strings)?.unwrap_or_default(),
        trajectory: top.take_if_there("trajectory", root, |node, path| each(node, path, step))?.unwrap_or_default(),
        synthetic_observations: top.take_if_there("synthetic_observations", root, texts)?.unwrap_or_default(),
        max_prompt_chars,
        tools: top.take_if_there("tools", root, |node, path| each(node, path, object))?.unwrap_or_default(),
        run: top.take_if_there("run", root, run)?.unwrap_or_default(),
        fragments: top
            .take_if_there("fragments", root, |node, path| each(node, path, fragments::fragment))?
            .unwrap_or_default(),
        fragment_template: top.take_if_there("fragment_template", root, string)?,
        conflicts: top.take_if_there("conflicts", root, fragments::conflicts)?.unwrap_or_default(),
        as_of: top.take_if_there("as_of", root, fragments::time)?,
        lint_allow,
        state: top.take_if_there("state", root, state::state)?.unwrap_or_default(),
        budget,
    })
}

fn input_message<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<InputMessage<'a>> {
    let fields = Fields::of(node, path, keys::MESSAGE)?;
    Ok(InputMessage {
        role: fields.take("role", path, role)?,
        content: fields.take("content", path, content)?,
        tokens: annotations(&fields, path)?,
    })
}

pub(super) fn role(node: &Node<'_>, path: &Path<'_>) -> Result<Role<'static>> {
    let name = string(node, path)?;
    match Role::recorded(Cow::Borrowed(&*name)) {
        Role::Other(_) => Err(path
            .error(node, Code::RequestType, format!("{name:?} is no role of a request"))
            .with_nearest(&name, Role::NAMES)),
        Role::System => Ok(Role::System),
        Role::Developer => Ok(Role::Developer),
        Role::User => Ok(Role::User),
        Role::Assistant => Ok(Role::Assistant),
        Role::Tool => Ok(Role::Tool),
    }
}

/// The keys `tokens` and `metadata`, which messages, entries and steps have in common.
pub(super) fn annotations(fields: &Fields<'_, '_>, path: &Path<'_>) -> Result<Option<u64>> {
    fields.take_if_there("metadata", path, free_form)?;
    fields.take_if_there("tokens", path, |node, path| whole_number(node, path, 0))
}

/// `null` stands for absent here and nowhere else: an empty slot is written in many ways.
fn injections<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<BTreeMap<Cow<'a, str>, Vec<Injection<'a>>>> {
    if let Value::Null = node.value {
        return Ok(BTreeMap::new());
    }
    let channels = map(node, path)?.iter().map(|channel| {
        let path = &Path::Key(path, &channel.key);
        let entries = match channel.value.value {
            Value::Null => Vec::new(),
            _ => each(&channel.value, path, injection)?,
        };
        Ok((channel.key.clone(), entries))
    });
    channels.collect()
}

/// An entry with its channel, and as it was written.
pub(crate) type Written<'a> = (Cow<'a, str>, Injection<'a>, Node<'a>);

/// The entries of a document that holds injections alone, in slot order.
pub(super) fn written_injections<'a>(root: &Node<'a>) -> Result<Vec<Written<'a>>> {
    let around =
        |node: &&Node<'a>| matches!((&root.value, &node.value), (Value::Map(all), Value::Map(_)) if all.len() == 1);
    let node = root.get("injections").filter(around).unwrap_or(root);
    let mut entries = Vec::new();
    for (channel, injections) in injections(node, &Path::Key(&Path::Root, "injections"))? {
        if let Some(Node { value: Value::List(written), .. }) = node.get(&channel) {
            let both = injections.into_iter().zip(written);
            entries.extend(both.map(|(injection, written)| (channel.clone(), injection, written.clone())));
        }
    }
    Ok(entries)
}

fn injection<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Injection<'a>> {
    let fields = Fields::of(node, path, keys::ENTRY)?;
    Ok(Injection {
        entry_id: fields.take("entry_id", path, string)?,
        content: fields.take("content", path, content)?,
        tokens: annotations(&fields, path)?,
    })
}

pub(crate) fn step<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Step<'a>> {
    let fields = Fields::of(node, path, keys::STEP)?;
    let raw_output = fields.take("raw_output", path, text)?;
    let mut outcomes = [
        fields.take_if_there("observation", path, text)?.map(Outcome::Observation),
        fields.take_if_there("synthetic", path, string)?.map(Outcome::Synthetic),
        fields.take_if_there("tool_calls", path, |node, path| each(node, path, tool_call))?.map(Outcome::ToolCalls),
    ]
    .into_iter()
    .flatten();
    let one_of = |what| {
        path.error(node, Code::RequestType, format!("{path} {what}"))
            .with_hint("give exactly one of observation, synthetic and tool_calls; an empty observation is \"\"")
    };
    let outcome = outcomes.next().ok_or_else(|| one_of("says nothing of what came back"))?;
    if outcomes.next().is_some() {
        return Err(one_of("says twice what came back"));
    }
    Ok(Step {
        raw_output,
        outcome,
        fields: fields.take_if_there("fields", path, texts)?.unwrap_or_default(),
        tokens: annotations(&fields, path)?,
    })
}

fn tool_call<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<ToolCall<'a>> {
    let fields = Fields::of(node, path, keys::TOOL_CALL)?;
    Ok(ToolCall {
        id: fields.take("id", path, text)?,
        name: fields.take("name", path, text)?,
        input: fields.take("input", path, tool_input)?,
        result: fields.take_if_there("result", path, content)?,
        is_error: fields.take_if_there("is_error", path, boolean)?,
        status: fields.take_if_there("status", path, status)?,
    })
}

fn texts<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<BTreeMap<Cow<'a, str>, Text<'a>>> {
    let entries = map(node, path)?.iter();
    entries.map(|entry| Ok((entry.key.clone(), text(&entry.value, &Path::Key(path, &entry.key))?))).collect()
}

/// The bound of the whole prompt, and the space of a selection.
fn budget(node: &Node<'_>, path: &Path<'_>) -> Result<(Option<u64>, Budget)> {
    let fields = Fields::of(node, path, keys::BUDGET)?;
    let max_prompt_chars = fields.take_if_there("max_prompt_chars", path, |node, path| whole_number(node, path, 1))?;
    Ok((max_prompt_chars, fragments::budget(&fields, path)?))
}

fn run<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Run<'a>> {
    let fields = Fields::of(node, path, keys::RUN)?;
    let field = |key| fields.take_if_there(key, path, string);
    Ok(Run {
        request_id: field("request_id")?,
        run_id: field("run_id")?,
        step_id: field("step_id")?,
        model: field("model")?,
        agent_version: field("agent_version")?,
        policy_version: field("policy_version")?,
        capability_set_version: field("capability_set_version")?,
    })
}

fn object(node: &Node<'_>, path: &Path<'_>) -> Result<Json<'static>> {
    map(node, path)?;
    node.to_json().map_err(|error: Error| error.or_path(|| path.to_string()))
}

/// A map that is kept out of the prompt; only its being a map is checked.
/// What of the free-form notes lint reads; anything else there is nobody's business.
fn lint_allow(node: &Node<'_>, path: &Path<'_>) -> Result<Vec<String>> {
    free_form(node, path)?;
    let codes = node.get("lint").and_then(|lint| lint.get("allow"));
    let Some(Value::List(codes)) = codes.map(|codes| &codes.value) else { return Ok(Vec::new()) };
    Ok(codes
        .iter()
        .filter_map(|code| match &code.value {
            Value::Text(code) => Some(code.to_string()),
            _ => None,
        })
        .collect())
}

fn free_form(node: &Node<'_>, path: &Path<'_>) -> Result<()> {
    map(node, path).map(|_| ())
}
