//! `polyloop check`: that nothing is green by accident, that nothing is written unasked, and that every view tells the
//! same story.

#[path = "../common/mod.rs"]
mod common;

mod accept;
mod actual;
mod cases;
mod interrupted;
mod mutations;
mod proof;
mod spelling;
mod views;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use common::Ran;

/// A small request, and the stream it gives.
const REQUEST: &str = r#"{"goal": [{"role": "user", "content": "Name a prime."}]}"#;
const STREAM: &str = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Name a prime.\"}]}\n";
/// Another, with two messages.
const OTHER: &str = "prefix: [{role: system, content: Be brief.}]\ngoal: [{role: user, content: \"Caf\u{e9}?\"}]\n";
const OTHER_STREAM: &str = "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"Be brief.\"}]}\n\
                            {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Caf\u{e9}?\"}]}\n";

/// A folder of its own, removed at the end.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Tree(tempfile::tempdir().expect("a folder can be made"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and the folders it lies in.
    fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder can be made");
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        common::read(self.join(name))
    }

    /// A command that runs in the folder, with an environment that says nothing of CI.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = common::command(["check"].iter().chain(args));
        command.current_dir(self.path()).env_remove("CI");
        command
    }

    fn check(&self, args: &[&str]) -> Ran {
        common::run(&mut self.command(args), b"")
    }

    /// Every file and its bytes; of a symbolic link where it leads.
    fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        gather(self.path(), &mut all).expect("the folder can be read");
        all.sort();
        all
    }
}

fn gather(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_symlink() {
            all.push((path.clone(), fs::read_link(&path)?.into_os_string().into_encoded_bytes()));
        } else if path.is_dir() {
            all.push((path.clone(), Vec::new()));
            gather(&path, all)?;
        } else {
            all.push((path.clone(), fs::read(&path)?));
        }
    }
    Ok(())
}

/// The fixtures that have a golden: request and golden.
fn fixtures() -> Vec<(PathBuf, PathBuf)> {
    let all = common::files_under(&common::root().join("fixtures"));
    let pairs: Vec<_> = all
        .iter()
        .filter(|path| path.to_string_lossy().ends_with(".render.jsonl"))
        .map(|golden| {
            let base = golden.to_string_lossy().replace(".render.jsonl", "");
            let requests = ["yaml", "yml", "json"].map(|ending| PathBuf::from(format!("{base}.{ending}")));
            let request = requests.into_iter().find(|path| path.exists()).expect("a golden has a request");
            (request, golden.clone())
        })
        .collect();
    assert!(pairs.len() > 20, "only {} fixtures", pairs.len());
    pairs
}

/// Those that can be copied alone: what others name in files would not be there.
fn fixtures_alone() -> Vec<(PathBuf, PathBuf)> {
    let names_files = |request: &Path| String::from_utf8_lossy(&common::read(request)).contains("file: {path: ");
    fixtures().into_iter().filter(|(request, _)| !names_files(request)).collect()
}
