//! The messages as resources: `context:///messages/3`, and `context:///messages/3?chars=0-1000` for a part.

use rmcp::ErrorData;
use rmcp::model::{MetaObject, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::answers::{Answers, What, bounded};
use super::cursor::Position;
use super::page::{Page, to_json};
use super::text::prefix_within;

/// The bytes of a result of `resources/read` that are not its text, the uri apart.
const READ_BYTES: usize = 384;

const MESSAGES: &str = "context:///messages/";
const JSON: &str = "application/json";
/// A part is no JSON.
const PLAIN: &str = "text/plain";

/// The templates of all that can be read.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{MESSAGES}{{index}}"), "message")
            .with_title("A message of the context")
            .with_description(
                "The line of a message in the canonical stream: JSON with its role and its blocks. Where it is too large for \
                 one result, its first part, with the uri of the next one under polyloop/next.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{MESSAGES}{{index}}{{?chars}}"), "part of a message")
            .with_title("Part of a message of the context")
            .with_description("Characters START-END, or START- to the end, of that line, counted from 0.")
            .with_mime_type(PLAIN),
    ]
}

impl Answers<'_> {
    /// Some messages as resources, and the cursor for more.
    pub fn resources(&mut self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), ErrorData> {
        let binding = self.binding().to("resources/list", "");
        let from = match cursor {
            Some(cursor) => {
                binding.position(cursor).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?.item
            }
            None => 0,
        };
        let mut page = Page::new(self.max_bytes());
        let mut listed = Vec::new();
        let mut next = None;
        for (index, message) in self.messages().iter().enumerate().skip(from) {
            // Without its line feed.
            let size = message.canonical_len().saturating_sub(1);
            let resource = Resource::new(format!("{MESSAGES}{index}"), format!("messages/{index}"))
                .with_mime_type(JSON)
                .with_size(size);
            if !page.add(&to_json(&resource)) {
                next = Some(binding.cursor(Position::at(index)));
                break;
            }
            listed.push(resource);
        }
        Ok((listed, next))
    }

    /// What a uri stands for.
    pub fn resource(&mut self, uri: &str) -> Result<ResourceContents, ErrorData> {
        let asked = Asked::of(uri).filter(|asked| asked.index < self.messages().len()).ok_or_else(|| unknown(uri))?;
        let room = self.max_bytes().saturating_sub(READ_BYTES);
        let (text, total_chars) = self.long(What::Canonical(asked.index));
        let [start, end] = asked.chars.unwrap_or([0, usize::MAX]);
        let end = end.min(total_chars);
        if start > end {
            return Err(unknown(uri));
        }
        let asked_for = &text[byte_of(text, start)..byte_of(text, end)];
        let (bytes, chars) = prefix_within(asked_for, room);
        let part = &asked_for[..bytes];
        if start == 0 && chars == total_chars {
            return Ok(ResourceContents::text(part, uri).with_mime_type(JSON));
        }
        let here = [start, start + chars];
        let uri = |chars: [usize; 2]| format!("{MESSAGES}{}?chars={}-{}", asked.index, chars[0], chars[1]);
        let mut said = json!({"polyloop/chars": here, "polyloop/total_chars": total_chars});
        if here[1] < end {
            said["polyloop/next"] = json!(uri([here[1], end]));
        }
        let Value::Object(said) = said else { unreachable!("it was written as an object") };
        Ok(ResourceContents::text(part, uri(here)).with_mime_type(PLAIN).with_meta(MetaObject::from(said)))
    }
}

/// The byte at which a character begins; the end where there is none.
fn byte_of(text: &str, char: usize) -> usize {
    text.char_indices().nth(char).map_or(text.len(), |(byte, _)| byte)
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": bounded(uri)})))
}

/// What a uri asks for.
#[derive(Debug, PartialEq)]
struct Asked {
    index: usize,
    chars: Option<[usize; 2]>,
}

impl Asked {
    fn of(uri: &str) -> Option<Asked> {
        let rest = uri.strip_prefix(MESSAGES)?;
        let (index, query) = match rest.split_once('?') {
            Some((index, query)) => (index, Some(query)),
            None => (rest, None),
        };
        let chars = match query {
            Some(query) => {
                let (start, end) = query.strip_prefix("chars=")?.split_once('-')?;
                let end = if end.is_empty() { usize::MAX } else { number(end)? };
                Some([number(start)?, end])
            }
            None => None,
        };
        Some(Asked { index: number(index)?, chars })
    }
}

/// A number as it is written in a uri: one spelling for each.
fn number(text: &str) -> Option<usize> {
    let number: usize = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_one_spelling() {
        let whole = |index| Some(Asked { index, chars: None });
        let part = |index, chars| Some(Asked { index, chars: Some(chars) });
        for (uri, asked) in [
            ("context:///messages/0", whole(0)),
            ("context:///messages/12", whole(12)),
            ("context:///messages/3?chars=0-10", part(3, [0, 10])),
            ("context:///messages/3?chars=7-", part(3, [7, usize::MAX])),
            ("context:///messages/", None),
            ("context:///messages/01", None),
            ("context:///messages/+1", None),
            ("context:///messages/-1", None),
            ("context:///messages/1/", None),
            ("context:///messages/1?", None),
            ("context:///messages/1?chars=", None),
            ("context:///messages/1?chars=-5", None),
            ("context:///messages/1?chars=1-2-3", None),
            ("context:///messages/1?char=1-2", None),
            ("context:///messages/99999999999999999999999", None),
            ("context://messages/1", None),
            ("file:///etc/hostname", None),
            ("", None),
        ] {
            assert_eq!(Asked::of(uri), asked, "{uri}");
        }
    }
}
