//! What a provider's published rules would let its prefix cache keep. Nothing is known of what it really did, of how long
//! it kept it, or of tokens but what one is told they are in characters.

use serde::Serialize;

use super::{Call, Trace};
use crate::measure;

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Prefixes are cached by themselves, in steps of 128 tokens.
    OpenAi,
    /// Prefixes are cached up to markers, at most four; one is found up to 20 blocks before a marker.
    Anthropic,
}

/// The rules that are gone by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Whose they are.
    pub provider: Provider,
    /// How many characters are taken for a token.
    pub chars_per_token: f64,
    /// The shortest prefix that is cached, in tokens; 1,024 for most models.
    pub min_tokens: u64,
}

/// What the rules make of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cached {
    /// Tokens that could be read from the cache.
    pub read_tokens: u64,
    /// Tokens that would be written to it.
    pub written_tokens: u64,
    /// Tokens that would be neither.
    pub other_tokens: u64,
    /// Why no more.
    pub why: &'static str,
}

/// What a million tokens cost, as one is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Tokens that are neither read from the cache nor written to it.
    pub input: f64,
    /// Tokens that are read from it.
    pub read: f64,
    /// Tokens that are written to it.
    pub written: f64,
}

impl Prices {
    /// What all of these calls would cost.
    pub fn of(self, cached: &[Cached]) -> f64 {
        let cost = |call: &Cached| {
            let Cached { read_tokens, written_tokens, other_tokens, .. } = call;
            let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
            of(*read_tokens, self.read) + of(*written_tokens, self.written) + of(*other_tokens, self.input)
        };
        cached.iter().map(cost).sum()
    }
}

/// What the rules make of every call.
pub fn simulate(calls: &[Call<'_>], trace: &Trace, rules: Rules) -> Vec<Cached> {
    let mut written: Vec<Vec<Entry>> = vec![Vec::new(); trace.summary.conversations];
    let each = calls.iter().zip(&trace.calls);
    each.map(|(call, traced)| {
        let previous = traced.previous.map(|previous| &calls[previous]);
        let mut cached = match rules.provider {
            Provider::OpenAi => openai(rules, traced.chars + tools_chars(call), traced.kept_chars, call, previous),
            Provider::Anthropic => anthropic(rules, call, previous, &mut written[traced.conversation]),
        };
        let all = tokens(rules, traced.chars + tools_chars(call));
        cached.other_tokens = all.saturating_sub(cached.read_tokens + cached.written_tokens);
        cached
    })
    .collect()
}

fn tokens(rules: Rules, chars: u64) -> u64 {
    (chars as f64 / rules.chars_per_token).floor() as u64
}

fn tools_chars(call: &Call<'_>) -> u64 {
    call.tools.iter().map(|tool| tool.as_str().chars().count() as u64).sum()
}

fn openai(rules: Rules, chars: u64, kept: u64, call: &Call<'_>, previous: Option<&Call<'_>>) -> Cached {
    const STEP: u64 = 128;
    let all = tokens(rules, chars);
    if all < rules.min_tokens {
        return Cached {
            read_tokens: 0,
            written_tokens: 0,
            other_tokens: 0,
            why: "the prompt is shorter than what is cached",
        };
    }
    let same_tools = previous.is_some_and(|previous| previous.tools == call.tools);
    let kept = if same_tools { kept + tools_chars(call) } else { 0 };
    let shared = tokens(rules, kept);
    let read_tokens = if shared < rules.min_tokens { 0 } else { shared / STEP * STEP };
    let why = match previous {
        None => "it is the first of its conversation",
        Some(_) if read_tokens == 0 => "less than the shortest prefix is shared",
        Some(_) => "prefixes are cached in steps of 128 tokens",
    };
    Cached { read_tokens, written_tokens: all / STEP * STEP - read_tokens, other_tokens: 0, why }
}

/// A prefix that was written: how many blocks it has, and their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    blocks: usize,
    chars: u64,
}

fn anthropic(rules: Rules, call: &Call<'_>, previous: Option<&Call<'_>>, written: &mut Vec<Entry>) -> Cached {
    const LOOK_BACK: usize = 20;
    let sizes = blocks(call);
    let prefix = |blocks: usize| sizes[..blocks].iter().map(|(_, chars)| chars).sum::<u64>();
    // What was written stays only as far as this call begins with the same.
    let shared = previous.map_or(0, |previous| shared_blocks(previous, call));
    written.retain(|entry| entry.blocks <= shared);
    let marked = |path: &str| call.markers.iter().any(|marker| marker.trim_start_matches('.') == path);
    let at_top = call.markers.iter().any(String::is_empty);
    let is_last = |at: usize| at + 1 == sizes.len();
    let marks: Vec<usize> =
        (0..sizes.len()).filter(|&at| marked(&sizes[at].0) || at_top && is_last(at)).map(|at| at + 1).collect();
    let found = marks.iter().rev().find_map(|&mark| {
        let in_reach = written.iter().filter(|entry| entry.blocks <= mark && mark - entry.blocks < LOOK_BACK);
        in_reach.copied().max_by_key(|entry| entry.blocks)
    });
    let read_tokens = found.map_or(0, |entry| tokens(rules, entry.chars));
    let long_enough = |blocks: &usize| tokens(rules, prefix(*blocks)) >= rules.min_tokens;
    let fresh: Vec<Entry> =
        marks.iter().filter(|mark| long_enough(mark)).map(|&blocks| Entry { blocks, chars: prefix(blocks) }).collect();
    let longest = fresh.iter().map(|entry| tokens(rules, entry.chars)).max().unwrap_or(0);
    let why = match (marks.is_empty(), found, previous) {
        (true, ..) => "there is no marker for the cache",
        (_, _, _) if longest == 0 => "what is marked is shorter than what is cached",
        (_, Some(_), _) => "it is read up to the last marker that is found",
        (_, None, None) => "it is the first of its conversation",
        (_, None, Some(_)) if written.is_empty() => "what was cached is no longer the prefix",
        _ => "what was cached lies more than 20 blocks before the markers",
    };
    for entry in fresh {
        if !written.contains(&entry) {
            written.push(entry);
        }
    }
    Cached { read_tokens, written_tokens: longest.saturating_sub(read_tokens), other_tokens: 0, why }
}

/// The blocks of a call in the order of the cache, tools first: where each stands, and its size.
fn blocks(call: &Call<'_>) -> Vec<(String, u64)> {
    let tools = call.tools.iter().enumerate();
    let tools = tools.map(|(at, tool)| (format!("tools[{at}]"), tool.as_str().chars().count() as u64));
    let said = call.messages.iter().flat_map(|message| &message.blocks);
    let said = said.map(|block| (block.origin.to_string(), measure::block(&block.content).chars));
    tools.chain(said).collect()
}

/// How many blocks two calls begin with in common.
fn shared_blocks(a: &Call<'_>, b: &Call<'_>) -> usize {
    let tools = a.tools.iter().zip(b.tools).take_while(|(a, b)| a == b).count();
    if tools < a.tools.len().max(b.tools.len()) {
        return tools;
    }
    let mut shared = tools;
    for (one, other) in a.messages.iter().zip(b.messages) {
        let same = one.blocks.iter().zip(&other.blocks).take_while(|(a, b)| a.content == b.content).count();
        let whole = one.role == other.role && same == one.blocks.len() && same == other.blocks.len();
        shared += if one.role == other.role { same } else { 0 };
        if !whole {
            break;
        }
    }
    shared
}
