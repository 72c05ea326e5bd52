//! Tools that are called or named, and the list of those that are there.

use std::collections::HashSet;

use serde_json::Value;

use super::{Family, Findings, Rule, Severity, Subject, texts};
use crate::context::{Content, Context, Message, Role};

pub(super) const FAMILY: Family =
    Family { rules: &[DUPLICATE_NAME, WITHOUT_DESCRIPTION, UNKNOWN_CALL, NAMED_BUT_GONE], find };

const DUPLICATE_NAME: Rule = Rule {
    code: "tools.duplicate_name",
    severity: Severity::Error,
    finds: "two tools of one name",
    why: "providers refuse the request; where one does not, which of the two is called is anybody's guess",
    fix: "rename one of them, or drop it",
    fine: "never",
};

const WITHOUT_DESCRIPTION: Rule = Rule {
    code: "tools.without_description",
    severity: Severity::Note,
    finds: "a function without a description",
    why: "the description is what a model chooses a tool by",
    fix: "say in a sentence or two what it does and when to use it",
    fine: "the prompt explains the tool elsewhere",
};

const UNKNOWN_CALL: Rule = Rule {
    code: "tools.unknown_call",
    severity: Severity::Warning,
    finds: "a call of a tool that the list of tools does not hold",
    why: "the model sees that the tool worked and calls it again; the provider may refuse it, and the program has nobody to answer",
    fix: "keep the tools of a conversation as long as its calls are in the prompt, or take out the calls with them",
    fine: "the model made the name up, and the result told it so",
};

const NAMED_BUT_GONE: Rule = Rule {
    code: "tools.named_but_gone",
    severity: Severity::Warning,
    finds: "instructions that name a tool which was called earlier and is not in the list of tools any more",
    why: "the model is told to use what it does not have",
    fix: "take the tool out of the instructions, or put it back into the list",
    fine: "the instructions name it to say that it is gone",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let context = subject.context;
    let Some(known) = Known::of(context, findings) else { return };
    let is_gone = |content: &Content<'_>| match content {
        Content::ToolUse { name, .. } => Some(name.to_cow().into_owned()).filter(|name| !known.names.contains(name)),
        _ => None,
    };
    let blocks = context.messages.iter().flat_map(|message| &message.blocks);
    let gone: HashSet<String> = blocks.filter_map(|block| is_gone(&block.content)).collect();
    if gone.is_empty() {
        return;
    }
    for message in &context.messages {
        named_but_gone(message, &gone, findings);
        for block in &message.blocks {
            if let Some(name) = is_gone(&block.content) {
                findings.add(&UNKNOWN_CALL, &block.origin, format!("the tool {name:?} is not in the list of tools"));
            }
        }
    }
}

/// The names of all tools there are.
struct Known {
    names: HashSet<String>,
}

impl Known {
    /// `None` where there are none, or not all of them have a name: what a server brings along has any.
    fn of(context: &Context<'_>, findings: &mut Findings) -> Option<Self> {
        let (mut names, mut are_known) = (HashSet::new(), !context.tools.is_empty());
        for (index, tool) in context.tools.iter().enumerate() {
            let origin = format!("tools[{index}]");
            let declared = serde_json::from_str(tool.as_str()).map(declared).unwrap_or_default();
            are_known &= !declared.is_empty();
            for Declared { name, is_described } in declared {
                if !is_described {
                    findings.add(&WITHOUT_DESCRIPTION, &origin, format!("the function {name:?} has no description"));
                }
                if names.contains(&name) {
                    findings.add(&DUPLICATE_NAME, &origin, format!("another tool has the name {name:?}"));
                }
                names.insert(name);
            }
        }
        are_known.then_some(Known { names })
    }
}

struct Declared {
    name: String,
    /// Tools of the provider's own need no description.
    is_described: bool,
}

/// What one entry of the list declares, in any shape; nothing where its names cannot be told.
fn declared(mut tool: Value) -> Vec<Declared> {
    for key in ["functionDeclarations", "function_declarations"] {
        if let Some(Value::Array(list)) = tool.get_mut(key).map(Value::take) {
            return list.into_iter().flat_map(declared).collect();
        }
    }
    let of_function = ["function", "toolSpec"].into_iter().find_map(|key| tool.get(key).filter(|it| it.is_object()));
    let function = of_function.unwrap_or(&tool);
    let text = |key: &str| function.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let Some(name) = text("name") else { return Vec::new() };
    let is_own = of_function.is_none()
        && tool.get("type").and_then(Value::as_str).is_some_and(|kind| !matches!(kind, "function" | "custom"));
    vec![Declared { name: name.to_owned(), is_described: is_own || text("description").is_some() }]
}

/// Names stand in instructions as `` `name` `` or `name(`; anything else may be a plain word.
fn named_but_gone(message: &Message<'_>, gone: &HashSet<String>, findings: &mut Findings) {
    if !matches!(message.role, Role::System | Role::Developer) {
        return;
    }
    let mut told = None;
    for (block, text) in texts(message) {
        // A block may hold several texts.
        if told.is_some_and(|told| std::ptr::eq(told, block)) {
            continue;
        }
        if let Some(name) = mentions(&text.to_cow()).find(|name| gone.contains(*name)) {
            let what = format!("the tool {name:?} is named here, was called, and is not in the list of tools");
            findings.add(&NAMED_BUT_GONE, &block.origin, what);
            told = Some(block);
        }
    }
}

fn mentions(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    text.split_inclusive(move |c| !is_of_name(c))
        .scan('\n', move |before, word| {
            let end = word.chars().next_back().filter(|c| !is_of_name(*c));
            let name = &word[..word.len() - end.map_or(0, char::len_utf8)];
            let is_named = end == Some('(') || *before == '`' && end == Some('`');
            *before = end.unwrap_or('\n');
            Some(Some(name).filter(|name| is_named && !name.is_empty()))
        })
        .flatten()
}
