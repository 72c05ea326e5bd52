//! What can be wrong with a template, and what to write instead.

use std::ops::Range;

use super::MAX_WIDTH_CHARS;
use crate::error::{Code, Error};

const DOUBLE: &str = "a brace that is text is written twice: `{{` and `}}`";
/// The most characters of a template that a message quotes at once.
const MAX_CHARS: usize = 40;
const SPECS: &str = "a field of text takes [[fill]align][0][width][.precision][s], such as :>10 or :.2000";

/// No field of the name that must occur, and no other fault.
pub(super) fn no_field(source: &str, name: &str) -> Error {
    let field = field(name);
    let (span, hint) =
        look_alike(source, name).unwrap_or_else(|| (0..source.len(), format!("write {field} where that text belongs")));
    Error::new(Code::TemplateNoField, format!("the template has no field {field}")).with_span(span).with_hint(hint)
}

/// What was probably meant to be the field, and how it is written here.
fn look_alike(source: &str, name: &str) -> Option<(Range<usize>, String)> {
    const QUOTES: [(&str, &str); 4] = [("<", ">"), ("[", "]"), ("%(", ")s"), ("$", "")];
    let field = field(name);
    let occurrences = source.match_indices(name).filter(|_| !name.is_empty());
    for (start, _) in occurrences {
        let (before, after) = (&source[..start], &source[start + name.len()..]);
        let end = source.len() - after.len();
        if before.ends_with("{{") && after.starts_with("}}") {
            let open = before.trim_end_matches('{').len();
            let close = source.len() - after.trim_start_matches('}').len();
            let hint = format!("`{{{{` and `}}}}` stand for braces that are text; write {field} with single braces");
            return Some((open..close, hint));
        }
        let opened = before.trim_end_matches(|c: char| c == '-' || c.is_whitespace());
        if opened.ends_with("{{") {
            let close = after.find("}}").map_or(end, |distance| end + distance + 2);
            let hint = format!("this is Jinja, where `{{{{` opens a field; here write {field}, without filters");
            return Some((opened.len() - 2..close, hint));
        }
        for (open, close) in QUOTES {
            let whole_word = !close.is_empty() || !after.starts_with(is_word);
            if before.ends_with(open) && after.starts_with(close) && whole_word {
                let span = start - open.len()..end + close.len();
                let hint = format!("write {field} in place of {}", shown(&source[span.clone()]));
                return Some((span, hint));
            }
        }
    }
    let at = source.find("%s")?;
    Some((at..at + 2, format!("write {field} in place of %s")))
}

/// A `}` that closes nothing.
pub(super) fn single_close(source: &str, brace: usize, names: &[&str]) -> Error {
    let before = source[..brace].trim_end();
    let doubled = names.iter().find(|&&name| {
        before.strip_suffix(name).is_some_and(|opened| !name.is_empty() && opened.trim_end().ends_with("{{"))
    });
    let hint = match doubled {
        Some(name) => format!("write {}: `{{{{` stands for a brace that is text", field(name)),
        None => DOUBLE.to_owned(),
    };
    syntax("a single `}` that closes no field", brace..brace + 1, hint)
}

/// A field without its `}`.
pub(super) fn unclosed(source: &str, open: usize, names: &[&str]) -> Error {
    syntax("a single `{` whose field is never closed", open..open + 1, close_or_double(source, open, names))
}

/// A `{` before the name of the field that opens at `open` has ended.
pub(super) fn brace_in_name(source: &str, open: usize, inner: usize, names: &[&str]) -> Error {
    syntax("a `{` inside the name of a field", open..inner + 1, close_or_double(source, open, names))
}

/// The hint for a `{` that may begin a field or be text.
fn close_or_double(source: &str, open: usize, names: &[&str]) -> String {
    let rest = source[open + 1..].trim_start();
    let meant = names.iter().find(|&&name| {
        let after = rest.strip_prefix(name).filter(|_| !name.is_empty());
        after.is_some_and(|after| !after.starts_with(is_word))
    });
    meant.map_or_else(|| DOUBLE.to_owned(), |name| format!("close it: {}", field(name)))
}

