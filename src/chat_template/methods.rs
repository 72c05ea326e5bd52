//! Python's methods of strings, lists and dicts; the engine's own set is the rest.

use minijinja::value::{Kwargs, Tuple, Value, ValueKind, from_args};
use minijinja::{Error, State};
use minijinja_contrib::pycompat;

use super::filters::iterable;
use super::python::{self, fault, is_space};
use super::slices;

pub(super) fn call(state: &mut State<'_, '_>, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if method == slices::SLICE {
        return slices::cut(state, value, args);
    }
    let own = match (value.as_str(), value.kind()) {
        (Some(text), _) => of_text(state, text, method, args)?,
        (None, ValueKind::Seq | ValueKind::Iterable) => of_list(state, value, method, args)?,
        (None, ValueKind::Map) if method == "copy" => Some(value.clone()),
        _ => None,
    };
    match own {
        Some(result) => Ok(result),
        None => pycompat::unknown_method_callback(state, value, method, args),
    }
}

fn of_text(state: &mut State<'_, '_>, text: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        "strip" | "lstrip" | "rstrip" => {
            let (characters,): (Option<Value>,) = from_args(args)?;
            let characters = optional_text(characters, method)?;
            let strips = |c: char| characters.as_ref().map_or(is_space(c), |characters| characters.contains(c));
            Value::from(match method {
                "strip" => text.trim_matches(strips),
                "lstrip" => text.trim_start_matches(strips),
                _ => text.trim_end_matches(strips),
            })
        }
        "split" | "rsplit" => split(text, args, method == "rsplit")?,
        "splitlines" => {
            let (positional, options): (Option<bool>, Kwargs) = from_args(args)?;
            let keep = positional.or(options.get("keepends")?).unwrap_or(false);
            lines(text, keep)
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            let at_end = method == "rpartition";
            let parts = if at_end { text.rsplit_once(separator) } else { text.split_once(separator) };
            let parts = match parts {
                Some((before, after)) => [before, separator, after],
                None if at_end => ["", "", text],
                None => [text, "", ""],
            };
            Value::from(Tuple::from(parts.map(Value::from)))
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "startswith" | "endswith" if args.len() == 1 && args[0].as_str().is_none() && !is_tuple(&args[0]) => {
            let given = python::type_name(&args[0]);
            return Err(fault(format!("{method} first arg must be str or a tuple of str, not {given}")));
        }
        "startswith" | "endswith" | "count" if args.len() > 1 => {
            let part = Value::from(between(text, &args[1..])?.1);
            return call(state, &part, method, &args[..1]).map(Some);
        }
        "index" | "rindex" | "find" | "rfind" => {
            let (wanted, _, _): (&str, Option<i64>, Option<i64>) = from_args(args)?;
            let (skipped, part) = between(text, &args[1..])?;
            let found = if method.starts_with('r') { part.rfind(wanted) } else { part.find(wanted) };
            match found {
                Some(at) => Value::from(skipped + part[..at].chars().count()),
                None if method.ends_with("find") => Value::from(-1),
                None => return Err(fault("substring not found")),
            }
        }
        "join" => {
            let (items,): (&Value,) = from_args(args)?;
            let mut out = String::new();
            for (index, item) in iterable(items.clone())?.try_iter()?.enumerate() {
                let given = python::type_name(&item);
                let wrong = || fault(format!("sequence item {index}: expected str instance, {given} found"));
                out.push_str(if index > 0 { text } else { "" });
                out.push_str(item.as_str().ok_or_else(wrong)?);
                state.consume_fuel(1 + text.len() as u64 / 64)?;
            }
            Value::from(out)
        }
        "format" => {
            check_widths(text, args)?;
            return Ok(None);
        }
        "title" => Value::from(python::title(text)),
        "istitle" => Value::from(text.chars().any(char::is_alphabetic) && python::title(text) == text),
        "ljust" | "rjust" | "center" | "zfill" => pad(text, method, args)?,
        "casefold" => Value::from(text.to_lowercase()),
        "swapcase" => Value::from(text.chars().flat_map(swapped).collect::<String>()),
        "isspace" => Value::from(!text.is_empty() && text.chars().all(is_space)),
        _ => return Ok(None),
    }))
}

/// The part of a text from a start to an end, as they are given to `find`, and how many characters stand before it.
fn between<'t>(text: &'t str, bounds: &[Value]) -> Result<(usize, &'t str), Error> {
    let (start, end): (Option<i64>, Option<i64>) = from_args(bounds)?;
    let count = text.chars().count();
    let at = |index: i64| if index < 0 { (count as i64 + index).max(0) as usize } else { (index as usize).min(count) };
    let byte = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(byte, _)| byte);
    let start = at(start.unwrap_or(0));
    let end = at(end.unwrap_or(count as i64)).max(start);
    Ok((start, &text[byte(start)..byte(end)]))
}

fn is_tuple(value: &Value) -> bool {
    value.downcast_object_ref::<Tuple>().is_some()
}

