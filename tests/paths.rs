//! Every input gives the same through every path: as a file and through a pipe, in one piece and byte by byte, with one
//! thread and with many.

mod common;
#[path = "paths/made.rs"]
mod made;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::{Ran, command, digest, files_under, read, root, run, run_in_pieces};
use made::{Escapes, Made, Order, Scalars};
use polyloop::read::{self as reading, Format};
use serde_json::Value;
use tempfile::TempDir;

/// How standard input is shown. A file of that very name says nothing of its format and is shown in as many characters
/// as the other names here, so that nothing else is laid out differently.
const STDIN: &str = "<stdin>";

const THREADS: [&str; 2] = ["--threads=1", "--threads=8"];

/// What is asked for. The first two have paths of their own for large requests.
const RENDERS: [&[&str]; 7] = [
    &["--format=jsonl"],
    &["--format=json"],
    &["--format=digest"],
    &["--summary"],
    &["--format=yaml"],
    &[],
    &["--format=jsonl", "--steps=1"],
];
const DIFFS: [&[&str]; 4] = [&[], &["--format=json"], &["--format=markdown"], &["--quiet"]];

/// Something to render.
struct Case {
    id: String,
    ending: String,
    bytes: Vec<u8>,
}

impl Case {
    fn new(id: impl Into<String>, ending: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Case { id: id.into(), ending: ending.to_owned(), bytes: bytes.into() }
    }

    fn file(path: &Path) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str()).expect("the file has an ending");
        Case::new(path.display().to_string(), ending, read(path))
    }

    /// The ending of a name that says of the document what its content says, as that is what standard input goes by.
    /// Names that say the same are alike, and so are all names of what is no text, but those of JSON Lines: a batch is
    /// decoded line by line.
    fn fitting_ending(&self) -> &str {
        let by_name = Format::of_path(Path::new(&format!("a.{}", self.ending)));
        let by_content = reading::decode(&self.bytes).ok().map(Format::of_content);
        match by_content {
            _ if by_content == by_name => &self.ending,
            None if by_name != Some(Format::JsonLines) => &self.ending,
            None | Some(Format::Json) => "json",
            Some(Format::Yaml) => "yaml",
            Some(Format::JsonLines) => "jsonl",
        }
    }

    /// So that a small input comes byte by byte, and a large one in some thousand pieces.
    fn piece(&self) -> usize {
        self.bytes.len().div_ceil(5000)
    }
}

/// A name of seven characters.
fn name(letters: &str, ending: &str) -> String {
    format!("{}.{ending}", &letters[..STDIN.len() - 1 - ending.len()])
}

/// A folder that the binary runs in.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Desk(tempfile::tempdir().expect("a folder can be made"))
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).expect("a file can be written");
    }

    fn command(&self, words: &[&str], options: &[&str]) -> Command {
        let mut command = command(words.iter().chain(options));
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, words: &[&str], options: &[&str]) -> Ran {
        run(&mut self.command(words, options), b"")
    }
}

/// Which of several ways one case goes.
#[derive(Clone, Copy)]
enum Share {
    All,
    /// One of each kind, by turns.
    Some(usize),
}

impl Share {
    /// Whether this is among so many ways.
    fn has(self, way: usize, of: usize) -> bool {
        match self {
            Share::All => true,
            // Every other case may well be of another kind, and go the other way in something else.
            Share::Some(turn) if of == 2 => turn.count_ones() as usize % of == way,
            Share::Some(turn) => turn % of == way,
        }
    }
}

/// What is found to differ.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    /// Takes two runs that have to be equal, `name` in the one being shown as standard input in the other.
    fn compare(&mut self, what: impl FnOnce() -> String, expected: &Ran, found: &Ran, name: &str) {
        let shown = |ran: &Ran| {
            let text = String::from_utf8_lossy(&ran.stdout).replace(name, STDIN);
            (ran.code, text, ran.stderr.replace(name, STDIN))
        };
        let (expected, found) = (shown(expected), shown(found));
        if expected != found {
            let cut = |(code, stdout, stderr): (Option<i32>, String, String), at: usize| {
                let stdout: String = stdout.chars().skip(at.saturating_sub(30)).take(300).collect();
                let stderr: String = stderr.chars().take(600).collect();
                format!("{code:?}\n  stdout from {at} on: {stdout:?}\n  stderr: {stderr:?}")
            };
            let at = expected.1.chars().zip(found.1.chars()).take_while(|(a, b)| a == b).count();
            self.0.push(format!("{}:\n  expected {}\n  found {}", what(), cut(expected, at), cut(found, at)));
        }
    }

    fn check(&mut self, what: impl FnOnce() -> String, is_fine: bool) {
        if !is_fine {
            self.0.push(what());
        }
    }
}

