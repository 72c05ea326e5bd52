//! The entries that a project injects, and where a recording has them.

use std::borrow::Cow;
use std::ops::Range;

use crate::context::node::Node;
use crate::context::{Content, Message, Role};
use crate::error::Result;
use crate::read::{self, Format};

/// Entries to be recognised, by channel, as they stand under `injections` in a request.
#[derive(Debug, Default)]
pub struct Injections<'a> {
    /// In slot order: channels by Unicode code point, entries as given.
    entries: Vec<Entry<'a>>,
}

#[derive(Debug)]
struct Entry<'a> {
    channel: Cow<'a, str>,
    id: Cow<'a, str>,
    content: Vec<Content<'a>>,
    /// The entry as it was written, with whatever else it holds.
    written: Node<'a>,
}

/// Where entries stand in a recording.
#[derive(Default)]
pub(super) struct Slot {
    pub messages: Range<usize>,
    /// The entries found there, by index.
    entries: Vec<usize>,
}

impl<'a> Injections<'a> {
    /// Reads a map of channels to entries; a map whose one key is `injections` may stand round it.
    ///
    /// # Errors
    /// Those of a run request that holds these injections.
    pub fn read(text: &'a str, format: Option<Format>) -> Result<Self> {
        let entries = read::injections(text, format)?.into_iter();
        let entry = |(channel, injection, written): (Cow<'a, str>, crate::request::Injection<'a>, Node<'a>)| Entry {
            channel,
            id: injection.entry_id,
            content: injection.content,
            written,
        };
        Ok(Injections { entries: entries.map(entry).collect() })
    }

    /// The longest run of user messages that are entries in slot order; of equally long ones the last.
    pub(super) fn find(&self, messages: &[Message<'_>]) -> Slot {
        let mut best = Slot::default();
        let mut start = 0;
        while start < messages.len() {
            let found = self.run(&messages[start..]);
            let len = found.len();
            if len > 0 && len >= best.entries.len() {
                best = Slot { messages: start..start + len, entries: found };
            }
            start += 1;
        }
        best
    }

    /// The entries that the first messages are.
    fn run(&self, messages: &[Message<'_>]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut next = 0;
        for message in messages {
            let same = |entry: &Entry<'_>| {
                message.role == Role::User
                    && message.blocks.len() == entry.content.len()
                    && message.blocks.iter().zip(&entry.content).all(|(block, content)| block.content == *content)
            };
            let Some(at) = self.entries[next..].iter().position(same) else { break };
            found.push(next + at);
            next += at + 1;
        }
        found
    }

    /// The entries of a slot by channel, as they were written.
    pub(super) fn written(&self, slot: &Slot) -> Vec<(&str, Vec<&Node<'a>>)> {
        let mut channels: Vec<(&str, Vec<&Node<'a>>)> = Vec::new();
        for entry in slot.entries.iter().map(|at| &self.entries[*at]) {
            match channels.last_mut() {
                Some((channel, entries)) if *channel == entry.channel => entries.push(&entry.written),
                _ => channels.push((&entry.channel, vec![&entry.written])),
            }
        }
        channels
    }

    /// The channels and ids of the entries that a slot lacks.
    pub(super) fn missing(&self, slot: &Slot) -> impl Iterator<Item = (&str, &str)> {
        let is_missing = |(at, _): &(usize, &Entry<'_>)| !slot.entries.contains(at);
        self.entries.iter().enumerate().filter(is_missing).map(|(_, entry)| (&*entry.channel, &*entry.id))
    }
}
