//! Slices as Python cuts them: at once. The engine's are views of views, whose cost grows with each.

use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Error, State};

use super::operators::group_len;
use super::python::fault;
use super::source::token_len;

/// The method that a slice is spelled as.
pub(super) const SLICE: &str = "__slice";

/// Brackets nested deeper stay as they are; the engine refuses them.
const MAX_DEPTH: usize = 100;

/// A tag's inside with `x[a:b:c]` as `x.__slice(a, b, c)`.
pub(super) fn spell(inside: &str, depth: usize) -> String {
    let mut out = String::with_capacity(inside.len() + 16);
    let mut rest = inside;
    let mut follows_operand = false;
    while !rest.is_empty() {
        let (token, after) = rest.split_at(token_len(rest));
        rest = after;
        if token == "[" && depth < MAX_DEPTH {
            let (group, after) = rest.split_at(group_len(rest));
            let bounds = if follows_operand { bounds(group) } else { Vec::new() };
            if bounds.len() < 2 {
                out.push('[');
                out.push_str(&spell(group, depth + 1));
                rest = after;
            } else {
                let bounds = bounds.iter().map(|bound| match bound.trim() {
                    "" => format!("none{bound}"),
                    _ => spell(bound, depth + 1),
                });
                out.push_str(&format!(".{SLICE}({})", bounds.collect::<Vec<_>>().join(",")));
                rest = after.strip_prefix(']').unwrap_or(after);
                follows_operand = true;
                continue;
            }
        } else {
            out.push_str(token);
        }
        if !token.trim().is_empty() {
            let is_word = token.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let is_operator = ["in", "and", "or", "not", "if", "else", "is", "elif"].contains(&token);
            follows_operand = is_word && !is_operator || token.starts_with([')', ']', '}', '"', '\'']);
        }
    }
    out
}

/// What stands between the colons that are not inside of brackets.
fn bounds(group: &str) -> Vec<&str> {
    let (mut parts, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0);
    while at < group.len() {
        let len = token_len(&group[at..]);
        match &group[at..at + len] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ":" if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + len;
            }
            _ => {}
        }
        at += len;
    }
    parts.push(&group[start..]);
    parts
}

/// `value[start:stop:step]`; what cannot be sliced has no such attribute, which is no failure in Jinja2.
pub(super) fn cut(state: &State<'_, '_>, value: &Value, bounds: &[Value]) -> Result<Value, Error> {
    let bound = |at: usize| match bounds.get(at) {
        None => Ok(None),
        Some(bound) if bound.is_none() => Ok(None),
        Some(bound) => bound.as_i64().map(Some).ok_or(()),
    };
    let (Ok(start), Ok(stop), Ok(step)) = (bound(0), bound(1), bound(2)) else { return Ok(Value::UNDEFINED) };
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(fault("slice step cannot be zero"));
    }
    if value.is_undefined() {
        return Err(fault("undefined value"));
    }
    if let Some(text) = value.as_str() {
        let characters: Vec<char> = text.chars().collect();
        let kept = indices(characters.len(), start, stop, step).filter_map(|at| characters.get(at));
        return Ok(Value::from(kept.collect::<String>()));
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Ok(Value::UNDEFINED);
    }
    state.consume_fuel(value.len().unwrap_or(0) as u64 / 2)?;
    let items: Vec<Value> = value.try_iter()?.collect();
    let kept: Vec<Value> = indices(items.len(), start, stop, step).filter_map(|at| items.get(at).cloned()).collect();
    let is_tuple = value.downcast_object_ref::<Tuple>().is_some();
    Ok(if is_tuple { Value::from(Tuple::from(kept)) } else { Value::from(kept) })
}

fn indices(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> impl Iterator<Item = usize> {
    let len = len as i64;
    let (first, last) = if step > 0 { (0, len) } else { (len - 1, -1) };
    let clamp = |bound: i64| {
        let bound = if bound < 0 { bound.saturating_add(len) } else { bound };
        if step > 0 { bound.clamp(0, len) } else { bound.clamp(-1, len - 1) }
    };
    let (start, stop) = (start.map_or(first, clamp), stop.map_or(last, clamp));
    let goes_on = move |at: &i64| if step > 0 { *at < stop } else { *at > stop };
    std::iter::successors(Some(start), move |at| at.checked_add(step)).take_while(goes_on).map(|at| at as usize)
}