/// Goes through all cases, several at a time.
#[track_caller]
fn each<T: Sync>(cases: &[T], check: impl Fn(usize, &T, &Desk, &mut Faults) + Sync) {
    assert!(!cases.is_empty(), "there is no case");
    let next = AtomicUsize::new(0);
    let work = || {
        let (desk, mut faults) = (Desk::new(), Faults::default());
        while let Some((index, case)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            cases.get(index).map(|case| (index, case))
        } {
            check(index, case, &desk, &mut faults);
        }
        faults.0
    };
    let faults: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker ends")).collect()
    });
    let shown: Vec<&str> = faults.iter().map(String::as_str).take(12).collect();
    assert!(faults.is_empty(), "{} of many:\n{}", faults.len(), shown.join("\n"));
}

/// What is known of a case.
#[derive(Clone, Copy)]
enum Answer<'a> {
    Unknown,
    /// Its canonical stream.
    Stream(&'a [u8]),
    Refused,
}

/// Renders a case through all paths.
fn check_render(case: &Case, share: Share, answer: Answer<'_>, desk: &Desk, faults: &mut Faults) {
    let own = name("abcdef", &case.ending);
    let fitting = name("abcdef", case.fitting_ending());
    for name in [&own, &fitting, STDIN] {
        desk.put(name, &case.bytes);
    }
    for (_, options) in RENDERS.iter().enumerate().filter(|&(view, _)| share.has(view, RENDERS.len())) {
        let id = |way: &str| format!("render {} {options:?}, {way}", case.id);
        let base = desk.run(&["render", &own], options);
        let is_json = options.contains(&"--format=json");
        faults.check(|| id("refused, and writes"), is_json || base.code != Some(2) || base.stdout.is_empty());
        let is_refused = base.code == Some(2);
        let is_right = match (answer, &options[..]) {
            (Answer::Unknown, _) | (_, [_, "--steps=1"]) => true,
            (Answer::Refused, _) => is_refused,
            (Answer::Stream(stream), ["--format=jsonl"]) => !is_refused && base.stdout == stream,
            (Answer::Stream(_), ["--format=yaml"]) => !is_refused,
            (Answer::Stream(stream), _) => !is_refused && base.text().contains(&digest(stream)),
        };
        faults.check(|| format!("{}: {:?} {}", id("not what is known of it"), base.code, base.stderr), is_right);

        // Of what takes long, one way more than the two that have to be.
        let of = if case.bytes.len() > SPOOLED { 4 } else { 2 };
        for (way, threads) in THREADS.iter().enumerate().filter(|&(way, _)| share.has(way, of)) {
            let ran = desk.run(&["render", &own, threads], options);
            faults.compare(|| id(THREADS[way]), &base, &ran, &own);
        }
        let fits = if own == fitting { None } else { Some(desk.run(&["render", &fitting], options)) };
        let fits = fits.as_ref().unwrap_or(&base);
        let piped = run(&mut desk.command(&["render", "-"], options), &case.bytes);
        faults.compare(|| id("stdin"), fits, &piped, &fitting);
        if share.has(2 % of, of) {
            let unnamed = desk.run(&["render", STDIN], options);
            faults.compare(|| id("unnamed file"), &unnamed, &piped, STDIN);
        }
        if share.has(3 % of, of) {
            let slow = run_in_pieces(&mut desk.command(&["render", "-"], options), &case.bytes, case.piece());
            faults.compare(|| id("stdin in pieces"), &piped, &slow, STDIN);
        }
    }
}

