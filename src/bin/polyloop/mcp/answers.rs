//! The answers of one context, each as the JSON of one result.

use std::cell::OnceCell;

use polyloop::context::{Content, Message};
use polyloop::measure;
use polyloop::query::{self, Index, MessageView, Options, Range, Subject};
use serde_json::{Map, Value, json};

use super::cursor::{Binding, NoCursor, Position};
use super::page::{Page, shortened, to_json};
use super::text::{Of, Part, prefix_within};
use super::tools::{Call, Search};

/// Answers about one context. What takes long to find out is kept.
pub struct Answers<'s> {
    subject: Subject<'s>,
    max_bytes: usize,
    index: OnceCell<Index<'s>>,
    binding: OnceCell<Binding>,
    long: Option<Long>,
}

/// The long text that was asked for last: its parts are likely to be asked for one after the other.
struct Long {
    what: What,
    text: String,
    chars: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The text of a message whose content is one block of text.
    Text(usize),
    /// The line of a message in the canonical stream, without its end.
    Canonical(usize),
    /// The JSON of the state.
    State,
}

/// The bytes of a part that are not its text.
const PART_BYTES: usize = 160;

/// The longest message of an error.
const ERROR_BYTES: usize = 1024;

impl<'s> Answers<'s> {
    pub fn new(subject: Subject<'s>, max_bytes: usize) -> Self {
        Answers { subject, max_bytes, index: OnceCell::new(), binding: OnceCell::new(), long: None }
    }

    /// The result of a call, or what is wrong with it.
    pub fn call(&mut self, call: &Call) -> Result<String, String> {
        let total = self.messages().len();
        match call {
            Call::Current(asked) => {
                let (binding, from) = self.begin(call, asked.cursor.as_deref(), 0..=total)?;
                self.listed(0..total, true, from, &binding)
            }
            Call::Slice(asked) => {
                let taken = Range { start: asked.start, end: asked.end }.of(total);
                let (binding, from) = self.begin(call, asked.cursor.as_deref(), taken.start..=taken.end)?;
                self.listed(taken, false, from, &binding)
            }
            Call::State(asked) => {
                let (binding, from) = self.begin(call, asked.cursor.as_deref(), total..=total)?;
                self.state(from, &binding)
            }
            Call::Search(asked) => self.search(asked, call),
            Call::Summarize(_) => Ok(to_json(&self.subject.summarize())),
        }
    }

