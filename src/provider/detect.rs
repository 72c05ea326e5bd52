//! Which shape a body has, going by what only that shape has.

use super::Shape;
use crate::context::node::{Node, Value};
use crate::error::{Code, Result};

/// What was seen of a shape.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    strong: Vec<String>,
    weak: Vec<String>,
}

impl Marks {
    /// Something that no other shape has.
    pub fn strong(&mut self, what: &str) {
        add(&mut self.strong, what);
    }

    /// Something that speaks for the shape, but that others copy.
    pub fn weak(&mut self, what: &str) {
        add(&mut self.weak, what);
    }
}

fn add(list: &mut Vec<String>, what: &str) {
    if !list.iter().any(|seen| seen == what) {
        list.push(what.to_owned());
    }
}

/// The messages of a body, or of a list of them.
pub(crate) fn messages<'n, 'a>(root: &'n Node<'a>) -> &'n [Node<'a>] {
    match root.get("messages").map_or(&root.value, |list| &list.value) {
        Value::List(items) => items,
        _ => &[],
    }
}

/// The parts of a message's content, where it is a list.
pub(crate) fn parts<'n, 'a>(message: &'n Node<'a>) -> &'n [Node<'a>] {
    match message.get("content").map(|content| &content.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// The shape of a body or a list of messages; of several that would give the same context the first.
///
/// # Errors
/// `input.shape` where it could be one of several that would give different contexts.
pub(crate) fn shape_of(root: &Node<'_>) -> Result<Shape> {
    let seen = Shape::ALL.map(|shape| {
        let mut marks = Marks::default();
        shape.marks(root, &mut marks);
        (shape, marks)
    });
    let having = |has: fn(&Marks) -> bool| {
        seen.iter().filter(|(_, marks)| has(marks)).map(|(shape, _)| *shape).collect::<Vec<_>>()
    };
    let strong = having(|marks| !marks.strong.is_empty());
    let candidates = if strong.is_empty() { having(|marks| !marks.weak.is_empty()) } else { strong };
    let (first, others) = match &*candidates {
        // Nothing but text: all that have such messages give the same.
        [] => return Ok(Shape::OpenAi),
        [one] => return Ok(*one),
        [first, others @ ..] => (*first, others),
    };
    let read = |shape: Shape| shape.read(root).ok().map(|reading| reading.context);
    let context = read(first);
    let is_same = |other: &Shape| match (&context, read(*other)) {
        (Some(a), Some(b)) => {
            a.tools == b.tools
                && a.messages.len() == b.messages.len()
                && a.messages.iter().zip(&b.messages).all(|(a, b)| a.same_bytes(b))
        }
        _ => false,
    };
    if others.iter().all(is_same) {
        return Ok(first);
    }
    let listed = seen.iter().filter(|(shape, _)| candidates.contains(shape)).map(|(shape, marks)| {
        let marks = if marks.strong.is_empty() { &marks.weak } else { &marks.strong };
        format!("{shape} ({})", marks.join(", "))
    });
    let listed = listed.collect::<Vec<_>>().join(" or ");
    Err(root
        .error(Code::InputShape, format!("this could be a body of {listed}"))
        .with_hint(format!("say which it is: --from {first}, or another of the two")))
}