/// Compares two cases through all paths.
fn check_diff([a, b]: [&Case; 2], share: Share, desk: &Desk, faults: &mut Faults) {
    const LETTERS: [&str; 2] = ["abcdef", "uvwxyz"];
    let sides = [a, b];
    for (_, options) in DIFFS.iter().enumerate().filter(|&(view, _)| share.has(view, DIFFS.len())) {
        let id = |way: &str| format!("diff {} {} {options:?}, {way}", a.id, b.id);
        let own = [0, 1].map(|side| name(LETTERS[side], &sides[side].ending));
        [0, 1].iter().for_each(|&side| desk.put(&own[side], &sides[side].bytes));
        let base = desk.run(&["diff", &own[0], &own[1]], options);
        faults.check(
            || id("refused, and writes"),
            options.contains(&"--format=json") || base.code != Some(2) || base.stdout.is_empty(),
        );
        for (way, threads) in THREADS.iter().enumerate().filter(|&(way, _)| share.has(way, 2)) {
            let ran = desk.run(&["diff", &own[0], &own[1], threads], options);
            faults.compare(|| id(THREADS[way]), &base, &ran, STDIN);
        }
        for side in [0, 1].into_iter().filter(|&side| share.has(side, 2)) {
            let with = |name: &str| {
                let mut words = ["diff".to_owned(), own[0].clone(), own[1].clone()];
                words[side + 1] = name.to_owned();
                words
            };
            let case = sides[side];
            let run_with = |name: &str| desk.run(&with(name).each_ref().map(String::as_str), options);
            let fitting = name(LETTERS[side], case.fitting_ending());
            desk.put(&fitting, &case.bytes);
            desk.put(STDIN, &case.bytes);
            let words = with("-");
            let mut command = desk.command(&words.each_ref().map(String::as_str), options);
            let piped = run_in_pieces(&mut command, &case.bytes, case.piece());
            let fits = if fitting == own[side] { None } else { Some(run_with(&fitting)) };
            let fits = fits.as_ref().unwrap_or(&base);
            faults.compare(|| id(&format!("stdin for side {side}")), fits, &piped, &fitting);
            faults.compare(|| id(&format!("side {side} unnamed")), &run_with(STDIN), &piped, STDIN);
        }
    }
}

/// The fixtures that are documents: requests, goldens, batches and sides of pairs.
fn fixtures() -> Vec<PathBuf> {
    // Hundreds of small ones of the kinds that others here are of: each is rendered in a dozen ways.
    let others = [
        "chat_templates",
        "context",
        "import",
        "kernel",
        "lint",
        "providers/rules",
        "providers/wire",
        "providers/lens",
    ];
    let others = others.map(|name| root().join("fixtures").join(name));
    let is_document = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_other = others.iter().any(|other| path.starts_with(other));
        !matches!(name, "error.json" | "expected.json" | "README.md") && !is_other
    };
    files_under(&root().join("fixtures")).into_iter().filter(is_document).collect()
}

#[test]
fn fixtures_render_alike() {
    let cases: Vec<Case> = fixtures().iter().map(|path| Case::file(path)).collect();
    assert!(cases.len() > 100, "only {} fixtures", cases.len());
    for ending in ["yaml", "json", "jsonl"] {
        assert!(cases.iter().any(|case| case.ending == ending), "no fixture is {ending}");
    }
    // Faulty fixtures fail alike in most formats, and pairs are there to be compared.
    let is_special = |id: &str| ["/err_", "/diff/", ".render."].iter().any(|part| id.contains(part));
    let share = |index, case: &Case| if is_special(&case.id) { Share::Some(index) } else { Share::All };
    each(&cases, |index, case, desk, faults| check_render(case, share(index, case), Answer::Unknown, desk, faults));
}

#[test]
fn fixtures_differ_alike() {
    let mut pairs = Vec::new();
    for path in fixtures() {
        let other = match path.file_name().and_then(|name| name.to_str()) {
            Some("a.yaml") => path.with_file_name("b.yaml"),
            _ => path.with_extension("render.jsonl"),
        };
        if other.is_file() {
            pairs.push([Case::file(&path), Case::file(&other)]);
        } else if path.extension().is_some_and(|ending| ending != "jsonl") {
            // What is wrong with a file is found where it is compared with itself, too.
            pairs.push([Case::file(&path), Case::file(&path)]);
        }
    }
    assert!(pairs.len() > 50, "only {} pairs", pairs.len());
    let share = |index: usize, case: &Case| if case.id.contains("/diff/") { Share::All } else { Share::Some(index) };
    each(&pairs, |index, [a, b], desk, faults| check_diff([a, b], share(index, a), desk, faults));
}

