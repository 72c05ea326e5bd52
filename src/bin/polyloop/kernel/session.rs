//! Cells, one after the other.

use std::collections::VecDeque;
use std::io::{self, BufReader, ErrorKind, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use polyloop::query::Subject;
use polyloop::{Code, Error, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::answer::{Answer, Failure};
use super::process::Process;
use super::questions::Questions;
use super::request::{Cell, Refusal, Request, Waiting, read_all};
use super::{Event, Settings, family};
use crate::exit::Exit;
use crate::io::write_json;

/// How long Python may take to start.
const START: Duration = Duration::from_secs(60);

/// How long a cell may go on once it has been interrupted, and Python once it is to end.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the cells that come on standard input, to its end.
///
/// # Errors
/// `kernel.start` where there is no such Python, `io.write` where answers cannot be written.
pub fn serve(subject: &Subject<'_>, settings: &Settings) -> anyhow::Result<Exit> {
    end_on_signals(&[SIGTERM, SIGINT, SIGHUP])?;
    family::adopt();
    // Whoever makes events waits once so many have not been seen to.
    let (sender, events) = mpsc::sync_channel(8);
    let mut session = Session {
        settings,
        subject,
        questions: Questions::of(subject),
        sender,
        events,
        requests: VecDeque::new(),
        waiting: Waiting::default(),
        is_input_over: false,
        is_unread: false,
        process: None,
        started: 0,
        is_lost: false,
        revision: 0,
        state: None,
    };
    let outcome = session.start().and_then(|()| {
        read_all(BufReader::new(io::stdin()), session.waiting.clone(), session.sender.clone());
        watch_reader(session.sender.clone());
        session.run()
    });
    session.end();
    outcome?;
    Ok(Exit::Done)
}

/// Ends, with all that was started, as the first such signal would have ended it.
pub fn end_on_signals(which: &[i32]) -> Result<()> {
    let mut signals =
        Signals::new(which).map_err(|error| Error::new(Code::KernelStart, format!("signals: {error}")))?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            family::kill_all();
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Makes an event of it when nobody reads standard output any more.
fn watch_reader(events: SyncSender<Event>) {
    thread::spawn(move || {
        let stdout = io::stdout();
        let ended = loop {
            // It asks for nothing, and so is told of the end alone.
            match poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None) {
                Err(Errno::INTR) => {}
                ended => break ended,
            }
        };
        if ended.is_ok() {
            let _ = events.send(Event::Unread);
        }
    });
}

struct Session<'s> {
    settings: &'s Settings,
    subject: &'s Subject<'s>,
    questions: Questions<'s>,
    sender: SyncSender<Event>,
    events: Receiver<Event>,
    /// What came while a cell was running.
    requests: VecDeque<Result<Request, Refusal>>,
    waiting: Waiting,
    is_input_over: bool,
    /// Whether nobody reads the answers.
    is_unread: bool,
    process: Option<Process>,
    /// How many processes there have been.
    started: u64,
    /// Whether what a process held has been lost, and no answer has said so yet.
    is_lost: bool,
    /// How many cells there have been, the one that runs included.
    revision: u64,
    state: Option<Box<RawValue>>,
}

/// What the process is sent for a cell.
#[derive(Serialize)]
struct Run<'c> {
    cell: &'c str,
    revision: u64,
}

/// What the process says when it is ready, or begins a cell, or has run it.
#[derive(Deserialize)]
struct Outcome {
    revision: u64,
    /// Whether the cell has only begun: not before can it be interrupted.
    #[serde(default)]
    started: bool,
    result: Option<String>,
    error: Option<Failure>,
    state: Option<Box<RawValue>>,
}

/// How waiting for the process ended.
enum Ended {
    Outcome(Box<Outcome>),
    /// It ended by itself.
    Exited,
    /// It no longer keeps to the channel.
    Broken,
    /// It went on after it was interrupted.
    Stuck,
}

/// Why a cell was interrupted.
#[derive(Clone, Copy, PartialEq)]
enum Interrupt {
    Asked,
    TimeLimit(Duration),
}

