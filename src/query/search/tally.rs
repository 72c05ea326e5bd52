//! How often the terms of a query stand in the documents that are searched.

use std::borrow::Cow;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::document::Document;
use super::matching::{Matcher, WHOLE};

/// How much of a query one document holds, in hundredths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    /// Its place among the documents.
    pub document: usize,
    /// How often each term stands in it, words in other forms counting less.
    pub terms: Vec<u64>,
    /// How often longer words begin with each term.
    pub longer: Vec<u64>,
    /// How often each literal stands in it.
    pub literals: Vec<u64>,
}

impl Tally {
    pub fn new(document: usize, matcher: &Matcher<'_>) -> Self {
        let terms = vec![0; matcher.terms().len()];
        Tally { document, longer: terms.clone(), terms, literals: vec![0; matcher.question.literals.len()] }
    }

    /// Whether anything was found.
    pub fn is_any(&self) -> bool {
        [&self.terms, &self.longer, &self.literals].iter().any(|tallies| tallies.iter().any(|tally| *tally > 0))
    }

    /// Looks for the literals whose words are there.
    pub fn count_literals(&mut self, matcher: &Matcher<'_>, texts: &[Cow<'_, str>]) {
        for (literal, tally) in matcher.question.literals.iter().zip(&mut self.literals) {
            if literal.terms.iter().all(|term| self.terms[*term] > 0) {
                *tally = texts.iter().map(|text| literal.each(text).count()).sum::<usize>() as u64 * WHOLE;
            }
        }
    }

    /// Whether a literal may be there.
    pub fn wants_text(&self, matcher: &Matcher<'_>) -> bool {
        let may_hold = |terms: &[usize]| terms.iter().all(|term| self.terms[*term] > 0);
        matcher.question.literals.iter().any(|literal| may_hold(&literal.terms))
    }
}

/// Reads the documents that are asked for, on every core, and counts in each.
pub(super) fn scan(documents: &[Document<'_>], asked: &[usize], question: &super::Question) -> Vec<Tally> {
    in_parallel(asked, documents, |document, at| {
        let matcher = at.get_or_insert_with(|| Matcher::new(question));
        let texts = documents[document].texts(|spelled| matcher.may_hold(spelled));
        let mut tally = Tally::new(document, matcher);
        for text in &texts {
            matcher.each(text, |place| {
                let tallies = if place.is_longer { &mut tally.longer } else { &mut tally.terms };
                tallies[place.term] += place.tally;
            });
        }
        tally.count_literals(matcher, &texts);
        tally.is_any().then_some(tally)
    })
}

/// Does something with documents on as many threads as help; the results are in the order of the documents.
pub(super) fn in_parallel<T: Send, S>(
    asked: &[usize],
    documents: &[Document<'_>],
    make: impl Fn(usize, &mut Option<S>) -> Option<T> + Sync,
) -> Vec<T> {
    /// Bytes of text for which a thread is worth its start.
    const WORTH_A_THREAD: u64 = 1 << 20;
    /// Bytes of text that are taken at once.
    const TAKEN: u64 = 256 << 10;
    let bytes: u64 = asked.iter().map(|document| documents[*document].bytes).sum();
    let most = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let threads = most.min(bytes / WORTH_A_THREAD + 1);
    let next = AtomicUsize::new(0);
    let mut taken = Vec::new();
    let mut from = 0;
    while from < asked.len() {
        let (mut to, mut sum) = (from, 0);
        while to < asked.len() && sum < TAKEN {
            sum += documents[asked[to]].bytes;
            to += 1;
        }
        taken.push(from..to);
        from = to;
    }
    let work = || {
        let mut state = None;
        let mut made = Vec::new();
        while let Some(range) = taken.get(next.fetch_add(1, Ordering::Relaxed)) {
            made.extend(range.clone().filter_map(|at| make(asked[at], &mut state).map(|made| (at, made))));
        }
        made
    };
    let mut made = if threads <= 1 {
        work()
    } else {
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut made = work();
            for other in others {
                made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            made
        })
    };
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}
