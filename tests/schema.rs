//! The JSON Schema and the reader say the same of a request.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{polyloop, read, root};
use jsonschema::Validator;
use polyloop::error::Code;
use polyloop::read::{self as reading, Format};
use polyloop::{Error, request};
use serde_json::{Map, Value, json};

fn schema() -> Value {
    serde_json::to_value(request::json_schema()).expect("a schema is JSON")
}

fn validator() -> Validator {
    jsonschema::draft7::new(&schema()).expect("the schema is a schema")
}

/// What the reader says of a document.
fn read_request(document: &Value) -> Result<(), Error> {
    reading::request(&document.to_string(), Some(Format::Json)).map(drop)
}

#[test]
fn the_command_prints_the_schema_of_the_library() {
    let ran = polyloop(["schema"]);
    assert_eq!(ran.exits(0).json(), schema());
    assert_eq!(schema()["$schema"], "http://json-schema.org/draft-07/schema#");
    assert!(jsonschema::draft7::meta::is_valid(&schema()), "the schema is not one of draft-07");
}

/// The fixtures whose folder begins so, as JSON values. YAML is read by another reader, which takes `no` and `on` for
/// booleans: the fixture about that is left out.
fn fixtures(wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for file in common::files_under(&root().join("fixtures")) {
        let name =
            file.parent().and_then(|folder| folder.file_name()).expect("a folder").to_string_lossy().into_owned();
        if !wanted(&name) || name == "yaml_scalars" {
            continue;
        }
        let value = match file.file_name().and_then(|name| name.to_str()) {
            Some("request.json") => serde_json::from_slice(&read(&file)).expect("a fixture is JSON"),
            Some("request.yaml") => {
                serde_yaml::from_slice(&read(&file)).unwrap_or_else(|error| panic!("{name}: {error}"))
            }
            _ => continue,
        };
        found.insert(name, value);
    }
    found
}

