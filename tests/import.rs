//! Recordings become run requests that give their bytes back.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Ran, assert_calm, assert_error_document, digest, files_under, polyloop, polyloop_with, read, root};
use serde_json::{Value, json};

/// The folders of the fixtures, as the binary is given them.
fn cases() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = files_under(&root().join("fixtures/import"))
        .iter()
        .filter_map(|file| file.parent()?.strip_prefix(root()).ok().map(Path::to_owned))
        .collect();
    folders.dedup();
    assert!(folders.len() > 15, "only {} recordings", folders.len());
    folders
}

fn import(folder: &Path, more: &[&str]) -> Ran {
    let messages = folder.join("messages.json").display().to_string();
    let injections = folder.join("injections.yaml");
    let mut args = vec!["import".to_owned(), messages];
    if root().join(&injections).exists() {
        args.extend(["--injections".to_owned(), injections.display().to_string()]);
    }
    args.extend(more.iter().map(|word| (*word).to_owned()));
    polyloop(args)
}

/// The canonical stream of a recording that holds texts alone, spelled by serde_json; of others by polyloop.
fn stream(messages: &Value, path: &str) -> Vec<u8> {
    let mut stream = String::new();
    for message in messages.as_array().expect("a list of messages") {
        let block = |text: &Value| format!("{{\"type\":\"text\",\"text\":{text}}}");
        let blocks: Option<Vec<String>> = match &message["content"] {
            Value::Array(blocks) => {
                blocks.iter().map(|it| (it["type"] == "text").then(|| block(&it["text"]))).collect()
            }
            text => Some(vec![block(text)]),
        };
        let Some(blocks) = blocks else { return polyloop(["render", path, "-f", "jsonl"]).exits(0).stdout.clone() };
        stream += &format!("{{\"role\":{},\"content\":[{}]}}\n", message["role"], blocks.join(","));
    }
    stream.into_bytes()
}

fn parsed(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&read(path)).expect("recorded messages are JSON")
}

#[test]
fn recordings_become_the_requests_beside_them() {
    for folder in cases() {
        let name = folder.display();
        let ran = import(&folder, &[]);
        ran.exits(0);
        assert_eq!(ran.text(), String::from_utf8_lossy(&read(root().join(folder.join("request.yaml")))), "{name}");
        assert_eq!(ran.stderr, String::from_utf8_lossy(&read(root().join(folder.join("said.txt")))), "{name}");
        assert_calm(&ran.stderr);
        assert_calm(ran.text());
    }
}

#[test]
fn what_is_imported_gives_the_bytes_of_the_recording() {
    for folder in cases() {
        let path = folder.join("messages.json").display().to_string();
        let wanted = stream(&parsed(root().join(&path)), &path);
        for format in ["yaml", "json"] {
            let ran = import(&folder, &["--format", format]);
            assert!(ran.exits(0).stderr.contains(&digest(&wanted)), "{path}: {}", ran.stderr);
            let back = polyloop_with(["render", "-", "-f", "jsonl"], &ran.stdout);
            assert!(back.exits(0).stdout == wanted, "{path} as {format}:\n{}", ran.text());
        }
    }
}

#[test]
fn both_formats_say_the_same() {
    for folder in cases() {
        let yaml = import(&folder, &[]);
        let json = import(&folder, &["-f", "json"]);
        assert_calm(json.text());
        let theirs: Value = serde_yaml::from_str(yaml.text()).expect("YAML that others read");
        assert_eq!(theirs, json.json(), "{}", folder.display());
    }
}

/// The runs recorded elsewhere, each beside the request that was made of it by hand.
#[test]
fn recorded_runs_have_as_many_steps_as_by_hand() {
    let folder = root().join("../shared/cases/real");
    if !folder.exists() {
        eprintln!("skipped: there is no corpus real");
        return;
    }
    let ending = ".expected.json";
    let runs: Vec<String> = files_under(&folder)
        .iter()
        .map(|path| path.display().to_string())
        .filter(|path| path.ends_with(ending))
        .collect();
    assert!(!runs.is_empty(), "there are no recorded runs");
    let mut fewer = Vec::new();
    for path in &runs {
        let ran = polyloop(["import", path, "-f", "json"]);
        let back = polyloop_with(["render", "-", "-f", "jsonl"], &ran.exits(0).stdout);
        assert!(back.exits(0).stdout == stream(&parsed(path), path), "{path}");
        let steps = |request: &Value| request["trajectory"].as_array().map_or(0, Vec::len);
        let by_hand = parsed(path.replace(ending, ".request.json"));
        if steps(&ran.json()) < steps(&by_hand) {
            fewer.push(path);
        }
    }
    assert!(fewer.is_empty(), "fewer steps than by hand in {fewer:?}");
}

