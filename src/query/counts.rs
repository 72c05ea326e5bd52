//! What a context amounts to.

use serde::Serialize;

use crate::context::{Content, Context, Role};
use crate::measure;
use crate::request::State;

/// How many messages there are, and of which kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Messages by role.
    pub message_counts: MessageCounts,
    /// All messages, those of unknown roles included.
    pub total_messages: usize,
    /// Unicode scalar values of all blocks; `None` where some could not be measured.
    pub chars: Option<u64>,
    /// Calls of native tools.
    pub tool_calls: usize,
    /// Variables of the run's state.
    pub runtime_variables: usize,
    /// Whether the state says that the run's process is alive.
    pub runtime_alive: bool,
}

/// Messages by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the fields are the roles themselves")]
pub struct MessageCounts {
    pub system: usize,
    pub developer: usize,
    pub user: usize,
    pub assistant: usize,
    pub tool: usize,
    /// Roles that polyloop does not know; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub other: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Summary {
    pub(super) fn of(context: &Context<'_>, state: &State<'_>) -> Self {
        let mut counts = MessageCounts::default();
        for message in &context.messages {
            *match message.role {
                Role::System => &mut counts.system,
                Role::Developer => &mut counts.developer,
                Role::User => &mut counts.user,
                Role::Assistant => &mut counts.assistant,
                Role::Tool => &mut counts.tool,
                Role::Other(_) => &mut counts.other,
            } += 1;
        }
        let blocks = context.messages.iter().flat_map(|message| &message.blocks);
        Summary {
            message_counts: counts,
            total_messages: context.messages.len(),
            chars: measure::context(context).known_chars(),
            tool_calls: blocks.filter(|block| matches!(block.content, Content::ToolUse { .. })).count(),
            runtime_variables: state.variables.len(),
            runtime_alive: state.alive,
        }
    }
}