    pub fn messages(&self) -> &'s [Message<'s>] {
        &self.subject.context.messages
    }

    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// What cursors of this context belong to.
    pub fn binding(&self) -> &Binding {
        self.binding.get_or_init(|| {
            let state = to_json(self.subject.state());
            Binding::new(&[self.subject.context.digest().as_bytes(), state.as_bytes()])
        })
    }

    /// Where a call begins, and what its cursors belong to.
    fn begin(
        &self,
        call: &Call,
        cursor: Option<&str>,
        items: std::ops::RangeInclusive<usize>,
    ) -> Result<(Bound, Position), String> {
        let bound = Bound { tool: call.tool(), arguments: call.arguments() };
        let Some(cursor) = cursor else { return Ok((bound, Position::at(*items.start()))) };
        let position = bound.to(self).position(cursor).map_err(said)?;
        if items.contains(&position.item) { Ok((bound, position)) } else { Err(said(NoCursor)) }
    }

    /// Messages from a position on, and the state behind them where it is asked for.
    fn listed(
        &mut self,
        items: std::ops::Range<usize>,
        with_state: bool,
        from: Position,
        bound: &Bound,
    ) -> Result<String, String> {
        let total = self.messages().len();
        let mut page = Page::new(self.max_bytes);
        let mut state = String::new();
        let mut next = self.add_messages(&mut page, items.end, from)?;
        if next.item == items.end && with_state {
            let whole = to_json(self.subject.state());
            if next.byte == 0 && whole.len() <= page.left() {
                state = format!(",\"runtime_state\":{whole}");
                next = Position::at(total + 1);
            } else if page.is_empty() {
                let room = page.room();
                let (part, after) = self.part(What::State, next, room)?;
                state = format!(",\"runtime_state_part\":{part}");
                next = after;
            }
        }
        let is_done = next.item >= items.end + usize::from(with_state);
        let cursor = if is_done { String::new() } else { next_cursor(&bound.to(self).cursor(next)) };
        Ok(format!("{{\"messages\":{},\"total\":{total}{state}{cursor}}}", page.finish()))
    }

    /// Adds messages as long as they fit; what comes next.
    fn add_messages(&mut self, page: &mut Page, end: usize, from: Position) -> Result<Position, String> {
        let mut at = from;
        while at.item < end {
            if at.byte == 0
                && let Some(whole) = self.whole(at.item, page.room())
            {
                if !page.add(&whole) {
                    break;
                }
                at = Position::at(at.item + 1);
                continue;
            }
            // A message in parts begins a result of its own.
            if !page.is_empty() {
                break;
            }
            let (entry, after) = self.message_part(at, page.room())?;
            page.add(&entry);
            at = after;
            if at.byte > 0 {
                break;
            }
        }
        Ok(at)
    }

    /// A message, where it is no longer than this.
    fn whole(&self, index: usize, max_bytes: usize) -> Option<String> {
        let message = &self.messages()[index];
        // Text is never shorter in JSON; so what is far too long need not be written to be known.
        if measure::message(message).bytes > max_bytes as u64 {
            return None;
        }
        Some(to_json(&MessageView { index, message })).filter(|json| json.len() <= max_bytes)
    }

    /// A part of a message, with what is said of it in every part.
    fn message_part(&mut self, at: Position, room: usize) -> Result<(String, Position), String> {
        let index = at.item;
        let message = &self.messages()[index];
        let mut labels = Map::new();
        labels.insert("index".to_owned(), json!(index));
        labels.insert("role".to_owned(), json!(message.role.as_str()));
        labels.insert("origin".to_owned(), json!(message.origin.to_string()));
        let labels = to_json(&shortened(labels));
        let labels = labels.strip_suffix('}').unwrap_or(&labels);
        let what = match &*message.blocks {
            [block] if matches!(block.content, Content::Text(_)) => What::Text(index),
            _ => What::Canonical(index),
        };
        let (part, after) = self.part(what, at, room.saturating_sub(labels.len()))?;
        Ok((format!("{labels},\"part\":{part}}}"), after))
    }

    fn state(&mut self, from: Position, bound: &Bound) -> Result<String, String> {
        let room = Page::new(self.max_bytes).room();
        let whole = to_json(self.subject.state());
        if from.byte == 0 && whole.len() <= room {
            return Ok(format!("{{\"runtime_state\":{whole}}}"));
        }
        let (part, after) = self.part(What::State, from, room)?;
        let is_done = after.byte == 0;
        let cursor = if is_done { String::new() } else { next_cursor(&bound.to(self).cursor(after)) };
        Ok(format!("{{\"runtime_state_part\":{part}{cursor}}}"))
    }

    /// A part of a text from a position on, in so many bytes of JSON, and what comes after it.
    fn part(&mut self, what: What, at: Position, room: usize) -> Result<(String, Position), String> {
        let (text, total_chars) = self.long(what);
        let Some(rest) = text.get(at.byte..) else { return Err(said(NoCursor)) };
        let (bytes, chars) = prefix_within(rest, room.saturating_sub(PART_BYTES));
        let end = at.char.saturating_add(chars);
        let of = match what {
            What::Text(_) => Of::Text,
            What::Canonical(_) => Of::Canonical,
            What::State => Of::State,
        };
        let part = to_json(&Part { of, text: &rest[..bytes], chars: [at.char, end], total_chars });
        let is_last = bytes == rest.len();
        let after =
            if is_last { Position::at(at.item + 1) } else { Position { byte: at.byte + bytes, char: end, ..at } };
        Ok((part, after))
    }

    /// A long text, and its characters.
    pub fn long(&mut self, what: What) -> (&str, usize) {
        if self.long.as_ref().is_none_or(|long| long.what != what) {
            let text = match what {
                What::Text(index) => MessageView { index, message: &self.messages()[index] }.text(),
                What::Canonical(index) => canonical(&self.messages()[index]),
                What::State => to_json(self.subject.state()),
            };
            self.long = Some(Long { what, chars: text.chars().count(), text });
        }
        self.long.as_ref().map_or(("", 0), |long| (&long.text, long.chars))
    }

    fn search(&mut self, asked: &Search, call: &Call) -> Result<String, String> {
        if asked.query.is_empty() {
            return Err("query is empty; say what is looked for".to_owned());
        }
        let question = query::Question::new(&asked.query, asked.mode.how()).map_err(|error| {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            bounded(&format!("{}{hint}", error.message()))
        })?;
        let (bound, from) = self.begin(call, asked.cursor.as_deref(), 0..=usize::MAX)?;
        let options = Options {
            role: asked.role.map(|role| role.as_str().to_owned()),
            segment: asked.segment.map(|segment| segment.segment()),
            state: asked.state,
            limit: asked.limit.into(),
            offset: from.item,
        };
        let found = self.index.get_or_init(|| Index::of(&self.subject)).search(&question, &options);
        let mut page = Page::new(self.max_bytes);
        let mut given = 0;
        for hit in &found.results {
            let mut entry = to_json(hit);
            if entry.len() > page.room()
                && let Ok(Value::Object(object)) = serde_json::from_str(&entry)
            {
                entry = to_json(&shortened(object));
            }
            if !page.add(&entry) {
                break;
            }
            given += 1;
        }
        let next = from.item.saturating_add(given);
        let is_done = given == 0 || next >= found.total;
        let cursor = if is_done { String::new() } else { next_cursor(&bound.to(self).cursor(Position::at(next))) };
        Ok(format!("{{\"results\":{},\"total\":{}{cursor}}}", page.finish(), found.total))
    }
}

