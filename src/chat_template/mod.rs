//! Chat templates: the very text an open-weight model is fed, as Jinja2 gives it in transformers.
//!
//! 1. `config`: a tokenizer config or a template file becomes named templates and special tokens.
//! 2. `source`, `operators`, `slices`: what Jinja2 knows and the engine does not is spelled in the engine's words.
//! 3. `engine`: the engine, set up as transformers sets up Jinja2; `python`, `filters`, `methods` and `clock` make its
//!    values print, compare and fail as Python's do.
//! 4. `fault`: what went wrong, in the template's own words, and the message that made it fail.
//! 5. `dropped`: the messages whose text the output does not hold.
//! 6. `bounds`: what a template may cost, which comes from strangers.
//!
//! # Where it differs from Jinja2
//!
//! The words of an error that is not the template's own are the engine's, not Python's. Integers beyond 64 bits in
//! the input are floats. `%` formats a string where that is a literal; a mapping's methods are called and not looked at
//! (`x.items is defined`); and unlike types, which Python neither compares nor finds in a text (`1 < "a"`,
//! `none in "a"`), are taken here.

mod bounds;
mod clock;
mod config;
mod dropped;
mod engine;
mod fault;
mod filters;
mod methods;
mod operators;
mod python;
mod slices;
mod source;
mod tests;
mod value;

use minijinja::{Environment, Value};

use crate::context::Json;
use crate::error::{Code, Error, Result};
use crate::request::Time;
use config::{Config, Token};

/// A chat template, parsed, with the special tokens its tokenizer names.
///
/// ```
/// use polyloop::chat_template::{ChatTemplate, Options};
///
/// let config = r#"{
///     "bos_token": "<s>",
///     "chat_template": "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}\n{% endfor %}"
/// }"#;
/// let template = ChatTemplate::parse(config, None, None)?;
/// let messages = polyloop::read::json_items(r#"[{"role": "user", "content": " Hello "}]"#, None)?;
/// let rendered = template.render(&messages, &[], &Options::default())?;
/// assert_eq!(rendered.text, "<s>[user] Hello\n");
/// assert!(rendered.dropped.is_empty());
/// # Ok::<(), polyloop::Error>(())
/// ```
#[derive(Debug)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    /// The name of the template to take with tools and that without.
    with_tools: Option<String>,
    without_tools: Option<String>,
    /// What the templates hold that is written in the source.
    tokens: Vec<(String, Value)>,
}

/// What a render depends on beside messages and tools.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Whether the text ends where the model is to answer.
    pub add_generation_prompt: bool,
    /// What a template that asks for the clock is told: the wall time, as it is written.
    pub as_of: Option<&'a Time<'a>>,
}

impl Default for Options<'_> {
    /// Ends where the model is to answer; no clock.
    fn default() -> Self {
        Options { add_generation_prompt: true, as_of: None }
    }
}

/// What a template gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text a model is fed.
    pub text: String,
    /// Indices of the messages whose text, or the name of a call in it, is not in `text` as it stands: they were left
    /// out or rewritten without a word. White space round a text does not count.
    pub dropped: Vec<usize>,
}

impl ChatTemplate {
    /// Reads a tokenizer config, if `text` is a JSON object, or a template file.
    ///
    /// `beside` is the text of a `chat_template.jinja` found beside the config; it goes before a template in the
    /// config, as in transformers. `name` takes one of several named templates; without it `tool_use` is taken where
    /// there are tools, else `default`.
    ///
    /// # Errors
    ///
    /// `input.shape`: the config has no template, or none of that name. `chat_template.syntax`: it is no template, with
    /// the line in it, and the place in `text` where that is the template. `request.limit`: it is too long.
    pub fn parse(text: &str, beside: Option<&str>, name: Option<&str>) -> Result<ChatTemplate> {
        let config = Config::read(text, beside)?;
        let (with_tools, without_tools) = config.choose(name)?;
        let is_chosen =
            |name: &String| [&with_tools, &without_tools].into_iter().flatten().any(|chosen| chosen == name);
        let environment = bounds::on_large_stack(|| {
            let mut environment = engine::environment();
            for (name, source) in config.templates.iter().filter(|(name, _)| is_chosen(name)) {
                engine::add(&mut environment, name, source, config.is_template)?;
            }
            Ok(environment)
        })?;
        let tokens = config.tokens.into_iter().map(|(name, token)| (name, value_of(token))).collect();
        Ok(ChatTemplate { environment, with_tools, without_tools, tokens })
    }

    /// The text for these messages, which are objects as the template is to see them, and tools.
    ///
    /// # Errors
    ///
    /// `chat_template.raised`: the template refuses the messages, in its own words. `chat_template.failed`: it fails on
    /// them, or asks for a clock there is not. Both carry the path of the message at fault, `messages[3]`, where that
    /// can be told. `request.limit`: it takes too long, or its output is too large.
    pub fn render(&self, messages: &[Json<'_>], tools: &[Json<'_>], options: &Options<'_>) -> Result<Rendered> {
        let name = if tools.is_empty() { &self.without_tools } else { &self.with_tools };
        let Some(name) = name else {
            let known = if tools.is_empty() { "tool_use" } else { "default" };
            let fault = Error::new(Code::InputShape, "the config has no chat template for a prompt without tools");
            return Err(fault.with_hint(format!("name the one there is: {known}")));
        };
        let input_bytes = messages.iter().chain(tools).map(|json| json.as_str().len()).sum();
        bounds::on_large_stack(|| {
            let run = engine::Run {
                environment: &self.environment,
                name,
                tokens: &self.tokens,
                messages: value::all(messages)?,
                tools: value::all(tools)?,
                options,
                input_bytes,
            };
            let text = run.render(&run.messages, None).map_err(|fault| fault::explain(&run, fault))?;
            let dropped = dropped::indices(&run.messages, &text);
            Ok(Rendered { text, dropped })
        })
    }
}

fn value_of(token: Token) -> Value {
    match token {
        Token::One(text) => Value::from(text),
        Token::Many(texts) => Value::from(texts),
    }
}
