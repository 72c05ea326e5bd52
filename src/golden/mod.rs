//! Requests and the renders kept beside them: a proof, byte for byte, that cannot be green by accident.
//!
//! [`find`] pairs every request under some paths with its golden, [`check`] compares each pair, several at a time, and
//! [`Report`] is what that came to, in the order of the paths. What differs or has no golden is handed to the caller
//! together with its context; nothing here writes a file.

mod compare;
mod file;
mod find;
mod list;
mod pair;
mod prove;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use compare::{Around, Difference, Form, Golden, compare, is_identical};
pub use file::name_of;
pub use find::{Found, Pair, find};
pub use prove::{Place, Proof, prove};

use crate::context::Context;
use crate::diff::{Class, FirstDifference};
use crate::error::{Code, Error, Result};
use crate::request::Warning;
use find::Thing;

/// What a check came to.
#[derive(Debug)]
pub struct Report {
    /// One for every request, for every golden without one, and for every path under which there is no request; in the
    /// order of the paths.
    pub outcomes: Vec<Outcome>,
    /// YAML and JSON files that are no requests: neither a key of one nor a golden beside them.
    pub skipped: usize,
    /// What is allowed and proves less than it seems to.
    pub warnings: Vec<Warning>,
}

/// What became of a request, or of a golden without one.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was found.
    pub status: Status,
    /// The request; `None` for a golden without one, and for a path without requests.
    pub request: Option<PathBuf>,
    /// The golden, if there is one.
    pub golden: Option<PathBuf>,
    /// The digest of the request's canonical stream, where it could be made.
    pub digest: Option<String>,
    /// The digest of the golden's: of a `.jsonl` file that of its very bytes.
    pub golden_digest: Option<String>,
    /// Length of the request's canonical stream.
    pub bytes: Option<u64>,
    /// What tells the golden's bytes from those of others: their length and a hash.
    pub(crate) golden_print: Option<(usize, u128)>,
    /// Where golden and request part; the golden is side a.
    pub first_difference: Option<FirstDifference>,
    /// Of what kind the differences are.
    pub classes: Vec<Class>,
    /// The byte of the golden file, counted from 0, at which it stops being the canonical stream of its own messages,
    /// where these are equal to the request's.
    pub golden_byte: Option<u64>,
    /// The text round the first difference: content, to be shown only where that is asked for.
    pub around: Option<Around>,
    /// What of a recorded golden is no part of a context, and so is compared by nothing.
    pub unmodelled: Vec<String>,
    /// Why it could not be checked.
    pub error: Option<Error>,
    /// What was written for it.
    pub written: Written,
    /// What flipping bytes of the golden showed, where that was asked for.
    pub proof: Option<Proof>,
}

/// What can become of a request, or of a golden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The golden holds the very bytes.
    Identical,
    /// It holds others.
    Different,
    /// There is no golden.
    Missing,
    /// There is a golden and no request.
    Orphaned,
    /// It could not be checked.
    #[default]
    Error,
}

/// The files that were written for a request.
#[derive(Debug, Default)]
pub struct Written {
    /// Its golden, which holds the actual render now.
    pub golden: Option<PathBuf>,
    /// A copy of the actual render.
    pub actual: Option<PathBuf>,
}

/// What is handed out of a check for every request that differs from its golden, or has none.
#[derive(Debug)]
pub struct Actual<'c> {
    /// The request and its golden.
    pub pair: &'c Pair,
    /// What the request assembles to.
    pub context: &'c Context<'c>,
}

/// How a check is made.
pub struct Options<'o> {
    /// The folder that files named in requests may be read from; each request's own where none is given.
    pub root: Option<&'o Path>,
    /// How many pairs are compared at a time.
    pub threads: NonZeroUsize,
    /// Whether identical goldens are proven to be compared, by flipping bytes of them.
    pub prove: bool,
    /// Whether digests are wanted: of what is large they take most of the time.
    pub digests: bool,
    /// Is given what differs or has no golden, on any of the threads, and says what it wrote.
    pub take: &'o (dyn Fn(&Actual<'_>) -> Result<Written> + Sync),
    /// Is called after each pair, on any of the threads.
    pub step: &'o (dyn Fn() + Sync),
}

