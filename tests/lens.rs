//! What a provider or a chat template makes of a message list.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use polyloop::provider::{Shape, lens};
use polyloop::read::{self, As, Format, Input};
use polyloop::write::{LensView, Look};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

const FOLDER: &str = "fixtures/providers/lens";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn polyloop(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_polyloop")).args(args).current_dir(root()).output().unwrap()
}

fn seen(input: &str, lens: &str) -> Value {
    let out = polyloop(&["render", &format!("{FOLDER}/{input}"), "--lens", lens, "--format", "json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Of each message that is seen: its role, whether it was hoisted, what it is made of.
fn shape_of(seen: &Value) -> Vec<(String, bool, Vec<u64>)> {
    let messages = seen["messages"].as_array().unwrap().iter();
    let indices = |from: &Value| from.as_array().unwrap().iter().map(|index| index.as_u64().unwrap()).collect();
    let one =
        |seen: &Value| (seen["role"].as_str().unwrap().to_owned(), seen["hoisted"] == true, indices(&seen["from"]));
    messages.map(one).collect()
}

fn is(role: &str, hoisted: bool, from: &[u64]) -> (String, bool, Vec<u64>) {
    (role.to_owned(), hoisted, from.to_vec())
}

fn boundaries(seen: &Value) -> Vec<[u64; 2]> {
    let vanished = seen["vanished"].as_array().unwrap().iter();
    vanished.map(|one| [one["before"].as_u64().unwrap(), one["behind"].as_u64().unwrap()]).collect()
}

#[test]
fn an_interface_with_system_messages_sees_every_boundary() {
    for lens in ["openai", "responses"] {
        let seen = seen("system_and_users.json", lens);
        assert_eq!(shape_of(&seen).len(), 6, "{lens}");
        assert_eq!(seen["vanished"], json!([]), "{lens}");
        assert!(shape_of(&seen).iter().all(|(_, hoisted, _)| !hoisted));
    }
}

#[test]
fn users_in_a_row_are_one_turn_for_some() {
    let anthropic = seen("system_and_users.json", "anthropic");
    let expected = [
        is("system", true, &[0]),
        is("user", false, &[1, 2]),
        is("system", false, &[3]),
        is("assistant", false, &[4]),
        is("user", false, &[5]),
    ];
    assert_eq!(shape_of(&anthropic), expected, "a system message further down is seen there");
    assert_eq!(boundaries(&anthropic), [[1, 2]]);

    let bedrock = seen("system_and_users.json", "bedrock");
    let expected = [
        is("system", true, &[0, 3]),
        is("user", false, &[1, 2]),
        is("assistant", false, &[4]),
        is("user", false, &[5]),
    ];
    assert_eq!(shape_of(&bedrock), expected);
    assert_eq!(boundaries(&bedrock), [[1, 2], [0, 3]]);

    let gemini = seen("system_and_users.json", "gemini");
    assert_eq!(boundaries(&gemini), [[0, 3]], "contents of one role stay apart");
    let roles: Vec<String> = shape_of(&gemini).into_iter().map(|(role, ..)| role).collect();
    assert_eq!(roles, ["system", "user", "user", "model", "user"]);
}

#[test]
fn results_of_parallel_calls_are_one_message_for_some() {
    assert_eq!(boundaries(&seen("calls.json", "openai")), [] as [[u64; 2]; 0]);
    let gemini = seen("calls.json", "gemini");
    assert_eq!(boundaries(&gemini), [[3, 4]], "what the user says behind them is a content of its own");
    let anthropic = seen("calls.json", "anthropic");
    assert_eq!(boundaries(&anthropic), [[3, 4], [4, 5]]);
    // Names and arguments of the calls count, and results.
    assert_eq!(anthropic["messages"][2]["chars"], 7 + "read_log{}".len() + "sound_hull{}".len());
    assert_eq!(anthropic["messages"][3]["chars"], 13 + 15 + 5);
}

#[test]
fn a_template_merges_and_drops() {
    let merging = seen("demonstrations.yaml", "fixtures/providers/templates/merging.jinja");
    assert_eq!(shape_of(&merging), [is("system", false, &[0]), is("user", false, &[1, 2])]);
    assert_eq!(boundaries(&merging), [[1, 2]]);
    assert_eq!(merging["dropped"], json!([]));

    let dropping = seen("demonstrations.yaml", "fixtures/providers/templates/no_system.jinja");
    assert_eq!(dropping["dropped"], json!([0]));
    assert_eq!(shape_of(&dropping), [is("user", false, &[1]), is("user", false, &[2])]);
    assert_eq!(dropping["vanished"], json!([]));
}

/// Long names, long paths and wide characters: no line is wider than what there is.
#[test]
fn no_line_is_wider_than_the_columns() {
    let text = r#"{"messages": [
        {"role": "系统系统系统系统", "content": "a"},
        {"role": "system", "content": "b"}, {"role": "user", "content": "c"}, {"role": "user", "content": "d"}]}"#;
    let taken = As { shape: Some(Shape::Anthropic), call: None };
    let Ok(Input::Recorded(recorded)) = read::read_as(text, Some(Format::Json), taken) else { panic!("it is a body") };
    let source = format!("{}/\u{1b}[31m.json", "日志".repeat(60));
    for shape in Shape::ALL {
        let mut seen = lens(&recorded.context, shape);
        seen.dropped = vec![3];
        for columns in [60, 80, 120] {
            let mut out = Vec::new();
            let look = Look { columns: Some(columns), ..Look::default() };
            LensView::new(&source, shape.as_str(), &seen, &recorded.context).write(&look, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.width() <= columns), "{shape} at {columns}:\n{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
    }
}

/// The view of every case lies beside it as `INPUT.LENS.txt`; LENS is a provider, or a template of the next folder.
#[test]
fn the_view_is_as_expected_and_fits_its_columns() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(root().join(FOLDER)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some((input, lens)) = name.strip_suffix(".txt").and_then(|name| name.rsplit_once('.')) else { continue };
        count += 1;
        let template = format!("fixtures/providers/templates/{lens}.jinja");
        let lens = if Path::new(&template).exists() { &template } else { lens };
        let out = polyloop(&["render", &format!("{FOLDER}/{input}"), "--lens", lens]);
        let got = String::from_utf8(out.stdout).unwrap();
        if std::env::var_os("POLYLOOP_WRITE_EXPECTED").is_some() {
            fs::write(&path, &got).unwrap();
        }
        if fs::read_to_string(&path).unwrap() != got {
            wrong.push(format!("{name}:\n{got}"));
        }
        let longest = got.lines().map(|line| line.chars().count()).max().unwrap();
        if longest > 80 && !lens.contains('/') {
            wrong.push(format!("{name}: a line of {longest} columns"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 6, "only {count} views were compared");
}

#[test]
fn what_does_not_go_with_a_lens_is_said() {
    let input = format!("{FOLDER}/calls.json");
    let out = polyloop(&["render", &input, "--lens", "anthropic", "--format", "openai"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("--lens goes with --format text or json"));
    let out = polyloop(&["render", &input, "--lens", "fixtures/providers/templates/none.jinja"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("none.jinja"));
}
