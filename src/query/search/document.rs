//! What is searched: messages, and what the state of a run says.

use std::borrow::Cow;

use super::unescaped::Unescaped;
use crate::context::{Key, Message, Origin, Segment, Spelled};
use crate::measure;
use crate::query::searched::{Part, each_part, is_json};
use crate::query::{Field, Subject, fields};
use crate::request::State;

/// A thing that is a result or is none.
#[derive(Clone, Debug)]
pub(super) struct Document<'s> {
    pub what: What<'s>,
    /// The size of its text in bytes of UTF-8.
    pub bytes: u64,
}

#[derive(Clone, Debug)]
pub(super) enum What<'s> {
    Message(usize, &'s Message<'s>),
    /// A variable, a field or an item of a list in one: what it is called, and what it is.
    State {
        origin: Origin<'s>,
        parts: Vec<Cow<'s, str>>,
    },
}

/// The messages of a context, then what its state says.
pub(super) fn documents<'s>(subject: &Subject<'s>) -> Vec<Document<'s>> {
    let messages = subject.context.messages.iter().enumerate();
    let of_message =
        |(index, message)| Document { bytes: measure::message(message).bytes, what: What::Message(index, message) };
    let mut documents: Vec<_> = messages.map(of_message).collect();
    add_state(subject.state, &mut documents);
    documents
}

fn add_state<'s>(state: &'s State<'s>, documents: &mut Vec<Document<'s>>) {
    let mut add = |path: String, parts: Vec<Cow<'s, str>>| {
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        documents.push(Document { bytes, what: What::State { origin: Origin::Body(Cow::Owned(path)), parts } });
    };
    for (index, variable) in state.variables.iter().enumerate() {
        let parts = [Some(&variable.name), variable.kind.as_ref(), variable.preview.as_ref()];
        let parts = parts.into_iter().flatten().map(|part| Cow::Borrowed(&**part));
        add(format!("state.variables[{index}]"), parts.collect());
    }
    for (name, value) in &state.fields {
        let path = Key(name);
        let parts = |value: &'s str| vec![Cow::Borrowed(&**name), shown(value)];
        let items: Option<Vec<&serde_json::value::RawValue>> = serde_json::from_str(value.as_str()).ok();
        match items {
            Some(items) => {
                for (index, item) in items.iter().enumerate() {
                    add(format!("state{path}[{index}]"), parts(item.get()));
                }
            }
            None => add(format!("state{path}"), parts(value.as_str())),
        }
    }
}

/// A string as it is; anything else as compact JSON.
fn shown(json: &str) -> Cow<'_, str> {
    match serde_json::from_str::<String>(json) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(json),
    }
}

impl<'s> Document<'s> {
    /// Its text.
    pub fn fields(&self) -> Vec<Field<'_>> {
        match &self.what {
            What::Message(_, message) => fields(message),
            What::State { origin, parts } => {
                let field = |part| Field { origin, text: Cow::Borrowed(part), is_json: false };
                parts.iter().map(|part| field(&**part)).collect()
            }
        }
    }

    /// Its text as it is searched, without pieces of which it is known from their spelling that they hold nothing.
    pub fn texts(&self, may_hold: impl Fn(&str) -> bool) -> Vec<Cow<'_, str>> {
        let mut texts = Vec::new();
        match &self.what {
            What::Message(_, message) => each_part(message, &mut |_, part| match part {
                Part::Text(text) => {
                    let spelled = Spelled::of(text);
                    // What is escaped once more may hold anything.
                    if is_json(spelled.as_str()) {
                        texts.push(Cow::Owned(Unescaped::of_json(&spelled.decoded()).text.into_owned()));
                    } else if may_hold(spelled.as_str()) {
                        texts.push(spelled.decoded());
                    }
                }
                Part::Json(json) => texts.push(Unescaped::of_json(json.as_str()).text),
            }),
            What::State { parts, .. } => texts.extend(parts.iter().map(|part| Cow::Borrowed(&**part))),
        }
        texts
    }

    /// Whether it may be a result.
    pub fn is_asked(&self, options: &super::Options) -> bool {
        match &self.what {
            What::Message(_, message) => {
                let of_role = options.role.as_deref().is_none_or(|role| message.role.as_str() == role);
                let segment: Option<Segment> = options.segment;
                of_role && segment.is_none_or(|segment| message.origin.segment() == segment)
            }
            What::State { .. } => options.state,
        }
    }
}