impl Status {
    /// The word for it, as in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Identical => "identical",
            Status::Different => "different",
            Status::Missing => "missing",
            Status::Orphaned => "orphaned",
            Status::Error => "error",
        }
    }
}

impl Outcome {
    /// Whether nothing is left to be done about it: identical, or its golden was written.
    pub fn is_settled(&self) -> bool {
        let is_proven = self.proof.as_ref().is_none_or(|proof| proof.uncaught.is_empty());
        match self.status {
            Status::Identical => is_proven,
            Status::Different | Status::Missing => self.written.golden.is_some(),
            Status::Orphaned | Status::Error => false,
        }
    }
}

impl Report {
    /// How many requests were found.
    pub fn checked(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.request.is_some()).count()
    }

    /// How many have this status.
    pub fn count(&self, status: Status) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.status == status).count()
    }

    /// How many goldens were written.
    pub fn accepted(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.written.golden.is_some()).count()
    }

    /// Bytes of all streams that were compared with a golden.
    pub fn compared_bytes(&self) -> u64 {
        let is_compared = |outcome: &&Outcome| matches!(outcome.status, Status::Identical | Status::Different);
        self.outcomes.iter().filter(is_compared).filter_map(|outcome| outcome.bytes).sum()
    }

    /// A path that holds no request proves nothing.
    fn add_empty(&mut self, under: &[Under<'_>]) {
        for empty in under.iter().filter(|under| !under.has_request) {
            let hint = match empty.skipped {
                0 => "a request is NAME.yaml, NAME.yml or NAME.json, its golden NAME.render.jsonl beside it",
                _ => "YAML and JSON files without a key of a request, such as prefix or goal, are skipped",
            };
            let error = Error::new(Code::InputShape, "there is no request here").with_hint(hint);
            let error = error.with_source(file::name_of(empty.path));
            self.outcomes.push(Outcome { error: Some(error), ..Outcome::default() });
        }
    }

    /// How many goldens were put to the proof, and what it showed; `None` where it was not asked for.
    pub fn proof(&self) -> Option<(usize, Proof)> {
        let mut proofs = self.outcomes.iter().filter_map(|outcome| outcome.proof.as_ref()).peekable();
        proofs.peek()?;
        let mut all = Proof::default();
        let mut goldens = 0;
        for proof in proofs {
            goldens += 1;
            all.flips += proof.flips;
            all.uncaught.extend(proof.uncaught.iter().cloned());
        }
        Some((goldens, all))
    }
}

/// What was found under one of the paths.
struct Under<'p> {
    path: &'p Path,
    skipped: usize,
    has_request: bool,
}

/// Checks what was found. The report is the same whatever the number of threads.
pub fn check(found: Found, options: &Options<'_>) -> Report {
    let mut outcomes = each(&found, options);
    let mut report = Report {
        outcomes: Vec::with_capacity(found.entries.len() + found.paths.len()),
        skipped: 0,
        warnings: found.warnings,
    };
    let mut under: Vec<Under> = found.paths.iter().map(|path| Under { path, skipped: 0, has_request: false }).collect();
    let mut last = 0;
    for (index, entry) in found.entries.into_iter().enumerate() {
        // A path's own fault stands behind what was found under it.
        report.add_empty(&under[last..entry.under]);
        last = entry.under;
        let is_orphan = matches!(entry.thing, Thing::Orphan(_));
        let outcome = match entry.thing {
            Thing::Request(pair) => outcomes.take(index).map(|outcome| Outcome {
                request: Some(pair.request),
                golden: pair.goldens.into_iter().next(),
                ..outcome
            }),
            Thing::Orphan(path) => Some(Outcome { status: Status::Orphaned, golden: Some(path), ..Outcome::default() }),
            Thing::Fault(error) => Some(Outcome { error: Some(error), ..Outcome::default() }),
            Thing::NoRequest => None,
        };
        for path in entry.also.into_iter().chain([entry.under]) {
            under[path].skipped += usize::from(outcome.is_none());
            under[path].has_request |= outcome.is_some() && !is_orphan;
        }
        match outcome {
            Some(outcome) => report.outcomes.push(outcome),
            None => report.skipped += 1,
        }
    }
    report.add_empty(&under[last..]);
    report.warnings.extend(warnings(&report.outcomes));
    report
}

