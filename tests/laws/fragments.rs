//! Laws of the selection, tried on many requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use polyloop::read::{self, Format};
use polyloop::select::{Reason, Selection};
use polyloop::{RunRequest, assemble, measure, select};
use proptest::prelude::*;
use serde_json::Value;

use crate::choice::{Choice, choose, is_boundary};
use crate::emit;
use crate::generate::request;
use crate::model::Json;
use crate::pool::{Pool, pool};
use crate::text::Choices;

fn plain(document: &Json) -> String {
    emit::json(document, &mut Choices::new(1))
}

fn parse(document: &str) -> RunRequest<'_> {
    read::request(document, Some(Format::Json)).unwrap_or_else(|error| panic!("{error}\n{document}"))
}

/// The selection in the terms of the model.
fn told(selection: &Selection<'_>) -> Choice {
    let kept = |it: &polyloop::select::Included<'_>| {
        it.cut.as_ref().map(|cut| cut.kept().map(|range| (range.start, range.end)).collect())
    };
    Choice {
        included: selection.included.iter().map(|it| (it.index, kept(it))).collect(),
        excluded: selection.excluded.iter().map(|it| (it.index, (it.reason.as_str(), it.by))).collect(),
        used: selection.space.used,
        is_unknown: !selection.space.unknown.is_empty(),
    }
}

