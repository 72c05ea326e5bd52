//! What the tests have in common: running the binary with a bound on its time, and finding files.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use polyloop::context::Store;
use polyloop::read::{Format, Input};
use polyloop::stream::{self, Options, Sizes};
use polyloop::write::is_live;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_polyloop");

/// No run of the binary may take longer, even on a busy machine; most take milliseconds.
const LONGEST: Duration = Duration::from_secs(60);

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a run of the binary came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// A command that runs the binary in the root of the repository, with an environment that says nothing of colours.
pub fn command<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(root());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command
}

/// Runs the binary with nothing on standard input.
pub fn polyloop<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    run(&mut command(args), b"")
}

/// Runs the binary with this on standard input.
pub fn polyloop_with<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, stdin: &[u8]) -> Ran {
    run(&mut command(args), stdin)
}

/// Runs a command to its end.
pub fn run(command: &mut Command, stdin: &[u8]) -> Ran {
    run_in_pieces(command, stdin, stdin.len())
}

/// Runs a command to its end; standard input comes in so many bytes at a time.
pub fn run_in_pieces(command: &mut Command, stdin: &[u8], piece: usize) -> Ran {
    let words = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{words}: {error}"));
    let mut pipe = child.stdin.take().expect("stdin is piped");
    let stdin = stdin.to_vec();
    // A child that never reads closes the pipe; that is not the test's business.
    let writer = thread::spawn(move || {
        for piece in stdin.chunks(piece.max(1)) {
            if pipe.write_all(piece).is_err() {
                break;
            }
            // The child may read each piece by itself.
            thread::yield_now();
        }
    });
    let output = finish(child, &words);
    writer.join().expect("the writer ends");
    let stderr = String::from_utf8(output.stderr).unwrap_or_else(|_| panic!("{words}: stderr is not UTF-8"));
    assert!(!stderr.contains("panicked"), "{words}:\n{stderr}");
    Ran { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Waits for a child with piped output, and kills it if it takes too long.
pub fn finish(mut child: Child, words: &str) -> Output {
    fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            drop(pipe.read_to_end(&mut bytes));
            bytes
        })
    }
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let status = wait(&mut child, words);
    let bytes = |pipe: Option<thread::JoinHandle<Vec<u8>>>| {
        pipe.map_or_else(Vec::new, |pipe| pipe.join().expect("the reader ends"))
    };
    Output { status, stdout: bytes(stdout), stderr: bytes(stderr) }
}

/// Waits for a child, and kills it if it takes too long.
pub fn wait(child: &mut Child, words: &str) -> ExitStatus {
    let end = Instant::now() + LONGEST;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if Instant::now() > end {
            child.kill().expect("a child can be killed");
            panic!("{words}: still running after {LONGEST:?}");
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

impl Ran {
    /// Standard output as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("stdout is UTF-8")
    }

    /// Standard output as exactly one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?}, {}", String::from_utf8_lossy(&self.stdout), self.stderr))
    }

    /// Fails unless the exit code is this one.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "stdout {:?}, stderr {}", String::from_utf8_lossy(&self.stdout), self.stderr);
        self
    }

    /// Fails unless it failed in the way every command fails: exit 2, nothing on stdout, words on stderr.
    #[track_caller]
    pub fn fails(&self) -> &Self {
        self.exits(2);
        assert!(self.stdout.is_empty(), "{:?}", String::from_utf8_lossy(&self.stdout));
        assert!(self.stderr.starts_with("polyloop: "), "{:?}", self.stderr);
        assert_calm(&self.stderr);
        self
    }
}

/// Fails if a terminal would act on anything in the text but its line feeds.
#[track_caller]
pub fn assert_calm(text: &str) {
    if let Some(at) = text.find(|character: char| character != '\n' && is_live(character)) {
        panic!("a live {:?} in {text:?}", text[at..].chars().next());
    }
}

/// The keys of `polyloop.error/1`, in order.
pub const ERROR_KEYS: [&str; 8] = ["schema", "code", "message", "source", "path", "line", "column", "hint"];

/// Fails unless this is a document of `polyloop.error/1`.
#[track_caller]
pub fn assert_error_document(document: &Value) {
    let object = document.as_object().unwrap_or_else(|| panic!("{document} is no object"));
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    let mut known = ERROR_KEYS;
    keys.sort_unstable();
    known.sort_unstable();
    assert_eq!(keys, known, "{document}");
    assert_eq!(document["schema"], "polyloop.error/1");
    let text = |key: &str| document[key].as_str().unwrap_or_else(|| panic!("{key} is no text in {document}"));
    assert!(text("code").contains('.'), "{document}");
    assert!(!text("message").is_empty() && !text("message").ends_with('.'), "{document}");
    for key in ["source", "path", "hint"] {
        assert!(document[key].is_null() || document[key].is_string(), "{key} of {document}");
    }
    assert_eq!(document["line"].is_null(), document["column"].is_null(), "{document}");
    for key in ["line", "column"] {
        assert!(document[key].is_null() || document[key].as_u64() >= Some(1), "{key} of {document}");
    }
}

/// `sha256:` and the lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// All files under a folder, in order.
pub fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] }).collect()
}

/// The bytes of a file.
pub fn read(path: impl AsRef<Path>) -> Vec<u8> {
    fs::read(path.as_ref()).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// The name of a file in `fixtures`, by which a run in the root finds it.
pub fn fixture(name: &str) -> String {
    let path = format!("fixtures/{name}");
    assert!(root().join(&path).is_file(), "there is no {path}");
    path
}

/// The canonical stream of a request in YAML whose texts of at least `least` bytes stay in the file; `None` where it
/// has to be read whole.
pub fn outlined_stream(document: &[u8], window: usize, least: usize) -> Option<Vec<u8>> {
    let sizes = Sizes { window, shortest: least };
    let options = Options { sizes, own_thread: window == 64, ..Options::default() };
    let store = Store::new(Cursor::new(document.to_vec()));
    let mut outline =
        stream::outline(&mut Cursor::new(document), &store, Some(Format::Yaml), options, &AtomicBool::new(false))?;
    let Input::Request(request) = outline.input()?.input else { panic!("outlined as what it is not") };
    let stream = polyloop::assemble(&request, None).expect("it assembles").to_canonical();
    store.check().expect("all of it was read");
    Some(stream)
}

/// A corpus folder beside the repository; `None`, with a note, where there is none.
pub fn cases(name: &str) -> Option<PathBuf> {
    let folder = root().join("../shared/cases").join(name);
    if !folder.exists() {
        eprintln!("skipped: there is no corpus {name}");
        return None;
    }
    Some(folder)
}
