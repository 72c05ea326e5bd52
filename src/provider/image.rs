//! Pictures, from any shape to any other.

use serde::Deserialize;
use std::borrow::Cow;

use super::writing::{Said, Writing};
use super::{Draft, Shape};
use crate::context::{Json, Text};

/// Where a picture's bytes are.
enum Picture<'j> {
    /// In base64, of a media type such as `image/png`.
    Data(String, Cow<'j, str>),
    Url(Cow<'j, str>),
}

/// Every spelling that a source has in one shape or another.
#[derive(Deserialize)]
#[serde(untagged)]
enum Source<'j> {
    Text(#[serde(borrow)] Cow<'j, str>),
    Base64 {
        media_type: String,
        #[serde(borrow)]
        data: Cow<'j, str>,
    },
    Inline {
        #[serde(alias = "mime_type", rename = "mimeType")]
        mime_type: String,
        #[serde(borrow)]
        data: Cow<'j, str>,
    },
    File {
        #[serde(alias = "file_uri", rename = "fileUri")]
        #[serde(borrow)]
        file_uri: Cow<'j, str>,
    },
    Bytes {
        format: String,
        #[serde(borrow)]
        source: Bytes<'j>,
    },
    Item {
        #[serde(borrow)]
        image_url: Cow<'j, str>,
    },
    Url {
        #[serde(borrow)]
        url: Cow<'j, str>,
    },
}

#[derive(Deserialize)]
struct Bytes<'j> {
    #[serde(borrow)]
    bytes: Cow<'j, str>,
}

fn picture(source: &str) -> Option<Picture<'_>> {
    Some(match serde_json::from_str(source).ok()? {
        Source::Text(url) | Source::Url { url } | Source::Item { image_url: url } => match &*url {
            data if data.starts_with("data:") => {
                let (kind, data) = data.strip_prefix("data:")?.split_once(";base64,")?;
                Picture::Data(kind.to_owned(), Cow::Owned(data.to_owned()))
            }
            _ => Picture::Url(url),
        },
        Source::File { file_uri } => Picture::Url(file_uri),
        Source::Base64 { media_type, data } => Picture::Data(media_type, data),
        Source::Inline { mime_type, data } => Picture::Data(mime_type, data),
        Source::Bytes { format, source } => Picture::Data(format!("image/{format}"), source.bytes),
    })
}

/// Whether a source is spelled as a shape spells it.
fn is_of(source: &str, shape: Shape) -> bool {
    match (serde_json::from_str(source), shape) {
        (Ok(Source::Base64 { .. }), Shape::Anthropic) => true,
        (Ok(Source::Url { .. }), Shape::Anthropic) => source.contains("\"type\":\"url\""),
        (Ok(Source::Url { .. }), Shape::OpenAi) => !source.contains("\"type\":\"url\""),
        (Ok(Source::Text(_)), Shape::OpenAi) => true,
        (Ok(Source::Inline { .. } | Source::File { .. }), Shape::Gemini) => true,
        (Ok(Source::Bytes { .. }), Shape::Bedrock) => true,
        (Ok(Source::Item { .. }), Shape::Responses) => true,
        _ => false,
    }
}

impl<'c> Writing<'c> {
    /// The block or part of a picture.
    pub fn image(&mut self, said: Said<'c>, source: &'c Json<'c>) -> Option<Draft<'c>> {
        let own = is_of(source.as_str(), self.to) || self.from == Some(self.to);
        let inner = if own { Some(Draft::Json(source.borrow())) } else { self.converted(source.as_str()) };
        let Some(inner) = inner else {
            self.lose(said.origin, "a picture whose source this shape has no word for");
            return None;
        };
        Some(match self.to {
            Shape::OpenAi => Draft::map([("type", Draft::word("image_url")), ("image_url", inner)]),
            Shape::Anthropic => Draft::map([("type", Draft::word("image")), ("source", inner)]),
            Shape::Gemini if source.as_str().contains("\"fileUri\"") => Draft::map([("fileData", inner)]),
            Shape::Gemini => Draft::map([("inlineData", inner)]),
            Shape::Bedrock => Draft::map([("image", inner)]),
            Shape::Responses => inner,
        })
    }

    fn converted(&self, source: &'c str) -> Option<Draft<'c>> {
        let text = |text: Cow<'_, str>| Draft::Text(Text::plain(text.into_owned()));
        Some(match (self.to, picture(source)?) {
            (Shape::OpenAi, Picture::Url(url)) => Draft::map([("url", text(url))]),
            (Shape::OpenAi, Picture::Data(kind, data)) => {
                Draft::map([("url", text(format!("data:{kind};base64,{data}").into()))])
            }
            (Shape::Responses, Picture::Url(url)) => {
                Draft::map([("type", Draft::word("input_image")), ("image_url", text(url))])
            }
            (Shape::Responses, Picture::Data(kind, data)) => Draft::map([
                ("type", Draft::word("input_image")),
                ("image_url", text(format!("data:{kind};base64,{data}").into())),
            ]),
            (Shape::Anthropic, Picture::Url(url)) => Draft::map([("type", Draft::word("url")), ("url", text(url))]),
            (Shape::Anthropic, Picture::Data(kind, data)) => {
                Draft::map([("type", Draft::word("base64")), ("media_type", text(kind.into())), ("data", text(data))])
            }
            (Shape::Gemini, Picture::Data(kind, data)) => {
                Draft::map([("mimeType", text(kind.into())), ("data", text(data))])
            }
            (Shape::Bedrock, Picture::Data(kind, data)) => Draft::map([
                ("format", text(kind.strip_prefix("image/")?.to_owned().into())),
                ("source", Draft::map([("bytes", text(data))])),
            ]),
            (Shape::Gemini | Shape::Bedrock, Picture::Url(_)) => return None,
        })
    }
}
