//! The best match in a document, and the text round it.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::matching::{Matcher, Place, WHOLE};

use super::rank::Weights;
use super::unescaped::Unescaped;
use crate::query::Field;

/// How far apart matches may be that are shown as one, in bytes.
const TOGETHER: usize = 240;
/// How long a snippet is, in bytes, where the match is no longer.
const LENGTH: usize = 320;
/// How much stands before the first match at most, in bytes.
const BEFORE: usize = 100;
/// How many matches of one document are looked at.
const MOST: usize = 200_000;

/// Where a document matches best.
#[derive(Clone, Debug)]
pub(super) struct Best {
    /// The field it lies in.
    pub field: usize,
    /// Bytes of the field: the match that says most, and every match in the snippet.
    pub range: (usize, usize),
    pub matches: Vec<(usize, usize)>,
    /// The text that is shown.
    pub snippet: (usize, usize),
    /// How much of the query the document holds, and how much of it stands together here: the mean of both, from 0 to 1.
    pub coverage: f64,
}

/// A match, and what it counts.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    end: usize,
    /// The term, or behind the terms the literal.
    part: usize,
    weight: f64,
}

/// The stretch of a document in which the most of a query stands, the first of equal ones.
pub(super) fn best(fields: &[Field<'_>], matcher: &Matcher<'_>, weights: &Weights) -> Option<Best> {
    let mut best: Option<(f64, usize, Vec<Match>, Range<usize>)> = None;
    let mut held = vec![0.0_f64; weights.terms.len() + weights.literals.len()];
    let mut left = MOST;
    for (index, field) in fields.iter().enumerate() {
        let searched = Unescaped::of(field);
        let mut matches = matches(&searched.text, matcher, weights, &mut left);
        for found in &mut matches {
            (found.start, found.end) = (searched.original(found.start), searched.original(found.end));
        }
        for found in &matches {
            held[found.part] = held[found.part].max(found.weight);
        }
        if let Some((value, range)) = densest(&matches, held.len())
            && best.as_ref().is_none_or(|(of_best, ..)| value > *of_best)
        {
            best = Some((value, index, matches, range));
        }
    }
    let (value, field, matches, range) = best?;
    let all: f64 = weights.terms.iter().chain(&weights.literals).sum();
    let held: f64 = held.iter().sum();
    let text = &*fields[field].text;
    let heaviest = matches[range.clone()].iter().fold(None, |best: Option<&Match>, found| match best {
        Some(best) if best.weight >= found.weight => Some(best),
        _ => Some(found),
    })?;
    let span = (matches[range.start].start, matches[range].iter().map(|found| found.end).max()?);
    let merged = merged(&matches);
    let range = merged.iter().find(|(start, end)| *start <= heaviest.start && heaviest.end <= *end);
    let range = *range.unwrap_or(&(heaviest.start, heaviest.end));
    let snippet = around(text, span, range);
    let within = |(start, end): (usize, usize)| (start.max(snippet.0), end.min(snippet.1));
    let shown = merged.into_iter().map(within).filter(|(start, end)| start < end).collect();
    Some(Best {
        field,
        range,
        matches: shown,
        snippet,
        coverage: if all > 0.0 { (held + value) / (2.0 * all) } else { 1.0 },
    })
}

fn matches(text: &str, matcher: &Matcher<'_>, weights: &Weights, left: &mut usize) -> Vec<Match> {
    let mut matches = Vec::new();
    let mut push = |found: Match| {
        if *left > 0 {
            *left -= 1;
            matches.push(found);
        }
    };
    matcher.each(text, |Place { term, start, end, tally, is_longer }| {
        if is_longer == weights.is_longer[term] {
            push(Match { start, end, part: term, weight: weights.terms[term] * tally as f64 / WHOLE as f64 });
        }
    });
    for (index, literal) in matcher.question.literals.iter().enumerate() {
        for (start, end) in literal.each(text) {
            push(Match { start, end, part: weights.terms.len() + index, weight: weights.literals[index] });
        }
    }
    // What begins first, and of that the longest.
    matches.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    matches
}

/// The range of matches that stand together and hold the most; each part of the query counts once, by its best match.
fn densest(matches: &[Match], parts: usize) -> Option<(f64, Range<usize>)> {
    let mut best: Option<(f64, Range<usize>)> = None;
    let mut counts: Vec<Vec<usize>> = vec![Vec::new(); parts];
    let mut from = 0;
    let mut value = 0.0;
    for (to, found) in matches.iter().enumerate() {
        while from < to && found.end.saturating_sub(matches[from].start) > TOGETHER {
            let gone = &mut counts[matches[from].part];
            value -= heaviest(gone, matches);
            gone.retain(|held| *held != from);
            value += heaviest(gone, matches);
            from += 1;
        }
        let own = &mut counts[found.part];
        value -= heaviest(own, matches);
        own.push(to);
        value += heaviest(own, matches);
        if best.as_ref().is_none_or(|(of_best, _)| value > of_best + 1e-9) {
            best = Some((value, from..to + 1));
        }
    }
    best
}

fn heaviest(places: &[usize], matches: &[Match]) -> f64 {
    places.iter().map(|place| matches[*place].weight).fold(0.0, f64::max)
}

/// Matches in one another, over one another and side by side as one.
fn merged(matches: &[Match]) -> Vec<(usize, usize)> {
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for found in matches {
        match merged.last_mut() {
            Some((_, end)) if found.start < *end => *end = found.end.max(*end),
            _ => merged.push((found.start, found.end)),
        }
    }
    merged
}

/// The text round a match: whole lines where they fit, else cut between characters.
fn around(text: &str, span: (usize, usize), best: (usize, usize)) -> (usize, usize) {
    // A match longer than a snippet is shown from its start.
    let (mut start, mut end) = if span.1 - span.0 <= LENGTH { span } else { best };
    if end - start > LENGTH {
        end = cut_before(text, start + LENGTH);
    }
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    start = if start - line <= BEFORE { line } else { cut_behind(text, start - BEFORE) };
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let room = LENGTH.saturating_sub(end - start);
    if line_end - end > room {
        return (start, cut_before(text, end + room).max(end));
    }
    end = line_end;
    // Lines behind, then lines before, as long as they fit whole.
    while end < text.len() {
        let next = text[end + 1..].find('\n').map_or(text.len(), |at| end + 1 + at);
        if next - start > LENGTH {
            break;
        }
        end = next;
    }
    while start > 0 && text[..start].ends_with('\n') {
        let previous = text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        if end - previous > LENGTH {
            break;
        }
        start = previous;
    }
    (start, end)
}

/// The last place up to here at which no character is cut, as people see characters; in a heap of marks any place.
fn cut_before(text: &str, at: usize) -> usize {
    let at = floor(text, at);
    if is_cut(text, at) {
        GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten().unwrap_or(0)
    } else {
        at
    }
}

/// The first such place from here on.
fn cut_behind(text: &str, at: usize) -> usize {
    let at = floor(text, at);
    if is_cut(text, at) {
        GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
    } else {
        at
    }
}

fn is_cut(text: &str, at: usize) -> bool {
    !GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
