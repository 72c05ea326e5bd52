//! The one error type: a stable code, a message, where it happened, and what to write instead.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// A stable, dotted name for a kind of failure, as printed in `polyloop.error/1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant is its own dotted name, spelled out in `as_str`")]
pub enum Code {
    UsageArguments,
    RequestSyntax,
    RequestUnknownField,
    RequestDuplicateKey,
    RequestType,
    RequestEncoding,
    RequestLimit,
    RequestUnsupported,
    TemplateNoField,
    TemplateSyntax,
    TemplateUnknownField,
    TemplateAccess,
    TemplateSpec,
    BlockUnknownType,
    BlockUnmeasurable,
    BudgetNegative,
    BudgetFloorOverCap,
    BudgetFloorsOverWindow,
    BudgetReservedOverWindow,
    BudgetRequiredExceeds,
    FragmentUnknownKind,
    FragmentDuplicateId,
    FragmentRoleTrust,
    FragmentHashMismatch,
    FragmentPathOutside,
    FragmentLines,
    FragmentUnresolved,
    FragmentTtl,
    FragmentTrim,
    FragmentCompaction,
    FragmentUnknownId,
    FragmentSupersedesCircle,
    FragmentRequiredStale,
    FragmentRequiredSuperseded,
    RequestTime,
    InputShape,
    ProviderLoss,
    ProviderRefused,
    ChatTemplateSyntax,
    ChatTemplateRaised,
    ChatTemplateFailed,
    ImportUnfaithful,
    KernelStart,
    IoRead,
    IoWrite,
}

impl Code {
    /// The dotted name.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::UsageArguments => "usage.arguments",
            Code::RequestSyntax => "request.syntax",
            Code::RequestUnknownField => "request.unknown_field",
            Code::RequestDuplicateKey => "request.duplicate_key",
            Code::RequestType => "request.type",
            Code::RequestEncoding => "request.encoding",
            Code::RequestLimit => "request.limit",
            Code::RequestUnsupported => "request.unsupported",
            Code::TemplateNoField => "template.no_field",
            Code::TemplateSyntax => "template.syntax",
            Code::TemplateUnknownField => "template.unknown_field",
            Code::TemplateAccess => "template.access",
            Code::TemplateSpec => "template.spec",
            Code::BlockUnknownType => "block.unknown_type",
            Code::BlockUnmeasurable => "block.unmeasurable",
            Code::BudgetNegative => "budget.negative",
            Code::BudgetFloorOverCap => "budget.floor_over_cap",
            Code::BudgetFloorsOverWindow => "budget.floors_over_window",
            Code::BudgetReservedOverWindow => "budget.reserved_over_window",
            Code::BudgetRequiredExceeds => "budget.required_exceeds",
            Code::FragmentUnknownKind => "fragment.unknown_kind",
            Code::FragmentDuplicateId => "fragment.duplicate_id",
            Code::FragmentRoleTrust => "fragment.role_trust",
            Code::FragmentHashMismatch => "fragment.hash_mismatch",
            Code::FragmentPathOutside => "fragment.path_outside",
            Code::FragmentLines => "fragment.lines",
            Code::FragmentUnresolved => "fragment.unresolved",
            Code::FragmentTtl => "fragment.ttl",
            Code::FragmentTrim => "fragment.trim",
            Code::FragmentCompaction => "fragment.compaction",
            Code::FragmentUnknownId => "fragment.unknown_id",
            Code::FragmentSupersedesCircle => "fragment.supersedes_circle",
            Code::FragmentRequiredStale => "fragment.required_stale",
            Code::FragmentRequiredSuperseded => "fragment.required_superseded",
            Code::RequestTime => "request.time",
            Code::InputShape => "input.shape",
            Code::ProviderLoss => "provider.loss",
            Code::ProviderRefused => "provider.refused",
            Code::ChatTemplateSyntax => "chat_template.syntax",
            Code::ChatTemplateRaised => "chat_template.raised",
            Code::ChatTemplateFailed => "chat_template.failed",
            Code::ImportUnfaithful => "import.unfaithful",
            Code::KernelStart => "kernel.start",
            Code::IoRead => "io.read",
            Code::IoWrite => "io.write",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done. Built from the inside out: the place that finds the fault gives code, message
/// and hint; whoever knows the document adds the path, the source name and the position.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    message: String,
    source: Option<String>,
    path: Option<String>,
    at_key: bool,
    span: Option<Range<usize>>,
    position: Option<Position>,
    excerpt: Option<Excerpt>,
    hint: Option<String>,
}

