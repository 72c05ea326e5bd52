//! `--write-actual`: below its folder, and nowhere else.

use super::{OTHER, OTHER_STREAM, REQUEST, STREAM, Tree};

#[test]
fn what_differs_lies_below_the_folder() {
    let tree = Tree::new();
    tree.file("p/a.yaml", REQUEST).file("p/a.render.jsonl", OTHER_STREAM).file("p/deep/b.json", REQUEST);
    tree.file("p/c.yaml", OTHER).file("p/c.render.jsonl", OTHER_STREAM);
    let before = tree.snapshot();
    let ran = tree.check(&["p", "--write-actual", "out/put"]);
    ran.exits(2);
    assert!(ran.text().contains("actual render written to out/put/p/a.render.jsonl"), "{}", ran.text());
    assert_eq!(tree.read("out/put/p/a.render.jsonl"), STREAM.as_bytes());
    assert_eq!(tree.read("out/put/p/deep/b.render.jsonl"), STREAM.as_bytes());
    let outside: Vec<_> = tree.snapshot().into_iter().filter(|(path, _)| !path.starts_with(tree.join("out"))).collect();
    assert_eq!(outside, before);
    assert!(!tree.join("out/put/p/c.render.jsonl").exists());
    // It is a way to look, not to take: the exit code is the same again.
    tree.check(&["p", "--write-actual", "out/put"]).exits(2);
}

#[test]
fn paths_that_lead_up_or_away_are_cut_to_the_tree() {
    let tree = Tree::new();
    tree.file("p/q/a.yaml", REQUEST).file("work/keep", "");
    let absolute = tree.join("p").to_str().expect("a plain name").to_owned();
    for (path, place) in [("../p", "q/a"), (&*absolute, "q/a"), ("../p/q/a.yaml", "a"), ("./../p/q/../q", "a")] {
        let mut command = tree.command(&[path, "--write-actual", "out"]);
        command.current_dir(tree.join("work"));
        super::common::run(&mut command, b"").exits(2);
        assert_eq!(tree.read(format!("work/out/{place}.render.jsonl")), STREAM.as_bytes(), "{path}");
        std::fs::remove_dir_all(tree.join("work/out")).expect("a folder can be removed");
        assert_eq!(tree.snapshot().len(), 5, "{path}: {:?}", tree.snapshot());
    }
}

#[test]
fn two_requests_never_meet() {
    let tree = Tree::new();
    tree.file("a/x.yaml", REQUEST).file("b/x.yaml", OTHER).file("work/keep", "");
    let mut command = tree.command(&["../a", "../b", "--write-actual", "out"]);
    let ran = super::common::run(command.current_dir(tree.join("work")), b"");
    ran.fails();
    assert!(!tree.join("work/out").exists());
    tree.check(&["a", "b", "--write-actual", "out"]).exits(2);
    assert_eq!(tree.read("out/a/x.render.jsonl"), STREAM.as_bytes());
    assert_eq!(tree.read("out/b/x.render.jsonl"), OTHER_STREAM.as_bytes());
}

#[test]
fn goldens_are_not_written_by_a_detour() {
    let tree = Tree::new();
    tree.file("a.yaml", REQUEST).file("a.render.jsonl", OTHER_STREAM).file("sub/b.yaml", REQUEST);
    let before = tree.snapshot();
    let ran = tree.check(&[".", "--write-actual", ".", "--format", "json"]);
    ran.exits(2);
    assert_eq!(ran.json()["results"][0]["error"]["code"], "io.write");
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn links_below_the_folder_are_not_followed() {
    let tree = Tree::new();
    tree.file("p/a.yaml", REQUEST).file("secret/keep", "").file("out/keep", "");
    std::os::unix::fs::symlink("../secret", tree.join("out/p")).expect("a link can be made");
    let ran = tree.check(&["p", "--write-actual", "out"]);
    ran.exits(2);
    assert!(ran.stderr.contains("no folder of its own"), "{}", ran.stderr);
    assert!(!tree.join("secret/a.render.jsonl").exists());
}