/// A `{` that opens no field because other notation begins there, if that is so.
pub(super) fn text_brace(source: &str, open: usize, names: &[&str]) -> Option<Error> {
    let rest = &source[open + 1..];
    let example = field(names.first().unwrap_or(&"name"));
    let jinja = rest.starts_with('%') || rest.starts_with('#') && rest.contains("#}");
    let json = rest.trim_start().starts_with(['"', '\'']);
    let (message, hint) = if jinja {
        ("a Jinja tag is no field", format!("a template holds text and fields such as {example}, no tags; {DOUBLE}"))
    } else if json {
        let hint = format!("braces that are text are written twice: {{{{\"output\": \"{example}\"}}}}");
        ("a brace before a quoted string opens no field", hint)
    } else {
        return None;
    };
    Some(syntax(message, open..open + 1, hint))
}

/// What follows `!` is no conversion.
pub(super) fn conversion(source: &str, span: Range<usize>) -> Error {
    let text = &source[span.clone()];
    let hint = "the conversions are !s, !r and !a";
    if text.starts_with(['}', ':']) {
        return syntax("a `!` without a conversion", span.start - 1..span.start, hint);
    }
    syntax(format!("no conversion {}", quoted(text)), span, hint)
}

fn syntax(message: impl Into<String>, span: Range<usize>, hint: impl Into<String>) -> Error {
    Error::new(Code::TemplateSyntax, message).with_span(span).with_hint(hint)
}

/// A field that is empty, or a number.
pub(super) fn positional(number: &str, span: Range<usize>, names: &[&str]) -> Error {
    let message = match number {
        "" => "a field without a name".to_owned(),
        _ => format!("the field {} has a number for a name", quoted(number)),
    };
    let hint = format!("{}; {DOUBLE}", known(names));
    Error::new(Code::TemplateUnknownField, message).with_span(span).with_hint(hint)
}

/// A name that is not declared.
pub(super) fn unknown_field(source: &str, span: Range<usize>, names: &[&str]) -> Error {
    let name = &source[span.clone()];
    let is_known = |name: &str| names.contains(&name).then(|| field(name));
    let meant = nearest(name, names);
    let stranger = meant.and_then(|meant| name.chars().find(|&c| !c.is_ascii() && !meant.contains(c)));

    let mut message = format!("unknown field {}", quoted(name));
    let hint = if let (Some(stranger), Some(meant)) = (stranger, meant) {
        message = format!("unknown field \"{}\": it holds U+{:04X}", unicode_escaped(name), u32::from(stranger));
        format!("write {}, without that character", field(meant))
    } else if let Some(field) = is_known(name.trim()) {
        format!("write {field}: a name is compared as it stands, spaces included")
    } else if let Some(field) = name.strip_suffix('=').and_then(|name| is_known(name.trim())) {
        format!("write {field}: only f-strings know `=`")
    } else if let Some(meant) = meant {
        format!("write {}", field(meant))
    } else {
        format!("{}; {DOUBLE}", known(names))
    };
    Error::new(Code::TemplateUnknownField, message).with_span(span).with_hint(hint)
}

/// A field that goes into its argument, `name` being all that stands before `!`, `:` or `}`.
pub(super) fn access(source: &str, name: Range<usize>, first: &str) -> Error {
    let message = format!("the field {} reaches into its text", quoted(&source[name.clone()]));
    let hint = format!("write {}: a field gives the whole text", field(first));
    Error::new(Code::TemplateAccess, message).with_span(name.start + first.len()..name.end).with_hint(hint)
}

