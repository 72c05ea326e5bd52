//! Requests with fragments, made up: few values of each kind, so that fragments meet.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::model::Json;

/// What there is to choose from, and the space for it.
#[derive(Clone, Debug)]
pub struct Pool {
    pub prefix: Option<String>,
    pub steps: Vec<[String; 2]>,
    /// Of each message of the prefix and each step.
    pub tokens: Option<u64>,
    pub fragments: Vec<Fragment>,
    pub window: Option<u64>,
    pub reserved: u64,
    /// Floor and cap by responsibility.
    pub shares: BTreeMap<&'static str, (u64, Option<u64>)>,
    pub counts_tokens: bool,
    /// One of [`FRAMES`].
    pub frame: Option<&'static str>,
    pub prefer: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Fragment {
    pub id: String,
    pub kind: &'static str,
    pub content: String,
    pub trust: &'static str,
    pub priority: i64,
    pub required: bool,
    pub freshness: &'static str,
    pub source: Option<&'static str>,
    pub version: Option<&'static str>,
    /// Whether it still holds, if that is limited.
    pub holds: Option<bool>,
    pub claim: Option<&'static str>,
    /// Ids.
    pub supersedes: Vec<String>,
    pub group: Option<&'static str>,
    pub trim: Option<(&'static str, &'static str, u64)>,
    pub tokens: Option<u64>,
}

/// Every kind, with the number of its layer and its responsibility.
pub const KINDS: &[(&str, usize, &str)] = &[
    ("policy", 1, "immutable_instructions"),
    ("instruction", 1, "immutable_instructions"),
    ("tool_spec", 2, "selected_skills_and_tools"),
    ("skill", 2, "selected_skills_and_tools"),
    ("goal", 3, "goal_and_acceptance"),
    ("success_contract", 3, "goal_and_acceptance"),
    ("output_contract", 3, "goal_and_acceptance"),
    ("plan", 4, "run_state"),
    ("run_state", 4, "run_state"),
    ("history", 5, "recent_history"),
    ("evidence", 6, "retrieved_material"),
    ("memory", 6, "retrieved_material"),
    ("tool_result", 7, "current_observation"),
    ("user_input", 8, "user_input"),
];

/// Frames whose size hangs on that of the content in all the ways there are.
pub const FRAMES: &[&str] = &[
    "<{id} {truncated}>\n{content}\n</{id}>",
    "{content}{content!s:<5}",
    "{content:.7}",
    "{trust!r}{content:*>30}",
    "{content!r}",
];

pub const TRUST: &[&str] = &["external", "workspace", "user", "runtime"];

/// What texts are made of: fences and JSON, whole and broken.
const LINES: &[&str] = &[
    "alpha\n",
    "béta 中\n",
    "a\r\n",
    "\n",
    " \n",
    "```\n",
    "```rust\n",
    "````\n",
    "~~~\n",
    "{\n\"a\": 1\n}\n",
    "got [1,\n2] so\n",
    "{\n",
    "[\n",
    "]\n",
    "x",
    "{\"a\":\"}\"}\n",
    "  ```\n",
    "</f1>",
];

pub fn content() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(prop::sample::select(LINES), 0..12).prop_map(|lines| lines.concat());
    prop_oneof![1 => Just("same".to_owned()), 1 => Just("same too\n".to_owned()), 20 => lines]
}

fn one<T: Clone + std::fmt::Debug + 'static>(of: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(of)
}

fn fragment() -> impl Strategy<Value = Fragment> {
    let kinds: &[&str] =
        &["policy", "skill", "goal", "plan", "history", "evidence", "memory", "tool_result", "user_input"];
    let rank = (one(TRUST), -1..3i64, prop::bool::weighted(0.1), one(&["0", "0.5", "1"]));
    let source = (
        prop::option::weighted(0.25, one(&["a", "b"])),
        prop::option::weighted(0.7, one(&["1", "2", "10", "x"])),
        prop::option::weighted(0.15, prop::bool::weighted(0.7)),
        prop::option::weighted(0.3, one(&["1", "2"])),
    );
    let group = prop::option::weighted(0.2, one(&["g", "h"]));
    let trim = (one(&["head", "tail", "head_tail"]), one(&["line", "paragraph", "fence"]), 1..6u64);
    let rest = (group, prop::option::weighted(0.8, trim), prop::option::weighted(0.9, 0..12u64));
    (one(kinds), content(), rank, source, rest, prop::collection::vec(any::<prop::sample::Index>(), 0..2)).prop_map(
        |(kind, content, (trust, priority, required, freshness), (source, version, holds, claim), rest, _)| Fragment {
            id: String::new(),
            kind,
            content,
            trust,
            priority,
            required,
            freshness,
            source,
            version,
            holds,
            claim,
            supersedes: Vec::new(),
            group: rest.0,
            trim: rest.1,
            tokens: rest.2,
        },
    )
}

