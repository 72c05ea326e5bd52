//! The fixtures: every request beside its golden, every faulty request beside its error.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{assert_calm, assert_error_document, digest, files_under, polyloop, polyloop_with, read, root};
use serde_json::Value;

/// What is no case of its own.
const BESIDE: [&str; 2] = ["README.md", "batch/requests.jsonl"];

/// The cases, and a check that no file lies about unread.
struct Fixtures {
    /// Requests that stand beside their golden.
    requests: Vec<(PathBuf, PathBuf)>,
    /// Faulty requests that stand beside their error.
    faulty: Vec<(PathBuf, PathBuf)>,
    /// Requests that stand beside their manifest as well.
    manifests: Vec<(PathBuf, PathBuf)>,
}

impl Fixtures {
    fn find() -> Self {
        let folder = root().join("fixtures");
        // What is asked, run or linted, pairs to compare, recordings and chat templates have tests of their own.
        let others = ["context", "diff", "chat_templates", "import", "kernel", "lint", "providers", "trace"]
            .map(|name| folder.join(name));
        let is_ours = |path: &PathBuf| !others.iter().any(|other| path.starts_with(other));
        let mut unread: BTreeSet<PathBuf> = files_under(&folder).into_iter().filter(is_ours).collect();
        for name in BESIDE {
            assert!(unread.remove(&folder.join(name)), "there is no {name}");
        }
        let mut all = Fixtures { requests: Vec::new(), faulty: Vec::new(), manifests: Vec::new() };
        let is_request = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_answer = name == "error.json" || name.ends_with(".manifest.json");
            !is_answer && [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
        };
        for request in unread.clone().iter().filter(is_request) {
            let golden = request.with_extension("render.jsonl");
            let error = request.with_file_name("error.json");
            let (cases, answer) = match golden.exists() {
                true => (&mut all.requests, golden),
                false => (&mut all.faulty, error),
            };
            assert!(unread.remove(&answer), "{} has no answer of its own", request.display());
            unread.remove(request);
            cases.push((request.clone(), answer));
            for named in files_named_in(request) {
                unread.remove(&named);
            }
            let manifest = request.with_extension("manifest.json");
            if unread.remove(&manifest) {
                all.manifests.push((request.clone(), manifest));
            }
        }
        assert!(unread.is_empty(), "nobody reads {unread:?}");
        all
    }
}

/// The files that the fragments of a request name: `path: NAME` inside braces, as the fixtures write it.
fn files_named_in(request: &Path) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(&read(request)).into_owned();
    let names = text.split("{path: ").skip(1).filter_map(|rest| rest.split([',', '}']).next());
    names.map(|name| request.with_file_name(name)).collect()
}

/// The path as the binary is given it, and as it shows it.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).expect("a fixture lies in the repository").display().to_string()
}

#[test]
fn requests_give_their_goldens() {
    let cases = Fixtures::find().requests;
    cases.iter().for_each(|(request, golden)| check_request(&shown(request), &read(golden)));
    eprintln!("{} requests", cases.len());
    assert!(cases.len() > 20, "only {} requests", cases.len());
}

fn check_request(request: &str, golden: &[u8]) {
    let json = polyloop(["render", request, "--format", "json"]);
    let document = json.json();
    assert_eq!(document["schema"], "polyloop.render/1", "{request}");
    assert_eq!(document["digest"], digest(golden), "{request}");
    assert_calm(json.text());

    let exit = exit_of(&document["budget"]["verdict"]);
    json.exits(exit);
    let jsonl = polyloop(["render", request, "--format", "jsonl"]);
    jsonl.exits(exit);
    assert!(jsonl.stdout == golden, "{request} gives\n{}", String::from_utf8_lossy(&jsonl.stdout));

    let yaml = polyloop(["render", request, "--format", "yaml"]);
    yaml.exits(exit);
    let back = polyloop_with(["render", "-", "--format", "jsonl"], &yaml.stdout);
    back.exits(0);
    let messages = without_tools(golden);
    assert!(back.stdout == messages, "{request} as YAML reads back as\n{}", String::from_utf8_lossy(&back.stdout));

    for summary in [None, Some("--summary")] {
        let view = polyloop(["render", request].into_iter().chain(summary));
        view.exits(exit);
        assert_calm(view.text());
        assert!(view.text().contains(&digest(golden)), "{request}: no digest in the view");
        assert_eq!(view.stderr, "", "{request}");
    }
}

fn exit_of(verdict: &Value) -> i32 {
    match verdict.as_str() {
        Some("context_overflow") => 3,
        Some("unknown") => 1,
        Some("fits" | "unset") => 0,
        other => panic!("{other:?} is no verdict"),
    }
}

