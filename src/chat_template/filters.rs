//! Filters that do as Python's and Jinja2's do where the engine's own do not.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex};

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, Tuple, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters};

use super::operators::{PERCENT, SUM};
use super::python::{self, Style, fault, type_name};
use super::source::ITERABLE;

pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter("tojson", to_json);
    environment.add_filter("string", |value: Value| python::str(&value));
    environment.add_filter("trim", trim);
    environment.add_filter("indent", indent);
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment.add_filter("wordcount", |value: Value| {
        python::str(&value)
            .map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).count())
    });
    environment.add_filter("int", int);
    environment.add_filter("float", float);
    environment.add_filter("list", |state: &mut State<'_, '_>, value: Value| filters::list(state, iterable(value)?));
    environment.add_filter("join", join);
    environment.add_filter(SUM, sum);
    environment.add_filter(PERCENT, percent);
    environment.add_filter(ITERABLE, iterable);
    environment.add_filter("map", |state: &mut State<'_, '_>, list: Value, args: Rest<ValueOrKwargs>| {
        filters::map(state, over(list)?, args).map(Generator::value)
    });
    environment.add_filter(
        "select",
        |state: &mut State<'_, '_>, list: Value, test: Option<Cow<'_, str>>, args: Rest<ValueOrKwargs>| {
            filters::select(state, over(list)?, test, args).map(Generator::value)
        },
    );
    environment.add_filter(
        "reject",
        |state: &mut State<'_, '_>, list: Value, test: Option<Cow<'_, str>>, args: Rest<ValueOrKwargs>| {
            filters::reject(state, over(list)?, test, args).map(Generator::value)
        },
    );
    environment.add_filter(
        "selectattr",
        |state: &mut State<'_, '_>,
         list: Value,
         name: Cow<'_, str>,
         test: Option<Cow<'_, str>>,
         args: Rest<ValueOrKwargs>| {
            filters::selectattr(state, over(list)?, name, test, args).map(Generator::value)
        },
    );
    environment.add_filter(
        "rejectattr",
        |state: &mut State<'_, '_>,
         list: Value,
         name: Cow<'_, str>,
         test: Option<Cow<'_, str>>,
         args: Rest<ValueOrKwargs>| {
            filters::rejectattr(state, over(list)?, name, test, args).map(Generator::value)
        },
    );
}

/// What Python calls a generator: true even if empty, without a length, and used up by the first loop over it.
#[derive(Debug)]
pub(super) struct Generator(Mutex<Vec<Value>>);

impl Generator {
    fn value(items: Vec<Value>) -> Value {
        Value::from_object(Generator(Mutex::new(items)))
    }
}

impl Object for Generator {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::UNDEFINED)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let items = self.0.lock().map(|mut items| std::mem::take(&mut *items)).unwrap_or_default();
        Enumerator::Iter(Box::new(items.into_iter()))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        None
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<generator object>")
    }
}

/// What a loop runs over: the engine takes `none` for an empty list.
pub(super) fn iterable(value: Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::None | ValueKind::Bool | ValueKind::Number => {
            Err(fault(format!("'{}' object is not iterable", type_name(&value))))
        }
        _ => Ok(value),
    }
}

/// The same for a filter, but for `none`, which Jinja2's filters take.
fn over(value: Value) -> Result<Value, Error> {
    if value.is_none() { Ok(value) } else { iterable(value) }
}

fn to_json(value: Value, ensure_ascii: Option<Value>, options: Kwargs) -> Result<String, Error> {
    let given = |name: &str| options.get::<Option<Value>>(name).map(|value| value.filter(|value| !value.is_none()));
    let indent = given("indent")?.map(|indent| match indent.as_str() {
        Some(text) => text.to_owned(),
        None => " ".repeat(indent.as_usize().unwrap_or(0).min(MAX_INDENT)),
    });
    let item_separator = if indent.is_some() { "," } else { ", " }.to_owned();
    let mut style = Style {
        indent,
        item_separator,
        key_separator: ": ".to_owned(),
        ensure_ascii: ensure_ascii.or(given("ensure_ascii")?).is_some_and(|value| value.is_true()),
        sort_keys: given("sort_keys")?.is_some_and(|value| value.is_true()),
    };
    if let Some(separators) = given("separators")? {
        let both: Vec<Value> = separators.try_iter()?.collect();
        let [items, keys] = both.as_slice() else {
            return Err(fault("separators are two strings"));
        };
        (style.item_separator, style.key_separator) = (python::str(items)?, python::str(keys)?);
    }
    options.assert_all_used()?;
    python::json(&value, &style)
}

/// No output needs more, and a hostile one gets no further.
const MAX_INDENT: usize = 64;

fn trim(value: Value, characters: Option<Value>) -> Result<String, Error> {
    let text = python::str(&value)?;
    let characters = characters.filter(|characters| !characters.is_none());
    Ok(match characters.as_ref().and_then(|characters| characters.as_str()) {
        Some(characters) => text.trim_matches(|c| characters.contains(c)).to_owned(),
        None => python::strip(&text).to_owned(),
    })
}

