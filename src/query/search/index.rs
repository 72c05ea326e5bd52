//! The words of a context, read once, for many queries.

use std::collections::HashMap;

use super::document::{Document, documents};
use super::matching::{Matcher, gram_edges, gram_tally};
use super::question::Question;
use super::tally::{Tally, in_parallel};
use super::terms::What;
use super::words::{Run, fold, runs};
use super::{Found, Options, answer};
use crate::query::Subject;

/// What is known of the words of a context. To search it gives what [`search`](super::search) gives; words are looked for
/// in the list of different words, by the same rules as in text.
#[derive(Debug)]
pub struct Index<'s> {
    documents: Vec<Document<'s>>,
    /// Every different word once, in a line of its own.
    words: String,
    /// Where each word begins there.
    starts: Vec<usize>,
    /// Where each word stands.
    postings: Vec<Vec<Posting>>,
    /// Where one and two characters of spaceless text stand, and whether the text goes on at either end.
    grams: HashMap<Gram, Vec<Posting>>,
}

type Gram = (char, Option<char>, [bool; 2]);

/// How often something stands in a document.
#[derive(Clone, Copy, Debug)]
struct Posting {
    document: u32,
    often: u32,
}

impl<'s> Index<'s> {
    /// Reads every message once.
    pub fn of(subject: &Subject<'s>) -> Self {
        let documents = documents(subject);
        let all: Vec<usize> = (0..documents.len()).collect();
        let counted = in_parallel(&all, &documents, |document, _: &mut Option<()>| {
            let mut counted = Counted { document, ..Counted::default() };
            for text in documents[document].texts(|_| true) {
                counted.add(&text);
            }
            Some(counted)
        });
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut index = Index {
            documents: Vec::new(),
            words: String::new(),
            starts: Vec::new(),
            postings: Vec::new(),
            grams: HashMap::new(),
        };
        for Counted { document, words, grams } in counted {
            let document = u32::try_from(document).unwrap_or(u32::MAX);
            for (word, often) in words {
                let place = match places.get(&word) {
                    Some(place) => *place,
                    None => {
                        index.starts.push(index.words.len());
                        index.words.push_str(&word);
                        index.words.push('\n');
                        index.postings.push(Vec::new());
                        places.insert(word, index.postings.len() - 1);
                        index.postings.len() - 1
                    }
                };
                index.postings[place].push(Posting { document, often });
            }
            for (gram, often) in grams {
                index.grams.entry(gram).or_default().push(Posting { document, often });
            }
        }
        index.documents = documents;
        index
    }

    /// Searches without reading the messages again, but for those that may hold a phrase and those that are shown.
    pub fn search(&self, question: &Question, options: &Options) -> Found<'s> {
        answer(&self.documents, question, options, |asked| self.tallies(question, asked))
    }

    fn tallies(&self, question: &Question, asked: &[usize]) -> Vec<Tally> {
        let matcher = Matcher::new(question);
        let mut tallies: Vec<Option<Tally>> = vec![None; self.documents.len()];
        let mut add = |postings: &[Posting], count: &dyn Fn(&mut Tally, u64)| {
            for posting in postings {
                let document = posting.document as usize;
                let tally = tallies[document].get_or_insert_with(|| Tally::new(document, &matcher));
                count(tally, u64::from(posting.often));
            }
        };
        matcher.each(&self.words, |place| {
            if matches!(question.terms[place.term].what, What::Gram { .. }) {
                return;
            }
            let word = self.starts.partition_point(|start| *start <= place.start) - 1;
            add(&self.postings[word], &|tally, often| {
                let tallies = if place.is_longer { &mut tally.longer } else { &mut tally.terms };
                tallies[place.term] += place.tally * often;
            });
        });
        for (term, what) in question.terms.iter().map(|term| &term.what).enumerate() {
            let What::Gram { text, begins, ends } = what else { continue };
            for edges in [[false, false], [false, true], [true, false], [true, true]] {
                let gram = (text[0], text.get(1).copied(), edges);
                if let Some(postings) = self.grams.get(&gram) {
                    let tally_of_one = gram_tally(edges, *begins, *ends);
                    add(postings, &|tally, often| tally.terms[term] += tally_of_one * often);
                }
            }
        }
        let mut kept: Vec<Option<Tally>> = asked.iter().map(|document| tallies[*document].take()).collect();
        if !question.literals.is_empty() {
            let every = question.literals.iter().any(|literal| literal.terms.is_empty());
            let wanted: Vec<usize> = asked
                .iter()
                .zip(&kept)
                .filter(|(_, tally)| every || tally.as_ref().is_some_and(|tally| tally.wants_text(&matcher)))
                .map(|(document, _)| *document)
                .collect();
            let counted = in_parallel(&wanted, &self.documents, |document, own: &mut Option<Matcher<'_>>| {
                let own = own.get_or_insert_with(|| Matcher::new(question));
                let place = asked.binary_search(&document).ok()?;
                let mut tally = kept[place].clone().unwrap_or_else(|| Tally::new(document, own));
                tally.count_literals(own, &self.documents[document].texts(|_| true));
                Some((place, tally))
            });
            for (place, tally) in counted {
                kept[place] = Some(tally);
            }
        }
        kept.into_iter().flatten().filter(Tally::is_any).collect()
    }
}

/// The words of one document.
#[derive(Default)]
struct Counted {
    document: usize,
    words: HashMap<String, u32>,
    grams: HashMap<Gram, u32>,
}

impl Counted {
    fn add(&mut self, text: &str) {
        for (run, at, words) in runs(text) {
            match run {
                Run::Word => match self.words.get_mut(words) {
                    Some(often) => *often += 1,
                    None => {
                        self.words.insert(words.to_owned(), 1);
                    }
                },
                Run::Spaceless => self.add_spaceless(text, at, words),
            }
        }
    }

    fn add_spaceless(&mut self, text: &str, at: usize, run: &str) {
        let before = text[..at].chars().next_back();
        let behind = text[at + run.len()..].chars().next();
        let characters: Vec<char> = run.chars().collect();
        for len in [1, 2] {
            for (from, gram) in characters.windows(len).enumerate() {
                let before = if from == 0 { before } else { Some(characters[from - 1]) };
                let behind = characters.get(from + len).copied().or(behind);
                let edges = gram_edges(gram, before, behind);
                let gram = (fold(gram[0]), gram.get(1).map(|second| fold(*second)), edges);
                *self.grams.entry(gram).or_default() += 1;
            }
        }
    }
}
