//! Larger corpora with right answers, where they lie beside the repository: in-process, so that all of them run.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{cases, digest, outlined_stream, polyloop_with, read};
use polyloop::measure::{self, Verdict};
use polyloop::read::{self as reading, Format, Input};
use polyloop::write::Report;
use polyloop::{Context, Error, assemble};
use serde_json::Value;

fn rows(folder: &Path, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
    assert!(!rows.is_empty(), "{file} holds no rows");
    rows
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_else(|| panic!("no text {key} in {row}"))
}

/// The canonical stream of messages that hold text alone, spelled by serde_json.
fn stream(messages: &Value) -> Vec<u8> {
    let mut stream = String::new();
    for message in messages.as_array().expect("messages are a list") {
        let block = |block: &Value| format!("{{\"type\":\"text\",\"text\":{}}}", block["text"]);
        let blocks: Vec<String> = message["content"].as_array().expect("content is a list").iter().map(block).collect();
        stream += &format!("{{\"role\":{},\"content\":[{}]}}\n", message["role"], blocks.join(","));
    }
    stream.into_bytes()
}

/// Reads a request, assembles it, and hands both the report and the stream on.
fn render<T>(
    text: &str,
    format: Format,
    steps: Option<usize>,
    take: impl FnOnce(&Report<'_>, &Context<'_>) -> T,
) -> Result<T, Error> {
    let request = reading::request(text, Some(format))?;
    let context = assemble(&request, steps).expect("it assembles");
    Ok(take(&Report::new("case", &context, Some(&request)), &context))
}

#[test]
fn assembly_in_both_formats() {
    let Some(folder) = cases("assembly") else { return };
    let rows = rows(&folder, "rows.jsonl");
    let mut outlines = 0;
    for row in &rows {
        for (format, key) in [(Format::Json, "request_text"), (Format::Yaml, "request_yaml")] {
            let source = text(row, key);
            let id = format!("{} as {format:?}", row["id"]);
            let checked = render(source, format, None, |report, context| check_assembly(&id, row, report, context));
            checked.unwrap_or_else(|error| panic!("{id}: {error}"));
            if format == Format::Yaml {
                for (window, least) in [(1, 1), (64, 8), (4096, 256)] {
                    let outlined = outlined_stream(source.as_bytes(), window, least);
                    outlines += usize::from(outlined.is_some());
                    let wanted = stream(&row["expected"]["messages"]);
                    assert!(outlined.is_none_or(|found| found == wanted), "{id} in outline");
                }
            }
            let after = row["expected"]["chars_after_step"].as_array().expect("a list of sizes");
            for (step, chars) in after.iter().enumerate() {
                let size = render(source, format, Some(step), |report, _| report.total.size.chars);
                assert_eq!(*chars, size.expect("fewer steps are no error"), "{id} after {step} steps");
            }
        }
    }
    eprintln!("{} rows, {outlines} outlines", rows.len());
    assert!(outlines > 0, "no text stayed in its file");
}

fn check_assembly(id: &str, row: &Value, report: &Report<'_>, context: &Context<'_>) {
    let expected = &row["expected"];
    let bytes = context.to_canonical();
    assert!(bytes == stream(&expected["messages"]), "{id}: {}", String::from_utf8_lossy(&bytes));
    assert_eq!(bytes.len() as u64, expected["stream_bytes"], "{id}");
    assert_eq!(context.digest(), expected["digest"], "{id}");
    assert_eq!(report.total.size.chars, expected["total_chars"], "{id}");
    let block_chars = |message: &polyloop::context::Message<'_>| -> Vec<u64> {
        message.blocks.iter().map(|block| measure::block(&block.content).chars).collect()
    };
    let of_blocks: Vec<Vec<u64>> = context.messages.iter().map(block_chars).collect();
    assert_eq!(serde_json::to_value(of_blocks).expect("numbers"), expected["block_chars"], "{id}");
    let of_messages: Vec<u64> = context.messages.iter().map(|message| measure::message(message).chars).collect();
    assert_eq!(serde_json::to_value(of_messages).expect("numbers"), expected["message_chars"], "{id}");
    assert_eq!(report.verdict == Verdict::ContextOverflow, expected["over_budget"] == true, "{id}");
}

