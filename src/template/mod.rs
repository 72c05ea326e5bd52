//! Python's `str.format` for text arguments, as CPython 3.11 does it: parsed once, then applied to pieces of text.
//!
//! ```text
//! template   = { literal | "{{" | "}}" | field }
//! field      = "{" name [ "!" ("s" | "r" | "a") ] [ ":" spec ] "}"
//! spec       = [[fill] align] ["0"] [width] ["." precision] ["s"]        align = "<" | ">" | "^"
//! ```
//!
//! Attribute and index access, positional fields and fields inside a spec are refused, though CPython takes some of
//! them; so is a width over [`MAX_WIDTH_CHARS`]. All other templates that CPython accepts for text give what it gives.

mod fault;
mod parse;
mod repr;
mod spec;
mod tables;

use std::borrow::Cow;
use std::ops::Range;

use crate::context::Text;
use crate::error::Result;
pub(crate) use repr::repr;
use spec::{Align, Spec};

/// The largest width of a field, in characters.
pub const MAX_WIDTH_CHARS: u32 = 16_777_216;

/// A template that has been found valid.
#[derive(Clone, Debug)]
pub struct Template<'a> {
    source: Cow<'a, str>,
    parts: Vec<Part>,
    warnings: Vec<Warning>,
    plain_fields: usize,
}

/// Something to know about a template that is valid all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `template.lossy` or `template.repeated_field`.
    pub code: &'static str,
    /// Lower case, one sentence, no full stop; nothing in it is a live control character.
    pub message: String,
    /// The field in question, in bytes of the template.
    pub span: Range<usize>,
}

#[derive(Clone, Debug)]
enum Part {
    /// A byte range of the source that is output as it stands.
    Literal(Range<usize>),
    Field(Field),
}

#[derive(Clone, Debug)]
struct Field {
    /// Index into the names, and so into the arguments.
    argument: usize,
    conversion: Option<Conversion>,
    spec: Spec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    /// `!s`: text is its own `str`.
    Str,
    /// `!r`: quoted, with quotes, backslashes and what is not printable escaped.
    Repr,
    /// `!a`: the same, with all that is not ASCII escaped.
    Ascii,
}

impl<'a> Template<'a> {
    /// Parses a template. The first of `names` is the field that must occur, the others may.
    ///
    /// # Errors
    /// The first fault in reading order, with its byte range in `source` and a hint: `template.syntax` (braces or a
    /// conversion), `template.unknown_field` (a name not in `names`, or a positional field), `template.access` (a
    /// field that reaches into an argument, or stands in a spec), `template.spec` (a spec that text does not take);
    /// and `template.no_field` where all is well but for the field that must occur.
    pub fn parse(source: impl Into<Cow<'a, str>>, names: &[&str]) -> Result<Self> {
        let source = source.into();
        let parse::Parsed { parts, warnings, plain_fields } = parse::parse(&source, names)?;
        Ok(Template { source, parts, warnings, plain_fields })
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Forms that lose or rewrite text (`template.lossy`) and fields used more than once
    /// (`template.repeated_field`): at most one of a kind for each name, in reading order.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How often the first name occurs without conversion or spec: at least so many times does the output hold that
    /// argument as it stands.
    pub fn plain_fields(&self) -> usize {
        self.plain_fields
    }

    /// The template with its fields replaced, `arguments` being in the order of the names it was parsed with.
    /// Literals and arguments are pointed at, not copied; only `.precision`, `!r` and `!a` may make a new string.
    /// Nothing in an argument is expanded. A field whose argument is not given vanishes.
    pub fn apply<'r>(&'r self, arguments: &[&'r Text<'_>]) -> Text<'r> {
        let mut out = Text::default();
        for part in &self.parts {
            match part {
                Part::Literal(range) => out.push_plain(&self.source[range.clone()]),
                Part::Field(field) => {
                    if let Some(argument) = arguments.get(field.argument) {
                        field.apply(argument, &mut out);
                    }
                }
            }
        }
        out
    }

    /// The same with arguments that need not be kept: their pieces go over to the output.
    pub(crate) fn fill<'r>(&'r self, arguments: &[Text<'r>]) -> Text<'r> {
        self.fill_parts(&self.parts, arguments)
    }

    /// What stands behind the last field of the first name, filled.
    pub(crate) fn closing<'r>(&'r self, arguments: &[Text<'r>]) -> String {
        let is_first = |part: &Part| matches!(part, Part::Field(field) if field.argument == 0);
        let start = self.parts.iter().rposition(is_first).map_or(0, |last| last + 1);
        self.fill_parts(&self.parts[start..], arguments).to_string()
    }

    fn fill_parts<'r>(&'r self, parts: &'r [Part], arguments: &[Text<'r>]) -> Text<'r> {
        let mut out = Text::default();
        for part in parts {
            match part {
                Part::Literal(range) => out.push_plain(&self.source[range.clone()]),
                Part::Field(field) => {
                    if let Some(argument) = arguments.get(field.argument) {
                        field.put(argument, &mut out, |out| out.append(argument.clone()));
                    }
                }
            }
        }
        out
    }

    /// The characters of what [`Template::fill`] gives where the first argument has so many, and the others are those of
    /// `arguments`; nothing where they hang on more of the first one than its size.
    pub(crate) fn chars(&self, first_chars: u64, arguments: &[&str]) -> Option<u64> {
        let mut all = 0u64;
        for part in &self.parts {
            let chars = match part {
                Part::Literal(range) => self.source[range.clone()].chars().count() as u64,
                Part::Field(field) if field.argument == 0 => field.chars_of_size(first_chars)?,
                Part::Field(field) => arguments.get(field.argument).map_or(0, |argument| field.chars(argument)),
            };
            all = all.saturating_add(chars);
        }
        Some(all)
    }

    /// An upper bound of what [`Template::apply`] would give, in bytes, plus 64 bytes for each piece of it (an
    /// argument counted as one). Saturates. Looks at the size of arguments, not at their text.
    pub fn cost(&self, arguments: &[&Text<'_>]) -> u64 {
        self.cost_of_sizes(|argument| arguments.get(argument).map_or((0, 0), |text| (text.chars(), text.bytes())))
    }

    /// The same of arguments of these sizes, in characters and bytes.
    pub(crate) fn cost_of_sizes(&self, size: impl Fn(usize) -> (u64, u64)) -> u64 {
        const PIECE: u64 = 64;
        let costs = self.parts.iter().map(|part| match part {
            Part::Literal(range) => range.len() as u64 + PIECE,
            Part::Field(field) => {
                let (chars, bytes) = size(field.argument);
                field.max_bytes(chars, bytes).saturating_add(3 * PIECE)
            }
        });
        costs.fold(0, u64::saturating_add)
    }
}

