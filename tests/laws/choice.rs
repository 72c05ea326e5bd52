//! The selection as the tests see it: short, slow and obvious, written from the rule and from nothing else.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::pool::{FRAMES, Fragment, Pool, TRUST};

/// What the rule gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is in, by place, and which characters were kept where some were not.
    pub included: BTreeMap<usize, Option<Vec<(u64, u64)>>>,
    /// What is out, by place: why, and by which.
    pub excluded: BTreeMap<usize, (&'static str, Option<usize>)>,
    pub used: u64,
    pub is_unknown: bool,
}

pub fn choose(pool: &Pool) -> Result<Choice, &'static str> {
    Chooser { pool, out: BTreeMap::new() }.run()
}

struct Chooser<'p> {
    pool: &'p Pool,
    out: BTreeMap<usize, (&'static str, Option<usize>)>,
}

impl Chooser<'_> {
    fn get(&self, at: usize) -> &Fragment {
        &self.pool.fragments[at]
    }

    fn is_required(&self, at: usize) -> bool {
        let fragment = self.get(at);
        let in_group = |other: &&Fragment| other.group == fragment.group && other.group.is_some();
        fragment.required || self.pool.fragments.iter().filter(in_group).any(|other| other.required)
    }

    fn alive(&self) -> Vec<usize> {
        (0..self.pool.fragments.len()).filter(|at| !self.out.contains_key(at)).collect()
    }

    /// Lets some go, and the rest of their groups.
    fn leave(&mut self, leaving: BTreeMap<usize, (&'static str, Option<usize>)>) {
        for at in self.alive() {
            let group = self.get(at).group;
            let same = |other: &&usize| group.is_some() && self.get(**other).group == group;
            let by = leaving.keys().filter(same).min_by_key(|other| self.get(**other).id.clone()).copied();
            if let (Some(by), false) = (by, leaving.contains_key(&at)) {
                self.out.insert(at, ("group", Some(by)));
            }
        }
        self.out.extend(leaving);
    }

    fn run(mut self) -> Result<Choice, &'static str> {
        let stale: Vec<usize> = self.alive().into_iter().filter(|&at| self.get(at).holds == Some(false)).collect();
        if stale.iter().any(|&at| self.is_required(at)) {
            return Err("fragment.required_stale");
        }
        self.leave(stale.into_iter().map(|at| (at, ("stale", None))).collect());
        let duplicates = self.duplicates();
        self.leave(duplicates);
        let superseded = self.superseded();
        if superseded.keys().any(|&at| self.is_required(at)) {
            return Err("fragment.required_superseded");
        }
        self.leave(superseded);
        self.fill()
    }

    fn duplicates(&self) -> BTreeMap<usize, (&'static str, Option<usize>)> {
        let takes_part = |at: &usize| self.is_required(*at) || self.get(*at).group.is_none();
        let parts: Vec<usize> = self.alive().into_iter().filter(takes_part).collect();
        let mut leaving = BTreeMap::new();
        for &at in parts.iter().filter(|at| !self.is_required(**at)) {
            let same = parts.iter().copied().filter(|other| self.get(*other).content == self.get(at).content);
            let mut same: Vec<usize> = same.collect();
            let versions: Vec<&str> = same.iter().filter_map(|it| self.get(*it).version).collect();
            let trust = |it: usize| TRUST.iter().position(|trust| *trust == self.get(it).trust);
            same.sort_by_key(|&it| {
                let version = self.get(it).version.map(|version| age(version, &versions));
                (Reverse(self.is_required(it)), Reverse(trust(it)), Reverse(version), self.get(it).id.clone())
            });
            if same[0] != at {
                leaving.insert(at, ("duplicate", Some(same[0])));
            }
        }
        leaving
    }

    fn superseded(&self) -> BTreeMap<usize, (&'static str, Option<usize>)> {
        let mut by = BTreeMap::new();
        for at in self.alive() {
            let names = |other: &usize| self.get(*other).supersedes.contains(&self.get(at).id);
            if let Some(other) = self.alive().into_iter().filter(names).min_by_key(|it| self.get(*it).id.clone()) {
                by.insert(at, other);
            }
        }
        let left: Vec<usize> = self.alive().into_iter().filter(|at| !by.contains_key(at)).collect();
        for &at in &left {
            let (Some(source), Some(own)) = (self.get(at).source, self.get(at).version) else { continue };
            let of_source = |it: &usize| self.get(*it).source == Some(source) && self.get(*it).version.is_some();
            let versions: Vec<&str> =
                left.iter().copied().filter(of_source).filter_map(|it| self.get(it).version).collect();
            let newest =
                left.iter().copied().filter(of_source).min_by_key(|it| {
                    (Reverse(age(self.get(*it).version.unwrap(), &versions)), self.get(*it).id.clone())
                });
            let newest = newest.expect("it is one itself");
            if age(self.get(newest).version.unwrap(), &versions) > age(own, &versions) {
                by.insert(at, newest);
            }
        }
        let last = |mut at: usize| {
            while let Some(next) = by.get(&at) {
                at = *next;
            }
            at
        };
        by.keys().map(|&at| (at, ("superseded", Some(last(at))))).collect()
    }

    fn fill(mut self) -> Result<Choice, &'static str> {
        let pool = self.pool;
        let mut full = Full { used: 0, held: BTreeMap::new(), is_unknown: false };
        let of_segment = |chars: usize| if pool.counts_tokens { pool.tokens } else { Some(chars as u64) };
        if let Some(prefix) = &pool.prefix {
            full.add("immutable_instructions", of_segment(prefix.chars().count()));
        }
        for [said, back] in &pool.steps {
            full.add("recent_history", of_segment(said.chars().count() + back.chars().count()));
        }
        let mut included = BTreeMap::new();
        for at in self.alive().into_iter().filter(|at| self.is_required(*at)) {
            full.add(self.get(at).responsibility(), self.size(at));
            included.insert(at, None);
        }
        let available = pool.window.map(|window| window - pool.reserved);
        if available.is_some_and(|available| full.used > available) {
            return Err("budget.required_exceeds");
        }
        let optional: Vec<usize> = self.alive().into_iter().filter(|at| !included.contains_key(at)).collect();
        let mut order = optional.clone();
        order.sort_by(|&a, &b| {
            let rank = |it: usize| (Reverse(self.get(it).priority), Reverse(self.get(it).freshness));
            let size = |it: usize| self.size(it).unwrap_or(u64::MAX);
            (rank(a), size(a), &self.get(a).id).cmp(&(rank(b), size(b), &self.get(b).id))
        });
        let mut responsibilities: Vec<&str> = crate::pool::KINDS.iter().map(|(_, _, name)| *name).collect();
        responsibilities.dedup();
        let mut turns: Vec<(usize, Option<(&str, u64)>)> = Vec::new();
        for name in responsibilities {
            let floor = pool.shares.get(name).map_or(0, |(floor, _)| *floor);
            let of_it = order.iter().filter(|at| self.get(**at).responsibility() == name);
            turns.extend(of_it.map(|at| (*at, Some((name, floor)))));
        }
        turns.extend(order.iter().map(|at| (*at, None)));
        for (at, floor) in turns {
            if included.contains_key(&at) || self.out.contains_key(&at) {
                continue;
            }
            if floor.is_some_and(|(name, floor)| full.of(name) >= floor) {
                continue;
            }
            let group = self.get(at).group;
            let is_member = |other: &&usize| **other == at || (group.is_some() && self.get(**other).group == group);
            let members: Vec<usize> = optional.iter().filter(is_member).copied().collect();
            match self.fits(&members, &full, available) {
                Ok(()) => {
                    for member in members {
                        full.add(self.get(member).responsibility(), self.size(member));
                        included.insert(member, None);
                    }
                }
                Err(reason) => match self.cut(at, &full, available) {
                    Some((kept, size)) => {
                        full.add(self.get(at).responsibility(), Some(size));
                        included.insert(at, Some(kept));
                    }
                    None => {
                        for member in members {
                            let is_first = member == at;
                            self.out.insert(member, if is_first { (reason, None) } else { ("group", Some(at)) });
                        }
                    }
                },
            }
        }
        Ok(Choice { included, excluded: self.out, used: full.used, is_unknown: full.is_unknown })
    }

    fn framed(&self, at: usize, content: &str, truncated: bool) -> String {
        let Fragment { id, trust, .. } = self.get(at);
        let Some(frame) = self.pool.frame else { return content.to_owned() };
        match FRAMES.iter().position(|known| *known == frame) {
            Some(0) => format!("<{id} {truncated}>\n{content}\n</{id}>"),
            Some(1) => format!("{content}{content:<5}"),
            Some(2) => content.chars().take(7).collect(),
            Some(3) => format!("'{trust}'{content:*>30}"),
            _ => format!("'{}'", content.replace('\r', "\\r").replace('\n', "\\n")),
        }
    }

    fn size(&self, at: usize) -> Option<u64> {
        let fragment = self.get(at);
        if self.pool.counts_tokens {
            return fragment.tokens;
        }
        Some(self.framed(at, &fragment.content, false).chars().count() as u64)
    }

    fn fits(&self, members: &[usize], full: &Full, available: Option<u64>) -> Result<(), &'static str> {
        let cap = |at: usize| self.pool.shares.get(self.get(at).responsibility()).and_then(|(_, cap)| *cap);
        let unknown: Vec<usize> = members.iter().copied().filter(|member| self.size(*member).is_none()).collect();
        if unknown.iter().any(|member| cap(*member).is_some()) {
            return Err("over_cap");
        }
        let size = |at: &usize| self.size(*at).unwrap_or(0);
        for &member in members {
            let name = self.get(member).responsibility();
            let need: u64 = members.iter().filter(|it| self.get(**it).responsibility() == name).map(size).sum();
            if need > 0 && cap(member).is_some_and(|cap| full.of(name) + need > cap) {
                return Err("over_cap");
            }
        }
        let all: u64 = members.iter().map(size).sum();
        let is_over = |available| !unknown.is_empty() || full.used + all > available;
        if available.is_some_and(is_over) { Err("over_budget") } else { Ok(()) }
    }

    /// The characters kept, and the size of it all.
    fn cut(&self, at: usize, full: &Full, available: Option<u64>) -> Option<(Vec<(u64, u64)>, u64)> {
        let fragment = self.get(at);
        let (keep, boundary, min_chars) = fragment.trim?;
        if fragment.group.is_some() || self.pool.counts_tokens {
            return None;
        }
        let name = fragment.responsibility();
        let cap = self.pool.shares.get(name).and_then(|(_, cap)| *cap);
        let cap_left = cap.map(|cap| cap.saturating_sub(full.of(name)));
        let space = [available.map(|available| available - full.used), cap_left].into_iter().flatten().min()?;
        let text: Vec<char> = fragment.content.chars().collect();
        let of = |range: std::ops::Range<usize>| text[range].iter().collect::<String>();
        let size = |content: &str| self.framed(at, content, true).chars().count() as u64;
        let places: Vec<usize> = (0..=text.len()).filter(|place| is_boundary(&text, *place, boundary)).collect();
        let end = text.len();
        let (head, tail) = match keep {
            "head" => {
                let fits = |place: &&usize| **place < end && size(&of(0..**place)) <= space;
                (*places.iter().rev().find(fits)?, end)
            }
            "tail" => {
                let fits = |place: &&usize| **place > 0 && size(&of(**place..end)) <= space;
                (0, *places.iter().find(fits)?)
            }
            _ => {
                let half = space.checked_sub(size(""))? / 2;
                let head = *places.iter().rev().find(|place| **place < end && **place as u64 <= half)?;
                let fits = |place: &&usize| **place > head && size(&(of(0..head) + &of(**place..end))) <= space;
                (head, *places.iter().find(fits)?)
            }
        };
        let kept: Vec<(u64, u64)> =
            [(0, head as u64), (tail as u64, end as u64)].into_iter().filter(|(a, b)| a < b).collect();
        let chars: u64 = kept.iter().map(|(a, b)| b - a).sum();
        (chars >= min_chars).then(|| (kept, size(&(of(0..head) + &of(tail..end)))))
    }
}

