//! What reading makes of a document: values with the byte range they stand in, and the limits they are held to.

use crate::context::Key;
pub(crate) use crate::context::node::{Entry, Node, Span, Value};
use crate::error::{Code, Error};

/// Limits of our own choosing, the same for both formats. A document that passes one is refused with
/// `request.limit`; nothing is ever cut.
pub mod limits {
    /// Bytes of one document: 1 GiB.
    pub const DOCUMENT_BYTES: usize = 1 << 30;
    /// Levels of lists and maps in one another.
    pub const DEPTH: usize = 100;
    /// Lists, maps and scalars in one document: one million.
    pub const NODES: usize = 1_000_000;
    /// Lists, maps and scalars that YAML aliases and merge keys may add: 100,000.
    pub const ALIAS_NODES: usize = 100_000;
    /// Bytes of text that YAML aliases and merge keys may add: 16 MiB.
    pub const ALIAS_BYTES: u64 = 16 << 20;
}

/// The second of two equal keys, if a map has any; `entries` are in the order of the document.
pub(crate) fn duplicate_key<'e, 'a>(entries: &'e [Entry<'a>]) -> Option<&'e Entry<'a>> {
    // A handful of keys is compared faster than it is hashed.
    if entries.len() <= 16 {
        return entries.iter().enumerate().find(|(n, e)| entries[..*n].iter().any(|f| f.key == e.key)).map(|(_, e)| e);
    }
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    entries.iter().find(|entry| !seen.insert(&*entry.key))
}

pub(crate) fn duplicate_key_error(entry: &Entry<'_>) -> Error {
    Error::new(Code::RequestDuplicateKey, format!("the key {:?} stands twice in one map", entry.key))
        .with_hint("keep one of the two: a reader that takes the last would lose the other silently")
        .with_path(Key(&entry.key).to_string())
        .with_span(entry.key_span.range())
}

pub(crate) fn limit_error(what: impl std::fmt::Display, limit: impl std::fmt::Display) -> Error {
    Error::new(Code::RequestLimit, format!("{what}: polyloop's limit is {limit}"))
}
