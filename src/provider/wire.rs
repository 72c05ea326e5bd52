//! What lies beneath a context that was read from a body.

use super::Shape;
use crate::context::node::Node;

/// A recorded body as it stands: everything that was sent, modelled or not.
#[derive(Clone, Debug)]
pub struct Wire<'a> {
    /// Its shape.
    pub shape: Shape,
    /// The body, or the list of its messages.
    pub(crate) body: Node<'a>,
}