/// A `{` in a spec, where CPython allows fields but no text that a spec of text could hold.
pub(super) fn brace_in_spec(source: &str, brace: usize) -> Error {
    if source[brace + 1..].starts_with('{') {
        return spec("a brace in a format spec", brace..brace + 1, SPECS);
    }
    Error::new(Code::TemplateAccess, "a field inside a format spec")
        .with_span(brace..brace + 1)
        .with_hint("write width and precision as numbers, such as :>10 or :.2000")
}

/// The alignment `=`.
pub(super) fn align(span: Range<usize>) -> Error {
    spec("the alignment `=` is for numbers", span, "text is aligned by <, > or ^")
}

/// A sign, a space, `z`, `#`, `,` or `_`.
pub(super) fn number_option(option: char, span: Range<usize>) -> Error {
    spec(format!("the option `{option}` of a format spec is for numbers"), span, SPECS)
}

/// A width that is not allowed.
pub(super) fn too_wide(span: Range<usize>) -> Error {
    let hint = "write a smaller width, or none";
    spec(format!("a width over {MAX_WIDTH_CHARS} characters"), span, hint)
}

/// A `.` without number.
pub(super) fn no_precision(dot: Range<usize>) -> Error {
    spec("a `.` without a precision", dot, "write a number of characters after it, such as .2000, or leave it out")
}

/// A precision beyond CPython's numbers.
pub(super) fn too_precise(span: Range<usize>) -> Error {
    spec(format!("a precision over {} characters", i64::MAX), span, "leave the precision out to keep the whole text")
}

/// What stands where a spec should have ended.
pub(super) fn spec_rest(source: &str, span: Range<usize>) -> Error {
    let rest = &source[span.clone()];
    let message = match rest.chars().count() {
        1 => format!("no format code {} for text", quoted(rest)),
        _ => format!("the format spec does not end before {}", quoted(rest)),
    };
    spec(message, span, SPECS)
}

fn spec(message: impl Into<String>, span: Range<usize>, hint: impl Into<String>) -> Error {
    Error::new(Code::TemplateSpec, message).with_span(span).with_hint(hint)
}

fn unicode_escaped(text: &str) -> String {
    let escape = |c: char| if c.is_ascii() { c.escape_debug().to_string() } else { c.escape_unicode().to_string() };
    text.chars().map(escape).collect()
}

/// A name as it is written in a template.
fn field(name: &str) -> String {
    format!("{{{}}}", shown(name))
}

/// Text out of a template, without live control characters, not too long.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        match character {
            _ if at == MAX_CHARS => {
                shown.push('…');
                break;
            }
            '"' | '\'' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// The same in quotes.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

fn known(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let fields: Vec<String> = names.iter().take(SHOWN).map(|name| field(name)).collect();
    match fields.as_slice() {
        [] => "this template takes no fields".to_owned(),
        [only] => format!("the only field is {only}"),
        _ if names.len() > SHOWN => format!("the fields are {}, …", fields.join(", ")),
        [all @ .., last] => format!("the fields are {} and {last}", all.join(", ")),
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// The declared name that was probably meant.
fn nearest<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    const MAX_BYTES: usize = 64;
    if name.len() > MAX_BYTES {
        return None;
    }
    let lower = name.to_lowercase();
    let distances = names.iter().filter(|candidate| candidate.len() <= MAX_BYTES).filter_map(|&candidate| {
        let allowed = (candidate.chars().count() / 3).max(1);
        let distance =
            if imitates(name, candidate) { 0 } else { strsim::osa_distance(&lower, &candidate.to_lowercase()) };
        (distance <= allowed).then_some((distance, candidate))
    });
    distances.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// Whether a name is another but for characters that are not ASCII, which may look alike.
fn imitates(name: &str, candidate: &str) -> bool {
    name.chars().count() == candidate.chars().count()
        && name.chars().any(|c| c.is_ascii())
        && name.chars().zip(candidate.chars()).all(|(a, b)| a == b || !a.is_ascii())
}