/// A corpus folder; `None`, with a note, where there is none.
fn corpus(name: &str) -> Option<PathBuf> {
    let folder = root().join("../shared/cases").join(name);
    if !folder.exists() {
        eprintln!("skipped: there is no corpus {name}");
        return None;
    }
    Some(folder)
}

fn rows(path: &Path) -> Vec<Value> {
    let bytes = read(path);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a row is JSON")).collect()
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_else(|| panic!("no text {key} in {row}"))
}

/// What lies beside the repository, by folder.
fn corpora() -> Vec<(&'static str, Vec<Case>)> {
    let mut all = Vec::new();
    let mut add = |name, take: &dyn Fn(&Path) -> Vec<Case>| {
        if let Some(folder) = corpus(name) {
            let cases = take(&folder);
            assert!(!cases.is_empty(), "the corpus {name} holds no case");
            all.push((name, cases));
        }
    };
    let columns = |path: PathBuf, columns: [(&str, &str); 2]| -> Vec<Case> {
        let cases = |row: &Value| {
            columns.map(|(key, ending)| Case::new(format!("{} {key}", row["id"]), ending, text(row, key).as_bytes()))
        };
        rows(&path).iter().flat_map(cases).collect()
    };
    add("assembly", &|folder| columns(folder.join("rows.jsonl"), [("request_text", "json"), ("request_yaml", "yaml")]));
    add("diff", &|folder| columns(folder.join("pairs.jsonl"), [("a", "json"), ("b", "json")]));
    add("bad_input", &|folder| {
        let rows = rows(&folder.join("manifest.jsonl"));
        rows.iter().map(|row| Case::file(&folder.join(text(row, "file")))).collect()
    });
    add("real", &|folder| {
        let is_document = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
        files_under(folder).into_iter().filter(is_document).map(|path| Case::file(&path)).collect()
    });
    all
}

#[test]
fn corpora_render_alike() {
    for (name, cases) in corpora() {
        eprintln!("{} of {name}", cases.len());
        each(&cases, |index, case, desk, faults| check_render(case, Share::Some(index), Answer::Unknown, desk, faults));
    }
}

#[test]
fn corpora_differ_alike() {
    for (name, cases) in corpora() {
        // Recorded runs stand beside what they are to give, sides of pairs beside each other; of the others, the next
        // one is as good as any.
        let pairs: Vec<[&Case; 2]> = cases.chunks_exact(2).map(|pair| [&pair[0], &pair[1]]).collect();
        each(&pairs, |index, pair, desk, faults| check_diff(*pair, Share::Some(index), desk, faults));
        eprintln!("{} pairs of {name}", pairs.len());
    }
}

const CHECKS: [&[&str]; 6] = [
    &[],
    &["--format=json"],
    &["--format=junit"],
    &["--format=github"],
    &["--format=markdown", "--show-content"],
    &["--format=json", "--prove"],
];

/// Checks what lies under a path with many threads and with one, and gives what it says in JSON.
#[track_caller]
fn check_threads(folder: &Path, path: &str, views: &[&[&str]], faults: &mut Faults) -> Value {
    let run_in = |words: &[&str], options: &[&str]| {
        run(command(["check", path].iter().chain(words).chain(options)).current_dir(folder), b"")
    };
    let mut document = None;
    for options in views {
        let base = run_in(&[], options);
        if options.contains(&"--format=json") {
            document = Some(base.json());
        }
        for threads in THREADS {
            let what = || format!("check {path} {options:?}, {threads}");
            faults.compare(what, &base, &run_in(&[threads], options), STDIN);
        }
    }
    document.expect("one of the views is JSON")
}

