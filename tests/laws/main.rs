//! Laws that hold for every request, tried on many.

mod choice;
mod emit;
mod fragments;
mod generate;
mod imports;
mod model;
mod outlines;
mod places;
mod pool;
mod scalars;
mod searches;
mod text;
mod windows;

use polyloop::context::Text;
use polyloop::read::{self, Format, Input};
use polyloop::template::Template;
use polyloop::write::{Report, write_yaml};
use polyloop::{Context, RunRequest, assemble};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use generate::request;
use model::{Json, Request};
use text::{Choices, text};

fn parse<'a>(document: &'a str, format: Format) -> RunRequest<'a> {
    read::request(document, Some(format)).unwrap_or_else(|error| panic!("{error}, hint {:?}\n{document}", error.hint()))
}

/// The canonical stream of a document, after so many steps.
fn stream(document: &str, format: Format, steps: Option<usize>) -> String {
    let request = parse(document, format);
    let context = assemble(&request, steps).expect("it assembles");
    String::from_utf8(context.to_canonical()).expect("a stream is UTF-8")
}

fn whole(document: &str, format: Format) -> String {
    stream(document, format, None)
}

/// The stream of a recorded document, and where it is not canonical itself.
fn recorded(document: &str, format: Format) -> (String, Option<usize>) {
    match read::read(document, Some(format)) {
        Ok(Input::Recorded(recorded)) => {
            let stream = String::from_utf8(recorded.context.to_canonical()).expect("a stream is UTF-8");
            (stream, recorded.not_canonical_at)
        }
        Ok(Input::Request(_)) => panic!("taken for a request:\n{document}"),
        Err(error) => panic!("{error}\n{document}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// Assembly as the tests see it, for both formats, in any order of keys and in every spelling; and so: the same
    /// bytes every time, and the same bytes from JSON and YAML.
    #[test]
    fn every_spelling_gives_the_stream_of_the_rule(request in request(true), seed: u64) {
        let (wanted, document) = (request.stream(request.steps.len()), request.document());
        let mut choices = Choices::new(seed);
        for _ in 0..2 {
            let json = emit::json(&document, &mut choices);
            prop_assert_eq!(&whole(&json, Format::Json), &wanted, "{}", json);
            prop_assert_eq!(whole(&json, Format::Json), whole(&json, Format::Json));
            let yaml = emit::yaml(&document, &mut choices);
            prop_assert_eq!(&whole(&yaml, Format::Yaml), &wanted, "{}", yaml);
        }
    }

    /// Fewer steps give a prefix of the bytes: what a provider has cached stays good.
    #[test]
    fn fewer_steps_give_a_prefix(request in request(true)) {
        let document = emit::json(&request.document(), &mut Choices::new(1));
        let mut before = String::new();
        for steps in 0..=request.steps.len() {
            let now = stream(&document, Format::Json, Some(steps));
            prop_assert_eq!(&now, &request.stream(steps));
            prop_assert!(now.starts_with(&before));
            prop_assert!(steps == 0 || now.len() > before.len(), "step {} adds nothing", steps);
            before = now;
        }
        prop_assert_eq!(before, whole(&document, Format::Json));
    }

    /// A state is kept as it is written, its fields in their order, and gives no byte of the stream.
    #[test]
    fn a_state_is_kept_and_never_rendered(request in request(true), state in generate::state(), seed: u64) {
        let without = Request { state: None, ..request };
        let with = Request { state: Some(state.clone()), ..without.clone() };
        let mut choices = Choices::new(seed);
        let wanted = whole(&emit::json(&without.document(), &mut choices), Format::Json);
        let spelled = [
            (emit::json(&with.document(), &mut choices), Format::Json),
            (emit::yaml(&with.document(), &mut choices), Format::Yaml),
        ];
        for (document, format) in &spelled {
            let parsed = parse(document, *format);
            let stream = assemble(&parsed, None).expect("it assembles").to_canonical();
            prop_assert_eq!(String::from_utf8(stream).expect("a stream is UTF-8"), wanted.clone(), "{}", document);
            let kept = &parsed.parts().state;
            let Json::Object(entries) = &state else { unreachable!("a state has entries") };
            let own = |key: &str| !["alive", "revision", "variables"].contains(&key);
            let fields: Vec<(String, String)> =
                entries.iter().filter(|(key, _)| own(key)).map(|(key, it)| (key.clone(), it.compact())).collect();
            let kept_fields: Vec<(String, String)> =
                kept.fields.iter().map(|(key, it)| (key.to_string(), it.as_str().to_owned())).collect();
            prop_assert_eq!(fields, kept_fields, "{}", document);
            let get = |key: &str| entries.iter().find(|(own, _)| own == key).map(|(_, value)| value.compact());
            prop_assert_eq!(get("alive").unwrap_or_else(|| "false".into()), kept.alive.to_string());
            prop_assert_eq!(get("revision"), kept.revision.as_ref().map(|it| it.as_str().to_owned()));
            let variables = match entries.iter().find(|(key, _)| key == "variables") {
                Some((_, Json::List(variables))) => variables.len(),
                _ => 0,
            };
            prop_assert_eq!(variables, kept.variables.len());
        }
    }

    /// However an empty slot is written, it is no slot.
    #[test]
    fn an_empty_slot_is_no_slot(request in request(true), names in prop::collection::btree_set(text(), 3), seed: u64) {
        let request = Request { injections: Default::default(), ..request };
        let wanted = request.stream(request.steps.len());
        let Json::Map(mut entries) = request.document() else { unreachable!("a request is a map") };
        entries.retain(|(key, _)| key != "injections");
        let names: Vec<String> = names.into_iter().collect();
        let mut slots = vec![None, Some(Json::Null)];
        // Each channel is absent, an empty list, or null: with three channels, all 27 ways.
        for ways in 0..27usize {
            let way = |channel: usize| ways / 3usize.pow(channel as u32) % 3;
            let channel = |(at, name): (usize, &String)| match way(at) {
                0 => None,
                1 => Some((name.clone(), Json::List(Vec::new()))),
                _ => Some((name.clone(), Json::Null)),
            };
            slots.push(Some(Json::Map(names.iter().enumerate().filter_map(channel).collect())));
        }
        let mut choices = Choices::new(seed);
        for slot in slots {
            let mut entries = entries.clone();
            entries.extend(slot.map(|slot| ("injections".to_owned(), slot)));
            let document = Json::Map(entries);
            prop_assert_eq!(&whole(&emit::json(&document, &mut choices), Format::Json), &wanted);
            prop_assert_eq!(&whole(&emit::yaml(&document, &mut choices), Format::Yaml), &wanted);
        }
    }

    /// Blocks sum up to messages, messages to segments and to the total, and all of it to an independent count.
    #[test]
    fn parts_sum_up(request in request(true)) {
        let document = emit::json(&request.document(), &mut Choices::new(1));
        let parsed = parse(&document, Format::Json);
        let context = assemble(&parsed, None).expect("it assembles");
        let report = serde_json::to_value(Report::new("case", &context, Some(&parsed))).expect("a report is JSON");
        for measure in ["chars", "bytes"] {
            let sum = |parts: &Value| parts.as_array().expect("a list").iter().map(|part| number(&part[measure])).sum();
            let messages: u64 = sum(&report["messages"]);
            for message in report["messages"].as_array().expect("a list") {
                prop_assert_eq!(sum(&message["blocks"]), number(&message[measure]));
            }
            let segments = report["segments"].as_object().expect("a map").values();
            prop_assert_eq!(segments.map(|segment| number(&segment[measure])).sum::<u64>(), messages);
            prop_assert_eq!(number(&report["total"][measure]), messages);
        }
        let counted = count(&request.stream(request.steps.len()));
        prop_assert_eq!([number(&report["total"]["chars"]), number(&report["total"]["bytes"])], counted);
        let over = request.budget.is_some_and(|limit| counted[0] > u64::from(limit));
        prop_assert_eq!(report["budget"]["verdict"] == "context_overflow", over);
    }

    /// A canonical stream is its own reading.
    #[test]
    fn a_stream_reads_back(request in request(true)) {
        let wanted = request.stream(request.steps.len());
        prop_assert_eq!(recorded(&wanted, Format::JsonLines), (wanted, None));
    }

    /// So is the YAML view, but for the tools, which are no messages.
    #[test]
    fn the_yaml_view_reads_back(request in request(true)) {
        let request = Request { tools: Vec::new(), ..request };
        let document = emit::json(&request.document(), &mut Choices::new(1));
        let parsed = parse(&document, Format::Json);
        let context = assemble(&parsed, None).expect("it assembles");
        prop_assert_eq!(recorded(&yaml_view(&context), Format::Yaml).0, request.stream(request.steps.len()));
    }

    /// A template holds the observation as it is, as often as it has a plain field for it.
    #[test]
    fn plain_fields_hold_the_observation(template in template_text(), observation in text()) {
        if let Ok(template) = Template::parse(template, &["observation", "other"]) {
            let (argument, other) = (Text::plain(observation.as_str()), Text::plain("other"));
            let result = template.apply(&[&argument, &other]);
            let result = result.to_cow();
            let found = result.matches(&observation).count();
            prop_assert!(observation.is_empty() || found >= template.plain_fields(), "{:?} of {:?}", result, template.source());
        }
    }

    /// Another reader of YAML finds the same values in a document whose scalars leave no choice.
    #[test]
    fn another_reader_of_yaml_agrees(request in request(false), seed: u64) {
        let yaml = emit::yaml(&request.document(), &mut Choices::new(seed));
        let theirs: Value = serde_yaml::from_str(&yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        let theirs = serde_json::to_string(&theirs).expect("a value is JSON");
        prop_assert_eq!(whole(&theirs, Format::Json), whole(&yaml, Format::Yaml), "{}", yaml);
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn yaml_view(context: &Context<'_>) -> String {
    let mut yaml = Vec::new();
    write_yaml(context, &mut yaml).expect("a vector takes every write");
    String::from_utf8(yaml).expect("the view is UTF-8")
}

/// YAML takes no key of more than 1,024 characters without a `?` before it.
#[test]
fn the_yaml_view_of_long_keys_reads_back() {
    for key in ["k".repeat(1_000), "k".repeat(1_100), "\u{1}".repeat(300), "\u{e0041}".repeat(300)] {
        let input = serde_json::json!({ key: 1 });
        let stream = format!(
            "{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"\",\"name\":\"\",\"input\":{input}}}]}}\n"
        );
        let Ok(Input::Recorded(context)) = read::read(&stream, Some(Format::JsonLines)) else { panic!("no stream") };
        assert_eq!(recorded(&yaml_view(&context.context), Format::Yaml).0, stream);
    }
}

/// Templates of which a good part is valid.
fn template_text() -> impl Strategy<Value = String> {
    let field = prop::sample::select(
        &["{observation}", "{observation}", "{observation!s}", "{observation!r}", "{observation:>9}", "{other}"][..],
    );
    let literal = text().prop_map(|text| text.replace('{', "{{").replace('}', "}}"));
    let part = prop_oneof![6 => field.prop_map(str::to_owned), 4 => literal, 1 => text()];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

/// Characters and bytes of all blocks of a stream, tools aside.
fn count(stream: &str) -> [u64; 2] {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        content: Vec<Block<'a>>,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(default)]
        text: String,
        #[serde(default)]
        name: String,
        #[serde(borrow)]
        input: Option<&'a RawValue>,
        #[serde(borrow, default)]
        content: Vec<Block<'a>>,
        #[serde(default)]
        chars: u64,
    }
    fn of_block(block: &Block<'_>) -> [u64; 2] {
        let input = block.input.map_or_else(String::new, |input| match serde_json::from_str::<String>(input.get()) {
            Ok(text) => text,
            Err(_) => input.get().to_owned(),
        });
        let mut sizes = [block.chars, 0];
        for text in [&block.text, &block.name, &input] {
            sizes = sum(sizes, [text.chars().count() as u64, text.len() as u64]);
        }
        block.content.iter().map(of_block).fold(sizes, sum)
    }
    fn sum(a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }
    let messages = stream.lines().filter(|line| line.starts_with("{\"role\":"));
    let message = |line: &str| {
        serde_json::from_str::<Message<'_>>(line)
            .expect("a line is a message")
            .content
            .iter()
            .map(of_block)
            .fold([0, 0], sum)
    };
    messages.map(message).fold([0, 0], sum)
}

/// The generator must be worth its name: what it makes holds what is hard.
#[test]
fn the_generator_is_not_one_sided() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut streams = String::new();
    for _ in 0..200 {
        let request = request(true).new_tree(&mut runner).expect("a request").current();
        streams += &request.stream(request.steps.len());
    }
    for wanted in ["\\u0000", "\\u001b", "\u{85}", "\u{2028}", "\u{feff}", "\u{10ffff}", "e\u{301}", "{observation}"] {
        assert!(streams.contains(wanted), "no {wanted:?}");
    }
    for kind in ["text", "thinking", "tool_use", "tool_result", "image"] {
        assert!(streams.contains(&format!("{{\"type\":\"{kind}\"")), "no {kind}");
    }
}

/// The same second opinion on the fixtures in YAML. The other reader takes plain words such as `no` for booleans, gives
/// a file the final line feed it lacks, and keeps neither the order of keys nor the spelling of numbers, which is what
/// five of them are about.
#[test]
fn another_reader_of_yaml_agrees_on_the_fixtures() {
    const OTHERWISE: [&str; 5] = ["block_kinds", "tool_calls", "tools_yaml", "yaml_eof_no_newline", "yaml_scalars"];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut compared = 0;
    for case in std::fs::read_dir(folder).expect("there are fixtures") {
        let path = case.expect("a folder can be listed").path().join("request.yaml");
        let otherwise = OTHERWISE.iter().any(|name| path.parent().is_some_and(|folder| folder.ends_with(name)));
        if otherwise || !path.with_extension("render.jsonl").exists() || !path.exists() {
            continue;
        }
        let yaml = std::fs::read_to_string(&path).expect("a fixture is UTF-8");
        let theirs: Value = serde_yaml::from_str(&yaml).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let theirs = serde_json::to_string(&theirs).expect("a value is JSON");
        assert_eq!(whole(&theirs, Format::Json), whole(&yaml, Format::Yaml), "{}", path.display());
        compared += 1;
    }
    assert!(compared > 10, "only {compared} fixtures");
}
