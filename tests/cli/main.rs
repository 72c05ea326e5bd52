//! The command line, run as a user runs it.

#[path = "../common/mod.rs"]
mod common;

mod against;
mod batch;
mod colour;
mod exits;
mod fragments;
mod input;
mod lint;
mod names;
mod output;
mod pages;
mod pipes;
mod templates;
mod usage;
mod views;

use std::path::{Path, PathBuf};

/// A folder of a test's own, gone when the test is over.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Scratch(tempfile::tempdir().expect("a folder can be made"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file and gives its path.
    fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> String {
        let path = self.join(name);
        std::fs::write(&path, content).expect("a file can be written");
        path.to_str().expect("the name is UTF-8").to_owned()
    }

    /// The names of what lies in the folder, in order.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder can be listed");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("the folder can be listed").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// A small request, and the stream it gives.
const REQUEST: &str = r#"{"goal": [{"role": "user", "content": "Name a prime."}]}"#;
const STREAM: &str = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Name a prime.\"}]}\n";
