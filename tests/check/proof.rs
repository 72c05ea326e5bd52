//! `--prove`: that every flip is caught, and that files stay as they are.

use std::fs;

use serde_json::Value;

use super::{Tree, common, fixtures_alone};

/// Blocks, messages without any, and the tools: what a proof has to flip.
fn parts(stream: &str) -> usize {
    let lines = stream.lines().map(|line| serde_json::from_str::<Value>(line).expect("a golden is JSON Lines"));
    lines.map(|line| line["content"].as_array().map_or(1, |blocks| blocks.len().max(1))).sum()
}

#[test]
fn every_flip_in_every_fixture_is_caught() {
    let tree = Tree::new();
    let mut flips = 0;
    for (index, (request, golden)) in fixtures_alone().iter().enumerate() {
        let ending = request.extension().and_then(|ending| ending.to_str()).expect("a plain ending");
        tree.file(format!("{index}.{ending}"), common::read(request));
        let golden = String::from_utf8(common::read(golden)).expect("a golden is UTF-8");
        tree.file(format!("{index}.render.jsonl"), &golden);
        flips += parts(&golden);
    }
    let before = tree.snapshot();
    let ran = tree.check(&["--prove"]);
    ran.exits(0);
    let wanted = format!("{flips} flips in {} goldens: all caught\n", fixtures_alone().len());
    assert!(ran.text().contains(&wanted), "{wanted}: {}", ran.text());
    assert_eq!(tree.snapshot(), before);
    let json = tree.check(&["--prove", "--format", "json"]);
    assert_eq!(
        json.json()["proof"],
        serde_json::json!({"goldens": fixtures_alone().len(), "flips": flips, "caught": flips})
    );
    for format in ["junit", "github", "markdown"] {
        let ran = tree.check(&["--prove", "--format", format]);
        ran.exits(0);
        assert!(ran.text().contains(wanted.trim()), "{format}: {}", ran.text());
    }
}

#[test]
fn every_flip_in_a_list_is_caught() {
    let tree = Tree::new();
    let (mut flips, mut goldens) = (0, 0);
    for (index, (request, golden)) in fixtures_alone().iter().enumerate() {
        let golden = String::from_utf8(common::read(golden)).expect("a golden is UTF-8");
        // A list holds no tools.
        if golden.starts_with("{\"tools\"") {
            continue;
        }
        let ending = request.extension().and_then(|ending| ending.to_str()).expect("a plain ending");
        for name in [format!("json{index}"), format!("yaml{index}")] {
            tree.file(format!("{name}.{ending}"), common::read(request));
            flips += parts(&golden);
            goldens += 1;
        }
        let lines: Vec<&str> = golden.lines().collect();
        tree.file(format!("json{index}.render.json"), format!("[\n  {}\n]", lines.join(",\n  ")));
        let request = request.to_str().expect("a plain name");
        let yaml = common::polyloop(["render", request, "--format", "yaml"]).stdout;
        // The same words where they mean nothing.
        let words: String = golden.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
        let comment = format!("# {words}\n");
        tree.file(format!("yaml{index}.render.yaml"), [comment.as_bytes(), &yaml].concat());
    }
    let before = tree.snapshot();
    let ran = tree.check(&["--prove"]);
    ran.exits(0);
    let wanted = format!("{flips} flips in {goldens} goldens: all caught\n");
    assert!(ran.text().contains(&wanted), "{wanted}: {}", ran.text());
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn what_is_not_identical_is_not_proven() {
    let tree = Tree::new();
    tree.file("a.yaml", super::REQUEST).file("a.render.jsonl", "");
    let ran = tree.check(&["--prove"]);
    ran.exits(1);
    assert!(!ran.text().contains("caught"), "{}", ran.text());
    tree.file("a.yaml", "{}");
    let ran = tree.check(&["--prove"]);
    ran.exits(0);
    assert!(ran.text().contains("0 flips in 1 golden: nothing to prove"), "{}", ran.text());
    fs::remove_file(tree.join("a.yaml")).expect("a file can be removed");
    tree.check(&["--prove"]).exits(2);
}