#[test]
fn good_fixtures_are_valid() {
    let validator = validator();
    let good = fixtures(|name| !name.starts_with("err_"));
    for (name, request) in &good {
        let errors: Vec<String> =
            validator.iter_errors(request).map(|error| format!("{error} at {}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    assert!(good.len() > 20, "only {} fixtures", good.len());
}

#[test]
fn bad_fixtures_are_not() {
    const STARTS: &[&str] = &[
        "err_unknown_",
        "err_type_",
        "err_budget_",
        "err_role_",
        "err_block_",
        "err_missing_content",
        "err_missing_observation",
        "err_missing_role",
        "err_observation_and_synthetic",
        "err_tool_section_template",
        "err_state_",
    ];
    // A key that is no string is one in JSON; what stands twice, and a number that is none, other readers let pass.
    const OTHERWISE: &[&str] =
        &["err_type_channel_number", "err_state_variable_twice", "err_state_key_twice", "err_state_number"];
    let bad = fixtures(|name| STARTS.iter().any(|start| name.starts_with(start)) && !OTHERWISE.contains(&name));
    let validator = validator();
    let valid: Vec<&String> =
        bad.iter().filter(|(_, request)| validator.is_valid(request)).map(|(name, _)| name).collect();
    assert!(valid.is_empty(), "{valid:?} are valid");
    assert!(bad.len() > 25, "only {} fixtures", bad.len());
}

/// An object of the schema, with the smallest value that it takes and the document round it.
struct Object {
    name: String,
    keys: BTreeSet<String>,
    smallest: Value,
    document: Document,
    /// Whether it takes keys of any name.
    is_open: bool,
}

/// Puts an object into a document.
type Document = fn(Value) -> Value;

/// Only the state has fields of a project's own.
fn is_open(schema: &Value) -> bool {
    schema["properties"]["revision"].is_object() && schema["additionalProperties"] != false
}

fn objects() -> Vec<Object> {
    let schema = schema();
    let keys = |schema: &Value| -> BTreeSet<String> {
        let is_closed = schema["additionalProperties"] == false;
        assert!(is_closed || is_open(schema), "an object of the schema takes any key: {schema}");
        schema["properties"].as_object().expect("properties").keys().cloned().collect()
    };
    let in_steps: Document = |step| json!({"observation_template": "{observation}", "trajectory": [step]});
    let known: [(&str, Value, Document); 16] = [
        ("Message", json!({"role": "user", "content": ""}), |message| json!({"goal": [message]})),
        ("Entry", json!({"entry_id": "e", "content": ""}), |entry| json!({"injections": {"channel": [entry]}})),
        ("Step", json!({"raw_output": "", "observation": ""}), in_steps),
        (
            "ToolCall",
            json!({"id": "", "name": "", "input": {}}),
            |call| json!({"trajectory": [{"raw_output": "", "tool_calls": [call]}]}),
        ),
        ("Budget", json!({"max_prompt_chars": 1}), |budget| json!({"budget": budget})),
        ("Run", json!({}), |run| json!({"run": run})),
        ("State", json!({}), |state| json!({"state": state})),
        ("Variable", json!({"name": "v"}), |variable| json!({"state": {"variables": [variable]}})),
        ("Fragment", json!({"id": "f", "kind": "evidence", "content": ""}), |it| json!({"fragments": [it]})),
        (
            "FileRange",
            json!({"path": ""}),
            |file| json!({"fragments": [{"id": "f", "kind": "evidence", "file": file}]}),
        ),
        (
            "Claim",
            json!({"key": "", "value": 1}),
            |claim| json!({"fragments": [{"id": "f", "kind": "evidence", "content": "", "claim": claim}]}),
        ),
        (
            "Trim",
            json!({}),
            |trim| json!({"fragments": [{"id": "f", "kind": "evidence", "content": "", "trim": trim}]}),
        ),
        (
            "Summary",
            json!({}),
            |summary| json!({"fragments": [{"id": "f", "kind": "history", "content": "", "summary_of": summary}]}),
        ),
        (
            "MarkedStatement",
            json!({"text": ""}),
            |goal| json!({"fragments": [{"id": "f", "kind": "history", "content": "", "summary_of": {"goal": goal}}]}),
        ),
        ("Conflicts", json!({}), |conflicts| json!({"conflicts": conflicts})),
        ("Share", json!({}), |share| json!({"budget": {"responsibilities": {"run_state": share}}})),
    ];
    let mut objects = vec![Object {
        name: "top".into(),
        keys: keys(&schema),
        smallest: json!({"goal": []}),
        document: |top| top,
        is_open: false,
    }];
    for (name, smallest, document) in known {
        let own = &schema["definitions"][name];
        objects.push(Object { name: name.into(), keys: keys(own), smallest, document, is_open: is_open(own) });
    }
    let smallest_block = |kind: &str| match kind {
        "text" | "thinking" => json!({"type": kind, "text": ""}),
        "tool_use" => json!({"type": kind, "id": "", "name": "", "input": {}}),
        "tool_result" => json!({"type": kind, "tool_use_id": "", "content": ""}),
        "image" => json!({"type": kind, "source": {}, "chars": 0}),
        _ => panic!("the reader has no block {kind}"),
    };
    for block in schema["definitions"]["Block"]["oneOf"].as_array().expect("a list of blocks") {
        let kind = block["properties"]["type"]["const"].as_str().expect("a block names its type");
        objects.push(Object {
            name: kind.into(),
            keys: keys(block),
            smallest: smallest_block(kind),
            document: |block| json!({"goal": [{"role": "user", "content": [block]}]}),
            is_open: false,
        });
    }
    objects
}

impl Object {
    /// The smallest object with one more key.
    fn with(&self, key: &str, value: Value) -> Value {
        let mut object: Map<String, Value> = self.smallest.as_object().expect("an object").clone();
        object.insert(key.to_owned(), value);
        (self.document)(Value::Object(object))
    }
}

#[test]
fn every_object_of_the_schema_is_tried() {
    let definitions = schema()["definitions"].as_object().expect("definitions").clone();
    let with_keys = definitions.values().filter(|definition| definition["properties"].is_object()).count();
    let blocks = definitions["Block"]["oneOf"].as_array().expect("a list of blocks").len();
    assert_eq!(objects().len(), 1 + with_keys + blocks);
    assert_eq!(blocks, polyloop::context::Content::NAMES.len());
    for object in objects() {
        let smallest = (object.document)(object.smallest.clone());
        assert!(read_request(&smallest).is_ok(), "{}: {smallest}", object.name);
    }
}

#[test]
fn the_keys_of_an_object_are_those_the_reader_takes() {
    let objects = objects();
    let mut candidates: BTreeSet<String> = objects.iter().flat_map(|object| object.keys.clone()).collect();
    let misspelt: Vec<String> = candidates.iter().flat_map(|key| [format!("{key}s"), key.to_uppercase()]).collect();
    candidates.extend(misspelt);
    candidates.extend(["", "opaque", "value", "kind", "cache_control", "tool_section_template"].map(String::from));
    for object in objects.iter().filter(|object| !object.is_open) {
        for key in &candidates {
            // A type of another block says what keys there are.
            if key == "type" && object.keys.contains("type") {
                continue;
            }
            let read = read_request(&object.with(key, Value::Null));
            // A `role` at the top makes the document a message.
            let is_unknown =
                read.as_ref().is_err_and(|error| matches!(error.code(), Code::RequestUnknownField | Code::InputShape));
            assert_eq!(!is_unknown, object.keys.contains(key), "{key:?} in {}: {read:?}", object.name);
        }
    }
}

/// Values of every kind, small and odd.
fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!([]),
        json!(["x"]),
        json!([1]),
        json!([[]]),
        json!([{}]),
        json!({}),
        json!({"x": "y"}),
        json!({"x": null}),
        json!({"x": []}),
        json!([{"type": "text", "text": "x"}]),
        json!([{"role": "user", "content": []}]),
    ]
}

#[test]
fn a_state_takes_every_key_but_those_that_answers_have() {
    let validator = validator();
    for (key, is_taken) in [("phase", false), ("", false), ("Alive", false), ("schema", true), ("source", true)] {
        for value in values() {
            let document = json!({"state": {key: value}});
            assert_eq!(validator.is_valid(&document), !is_taken, "{document}");
            assert_eq!(read_request(&document).is_ok(), !is_taken, "{document}");
        }
    }
}

#[test]
fn what_the_reader_takes_is_valid_and_what_it_refuses_for_its_type_is_not() {
    // Rules between parts, which a schema does not know: names that must be declared, and what a name may hold.
    let between = [("Step", "synthetic"), ("Step", "fields"), ("top", "observation_fields")];
    let validator = validator();
    let mut faults = Vec::new();
    let mut tried = 0;
    for object in objects() {
        for key in &object.keys {
            for value in values() {
                let document = object.with(key, value);
                let valid = validator.is_valid(&document);
                let read = read_request(&document);
                let type_refused = read.as_ref().is_err_and(|error| {
                    matches!(error.code(), Code::RequestType | Code::RequestUnknownField | Code::BlockUnknownType)
                });
                let excused = between.contains(&(object.name.as_str(), key.as_str()));
                if (read.is_ok() && !valid) || (type_refused && valid && !excused) {
                    let words = read.map_or_else(|error| error.message().to_owned(), |()| "read".to_owned());
                    faults.push(format!("{document}: valid {valid}, but {words}"));
                }
                tried += 1;
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 500, "only {tried} documents");
}

#[test]
fn a_default_is_a_value_that_the_reader_takes() {
    let schema = schema();
    let mut faults = Vec::new();
    for object in objects() {
        let block = || {
            let blocks = schema["definitions"]["Block"]["oneOf"].as_array().expect("a list of blocks");
            blocks.iter().find(|block| block["properties"]["type"]["const"] == object.name.as_str())
        };
        let own = match object.name.as_str() {
            "top" => &schema,
            name => schema["definitions"].get(name).or_else(block).expect("it was found before"),
        };
        for (key, property) in own["properties"].as_object().expect("properties") {
            if let Some(default) = property.get("default") {
                let document = object.with(key, default.clone());
                let both = object.name == "Step" && key == "tool_calls";
                if let Err(error) = read_request(&document)
                    && !both
                {
                    faults.push(format!("{document}: {}", error.message()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
