//! What a comparison found, for people, for programs and for a pull request.

mod json;
mod line;
mod markdown;
mod text;

pub(crate) use markdown::{code, fence};
pub use text::DiffOptions;

use crate::diff::{Change, Comparison, Kind, Subject};
use crate::provider::WireChange;

/// A comparison with the two sides it is about.
#[derive(Clone, Copy, Debug)]
pub struct DiffReport<'d> {
    /// What was found.
    pub comparison: &'d Comparison,
    /// The first side.
    pub a: Subject<'d>,
    /// The second side.
    pub b: Subject<'d>,
    /// Where the bodies differ on the wire, where that was asked for.
    pub wire: Option<&'d [WireChange]>,
}

/// One sentence on the wire.
pub(crate) fn wire_verdict(changes: &[WireChange]) -> String {
    use super::words::count;
    match changes {
        [] => "identical on the wire".to_owned(),
        _ => format!("differs on the wire in {}", count(changes.len() as u64, "place")),
    }
}

/// The sign of a kind: `~` changed, `+` inserted, `-` removed, `>` moved, `<` split, `^` merged; `=` is equal.
pub(crate) fn sign(kind: Kind) -> char {
    match kind {
        Kind::Changed => '~',
        Kind::Inserted => '+',
        Kind::Removed => '-',
        Kind::Moved => '>',
        Kind::Split => '<',
        Kind::Merged => '^',
    }
}

/// The messages of a change, as they are named: `#3`, `#3 → #5`, `#3–4`; `tools` for the tool schemas.
pub(crate) fn names(change: &Change) -> String {
    let name = |indices: &[usize]| match indices {
        [] => None,
        [one] => Some(format!("#{one}")),
        [first, .., last] => Some(format!("#{first}–{last}")),
    };
    match (name(&change.a), name(&change.b)) {
        (None, None) => "tools".to_owned(),
        (Some(a), Some(b)) if a == b => a,
        (Some(a), Some(b)) => format!("{a} → {b}"),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// One sentence: how much differs.
pub(crate) fn verdict(comparison: &Comparison) -> String {
    use super::words::{count, thousands};
    let (a, b) = (&comparison.a, &comparison.b);
    if comparison.identical {
        return format!("identical: {}, {} bytes", count(a.messages as u64, "message"), thousands(a.bytes));
    }
    let touched: usize = comparison.changes.iter().map(|change| change.a.len().max(change.b.len())).sum();
    let tools = if comparison.changes.iter().any(|change| change.a.is_empty() && change.b.is_empty()) {
        " and the tools"
    } else {
        ""
    };
    let of = if a.messages == b.messages {
        count(a.messages as u64, "message")
    } else {
        format!("{} and {} messages", thousands(a.messages as u64), thousands(b.messages as u64))
    };
    format!("differs in {} of {of}{tools}", thousands(touched as u64))
}

/// How much of the prefix is shared: what a provider's prefix cache could keep.
pub(crate) fn prefix_kept(comparison: &Comparison) -> String {
    use super::words::{count, thousands};
    let shared = &comparison.shared_prefix;
    format!(
        "prefix kept: {}, {} of {} bytes ({:.0} % of a, {:.0} % of b)",
        count(shared.messages as u64, "message"),
        thousands(shared.bytes),
        thousands(comparison.a.bytes),
        (shared.of_a * 100.0).floor(),
        (shared.of_b * 100.0).floor(),
    )
}