/// A place in a source text, for people: both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Line number; lines end at `\n`, `\r\n` or a lone `\r`.
    pub line: usize,
    /// Column in characters (Unicode scalar values).
    pub column: usize,
}

/// The source line a fault lies on, cut to a window around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text of the line, at most [`Excerpt::MAX_CHARS`] characters of it, unescaped.
    pub text: String,
    /// First marked character of `text`, counted from 0.
    pub start: usize,
    /// Number of marked characters, at least 1.
    pub len: usize,
}

impl Excerpt {
    /// The most characters of a line that are kept.
    pub const MAX_CHARS: usize = 100;
}

impl Error {
    /// An error with a code and a message: lower case, one sentence, no full stop.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            code,
            message: bounded(message.into()),
            source: None,
            path: None,
            at_key: false,
            span: None,
            position: None,
            excerpt: None,
            hint: None,
        }))
    }

    /// What to write instead.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(bounded(hint.into()));
        self
    }

    /// The place in the document, such as `trajectory[3].observation`.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.0.path = Some(bounded(path.into()));
        self
    }

    /// The same, unless a more exact path is known already.
    #[must_use]
    pub fn or_path(mut self, path: impl FnOnce() -> String) -> Self {
        self.0.path.get_or_insert_with(|| bounded(path()));
        self
    }

    /// Says that the fault is the key the path ends in, not its value.
    #[must_use]
    pub fn at_key(mut self) -> Self {
        self.0.at_key = true;
        self
    }

    /// Puts the path of what holds the faulty part before the path that is known so far.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        let path = self.0.path.get_or_insert_default();
        *path = bounded(format!("{prefix}{path}"));
        self
    }

    /// The same, where a path is known: what has none belongs to the whole document.
    #[must_use]
    pub(crate) fn inside(self, prefix: impl fmt::Display) -> Self {
        if self.0.path.is_some() { self.under(&prefix.to_string()) } else { self }
    }

    /// A path as it begins at the top of a document.
    #[must_use]
    pub(crate) fn at_top(mut self) -> Self {
        if let Some(rest) = self.0.path.as_deref().and_then(|path| path.strip_prefix('.')) {
            self.0.path = Some(rest.to_owned());
        }
        self
    }

    /// A hint that names the known spelling nearest to an unknown one, or all of them.
    #[must_use]
    pub fn with_nearest<'n>(self, unknown: &str, known: impl IntoIterator<Item = &'n str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        // What is far longer than any of them is near to none.
        let folded = if unknown.len() > 64 { String::new() } else { unknown.trim().to_lowercase() };
        if let Some(name) =
            known.iter().find(|name| SYNONYMS.iter().any(|(said, meant)| *said == folded && meant == *name))
        {
            return self.with_hint(format!("did you mean {name}?"));
        }
        let near = |name: &&&str| strsim::damerau_levenshtein(&folded, name) <= 1 + name.chars().count() / 4;
        let distance = |name: &&&str| strsim::damerau_levenshtein(&folded, name);
        match known.iter().filter(near).min_by_key(distance) {
            Some(name) => self.with_hint(format!("did you mean {name}?")),
            None if known.is_empty() => self.with_hint("none is declared: add it there"),
            None => self.with_hint(format!("known here: {}", known.join(", "))),
        }
    }

    /// The byte range in the text that was read.
    #[must_use]
    pub fn with_span(mut self, span: Range<usize>) -> Self {
        self.0.span = Some(span);
        self
    }

    /// The same, unless a more exact range is known already.
    #[must_use]
    pub fn or_span(mut self, span: impl FnOnce() -> Range<usize>) -> Self {
        self.0.span.get_or_insert_with(span);
        self
    }

    /// The name of what was read or written, as it is shown (a path, or `<stdin>`).
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Turns the byte range into line, column and excerpt, `text` being what was read.
    #[must_use]
    pub fn locate(mut self, text: &[u8]) -> Self {
        if let (Some(span), None) = (&self.0.span, self.0.position) {
            let (position, excerpt) = locate(text, span);
            self.0.position = Some(position);
            self.0.excerpt = Some(excerpt);
        }
        self
    }

    /// Moves the position down by a number of lines: for a line that was read out of a larger file.
    #[must_use]
    pub fn shift_lines(mut self, lines: usize) -> Self {
        if let Some(position) = &mut self.0.position {
            position.line += lines;
        }
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What is wrong, without position or hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to write instead, if that can be said.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The place in the document.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Whether the fault is the key the path ends in.
    pub fn is_at_key(&self) -> bool {
        self.0.at_key
    }

    /// The byte range in the text that was read, before any line is counted.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    /// The name of what was read or written.
    pub fn source_name(&self) -> Option<&str> {
        self.0.source.as_deref()
    }

    /// Line and column, once [`Error::locate`] has been given the text.
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }

    /// The source line, once [`Error::locate`] has been given the text.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.0.excerpt.as_ref()
    }
}

