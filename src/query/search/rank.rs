//! Which documents fit a query best: BM25 (Robertson and Zaragoza, 2009) over words, with lengths in bytes.

use super::document::Document;
use super::matching::WHOLE;
use super::question::Question;
use super::tally::Tally;

/// How soon more of the same word stops counting.
const K1: f64 = 1.2;
/// How much long documents are held against it.
const B: f64 = 0.75;

/// What a query's parts count in the documents that are asked.
#[derive(Debug)]
pub(super) struct Weights {
    pub terms: Vec<f64>,
    pub literals: Vec<f64>,
    /// Terms that only longer words begin with.
    pub is_longer: Vec<bool>,
    average_bytes: f64,
}

impl Weights {
    pub fn of(question: &Question, tallies: &[Tally], documents: &[Document<'_>], asked: &[usize]) -> Weights {
        let total = asked.len() as f64;
        let bytes: u64 = asked.iter().map(|document| documents[*document].bytes).sum();
        let rarity = |holding: usize| {
            let holding = holding as f64;
            (1.0 + (total - holding + 0.5) / (holding + 0.5)).ln()
        };
        let holding = |is_in: &dyn Fn(&Tally) -> bool| tallies.iter().filter(|tally| is_in(tally)).count();
        let terms = question.terms.iter().enumerate().map(|(index, term)| {
            let exact = holding(&|tally| tally.terms[index] > 0);
            let is_longer = exact == 0;
            let holding = if is_longer { holding(&|tally| tally.longer[index] > 0) } else { exact };
            (term.weight * rarity(holding), is_longer)
        });
        let (terms, is_longer) = terms.unzip();
        let literals = question
            .literals
            .iter()
            .enumerate()
            .map(|(index, literal)| literal.weight * rarity(holding(&|tally| tally.literals[index] > 0)));
        Weights { terms, is_longer, literals: literals.collect(), average_bytes: bytes as f64 / total.max(1.0) }
    }

    /// The score of a document; none where it is no result.
    pub fn score(&self, question: &Question, tally: &Tally, documents: &[Document<'_>]) -> Option<f64> {
        let lacks =
            question.literals.iter().zip(&tally.literals).any(|(literal, tally)| literal.required && *tally == 0);
        if lacks {
            return None;
        }
        let length = documents[tally.document].bytes as f64 / self.average_bytes.max(1.0);
        let of = |weight: f64, often: u64| {
            let often = often as f64 / WHOLE as f64;
            weight * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * length))
        };
        let terms = self.terms.iter().enumerate().map(|(index, weight)| {
            let often = if self.is_longer[index] { tally.longer[index] } else { tally.terms[index] };
            of(*weight, often)
        });
        let literals = self.literals.iter().zip(&tally.literals).map(|(weight, often)| of(*weight, *often));
        let score: f64 = terms.chain(literals).sum();
        (score > 0.0).then_some(score)
    }
}
