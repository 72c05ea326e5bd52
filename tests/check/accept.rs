//! Nothing is written without `--accept`, and with it no more than the goldens.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{OTHER, OTHER_STREAM, REQUEST, STREAM, Tree, common};

/// One that differs, one without a golden, one that is right, and a faulty one.
fn mixed() -> Tree {
    let tree = Tree::new();
    tree.file("different.yaml", REQUEST).file("different.render.jsonl", OTHER_STREAM);
    tree.file("deep/missing.json", REQUEST);
    tree.file("right.yaml", OTHER).file("right.render.jsonl", OTHER_STREAM);
    tree.file("wrong.yaml", "goal: 1").file("wrong.render.jsonl", STREAM);
    tree.file("broken.yaml", REQUEST).file("broken.render.jsonl", "no JSON\n");
    tree
}

#[test]
fn what_differs_and_what_is_missing_is_taken_and_nothing_else() {
    let tree = mixed();
    let before = tree.snapshot();
    let ran = tree.check(&["--accept", "--format", "json"]);
    ran.exits(2);
    let document = ran.json();
    assert_eq!(document["accepted"], 2);
    let written: Vec<&str> = document["results"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|result| result["written"].as_array())
        .flatten()
        .filter_map(|path| path.as_str())
        .collect();
    assert_eq!(written, ["deep/missing.render.jsonl", "different.render.jsonl"]);
    assert_eq!(tree.read("deep/missing.render.jsonl"), STREAM.as_bytes());
    assert_eq!(tree.read("different.render.jsonl"), STREAM.as_bytes());
    let untouched = |snapshot: Vec<(std::path::PathBuf, Vec<u8>)>| -> Vec<_> {
        let is_new =
            |path: &std::path::Path| path.ends_with("missing.render.jsonl") || path.ends_with("different.render.jsonl");
        snapshot.into_iter().filter(|(path, _)| !is_new(path)).collect()
    };
    assert_eq!(untouched(tree.snapshot()), untouched(before));
    // The faulty ones are what is left.
    let after = tree.check(&["--format", "json"]);
    after.exits(2);
    assert_eq!((&after.json()["identical"], &after.json()["errors"]), (&3.into(), &2.into()));
}

#[test]
fn what_was_written_is_said_and_the_rest_is_green() {
    let tree = Tree::new();
    tree.file("a.yaml", REQUEST).file("a.render.jsonl", OTHER_STREAM).file("b.yaml", OTHER);
    let ran = tree.check(&["--accept"]);
    ran.exits(0);
    assert!(ran.text().contains("golden written to a.render.jsonl\n"), "{}", ran.text());
    assert!(ran.text().contains("golden written to b.render.jsonl\n"), "{}", ran.text());
    assert!(ran.text().starts_with("2 requests: 1 different, 1 missing, 2 goldens written"), "{}", ran.text());
    tree.check(&[]).exits(0);
    let again = tree.check(&["--accept"]);
    again.exits(0);
    assert!(!again.text().contains("written"), "{}", again.text());
}

#[test]
fn ci_does_not_take_what_it_should_prove() {
    for (value, is_ci) in [
        (None, false),
        (Some(""), false),
        (Some("0"), false),
        (Some("false"), false),
        (Some("1"), true),
        (Some("true"), true),
        (Some("False"), true),
        (Some(" "), true),
    ] {
        for args in [&["--accept"][..], &["--accept", "--format", "json"], &["--accept", "--force"]] {
            let tree = mixed();
            let before = tree.snapshot();
            let mut command = tree.command(&[args, &["deep", "different.yaml"]].concat());
            if let Some(value) = value {
                command.env("CI", value);
            }
            let ran = common::run(&mut command, b"");
            if is_ci && !args.contains(&"--force") {
                ran.exits(2);
                assert!(
                    ran.stderr.contains("refused where CI is set") && ran.stderr.contains("\nhint: "),
                    "{}",
                    ran.stderr
                );
                assert_eq!(tree.snapshot(), before, "CI={value:?} {args:?}");
                if args.contains(&"json") {
                    common::assert_error_document(&ran.json());
                } else {
                    ran.fails();
                }
            } else {
                ran.exits(0);
                assert_eq!(tree.read("deep/missing.render.jsonl"), STREAM.as_bytes(), "CI={value:?} {args:?}");
            }
        }
    }
    // Without --accept it makes no difference.
    let tree = mixed();
    common::run(tree.command(&["deep"]).env("CI", "true"), b"").exits(2);
}

