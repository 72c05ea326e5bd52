//! Last step: every message in the layer of its kind.

use super::ledger::responsibility_of;
use super::{Included, frame};
use crate::context::{Block, Context, Message, Origin};
use crate::request::{Layer, Responsibility, RunRequest};

/// The messages of the segments stand first in their layers, the trajectory last in its; fragments in the order given.
/// `included` is in that order, and is told where each has come to stand.
pub(super) fn place<'r>(
    request: &'r RunRequest<'r>,
    segments: Context<'r>,
    included: &mut [Included<'r>],
) -> Context<'r> {
    let mut messages = Vec::with_capacity(segments.messages.len() + included.len());
    let mut of_segments: [Vec<Message<'r>>; Responsibility::ALL.len()] = Default::default();
    for message in segments.messages {
        if let Some(responsibility) = responsibility_of(&message) {
            of_segments[responsibility as usize].push(message);
        }
    }
    let mut of_layers: [Vec<usize>; Responsibility::ALL.len()] = Default::default();
    for (at, included) in included.iter().enumerate() {
        of_layers[included.fragment.kind.layer().responsibility() as usize].push(at);
    }
    for layer in Layer::all() {
        let responsibility = layer.responsibility();
        let of_segment = std::mem::take(&mut of_segments[responsibility as usize]);
        let is_history = responsibility == Responsibility::RecentHistory;
        let (first, last) = if is_history { (Vec::new(), of_segment) } else { (of_segment, Vec::new()) };
        messages.extend(first);
        for &at in &of_layers[responsibility as usize] {
            included[at].message = messages.len();
            messages.push(message(request, &included[at]));
        }
        messages.extend(last);
    }
    Context { tools: segments.tools, messages }
}

fn message<'r>(request: &'r RunRequest<'r>, included: &Included<'r>) -> Message<'r> {
    let Included { index, fragment, cut, .. } = included;
    let origin = Origin::Fragment { index: *index, id: (&*fragment.id).into() };
    let content = frame::content(request, fragment, cut.as_ref());
    let blocks = content.into_iter().map(|content| Block { content, origin: origin.clone() }).collect();
    Message { role: fragment.role.borrow(), blocks, origin, fingerprint: None }
}