#[test]
fn checks_are_alike() {
    let mut faults = Faults::default();
    let found = check_threads(root(), "fixtures", &CHECKS, &mut faults);
    assert!(found["identical"].as_u64() > Some(20) && found["errors"].as_u64() > Some(40), "the fixtures are missing");

    // Every third golden is another one by a byte.
    let desk = Desk::new();
    let mut of_status = [0, 0, 0];
    for (index, case) in corpora().iter().flat_map(|(_, cases)| cases).enumerate() {
        desk.put(&format!("{index}.{}", case.ending), &case.bytes);
        let format = Format::of_path(Path::new(&format!("a.{}", case.ending)));
        let stream = reading::decode(&case.bytes).and_then(|text| reading::request(text, format));
        let assembled = stream.and_then(|request| Ok(polyloop::assemble(&request, None)?.to_canonical()));
        let Ok(mut stream) = assembled else {
            of_status[2] += 1;
            continue;
        };
        let is_changed = index % 3 == 0 && !stream.is_empty();
        if is_changed {
            stream.extend_from_slice(b"\n");
        }
        of_status[usize::from(is_changed)] += 1;
        desk.put(&format!("{index}.render.jsonl"), &stream);
    }
    if of_status[0] > 0 {
        let found = check_threads(desk.0.path(), ".", &CHECKS, &mut faults);
        assert_eq!(found["identical"], of_status[0], "of {of_status:?}");
        assert_eq!(found["different"], of_status[1], "of {of_status:?}");
    }
    assert!(faults.0.is_empty(), "{}", faults.0.join("\n"));
}

/// The size from which files are compared in windows.
const LARGE: usize = 1 << 20;
/// The size from which a pipe is spooled to a file.
const SPOOLED: usize = 4 << 20;

/// A run that takes several windows.
fn medium() -> Made {
    Made::of(300 << 10, 3000)
}

/// One run in all spellings, or in those of these names.
fn spellings(made: &Made, names: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, ending: &str, make: &dyn Fn() -> Vec<u8>| {
        if names.is_empty() || names.contains(&&*name) {
            cases.push(Case::new(name, ending, make()));
        }
    };
    for order in [Order::Usual, Order::StepsFirst] {
        for escapes in [Escapes::Canonical, Escapes::Ascii, Escapes::Mixed] {
            add(format!("{order:?} {escapes:?}"), "json", &|| made.json(order, escapes));
        }
    }
    for scalars in [Scalars::Literal, Scalars::Quoted, Scalars::Mixed] {
        add(format!("{scalars:?}"), "yaml", &|| made.yaml(scalars));
    }
    let stream = made.stream();
    add("stream".to_owned(), "jsonl", &|| stream.clone());
    add("list".to_owned(), "json", &|| made.list());
    for (change, bytes) in made::respell_stream(&stream) {
        add(format!("stream, {change}"), "jsonl", &|| bytes.clone());
    }
    assert!(cases.len() >= names.len(), "there is no spelling of one of {names:?}");
    cases
}

/// The same with a fault near the end: every fault of each of some spellings.
fn broken(made: &Made, names: &[&str]) -> Vec<Case> {
    let faults = |case: Case| {
        let faulty = match &*case.ending {
            "json" => made::break_json(&case.bytes),
            "yaml" => made::break_yaml(&case.bytes),
            _ => made::break_stream(&case.bytes),
        };
        let case = move |(fault, bytes)| Case::new(format!("{}, {fault}", case.id), &case.ending, bytes);
        faulty.into_iter().map(case).collect::<Vec<_>>()
    };
    spellings(made, names).into_iter().flat_map(faults).collect()
}

/// Those that are broken.
const BROKEN: [&str; 5] = ["Usual Mixed", "StepsFirst Canonical", "Literal", "Mixed", "stream"];

#[test]
fn all_spellings_render_alike() {
    let made = medium();
    let stream = made.stream();
    each(&spellings(&made, &[]), |index, case, desk, faults| {
        check_render(case, Share::Some(index), Answer::Stream(&stream), desk, faults);
    });
    each(&broken(&made, &BROKEN), |index, case, desk, faults| {
        check_render(case, Share::Some(index), Answer::Refused, desk, faults);
    });
}

#[test]
fn a_large_head_renders_alike() {
    let made = Made::of(LARGE + (600 << 10), LARGE + (100 << 10));
    let stream = made.stream();
    let cases = spellings(&made, &["Usual Canonical", "StepsFirst Mixed", "Literal"]);
    each(&cases, |index, case, desk, faults| {
        check_render(case, Share::Some(index), Answer::Stream(&stream), desk, faults);
    });
}

