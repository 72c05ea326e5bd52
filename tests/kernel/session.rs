//! A kernel that is talked to.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{command, root, wait};

/// No answer takes longer, even on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);

/// The context that most tests ask.
pub const INPUT: &str = "fixtures/kernel/demonstration/request.yaml";

/// A running kernel; each answer comes by itself.
pub struct Kernel {
    pub child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Kernel {
    /// Starts one with these flags.
    pub fn start(flags: &[&str]) -> Kernel {
        Kernel::of(command(["kernel", INPUT].iter().chain(flags)))
    }

    /// Starts one on this input.
    pub fn on(input: &str) -> Kernel {
        Kernel::of(command(["kernel", input]))
    }

    fn of(mut command: Command) -> Kernel {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary can be started");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Kernel { child, stdin, answers }
    }

    /// Sends a line.
    pub fn send(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).expect("the kernel reads");
    }

    /// The next answer.
    #[track_caller]
    pub fn answer(&self) -> Value {
        let line = self.answers.recv_timeout(LONGEST).expect("the kernel answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The answer to a line.
    #[track_caller]
    pub fn ask(&mut self, line: &[u8]) -> Value {
        self.send(line);
        self.answer()
    }

    /// What comes of a cell.
    #[track_caller]
    pub fn run(&mut self, cell: &str) -> Value {
        self.ask(json!({ "cell": cell }).to_string().as_bytes())
    }

    /// What a cell prints that runs to its end.
    #[track_caller]
    pub fn prints(&mut self, cell: &str) -> String {
        let answer = self.run(cell);
        assert_eq!(answer["ok"], true, "{cell}: {answer:#}");
        answer["stdout"].as_str().expect("stdout is text").to_owned()
    }

    /// Fails unless the kernel still does what it is asked.
    #[track_caller]
    pub fn is_well(&mut self) {
        assert_eq!(self.prints("print(len('well'), context.slice(0, 0).messages, end='')"), "4 []");
    }

    /// Ends the input; the kernel ends by itself.
    pub fn close(mut self) {
        self.stdin = None;
        let status = wait(&mut self.child, "polyloop kernel");
        assert_eq!(status.code(), Some(0));
        assert_eq!(self.answers.recv_timeout(LONGEST).ok(), None, "an answer that nobody asked for");
    }

    /// Ends the input in the middle of things.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether there is a Python to run cells; without one a test says so, and fails where it must not be left out.
pub fn has_python() -> bool {
    let found =
        Command::new("python3").arg("--version").current_dir(root()).output().is_ok_and(|out| out.status.success());
    if !found {
        assert!(std::env::var_os("CI").is_none(), "there is no python3");
        eprintln!("there is no python3: nothing was tested");
    }
    found
}

/// The error of an answer: its kind, and whether the process was replaced.
#[track_caller]
pub fn failed(answer: &Value) -> (&str, bool) {
    assert_eq!(answer["ok"], false, "{answer:#}");
    let kind = answer["error"]["kind"].as_str().expect("an error has a kind");
    (kind, answer["restarted"].as_bool().expect("an answer says whether it restarted"))
}
