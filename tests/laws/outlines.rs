//! A request in YAML whose texts stay in the file is the request read whole.

use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use polyloop::context::Store;
use polyloop::read::{self, Format, Input};
use polyloop::stream::{self, Kept, Options, Sizes};
use polyloop::{assemble, measure};
use proptest::prelude::*;

use crate::emit;
use crate::generate::request;
use crate::text::Choices;

/// Both ways give the same bytes, sizes, digest and warnings; what is refused whole is never taken. Tells whether it
/// was taken.
fn both_ways_agree(document: &str, steps: Option<usize>, window: usize, least: usize) -> bool {
    let whole = read::decode(document.as_bytes()).and_then(|text| read::request(text, Some(Format::Yaml)));
    let sizes = Sizes { window, shortest: least };
    let options = Options { sizes, own_thread: window.is_multiple_of(3), ..Options::default() };
    let store = Store::new(Cursor::new(document.as_bytes().to_vec()));
    let stop = AtomicBool::new(false);
    let outline = stream::outline(&mut Cursor::new(document), &store, Some(Format::Yaml), options, &stop);
    let Some(mut outline) = outline else { return false };
    let Some(Kept { input: Input::Request(found), .. }) = outline.input() else { return false };
    let whole = whole.unwrap_or_else(|error| panic!("taken, window {window}, least {least}, {error}:\n{document}"));
    let assembled = [&found, &whole].map(|request| assemble(request, steps).expect("it assembles"));
    let [found_context, context] = assembled;
    assert!(found_context.to_canonical() == context.to_canonical(), "window {window}, least {least}:\n{document}");
    let digest = stream::write(&found_context, std::io::sink(), window.is_multiple_of(2));
    assert_eq!(digest.expect("a sink takes every write"), context.digest());
    assert_eq!(measure::context(&found_context), measure::context(&context));
    assert_eq!(found_context.messages.len(), context.messages.len());
    assert!(found_context.messages.iter().zip(&context.messages).all(|(a, b)| a.same_bytes(b)));
    assert_eq!(found.warnings(), whole.warnings());
    assert_eq!(found.parts().max_prompt_chars, whole.parts().max_prompt_chars);
    store.check().expect("all of it was read");
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn outlines_of_any_size_give_the_same(request in request(true), seed: u64, window in 1usize..300, least in 1usize..40) {
        let document = emit::yaml(&request.document(), &mut Choices::new(seed));
        both_ways_agree(&document, None, window, least);
        both_ways_agree(&format!("\u{feff}{document}"), Some(request.steps.len() / 2), 64 << 10, least);
    }

    /// Damage is seen or harmless, and never anything else.
    #[test]
    fn damage_is_judged_alike(
        request in request(true), seed: u64, window in 1usize..300, least in 1usize..20, at: prop::sample::Index, len in 0usize..3,
        with in prop::sample::select(vec![
            "", "\"", "'", "|", "- ", ": ", "#", " ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", "\0", "\u{7f}", "\u{80}", "\u{85}", "\u{feff}",
            "\u{ffff}", "é", "---\n", "...\n", "a: |\n", "- |2\n", "&x ", "*x", "!!str ", ">", "text", "2", "+", "]",
        ]),
    ) {
        let document = emit::yaml(&request.document(), &mut Choices::new(seed));
        let boundaries: Vec<usize> = document.char_indices().map(|(at, _)| at).collect();
        let at = at.index(boundaries.len());
        let end = boundaries.get(at + len).copied().unwrap_or(document.len());
        both_ways_agree(&format!("{}{with}{}", &document[..boundaries[at]], &document[end..]), None, window, least);
    }
}

/// A law that is never put to use is none.
#[test]
fn most_documents_with_blocks_are_taken() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut with_blocks, mut taken) = (0, 0);
    for seed in 0..300 {
        let request = request(true).new_tree(&mut runner).expect("a request").current();
        let document = emit::yaml(&request.document(), &mut Choices::new(seed));
        if ["|", "|-", "|+", "|2", "|2-", "|2+"].iter().any(|header| document.contains(&format!(" {header}\n"))) {
            with_blocks += 1;
            taken += usize::from(both_ways_agree(&document, None, 64, 1));
        }
    }
    assert!(with_blocks > 60 && taken * 10 > with_blocks * 7, "{taken} of {with_blocks}");
}

/// What no request of the laws holds: much of it, and long lines.
#[test]
fn large_requests_are_the_same_in_outline() {
    let indented = |text: &str| text.lines().map(|line| format!("      {line}\n")).collect::<String>();
    let observation = |n: usize| match n % 4 {
        0 => indented(&"plain text \"quoted\"\n\tand \\ more\n\n  \n".repeat(900)),
        1 => indented(&"é漢😀".repeat(40_000)),
        2 => indented(&format!("{n}")),
        _ => indented(&"x\n".repeat(20_000)),
    };
    let step =
        |n: usize| format!("  - raw_output: |-\n{0}    observation: |{1}\n{0}", observation(n), ["", "+"][n % 2]);
    let steps = |count: usize| (0..count).map(step).collect::<String>();
    let template = "observation_template: \"<{observation:>9}|{observation!s}>\"\n";
    let documents = [
        format!("{template}trajectory:\n{}", steps(60)),
        format!("{template}trajectory:\n{}budget: {{max_prompt_chars: 5}}\n", steps(60)),
        format!("{template}trajectory:\n{}tools:\n  - description: |\n{}", steps(7), observation(0)),
        format!("observation_template: |\n{}      {{observation}}\ntrajectory:\n{}", observation(0), steps(9)),
    ];
    for document in &documents {
        for window in [64, 4096, 100_001, 256 << 10] {
            assert!(both_ways_agree(document, None, window, 256), "left, window {window}");
        }
    }
    for document in [
        format!("{template}trajectory:\n{}model: x\n", steps(2)),
        format!("trajectory:\n{}", steps(2)),
        format!("- role: user\n  content: |\n{}", observation(0)),
    ] {
        assert!(!both_ways_agree(&document, None, 4096, 256), "taken");
    }
}
