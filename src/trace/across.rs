//! Many runs of one agent: how much of their prompts they begin with in common, and what breaks that.

use std::collections::HashMap;

use serde::Serialize;

use crate::context::{Context, Fingerprint};
use crate::measure;

/// Runs as they are gathered. Of each no more is kept than what its messages are known by.
#[derive(Debug, Default)]
pub struct Runs {
    /// What a message is known by, to its place in `messages`.
    known: HashMap<Key, usize>,
    messages: Vec<Known>,
    runs: Vec<Vec<usize>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Tools(String),
    Message(Fingerprint),
}

#[derive(Debug)]
struct Known {
    chars: u64,
    origin: String,
    segment: &'static str,
}

/// What many runs have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Across {
    /// Number of runs.
    pub runs: usize,
    /// Characters of all of them.
    pub sent_chars: u64,
    /// Characters that a run begins with as another one before it does.
    pub shared_chars: u64,
    /// What all runs begin with, in messages (tools count as one).
    pub shared_by_all: usize,
    /// The same in characters.
    pub shared_by_all_chars: u64,
    /// Where runs part, the dearest first.
    pub breaks: Vec<Break>,
    /// What is shared, as a tree: the branches that more than one run goes along.
    pub tree: Vec<Branch>,
}

/// Messages in a row that the same runs have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// How many branches lie before it.
    pub depth: usize,
    /// How many runs go along it.
    pub runs: usize,
    /// Its first message, counted from 0 (tools count as one).
    pub from: usize,
    /// How many messages it has.
    pub messages: usize,
    /// Their size in characters.
    pub chars: u64,
    /// Where the first of them came from.
    pub origin: String,
}

/// A place where runs part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Break {
    /// How many messages those runs have in common before it.
    pub after: usize,
    /// How many runs come here.
    pub runs: usize,
    /// In how many ways they go on.
    pub ways: usize,
    /// Where the message they part at came from, in the first of them.
    pub origin: String,
    /// The part of the request that it lies in.
    pub segment: &'static str,
    /// Characters behind it that would be shared as well if that message were the same.
    pub would_share_chars: u64,
}

impl Runs {
    /// Adds a run.
    pub fn add(&mut self, context: &Context<'_>) {
        let mut run = Vec::with_capacity(context.messages.len() + 1);
        if !context.tools.is_empty() {
            let tools = context.tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join("\n");
            let chars = measure::tools(context).chars;
            run.push(self.know(Key::Tools(tools), || Known { chars, origin: "tools".to_owned(), segment: "tools" }));
        }
        for message in &context.messages {
            let known = || Known {
                chars: measure::message(message).chars,
                origin: message.origin.to_string(),
                segment: message.origin.segment().as_str(),
            };
            run.push(self.know(Key::Message(message.fingerprint()), known));
        }
        self.runs.push(run);
    }

    fn know(&mut self, key: Key, known: impl FnOnce() -> Known) -> usize {
        *self.known.entry(key).or_insert_with(|| {
            self.messages.push(known());
            self.messages.len() - 1
        })
    }

    fn chars(&self, message: usize) -> u64 {
        self.messages[message].chars
    }

