//! A tokenizer config or a template file: named templates, and special tokens.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};

/// What a tokenizer says of its chat templates.
pub(super) struct Config {
    /// Names and sources; a single template is `default`.
    pub templates: Vec<(String, String)>,
    /// Whether the text that was read is itself a template.
    pub is_template: bool,
    /// The special tokens and their text.
    pub tokens: Vec<(String, Token)>,
}

/// A special token, or a list of them.
pub(super) enum Token {
    One(String),
    Many(Vec<String>),
}

const DEFAULT: &str = "default";
const TOOL_USE: &str = "tool_use";

impl Config {
    /// Reads the text of either; a template beside a config goes before those in it.
    pub fn read(text: &str, beside: Option<&str>) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let single = |source: &str| vec![(DEFAULT.to_owned(), source.to_owned())];
        // A template may begin with a brace too, but is no JSON then.
        let Ok(Value::Object(config)) = serde_json::from_str(text) else {
            return Ok(Config { templates: single(text), is_template: true, tokens: Vec::new() });
        };
        let templates = match (beside, config.get("chat_template")) {
            (Some(source), _) => single(source.strip_prefix('\u{feff}').unwrap_or(source)),
            (None, Some(Value::String(source))) => single(source),
            (None, Some(Value::Array(list))) => list.iter().map(named).collect::<Result<_>>()?,
            (None, None | Some(Value::Null)) => return Err(without_template()),
            (None, Some(_)) => return Err(Error::new(Code::InputShape, NOT_A_TEMPLATE).with_path("chat_template")),
        };
        Ok(Config { templates, is_template: false, tokens: tokens(&config) })
    }

    /// The names of the templates to take with tools, and without.
    pub fn choose(&self, name: Option<&str>) -> Result<(Option<String>, Option<String>)> {
        let find = |name: &str| self.templates.iter().any(|(known, _)| known == name).then(|| name.to_owned());
        let (with_tools, without_tools) = match name {
            Some(name) => (find(name), find(name)),
            None => (find(TOOL_USE).or_else(|| find(DEFAULT)), find(DEFAULT)),
        };
        if with_tools.is_some() {
            return Ok((with_tools, without_tools));
        }
        let known: Vec<&str> = self.templates.iter().map(|(name, _)| name.as_str()).collect();
        let fault = Error::new(Code::InputShape, format!("there is no chat template {}", name.unwrap_or(DEFAULT)));
        Err(fault.with_path("chat_template").with_hint(format!("name one of: {}", known.join(", "))))
    }
}

const NOT_A_TEMPLATE: &str = "a chat template is a string, or a list of objects with name and template";

fn named(entry: &Value) -> Result<(String, String)> {
    match (&entry["name"], &entry["template"]) {
        (Value::String(name), Value::String(source)) => Ok((name.clone(), source.clone())),
        _ => Err(Error::new(Code::InputShape, NOT_A_TEMPLATE).with_path("chat_template")),
    }
}

fn without_template() -> Error {
    Error::new(Code::InputShape, "the tokenizer config has no chat template")
        .with_hint("newer models keep it beside the config, in chat_template.jinja")
}

/// What transformers hands to a template beside the messages: each `*_token`, and those a model names on its own.
fn tokens(config: &Map<String, Value>) -> Vec<(String, Token)> {
    let single = config.iter().filter(|(name, _)| name.ends_with("_token"));
    let named = config.get("extra_special_tokens").and_then(Value::as_object).into_iter().flatten();
    let mut tokens: Vec<_> =
        single.chain(named).filter_map(|(name, token)| Some((name.clone(), Token::One(text(token)?)))).collect();
    if let Some(Value::Array(list)) = config.get(ADDITIONAL) {
        tokens.push((ADDITIONAL.to_owned(), Token::Many(list.iter().filter_map(text).collect())));
    }
    tokens
}

const ADDITIONAL: &str = "additional_special_tokens";

/// A token is a string, or an object that holds it beside how it is matched.
fn text(token: &Value) -> Option<String> {
    token.as_str().or_else(|| token.get("content")?.as_str()).map(str::to_owned)
}
