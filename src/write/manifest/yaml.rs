//! A manifest as YAML: the same document, key by key.

use std::io::{self, Write};

use crate::select::Manifest;
use crate::write::document::write_document;

/// Writes a manifest as YAML, which reads back to the value that its JSON has.
///
/// # Errors
/// Those of the writer.
pub fn write_manifest_yaml<W: Write>(manifest: &Manifest<'_>, out: &mut W) -> io::Result<()> {
    let json = serde_json::to_string(manifest).map_err(io::Error::from)?;
    let root =
        crate::context::reader::parse_own(&json).map_err(|error| io::Error::other(error.message().to_owned()))?;
    write_document(&root, out)
}