impl Session<'_> {
    fn run(&mut self) -> Result<()> {
        while let Some(request) = self.next() {
            self.waiting.remove(&request);
            let answer = match request {
                Ok(Request::Cell(cell)) => self.run_cell(&cell),
                // Nothing runs that could be interrupted.
                Ok(Request::Interrupt) => continue,
                Err(refusal) => Answer { state: self.state.clone(), ..Answer::refusal(refusal) },
            };
            match write(&answer) {
                Ok(()) => {}
                // Nobody reads the answers any more.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(Error::new(Code::IoWrite, format!("cannot be written: {error}"))),
            }
        }
        Ok(())
    }

    /// Waits for a request; the process may go on asking meanwhile, from threads that a cell has left.
    fn next(&mut self) -> Option<Result<Request, Refusal>> {
        loop {
            if let Some(request) = self.requests.pop_front() {
                return Some(request);
            }
            if self.is_input_over {
                return None;
            }
            match self.events.recv().ok()? {
                Event::Exited(number) | Event::Broken(number) if self.is_current(number) => {
                    self.end_process();
                    self.process = None;
                }
                event => self.see_to(event),
            }
        }
    }

    /// Sees to what does not end the waiting.
    fn see_to(&mut self, event: Event) {
        match event {
            Event::Line(request) => self.requests.push_back(request),
            Event::InputEnd => self.is_input_over = true,
            Event::Unread => self.is_unread = true,
            Event::Question(number, question) => {
                if let Some(process) = self.process.as_ref().filter(|process| process.number == number) {
                    process.answer(self.questions.answer(&question));
                }
            }
            // Words of a process that has gone, or that nobody asked for.
            Event::Outcome(..) | Event::Broken(_) | Event::Exited(_) => {}
        }
    }

    /// Whether there still is someone to run cells for; a cell without a limit would not end for anyone else.
    fn has_client(&self) -> bool {
        !(self.is_input_over && self.is_unread)
    }

    fn is_current(&self, number: u64) -> bool {
        self.process.as_ref().is_some_and(|process| process.number == number)
    }

    fn run_cell(&mut self, cell: &Cell) -> Answer {
        self.revision += 1;
        let mut answer = Answer::to(cell.id.clone());
        if self.process.is_none()
            && let Err(error) = self.start()
        {
            return answer.failed(Failure::of_error("start", &error));
        }
        let Some(process) = &self.process else { return answer };
        process.run(&Run { cell: &cell.source, revision: self.revision });
        let (ended, interrupt) = self.wait(cell.time_limit.or(self.settings.time_limit), true);
        let mut failure = match ended {
            Ended::Outcome(outcome) => {
                answer.result = outcome.result;
                self.state = outcome.state;
                outcome.error
            }
            Ended::Exited => Some(crash(self.end_process())),
            Ended::Broken => {
                self.end_process();
                Some(Failure::new("crashed", "the cell broke the channel to its kernel"))
            }
            Ended::Stuck => {
                self.end_process();
                Some(Failure::new("interrupted", "the cell went on after it was interrupted"))
            }
        };
        if let Some(process) = &self.process {
            answer = answer.wrote(process.written());
        }
        if self.state.is_none() {
            // Where it cannot be started, the answer has no state, and the next cell tries again.
            self.process = None;
            let _ = self.start();
        }
        if let Some(Interrupt::TimeLimit(limit)) = interrupt {
            let traceback = failure.and_then(|failure| failure.traceback);
            let message = format!("the cell took longer than {} s", limit.as_secs_f64());
            failure = Some(Failure { traceback, ..Failure::new("timeout", message) });
        }
        family::reap(self.process.as_ref().map(|process| process.pid));
        answer.restarted = std::mem::take(&mut self.is_lost);
        answer.state = self.state.clone();
        match failure {
            Some(failure) => answer.failed(failure),
            None => answer,
        }
    }

    /// Waits for the outcome of what the process was told to do, and answers what it asks until then. A cell is
    /// interrupted at the limit, and when a request says so.
    fn wait(&mut self, limit: Option<Duration>, is_cell: bool) -> (Ended, Option<Interrupt>) {
        let mut until = limit.map(|limit| Instant::now() + limit);
        let mut interrupt = None;
        let mut is_started = false;
        let ended = loop {
            let event = match until {
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.events.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            let why = match event {
                Ok(Event::Outcome(number, frame)) if self.is_current(number) => {
                    match serde_json::from_slice::<Box<Outcome>>(&frame) {
                        Ok(outcome) if outcome.revision != self.revision => break Ended::Broken,
                        Ok(outcome) if outcome.started => {
                            is_started = true;
                            if interrupt.is_some() {
                                self.interrupt();
                            }
                            continue;
                        }
                        Ok(outcome) if outcome.state.is_some() => break Ended::Outcome(outcome),
                        _ => break Ended::Broken,
                    }
                }
                Ok(Event::Exited(number)) if self.is_current(number) => break Ended::Exited,
                // Most often it is the process that has ended.
                Ok(Event::Broken(number)) if self.is_current(number) => break self.exited_or_broken(),
                Ok(Event::Line(request @ Ok(Request::Interrupt))) if is_cell => {
                    self.waiting.remove(&request);
                    Interrupt::Asked
                }
                Ok(event) => {
                    let had_client = self.has_client();
                    self.see_to(event);
                    if !is_cell || !had_client || self.has_client() {
                        continue;
                    }
                    Interrupt::Asked
                }
                Err(RecvTimeoutError::Disconnected) => break Ended::Broken,
                Err(RecvTimeoutError::Timeout) if interrupt.is_some() || !is_cell => break Ended::Stuck,
                Err(RecvTimeoutError::Timeout) => Interrupt::TimeLimit(limit.unwrap_or_default()),
            };
            if interrupt.is_none() {
                interrupt = Some(why);
                until = Some(Instant::now() + GRACE);
            }
            if is_started {
                self.interrupt();
            }
        };
        (ended, interrupt)
    }

    fn interrupt(&self) {
        if let Some(process) = &self.process {
            process.interrupt();
        }
    }

    fn exited_or_broken(&mut self) -> Ended {
        let until = Instant::now() + GRACE;
        loop {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Exited(number)) if self.is_current(number) => return Ended::Exited,
                Ok(event) => self.see_to(event),
                Err(_) => return Ended::Broken,
            }
        }
    }

    fn start(&mut self) -> Result<()> {
        self.started += 1;
        let process =
            Process::start(self.settings, self.started, self.subject.state, false, self.revision, &self.sender)?;
        self.process = Some(process);
        match self.wait(Some(START), false).0 {
            Ended::Outcome(outcome) => {
                self.state = outcome.state;
                Ok(())
            }
            _ => Err(self.not_started()),
        }
    }

    fn not_started(&mut self) -> Error {
        let python = self.settings.python.to_string_lossy().into_owned();
        let said = match &mut self.process {
            Some(process) => {
                process.end();
                let [_, stderr] = process.written();
                stderr.text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
            }
            None => String::new(),
        };
        self.process = None;
        let message = format!("{python} does not run the kernel{}{said}", if said.is_empty() { "" } else { ": " });
        Error::new(Code::KernelStart, message).with_hint("name a Python, 3.8 or later, with --python")
    }

    /// Ends the process and all that it has started; what it wrote can still be taken.
    fn end_process(&mut self) -> Option<ExitStatus> {
        self.is_lost = true;
        self.state = None;
        self.process.as_mut().and_then(Process::end)
    }

    /// Lets the process write and close what it has open, and then ends it and all that was started.
    fn end(&mut self) {
        let Some(mut process) = self.process.take() else { return family::kill_all() };
        process.close();
        let until = Instant::now() + GRACE;
        while let Ok(event) = self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            match event {
                Event::Exited(number) if number == process.number => break,
                Event::Question(number, question) if number == process.number => {
                    process.answer(self.questions.answer(&question));
                }
                _ => {}
            }
        }
        process.end();
    }
}

/// What is said of a process that ended by itself.
fn crash(status: Option<ExitStatus>) -> Failure {
    let (exit_code, signal) = (status.and_then(|status| status.code()), status.and_then(|status| status.signal()));
    let message = match (exit_code, signal) {
        (_, Some(signal)) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("python was ended by signal {signal} ({name})"),
            None => format!("python was ended by signal {signal}"),
        },
        (Some(code), None) => format!("python ended itself with exit code {code}"),
        (None, None) => "python has ended".to_owned(),
    };
    Failure { exit_code, signal, ..Failure::new("crashed", message) }
}

fn write(answer: &Answer) -> io::Result<()> {
    let mut line = Vec::new();
    write_json(&mut line, answer, false)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