    /// What they have in common.
    pub fn across(&self) -> Across {
        // How many breaks are weighed: each costs a look at all that is behind it.
        const WEIGHED: usize = 32;
        let all: Vec<&[usize]> = self.runs.iter().map(Vec::as_slice).collect();
        let mut tree = Tree::default();
        all.iter().for_each(|run| tree.add(run));
        let shared_by_all = tree.stem(all.len());
        let mut places = tree.breaks();
        places.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.path.len().cmp(&b.path.len())));
        let weighed = places.into_iter().take(WEIGHED);
        let mut breaks: Vec<Break> = weighed.map(|place| self.weigh(&all, &place)).collect();
        breaks.sort_by(|a, b| b.would_share_chars.cmp(&a.would_share_chars).then_with(|| a.after.cmp(&b.after)));
        let stem = all.first().map_or(&[][..], |run| &run[..shared_by_all]);
        Across {
            runs: self.runs.len(),
            sent_chars: all.iter().flat_map(|run| run.iter()).map(|&message| self.chars(message)).sum(),
            shared_chars: self.saved(&all),
            shared_by_all,
            shared_by_all_chars: stem.iter().map(|&message| self.chars(message)).sum(),
            breaks,
            tree: self.branches(&tree),
        }
    }

    /// The branches that more than one run goes along, each before those that part from it, the most trodden first.
    fn branches(&self, tree: &Tree) -> Vec<Branch> {
        let mut branches = Vec::new();
        let shared = |at: usize| {
            let mut next: Vec<usize> =
                tree.nodes[at].next.iter().copied().filter(|&next| tree.nodes[next].runs > 1).collect();
            next.sort_by_key(|&next| tree.nodes[next].runs);
            next
        };
        let mut open: Vec<(usize, usize, usize)> = shared(0).into_iter().map(|at| (at, 0, 0)).collect();
        while let Some((first, depth, from)) = open.pop() {
            let runs = tree.nodes[first].runs;
            let (mut at, mut messages, mut chars) = (first, 1, self.chars(tree.nodes[first].message));
            while let [only] = *tree.nodes[at].next
                && tree.nodes[only].runs == runs
            {
                (at, messages, chars) = (only, messages + 1, chars + self.chars(tree.nodes[only].message));
            }
            let origin = self.messages[tree.nodes[first].message].origin.clone();
            branches.push(Branch { depth, runs, from, messages, chars, origin });
            open.extend(shared(at).into_iter().map(|next| (next, depth + 1, from + messages)));
        }
        branches
    }

    /// The characters that these begin with as another does.
    fn saved(&self, runs: &[&[usize]]) -> u64 {
        let mut tree = Tree::default();
        runs.iter().for_each(|run| tree.add(run));
        tree.nodes.iter().skip(1).map(|node| (node.runs as u64 - 1) * self.chars(node.message)).sum()
    }

    /// What is behind a break, as it is shared and as it would be.
    fn weigh(&self, all: &[&[usize]], place: &Place) -> Break {
        let depth = place.path.len();
        let here = all.iter().filter(|run| run.len() > depth && run.starts_with(&place.path));
        let here: Vec<&[usize]> = here.copied().collect();
        let mut by_way: HashMap<usize, Vec<&[usize]>> = HashMap::new();
        here.iter().for_each(|run| by_way.entry(run[depth]).or_default().push(&run[depth + 1..]));
        let now: u64 = by_way.values().map(|runs| self.saved(runs)).sum();
        let behind: Vec<&[usize]> = here.iter().map(|run| &run[depth + 1..]).collect();
        let first = &self.messages[here[0][depth]];
        Break {
            after: depth,
            runs: here.len(),
            ways: by_way.len(),
            origin: first.origin.clone(),
            segment: first.segment,
            would_share_chars: self.saved(&behind) - now,
        }
    }
}

/// Runs by what they begin with.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    /// The node behind a node by a message: all runs may part at one place.
    index: HashMap<(usize, usize), usize>,
}

#[derive(Debug, Default)]
struct Node {
    message: usize,
    runs: usize,
    next: Vec<usize>,
}

/// A place where runs part: the messages before it, and how many runs come there.
#[derive(Debug)]
struct Place {
    path: Vec<usize>,
    runs: usize,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { nodes: vec![Node::default()], index: HashMap::new() }
    }
}

impl Tree {
    fn add(&mut self, run: &[usize]) {
        let mut at = 0;
        self.nodes[0].runs += 1;
        for &message in run {
            at = *self.index.entry((at, message)).or_insert_with(|| {
                self.nodes.push(Node { message, ..Node::default() });
                let next = self.nodes.len() - 1;
                self.nodes[at].next.push(next);
                next
            });
            self.nodes[at].runs += 1;
        }
    }

    /// How many messages all of so many runs begin with.
    fn stem(&self, runs: usize) -> usize {
        let mut at = 0;
        let mut len = 0;
        while let [only] = *self.nodes[at].next
            && self.nodes[only].runs == runs
        {
            (at, len) = (only, len + 1);
        }
        len
    }

    /// Every place where runs part.
    fn breaks(&self) -> Vec<Place> {
        let mut places = Vec::new();
        let mut open = vec![(0, Vec::new())];
        while let Some((at, path)) = open.pop() {
            let node = &self.nodes[at];
            if node.next.len() > 1 {
                let runs = node.next.iter().map(|&next| self.nodes[next].runs).sum();
                places.push(Place { path: path.clone(), runs });
            }
            for &next in node.next.iter().filter(|&&next| self.nodes[next].runs > 1) {
                let mut path = path.clone();
                path.push(self.nodes[next].message);
                open.push((next, path));
            }
        }
        places
    }
}