impl Field {
    fn apply<'r>(&self, argument: &'r Text<'_>, out: &mut Text<'r>) {
        match self.rewritten(argument) {
            None => self.pad(argument.chars(), out, |out| out.push_text(argument)),
            Some(rewritten) => self.pad(rewritten.chars().count() as u64, out, |out| out.push_plain(rewritten)),
        }
    }

    /// The same, where `push` puts the argument as it stands.
    fn put<'r>(&self, argument: &Text<'_>, out: &mut Text<'r>, push: impl FnOnce(&mut Text<'r>)) {
        match self.rewritten(argument).map(Cow::into_owned) {
            None => self.pad(argument.chars(), out, push),
            Some(rewritten) => self.pad(rewritten.chars().count() as u64, out, |out| out.push_plain(rewritten)),
        }
    }

    /// The characters of what it makes of an argument.
    fn chars(&self, argument: &str) -> u64 {
        self.chars_of_size(argument.chars().count() as u64).unwrap_or_else(|| {
            let argument = Text::plain(argument);
            let rewritten = self.rewritten(&argument).map_or(0, |text| text.chars().count() as u64);
            rewritten.max(u64::from(self.spec.width))
        })
    }

    /// The same of any argument of so many characters, where that is all that counts.
    fn chars_of_size(&self, chars: u64) -> Option<u64> {
        match self.conversion {
            Some(Conversion::Repr | Conversion::Ascii) => None,
            Some(Conversion::Str) | None => Some(chars.min(self.max_chars()).max(u64::from(self.spec.width))),
        }
    }

    /// What the field makes of an argument that does not stay as it stands.
    fn rewritten<'t>(&self, argument: &'t Text<'_>) -> Option<Cow<'t, str>> {
        let max_chars = self.max_chars();
        match self.conversion {
            Some(Conversion::Repr) => Some(Cow::Owned(repr::repr(argument, max_chars))),
            Some(Conversion::Ascii) => Some(Cow::Owned(repr::ascii(argument, max_chars))),
            Some(Conversion::Str) | None => (argument.chars() > max_chars).then(|| head(argument, max_chars)),
        }
    }

    /// Puts the padding round a body of so many characters.
    fn pad<'r>(&self, body_chars: u64, out: &mut Text<'r>, push_body: impl FnOnce(&mut Text<'r>)) {
        let padding = u64::from(self.spec.width).saturating_sub(body_chars);
        let left = match self.spec.align {
            Align::Left => 0,
            Align::Right => padding,
            Align::Center => padding / 2,
        };
        out.push_fill(self.spec.fill, left);
        push_body(out);
        out.push_fill(self.spec.fill, padding - left);
    }

    fn max_chars(&self) -> u64 {
        self.spec.precision.unwrap_or(u64::MAX)
    }

    /// No output is longer than this, in bytes, for an argument of this size.
    fn max_bytes(&self, chars: u64, bytes: u64) -> u64 {
        // An escape is at most four bytes for each byte of what it stands for: a control character becomes `\x00`.
        let (least_chars, most_bytes) = match self.conversion {
            Some(Conversion::Repr | Conversion::Ascii) => {
                (chars.saturating_add(2), bytes.saturating_mul(4).saturating_add(2))
            }
            Some(Conversion::Str) | None => (chars, bytes),
        };
        let body = most_bytes.min(self.max_chars().saturating_mul(4));
        let padding = u64::from(self.spec.width).saturating_sub(least_chars.min(self.max_chars()));
        body.saturating_add(padding * self.spec.fill.len_utf8() as u64)
    }
}

/// The first characters of a text; no more of it is looked at, and it is borrowed if it lies in one run.
fn head<'t>(text: &'t Text<'_>, chars: u64) -> Cow<'t, str> {
    let mut head = Cow::Borrowed("");
    let mut left = usize::try_from(chars).unwrap_or(usize::MAX);
    for chunk in text.chunks() {
        if left == 0 {
            break;
        }
        match chunk.char_indices().nth(left) {
            Some((end, _)) => {
                left = 0;
                head += match chunk {
                    Cow::Borrowed(chunk) => Cow::Borrowed(&chunk[..end]),
                    Cow::Owned(chunk) => Cow::Owned(chunk[..end].to_owned()),
                };
            }
            None => {
                left -= chunk.chars().count();
                head += chunk;
            }
        }
    }
    head
}

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod tests;
