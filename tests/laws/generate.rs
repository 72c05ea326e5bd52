//! Requests of every kind, made up.

use proptest::prelude::*;

use crate::model::{Block, Call, Content, Json, Message, Outcome, Part, Request, Step};
use crate::text::text;

/// Any request; `with_json` says whether it holds objects whose order of keys is content.
pub fn request(with_json: bool) -> impl Strategy<Value = Request> {
    let channels = prop::collection::vec((text(), content(with_json)), 0..3);
    let injections = prop::collection::btree_map(text(), channels, 0..4);
    let tools = if with_json { prop::collection::vec(object(), 0..3).boxed() } else { Just(Vec::new()).boxed() };
    (
        messages(with_json),
        injections,
        messages(with_json),
        template(),
        [text(), text()],
        prop::collection::vec(step(with_json), 0..4),
        prop::option::of(1..200u32),
        tools,
        prop::option::of(state()),
    )
        .prop_map(|(prefix, injections, goal, template, synthetic, steps, budget, tools, state)| Request {
            prefix,
            injections,
            goal,
            template,
            synthetic,
            steps,
            budget,
            tools,
            state,
        })
}

/// A state with fields of any name that is not taken.
pub fn state() -> impl Strategy<Value = Json> {
    let name = |name: &str| name.to_owned();
    let revision = prop_oneof![any::<u64>().prop_map(|it| Json::Number(it.to_string())), text().prop_map(Json::Text)];
    let variable = (text(), text(), any::<u64>());
    let variables = prop::collection::vec(variable, 0..3).prop_map(move |variables| {
        let variable = |(at, (own, preview, size)): (usize, (String, String, u64))| {
            Json::Map(vec![
                (name("name"), Json::Text(format!("{at}{own}"))),
                (name("preview"), Json::Text(preview)),
                (name("size"), Json::Number(size.to_string())),
            ])
        };
        Json::List(variables.into_iter().enumerate().map(variable).collect())
    });
    let known = (any::<bool>().prop_map(Json::Bool), revision, variables);
    (prop::option::of(known), object()).prop_map(move |(known, fields)| {
        let Json::Object(mut entries) = fields else { unreachable!("an object has entries") };
        entries.retain(|(key, _)| !["alive", "revision", "variables", "schema", "source"].contains(&key.as_str()));
        if let Some((alive, revision, variables)) = known {
            entries.insert(0, (name("alive"), alive));
            entries.push((name("revision"), revision));
            entries.push((name("variables"), variables));
        }
        Json::Object(entries)
    })
}

fn messages(with_json: bool) -> impl Strategy<Value = Vec<Message>> {
    let role = prop::sample::select(&["system", "developer", "user", "assistant", "tool"][..]);
    let message = (role, content(with_json)).prop_map(|(role, content)| Message { role, content });
    prop::collection::vec(message, 0..3)
}

fn content(with_json: bool) -> BoxedStrategy<Content> {
    let inner = prop::collection::vec(block(with_json, None), 0..2).prop_map(Content::Blocks);
    let blocks = prop::collection::vec(block(with_json, Some(inner.boxed())), 0..3).prop_map(Content::Blocks);
    prop_oneof![text().prop_map(Content::Text), blocks].boxed()
}

fn block(with_json: bool, inner: Option<BoxedStrategy<Content>>) -> BoxedStrategy<Block> {
    let thinking = (text(), prop::option::of(text())).prop_map(|(text, signature)| Block::Thinking(text, signature));
    let flat = prop_oneof![4 => text().prop_map(Block::Text), 1 => thinking].boxed();
    let Some(inner) = inner else { return flat };
    let result = (
        text(),
        prop_oneof![text().prop_map(Content::Text), inner],
        any::<Option<bool>>(),
        prop::option::of(prop::sample::select(&["lost", "pending", "cancelled"][..])),
    )
        .prop_map(|(id, content, is_error, status)| Block::ToolResult {
            id,
            content: Box::new(content),
            is_error,
            status,
        });
    if !with_json {
        return prop_oneof![5 => flat, 1 => result].boxed();
    }
    let tool_use = (text(), text(), input()).prop_map(|(id, name, input)| Block::ToolUse { id, name, input });
    let image = (object(), any::<u16>()).prop_map(|(source, chars)| Block::Image { source, chars });
    prop_oneof![5 => flat, 1 => result, 1 => tool_use, 1 => image].boxed()
}

fn input() -> impl Strategy<Value = Json> {
    prop_oneof![text().prop_map(Json::Text), object()]
}

fn object() -> impl Strategy<Value = Json> {
    let numbers = ["0", "-0", "1.50", "1E5", "-2.5e-3", "1e300", "123456789012345678901234567890"];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        prop::sample::select(numbers.to_vec()).prop_map(|spelling| Json::Number(spelling.to_owned())),
        text().prop_map(Json::Text),
    ];
    let value = leaf.prop_recursive(2, 6, 3, |value| {
        prop_oneof![prop::collection::vec(value.clone(), 0..3).prop_map(Json::List), entries(value)]
    });
    entries(value)
}

/// An object whose keys are not in the order of the alphabet.
fn entries(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    prop::collection::btree_map(text(), value, 0..4).prop_map(|map| Json::Object(map.into_iter().rev().collect()))
}

fn template() -> impl Strategy<Value = Vec<Part>> {
    let align = prop::sample::select(&['<', '>', '^'][..]);
    let fill = prop::sample::select(&[' ', '*', '0', '中', '"', '\n', '\u{1b}'][..]);
    let padded = (fill, align, 1..9usize).prop_map(|(fill, align, width)| Part::Padded { fill, align, width });
    let part = prop_oneof![
        3 => text().prop_map(Part::Literal),
        2 => Just(Part::Observation),
        1 => Just(Part::OpenFile),
        1 => padded.clone(),
    ];
    let must = prop_oneof![3 => Just(Part::Observation), 1 => padded];
    let parts = prop::collection::vec(part, 0..4);
    (parts, must, 0..5usize).prop_map(|(mut parts, must, at)| {
        parts.insert(at.min(parts.len()), must);
        parts
    })
}

fn step(with_json: bool) -> impl Strategy<Value = Step> {
    let input = if with_json { input().boxed() } else { text().prop_map(Json::Text).boxed() };
    let call = (text(), text(), input, prop::option::of(content(with_json)))
        .prop_map(|(id, name, input, result)| Call { id, name, input, result });
    let outcome = prop_oneof![
        4 => text().prop_map(Outcome::Observation),
        1 => (0..2usize).prop_map(Outcome::Synthetic),
        1 => prop::collection::vec(call, 0..3).prop_map(Outcome::ToolCalls),
    ];
    (text(), outcome, text()).prop_map(|(raw_output, outcome, open_file)| Step { raw_output, outcome, open_file })
}