/// The call that a cursor belongs to; what it comes from is looked at only where there is a cursor.
struct Bound {
    tool: &'static str,
    arguments: String,
}

impl Bound {
    fn to(&self, answers: &Answers<'_>) -> Binding {
        answers.binding().to(self.tool, &self.arguments)
    }
}

fn next_cursor(cursor: &str) -> String {
    format!(",\"next_cursor\":{}", to_json(&cursor))
}

fn said(no_cursor: NoCursor) -> String {
    no_cursor.to_string()
}

/// The line of a message in the canonical stream, without its end.
fn canonical(message: &Message<'_>) -> String {
    let mut line = Vec::new();
    message.write_canonical(&mut line).expect("a vector takes every write");
    line.pop();
    String::from_utf8(line).expect("JSON text is written as UTF-8")
}

/// The start of a message of an error.
pub fn bounded(message: &str) -> String {
    match prefix_within(message, ERROR_BYTES) {
        (bytes, _) if bytes < message.len() => format!("{}…", &message[..bytes]),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use polyloop::Context;
    use polyloop::context::Json;
    use polyloop::request::State;

    use super::super::tools::Pages;
    use super::*;

    /// A state too large for one result comes in parts, which together are its JSON as it stands.
    #[test]
    fn a_large_state_comes_in_parts() {
        let long = "a\u{1}é\n\"漢\\🌊".repeat(2_000);
        let spelled = r#"{"z":1.50,"a":1e400}"#;
        let facts = to_json(&long);
        let field = |name, json: &str| (Cow::Borrowed(name), Json::read(json).unwrap());
        let state = State {
            alive: true,
            fields: vec![field("next_cursor", "\"mine\""), field("facts", &facts), field("numbers", spelled)],
            ..State::default()
        };
        let context = Context::default();
        let mut answers = Answers::new(Subject { context: &context, state: &state }, 4096);
        for call in [Call::State, Call::Current] {
            let (mut text, mut cursor, mut results) = (String::new(), None, 0);
            loop {
                let answer = answers.call(&call(Pages { cursor })).unwrap();
                assert!(answer.len() <= 4096, "{} bytes", answer.len());
                let answer: Value = serde_json::from_str(&answer).unwrap();
                let part = &answer["runtime_state_part"];
                assert_eq!((&part["of"], &part["chars"][0]), (&json!("state"), &json!(text.chars().count())));
                text.push_str(part["text"].as_str().unwrap());
                assert_eq!(part["chars"][1], text.chars().count());
                results += 1;
                cursor = answer.get("next_cursor").map(|cursor| cursor.as_str().unwrap().to_owned());
                assert_eq!(cursor.is_none(), part["total_chars"] == text.chars().count());
                if cursor.is_none() {
                    break;
                }
            }
            assert!(text == to_json(&state) && text.contains(spelled) && results > 8);
        }
    }
}
