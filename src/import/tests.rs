//! The proof bites, and what is proved is what is written.

use super::*;
use crate::context::{Block, Message, Origin, Text};
use crate::read::Input;

fn recorded(json: &str) -> Context<'_> {
    match read::read(json, Some(Format::Json)) {
        Ok(Input::Recorded(recorded)) => recorded.context,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_document_that_gives_other_bytes_is_no_proof() {
    let context = recorded(r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]"#);
    let wanted = context.to_canonical();
    assert!(prove("goal: [{role: user, content: a}, {role: assistant, content: b}]", Format::Yaml, &wanted).is_ok());
    for wrong in [
        "goal: [{role: user, content: a}]",
        "goal: [{role: user, content: a}, {role: assistant, content: b }, {role: user, content: c}]",
        "goal: [{role: assistant, content: b}, {role: user, content: a}]",
        "goal: [{role: user, content: A}, {role: assistant, content: b}]",
        "goal: [",
    ] {
        assert!(prove(wrong, Format::Yaml, &wanted).is_err(), "{wrong}");
    }
}

/// A frame whose template would make too much of small observations is given up, and that is said.
#[test]
fn a_split_that_a_request_refuses_is_given_up() {
    let mark = format!("<{}>", "x".repeat(1 << 20));
    let text = |role: Role<'static>, text: String| {
        let block = Block { content: Content::Text(Text::plain(text)), origin: Origin::Goal(0) };
        Message { role, blocks: vec![block], origin: Origin::Goal(0), fingerprint: None }
    };
    let pair = |step: usize| [text(Role::Assistant, String::new()), text(Role::User, format!("{mark}\n{step}"))];
    let context = Context { tools: Vec::new(), messages: (0..80).flat_map(pair).collect() };
    let imported = import(&context, &Options { format: Format::Json, ..Options::default() }).expect("it is imported");
    assert_eq!((imported.steps, imported.template.as_deref()), (80, Some("{observation}")));
    let given_up = imported.notes.iter().find(|note| note.why.contains("a finer split was given up"));
    assert!(given_up.is_some_and(|note| note.why.contains("64 MiB")), "{:?}", imported.notes);
}
