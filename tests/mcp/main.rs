//! `polyloop mcp`, spoken to in lines of JSON, and by a client of another make.

#[path = "../common/mod.rs"]
mod common;

mod client;
mod hostile;
mod large;
mod session;
mod tools;

use std::path::{Path, PathBuf};

use polyloop::read::Format;
use polyloop::{Context, assemble, read};

/// A request as it is written here.
fn request(text: &str) -> polyloop::RunRequest<'_> {
    read::request(text, Some(Format::Json)).unwrap_or_else(|error| panic!("{error}"))
}

fn context<'r>(request: &'r polyloop::RunRequest<'_>) -> Context<'r> {
    assemble(request, None).unwrap_or_else(|error| panic!("{error}"))
}

/// A file in a folder of its own.
struct Written {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn written(name: &str, text: &str) -> Written {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("it can be written to");
    Written { path, _folder: folder }
}

fn fixture(name: &str) -> PathBuf {
    let path = common::root().join("fixtures").join(name);
    assert!(Path::exists(&path), "{name} is not there");
    path
}
