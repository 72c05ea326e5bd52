//! The observation template against CPython 3.11: a corpus with CPython's answers, and CPython itself where it is at
//! hand.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use polyloop::context::Text;
use polyloop::error::Code;
use polyloop::template::Template;
use serde_json::Value;
use sha2::{Digest, Sha256};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/cases/str_format");

#[test]
fn corpus_rows_give_what_cpython_gives() {
    let Some(rows) = rows("rows.jsonl") else { return };
    let mut accepted = 0;
    for row in &rows {
        let wanted = matches!(text(row, "template_class"), "plain" | "static") && row["contains_field"] == true;
        assert_eq!(wanted, check_row(row), "{}", row["id"]);
        accepted += usize::from(wanted);
    }
    eprintln!("{} rows, {accepted} of them accepted", rows.len());
    assert!(accepted > 0 && accepted < rows.len(), "the corpus is one-sided");
}

#[test]
fn corpus_rows_without_the_field_and_without_fault_say_so() {
    let Some(rows) = rows("rows.jsonl") else { return };
    let rows = rows.iter().filter(|row| text(row, "template_class") == "plain" && row["contains_field"] == false);
    let mut checked = 0;
    for row in rows {
        let error = Template::parse(text(row, "template"), &["observation"]).unwrap_err();
        assert_eq!(error.code(), Code::TemplateNoField, "{}", row["id"]);
        checked += 1;
    }
    assert!(checked > 0, "no such row");
}

#[test]
fn corpus_rows_of_one_kind_of_fault_have_its_code() {
    let Some(rows) = rows("rows.jsonl") else { return };
    let code_of = [
        ("Single '}' encountered", Code::TemplateSyntax),
        ("expected ':' after conversion", Code::TemplateSyntax),
        ("Unknown conversion specifier", Code::TemplateSyntax),
        ("Replacement index", Code::TemplateUnknownField),
        ("Sign not allowed", Code::TemplateSpec),
        ("Format specifier missing precision", Code::TemplateSpec),
        ("Too many decimal digits", Code::TemplateSpec),
        ("Unknown format code", Code::TemplateSpec),
        ("'=' alignment not allowed", Code::TemplateSpec),
        ("Cannot specify", Code::TemplateSpec),
        ("Empty attribute", Code::TemplateAccess),
        ("Only '.' or '['", Code::TemplateAccess),
    ];
    let mut checked = 0;
    for row in rows.iter().filter(|row| row["source"] == "hand" && row["template_class"] == "invalid") {
        let message = row["error_message"].as_str().unwrap_or_default();
        let Some((_, code)) = code_of.iter().find(|(start, _)| message.starts_with(start)) else { continue };
        let error = Template::parse(text(row, "template"), &["observation"]).unwrap_err();
        assert_eq!(error.code(), *code, "{row}");
        checked += 1;
    }
    eprintln!("{checked} rows");
    assert!(checked > 0, "no such row");
}

#[test]
fn widths_of_the_corpus_are_bounded() {
    let Some(rows) = rows("huge_width.jsonl") else { return };
    let mut accepted = 0;
    for row in &rows {
        let wanted = text(row, "template_class") == "static" && row["error_class"].is_null();
        assert_eq!(wanted, check_row(row), "{}", row["id"]);
        accepted += usize::from(wanted);
    }
    eprintln!("{} rows, {accepted} of them accepted", rows.len());
    assert!(accepted > 0 && accepted < rows.len(), "the corpus is one-sided");
}

/// Whether the row's template is accepted; if it is, the result must be the row's.
fn check_row(row: &Value) -> bool {
    let result = format(text(row, "template"), &["observation"], &[text(row, "observation")]);
    if let Some(result) = &result {
        match row["result"].as_str() {
            Some(wanted) => assert_eq!(result, wanted, "{}", row["id"]),
            None => {
                assert_eq!(result.chars().count() as u64, row["result_len"], "{}", row["id"]);
                let digest: String = Sha256::digest(result).iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(digest, text(row, "result_sha256"), "{}", row["id"]);
            }
        }
    }
    result.is_some()
}

/// The result, if the template is accepted; and what holds of every result and every error.
fn format(template: &str, names: &[&str], arguments: &[&str]) -> Option<String> {
    let parsed = match Template::parse(template, names) {
        Ok(parsed) => parsed,
        Err(error) => {
            let span = error.span().expect("an error has a span");
            assert!(template.get(span.clone()).is_some(), "{span:?} is no range of {template:?}");
            let hint = error.hint().expect("an error has a hint");
            let live = error.message().chars().chain(hint.chars()).find(|c| c.is_control());
            assert_eq!(live, None, "a live control character out of {template:?}");
            return None;
        }
    };
    let arguments: Vec<Text> = arguments.iter().map(|&argument| argument.into()).collect();
    let arguments: Vec<&Text> = arguments.iter().collect();
    let result = parsed.apply(&arguments);
    assert!(parsed.cost(&arguments) >= result.bytes(), "the cost of {template:?} is no upper bound");
    let string = result.to_cow().into_owned();
    assert_eq!(result.chars(), string.chars().count() as u64, "{template:?}");
    Some(string)
}

/// The rows of a corpus file; `None`, with a note, where there is no corpus.
fn rows(file: &str) -> Option<Vec<Value>> {
    if !Path::new(CORPUS).is_dir() {
        eprintln!("skipped: no corpus at {CORPUS}");
        return None;
    }
    let lines = fs::read_to_string(Path::new(CORPUS).join(file)).expect("the corpus can be read");
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
    assert!(!rows.is_empty(), "{file} holds no rows");
    Some(rows)
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_else(|| panic!("{} has no text {key}", row["id"]))
}

