//! What a context amounts to.

use std::io::{self, Write};

use crate::query::{MessageCounts, Summary};
use crate::request::State;
use crate::write::look::Look;
use crate::write::words::{count, thousands};

pub(super) fn write<W: Write>(summary: &Summary, state: &State<'_>, look: &Look, out: &mut W) -> io::Result<()> {
    let messages = count(summary.total_messages as u64, "message");
    let chars = match summary.chars {
        Some(chars) => count(chars, "char"),
        None => "some of it without a known size".to_owned(),
    };
    writeln!(out, "{}", look.styles.strong.paint(format!("{messages}, {chars}")))?;
    let MessageCounts { system, developer, user, assistant, tool, other } = summary.message_counts;
    let roles =
        [("system", system), ("developer", developer), ("user", user), ("assistant", assistant), ("tool", tool)];
    let other = (other > 0).then_some(("other roles", other));
    for (role, number) in roles.into_iter().chain(other) {
        writeln!(out, " {role:<12}{:>9}", thousands(number as u64))?;
    }
    writeln!(out, " {:<12}{:>9}", "tool calls", thousands(summary.tool_calls as u64))?;
    if state.is_empty() {
        return writeln!(out, " {:<12}{:>9}", "state", "none");
    }
    let alive = if summary.runtime_alive { "alive" } else { "not alive" };
    let variables = count(summary.runtime_variables as u64, "variable");
    writeln!(out, " {:<12}{alive:>9}, {variables}", "state")
}