/// An outcome as a thread keeps it: nearly all are identical and say nothing more, in a tenth of the room.
enum Done {
    Identical { bytes: Option<u64>, golden_print: Option<(usize, u128)> },
    Other(Box<Outcome>),
}

impl From<Outcome> for Done {
    fn from(outcome: Outcome) -> Done {
        match outcome {
            Outcome {
                status: Status::Identical, digest: None, proof: None, bytes, golden_print, unmodelled, ..
            } if unmodelled.is_empty() => Done::Identical { bytes, golden_print },
            other => Done::Other(Box::new(other)),
        }
    }
}

impl From<Done> for Outcome {
    fn from(done: Done) -> Outcome {
        match done {
            Done::Identical { bytes, golden_print } => {
                Outcome { status: Status::Identical, bytes, golden_print, ..Outcome::default() }
            }
            Done::Other(outcome) => *outcome,
        }
    }
}

/// The outcomes of requests by the indices of their entries, as each thread has gathered them: in rising order.
struct Outcomes(Vec<std::iter::Peekable<std::vec::IntoIter<(usize, Done)>>>);

impl Outcomes {
    /// The outcome of an entry, of which none before it was taken; `None` for a file that is no request.
    fn take(&mut self, index: usize) -> Option<Outcome> {
        self.0.iter_mut().find_map(|thread| thread.next_if(|(at, _)| *at == index)).map(|(_, done)| done.into())
    }
}

fn each(found: &Found, options: &Options<'_>) -> Outcomes {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut room = pair::Room::default();
        let mut done = Vec::new();
        while let Some((index, entry)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            found.entries.get(index).map(|entry| (index, entry))
        } {
            if let Thing::Request(pair) = &entry.thing {
                done.extend(pair::check(pair, options, &mut room).map(|outcome| (index, outcome.into())));
            }
            (options.step)();
        }
        done
    };
    let done = thread::scope(|scope| {
        // Documents may be nested a hundred levels deep; a thread has less room than the main one.
        const STACK_BYTES: usize = 8 << 20;
        let others = (1..options.threads.get().min(found.entries.len()))
            // Where no further thread is to be had, those there are do the work.
            .map_while(|_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok())
            .collect::<Vec<_>>();
        let mut done = vec![work()];
        for other in others {
            done.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    Outcomes(done.into_iter().map(|done| done.into_iter().peekable()).collect())
}

/// Goldens that are equal though their names are not, that hold nothing, or more than is compared.
fn warnings(outcomes: &[Outcome]) -> Vec<Warning> {
    let mut first_with: HashMap<(usize, u128), &PathBuf> = HashMap::with_capacity(outcomes.len());
    let mut warnings = Vec::new();
    for outcome in outcomes {
        let (Some(golden), Some(print)) = (&outcome.golden, outcome.golden_print) else { continue };
        let warning = |code, message| Warning { code, path: file::name_of(golden), message };
        let unmodelled = outcome.unmodelled.iter();
        warnings.extend(unmodelled.map(|words| warning("golden.unmodelled", format!("not compared: {words}"))));
        if print.0 == 0 || (outcome.status == Status::Identical && outcome.bytes == Some(0)) {
            if outcome.status == Status::Identical {
                let message = "the golden holds nothing, and the request gives no message: this proves little";
                warnings.push(warning("golden.empty", message.to_owned()));
            }
            continue;
        }
        match first_with.entry(print) {
            Entry::Occupied(first) => warnings.push(warning(
                "golden.repeated",
                format!("the golden holds the same bytes as {}: is one a copy?", file::name_of(first.get())),
            )),
            Entry::Vacant(slot) => drop(slot.insert(golden)),
        }
    }
    warnings
}