const NAMES: [&str; 2] = ["observation", "open_file"];

/// Reads `[template, observation, open_file]` a line, writes the result, `false` (refused, by CPython or by the rule
/// that fields are static and `observation` is among them) or `null` (not tried, because of a large number).
const ORACLE: &str = r"
import sys, json, re, _string
for line in sys.stdin.buffer:
    template, observation, open_file = json.loads(line)
    arguments = {'observation': observation, 'open_file': open_file}
    answer = None
    if not re.search(r'\d{6}', template + ' ' + observation + ' ' + open_file):
        try:
            answer = template.format(**arguments)
            fields = [(name, spec) for _, name, spec, _ in _string.formatter_parser(template) if name is not None]
            names = [name for name, _ in fields]
            if 'observation' not in names or not set(names) <= set(arguments) or any('{' in spec for _, spec in fields):
                answer = False
        except Exception:
            answer = False
    print(json.dumps(answer))
";

#[test]
fn random_templates_give_what_cpython_gives() {
    const CASES: usize = 20_000;
    let version = Command::new("python3").args(["-c", "import sys; print(*sys.version_info[:2])"]).output();
    if !version.is_ok_and(|output| output.stdout.trim_ascii() == b"3 11") {
        eprintln!("skipped: python3 is not CPython 3.11");
        return;
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let cases: Vec<[String; 3]> = (0..CASES).map(|_| random.case()).collect();
    let answers = ask_python(&cases);
    assert_eq!(answers.len(), cases.len());

    let [mut accepted, mut refused, mut skipped] = [0; 3];
    for ([template, observation, open_file], answer) in cases.iter().zip(answers) {
        let result = format(template, &NAMES, &[observation, open_file]);
        match answer {
            Value::Null => skipped += 1,
            Value::String(wanted) => {
                assert_eq!(result.as_deref(), Some(wanted.as_str()), "{template:?} with {observation:?}");
                accepted += 1;
            }
            _ => {
                assert_eq!(result, None, "{template:?} with {observation:?}");
                refused += 1;
            }
        }
    }
    eprintln!("{accepted} accepted, {refused} refused, {skipped} not tried");
    assert!(accepted > CASES / 5 && refused > CASES / 5, "the generator is one-sided");
}

fn ask_python(cases: &[[String; 3]]) -> Vec<Value> {
    let lines: String =
        cases.iter().map(|case| serde_json::to_string(case).expect("strings are JSON") + "\n").collect();
    let mut python = Command::new("python3")
        .args(["-c", ORACLE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts a second time");
    let mut stdin = python.stdin.take().expect("stdin is piped");
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("the writer ends").expect("python3 reads");
    assert!(output.status.success(), "python3 failed");
    serde_json::Deserializer::from_slice(&output.stdout).into_iter().map(|answer| answer.expect("JSON")).collect()
}

/// A xorshift generator: the same cases on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    /// One of the tokens of a pool.
    fn pick<'p>(&mut self, pool: &'p str) -> &'p str {
        let mut tokens = pool.split('|');
        let index = self.below(tokens.clone().count());
        tokens.nth(index).unwrap_or_default()
    }

    fn join(&mut self, pool: &str, max: usize) -> String {
        (0..self.below(max + 1)).map(|_| self.pick(pool)).collect()
    }

    /// Template, observation and open file.
    fn case(&mut self) -> [String; 3] {
        let mut template = String::new();
        for _ in 0..1 + self.below(4) {
            match self.below(8) {
                0 => template += &self.join(NOISE, 6),
                1 => template += self.pick("{{|}}|\n|text |é|{{observation}}"),
                2 => template += "{observation}",
                _ => template += &self.field(),
            }
        }
        [template, self.join(TEXT, 8), self.join(TEXT, 3)]
    }

    /// Mostly a field in order.
    fn field(&mut self) -> String {
        let name = match self.below(12) {
            0 => self.join(NOISE, 3),
            1 | 2 => "open_file".to_owned(),
            _ => "observation".to_owned(),
        };
        let conversion = match self.below(12) {
            0 => format!("!{}", self.join(NOISE, 2)),
            1..4 => self.pick("!s|!r|!a").to_owned(),
            _ => String::new(),
        };
        let spec = match self.below(8) {
            0 => format!(":{}", self.join(NOISE, 4)),
            1..5 => {
                let fill = if self.below(2) == 0 { self.pick(TEXT) } else { "" };
                let align = self.pick("<|>|^|<|>|^|||=");
                let option = if self.below(12) == 0 { self.pick("+|-| |z|#|_|,") } else { "" };
                let zero = self.pick("|||0");
                let precision = if self.below(2) == 0 { format!(".{}", self.join(DIGITS, 2)) } else { String::new() };
                let code = self.pick("|||s|s|d|S");
                format!(":{fill}{align}{option}{zero}{}{precision}{code}", self.join(DIGITS, 2))
            }
            _ => String::new(),
        };
        format!("{{{name}{conversion}{spec}}}")
    }
}

const NOISE: &str =
    "{|}|{|}|{{|}}|:|:|!|!|[|]|.|0|1|٣|<|>|^|=|s|r|a|+| |\0|!\0}|\n|\u{1b}|é|😀|x|observation|open_file";
const DIGITS: &str = "0|1|2|3|5|9|٠|٣|９|𝟎|𝟗|௧|²|";
const TEXT: &str = "a|b|c| |\t|\n|\r|\0|\u{1b}|\u{7f}|\u{85}|\u{a0}|\u{ad}|'|\"|\\|é|e\u{301}|中|😀|\u{378}|\u{200b}|\u{2028}|\
                    \u{fffe}|\u{e000}|\u{1fae8}|\u{10ffff}|0|٣|{observation}";
