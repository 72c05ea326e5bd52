//! The demonstrations under `fixtures/kernel`: an input, cells, and the transcript they give.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::root;
use crate::session::{Kernel, has_python};

#[test]
fn cells_give_their_transcripts() {
    if !has_python() {
        return;
    }
    let mut names: Vec<PathBuf> = fs::read_dir(root().join("fixtures/kernel"))
        .expect("there are fixtures")
        .map(|entry| entry.expect("a folder can be read").path())
        .collect();
    names.sort();
    assert!(names.len() >= 2, "only {names:?}");
    for folder in names {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let cells = cells(&read("cells.py"));
        assert!(cells.len() > 3, "only {} cells", cells.len());
        let given = transcript(&folder, &cells);
        assert!(given == read("transcript.txt"), "{} gives\n{given}", folder.display());
        let left = fs::read_dir(&folder).expect("there is a folder").count();
        assert_eq!(left, 3, "{}: nobody reads what else is there", folder.display());
    }
}

/// The cells: each begins with `# %%`.
fn cells(text: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("# %%") {
            cells.push(String::new());
        }
        let cell = cells.last_mut().expect("the first line begins a cell");
        writeln!(cell, "{line}").expect("a string takes every line");
    }
    cells
}

/// What the cells give, as a person reads it: the first line of each, what it printed behind `|`, and what else came.
fn transcript(folder: &Path, cells: &[String]) -> String {
    let mut kernel = Kernel::on(&folder.join("request.yaml").display().to_string());
    let mut text = String::new();
    for cell in cells {
        let answer = kernel.run(cell);
        add(&mut text, "", &cell.lines().next().map(Into::into).unwrap_or(Value::Null));
        add(&mut text, "| ", &answer["stdout"]);
        add(&mut text, "! ", &answer["stderr"]);
        add(&mut text, "! ", &answer["error"]["traceback"]);
        add(&mut text, "= ", &answer["result"]);
        let names = answer["state"]["variables"].as_array().expect("there are variables");
        let names: Vec<&str> = names.iter().filter_map(|variable| variable["name"].as_str()).collect();
        text += &format!("  holds {}\n\n", names.join(", "));
    }
    kernel.close();
    text
}

fn add(text: &mut String, mark: &str, lines: &Value) {
    // Where in a line a mistake lies is not said by every Python, nor in the same way.
    let is_carets = |line: &&str| line.contains('^') && line.trim_matches([' ', '~', '^']).is_empty();
    for line in lines.as_str().unwrap_or_default().lines().filter(|line| !is_carets(line)) {
        text.push_str(format!("{mark}{line}").trim_end());
        text.push('\n');
    }
}
