//! The Python process.

use std::env;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use polyloop::request::State;
use polyloop::{Code, Error, Result};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde::Serialize;

use super::output::{Output, Written};
use super::{Event, Settings, family, frames};

/// The Python side: one source, in the order in which its parts need each other.
const SOURCE: &str = concat!(
    include_str!("python/names.py"),
    include_str!("python/interrupts.py"),
    include_str!("python/channels.py"),
    include_str!("python/context.py"),
    include_str!("python/state.py"),
    include_str!("python/cells.py"),
    include_str!("python/limits.py"),
    include_str!("python/main.py"),
);

/// Runs the source that is the last argument, in a namespace and with builtins of its own.
const LOADER: &str = "import sys; exec(compile(sys.argv.pop(), '<polyloop kernel>', 'exec'), \
                      {'__name__': 'polyloop_kernel', '__builtins__': dict(vars(__builtins__))})";

/// What of the environment the process is given. No more: keys and tokens stay out.
const ENVIRONMENT: [&str; 10] =
    ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

/// A Python process and what leads to it.
pub struct Process {
    /// Which process of this kernel it is.
    pub number: u64,
    pub pid: Pid,
    child: Child,
    cells: Sender<Vec<u8>>,
    answers: Sender<Vec<u8>>,
    channels: [UnixStream; 2],
    /// What it writes, where that is not a terminal.
    outputs: Option<[Arc<Output>; 2]>,
}

/// What the process is told first.
#[derive(Serialize)]
struct Start {
    at_prompt: bool,
    /// What the request says of the run beside its variables, as text: each answer holds a copy of its own.
    fields: String,
    mark: String,
    max_output: usize,
    memory_bytes: u64,
    revision: u64,
}

impl Process {
    /// Starts one; what happens to it comes as events.
    pub fn start(
        settings: &Settings,
        number: u64,
        state: &State<'_>,
        at_prompt: bool,
        revision: u64,
        events: &SyncSender<Event>,
    ) -> Result<Process> {
        let fail = |error: io::Error| {
            let python = settings.python.to_string_lossy();
            Error::new(Code::KernelStart, format!("{python} cannot be started: {error}"))
                .with_hint("name a Python, 3.8 or later, with --python")
        };
        let (cells, child_cells) = UnixStream::pair().map_err(fail)?;
        let (questions, child_questions) = UnixStream::pair().map_err(fail)?;
        let mut command = Command::new(&settings.python);
        command.arg("-I").args(["-X", "utf8"]);
        if at_prompt {
            command.args(["-i", "-q"]);
        } else {
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        }
        command.args(["-c", LOADER]);
        for channel in [&child_cells, &child_questions] {
            // This process starts no other one that could inherit them too.
            fcntl_setfd(channel, FdFlags::empty()).map_err(|error| fail(error.into()))?;
            command.arg(channel.as_raw_fd().to_string());
        }
        command.arg(SOURCE);
        let mark = mark(number);
        command.env_clear().envs(ENVIRONMENT.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.env("POLYLOOP_KERNEL", &mark);
        let mut child = command.spawn().map_err(fail)?;
        drop((child_cells, child_questions));
        let pid = Pid::from_child(&child);
        family::set_group((!at_prompt).then_some(pid));
        let outputs = match (child.stdout.take(), child.stderr.take()) {
            (Some(stdout), Some(stderr)) => {
                let output = |pipe: OwnedFd| Output::of(pipe, settings.max_output_bytes).map_err(fail);
                Some([output(stdout.into())?, output(stderr.into())?])
            }
            _ => None,
        };
        let channels = [cells, questions];
        let copy = |channel: &UnixStream| channel.try_clone().map_err(fail);
        frames::read_all(copy(&channels[0])?, number, Event::Outcome, events.clone());
        frames::read_all(copy(&channels[1])?, number, Event::Question, events.clone());
        let (cells, to_write) = mpsc::channel();
        frames::write_all(copy(&channels[0])?, to_write);
        let (answers, to_write) = mpsc::channel();
        frames::write_all(copy(&channels[1])?, to_write);
        watch(pid, number, events.clone());
        let process = Process { number, pid, child, cells, answers, channels, outputs };
        process.run(&Start {
            at_prompt,
            fields: fields(state),
            mark,
            max_output: settings.max_output_bytes,
            memory_bytes: settings.memory_bytes,
            revision,
        });
        Ok(process)
    }

    /// Sends what it is to run next; that it has ended is found out elsewhere.
    pub fn run(&self, cell: &impl Serialize) {
        let _ = self.cells.send(serde_json::to_vec(cell).unwrap_or_default());
    }

    /// Answers a question.
    pub fn answer(&self, answer: Vec<u8>) {
        let _ = self.answers.send(answer);
    }

    /// Interrupts what it runs.
    pub fn interrupt(&self) {
        let _ = kill_process(self.pid, Signal::INT);
    }

    /// What it has written since this was last asked.
    pub fn written(&self) -> [Written; 2] {
        match &self.outputs {
            Some([stdout, stderr]) => [stdout.take(), stderr.take()],
            None => [Written::default(), Written::default()],
        }
    }

    /// Tells it that no more cells come, upon which it ends by itself.
    pub fn close(&self) {
        let _ = self.channels[0].shutdown(std::net::Shutdown::Write);
    }

    /// Ends it and all that it has started, and says how it ended.
    pub fn end(&mut self) -> Option<ExitStatus> {
        family::kill_all();
        let status = self.child.wait().ok();
        family::set_group(None);
        family::reap(None);
        for channel in &self.channels {
            let _ = channel.shutdown(std::net::Shutdown::Both);
        }
        status
    }
}

/// Makes an event of the end of a process, and leaves it to be waited for.
fn watch(pid: Pid, number: u64, events: SyncSender<Event>) {
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        let _ = events.send(Event::Exited(number));
    });
}

/// What the processes of one start are known by, wherever they are.
fn mark(number: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}-{number}", std::process::id(), now.as_nanos())
}

fn fields(state: &State<'_>) -> String {
    let fields = State { fields: state.fields.clone(), ..State::default() };
    serde_json::to_string(&fields).unwrap_or_else(|_| "{}".to_owned())
}

#[cfg(test)]
mod tests {
    use polyloop::context::Json;
    use polyloop::request::Variable;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_free_fields_of_a_state_are_told_and_its_variables_are_not() {
        let old = Variable { name: "old".into(), kind: None, preview: None, size: None };
        let phase = ("phase".into(), Json::read("\"verify\"").expect("it is JSON"));
        let state = State { alive: false, revision: None, variables: vec![old], fields: vec![phase] };
        let told: Value = serde_json::from_str(&fields(&state)).expect("it is JSON");
        assert_eq!((&told["phase"], &told["variables"]), (&json!("verify"), &json!([])));
    }
}
