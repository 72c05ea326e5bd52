//! A request read in windows is the request read whole.

use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use polyloop::assemble;
use polyloop::context::Store;
use polyloop::diff::{self, Subject};
use polyloop::measure;
use polyloop::read::{self, Format, Input};
use polyloop::stream::{self, Kept, Options, Outline, Sizes};
use polyloop::write::{DiffOptions, DiffReport, Look};
use proptest::prelude::*;

use crate::emit;
use crate::generate::request;
use crate::text::Choices;

/// Both ways give the same bytes, sizes and digest; what is refused whole is never taken in windows.
fn both_ways_agree(document: &str, steps: Option<usize>, window: usize) {
    let sizes = Sizes { window, ..Sizes::default() };
    let options = Options { steps, digest: true, own_thread: window.is_multiple_of(2), sizes, ..Options::default() };
    let mut file = Cursor::new(document.as_bytes());
    let rendered = stream::render(&mut file, options);
    let request = match read::decode(document.as_bytes()).and_then(|text| read::request(text, Some(Format::Json))) {
        Ok(request) if steps.is_none_or(|steps| steps <= request.parts().trajectory.len()) => request,
        _ => return assert!(rendered.is_none(), "taken, window {window}, steps {steps:?}:\n{document}"),
    };
    let mut rendered = rendered.unwrap_or_else(|| panic!("left, window {window}, steps {steps:?}:\n{document}"));
    let context = assemble(&request, steps).expect("it assembles");
    let mut written = Vec::new();
    rendered.write(&mut file, &mut written).expect("the file is as it was");
    assert!(written == context.to_canonical(), "window {window}, steps {steps:?}:\n{document}");
    assert_eq!(rendered.digest(), Some(context.digest()));
    assert_eq!(rendered.size, measure::context(&context));
    assert_eq!(rendered.steps, request.parts().trajectory.len());
    let head = read::request(&rendered.head, Some(Format::Json)).expect("the head is a request");
    assert_eq!(head.warnings(), request.warnings());
    assert_eq!(head.parts().max_prompt_chars, request.parts().max_prompt_chars);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// In every spelling and order of keys, whatever the window cuts in two.
    #[test]
    fn windows_of_any_size_show_the_same(request in request(true), seed: u64, window in 1usize..300) {
        let document = emit::json(&request.document(), &mut Choices::new(seed));
        both_ways_agree(&document, None, window);
        both_ways_agree(&format!("\u{feff}{document}"), None, 64 << 10);
        both_ways_agree(&document, Some(request.steps.len() / 2), window);
        both_ways_agree(&document, Some(request.steps.len() + 1), window);
    }

    /// Damage is seen or harmless, and never anything else.
    #[test]
    fn damage_is_judged_alike(
        request in request(true), seed: u64, window in 1usize..300, at: prop::sample::Index, len in 0usize..3,
        with in prop::sample::select(vec!["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "e", "\\ud83d", "\n", "\0", "é", "{}"]),
    ) {
        let document = emit::json(&request.document(), &mut Choices::new(seed));
        let boundaries: Vec<usize> = document.char_indices().map(|(at, _)| at).collect();
        let at = at.index(boundaries.len());
        let end = boundaries.get(at + len).copied().unwrap_or(document.len());
        both_ways_agree(&format!("{}{with}{}", &document[..boundaries[at]], &document[end..]), None, window);
    }
}

/// What a comparison says, as a document and as text; each side is read whole, or left in its file.
fn said(documents: [(&str, Format); 2], sizes: Option<Sizes>) -> [String; 2] {
    let files = documents.map(|(document, _)| document.to_owned().into_bytes());
    let stores = files.clone().map(|file| Store::new(Cursor::new(file)));
    let mut outlines: [Option<Outline<'_>>; 2] = std::array::from_fn(|side| {
        let outline = |sizes| {
            stream::outline(
                &mut Cursor::new(&files[side]),
                &stores[side],
                Some(documents[side].1),
                Options { sizes, ..Options::default() },
                &AtomicBool::new(false),
            )
        };
        sizes.map(|sizes| outline(sizes).unwrap_or_else(|| panic!("left, {sizes:?}:\n{}", documents[side].0)))
    });
    let mut side = 0;
    let inputs = outlines.each_mut().map(|outline| {
        side += 1;
        match outline {
            Some(outline) => outline.input().expect("it is outlined"),
            None => {
                let (document, format) = documents[side - 1];
                Kept {
                    input: read::read(document, Some(format)).expect("it is read"),
                    fingerprints: Vec::new(),
                    digest: None,
                }
            }
        }
    });
    let contexts = inputs.each_ref().map(|kept| {
        let mut context = match &kept.input {
            Input::Request(request) => assemble(request, None).expect("it assembles"),
            Input::Recorded(recorded) => recorded.context.clone(),
        };
        stream::sign(&mut context, &kept.fingerprints);
        context
    });
    let [a, b] = std::array::from_fn(|side| Subject {
        name: ["a", "b"][side],
        context: &contexts[side],
        request: match &inputs[side].input {
            Input::Request(request) => Some(request),
            Input::Recorded(_) => None,
        },
        spelled: None,
    });
    let comparison = diff::compare(a, b, std::num::NonZeroUsize::MIN.saturating_add(usize::from(sizes.is_some())));
    let report = DiffReport { comparison: &comparison, a, b, wire: None };
    let mut text = Vec::new();
    report.write_text(&Look::default(), DiffOptions::default(), &mut text).expect("a vector takes every write");
    stores.iter().for_each(|store| store.check().expect("every text was there"));
    [serde_json::to_string_pretty(&report).expect("a report is JSON"), String::from_utf8(text).expect("UTF-8")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Text that is left in its file is compared like text that is held: requests with each other, with their own
    /// streams, and streams with each other.
    #[test]
    fn what_is_left_in_its_file_is_compared_alike(
        a in request(true), b in request(true), steps in 0usize..3, seed: u64, window in 1usize..300, shortest in 1usize..20,
    ) {
        // Two requests of one loop have most of their messages in common.
        let b = crate::model::Request { prefix: a.prefix.clone(), steps: [&a.steps[..], &b.steps[..]].concat(), ..b };
        let mut choices = Choices::new(seed);
        let documents = [&a, &b].map(|request| emit::json(&request.document(), &mut choices));
        let streams = [&a, &b].map(|request| request.stream(request.steps.len().saturating_sub(steps)));
        let sizes = Some(Sizes { window, shortest });
        let all: Vec<(&str, Format)> = documents.iter().map(|document| (&**document, Format::Json))
            .chain(streams.iter().map(|stream| (&**stream, Format::JsonLines))).collect();
        for left in &all {
            for right in &all {
                prop_assert_eq!(said([*left, *right], sizes), said([*left, *right], None));
            }
        }
    }
}

/// What no request of the laws holds: much of it, large parts, and text that cannot stay as it is spelled.
#[test]
fn large_requests_are_the_same_in_windows() {
    let observation = |n: usize| match n % 4 {
        0 => "plain\\ntext \\\"quoted\\\" ".repeat(900),
        1 => "\\u00e9\\/\\u001B".repeat(700),
        2 => format!("{n}"),
        _ => "é漢😀".repeat(40_000),
    };
    let step = |n: usize| match n % 3 {
        0 => format!(r#"{{"observation":"{}","raw_output":"{n}"}}"#, observation(n)),
        1 => format!(r#"{{ "raw_output" : "{}" , "observation":"" }}"#, observation(n + 1)),
        _ => format!(r#"{{"raw_output":"x","tool_calls":[{{"id":"{n}","name":"f","input":{{"a":[1,{{}}]}}}}]}}"#),
    };
    let steps = |count: usize| (0..count).map(step).collect::<Vec<_>>().join(" ,\n");
    let template = r#""observation_template":"<{observation:>9}|{observation!s}>""#;
    let documents = [
        format!(r#"{{{template},"trajectory":[{}]}}"#, steps(60)),
        format!(r#"{{"trajectory":[{}], {template}, "budget":{{"max_prompt_chars":5}}}}"#, steps(60)),
        format!(r#"{{{template},"trajectory":[{}],"tools":[{{"name":"f"}}]}} "#, steps(7)),
        format!(r#"{{{template},"trajectory":[{}],"trajectory":[]}}"#, steps(7)),
        format!(r#"{{"trajectory":[{}]}}"#, steps(7)),
        format!(r#"{{"trajectory":[{}],"model":"x"}}"#, steps(2)),
        format!(r#"{{"trajectory":[]{}}}"#, " ".repeat(10_000)),
        format!(r#"{{"goal":[{{"role":"user","content":"{}"}}]}}"#, observation(3)),
        r#"{"role":"user","trajectory":[]}"#.to_owned(),
        String::new(),
    ];
    for document in &documents {
        for window in [64, 4096, 100_001, 256 << 10] {
            both_ways_agree(document, None, window);
        }
    }
}
