//! Who speaks, in which order, and what a provider or a chat template would refuse of it.

use std::collections::HashSet;

use super::pairing::{is_of_calls, refusals, shape, sort_by_place};
use super::{Family, Findings, Rule, Severity, Subject};
use crate::context::{Content, Message, Origin, Role, Segment};
use crate::provider::{Finding, Shape, Wire};
use crate::request::{FragmentKind, RunRequest};

pub(super) const FAMILY: Family =
    Family { rules: &[CONSECUTIVE, UNKNOWN, REFUSED, LATE_SYSTEM, GOAL_MISSING, GOAL_NOT_LAST], find };

const CONSECUTIVE: Rule = Rule {
    code: "roles.consecutive",
    severity: Severity::Error,
    finds: "messages of one role in a row, for a provider or a chat template that wants user and assistant to alternate",
    why: "the request is refused, or the template raises: nothing reaches the model",
    fix: "make one message of them, with a block for each",
    fine: "the prompt goes to a provider that takes them: say which with --for",
};

const UNKNOWN: Rule = Rule {
    code: "roles.unknown",
    severity: Severity::Error,
    finds: "a role that the provider does not know",
    why: "the request is refused; chat templates mostly drop such a message without a word",
    fix: "use one of system, developer, user, assistant and tool",
    fine: "the prompt is a record of a format of your own, and is translated before it is sent",
};

const REFUSED: Rule = Rule {
    code: "roles.refused",
    severity: Severity::Error,
    finds: "messages that the provider named by --for would refuse: their roles, their order, their content",
    why: "the request fails as a whole, and every later one that repeats these messages with it",
    fix: "write what this provider takes: polyloop render --format NAME writes a prompt as a body for it",
    fine: "the prompt is never sent to this provider as it stands",
};

const LATE_SYSTEM: Rule = Rule {
    code: "roles.late_system",
    severity: Severity::Warning,
    finds: "a system or developer message behind messages of others",
    why: "some providers refuse it, some move it to the head, and many chat templates drop it silently",
    fix: "put it at the head, or say it as the user",
    fine: "the provider documents that it takes instructions in the middle",
};

const GOAL_MISSING: Rule = Rule {
    code: "roles.goal_missing",
    severity: Severity::Warning,
    finds: "a request without a goal, or a recorded prompt in which no user says anything",
    why: "a pruner that removes the task leaves a model that works on without knowing at what",
    fix: "keep the goal out of what may be trimmed",
    fine: "the task stands in the prefix, or the model is to speak first",
};

const GOAL_NOT_LAST: Rule = Rule {
    code: "roles.goal_not_last",
    severity: Severity::Warning,
    finds: "an instruction of system or developer between the goal and the history",
    why: "what is said last before the work begins is taken for the task, and an instruction behind the goal can override it",
    fix: "give the fragment a kind that stands before the goal (policy, instruction), or the role user",
    fine: "it is the state of the run, and reads as one",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let mut found = Vec::new();
    for Finding { code, path, what } in refusals(subject) {
        match code {
            "provider.alternation" => found.push((&CONSECUTIVE, path, what)),
            "provider.role" => found.push((&UNKNOWN, path, what)),
            code if subject.target.is_some() && !is_of_calls(code) => {
                found.push((&REFUSED, path, format!("{what} ({code})")));
            }
            _ => {}
        }
    }
    let messages = &subject.context.messages;
    if shape(subject) != Shape::Bedrock && subject.chat_template.is_some_and(demands_alternation) {
        consecutive(messages, &mut found);
    }
    late_system(messages, &mut found);
    goal_missing(subject, &mut found);
    if let Some(request) = subject.request {
        goal_not_last(request, messages, &mut found);
    }
    sort_by_place(subject, &mut found, |(_, path, _)| path);
    found.into_iter().for_each(|(rule, path, message)| findings.add(rule, path, message));
}

