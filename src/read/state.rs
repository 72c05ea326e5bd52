//! Nodes to the state of a run: what is known of its process, and fields of a project's own.

use std::borrow::Cow;
use std::collections::HashSet;

use super::fields::{Fields, Path, boolean, each, map, string, whole_number};
use super::node::{Entry, Node, Value, is_same};
use crate::context::Json;
use crate::error::{Code, Error, Result};
use crate::request::{State, Variable};

/// The keys of a variable; those of a state are [`State::KEYS`], and any other.
const VARIABLE: &[&str] = &["name", "type", "preview", "size"];

pub(super) fn state<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<State<'a>> {
    let entries = map(node, path)?;
    let mut state = State::default();
    for entry in entries {
        let path = &Path::Key(path, &entry.key);
        match &*entry.key {
            "alive" => state.alive = boolean(&entry.value, path)?,
            "revision" => state.revision = Some(revision(&entry.value, path)?),
            "variables" => state.variables = variables(&entry.value, path)?,
            _ => state.fields.push(field(entry, path)?),
        }
    }
    Ok(state)
}

/// A number that grows, or text; as it is spelled, for it is part of the cache key.
fn revision(node: &Node<'_>, path: &Path<'_>) -> Result<Json<'static>> {
    let checked = match &node.value {
        Value::Text(_) => Ok(()),
        Value::Number(_) => whole_number(node, path, 0).map(|_| ()),
        _ => Err(path.wrong_type(node, "a whole number or a string")),
    };
    checked
        .map_err(|error| error.with_hint("write a whole number, or text in quotes; leave it out if there is none"))?;
    json(node, path)
}

fn variables<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Vec<Variable<'a>>> {
    let variables = each(node, path, variable)?;
    let mut names = HashSet::with_capacity(variables.len());
    let repeated = variables.iter().position(|variable| !names.insert(&*variable.name));
    match (repeated, &node.value) {
        (Some(index), Value::List(items)) => {
            let name = &variables[index].name;
            let at = items[index].get("name").unwrap_or(&items[index]);
            let path = Path::Index(path, index);
            Err(Path::Key(&path, "name")
                .error(at, Code::RequestType, format!("the variable {name:?} stands there twice"))
                .with_hint("a process has one variable of a name: keep one of the two"))
        }
        _ => Ok(variables),
    }
}

fn variable<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Variable<'a>> {
    let fields = Fields::of(node, path, VARIABLE)?;
    Ok(Variable {
        name: fields.take("name", path, name)?,
        kind: fields.take_if_there("type", path, string)?,
        preview: fields.take_if_there("preview", path, string)?,
        size: fields.take_if_there("size", path, |node, path| whole_number(node, path, 0))?,
    })
}

fn name<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Cow<'a, str>> {
    match string(node, path)? {
        name if name.is_empty() => Err(path
            .error(node, Code::RequestType, "the name is empty")
            .with_hint("write what the variable is called in the process")),
        name => Ok(name),
    }
}

/// A field of the project's own: any name but those that answers put beside it.
fn field<'a>(entry: &Entry<'a>, path: &Path<'_>) -> Result<(Cow<'a, str>, Json<'static>)> {
    if State::TAKEN.iter().any(|taken| is_same(taken, &entry.key)) {
        let message = format!("a field of the state cannot be called {}", entry.key);
        return Err(Error::new(Code::RequestType, message)
            .with_hint("answers say by that name what they are, and of which input: choose another")
            .with_path(path.to_string())
            .with_span(entry.key_span.range()));
    }
    Ok((entry.key.clone(), json(&entry.value, path)?))
}

fn json(node: &Node<'_>, path: &Path<'_>) -> Result<Json<'static>> {
    node.to_json().map_err(|error| error.or_path(|| path.to_string()))
}
