//! A request in a file, step by step: every step is read, checked and assembled, and let go.
//!
//! What a step is, what is wrong with one and what it assembles to is not said here: that is [`read`](crate::read),
//! [`RunRequest::admit`] and [`push_step`], as for a request that is held whole.

use std::io::{Read, Seek, SeekFrom};

use super::{Place, window::Window};
use crate::assemble::{push_step, segments};
use crate::context::{Context, Message};
use crate::error::{Error, Result};
use crate::read::{self, Format, NodePath, Reader, limits};
use crate::request::{Expansion, RunRequest, Step};

/// Where what is assembled goes.
pub(super) trait Sink {
    /// Takes the tools, and the messages that stand before the steps.
    fn begin(&mut self, context: &Context<'_>) -> Option<()>;

    /// Takes a step, assembled or not; its text lies at `place`, as that of its messages.
    fn step(&mut self, _: &Step<'_>, _: Place<'_>) {}

    /// Takes a message of a step; the text it points at lies at `place`, as far as it was not rewritten.
    fn message(&mut self, message: &Message<'_>, place: Place<'_>) -> Option<()>;
}

/// A request that was walked through.
pub(super) struct Walked<S> {
    pub sink: S,
    /// The document without its steps.
    pub head: String,
    /// How many steps it has.
    pub steps: usize,
    /// Where in the file the first of them lies, if it has a list of steps.
    pub steps_at: Option<u64>,
}

impl<S> Walked<S> {
    fn with<T>(self, sink: T) -> Walked<T> {
        Walked { sink, head: self.head, steps: self.steps, steps_at: self.steps_at }
    }
}

/// How a file is walked through.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    /// How many steps are assembled; all are checked.
    pub assembled: usize,
    /// How much of the file is read at once, in bytes.
    pub window: usize,
}

const STEPS: &str = "trajectory";

/// Keys that change nothing of what is assembled.
const BESIDE: [&str; 7] = ["$schema", "as_of", "budget", "conflicts", "metadata", "run", "state"];

impl Walk {
    /// Walks through a request in JSON. `None` is everything that needs the document as a whole: whatever is wrong with
    /// it, and what is no request.
    pub fn through<R: Read + Seek, S: Sink>(self, file: &mut R, mut sink: impl FnMut() -> S) -> Option<Walked<S>> {
        from_start(file)?;
        let mut window = Window::new(&mut *file, self.window, 0)?;
        if window.text()?.starts_with('\u{feff}') {
            window.drop_start('\u{feff}'.len_utf8());
        }
        let mut head = Head::default();
        let has_steps = head.read(&mut window, Expect::Open)?;
        let before = head.document();
        let steps_at = has_steps.then_some(window.place());
        let (mut done, mut steps) = (None, 0);
        if has_steps {
            (done, steps) = self.steps(&mut window, &before, &mut head.nodes, sink())?;
            if head.read(&mut window, Expect::Comma)? || head.nodes > limits::NODES {
                return None;
            }
        }
        only_space(&mut window)?;
        let walked = Walked { sink: (), head: head.document(), steps, steps_at };
        // The keys behind the steps have to be in order, too.
        if read::request(&walked.head, Some(Format::Json)).ok()?.needs_selection() {
            return None;
        }
        if steps_at.is_none() || head.keys_behind.iter().any(|key| !BESIDE.contains(&&**key)) {
            // What the steps are assembled with stands behind them.
            done = Some(self.again(file, &walked.head, steps_at, sink())?);
        }
        if self.assembled != usize::MAX && self.assembled > steps {
            return None;
        }
        Some(walked.with(done?))
    }

    /// Assembles a request once more whose head is known.
    pub fn again<R: Read + Seek, S: Sink>(
        self,
        file: &mut R,
        head: &str,
        steps_at: Option<u64>,
        mut sink: S,
    ) -> Option<S> {
        let Some(steps_at) = steps_at else {
            begin(head, &mut sink)?;
            return Some(sink);
        };
        file.seek(SeekFrom::Start(steps_at)).ok()?;
        let mut window = Window::new(file, self.window, steps_at)?;
        self.steps(&mut window, head, &mut 0, sink)?.0
    }

    /// Goes through the steps up to the end of their list. The sink is lost where a step does not go with the head.
    fn steps<R: Read, S: Sink>(
        self,
        window: &mut Window<R>,
        head: &str,
        nodes: &mut usize,
        mut sink: S,
    ) -> Option<(Option<S>, usize)> {
        let request = read::request(head, Some(Format::Json)).ok();
        if request.as_ref().is_some_and(RunRequest::needs_selection) {
            return None;
        }
        let mut expansion = Expansion::default();
        let mut goes_with_head = request.is_some() && begin(head, &mut sink).is_some();
        let mut steps = 0;
        let mut is_behind_step = false;
        loop {
            let text = window.text()?;
            let place = Place { text, start: window.place() };
            let mut reader = Reader::new(text, 0);
            let mut used = 0;
            let ended = loop {
                match (reader.peek(), is_behind_step) {
                    (None, _) => break false,
                    (Some(b']'), true) => break true,
                    (Some(b']'), false) if steps == 0 => break true,
                    (Some(b','), true) => {
                        reader.step_over();
                        is_behind_step = false;
                    }
                    (Some(_), true) => return None,
                    (Some(_), false) => {
                        let before = reader.nodes();
                        let Some(node) = whole(reader.value(2), &reader, text, window.is_last())? else { break false };
                        *nodes += reader.nodes() - before;
                        let step = read::step(&node, &NodePath::Root).ok()?;
                        if let Some(request) = request.as_ref().filter(|_| goes_with_head) {
                            goes_with_head = request.admit(&step, &mut expansion).is_ok();
                            if goes_with_head {
                                sink.step(&step, place);
                            }
                            if goes_with_head && steps < self.assembled {
                                let mut messages = Vec::with_capacity(2);
                                push_step(request, steps, &step, &mut messages);
                                messages.iter().try_for_each(|message| sink.message(message, place))?;
                            }
                        }
                        steps += 1;
                        is_behind_step = true;
                    }
                }
                used = reader.at();
            };
            if ended {
                used = reader.at() + 1;
                window.drop_start(used);
                return (*nodes <= limits::NODES).then_some((goes_with_head.then_some(sink), steps));
            }
            window.drop_start(used);
            window.read_on()?;
        }
    }
}