/// A rule, where it is broken, and by what.
type Found = Vec<(&'static Rule, String, String)>;

/// Whether a chat template raises with words that say so.
fn demands_alternation(source: &str) -> bool {
    const RAISE: &str = "raise_exception";
    // The words stand in the call; that is never longer than a sentence or two.
    const WORDS_BYTES: usize = 300;
    source.match_indices(RAISE).any(|(at, _)| {
        let call = &source.as_bytes()[at + RAISE.len()..];
        let call = &call[..call.len().min(WORDS_BYTES)];
        let end = memchr::memchr2(b'\n', b'%', call).unwrap_or(call.len());
        String::from_utf8_lossy(&call[..end]).to_lowercase().contains("alternat")
    })
}

/// Results, and the assistant's calls that they answer, count for no turn: templates that know tools step over them.
fn consecutive(messages: &[Message<'_>], found: &mut Found) {
    let is_call = |message: &Message<'_>| {
        message.blocks.iter().any(|block| matches!(block.content, Content::ToolUse { .. } | Content::ToolResult { .. }))
    };
    let speaks = |message: &&Message<'_>| matches!(message.role, Role::User | Role::Assistant) && !is_call(message);
    let mut before: Option<&Role<'_>> = None;
    for message in messages.iter().filter(speaks) {
        if before == Some(&message.role) {
            let what = format!("the role {} stands twice in a row, and the chat template raises on it", message.role);
            found.push((&CONSECUTIVE, message.origin.to_string(), what));
        }
        before = Some(&message.role);
    }
}

fn late_system(messages: &[Message<'_>], found: &mut Found) {
    let refused: HashSet<String> = found.iter().map(|(_, path, _)| path.clone()).collect();
    let is_head = |message: &&Message<'_>| matches!(message.role, Role::System | Role::Developer);
    for message in messages.iter().skip_while(is_head).filter(is_head) {
        let path = message.origin.to_string();
        if !refused.contains(&path) {
            found.push((&LATE_SYSTEM, path, format!("this {} message stands behind messages of others", message.role)));
        }
    }
}

fn goal_missing(subject: &Subject<'_>, found: &mut Found) {
    let messages = &subject.context.messages;
    if let Some(request) = subject.request {
        if !messages.iter().any(|message| is_goal(request, &message.origin)) {
            found.push((&GOAL_MISSING, "goal".into(), "there is no goal in this request".into()));
        }
        return;
    }
    // A role nobody knows may well be a user's.
    let may_be_user = |message: &Message<'_>| matches!(message.role, Role::User | Role::Other(_));
    if !messages.iter().any(may_be_user) && !subject.wire.is_some_and(goes_on) {
        found.push((&GOAL_MISSING, "messages".into(), "no user says anything in this prompt".into()));
    }
}

/// Whether a body goes on from what the provider keeps.
fn goes_on(wire: &Wire<'_>) -> bool {
    const KEYS: [&str; 5] = ["previous_response_id", "conversation", "prompt", "cachedContent", "cached_content"];
    KEYS.iter().any(|key| wire.body.get(key).is_some())
}

fn is_goal(request: &RunRequest<'_>, origin: &Origin<'_>) -> bool {
    match origin {
        Origin::Goal(_) => true,
        Origin::Fragment { index, .. } => {
            request.parts().fragments.get(*index).is_some_and(|fragment| fragment.kind == FragmentKind::Goal)
        }
        _ => false,
    }
}

fn goal_not_last(request: &RunRequest<'_>, messages: &[Message<'_>], found: &mut Found) {
    let Some(goal) = messages.iter().rposition(|message| is_goal(request, &message.origin)) else { return };
    let is_history = |message: &Message<'_>| message.origin.segment() == Segment::Trajectory;
    let Some(history) = messages.iter().position(is_history).filter(|history| *history > goal) else { return };
    for message in &messages[goal + 1..history] {
        let is_instruction = matches!(message.role, Role::System | Role::Developer);
        let Origin::Fragment { index, .. } = &message.origin else { continue };
        let layer = request.parts().fragments.get(*index).map(|fragment| fragment.kind.layer());
        if is_instruction && layer.is_some_and(|layer| layer > FragmentKind::Goal.layer()) {
            let what = format!("this {} message stands between the goal and the history", message.role);
            found.push((&GOAL_NOT_LAST, message.origin.to_string(), what));
        }
    }
}
