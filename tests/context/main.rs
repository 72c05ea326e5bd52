//! A context is asked, as a user asks it.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod search;
mod slices;
mod state;
mod usage;

use serde_json::Value;

use common::{Ran, files_under, polyloop, root};

/// A run that has a state, and the same run in JSON.
const LOGIN: [&str; 2] = ["fixtures/context/login.yaml", "fixtures/context/login.json"];

/// Asks for a document.
fn asked(args: &[&str]) -> Value {
    let ran = ask(args);
    assert_eq!(ran.stderr, "", "{args:?}");
    ran.exits(0).json()
}

fn ask(args: &[&str]) -> Ran {
    polyloop(["context"].iter().chain(args).chain(&["--format", "json"]))
}

/// Asks for the view for people.
fn view(args: &[&str]) -> String {
    let ran = polyloop(["context"].iter().chain(args));
    assert_eq!(ran.stderr, "", "{args:?}");
    ran.exits(0).text().to_owned()
}

/// Which files of a folder are inputs.
type IsWanted<'w> = &'w dyn Fn(&str) -> bool;

/// Inputs of every kind: requests, streams, lists of messages, bodies, logs and sessions.
fn inputs() -> Vec<String> {
    let kinds: [(&str, IsWanted<'_>, usize); 6] = [
        ("fixtures/context", &|name| !name.ends_with(".console"), 3),
        ("fixtures/react", &|_| true, 2),
        ("fixtures/fragments", &|name| name.ends_with("request.yaml") && !name.contains("/err_"), 25),
        ("fixtures/providers/bodies", &|name| name.ends_with(".json"), 8),
        ("fixtures/providers/logs", &|_| true, 10),
        ("fixtures/import", &|name| name.ends_with("messages.json"), 3),
    ];
    let mut all = Vec::new();
    for (folder, is_wanted, least) in kinds {
        let files = files_under(&root().join(folder)).into_iter().filter_map(|path| {
            let name = path.strip_prefix(root()).ok()?.to_str()?.to_owned();
            is_wanted(&name).then_some(name)
        });
        let before = all.len();
        all.extend(files);
        assert!(all.len() - before >= least, "only {} inputs in {folder}", all.len() - before);
    }
    all
}
