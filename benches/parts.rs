//! The parts of polyloop, each on its own, through the public interface: `cargo bench --bench parts`.
//!
//! The data is made here from a fixed seed: a request of 160 steps of about 19 KB, as JSON and as YAML. Whole programs
//! are measured against their peers by `benches/peers`.

// What criterion's macros make has no documentation.
#![allow(missing_docs)]

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use polyloop::context::Text;
use polyloop::diff::{self, Subject};
use polyloop::read::{self, Format};
use polyloop::template::Template;
use polyloop::{Context, RunRequest, assemble};

const STEPS: usize = 160;
const OBSERVATION_BYTES: usize = 19_000;
const TEMPLATE: &str = "Output:\n```\n{observation}\n```\n\n";

criterion_group!(parts, read_requests, assemble_and_write, compare, template, selection);
criterion_main!(parts);

fn read_requests(criterion: &mut Criterion) {
    let observations = observations();
    let (json, yaml) = (as_json(&observations), as_yaml(&observations));
    let mut group = criterion.benchmark_group("read");
    for (name, text, format) in [("json", &json, Format::Json), ("yaml", &yaml, Format::Yaml)] {
        group.throughput(bytes(text.len()));
        group.bench_function(name, |bencher| bencher.iter(|| request(black_box(text), format)));
    }
}

fn assemble_and_write(criterion: &mut Criterion) {
    let json = as_json(&observations());
    let request = request(&json, Format::Json);
    let context = assemble(&request, None).expect("it assembles");
    let stream = context.to_canonical();

    let mut group = criterion.benchmark_group("context");
    group.throughput(bytes(stream.len()));
    group.bench_function("assemble", |bencher| bencher.iter(|| assemble(black_box(&request), None)));
    let mut out = Vec::with_capacity(stream.len());
    group.bench_function("write_canonical", |bencher| {
        bencher.iter(|| {
            out.clear();
            black_box(&context).write_canonical(&mut out).expect("a vector takes every write");
        });
    });
    group.bench_function("digest", |bencher| bencher.iter(|| black_box(&context).digest()));
}

fn compare(criterion: &mut Criterion) {
    let base = observations();
    let mut one_byte = base.clone();
    one_byte[STEPS / 2] = one_byte[STEPS / 2].replacen("error", "Error", 1);
    let every: Vec<String> = base.iter().map(|observation| observation.replacen("line", "Line", 1)).collect();

    let json = as_json(&base);
    let request_a = request(&json, Format::Json);
    let context_a = assemble(&request_a, None).expect("it assembles");
    let mut group = criterion.benchmark_group("diff");
    group.throughput(bytes(context_a.to_canonical().len()));
    for (name, observations, changes) in
        [("identical", &base, 0), ("one_byte", &one_byte, 1), ("every_observation", &every, STEPS)]
    {
        let json = as_json(observations);
        let request_b = request(&json, Format::Json);
        let context_b = assemble(&request_b, None).expect("it assembles");
        bench_compare(&mut group, name, (&request_a, &context_a), (&request_b, &context_b), changes);
    }
}

type Side<'s> = (&'s RunRequest<'s>, &'s Context<'s>);

fn bench_compare(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, a: Side<'_>, b: Side<'_>, changes: usize) {
    let compare = || {
        let (a, b) = black_box((a, b));
        let a = Subject { name: "a", context: a.1, request: Some(a.0), spelled: None };
        let b = Subject { name: "b", context: b.1, request: Some(b.0), spelled: None };
        diff::compare(a, b, std::num::NonZeroUsize::MIN)
    };
    assert_eq!(compare().changes.len(), changes, "{name}");
    group.bench_function(name, |bencher| bencher.iter(compare));
}

fn template(criterion: &mut Criterion) {
    let observations = observations();
    let texts: Vec<Text<'_>> = observations.iter().map(|text| Text::plain(text.as_str())).collect();
    let mut group = criterion.benchmark_group("template");
    group.throughput(bytes(observations.iter().map(String::len).sum()));
    group.bench_function("parse_and_apply", |bencher| {
        bencher.iter(|| {
            let template = Template::parse(black_box(TEMPLATE), &["observation"]).expect("a valid template");
            texts.iter().map(|text| template.apply(&[text]).bytes()).sum::<u64>()
        });
    });
}

