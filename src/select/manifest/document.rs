//! The document `polyloop.manifest/1`; contents stand in it only where they are asked for.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::{Entry, Excluded, Kept, Manifest, Reason};
use crate::context::{Content, Json};
use crate::request::{FragmentKind, Unit};

impl Serialize for Kept {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct One {
            start: u64,
            end: u64,
            of: u64,
            unit: Unit,
        }
        let one =
            |range: &std::ops::Range<u64>| One { start: range.start, end: range.end, of: self.of, unit: Unit::Chars };
        match &self.ranges[..] {
            [range] => one(range).serialize(serializer),
            ranges => serializer.collect_seq(ranges.iter().map(one)),
        }
    }
}

/// The document `polyloop.manifest/1`.
impl Serialize for Manifest<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", "polyloop.manifest/1")?;
        map.serialize_entry("context_id", &self.context_id)?;
        map.serialize_entry("run", self.run)?;
        map.serialize_entry("unit", &self.unit)?;
        map.serialize_entry("window", &self.window)?;
        map.serialize_entry("reserved_output", &self.reserved_output)?;
        map.serialize_entry("available", &self.available)?;
        map.serialize_entry("used", &self.used)?;
        map.serialize_entry("verdict", &self.verdict)?;
        let entries = self.entries.iter().map(|entry| self.shown_entry(entry));
        map.serialize_entry("entries", &entries.collect::<Vec<_>>())?;
        let excluded = self.excluded.iter().map(|excluded| self.shown_excluded(excluded));
        map.serialize_entry("excluded", &excluded.collect::<Vec<_>>())?;
        map.serialize_entry("excluded_counts", &self.excluded_counts())?;
        map.serialize_entry("open_questions", self.open_questions)?;
        let empty: Vec<&str> = self.empty_segments.iter().map(|segment| segment.as_str()).collect();
        map.serialize_entry("empty_segments", &empty)?;
        map.serialize_entry("layers", &self.layers)?;
        map.serialize_entry("cache_key", &self.cache_key)?;
        map.serialize_entry("digest", &self.digest)?;
        map.end()
    }
}

/// An entry, and its content if that is to be shown.
#[derive(Serialize)]
struct ShownEntry<'s> {
    #[serde(flatten)]
    entry: &'s Entry<'s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Json<'static>>,
}

#[derive(Serialize)]
struct ShownExcluded<'s> {
    id: &'s str,
    kind: FragmentKind,
    source_ref: Option<&'s str>,
    reason: Reason,
    by: Option<&'s str>,
    chars: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Json<'static>>,
}

impl<'s> Manifest<'s> {
    fn shown_entry(&'s self, entry: &'s Entry<'s>) -> ShownEntry<'s> {
        let messages = entry.messages.iter().filter_map(|at| self.selection.context.messages.get(*at));
        let blocks = messages.flat_map(|message| &message.blocks).map(|block| &block.content);
        ShownEntry { entry, content: self.show_content.then(|| json_of(blocks)) }
    }

    fn shown_excluded(&'s self, excluded: &'s Excluded<'s>) -> ShownExcluded<'s> {
        let fragments = &self.selection.request.parts().fragments;
        let fragment = excluded.fragment;
        ShownExcluded {
            id: &fragment.id,
            kind: fragment.kind,
            source_ref: fragment.source_ref.as_deref(),
            reason: excluded.reason,
            by: excluded.by.and_then(|by| fragments.get(by)).map(|by| &*by.id),
            chars: excluded.chars,
            content: self.show_content.then(|| json_of(fragment.content().unwrap_or_default())),
        }
    }
}

/// Blocks as a list of JSON, spelled as in the canonical stream.
fn json_of<'c, 'a: 'c>(blocks: impl IntoIterator<Item = &'c Content<'a>>) -> Json<'static> {
    let mut bytes = vec![b'['];
    for (at, block) in blocks.into_iter().enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        block.write_canonical(&mut bytes).expect("a vector takes every write");
    }
    bytes.push(b']');
    Json::from_canonical(String::from_utf8(bytes).expect("the canonical stream is UTF-8"))
}