#[test]
fn a_request_is_no_recording() {
    let ran = polyloop(["import", "fixtures/minimal/request.yaml"]);
    assert!(ran.fails().stderr.contains("this is a run request already"), "{}", ran.stderr);
}

/// What no request can say is refused by name, and nothing is written.
#[test]
fn what_no_request_gives_is_an_error() {
    let mut deep = json!({});
    for _ in 0..95 {
        deep = json!({ "a": deep });
    }
    let user = |block: Value| json!([{"role": "user", "content": [block]}]);
    let tool_use = json!({"type": "tool_use", "id": "1", "name": "n", "input": deep});
    for (messages, path, word) in [
        (json!([{"role": "user", "content": "a"}, {"role": "critic", "content": "b"}]), "messages[1]", "\"critic\""),
        (user(json!({"type": "image", "source": {}})), "messages[0].content[0]", "chars"),
        (user(json!({"type": "audio", "data": ""})), "messages[0].content[0]", "opaque"),
        (
            user(json!({"type": "tool_result", "tool_use_id": "1", "content": [{"type": "image", "source": {}}]})),
            "messages[0].content[0]",
            "chars",
        ),
        (user(tool_use), "", "no run request was found"),
    ] {
        let recording = messages.to_string();
        polyloop_with(["render", "-", "-f", "digest"], recording.as_bytes()).exits(0);
        let ran = polyloop_with(["import", "-"], recording.as_bytes());
        assert!(ran.fails().stderr.contains(word), "{}", ran.stderr);
        let document = polyloop_with(["import", "-", "-f", "json"], recording.as_bytes()).exits(2).json();
        assert_error_document(&document);
        assert_eq!(document["code"], "import.unfaithful", "{document}");
        assert_eq!(document["path"].as_str().unwrap_or_default(), path, "{document}");
    }
}

#[test]
fn injections_that_are_no_entries_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("entries.yaml");
    let path = file.to_str().expect("UTF-8");
    for (text, word) in [
        ("skills: [{content: a}]", "entry_id is missing"),
        ("- a", "injections must be a map"),
        ("skills: [{entry_id: a, content: b, contents: c}]", "unknown key"),
        ("skills: [", ""),
    ] {
        fs::write(&file, text).expect("a file can be written");
        let ran = polyloop(["import", "fixtures/import/injections/messages.json", "--injections", path]);
        assert!(ran.fails().stderr.contains(word), "{}", ran.stderr);
        assert!(ran.stderr.contains("entries.yaml"), "{}", ran.stderr);
    }
}

/// A whole `injections:` key does as well as what stands under it.
#[test]
fn injections_may_stand_under_their_key() {
    let folder = Path::new("fixtures/import/injections");
    let inner = String::from_utf8(read(root().join(folder).join("injections.yaml"))).expect("UTF-8");
    let outer = inner.lines().fold("injections:\n".to_owned(), |all, line| format!("{all}  {line}\n"));
    let path = folder.join("messages.json").display().to_string();
    let ran = polyloop_with(["import", &path, "--injections", "-"], outer.as_bytes());
    assert_eq!(ran.exits(0).stdout, import(folder, &[]).stdout);
}

#[test]
fn the_output_is_written_to_a_file_and_never_over_what_is_read() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let recording = folder.path().join("messages.json");
    fs::copy(root().join("fixtures/import/react/messages.json"), &recording).expect("a file can be copied");
    let before = read(&recording);
    let path = recording.to_str().expect("UTF-8");
    polyloop(["import", path, "-o", path]).fails();
    let injections = folder.path().join("none.yaml");
    fs::write(&injections, "{}").expect("a file can be written");
    let none = injections.to_str().expect("UTF-8");
    polyloop(["import", path, "--injections", none, "-o", none]).fails();
    assert_eq!((read(&recording), read(&injections)), (before, b"{}".to_vec()));

    let request = folder.path().join("react.yaml");
    let ran = polyloop(["import", path, "-o", request.to_str().expect("UTF-8")]);
    assert!(ran.exits(0).stdout.is_empty());
    assert_eq!(read(&request), read(root().join("fixtures/import/react/request.yaml")));
    polyloop(["import", "-", "--injections", "-"]).fails();
}

/// How a team begins: record, import, check.
#[test]
fn an_import_is_green_from_the_start() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let in_folder = |name: &str| folder.path().join(name).display().to_string();
    let recording = in_folder("run.render.json");
    fs::copy(root().join("fixtures/import/shell/messages.json"), &recording).expect("a file can be copied");
    polyloop(["import", &recording, "-o", &in_folder("run.yaml")]).exits(0);
    polyloop(["check", &in_folder("")]).exits(0);
}