/// From the document to the canonical stream: fragments that are all in, half of them, and the same texts as messages.
fn selection(criterion: &mut Criterion) {
    const FRAGMENT_BYTES: usize = 2_000;
    let mut group = criterion.benchmark_group("select");
    group.sample_size(10);
    for count in [2_500, 20_000] {
        let mut random = Random(3);
        let texts: Vec<String> = (0..count)
            .map(|n| {
                let mut text = format!("{n}\n");
                while text.len() < FRAGMENT_BYTES {
                    writeln!(text, "{}", line(&mut random)).expect("a string takes every write");
                }
                quoted(&text)
            })
            .collect();
        let as_messages: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"role":"user","content":{text}}}"#)).collect();
        let as_fragments: Vec<String> = (texts.iter().enumerate())
            .map(|(n, text)| {
                let priority = n * 7919 % 10;
                format!(
                    r#"{{"id":"f{n}","kind":"evidence","content":{text},"priority":{priority},"trim":{{"keep":"tail"}}}}"#
                )
            })
            .collect();
        let document = |key: &str, items: &[String], window: usize| {
            format!(r#"{{"budget":{{"window":{window}}},"{key}":[{}]}}"#, items.join(","))
        };
        let most = FRAGMENT_BYTES * 2 * count;
        for (name, document) in [
            ("messages", document("goal", &as_messages, most)),
            ("all", document("fragments", &as_fragments, most)),
            ("half", document("fragments", &as_fragments, most / 4)),
        ] {
            group.throughput(bytes(document.len()));
            group.bench_function(format!("{name}/{count}"), |bencher| {
                bencher.iter(|| {
                    let request = request(black_box(&document), Format::Json);
                    assemble(&request, None).expect("it fits").to_canonical().len()
                });
            });
        }
    }
}

fn request(text: &str, format: Format) -> RunRequest<'_> {
    read::request(text, Some(format)).expect("the data is a valid request")
}

fn bytes(len: usize) -> Throughput {
    Throughput::Bytes(len as u64)
}

/// The outputs of commands; in every fourth some lines are coloured.
fn observations() -> Vec<String> {
    let mut random = Random(1);
    (0..STEPS).map(|step| observation(step, &mut random)).collect()
}

fn observation(step: usize, random: &mut Random) -> String {
    let mut text = format!("{step}\n");
    while text.len() < OBSERVATION_BYTES {
        let line = line(random);
        if step % 4 == 3 && random.below(10) == 0 {
            writeln!(text, "\u{1b}[31m{line}\u{1b}[0m").expect("a string takes every write");
        } else {
            writeln!(text, "{line}").expect("a string takes every write");
        }
    }
    text
}

fn line(random: &mut Random) -> String {
    const WORDS: [&str; 20] = [
        "error",
        "warning",
        "file",
        "line",
        "test",
        "build",
        "session",
        "decode",
        "retry",
        "timeout",
        "登录",
        "失败",
        "naïve",
        "path/to/file.rs:12",
        "assert_eq!(left,right)",
        "return",
        "None",
        "#",
        "comment",
        "\"quoted\"",
    ];
    let words: Vec<&str> = (0..3 + random.below(12)).map(|_| WORDS[random.below(WORDS.len())]).collect();
    words.join(" ")
}

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % end
    }
}

fn as_json(observations: &[String]) -> String {
    let steps: Vec<String> = (observations.iter().enumerate())
        .map(|(n, text)| format!(r#"{{"raw_output": "run step {n}", "observation": {}}}"#, quoted(text)))
        .collect();
    format!(
        r#"{{"prefix": [{{"role": "system", "content": "You are at a shell."}}],
"injections": {{"skills": [{{"entry_id": "retry", "content": "When a command times out, retry it once."}}]}},
"goal": [{{"role": "user", "content": "Fix the failing login test."}}],
"observation_template": {},
"trajectory": [{}]}}"#,
        quoted(TEMPLATE),
        steps.join(",\n")
    )
}

/// Observations as block scalars, but for those with escape characters: YAML knows these in quotes only.
fn as_yaml(observations: &[String]) -> String {
    let mut yaml = format!(
        "prefix:
  - {{role: system, content: You are at a shell.}}
injections:
  skills:
    - {{entry_id: retry, content: \"When a command times out, retry it once.\"}}
goal:
  - {{role: user, content: Fix the failing login test.}}
observation_template: {}
trajectory:
",
        quoted(TEMPLATE)
    );
    for (n, text) in observations.iter().enumerate() {
        let scalar = match text.contains('\u{1b}') {
            true => quoted(text),
            false => format!("|\n      {}", text.trim_end().replace('\n', "\n      ")),
        };
        write!(yaml, "  - raw_output: run step {n}\n    observation: {scalar}\n").expect("a string takes every write");
    }
    yaml
}

/// In double quotes, as JSON and YAML both have it.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}
