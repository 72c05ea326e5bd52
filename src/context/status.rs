//! What is said of a call that has no result.

use super::{Content, Text};

/// What became of a call that has no result of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is not known.
    #[default]
    Lost,
    /// It is still running.
    Pending,
    /// It was given up.
    Cancelled,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 3] = [Status::Lost, Status::Pending, Status::Cancelled];

    /// The words for them, as they are spelled.
    pub const NAMES: [&'static str; 3] = ["lost", "pending", "cancelled"];

    /// The word for it, as in `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Lost => "lost",
            Status::Pending => "pending",
            Status::Cancelled => "cancelled",
        }
    }

    /// The word that the text of such a result begins with.
    pub fn mark(self) -> &'static str {
        match self {
            Status::Lost => "TOOL_RESULT_LOST",
            Status::Pending => "TOOL_RESULT_PENDING",
            Status::Cancelled => "TOOL_RESULT_CANCELLED",
        }
    }

    /// Whether such a result counts as a failure of the call.
    pub fn is_error(self) -> Option<bool> {
        (self != Status::Pending).then_some(true)
    }

    /// The text of such a result: the mark, and which call it is.
    pub(crate) fn text<'t>(self, id: &Text<'_>, name: &Text<'_>) -> Content<'t> {
        let id = if id.is_empty() { String::new() } else { format!(" {:?}", id.to_cow()) };
        let what = format!("{}: the result of the call{id} of {:?} was not recorded", self.mark(), name.to_cow());
        Content::Text(Text::plain(what))
    }
}
