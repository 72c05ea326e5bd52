//! The engine, set up as transformers sets up Jinja2.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, functions};

use super::clock::Wall;
use super::fault::{self, NoClock, Raised};
use super::{Options, bounds, filters, methods, python, source, tests};

pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_syntax(syntax());
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_recursion_limit(bounds::MAX_NESTED);
    environment.set_formatter(|out, _, value| match value.as_str() {
        Some(text) => out.write_str(text).map_err(Error::from),
        None => out.write_str(&python::str(value)?).map_err(Error::from),
    });
    environment.set_unknown_method_callback(methods::call);
    environment.add_function("raise_exception", |message: Value| -> Result<Value, Error> {
        Err(Error::from(ErrorKind::InvalidOperation).with_source(Raised(python::str(&message)?)))
    });
    environment.add_function("namespace", namespace);
    environment.remove_global("debug");
    filters::add(&mut environment);
    tests::add(&mut environment);
    environment
}

fn syntax() -> SyntaxConfig {
    let mut builder = SyntaxConfig::builder();
    builder.trim_blocks(true).lstrip_blocks(true);
    builder.build().unwrap_or_default()
}

/// A namespace may begin with a mapping and keywords both.
fn namespace(first: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let pairs = |value: &Value| value.as_object().and_then(|object| object.try_iter_pairs()).into_iter().flatten();
    let options = Value::from(options);
    let all = first.iter().flat_map(pairs).chain(pairs(&options)).collect::<Vec<_>>();
    functions::namespace(Some(Value::from_pairs(all).into()))
}

/// Parses a template; an error has its place in the source, where that is what was read.
pub(super) fn add(
    environment: &mut Environment<'static>,
    name: &str,
    source: &str,
    is_whole_text: bool,
) -> crate::error::Result<()> {
    bounds::check_source(source)?;
    let spelled = source::spell(source)?;
    environment.add_template_owned(name.to_owned(), spelled).map_err(|error| {
        let (fault, span) = fault::syntax(source, &error);
        if is_whole_text { fault.with_span(span) } else { fault }
    })
}

/// A template and all it is rendered from.
pub(super) struct Run<'r> {
    pub environment: &'r Environment<'static>,
    pub name: &'r str,
    pub tokens: &'r [(String, Value)],
    pub messages: Vec<Value>,
    pub tools: Vec<Value>,
    pub options: &'r Options<'r>,
    pub input_bytes: usize,
}

impl Run<'_> {
    /// Renders some messages; `share` of the fuel is one part in so many.
    pub fn render(&self, messages: &[Value], share: Option<u64>) -> Result<String, Error> {
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(bounds::fuel(self.input_bytes) / share.unwrap_or(1)));
        let mut out = Bounded { bytes: Vec::new(), left: bounds::output_bytes(self.input_bytes) };
        environment.get_template(self.name)?.render_captured_to(self.variables(messages), &mut out)?;
        String::from_utf8(out.bytes).map_err(|_| Error::from(ErrorKind::WriteFailure))
    }

    fn variables(&self, messages: &[Value]) -> Value {
        let tools = if self.tools.is_empty() { Value::from(()) } else { Value::from(self.tools.clone()) };
        let wall = self.options.as_of.map(Wall::new);
        let clock = move |format: &str, _: Kwargs| match &wall {
            Some(wall) => Ok(wall.format(format)),
            None => Err(Error::from(ErrorKind::InvalidOperation).with_source(NoClock)),
        };
        let own = [
            ("messages", Value::from(messages.to_vec())),
            ("tools", tools),
            ("documents", Value::from(())),
            ("add_generation_prompt", Value::from(self.options.add_generation_prompt)),
            ("strftime_now", Value::from_function(clock)),
        ];
        let tokens = self.tokens.iter().map(|(name, token)| (name.as_str(), token.clone()));
        Value::from_pairs(tokens.chain(own))
    }
}

/// Output that stops growing.
struct Bounded {
    bytes: Vec<u8>,
    left: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