#[test]
fn many_short_texts_render_alike() {
    let made = Made::of_short(LARGE);
    let stream = made.stream();
    let cases = spellings(&made, &["Usual Canonical", "StepsFirst Canonical", "Literal", "stream"]);
    each(&cases, |_, case, desk, faults| {
        [0, 2].iter().for_each(|&turn| check_render(case, Share::Some(turn), Answer::Stream(&stream), desk, faults));
    });
}

#[test]
fn what_is_spooled_renders_alike() {
    let made = Made::of(SPOOLED + (64 << 10), 3000);
    let stream = made.stream();
    let cases = spellings(&made, &["StepsFirst Ascii", "Literal", "stream, crlf"]);
    let mut refused = broken(&made, &["Usual Canonical", "Mixed"]);
    refused.retain(|case| ["Usual Canonical, key twice", "Mixed, unclosed"].contains(&&*case.id));
    assert!(cases.iter().chain(&refused).all(|case| case.bytes.len() > SPOOLED), "a case is too small");
    each(&cases, |index, case, desk, faults| {
        check_render(case, Share::Some(index), Answer::Stream(&stream), desk, faults);
    });
    each(&refused, |index, case, desk, faults| {
        check_render(case, Share::Some(index + 2), Answer::Refused, desk, faults);
    });
}

#[test]
fn all_spellings_differ_alike() {
    let (own, changed) = (spellings(&medium(), &[]), spellings(&medium().changed(), &[]));
    let faulty = broken(&medium(), &BROKEN);
    let mut pairs = Vec::new();
    for (index, case) in own.iter().enumerate() {
        let others = [&changed, &own, &faulty][index % 3];
        pairs.push([case, &others[(index * 5 + 3) % others.len()]]);
    }
    let spooled = spellings(&Made::of(SPOOLED + (64 << 10), 3000), &["Usual Canonical", "stream"]);
    pairs.push([&spooled[0], &spooled[1]]);
    each(&pairs, |index, pair, desk, faults| check_diff(*pair, Share::Some(index), desk, faults));
}

#[test]
fn large_files_are_checked_alike() {
    let made = Made::of(LARGE + (64 << 10), 3000);
    let (stream, other) = (made.stream(), Made::of(LARGE + (64 << 10), 3000).changed().stream());
    let (desk, mut faults) = (Desk::new(), Faults::default());
    let requests = spellings(&made, &["Usual Canonical", "StepsFirst Mixed", "Literal"]);
    assert!(requests.iter().all(|case| case.bytes.len() > LARGE), "a case is too small");
    for (index, case) in requests.iter().enumerate() {
        let goldens = [&stream[..], &other, &stream[..stream.len() - 1], &[&stream[..], b"\n"].concat()];
        // Every one with its golden, and with another: from the first kind to the last.
        for (kind, golden) in [(0, goldens[0]), (1, goldens[1 + index % 3])] {
            desk.put(&format!("{index}-{kind}.{}", case.ending), &case.bytes);
            desk.put(&format!("{index}-{kind}.render.jsonl"), golden);
        }
    }
    for (index, case) in broken(&made, &["Usual Mixed", "Literal"]).iter().step_by(6).enumerate() {
        desk.put(&format!("{index}-2.{}", case.ending), &case.bytes);
        desk.put(&format!("{index}-2.render.jsonl"), &stream);
    }
    let found = check_threads(desk.0.path(), ".", &[&[], &["--format=json"]], &mut faults);
    assert!(faults.0.is_empty(), "{}", faults.0.join("\n"));
    let wanted = digest(&stream);
    for result in found["results"].as_array().expect("a list") {
        let request = text(result, "request");
        let status = ["identical", "different", "error"]
            [["-0.", "-1.", "-2."].iter().position(|kind| request.contains(kind)).expect("one of the kinds")];
        assert_eq!(result["status"], status, "{request}");
        assert!(status == "error" || result["digest"] == wanted, "{request}");
    }
    assert_eq!(found["identical"], requests.len());
}