/// Why, and by which.
type Out = (&'static str, Option<String>);

/// Ids that are in and ids that are out, with why: what does not hang on places in the request.
fn by_id(pool: &Pool, choice: &Choice) -> (BTreeSet<String>, BTreeMap<String, Out>) {
    let id = |at: &usize| pool.fragments[*at].id.clone();
    let excluded = choice.excluded.iter().map(|(at, (reason, by))| (id(at), (*reason, by.as_ref().map(id))));
    (choice.included.keys().map(id).collect(), excluded.collect())
}

fn manifest(document: &str, format: Format) -> Option<String> {
    let request = read::request(document, Some(format)).unwrap_or_else(|error| panic!("{error}\n{document}"));
    let selection = select(&request, None).ok()?;
    Some(serde_json::to_string(&selection.manifest().with_content()).expect("a manifest is JSON"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    /// The selection is that of the rule, as the tests see it; and all that is in or out is accounted for once.
    #[test]
    fn the_selection_is_that_of_the_rule(pool in pool()) {
        let document = plain(&pool.document());
        let request = parse(&document);
        let (ours, theirs) = (select(&request, None), choose(&pool));
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(&told(ours), theirs, "{}", document),
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours.code().as_str(), *theirs, "{}", document),
            (Ok(ours), Err(theirs)) => prop_assert!(false, "{:?}, not {}\n{}", told(ours), theirs, document),
            (Err(ours), Ok(_)) => prop_assert!(false, "{}\n{}", ours, document),
        }
        let Ok(selection) = ours else { return Ok(()) };
        let all = selection.included.iter().map(|it| it.index).chain(selection.excluded.iter().map(|it| it.index));
        let mut all: Vec<usize> = all.collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..pool.fragments.len()).collect::<Vec<_>>());
        prop_assert!(selection.excluded.iter().all(|it| !pool.fragments[it.index].required));
        for excluded in &selection.excluded {
            let is_replaced = matches!(excluded.reason, Reason::Duplicate | Reason::Superseded | Reason::Group);
            prop_assert_eq!(excluded.by.is_some(), is_replaced);
        }
    }

    /// What is used is what the context comes to, never more than there is; caps are passed by what is required alone.
    #[test]
    fn the_budget_is_kept(pool in pool()) {
        let document = plain(&pool.document());
        let request = parse(&document);
        let Ok(selection) = select(&request, None) else { return Ok(()) };
        let space = &selection.space;
        prop_assert!(space.available.is_none_or(|available| space.used <= available));
        prop_assert_eq!(space.holdings.iter().map(|holding| holding.used).sum::<u64>(), space.used);
        if !pool.counts_tokens {
            prop_assert_eq!(measure::context(&selection.context).chars, space.used);
        }
        for holding in &space.holdings {
            let name = holding.responsibility.as_str();
            let optional = selection.included.iter().any(|it| {
                let size = match pool.counts_tokens {
                    true => it.fragment.tokens.unwrap_or(0),
                    false => measure::message(&selection.context.messages[it.message]).chars,
                };
                !it.required && it.fragment.kind.layer().responsibility() == holding.responsibility && size > 0
            });
            let cap = pool.shares.get(name).and_then(|(_, cap)| *cap);
            prop_assert!(!optional || cap.is_none_or(|cap| holding.used <= cap), "{} holds {}", name, holding.used);
        }
    }

    /// The same fragments give the same selection in whatever order they and the keys are written, in both formats.
    #[test]
    fn order_says_nothing(pool in pool(), seed: u64) {
        let mut choices = Choices::new(seed);
        let document = pool.document();
        let first = manifest(&plain(&document), Format::Json);
        prop_assert_eq!(&manifest(&emit::json(&document, &mut choices), Format::Json), &first);
        prop_assert_eq!(&manifest(&emit::yaml(&document, &mut choices), Format::Yaml), &first);

        let mut shuffled = pool.clone();
        choices.shuffle(&mut shuffled.fragments);
        let (one, other) = (plain(&document), plain(&shuffled.document()));
        let (one, other) = (parse(&one), parse(&other));
        match (select(&one, None), select(&other, None)) {
            (Ok(one), Ok(other)) => {
                prop_assert_eq!(by_id(&pool, &told(&one)), by_id(&shuffled, &told(&other)));
                prop_assert_eq!(one.space.used, other.space.used);
                let questions = |it: &Selection<'_>| serde_json::to_string(&it.open_questions).expect("JSON");
                prop_assert_eq!(questions(&one), questions(&other));
            }
            (one, other) => {
                let code = |it: Result<_, polyloop::Error>| it.err().map(|error| error.code());
                prop_assert_eq!(code(one.map(drop)), code(other.map(drop)));
            }
        }
    }

    /// Inside a layer fragments keep the order given; any other order of them says nothing: the bytes are the same, and so
    /// is the manifest but for the places in the request.
    #[test]
    fn order_across_layers_says_nothing(pool in pool(), seed: u64) {
        let mut choices = Choices::new(seed);
        let mut mixed = pool.clone();
        choices.shuffle(&mut mixed.fragments);
        let mut layers: BTreeMap<usize, std::collections::VecDeque<_>> = BTreeMap::new();
        for fragment in &pool.fragments {
            layers.entry(fragment.layer()).or_default().push_back(fragment.clone());
        }
        for fragment in &mut mixed.fragments {
            let layer = fragment.layer();
            *fragment = layers.get_mut(&layer).and_then(|of_layer| of_layer.pop_front()).expect("as many as before");
        }
        let of = |pool: &Pool| {
            let document = plain(&pool.document());
            let request = parse(&document);
            let selection = select(&request, None).ok()?;
            let mut manifest = serde_json::to_value(selection.manifest().with_content()).expect("a manifest is JSON");
            for entry in manifest["entries"].as_array_mut().expect("a list") {
                if entry["id"].is_string() {
                    entry["origin"].take();
                }
            }
            manifest["excluded"].as_array_mut().expect("a list").sort_by_key(|it| it["id"].to_string());
            let holdings: Vec<_> = selection.space.holdings.iter().map(|it| (it.used, it.left_out)).collect();
            Some((selection.context.to_canonical(), manifest, holdings))
        };
        prop_assert_eq!(of(&mixed), of(&pool));
    }

    /// A higher priority never puts a fragment out.
    #[test]
    fn a_higher_priority_never_evicts(pool in pool(), more in 1..5i64) {
        let document = plain(&pool.document());
        let Ok(before) = select(&parse(&document), None).map(|selection| told(&selection)) else { return Ok(()) };
        for at in before.included.keys() {
            let mut raised = pool.clone();
            raised.fragments[*at].priority += more;
            let document = plain(&raised.document());
            let after = select(&parse(&document), None).map(|selection| told(&selection));
            let after = after.unwrap_or_else(|error| panic!("{error}\n{document}"));
            prop_assert!(after.included.contains_key(at), "{} is out\n{}", pool.fragments[*at].id, document);
        }
    }

    /// Where the selections of two budgets part, the larger takes what the smaller does not.
    #[test]
    fn a_larger_budget_parts_for_the_better(pool in pool(), more in 1..80u64) {
        let mut pool = pool;
        pool.shares.values_mut().for_each(|(floor, _)| *floor = 0);
        pool.fragments.iter_mut().for_each(|fragment| fragment.trim = None);
        let Some(window) = pool.window else { return Ok(()) };
        let larger = Pool { window: Some(window + more), ..pool.clone() };
        let (Ok(small), Ok(large)) = (choose(&pool), choose(&larger)) else { return Ok(()) };
        let document = plain(&larger.document());
        let request = parse(&document);
        prop_assert_eq!(&told(&select(&request, None).expect("it fits")), &large);
        let size = |at: &usize| match pool.counts_tokens {
            true => pool.fragments[*at].tokens.unwrap_or(u64::MAX),
            false => pool.fragments[*at].content.chars().count() as u64,
        };
        let mut order: Vec<usize> = (0..pool.fragments.len()).collect();
        order.sort_by_key(|at| {
            let it = &pool.fragments[*at];
            let rank = (std::cmp::Reverse(it.priority), std::cmp::Reverse(it.freshness));
            (rank, size(at), it.id.clone())
        });
        let is_in = |choice: &Choice, at: &usize| choice.included.contains_key(at);
        if let Some(first) = order.iter().find(|at| is_in(&small, at) != is_in(&large, at))
            && pool.frame.is_none()
        {
            // A member of a group comes in at the turn of the best of them, which stands before it or is it.
            prop_assert!(is_in(&large, first), "{}", pool.fragments[*first].id);
        }
    }

    /// What is left of a trimmed text is its beginning, its end, or both, cut where it may be cut, and stands in the prompt.
    #[test]
    fn trimmed_text_is_cut_at_boundaries(pool in pool()) {
        let mut pool = pool;
        pool.frame = None;
        let document = plain(&pool.document());
        let request = parse(&document);
        let Ok(selection) = select(&request, None) else { return Ok(()) };
        for included in &selection.included {
            let fragment = &pool.fragments[included.index];
            let message = &selection.context.messages[included.message];
            let polyloop::context::Content::Text(text) = &message.blocks[0].content else { panic!("no text") };
            let Some(cut) = &included.cut else {
                prop_assert_eq!(text.to_cow(), fragment.content.as_str());
                continue;
            };
            let (keep, boundary, min_chars) = fragment.trim.expect("only what may be trimmed is");
            let chars: Vec<char> = fragment.content.chars().collect();
            let mut left = String::new();
            for range in cut.kept() {
                let (start, end) = (range.start as usize, range.end as usize);
                prop_assert!(is_boundary(&chars, start, boundary) && is_boundary(&chars, end, boundary));
                prop_assert!((start == 0 && keep != "tail") || (end == chars.len() && keep != "head"));
                left.extend(&chars[start..end]);
            }
            prop_assert_eq!(text.to_cow(), left.as_str());
            prop_assert!(cut.kept_chars() >= min_chars && cut.kept_chars() < cut.of_chars());
            prop_assert_eq!((cut.kept_chars(), cut.of_chars()), (text.chars(), chars.len() as u64));
        }
    }

    /// Every message stands in the layer of its kind: the segment first, the trajectory last in its own; within a layer
    /// fragments keep their order.
    #[test]
    fn everything_stands_in_its_layer(pool in pool()) {
        let document = plain(&pool.document());
        let request = parse(&document);
        let Ok(selection) = select(&request, None) else { return Ok(()) };
        let place = |origin: &str| match origin.strip_prefix("fragments[") {
            Some(rest) => {
                let at: usize = rest.split(']').next().and_then(|at| at.parse().ok()).expect("an index");
                let layer = pool.fragments[at].layer();
                (layer, usize::from(layer != 5), at)
            }
            None if origin.starts_with("prefix") => (1, 0, 0),
            None => (5, 1, 0),
        };
        let places: Vec<_> = selection.context.messages.iter().map(|it| place(&it.origin.to_string())).collect();
        prop_assert!(places.is_sorted(), "{:?}", places);
        for included in &selection.included {
            let origin = format!("fragments[{}]#{}", included.index, included.fragment.id);
            prop_assert_eq!(selection.context.messages[included.message].origin.to_string(), origin);
        }
    }

    /// Without fragments a budget, a time and a frame change no byte.
    #[test]
    fn without_fragments_nothing_changes(request in request(true)) {
        let document = request.document();
        let wanted = request.stream(request.steps.len());
        let Json::Map(mut entries) = document else { unreachable!("a request is a map") };
        entries.retain(|(key, _)| key != "budget");
        let number = |number: u64| Json::Number(number.to_string());
        entries.push(("budget".into(), Json::Map(vec![("window".into(), number(1 << 40))])));
        entries.push(("fragments".into(), Json::List(Vec::new())));
        entries.push(("as_of".into(), Json::Text("2026-08-11T12:00:00Z".into())));
        entries.push(("fragment_template".into(), Json::Text("<{content}>".into())));
        let document = plain(&Json::Map(entries));
        let parsed = parse(&document);
        let context = assemble(&parsed, None).expect("it fits");
        prop_assert_eq!(String::from_utf8(context.to_canonical()).expect("UTF-8"), wanted);
    }

    /// The manifest says what the selection is; its sums are those of its parts.
    #[test]
    fn the_manifest_adds_up(pool in pool()) {
        let document = plain(&pool.document());
        let request = parse(&document);
        let Ok(selection) = select(&request, None) else { return Ok(()) };
        let manifest = serde_json::to_value(selection.manifest()).expect("a manifest is JSON");
        let entries = manifest["entries"].as_array().expect("a list");
        let sum = |of: &[Value]| of.iter().map(|it| it["chars"].as_u64().expect("a number")).sum::<u64>();
        let layers = manifest["layers"].as_array().expect("a list");
        prop_assert_eq!(sum(entries), measure::context(&selection.context).chars);
        prop_assert_eq!(sum(layers), sum(entries));
        let messages: Vec<u64> =
            entries.iter().flat_map(|it| it["messages"].as_array().expect("a list")).filter_map(Value::as_u64).collect();
        prop_assert_eq!(messages, (0..selection.context.messages.len() as u64).collect::<Vec<_>>());
        let digest = selection.context.digest();
        prop_assert_eq!(&manifest["digest"], digest.as_str());
        prop_assert_eq!(&manifest["context_id"], &format!("ctx_{}", &digest["sha256:".len()..][..12]));
        let counted = manifest["excluded_counts"].as_object().expect("a map").values().filter_map(Value::as_u64).sum::<u64>();
        prop_assert_eq!(counted, manifest["excluded"].as_array().expect("a list").len() as u64);
        let text = manifest.to_string();
        prop_assert!(!text.contains("béta"), "content stands in a manifest that was not asked for it");
    }
}

