//! Messages that a template leaves out without a word.

use minijinja::Value;

use super::python::{self, Style};

/// Indices of the messages of which some text, or the name of some call, is not in the output.
pub(super) fn indices(messages: &[Value], output: &str) -> Vec<usize> {
    let is_dropped = |message: &Value| said(message).iter().any(|text| !appears(text, output));
    messages.iter().enumerate().filter(|(_, message)| is_dropped(message)).map(|(index, _)| index).collect()
}

/// Everything a message says: its text, that of each of its parts, and the tools it calls.
fn said(message: &Value) -> Vec<Value> {
    let content = attribute(message, "content");
    let parts = items(&content).into_iter().map(|part| attribute(&part, "text"));
    let calls = items(&attribute(message, "tool_calls")).into_iter().map(|call| {
        let function = attribute(&call, "function");
        attribute(if function.is_undefined() { &call } else { &function }, "name")
    });
    parts.chain(calls).chain([content.clone()]).filter(|text| text.as_str().is_some()).collect()
}

fn appears(text: &Value, output: &str) -> bool {
    let wanted = python::strip(text.as_str().unwrap_or_default());
    output.contains(wanted) || as_json(wanted).is_some_and(|escaped| output.contains(&escaped))
}

/// Templates that write JSON escape what it holds.
fn as_json(text: &str) -> Option<String> {
    let style = Style {
        indent: None,
        item_separator: String::new(),
        key_separator: String::new(),
        ensure_ascii: false,
        sort_keys: false,
    };
    let quoted = python::json(&Value::from(text), &style).ok()?;
    Some(quoted.trim_matches('"').to_owned())
}

fn attribute(value: &Value, name: &str) -> Value {
    value.get_attr(name).unwrap_or_default()
}

fn items(value: &Value) -> Vec<Value> {
    let is_list = value.kind() == minijinja::value::ValueKind::Seq;
    if is_list { value.try_iter().into_iter().flatten().collect() } else { Vec::new() }
}