/// What is used, in all and by responsibility.
struct Full {
    used: u64,
    held: BTreeMap<&'static str, u64>,
    is_unknown: bool,
}

impl Full {
    fn add(&mut self, name: &'static str, size: Option<u64>) {
        self.is_unknown |= size.is_none();
        self.used += size.unwrap_or(0);
        *self.held.entry(name).or_default() += size.unwrap_or(0);
    }

    fn of(&self, name: &str) -> u64 {
        self.held.get(name).copied().unwrap_or(0)
    }
}

/// The newer is the greater: whole numbers as numbers, if all of them are.
fn age(version: &str, all: &[&str]) -> (u64, String) {
    match (version.parse(), all.iter().all(|version| version.parse::<u64>().is_ok())) {
        (Ok(number), true) => (number, String::new()),
        _ => (0, version.to_owned()),
    }
}

/// Whether a text may be cut at a place, in characters.
pub fn is_boundary(text: &[char], place: usize, boundary: &str) -> bool {
    if place == 0 || place == text.len() {
        return true;
    }
    let of = |range: std::ops::Range<usize>| text[range].iter().collect::<String>();
    let (before, behind) = (of(0..place), of(place..text.len()));
    if !before.ends_with('\n') || is_in_fence(&before) || is_in_json(text, place) {
        return false;
    }
    let last = before.strip_suffix('\n').unwrap_or(&before).rsplit('\n').next().unwrap_or("");
    let next = behind.split('\n').next().unwrap_or("");
    match boundary {
        "line" => true,
        "paragraph" => last.trim().is_empty() && !next.trim().is_empty(),
        _ => {
            let with_next = format!("{before}{next}\n");
            let before_last = &before[..before.len() - last.len() - 1];
            (!is_in_fence(&before) && is_in_fence(&with_next)) || is_in_fence(before_last)
        }
    }
}

fn is_in_fence(text: &str) -> bool {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let line = line.trim();
        for mark in ['`', '~'] {
            let count = line.chars().take_while(|c| *c == mark).count();
            if count < 3 {
                continue;
            }
            let rest = &line[count..];
            match open {
                None if mark == '~' || !rest.contains('`') => open = Some((mark, count)),
                Some((by, least)) if by == mark && count >= least && rest.is_empty() => open = None,
                _ => {}
            }
            break;
        }
    }
    open.is_some()
}

fn is_in_json(text: &[char], place: usize) -> bool {
    let is_value = |start: usize, end: usize| {
        let value = text[start..end].iter().collect::<String>();
        value.ends_with(['}', ']']) && serde_json::from_str::<serde_json::Value>(&value).is_ok()
    };
    (0..place).any(|start| matches!(text[start], '{' | '[') && (place + 1..=text.len()).any(|end| is_value(start, end)))
}
