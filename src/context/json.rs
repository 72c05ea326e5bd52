//! JSON that a project hands through: tool schemas, tool inputs, image sources.

use std::borrow::Cow;
use std::io;

use crate::error::Result;

/// A JSON value in its canonical spelling: no white space, key order and number spelling as given, strings escaped
/// like all canonical text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// Takes text that is already in canonical spelling; only the rooms that read documents can vouch for that.
    pub(crate) fn from_canonical(text: impl Into<Cow<'a, str>>) -> Self {
        Json(text.into())
    }

    /// Reads a value, whatever its spelling.
    ///
    /// # Errors
    /// `request.syntax` and the like, for what is no JSON.
    pub fn read(text: &str) -> Result<Json<'static>> {
        super::reader::parse(text).and_then(|node| node.to_json()).map_err(|error| error.locate(text.as_bytes()))
    }

    /// The canonical spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same value, borrowed.
    pub fn borrow(&self) -> Json<'_> {
        Json(Cow::Borrowed(&self.0))
    }

    /// The same value, on its own.
    pub(crate) fn to_owned<'t>(&self) -> Json<'t> {
        Json(Cow::Owned(self.0.to_string()))
    }

    pub(super) fn write_canonical<W: io::Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(self.0.as_bytes())
    }
}

/// The value itself, whatever the serializer writes; key order and number spelling are kept in JSON.
impl serde::Serialize for Json<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
