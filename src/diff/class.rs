//! The kinds of difference, narrowest names first.

/// A kind of difference. A change has one or more: the narrowest that explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Another role.
    Role,
    /// The same text in other messages or blocks.
    Boundary,
    /// CR, LF and CRLF.
    LineEnding,
    /// Line breaks at the very end.
    TrailingNewline,
    /// Spaces and tabs at the ends of lines.
    TrailingWhitespace,
    /// Any other white space.
    Whitespace,
    /// U+FEFF.
    Bom,
    /// Zero-width, bidi and tag characters, soft hyphens.
    Invisible,
    /// The same text in another Unicode normalization form.
    Normalization,
    /// Characters that look alike.
    Homoglyph,
    /// Dates, times, epochs, ids, counters, percentages.
    Volatile,
    /// The frame changed round an equal observation.
    Template,
    /// The tool schemas.
    Tools,
    /// Anything else.
    Content,
}

impl Class {
    /// The word for it, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Role => "role",
            Class::Boundary => "boundary",
            Class::LineEnding => "line_ending",
            Class::TrailingNewline => "trailing_newline",
            Class::TrailingWhitespace => "trailing_whitespace",
            Class::Whitespace => "whitespace",
            Class::Bom => "bom",
            Class::Invisible => "invisible",
            Class::Normalization => "normalization",
            Class::Homoglyph => "homoglyph",
            Class::Volatile => "volatile",
            Class::Template => "template",
            Class::Tools => "tools",
            Class::Content => "content",
        }
    }
}
