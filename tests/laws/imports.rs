//! Whatever is recorded, its import gives it back, or an error says why none can.

use polyloop::context::{Content, Role};
use polyloop::import::{self, Imported, Injections, Options};
use polyloop::read::{self, Format, Input};
use polyloop::{Code, Context, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::emit;
use crate::generate::request;
use crate::model::{Json, Request};
use crate::text::{Choices, text};
use crate::whole;

/// The import of a stream, proved once more: what is written is read and rendered as from a file.
fn import(stream: &str, format: Format, injections: Injections<'_>) -> Result<Imported, Error> {
    let Ok(Input::Recorded(recorded)) = read::read(stream, Some(Format::JsonLines)) else {
        panic!("no stream: {stream}")
    };
    let imported = import::import(&recorded.context, &Options { format, injections });
    match &imported {
        Ok(imported) => {
            assert_eq!(whole(&imported.text, format), stream, "{}", imported.text);
            assert_eq!(imported.digest, recorded.context.digest());
            let messages = recorded.context.messages.len();
            let in_steps = messages - imported.prefix - imported.injections - imported.goal;
            assert!(imported.steps <= in_steps, "{} steps of {in_steps} messages", imported.steps);
            let given_up = imported.notes.iter().find(|note| note.why.contains("given up"));
            assert!(given_up.is_none(), "{given_up:?}\n{stream}");
        }
        Err(error) => {
            assert_eq!(error.code(), Code::ImportUnfaithful, "{error}");
            assert!(!fits_a_request(&recorded.context), "{error}\n{stream}");
        }
    }
    imported
}

/// Whether a request can hold these messages at all.
fn fits_a_request(context: &Context<'_>) -> bool {
    fn fits(content: &Content<'_>) -> bool {
        match content {
            Content::Image { chars, .. } => chars.is_some(),
            Content::Opaque { .. } => false,
            Content::ToolResult { content, .. } => content.iter().all(fits),
            _ => true,
        }
    }
    let known = |role: &Role<'_>| !matches!(role, Role::Other(_));
    context
        .messages
        .iter()
        .all(|message| known(&message.role) && message.blocks.iter().all(|block| fits(&block.content)))
}

fn line(role: &str, blocks: Vec<Value>) -> String {
    let blocks: Vec<String> = blocks.iter().map(block).collect();
    format!("{{\"role\":{},\"content\":[{}]}}\n", json!(role), blocks.join(","))
}

/// A block with its keys in canonical order.
fn block(block: &Value) -> String {
    const ORDER: [&str; 12] = [
        "type",
        "kind",
        "text",
        "id",
        "name",
        "input",
        "tool_use_id",
        "content",
        "is_error",
        "status",
        "source",
        "chars",
    ];
    let spell = |key: &str, value: &Value| match key {
        "content" => {
            format!("[{}]", value.as_array().into_iter().flatten().map(self::block).collect::<Vec<_>>().join(","))
        }
        _ => value.to_string(),
    };
    let entries = ORDER.iter().filter_map(|key| Some(format!("\"{key}\":{}", spell(key, block.get(key)?))));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

/// Messages as no agent would send them: any roles in any order, calls and results that match or do not.
fn messages() -> impl Strategy<Value = String> {
    let id = || prop::sample::select(&["a", "b", ""][..]);
    let said =
        prop_oneof![4 => text(), 1 => Just(String::new())].prop_map(|text| json!({"type": "text", "text": text}));
    let used = id().prop_map(|id| json!({"type": "tool_use", "id": id, "name": "n", "input": {"x": 1}}));
    let inner = prop_oneof![
        9 => text().prop_map(|text| vec![json!({"type": "text", "text": text})]),
        1 => Just(vec![json!({"type": "image", "source": {}})]),
    ];
    let result = (id(), inner, prop::option::weighted(0.1, any::<bool>()), prop::option::weighted(0.1, Just("lost")));
    let result = result.prop_map(|(id, content, is_error, status)| {
        let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        is_error.into_iter().for_each(|value| block["is_error"] = json!(value));
        status.into_iter().for_each(|value| block["status"] = json!(value));
        block
    });
    let other = prop_oneof![
        3 => text().prop_map(|text| json!({"type": "thinking", "text": text})),
        3 => Just(json!({"type": "image", "source": {"a": 1}, "chars": 3})),
        1 => Just(json!({"type": "image", "source": {}})),
    ];
    let said = said.boxed();
    let of_one = said.clone().prop_map(|block| vec![block]).boxed();
    let calls = (prop::option::of(said.clone()), prop::collection::vec(used.clone(), 0..3))
        .prop_map(|(said, used)| said.into_iter().chain(used).collect::<Vec<_>>());
    let any_blocks = prop::collection::vec(prop_oneof![4 => said, 2 => used, 2 => result.clone(), 1 => other], 0..3);
    let roles = prop::sample::select(&["system", "developer", "user", "assistant", "tool"][..]);
    // A call with its result, as a step has it.
    let answered = (text(), result.clone()).prop_map(|(said, mut result)| {
        let id = result["tool_use_id"].clone();
        let used = json!({"type": "tool_use", "id": id, "name": "n", "input": "as it is"});
        let blocks = [json!({"type": "text", "text": said}), used];
        result.as_object_mut().expect("a block").retain(|key, _| key != "is_error" && key != "status");
        line("assistant", blocks.to_vec()) + &line("tool", vec![result])
    });
    let message = prop_oneof![
        8 => answered,
        6 => of_one.clone().prop_map(|blocks| line("assistant", blocks)),
        6 => of_one.prop_map(|blocks| line("user", blocks)),
        4 => calls.prop_map(|blocks| line("assistant", blocks)),
        4 => result.prop_map(|block| line("tool", vec![block])),
        2 => (roles, any_blocks).prop_map(|(role, blocks)| line(role, blocks)),
        1 => text().prop_map(|role| line(&role, Vec::new())),
    ];
    prop_oneof![
        1 => prop::collection::vec(message.clone(), 0..10),
        // Most of those have a role that no request knows.
        2 => prop::collection::vec(message, 0..10).prop_map(|lines| {
            let is_known = |lines: &String| lines.lines().all(|line| Role::NAMES.contains(&&*role_of(line)));
            lines.into_iter().filter(is_known).collect()
        }),
    ]
    .prop_map(|lines| lines.concat())
}

fn role_of(line: &str) -> String {
    let message: Value = serde_json::from_str(line).expect("a message is JSON");
    message["role"].as_str().expect("a role").to_owned()
}

/// Lines that frames are made of, and lines that look like them.
const LINES: &[&str] = &[
    "Observation: ",
    "Observation 1: ",
    "Observation 2: ",
    "Observation 02: ",
    "Observation 9:\n",
    "Output:\n",
    "\n",
    "\n\n",
    "```\n",
    "```",
    "<out>",
    "</out>",
    "<out>\n",
    "<code>0</code>\n",
    "<code>1</code>\n",
    "<code></code>\n",
    "(Open file: a)\n",
    "(Open file: b: c)\n",
    "(Open file: )\n",
    "(Open file)\n",
    "[Exit code: 1]",
    "[Exit code: 2]",
    "Time: 3",
    "Time: 4",
    "bash-$",
    "a",
    "é",
    "{",
    "}",
    "{x}",
    "\r\n",
    " ",
    "What now?",
];

/// Lines that vary in a frame.
const VARYING: &[[&str; 2]] =
    &[["(Open file: ", ")"], ["[Exit code: ", "]"], ["<code>", "</code>"], ["Time: ", ""], ["Observation ", ":"]];

/// A run whose observations have something in common.
fn framed() -> impl Strategy<Value = String> {
    let lines = |count: std::ops::Range<usize>| {
        prop::collection::vec(prop::sample::select(LINES), count).prop_map(|lines| lines.concat())
    };
    let values = prop::sample::select(&["0", "1", "a", "b: c", "(d)", "", "\r", "{", "0\n"][..]);
    let varying = || prop::option::weighted(0.7, prop::sample::select(VARYING));
    let step = (text(), lines(0..2), lines(0..3), lines(0..2), [values.clone(), values]);
    let mark = |mark: &str| Just(mark.to_owned()).boxed();
    let head = prop_oneof![1 => mark("Output:\n"), 1 => mark("<out>\n"), 1 => lines(0..3)];
    let tail = prop_oneof![1 => mark("bash-$"), 1 => mark("</out>\n```\n"), 1 => lines(0..3)];
    let frame = (varying(), head, tail, varying());
    (text(), frame, prop::collection::vec(step, 0..7)).prop_map(|(task, (above, head, tail, below), steps)| {
        let said = |role: &str, text: String| line(role, vec![json!({"type": "text", "text": text})]);
        let put = |around: Option<[&str; 2]>, value: &str| {
            around.map(|[before, after]| format!("{before}{value}{after}")).unwrap_or_default()
        };
        let pairs = steps.into_iter().map(|(raw, before, body, after, values)| {
            let (above, below) = (put(above, values[0]), put(below, values[1]));
            let gap = |part: &str| if part.is_empty() { "" } else { "\n" };
            let observation =
                format!("{above}{}{head}{before}{body}{after}{}{below}{}{tail}", gap(&above), gap(&below), gap(&below));
            said("assistant", raw) + &said("user", observation)
        });
        said("user", task) + &pairs.collect::<String>()
    })
}

/// The injections of a request as a document of their own.
fn injections_of(request: &Request) -> String {
    let Json::Map(entries) = request.document() else { unreachable!("a request is a map") };
    let injections = entries.into_iter().find(|(key, _)| key == "injections");
    emit::json(&injections.map_or(Json::Map(Vec::new()), |(_, value)| value), &mut Choices::new(1))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a request gives can be imported again, with what it injected or without.
    #[test]
    fn what_is_assembled_is_imported(request in request(true), in_yaml: bool) {
        let stream = request.stream(request.steps.len());
        let format = if in_yaml { Format::Yaml } else { Format::Json };
        let without = import(&stream, format, Injections::default());
        prop_assert!(without.is_ok(), "{:?}", without.err());
        let entries = injections_of(&request);
        let injections = Injections::read(&entries, Some(Format::Json)).expect("injections of a request");
        let with = import(&stream, format, injections);
        prop_assert!(with.is_ok(), "{:?}", with.err());
    }

    #[test]
    fn any_messages_are_imported_or_refused(stream in messages(), in_yaml: bool) {
        let format = if in_yaml { Format::Yaml } else { Format::Json };
        drop(import(&stream, format, Injections::default()));
    }

    #[test]
    fn frames_are_taken_off_to_the_byte(stream in framed()) {
        let imported = import(&stream, Format::Json, Injections::default());
        prop_assert!(imported.is_ok(), "{:?}", imported.err());
    }
}

/// The generators must be worth their name: most is imported, and there are steps of both kinds, frames and fields.
#[test]
fn the_recordings_are_not_one_sided() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut refused, mut stepped, mut faulty, mut called, mut framed_ones, mut fields) = (0, 0, 0, 0, 0, 0);
    for _ in 0..300 {
        let stream = messages().new_tree(&mut runner).expect("messages").current();
        match import(&stream, Format::Yaml, Injections::default()) {
            Ok(imported) => {
                stepped += usize::from(imported.steps > 1);
                faulty += usize::from(!imported.notes.is_empty());
                called += usize::from(imported.text.contains("result:"));
            }
            Err(_) => refused += 1,
        }
        let stream = framed().new_tree(&mut runner).expect("messages").current();
        let imported = import(&stream, Format::Yaml, Injections::default()).expect("texts are imported");
        framed_ones += usize::from(imported.template.is_some_and(|template| template != "{observation}"));
        fields += usize::from(!imported.fields.is_empty());
    }
    let found = [refused, stepped, faulty, called, framed_ones, fields];
    eprintln!("{found:?} of 300");
    assert!(found.iter().all(|count| *count > 10), "{found:?}");
}