/// The generator must be worth its name: every reason, rule and error occurs.
#[test]
fn the_pools_are_not_one_sided() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..2000 {
        let pool = pool().new_tree(&mut runner).expect("a pool").current();
        let mut see = |what: &str| *seen.entry(what.to_owned()).or_default() += 1;
        match choose(&pool) {
            Err(code) => see(code),
            Ok(choice) => {
                choice.excluded.values().for_each(|(reason, _)| see(reason));
                for (at, _) in choice.included.iter().filter(|(_, kept)| kept.is_some()) {
                    let (keep, boundary, _) = pool.fragments[*at].trim.expect("it was trimmed");
                    see(keep);
                    see(boundary);
                }
                if choice.is_unknown {
                    see("unknown");
                }
            }
        }
    }
    for wanted in [
        "duplicate",
        "superseded",
        "stale",
        "over_cap",
        "over_budget",
        "group",
        "head",
        "tail",
        "head_tail",
        "line",
        "paragraph",
        "fence",
        "unknown",
        "fragment.required_stale",
        "fragment.required_superseded",
        "budget.required_exceeds",
    ] {
        assert!(seen.get(wanted).is_some_and(|count| *count >= 10), "{wanted}: {seen:?}");
    }
}

/// A change of any input of the cache key changes it, and a change of anything else does not.
#[test]
fn the_cache_key_is_that_of_its_inputs() {
    const BASE: &str = r#"{
        "run": {"agent_version": "a1", "policy_version": "p1", "capability_set_version": "c1", "run_id": "r1", "model": "m"},
        "state": {"revision": 18, "alive": true},
        "budget": {"window": 1000, "reserved_output": 10},
        "goal": [{"role": "user", "content": "mend the login"}],
        "fragments": [
            {"id": "e", "kind": "evidence", "content": "HS256", "priority": 1, "source_ref": "s", "reason": "why"},
            {"id": "f", "kind": "evidence", "content": "RS256"}
        ]
    }"#;
    let key = |document: &str| {
        let request = parse(document);
        let selection = select(&request, None).expect("it fits");
        selection.manifest().cache_key.to_string()
    };
    let base = key(BASE);
    for (from, to) in [
        ("\"a1\"", "\"a2\""),
        ("\"p1\"", "\"p2\""),
        ("\"c1\"", "\"c2\""),
        ("\"revision\": 18", "\"revision\": 19"),
        ("\"revision\": 18", "\"revision\": \"18\""),
        ("HS256", "HS384"),
        ("mend the login", "mend the logout"),
    ] {
        assert!(BASE.contains(from));
        assert_ne!(key(&BASE.replace(from, to)), base, "{to}");
    }
    for (from, to) in [
        ("\"r1\"", "\"r2\""),
        ("\"m\"", "\"n\""),
        ("\"alive\": true", "\"alive\": false"),
        ("\"window\": 1000", "\"window\": 2000"),
        ("\"priority\": 1", "\"priority\": 2"),
        ("\"source_ref\": \"s\"", "\"source_ref\": \"t\""),
        ("\"reason\": \"why\"", "\"reason\": \"how\""),
        ("\"id\": \"e\"", "\"id\": \"d\""),
    ] {
        assert!(BASE.contains(from));
        assert_eq!(key(&BASE.replace(from, to)), base, "{to}");
    }
    let independent = {
        use sha2::Digest;
        let hash = |text: &str| format!("\"sha256:{}\"", hex(&sha2::Sha256::digest(text.as_bytes())));
        let hashes = ["mend the login", "HS256", "RS256"].map(hash).join(",");
        let array = format!("[\"a1\",\"p1\",18,\"c1\",[{hashes}]]");
        format!("sha256:{}", hex(&sha2::Sha256::digest(array.as_bytes())))
    };
    assert_eq!(base, independent);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is read in windows knows no selection: such a request is left to be read whole, wherever the fragments stand.