/// Lines but the first, and blank ones, behind a number of spaces or a text.
fn indent(
    value: Value,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    options: Kwargs,
) -> Result<String, Error> {
    let text = python::str(&value)?;
    let width = width.or(options.get("width")?).unwrap_or_else(|| Value::from(4));
    let first = first.or(options.get("first")?).unwrap_or(false);
    let blank = blank.or(options.get("blank")?).unwrap_or(false);
    options.assert_all_used()?;
    let indention = match width.as_str() {
        Some(text) => text.chars().take(MAX_INDENT).collect(),
        None => " ".repeat(width.as_usize().unwrap_or(0).min(MAX_INDENT)),
    };
    let mut out = if first { indention.clone() } else { String::new() };
    let mut lines = python::lines(&text);
    // A break at the end begins one more line, which is blank.
    if text.is_empty() || text.ends_with(python::is_break) {
        lines.push((text.len()..text.len(), text.len()));
    }
    for (index, (line, _)) in lines.into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
            out.push_str(if blank || !line.is_empty() { &indention } else { "" });
        }
        out.push_str(&text[line]);
    }
    Ok(out)
}

fn default(value: Value, other: Option<Value>, falsy: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let other = other.or(options.get("default_value")?).unwrap_or_else(|| Value::from(""));
    let falsy = falsy.or(options.get("boolean")?).is_some_and(|value| value.is_true());
    options.assert_all_used()?;
    Ok(if value.is_undefined() || falsy && !value.is_true() { other } else { value })
}

/// What is no number is the default, never a failure.
fn int(
    state: &mut State<'_, '_>,
    value: Value,
    other: Option<Value>,
    base: Option<u32>,
    options: Kwargs,
) -> Result<Value, Error> {
    let other = other.or(options.get("default")?).unwrap_or_else(|| Value::from(0));
    let base = base.or(options.get("base")?).unwrap_or(10);
    options.assert_all_used()?;
    let text = value.as_str().map(|text| Value::from(python::strip(text)));
    let read = filters::int(
        state,
        text.as_ref().unwrap_or(&value),
        Some(other.clone()),
        Some(base),
        Kwargs::from_iter(std::iter::empty::<(&str, Value)>()),
    );
    Ok(read.unwrap_or(other))
}

fn float(value: Value, other: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let other = other.or(options.get("default")?).unwrap_or_else(|| Value::from(0.0));
    options.assert_all_used()?;
    let read = match value.as_str() {
        Some(text) => python::strip(text).parse().ok(),
        None if value.is_none() => None,
        None => f64::try_from(value).ok(),
    };
    Ok(read.map_or(other, Value::from))
}

fn join(
    state: &mut State<'_, '_>,
    value: Value,
    between: Option<Value>,
    attribute: Option<Value>,
    options: Kwargs,
) -> Result<Value, Error> {
    let between = between.or(options.get("d")?).unwrap_or_else(|| Value::from(""));
    let attribute = attribute.or(options.get("attribute")?).filter(|attribute| !attribute.is_none());
    options.assert_all_used()?;
    let mut items = iterable(value)?;
    if let Some(attribute) = attribute {
        let by = Kwargs::from_iter([("attribute", attribute)]);
        items = Value::from(filters::map(state, items, Rest(vec![ValueOrKwargs::from(Value::from(by))]))?);
    }
    let between = python::str(&between)?;
    let mut out = String::new();
    for (index, item) in items.try_iter()?.enumerate() {
        if index > 0 {
            out.push_str(&between);
        }
        out.push_str(&python::str(&item)?);
        // Paid for before it grows further.
        state.consume_fuel(1 + (between.len() as u64) / 64)?;
    }
    Ok(Value::from(out))
}

/// `a + b + …`: where one is safe text, the text beside it is escaped.
fn sum(state: &mut State<'_, '_>, operands: Value) -> Result<Value, Error> {
    let mut operands = operands.try_iter()?;
    let first = operands.next().unwrap_or_default();
    operands.try_fold(first, |left, right| match (left.as_str(), right.as_str()) {
        (Some(a), Some(b)) if left.is_safe() || right.is_safe() => {
            let part = |value: &Value, text: &str| if value.is_safe() { text.to_owned() } else { escape(text) };
            state.consume_fuel((a.len() + b.len()) as u64 / 64)?;
            Ok(Value::from_safe_string(part(&left, a) + &part(&right, b)))
        }
        _ => {
            let operands = Value::from_pairs([("a", left), ("b", right)]);
            // Without its line, which is that of the expression; the template's own is added.
            let added = state.env().compile_expression("a + b")?.eval(operands);
            added.map_err(|error| Error::new(error.kind(), error.detail().unwrap_or_default().to_owned()))
        }
    })
}

/// As markupsafe escapes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// `format % values`.
fn percent(state: &mut State<'_, '_>, both: Value) -> Result<Value, Error> {
    let format = both.get_item_by_index(0)?;
    let values = both.get_item_by_index(1)?;
    let args = match values.downcast_object_ref::<Tuple>() {
        Some(values) => values.iter().cloned().collect(),
        None => vec![values],
    };
    state.apply_filter("format", &[&[format], args.as_slice()].concat())
}