pub fn pool() -> impl Strategy<Value = Pool> {
    let fragments =
        prop::collection::vec((fragment(), prop::option::weighted(0.1, any::<prop::sample::Index>())), 0..12);
    let names = Just((0..12).map(|n| format!("f{n}")).collect::<Vec<_>>()).prop_shuffle();
    let fragments = (fragments, names).prop_map(|(fragments, names)| {
        let mut named: Vec<Fragment> = Vec::new();
        for (at, ((mut fragment, supersedes), id)) in fragments.into_iter().zip(&names).enumerate() {
            fragment.id.clone_from(id);
            // Only those before it, so that nothing goes round in a circle.
            if let Some(target) = supersedes.filter(|_| at > 0) {
                fragment.supersedes.push(names[target.index(at)].clone());
            }
            named.push(fragment);
        }
        named
    });
    let responsibilities: Vec<&'static str> = KINDS.iter().map(|(_, _, responsibility)| *responsibility).collect();
    let share = (prop_oneof![Just(0), 0..30u64], prop::option::of(0..60u64));
    let shares = prop::collection::btree_map(prop::sample::select(responsibilities), share, 0..4);
    let segments = (prop::option::of(content()), prop::collection::vec([content(), content()], 0..2));
    let space = (prop::option::weighted(0.8, 0..250u64), 0..20u64, shares);
    let tokens = (prop::bool::weighted(0.2), prop::option::weighted(0.9, 0..9u64));
    let prefer = prop::sample::subsequence(vec!["newer_version", "higher_trust"], 0..=2);
    (segments, fragments, space, tokens, prop::option::weighted(0.4, one(FRAMES)), prefer).prop_map(
        |((prefix, steps), fragments, (window, reserved, shares), (counts_tokens, tokens), frame, prefer)| {
            let mut pool =
                Pool { prefix, steps, tokens, fragments, window, reserved, shares, counts_tokens, frame, prefer };
            pool.settle();
            pool
        },
    )
}

impl Pool {
    /// Bounds that go together.
    pub fn settle(&mut self) {
        for (floor, cap) in self.shares.values_mut() {
            *cap = cap.map(|cap| cap.max(*floor));
        }
        if let Some(window) = self.window {
            self.reserved = self.reserved.min(window);
            let floors: u64 = self.shares.values().map(|(floor, _)| floor).sum();
            if floors > window - self.reserved {
                self.shares.values_mut().for_each(|(floor, _)| *floor = 0);
            }
        }
    }

    pub fn document(&self) -> Json {
        let text = |text: &str| Json::Text(text.to_owned());
        let number = |number: u64| Json::Number(number.to_string());
        let map = |entries: Vec<(&str, Json)>| Json::Map(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
        let with_tokens = |mut entries: Vec<(&'static str, Json)>| {
            entries.extend(self.tokens.map(|tokens| ("tokens", number(tokens))));
            map(entries)
        };
        let mut top = vec![("as_of", text("2026-08-11T12:00:00Z"))];
        if let Some(content) = &self.prefix {
            top.push((
                "prefix",
                Json::List(vec![with_tokens(vec![("role", text("system")), ("content", text(content))])]),
            ));
        }
        let step =
            |[said, back]: &[String; 2]| with_tokens(vec![("raw_output", text(said)), ("observation", text(back))]);
        top.push(("observation_template", text("{observation}")));
        top.push(("trajectory", Json::List(self.steps.iter().map(step).collect())));
        if let Some(frame) = self.frame {
            top.push(("fragment_template", text(frame)));
        }
        let mut budget = vec![("reserved_output", number(self.reserved))];
        budget.extend(self.window.map(|window| ("window", number(window))));
        budget.push(("unit", text(if self.counts_tokens { "tokens" } else { "chars" })));
        let share = |(name, (floor, cap)): (&&'static str, &(u64, Option<u64>))| {
            let mut share = vec![("floor", number(*floor))];
            share.extend(cap.map(|cap| ("cap", number(cap))));
            (*name, map(share))
        };
        budget.push(("responsibilities", map(self.shares.iter().map(share).collect())));
        top.push(("budget", map(budget)));
        top.push(("conflicts", map(vec![("prefer", Json::List(self.prefer.iter().map(|rule| text(rule)).collect()))])));
        let fragment = |fragment: &Fragment| map(fragment.entries());
        top.push(("fragments", Json::List(self.fragments.iter().map(fragment).collect())));
        map(top)
    }
}

impl Fragment {
    fn entries(&self) -> Vec<(&'static str, Json)> {
        let text = |text: &str| Json::Text(text.to_owned());
        let number = |number: i64| Json::Number(number.to_string());
        let map = |entries: Vec<(&str, Json)>| Json::Map(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
        let mut entries = vec![
            ("id", text(&self.id)),
            ("kind", text(self.kind)),
            ("content", text(&self.content)),
            ("trust", text(self.trust)),
            ("priority", number(self.priority)),
            ("required", Json::Bool(self.required)),
            ("freshness", Json::Number(self.freshness.to_owned())),
        ];
        entries.extend(self.source.map(|source| ("source_ref", text(source))));
        entries.extend(self.version.map(|version| ("version", text(version))));
        if let Some(holds) = self.holds {
            entries.push(("observed_at", text("2026-08-11T11:59:00Z")));
            entries.push(("ttl_s", number(if holds { 60 } else { 59 })));
        }
        entries.extend(self.claim.map(|value| ("claim", map(vec![("key", text("k")), ("value", text(value))]))));
        if !self.supersedes.is_empty() {
            entries.push(("supersedes", Json::List(self.supersedes.iter().map(|id| text(id)).collect())));
        }
        entries.extend(self.group.map(|group| ("group", text(group))));
        if let Some((keep, boundary, min_chars)) = self.trim {
            let min_chars = Json::Number(min_chars.to_string());
            entries.push((
                "trim",
                map(vec![("keep", text(keep)), ("boundary", text(boundary)), ("min_chars", min_chars)]),
            ));
        }
        entries.extend(self.tokens.map(|tokens| ("tokens", Json::Number(tokens.to_string()))));
        entries
    }

    pub fn responsibility(&self) -> &'static str {
        KINDS.iter().find(|(kind, _, _)| *kind == self.kind).expect("a kind").2
    }

    pub fn layer(&self) -> usize {
        KINDS.iter().find(|(kind, _, _)| *kind == self.kind).expect("a kind").1
    }
}