#[test]
fn recorded_runs_are_rebuilt_to_the_byte() {
    let Some(folder) = cases("real") else { return };
    let ending = ".request.json";
    let requests: Vec<PathBuf> =
        common::files_under(&folder).into_iter().filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    assert!(!requests.is_empty(), "there are no recorded runs");
    for path in &requests {
        let source = String::from_utf8(read(path)).expect("a request is UTF-8");
        let expected = PathBuf::from(path.to_string_lossy().replace(ending, ".expected.json"));
        let expected: Value = serde_json::from_slice(&read(expected)).expect("recorded messages are JSON");
        let bytes = render(&source, Format::Json, None, |_, context| context.to_canonical());
        assert!(bytes.expect("a request") == stream(&expected), "{}", path.display());
    }
    eprintln!("{} runs", requests.len());
}

#[test]
fn broken_input_is_refused_and_odd_input_is_read_exactly() {
    let Some(folder) = cases("bad_input") else { return };
    let rows = rows(&folder, "manifest.jsonl");
    let (mut accepted, mut refused, mut outlines) = (0, 0, 0);
    for row in &rows {
        let name = text(row, "file");
        let checked = check_input(&folder.join(name));
        if !matches!(Format::of_path(Path::new(name)), Some(Format::Json | Format::JsonLines)) {
            for (window, least) in [(1, 1), (64, 1), (4096, 256)] {
                if let Some(stream) = outlined_stream(&read(folder.join(name)), window, least) {
                    assert_eq!(checked.as_ref().ok(), Some(&digest(&stream)), "{name} in outline");
                    outlines += 1;
                }
            }
        }
        match checked {
            Ok(found) => {
                assert_ne!(text(row, "expect"), "reject", "{name} is accepted");
                if let Some(expected) = row["expected"]["digest"].as_str() {
                    assert_eq!(found, expected, "{name} has other bytes");
                }
                accepted += 1;
            }
            Err(error) => {
                assert_ne!(text(row, "expect"), "accept", "{name}: {error}");
                assert!(!error.message().is_empty(), "{name} is refused without a word");
                refused += 1;
            }
        }
    }
    eprintln!("{accepted} accepted, {refused} refused, {outlines} outlines");
    assert!(accepted > 0 && refused > 0 && outlines > 0, "the corpus is one-sided");
}

/// The digest of what a file gives.
fn check_input(path: &Path) -> Result<String, Error> {
    let bytes = read(path);
    let text = reading::decode(&bytes)?;
    let context = |context: &Context<'_>| {
        let found = context.digest();
        assert_eq!(found, digest(&context.to_canonical()));
        found
    };
    match reading::read(text, Format::of_path(path))? {
        Input::Request(request) => Ok(context(&assemble(&request, None)?)),
        Input::Recorded(recorded) => Ok(context(&recorded.context)),
    }
}

#[test]
fn pairs_part_where_they_part() {
    let Some(folder) = cases("diff") else { return };
    let rows = rows(&folder, "pairs.jsonl");
    let scratch = tempfile::tempdir().expect("a folder can be made");
    let golden = scratch.path().join("a.jsonl");
    for row in &rows {
        let (id, expected) = (text(row, "id"), &row["expected"]);
        let a = render(text(row, "a"), Format::Json, None, |_, context| context.to_canonical()).expect(id);
        fs::write(&golden, &a).expect("a file can be written");
        let args = ["render", "-", "--format", "json", "--against", golden.to_str().expect("UTF-8")];
        let ran = polyloop_with(args, text(row, "b").as_bytes());
        let report = ran.json();
        let exit = if expected["identical"] == true { 0 } else { 1 };
        let is_over = report["budget"]["verdict"] == "context_overflow";
        assert_eq!(ran.code, Some(if is_over { 3 } else { exit }), "{id}: {}", ran.stderr);
        let found = &report["previous"];
        let first = &found["first_difference"];
        assert_eq!(found["identical"], expected["identical"], "{id}");
        assert_eq!(found["shared_prefix"]["bytes"], expected["shared_prefix_bytes"], "{id}");
        assert_eq!(found["shared_prefix"]["messages"], expected["shared_messages"], "{id}");
        assert_eq!(first["message"], expected["first_diff_message"], "{id}");
        if !expected["first_diff_char"].is_null() {
            assert_eq!(first["char"], expected["first_diff_char"], "{id}");
        }
        for side in ["a", "b"] {
            assert_eq!(found[side]["digest"], expected[format!("digest_{side}")], "{id}");
            assert_eq!(found[side]["chars"], expected[format!("chars_{side}")], "{id}");
        }
    }
    eprintln!("{} pairs", rows.len());
}