fn optional_text(value: Option<Value>, method: &str) -> Result<Option<String>, Error> {
    match value {
        None => Ok(None),
        Some(value) if value.is_none() => Ok(None),
        Some(value) => match value.as_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(fault(format!("{method} arg must be None or str"))),
        },
    }
}

/// `split(sep=None, maxsplit=-1)`, from the left or the right.
fn split(text: &str, args: &[Value], from_right: bool) -> Result<Value, Error> {
    let (separator, most, options): (Option<Value>, Option<i64>, Kwargs) = from_args(args)?;
    let separator = optional_text(separator.or(options.get("sep")?), "split")?;
    let most = most.or(options.get("maxsplit")?).and_then(|most| usize::try_from(most).ok());
    options.assert_all_used()?;
    let parts: Vec<&str> = match &separator {
        Some(separator) if separator.is_empty() => return Err(fault("empty separator")),
        Some(separator) => match (most, from_right) {
            (None, _) => text.split(separator.as_str()).collect(),
            (Some(most), false) => text.splitn(most + 1, separator.as_str()).collect(),
            (Some(most), true) => {
                let mut parts: Vec<&str> = text.rsplitn(most + 1, separator.as_str()).collect();
                parts.reverse();
                parts
            }
        },
        None => words(text, most.unwrap_or(usize::MAX), from_right),
    };
    Ok(Value::from(parts.into_iter().map(Value::from).collect::<Vec<_>>()))
}

fn words(text: &str, most: usize, from_right: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = if from_right { text.trim_end_matches(is_space) } else { text.trim_start_matches(is_space) };
    while !rest.is_empty() {
        let at = if from_right { rest.rfind(is_space) } else { rest.find(is_space) };
        let Some(at) = at.filter(|_| parts.len() < most) else {
            let last = if from_right { rest.trim_start_matches(is_space) } else { rest };
            parts.extend((!last.is_empty()).then_some(last));
            break;
        };
        if from_right {
            let space = rest[at..].chars().next().map_or(1, char::len_utf8);
            parts.push(&rest[at + space..]);
            rest = rest[..at].trim_end_matches(is_space);
        } else {
            parts.push(&rest[..at]);
            rest = rest[at..].trim_start_matches(is_space);
        }
    }
    if from_right {
        parts.reverse();
    }
    parts
}

fn lines(text: &str, keep: bool) -> Value {
    let lines = python::lines(text).into_iter();
    Value::from(
        lines.map(|(line, end)| Value::from(&text[line.start..if keep { end } else { line.end }])).collect::<Vec<_>>(),
    )
}

/// Wider is refused: no template needs it.
const MAX_WIDTH: usize = 1 << 16;

fn pad(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (width, fill): (i64, Option<char>) = from_args(args)?;
    let width = usize::try_from(width).unwrap_or(0);
    if width > MAX_WIDTH {
        return Err(fault(format!("a width over {MAX_WIDTH} is refused")));
    }
    let room = width.saturating_sub(text.chars().count());
    let fill = fill.unwrap_or(' ');
    let filled = |count: usize, fill: char| fill.to_string().repeat(count);
    Ok(Value::from(match method {
        "ljust" => format!("{text}{}", filled(room, fill)),
        "rjust" => format!("{}{text}", filled(room, fill)),
        "zfill" => {
            let sign = text.find(['+', '-']).filter(|at| *at == 0).map_or(0, |_| 1);
            format!("{}{}{}", &text[..sign], filled(room, '0'), &text[sign..])
        }
        _ => {
            // Python puts what is left over to the left where the width is odd.
            let left = room / 2 + (room & width & 1);
            format!("{}{text}{}", filled(left, fill), filled(room - left, fill))
        }
    }))
}

/// The engine fills any width, whether written in the format or given as an argument.
fn check_widths(format: &str, args: &[Value]) -> Result<(), Error> {
    let digits = format.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    let is_wide = |arg: &Value| arg.as_i64().is_some_and(|width| width > MAX_WIDTH as i64);
    let nested = format.contains(":{") || format.contains("}{") && format.contains(':');
    if digits > 4 || nested && args.iter().any(is_wide) {
        return Err(fault("a width of more than four digits is refused"));
    }
    Ok(())
}

fn swapped(character: char) -> Vec<char> {
    if character.is_uppercase() { character.to_lowercase().collect() } else { character.to_uppercase().collect() }
}

/// A list may be long without holding memory.
fn of_list(state: &State<'_, '_>, list: &Value, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    if matches!(method, "index" | "count" | "copy") {
        state.consume_fuel(list.len().unwrap_or(0) as u64)?;
    }
    Ok(Some(match method {
        "index" => {
            let (wanted,): (&Value,) = from_args(args)?;
            let at = list.try_iter()?.position(|item| item == *wanted);
            Value::from(at.ok_or_else(|| fault("the value is not in the list"))?)
        }
        "count" => {
            let (wanted,): (&Value,) = from_args(args)?;
            Value::from(list.try_iter()?.filter(|item| item == wanted).count())
        }
        "copy" => Value::from(list.try_iter()?.collect::<Vec<_>>()),
        _ => return Ok(None),
    }))
}