/// Goes to the start of a file, unless it is larger than any document.
pub(super) fn from_start<R: Seek>(file: &mut R) -> Option<()> {
    let len = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    (len <= limits::DOCUMENT_BYTES as u64).then_some(())
}

/// Gives the sink what stands before the steps.
fn begin<S: Sink>(head: &str, sink: &mut S) -> Option<()> {
    let request: RunRequest<'_> = read::request(head, Some(Format::Json)).ok()?;
    sink.begin(&segments(&request, None))
}

/// What was read, if the text in sight was enough for it; `None` in the outer sense is what is wrong however it goes on.
fn whole<T>(read: Result<T>, reader: &Reader<'_>, text: &str, is_last: bool) -> Option<Option<T>> {
    match read {
        // What reaches to the end of the text may go on behind it.
        Ok(value) => Some((is_last || !reader.is_at_end()).then_some(value)),
        Err(error) if !is_last && is_cut(&error, text) => Some(None),
        Err(_) => None,
    }
}

/// Whether the text may just have been too short. A fault lies where its token begins, that of a string without an end
/// where the text ends.
fn is_cut(error: &Error, text: &str) -> bool {
    /// Two halves of a pair of escapes.
    const LONGEST_ESCAPE: usize = 12;
    error.span().is_some_and(|span| span.start + LONGEST_ESCAPE >= text.len())
}

/// What stands at the top of the document besides the steps.
#[derive(Default)]
struct Head {
    /// Keys and values as they are written.
    entries: String,
    /// The keys that stand behind the steps.
    keys_behind: Vec<String>,
    nodes: usize,
}

/// What comes next in a map.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Open,
    FirstKey,
    Key,
    Comma,
}

impl Head {
    /// The head is held, so it has to be small.
    const BYTES: usize = 1 << 20;

    fn document(&self) -> String {
        format!("{{{}}}", self.entries)
    }

    /// Reads keys and values up to the first step, which is true, or to the end of the document, which is false.
    fn read<R: Read>(&mut self, window: &mut Window<R>, mut expect: Expect) -> Option<bool> {
        let is_behind = expect == Expect::Comma;
        loop {
            let text = window.text()?;
            let mut reader = Reader::new(text, 0);
            let mut used = 0;
            let found = loop {
                match (expect, reader.peek()) {
                    (_, None) => break None,
                    (Expect::Open, Some(b'{')) => {
                        reader.step_over();
                        expect = Expect::FirstKey;
                    }
                    (Expect::Comma, Some(b',')) => {
                        reader.step_over();
                        expect = Expect::Key;
                    }
                    (Expect::FirstKey | Expect::Comma, Some(b'}')) => {
                        reader.step_over();
                        used = reader.at();
                        break Some(false);
                    }
                    (Expect::FirstKey | Expect::Key, Some(b'"')) => {
                        let start = reader.at();
                        let Some(key) = whole(reader.string(), &reader, text, window.is_last())? else { break None };
                        let key = key.into_cow();
                        match reader.peek() {
                            None => break None,
                            Some(b':') => reader.step_over(),
                            Some(_) => return None,
                        }
                        match reader.peek() {
                            None => break None,
                            Some(b'[') if key == STEPS => {
                                reader.step_over();
                                used = reader.at();
                                break Some(true);
                            }
                            Some(_) => {}
                        }
                        let before = reader.nodes();
                        let Some(_) = whole(reader.value(1), &reader, text, window.is_last())? else { break None };
                        self.nodes += reader.nodes() - before;
                        if !self.entries.is_empty() {
                            self.entries.push(',');
                        }
                        self.entries.push_str(&text[start..reader.at()]);
                        if is_behind {
                            self.keys_behind.push(key.into_owned());
                        }
                        expect = Expect::Comma;
                    }
                    _ => return None,
                }
                used = reader.at();
            };
            let unused = text.len() - used;
            window.drop_start(used);
            if let Some(found) = found {
                // The map itself, and the list of steps.
                self.nodes += if is_behind { 0 } else { 1 + usize::from(found) };
                return Some(found);
            }
            if self.entries.len().max(unused) > Self::BYTES {
                return None;
            }
            window.read_on()?;
        }
    }
}

/// Nothing but white space may follow.
fn only_space<R: Read>(window: &mut Window<R>) -> Option<()> {
    loop {
        let text = window.text()?;
        if Reader::new(text, 0).peek().is_some() {
            return None;
        }
        if window.is_last() {
            return Some(());
        }
        let used = text.len();
        window.drop_start(used);
        window.read_on()?;
    }
}