#[test]
fn windows_leave_selections_alone() {
    use polyloop::context::Store;
    use polyloop::stream::{self, Options};
    use std::io::Cursor;
    const STEPS: &str = r#""observation_template":"{observation}","trajectory":[{"raw_output":"a","observation":"b"}]"#;
    const FRAGMENTS: &str = r#""fragments":[{"id":"f","kind":"evidence","content":"x"}]"#;
    let plain = format!("{{{STEPS}}}");
    assert!(stream::render(&mut Cursor::new(&plain), Options::default()).is_some());
    for document in [
        format!("{{{STEPS},{FRAGMENTS}}}"),
        format!("{{{FRAGMENTS},{STEPS}}}"),
        format!("{{{FRAGMENTS}}}"),
        format!("{{{STEPS},\"budget\":{{\"window\":9}}}}"),
    ] {
        let store = Store::new(Cursor::new(document.clone().into_bytes()));
        assert!(stream::render(&mut Cursor::new(&document), Options::default()).is_none(), "{document}");
        let outlined = {
            let stop = AtomicBool::new(false);
            stream::outline(&mut Cursor::new(&document), &store, Some(Format::Json), Options::default(), &stop)
        };
        assert!(outlined.is_none(), "{document}");
        assert!(assemble(&parse(&document), None).is_ok());
    }
}