#[test]
fn a_list_stays_a_list() {
    for name in ["a.render.json", "a.render.yaml", "a.render.yml"] {
        let tree = Tree::new();
        let recorded = "[{\"role\": \"user\", \"content\": \"before\"}]";
        tree.file("a.yaml", OTHER).file(name, recorded);
        // What other code recorded is not replaced by the way.
        let refused = tree.check(&["--accept"]);
        refused.exits(2);
        assert!(refused.stderr.contains("a recording by other code"), "{}", refused.stderr);
        assert_eq!(tree.read(name), recorded.as_bytes());
        tree.check(&["--accept", "--force"]).exits(0);
        let golden = String::from_utf8(tree.read(name)).expect("text");
        assert!(
            golden.starts_with(if name.ends_with("json") { "[\n{" } else { "- role: \"system\"" }),
            "{name}: {golden}"
        );
        assert!(!tree.join("a.render.jsonl").exists(), "{name}");
        tree.check(&[]).exits(0);
        tree.check(&["--prove"]).exits(0);
        // Nothing at all is a list as well.
        tree.file("a.yaml", "{}");
        tree.check(&[]).exits(1);
        tree.check(&["--accept", "--force"]).exits(0);
        tree.check(&[]).exits(0);
    }
}

#[test]
fn a_list_of_messages_holds_no_tools() {
    for name in ["a.render.json", "a.render.yaml"] {
        let tree = Tree::new();
        let golden = "[{\"role\": \"user\", \"content\": \"a\"}]";
        tree.file("a.yaml", "{goal: [{role: user, content: a}], tools: [{name: t}]}").file(name, golden);
        let ran = tree.check(&["--format", "json"]);
        ran.exits(1);
        assert_eq!(ran.json()["results"][0]["classes"], serde_json::json!(["tools"]));
        let accepted = tree.check(&["--accept", "--force"]);
        accepted.exits(2);
        assert!(accepted.stderr.contains("it has tools"), "{}", accepted.stderr);
        assert_eq!(tree.read(name), golden.as_bytes());
    }
}

#[test]
fn links_modes_and_folders() {
    let tree = Tree::new();
    tree.file("tree/a.yaml", REQUEST).file("tree/a.render.jsonl", "\n").file("outside.jsonl", "old\n");
    let golden = tree.join("tree/a.render.jsonl");
    fs::set_permissions(&golden, fs::Permissions::from_mode(0o640)).expect("a mode can be set");
    tree.check(&["tree", "--accept"]).exits(0);
    assert_eq!(fs::metadata(&golden).expect("it is there").permissions().mode() & 0o777, 0o640);

    // A link inside of its folder is written through; one that leads out of the tree is an error already.
    fs::rename(&golden, tree.join("tree/kept.txt")).expect("a file can be renamed");
    std::os::unix::fs::symlink("kept.txt", &golden).expect("a link can be made");
    tree.file("tree/kept.txt", "\n");
    tree.check(&["tree", "--accept"]).exits(0);
    assert!(golden.is_symlink());
    assert_eq!(tree.read("tree/kept.txt"), STREAM.as_bytes());

    fs::remove_file(&golden).expect("a file can be removed");
    std::os::unix::fs::symlink("../outside.jsonl", &golden).expect("a link can be made");
    tree.check(&["tree", "--accept"]).exits(2);
    // Inside of the tree, and out of its folder: compared, and not written through.
    tree.check(&[".", "--accept"]).exits(2);
    assert_eq!(tree.read("outside.jsonl"), b"old\n");

    fs::remove_file(&golden).expect("a file can be removed");
    fs::create_dir(&golden).expect("a folder can be made");
    tree.check(&["tree", "--accept"]).exits(2);
    assert!(golden.is_dir());
}

#[test]
fn a_read_only_folder_is_an_error_and_the_others_are_taken() {
    let tree = Tree::new();
    tree.file("a/a.yaml", REQUEST).file("b/b.yaml", OTHER);
    fs::set_permissions(tree.join("a"), fs::Permissions::from_mode(0o555)).expect("a mode can be set");
    if fs::write(tree.join("a/probe"), "").is_ok() {
        eprintln!("skipped: this user can write everywhere");
        return;
    }
    let ran = tree.check(&["--accept", "--format", "json"]);
    ran.exits(2);
    assert_eq!(ran.json()["results"][0]["error"]["code"], "io.write");
    assert_eq!(tree.read("b/b.render.jsonl"), OTHER_STREAM.as_bytes());
    fs::set_permissions(tree.join("a"), fs::Permissions::from_mode(0o755)).expect("a mode can be set");
}