impl fmt::Display for Error {
    /// `source:line:column: message`, as far as each part is known. The text is not escaped for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = self.source_name() {
            write!(f, "{source}:")?;
            if let Some(Position { line, column }) = self.position() {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// The document `polyloop.error/1`.
impl Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'static str,
            code: Code,
            message: &'a str,
            source: Option<&'a str>,
            path: Option<&'a str>,
            line: Option<usize>,
            column: Option<usize>,
            hint: Option<&'a str>,
        }
        Document {
            schema: "polyloop.error/1",
            code: self.code(),
            message: self.message(),
            source: self.source_name(),
            path: self.path(),
            line: self.position().map(|p| p.line),
            column: self.position().map(|p| p.column),
            hint: self.hint(),
        }
        .serialize(serializer)
    }
}

/// What others call what is called otherwise here.
const SYNONYMS: [(&str, &str); 16] = [
    ("system", "prefix"),
    ("messages", "goal"),
    ("task", "goal"),
    ("user", "goal"),
    ("steps", "trajectory"),
    ("history", "trajectory"),
    ("skills", "injections"),
    ("template", "observation_template"),
    ("output", "observation"),
    ("result", "observation"),
    ("response", "raw_output"),
    ("action", "raw_output"),
    ("text", "content"),
    ("id", "entry_id"),
    ("name", "entry_id"),
    ("human", "user"),
];

/// Names come from the input and may be of any length: what is shown of them is not.
fn bounded(mut text: String) -> String {
    const MAX_CHARS: usize = 400;
    if let Some((at, _)) = text.char_indices().nth(MAX_CHARS) {
        let left_out = text[at..].chars().count();
        text.truncate(at);
        text.push_str(&format!("… ({left_out} more characters)"));
    }
    text
}

/// The line breaks of both formats: `\r\n` counts once.
fn locate(text: &[u8], span: &Range<usize>) -> (Position, Excerpt) {
    let start = span.start.min(text.len());
    let mut line = 1;
    let mut line_start = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', &text[..start]) {
        if text[at] == b'\r' && text.get(at + 1) == Some(&b'\n') {
            continue;
        }
        line += 1;
        line_start = at + 1;
    }
    let line_end = memchr::memchr2(b'\n', b'\r', &text[line_start..]).map_or(text.len(), |n| line_start + n);
    let before = lossy(&text[line_start..start]);
    let column = before.chars().count();

    // A window of the line: long lines (one-line JSON) are cut around the fault.
    let shown_from = column.saturating_sub(Excerpt::MAX_CHARS / 2);
    let from = line_start + before.chars().take(shown_from).map(char::len_utf8).sum::<usize>();
    let window = &text[from.min(start)..line_end.max(start).min(from + 8 * Excerpt::MAX_CHARS).max(start)];
    let marked = lossy(&text[start..span.end.clamp(start, line_end.max(start))]).chars().count();
    let offset = column - shown_from;
    let excerpt = Excerpt {
        text: lossy(window).chars().take(Excerpt::MAX_CHARS).collect(),
        start: offset,
        len: marked.clamp(1, Excerpt::MAX_CHARS - offset),
    };
    (Position { line, column: column + 1 }, excerpt)
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