#[test]
fn requests_give_their_manifests() {
    let cases = Fixtures::find();
    let with_fragments: Vec<&PathBuf> = cases
        .requests
        .iter()
        .map(|(request, _)| request)
        .filter(|request| request.starts_with(root().join("fixtures/fragments")))
        .collect();
    let with_manifest: Vec<&PathBuf> = cases.manifests.iter().map(|(request, _)| request).collect();
    assert_eq!(with_fragments, with_manifest, "every request with fragments has its manifest in full");
    assert!(cases.manifests.len() > 20, "only {} manifests", cases.manifests.len());
    cases.manifests.iter().for_each(|(request, manifest)| check_manifest(&shown(request), &read(manifest)));
}

fn check_manifest(request: &str, expected: &[u8]) {
    let json = polyloop(["manifest", request, "--format", "json"]);
    let document = json.json();
    let exit = exit_of(&document["verdict"]);
    json.exits(exit);
    assert_calm(json.text());
    assert!(json.stdout == expected, "{request} gives the manifest\n{}", json.text());

    let yaml = polyloop(["manifest", request, "--format", "yaml"]);
    yaml.exits(exit);
    assert_calm(yaml.text());
    let value: Value = serde_yaml::from_str(yaml.text()).expect("the manifest is YAML");
    assert_eq!(value, document, "{request}: YAML says something else");

    let render = polyloop(["render", request, "--format", "json"]);
    assert_eq!(render.json()["manifest"], document, "{request}: the render embeds another manifest");
    assert_eq!(render.json()["digest"], document["digest"], "{request}");

    for shown in [None, Some("--show-content")] {
        let view = polyloop(["manifest", request].into_iter().chain(shown));
        view.exits(exit);
        assert_calm(view.text());
        let id = document["context_id"].as_str().expect("a manifest has an id");
        assert!(view.text().contains(id), "{request}: no id in the view");
        assert_eq!(view.stderr, "", "{request}");
    }
}

/// Tools are no messages: the YAML list does not hold them.
fn without_tools(stream: &[u8]) -> &[u8] {
    match stream.starts_with(b"{\"tools\":") {
        true => &stream[stream.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1)..],
        false => stream,
    }
}

#[test]
fn faulty_requests_give_their_errors() {
    let cases = Fixtures::find().faulty;
    let faults: Vec<String> =
        cases.iter().filter_map(|(request, error)| check_fault(&shown(request), error).err()).collect();
    eprintln!("{} faulty requests", cases.len());
    assert!(cases.len() > 40, "only {} faulty requests", cases.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn check_fault(request: &str, error: &Path) -> Result<(), String> {
    let name = error.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    assert!(name.starts_with("err_"), "{name} has an error but not the name of one");
    let wanted: Value = serde_json::from_slice(&read(error)).expect("an error file is JSON");

    let plain = polyloop(["render", request]);
    let exit = if wanted["code"] == "budget.required_exceeds" { 3 } else { 2 };
    plain.exits(exit);
    assert_eq!(plain.stdout, b"", "{request}: something reached stdout");
    let json = polyloop(["render", request, "--format", "json"]);
    json.exits(exit);
    assert_calm(json.text());
    assert_eq!(json.stderr, plain.stderr, "{request}: the words depend on the format");

    let document = json.json();
    assert_error_document(&document);
    assert_eq!(document["source"], request);
    if let (Some(line), Some(column)) = (document["line"].as_u64(), document["column"].as_u64()) {
        let start = format!("polyloop: {request}:{line}:{column}: ");
        assert!(plain.stderr.starts_with(&start), "{:?} does not start with {start:?}", plain.stderr);
        let (lines, columns) = extent(request, line);
        assert!(line <= lines && column <= columns + 1, "{request} has no {line}:{column}");
    }
    assert_eq!(plain.stderr.contains("\nhint: "), !document["hint"].is_null(), "{:?}", plain.stderr);

    let wanted = wanted.as_object().expect("an error file is an object");
    let wrong: Vec<String> = wanted
        .iter()
        .filter(|&(key, value)| (!value.is_null() || key == "code") && document[key] != *value)
        .map(|(key, value)| format!("{key} is {}, not {value}", document[key]))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{name}: {}", wrong.join(", "))) }
}

/// How many lines a file has, and how many characters one of them.
fn extent(request: &str, line: u64) -> (u64, u64) {
    let bytes = fs::read(root().join(request)).expect("a fixture can be read");
    let text = String::from_utf8_lossy(&bytes);
    let columns = text.split('\n').nth(line as usize - 1).map_or(0, |line| line.chars().count());
    (text.split('\n').count() as u64, columns as u64)
}
