//! What is found under a folder, and what becomes of it: one row a scenario.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{OTHER, OTHER_STREAM, REQUEST, STREAM, Tree, common};

/// Something to lay into the folder.
enum Put {
    File(&'static str, &'static str),
    Bytes(&'static str, &'static [u8]),
    Folder(&'static str),
    /// A symbolic link: its name, and where it leads.
    Link(&'static str, &'static str),
    /// Another name for a file.
    Hard(&'static str, &'static str),
}
use Put::{Bytes, File, Folder, Hard, Link};

struct Case {
    what: &'static str,
    puts: &'static [Put],
    paths: &'static [&'static str],
    exit: i32,
    /// In order: `NAME STATUS`, or `NAME error CODE`.
    results: &'static [&'static str],
    /// Files passed over, and codes of warnings.
    skipped: u64,
    warnings: &'static [&'static str],
}

const GOOD: [Put; 2] = [File("good.yaml", REQUEST), File("good.render.jsonl", STREAM)];
const TOOLS: &str = "{\"tools\":[{\"name\":\"t\"}]}\n";
const NO_WARNING: &[&str] = &[];

/// A row without warnings and files passed over, checked from the folder itself.
const fn case(what: &'static str, exit: i32, results: &'static [&'static str], puts: &'static [Put]) -> Case {
    Case { what, puts, paths: &[], exit, results, skipped: 0, warnings: NO_WARNING }
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("a request and its golden", 0, &["good.yaml identical"], &GOOD),
    case("nothing at all", 2, &[". error input.shape"], &[]),
    case("folders without files", 2, &[". error input.shape"], &[Folder("a/b")]),
    Case { paths: &["nowhere"], ..case("a path that is not there", 2, &["nowhere error io.read"], &GOOD) },
    Case {
        paths: &["good.yaml", "nowhere", "."],
        ..case("a missing path among good ones", 2, &["good.yaml identical", "nowhere error io.read"], &GOOD)
    },
    Case {
        paths: &["full", "empty"],
        ..case("one of two folders is empty", 2, &["full/a.yaml identical", "empty error input.shape"],
            &[File("full/a.yaml", REQUEST), File("full/a.render.jsonl", STREAM), Folder("empty")])
    },
    Case {
        paths: &[".", "good.yaml", "./good.yaml"],
        ..case("one request under three paths", 0, &["good.yaml identical"], &GOOD)
    },
    case("no golden", 2, &["a.yaml missing"], &[File("a.yaml", REQUEST)]),
    case("a golden without a request", 2, &["a.render.jsonl orphaned", ". error input.shape"],
        &[File("a.render.jsonl", STREAM)]),
    case("a golden without a request beside a good pair", 1, &["b.render.jsonl orphaned", "c.yaml identical"],
        &[File("b.render.jsonl", OTHER_STREAM), File("c.yaml", REQUEST), File("c.render.jsonl", STREAM)]),
    case("a golden of 0 bytes", 1, &["a.yaml different"], &[File("a.yaml", REQUEST), File("a.render.jsonl", "")]),
    Case {
        warnings: &["golden.empty"],
        ..case("nothing against nothing", 0, &["a.yaml identical"], &[File("a.yaml", "{}"), File("a.render.jsonl", "")])
    },
    Case {
        warnings: &["golden.empty"],
        ..case("a list of nothing", 0, &["a.yaml identical"], &[File("a.yaml", "{}"), File("a.render.json", "[]")])
    },
    Case {
        warnings: &["golden.repeated"],
        ..case("two goldens with the same bytes", 0, &["a.yaml identical", "b.yaml identical"],
            &[File("a.yaml", REQUEST), File("a.render.jsonl", STREAM), File("b.yaml", REQUEST), File("b.render.jsonl", STREAM)])
    },
    Case {
        warnings: &["golden.empty", "golden.empty"],
        ..case("two goldens of 0 bytes", 0, &["a.yaml identical", "b.yaml identical"],
            &[File("a.yaml", "{}"), File("a.render.jsonl", ""), File("b.yaml", "{}"), File("b.render.jsonl", "")])
    },
    case("a provider's body as golden", 0, &["a.yaml identical"],
        &[File("a.yaml", "goal: [{role: user, content: Go}]"),
            File("a.render.json", r#"{"model":"m","messages":[{"role":"user","content":"Go"}]}"#)]),
    Case {
        warnings: &["golden.unmodelled"],
        ..case("a body that holds more than is compared", 0, &["a.yaml identical"],
            &[File("a.yaml", "goal: [{role: user, content: Go}]"),
                File("a.render.json", r#"{"messages":[{"role":"user","content":"Go","name":"mate"}]}"#)])
    },
    case("a body of another conversation", 1, &["a.yaml different"],
        &[File("a.yaml", "goal: [{role: user, content: Go}]"),
            File("a.render.json", r#"{"contents":[{"role":"user","parts":[{"text":"Stop"}]}]}"#)]),
    case("a log as golden", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", "goal: [{role: user, content: Go}]"),
            File("a.render.jsonl", "{\"request\":{\"messages\":[{\"role\":\"user\",\"content\":\"Go\"}]}}\n")]),
    case("the golden is the request, by a symbolic link", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", REQUEST), Link("a.render.jsonl", "a.yaml")]),
    case("the golden is the request, by a hard link", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", REQUEST), Hard("a.render.jsonl", "a.yaml")]),
    // The one kind of request that is its own canonical stream.
    case("a request that holds what it gives, and its golden", 0, &["a.json identical"],
        &[File("a.json", TOOLS), File("a.render.jsonl", TOOLS)]),
    case("its golden is that request, by a symbolic link", 2, &["a.json error input.shape"],
        &[File("a.json", TOOLS), Link("a.render.jsonl", "a.json")]),
    case("its golden is that request, by a hard link", 2, &["a.json error input.shape"],
        &[File("a.json", TOOLS), Hard("a.render.jsonl", "a.json")]),
    case("the request is the golden, by a symbolic link", 2, &["a.json error input.shape"],
        &[File("a.render.json", "[]"), Link("a.json", "a.render.json")]),
    case("the golden is another request, by a hard link", 2, &["a.yaml error input.shape", "b.yaml missing"],
        &[File("a.yaml", REQUEST), File("b.yaml", REQUEST), Hard("a.render.yaml", "b.yaml")]),
    case("two requests for one golden", 2, &["a.json error input.shape", "a.yaml error input.shape"],
        &[File("a.json", REQUEST), File("a.yaml", REQUEST), File("a.render.jsonl", STREAM)]),
    case("two requests for no golden", 2, &["a.json error input.shape", "a.yml error input.shape"],
        &[File("a.json", REQUEST), File("a.yml", REQUEST)]),
    Case {
        skipped: 1,
        ..case("a request and data of the same name", 2, &["a.yaml missing"],
            &[File("a.json", "{\"a\": 1}"), File("a.yaml", REQUEST)])
    },
    case("two goldens for one request", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", REQUEST), File("a.render.jsonl", STREAM), File("a.render.json", "[]")]),
    case("a golden that is a run request", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", REQUEST), File("a.render.yaml", OTHER)]),
    case("a stream that is a run request", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", REQUEST), File("a.render.jsonl", REQUEST)]),
    case("a golden that is neither", 2, &["a.yaml error input.shape"],
        &[File("a.yaml", REQUEST), File("a.render.jsonl", "{\"a\":1}\n")]),
    case("a golden with the marks of a merge", 2, &["a.yaml error request.syntax"],
        &[File("a.yaml", REQUEST), File("a.render.jsonl", "<<<<<<< HEAD\n=======\n>>>>>>> other\n")]),
    case("a golden cut short", 2, &["a.yaml error request.syntax"],
        &[File("a.yaml", REQUEST), File("a.render.jsonl", "{\"role\":\"user\",\"content\":[{\"type\":\"text\"")]),
    case("faulty ones among good ones", 2, &[
            "1.yaml error request.encoding", "2.yaml error io.read", "3.yaml error io.read", "4.yaml error io.read",
            "5.yaml error io.read", "6.yaml error request.encoding", "7.yaml error request.unknown_field",
            "8.yaml error request.type", "good.yaml identical",
        ], &[
            Bytes("1.yaml", b"goal: \"\xff\""),
            Folder("2.yaml"),
            Link("3.yaml", "nowhere.yaml"),
            File("4.yaml", REQUEST), Folder("4.render.jsonl"),
            File("5.yaml", REQUEST), Link("5.render.jsonl", "nowhere"),
            File("6.yaml", REQUEST), Bytes("6.render.jsonl", b"{\"role\":\"\xff\"}\n"),
            File("7.yaml", "{goals: [], goal: []}"),
            File("8.yaml", ""),
            File("good.yaml", REQUEST), File("good.render.jsonl", STREAM),
        ]),
    Case {
        paths: &["tree"],
        ..case("symbolic links that lead out of the tree", 2,
            &["tree/a.yaml error io.read", "tree/b.yaml error io.read", "tree/c.yaml identical", "tree/d.yaml identical"], &[
            File("a.yaml", REQUEST), Folder("tree"), Link("tree/a.yaml", "../a.yaml"), File("tree/a.render.jsonl", STREAM),
            File("b.jsonl", STREAM), File("tree/b.yaml", REQUEST), Link("tree/b.render.jsonl", "../b.jsonl"),
            File("tree/c.yaml", REQUEST), File("tree/c.render.jsonl", STREAM),
            File("tree/.d.yaml", OTHER), Link("tree/d.yaml", ".d.yaml"), File("tree/d.render.jsonl", OTHER_STREAM),
        ])
    },
    Case {
        warnings: &["check.folder_link"],
        ..case("a symbolic link to a folder is not entered", 0, &["good.yaml identical"], &[
            File("good.yaml", REQUEST), File("good.render.jsonl", STREAM), File(".other/bad.yaml", REQUEST),
            Link("link", ".other"),
        ])
    },
    Case {
        paths: &["link"],
        ..case("a symbolic link to a folder that is named is entered", 2, &["link/a.yaml missing"],
            &[File("other/a.yaml", REQUEST), Link("link", "other")])
    },
    case("hidden entries are passed over", 2, &[". error input.shape"],
        &[File(".a.yaml", REQUEST), File(".b/c.yaml", REQUEST), File(".d.render.jsonl", STREAM)]),
    Case {
        paths: &[".b", ".a.yaml"],
        ..case("hidden entries that are named are not", 2, &[".b/c.yaml missing", ".a.yaml identical"],
            &[File(".a.yaml", REQUEST), File(".b/c.yaml", REQUEST), File(".a.render.jsonl", STREAM)])
    },
    case("names in the order of their bytes", 2,
        &["B.yaml missing", "a/z.yaml missing", "a-b.yaml missing", "a.b.yaml identical", "a.json missing", "b.yml missing"], &[
            File("b.yml", REQUEST), File("a.json", REQUEST), File("B.yaml", REQUEST), File("a-b.yaml", REQUEST),
            File("a.b.yaml", REQUEST), File("a.b.render.jsonl", STREAM), File("a/z.yaml", REQUEST),
        ]),
    Case {
        skipped: 5,
        ..case("what is no request", 2, &["a.yaml missing"], &[
            File("a.yaml", "{metadata: {a: 1}}"),
            File("b.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a}}"),
            File("c.json", "{\"$schema\": \"https://example.org\", \"compilerOptions\": {}}"),
            File("d.json", "[{\"role\": \"user\", \"content\": \"a\"}]"),
            File("e.yaml", "{}"), File("f.render.old.yaml", REQUEST), File("g.txt", REQUEST), File("h.jsonl", STREAM),
        ])
    },
    case("a faulty request is not passed over", 2, &["a.yaml error request.unknown_field", "b.yaml error request.type"],
        &[File("a.yaml", "{goal: [], gaol: []}"), File("b.yaml", "just text")]),
    case("data with a golden is a faulty request", 2, &["a.yaml error request.unknown_field"],
        &[File("a.yaml", "{a: 1}"), File("a.render.jsonl", STREAM)]),
    case("lists of messages recorded by other code", 1,
        &["a.yaml identical", "b.yaml identical", "c.yaml different"], &[
            File("a.yaml", REQUEST), File("a.render.json", "[ {\"content\": \"Name a prime.\", \"role\": \"user\"} ]"),
            File("b.yaml", OTHER), File("b.render.yml", "- {role: system, content: Be brief.}\n- role: user\n  content: Caf\u{e9}?\n"),
            File("c.yaml", REQUEST), File("c.render.yaml", "[{role: user, content: Name a prime}]"),
        ]),
];

fn lay(tree: &Tree, put: &Put) {
    let parent = |name: &str| fs::create_dir_all(tree.join(name).parent().unwrap_or(Path::new(""))).expect("a folder");
    match put {
        File(name, content) => drop(tree.file(name, content)),
        Bytes(name, content) => drop(tree.file(name, content)),
        Folder(name) => fs::create_dir_all(tree.join(name)).expect("a folder can be made"),
        Link(name, target) => {
            parent(name);
            std::os::unix::fs::symlink(target, tree.join(name)).expect("a link can be made");
        }
        Hard(name, target) => fs::hard_link(tree.join(target), tree.join(name)).expect("a link can be made"),
    }
}

#[test]
fn scenarios() {
    for case in CASES {
        let tree = Tree::new();
        case.puts.iter().for_each(|put| lay(&tree, put));
        let before = tree.snapshot();
        let args: Vec<&str> = case.paths.iter().copied().chain(["--format", "json"]).collect();
        let ran = tree.check(&args);
        assert_eq!(ran.code, Some(case.exit), "{}: {} {}", case.what, ran.text(), ran.stderr);
        check_document(case, &ran.json());
        let text = tree.check(case.paths);
        assert_eq!(text.code, Some(case.exit), "{}: {}", case.what, text.text());
        common::assert_calm(text.text());
        // An error is told in full, whatever else there is.
        assert_eq!(
            text.stderr.is_empty(),
            !case.results.iter().any(|result| result.contains(" error ")),
            "{}",
            case.what
        );
        assert_eq!(tree.snapshot(), before, "{}: a check wrote something", case.what);
    }
    eprintln!("{} scenarios", CASES.len());
}

fn check_document(case: &Case, document: &Value) {
    let what = case.what;
    assert_eq!(document["schema"], "polyloop.check/1", "{what}");
    assert_eq!(document["tool_version"], env!("CARGO_PKG_VERSION"), "{what}");
    let results = document["results"].as_array().expect("results are a list");
    let told: Vec<String> = results.iter().map(|result| tell(what, result)).collect();
    assert_eq!(told, case.results, "{what}");
    assert_eq!(document["skipped"], case.skipped, "{what}");
    let codes: Vec<&str> = document["warnings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect();
    assert_eq!(codes, case.warnings, "{what}");
    for (key, status) in [
        ("identical", "identical"),
        ("different", "different"),
        ("missing", "missing"),
        ("orphaned", "orphaned"),
        ("errors", "error"),
    ] {
        let count = results.iter().filter(|result| result["status"] == status).count();
        assert_eq!(document[key], count, "{what}: {key}");
    }
    let requests = results.iter().filter(|result| !result["request"].is_null());
    assert_eq!(document["checked"], requests.count(), "{what}");
    let compared = results.iter().filter(|result| ["identical", "different"].iter().any(|s| result["status"] == *s));
    let bytes: u64 = compared.map(|result| result["bytes"].as_u64().expect("bytes were compared")).sum();
    assert_eq!(document["compared_bytes"], bytes, "{what}");
}

/// A result in short, after a look at what goes with its status.
fn tell(what: &str, result: &Value) -> String {
    let status = result["status"].as_str().expect("a status");
    let has = |key: &str| !result[key].is_null();
    match status {
        "identical" => assert!(result["digest"] == result["golden_digest"] && has("digest"), "{what}: {result}"),
        "different" => {
            assert!(result["digest"] != result["golden_digest"] && has("golden_digest"), "{what}: {result}");
            assert!(
                has("first_difference") && result["classes"].as_array().is_some_and(|c| !c.is_empty()),
                "{what}: {result}"
            );
        }
        "missing" => assert!(has("digest") && !has("golden_digest") && !has("golden"), "{what}: {result}"),
        "orphaned" => assert!(!has("request") && has("golden") && !has("digest"), "{what}: {result}"),
        _ => {}
    }
    assert_eq!(status == "error", has("error"), "{what}: {result}");
    let name = [&result["request"], &result["golden"], &result["error"]["source"]].into_iter().find_map(|v| v.as_str());
    let code = result["error"]["code"].as_str().map(|code| format!(" {code}")).unwrap_or_default();
    format!("{} {status}{code}", name.expect("a result has a name"))
}

#[test]
fn paths_that_cannot_be_meant() {
    let tree = Tree::new();
    tree.file("a.yaml", REQUEST).file("a.render.jsonl", STREAM).file("b.txt", REQUEST).file("c.jsonl", STREAM);
    for (path, words) in [
        ("a.render.jsonl", "hint: name the request: a.yaml"),
        ("b.txt", "neither a folder nor a request"),
        ("c.jsonl", "neither a folder nor a request"),
    ] {
        let ran = tree.check(&["a.yaml", path]);
        ran.fails();
        assert!(ran.stderr.contains(words), "{path}: {}", ran.stderr);
        let json = tree.check(&["a.yaml", path, "--format", "json"]);
        json.exits(2);
        common::assert_error_document(&json.json());
        assert_eq!(json.json()["code"], "usage.arguments");
    }
    tree.check(&["a.yaml", "-"]).exits(2);
    tree.check(&["--threads", "0"]).exits(2);
    tree.check(&["--force"]).exits(2);
    tree.check(&["--prove", "--accept"]).exits(2);
}

#[test]
fn every_fixture_by_itself() {
    let name = |path: &Path| path.strip_prefix(common::root()).expect("a fixture").to_str().expect("a name").to_owned();
    let pairs = super::fixtures();
    let right: BTreeSet<String> = pairs.iter().filter_map(|(request, _)| request.parent()).map(name).collect();
    for folder in &right {
        common::polyloop(["check", folder]).exits(0);
    }
    let mut faulty = 0;
    for entry in fs::read_dir(common::root().join("fixtures")).expect("there are fixtures") {
        let path = entry.expect("a folder can be listed").path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"err_")) {
            common::polyloop(["check", &name(&path)]).exits(2);
            faulty += 1;
        }
    }
    assert!(right.len() > 20 && faulty > 40, "{} and {faulty}", right.len());
    // All together: the faulty ones are errors, what else has no golden is missing, and the right ones are checked.
    let all = common::polyloop(["check", "fixtures", "--format", "json"]);
    let document = all.exits(2).json();
    assert_eq!(document["identical"], pairs.len());
    assert_eq!((&document["different"], &document["orphaned"]), (&0.into(), &0.into()));
    assert!(document["errors"].as_u64() >= Some(faulty), "{document}");
}
