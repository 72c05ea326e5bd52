//! A context as the body of a request.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use super::writing::{Loss, Writing, tool_names};
use super::{Draft, Finding, Shape, Wire};
use crate::context::node::{Node, Value};
use crate::context::{Context, Json};
use crate::error::{Code, Error, Result};

/// A body that is about to be sent.
#[derive(Debug)]
pub struct Body<'c> {
    draft: Draft<'c>,
    /// What the shape cannot say, and so is not there.
    pub losses: Vec<Loss>,
    /// What it says in another way, or in a way that does not come back.
    pub changes: Vec<Loss>,
}

/// What a context was read from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'c> {
    /// The shape; none for what was assembled from a run request, and for a canonical stream.
    pub shape: Option<Shape>,
    /// The body, where it is there: written back as it is to its own shape.
    pub wire: Option<&'c Wire<'c>>,
}

impl<'c> Body<'c> {
    /// Writes a context as a shape. Whether a provider takes it is another question: [`check`](super::check()).
    pub fn of(context: &'c Context<'c>, shape: Shape, source: Source<'c>) -> Self {
        let from = source.shape;
        if let Some(wire) = source.wire.filter(|wire| wire.shape == shape) {
            let (mut losses, mut changes) = (Vec::new(), Vec::new());
            let names = Rc::new(if shape == Shape::Gemini { tool_names(context) } else { HashMap::new() });
            let draft = wire.rewritten(context, &mut |message| {
                let alone = Context { tools: Vec::new(), messages: vec![message.borrow()] };
                let mut writing = Writing::new(&alone, from, shape, Some(Rc::clone(&names)));
                let items = shape.draft(&mut writing).take(shape.list_key()).map(Draft::into_owned);
                losses.append(&mut writing.losses);
                changes.append(&mut writing.changes);
                match items {
                    Some(Draft::List(items)) => items,
                    _ => Vec::new(),
                }
            });
            return Body { draft, losses, changes };
        }
        let mut writing = Writing::new(context, from, shape, None);
        let draft = shape.draft(&mut writing);
        if let Some(wire) = source.wire {
            wire.name_what_stays(&mut writing);
        }
        Body { draft, losses: writing.losses, changes: writing.changes }
    }

    /// Sets a parameter of the call, such as `model` or `max_tokens`, in the place of one that is there.
    pub fn set(&mut self, key: &str, value: Json<'c>) {
        if let Draft::Node(node) = &self.draft {
            self.draft = Draft::entries_of(node);
        }
        let Draft::Map(entries) = &mut self.draft else { return };
        match entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = Draft::Json(value),
            None => entries.insert(0, (Cow::Owned(key.to_owned()), Draft::Json(value))),
        }
    }

    /// Whether a key is there.
    pub fn has(&self, key: &str) -> bool {
        match &self.draft {
            Draft::Node(node) => node.get(key).is_some(),
            Draft::Map(entries) => entries.iter().any(|(name, _)| name == key),
            _ => false,
        }
    }

    /// What could not be said, as an error.
    ///
    /// # Errors
    /// `provider.loss`, with what is lost.
    pub fn whole(&self, shape: Shape) -> Result<()> {
        let words = |loss: &Loss| match &loss.path {
            Some(path) => format!("{path}: {}", loss.what),
            None => loss.what.clone(),
        };
        refusal(Code::ProviderLoss, format_args!("{shape} cannot say all of it"), self.losses.iter().map(words))
            .map_or(Ok(()), |error| Err(error.with_hint("--lossy writes it without that, and says what is lost")))
    }

    /// Writes it as compact JSON.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        self.draft.write(out)
    }

    /// The messages in their wire form, each a JSON value.
    pub fn messages(&self, shape: Shape) -> Vec<Json<'static>> {
        self.list(shape.list_key())
    }

    /// The tools in their wire form.
    pub fn tools(&self) -> Vec<Json<'static>> {
        self.list("tools")
    }

    fn list(&self, key: &str) -> Vec<Json<'static>> {
        let of_node = |node: &Node<'_>| match &node.value {
            Value::List(items) => items.iter().map(|item| Draft::Node(item).to_json()).collect(),
            _ => Vec::new(),
        };
        let value = match &self.draft {
            Draft::Node(node) => return node.get(key).map(of_node).unwrap_or_default(),
            Draft::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        };
        match value {
            Some(Draft::Node(node)) => of_node(node),
            Some(Draft::List(items)) => items.iter().map(Draft::to_json).collect(),
            _ => Vec::new(),
        }
    }
}

/// What a provider would refuse, as an error.
///
/// # Errors
/// `provider.refused`, with what is refused and by which rules.
pub fn accepted(findings: &[Finding], shape: Shape) -> Result<()> {
    let words = |finding: &Finding| format!("{}: {} ({})", finding.path, finding.what, finding.code);
    let needs_results = findings.iter().any(|finding| finding.code == "provider.call_without_result");
    match refusal(Code::ProviderRefused, format_args!("{shape} would refuse this"), findings.iter().map(words)) {
        None => Ok(()),
        Some(error) if needs_results => {
            Err(error.with_hint("--repair adds a result that is marked as lost for every call without one"))
        }
        Some(error) if findings.iter().all(|finding| finding.code == "provider.alternation") => {
            Err(error.with_hint("--lossy makes messages of one role in a row one, and says so"))
        }
        Some(error) => Err(error.with_hint("polyloop render without a provider's format shows what is there")),
    }
}

/// An error that names the first few of several reasons.
fn refusal(code: Code, what: std::fmt::Arguments<'_>, reasons: impl ExactSizeIterator<Item = String>) -> Option<Error> {
    const NAMED: usize = 5;
    let count = reasons.len();
    let mut named = reasons.take(NAMED).collect::<Vec<_>>();
    if count > NAMED {
        named.push(format!("and {} more", count - NAMED));
    }
    (count > 0).then(|| Error::new(code, format!("{what}: {}", named.join("; "))))
}
