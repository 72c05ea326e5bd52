//! Finds the fields of a template as CPython's `MarkupIterator` does, and checks each.

use std::collections::HashMap;
use std::ops::Range;

use memchr::{memchr, memchr2, memchr2_iter};

use super::spec::Spec;
use super::tables::decimal_digit;
use super::{Conversion, Field, Part, Warning, fault};
use crate::error::Result;

pub(super) struct Parsed {
    pub(super) parts: Vec<Part>,
    pub(super) warnings: Vec<Warning>,
    pub(super) plain_fields: usize,
}

pub(super) fn parse(source: &str, names: &[&str]) -> Result<Parsed> {
    let mut parser = Parser::new(source, names);
    let bytes = source.as_bytes();
    let mut at = 0;
    while let Some(distance) = memchr2(b'{', b'}', &bytes[at..]) {
        let brace = at + distance;
        if bytes.get(brace + 1) == Some(&bytes[brace]) {
            parser.literal(at..brace + 1);
            at = brace + 2;
            continue;
        }
        parser.literal(at..brace);
        if bytes[brace] == b'}' {
            return Err(fault::single_close(source, brace, names));
        }
        at = parser.field(brace).map_err(|error| fault::text_brace(source, brace, names).unwrap_or(error))?;
    }
    parser.literal(at..bytes.len());
    parser.finish()
}

struct Parser<'s> {
    source: &'s str,
    names: &'s [&'s str],
    index_of: HashMap<&'s str, usize>,
    /// What has been seen of each name.
    seen: Vec<Seen>,
    parsed: Parsed,
}

/// A field of a name was seen, and these warnings were given for it.
#[derive(Clone, Copy, Default)]
struct Seen {
    used: bool,
    repeated: bool,
    cut: bool,
    repr: bool,
    ascii: bool,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, names: &'s [&'s str]) -> Self {
        let index_of = names.iter().enumerate().rev().map(|(index, &name)| (name, index)).collect();
        let seen = vec![Seen::default(); names.len()];
        let parsed = Parsed { parts: Vec::new(), warnings: Vec::new(), plain_fields: 0 };
        Parser { source, names, index_of, seen, parsed }
    }

    fn literal(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.parsed.parts.push(Part::Literal(range));
        }
    }

    /// Takes the field whose brace opens at `open`, and gives where it ends.
    fn field(&mut self, open: usize) -> Result<usize> {
        let raw = RawField::scan(self.source, open, self.names)?;
        let argument = self.argument(&raw)?;
        let conversion = raw.conversion.clone().map(|range| self.conversion(range)).transpose()?;
        let spec = Spec::parse(self.source, raw.spec.clone())?;
        if argument == 0 && conversion.is_none() && raw.spec.is_empty() {
            self.parsed.plain_fields += 1;
        }
        let field = Field { argument, conversion, spec };
        self.warn(&field, &raw.span);
        self.parsed.parts.push(Part::Field(field));
        Ok(raw.span.end)
    }

    fn argument(&self, raw: &RawField) -> Result<usize> {
        let name = &self.source[raw.name.clone()];
        let first = &name[..name.find(['.', '[']).unwrap_or(name.len())];
        if first.chars().all(|character| decimal_digit(character).is_some()) {
            return Err(fault::positional(first, raw.span.clone(), self.names));
        }
        match self.index_of.get(first) {
            None => {
                let start = raw.name.start;
                Err(fault::unknown_field(self.source, start..start + first.len(), self.names))
            }
            Some(_) if first.len() < name.len() => Err(fault::access(self.source, raw.name.clone(), first)),
            Some(&index) => Ok(index),
        }
    }

    fn conversion(&self, range: Range<usize>) -> Result<Conversion> {
        match &self.source[range.clone()] {
            // CPython's own sign for no conversion, so that it takes `!` and U+0000.
            "s" | "\0" => Ok(Conversion::Str),
            "r" => Ok(Conversion::Repr),
            "a" => Ok(Conversion::Ascii),
            _ => Err(fault::conversion(self.source, range)),
        }
    }

    fn warn(&mut self, field: &Field, span: &Range<usize>) {
        let seen = &mut self.seen[field.argument];
        let name = self.names[field.argument];
        let mut add = |code, what: &str| {
            let message = format!("the field {} is {what}", fault::quoted(name));
            self.parsed.warnings.push(Warning { code, message, span: span.clone() });
        };
        if std::mem::replace(&mut seen.used, true) && !std::mem::replace(&mut seen.repeated, true) {
            add("template.repeated_field", "used more than once");
        }
        let conversion = match field.conversion {
            Some(Conversion::Repr) => Some(("!r", &mut seen.repr)),
            Some(Conversion::Ascii) => Some(("!a", &mut seen.ascii)),
            Some(Conversion::Str) | None => None,
        };
        if let Some((conversion, given)) = conversion
            && !std::mem::replace(given, true)
        {
            add("template.lossy", &format!("rewritten by `{conversion}`: quoted and escaped"));
        }
        if let Some(chars) = field.spec.precision
            && !std::mem::replace(&mut seen.cut, true)
        {
            add("template.lossy", &format!("cut after {chars} characters"));
        }
    }

    fn finish(self) -> Result<Parsed> {
        match self.seen.first() {
            Some(first) if !first.used => Err(fault::no_field(self.source, self.names[0])),
            _ => Ok(self.parsed),
        }
    }
}

/// Where a replacement field and what it is made of lie, in bytes of the template.
struct RawField {
    /// From `{` to `}`, both included.
    span: Range<usize>,
    name: Range<usize>,
    /// What stands between `!` and the `:` or `}` after it.
    conversion: Option<Range<usize>>,
    spec: Range<usize>,
}

impl RawField {
    fn scan(source: &str, open: usize, names: &[&str]) -> Result<Self> {
        let bytes = source.as_bytes();
        let unclosed = || fault::unclosed(source, open, names);

        let mut at = open + 1;
        let name_end = loop {
            let found = bytes[at..].iter().position(|byte| b"{[}:!".contains(byte)).ok_or_else(unclosed)?;
            at += found;
            match bytes[at] {
                b'{' => return Err(fault::brace_in_name(source, open, at, names)),
                // Whatever else stands in brackets belongs to the name.
                b'[' => at += memchr(b']', &bytes[at..]).ok_or_else(unclosed)?,
                _ => break at,
            }
        };
        let name = open + 1..name_end;
        if bytes[name_end] == b'}' {
            return Ok(RawField { span: open..name_end + 1, name, conversion: None, spec: name_end..name_end });
        }

        let mut spec_start = name_end + 1;
        let mut conversion = None;
        if bytes[name_end] == b'!' {
            // The conversion is one character, even where it is a brace or a colon.
            let first = source[spec_start..].chars().next().ok_or_else(unclosed)?;
            let rest = spec_start + first.len_utf8();
            let end = rest + bytes[rest..].iter().position(|byte| b"}:".contains(byte)).ok_or_else(unclosed)?;
            conversion = Some(spec_start..end);
            if bytes[end] == b'}' {
                return Ok(RawField { span: open..end + 1, name, conversion, spec: end..end });
            }
            spec_start = end + 1;
        }

        let mut depth = 1;
        for distance in memchr2_iter(b'{', b'}', &bytes[spec_start..]) {
            let brace = spec_start + distance;
            depth = if bytes[brace] == b'{' { depth + 1 } else { depth - 1 };
            if depth == 0 {
                return Ok(RawField { span: open..brace + 1, name, conversion, spec: spec_start..brace });
            }
        }
        Err(unclosed())
    }
}
