//! Where input comes from and what it is taken for.

use crate::common::{assert_error_document, fixture, polyloop, polyloop_with, read, root};
use crate::{REQUEST, STREAM, Scratch};

const YAML: &str = "goal:\n- role: user\n  content: Name a prime.\n";

/// Renders standard input as the exact bytes.
fn from_stdin(input: impl AsRef<[u8]>) -> Vec<u8> {
    polyloop_with(["render", "-", "--format", "jsonl"], input.as_ref()).exits(0).stdout.clone()
}

fn from_file(scratch: &Scratch, name: &str, input: impl AsRef<[u8]>) -> Vec<u8> {
    let file = scratch.file(name, input);
    polyloop(["render", &file, "--format", "jsonl"]).exits(0).stdout.clone()
}

#[test]
fn standard_input_is_known_by_its_content() {
    assert_eq!(from_stdin(REQUEST), STREAM.as_bytes());
    assert_eq!(from_stdin(YAML), STREAM.as_bytes());
    assert_eq!(from_stdin("{goal: [{role: user, content: Name a prime.}]} # flow"), STREAM.as_bytes());
    assert_eq!(from_stdin(STREAM), STREAM.as_bytes());
    assert_eq!(from_stdin(STREAM.repeat(2)), STREAM.repeat(2).as_bytes());
    assert_eq!(from_stdin(format!("[{},{}]", STREAM.trim(), STREAM.trim())), STREAM.repeat(2).as_bytes());
    assert_eq!(from_stdin("- role: user\n  content: Name a prime.\n"), STREAM.as_bytes());
    assert_eq!(from_stdin("{}"), b"");
    let pretty = REQUEST.replace(' ', "\n  ");
    assert_eq!(from_stdin(pretty.replace("Name\n  a\n  prime.", "Name a prime.")), STREAM.as_bytes());
    let batch = polyloop_with(["render", "-", "--format", "json"], format!("{REQUEST}\n{REQUEST}\n").as_bytes());
    assert_eq!(batch.exits(0).text().lines().count(), 2);
}

#[test]
fn another_ending_is_known_by_its_content() {
    let scratch = Scratch::new();
    for name in ["request", "request.txt", "request.prompt", ".request"] {
        for content in [REQUEST, YAML, STREAM] {
            assert_eq!(from_file(&scratch, name, content), STREAM.as_bytes(), "{name}: {content}");
        }
    }
}

#[test]
fn an_ending_is_believed() {
    let scratch = Scratch::new();
    assert_eq!(from_file(&scratch, "a.json", REQUEST), STREAM.as_bytes());
    assert_eq!(from_file(&scratch, "a.yaml", YAML), STREAM.as_bytes());
    assert_eq!(from_file(&scratch, "a.yml", YAML), STREAM.as_bytes());
    assert_eq!(from_file(&scratch, "a.yaml", REQUEST), STREAM.as_bytes(), "JSON is YAML");
    assert_eq!(from_file(&scratch, "a.jsonl", STREAM), STREAM.as_bytes());
    assert_eq!(from_file(&scratch, "a.jsonl", ""), b"", "a stream of no messages");
    let yaml_as_json = scratch.file("b.json", YAML);
    let ran = polyloop(["render", &yaml_as_json]);
    assert!(ran.fails().stderr.contains("invalid JSON"), "{}", ran.stderr);
}

#[test]
fn a_stream_with_a_broken_line_is_told_so() {
    let scratch = Scratch::new();
    let file = scratch.file("broken.jsonl", STREAM.replace("}]}", "}]") + STREAM);
    let ran = polyloop(["render", &file]);
    let start = format!("polyloop: {file}:1:");
    assert!(ran.fails().stderr.starts_with(&start), "{} does not start with {start}", ran.stderr);
    let file = scratch.file("broken.jsonl", STREAM.to_owned() + "{\"role\":\n");
    let ran = polyloop(["render", &file]);
    let start = format!("polyloop: {file}:2:");
    assert!(ran.fails().stderr.starts_with(&start), "{} does not start with {start}", ran.stderr);
}

#[test]
fn a_byte_order_mark_is_dropped() {
    let scratch = Scratch::new();
    for (name, content) in [("a.json", REQUEST), ("a.yaml", YAML), ("a.jsonl", STREAM), ("a", REQUEST), ("b", YAML)] {
        assert_eq!(from_file(&scratch, name, format!("\u{feff}{content}")), STREAM.as_bytes(), "{name}");
    }
    assert_eq!(from_stdin(format!("\u{feff}{REQUEST}")), STREAM.as_bytes());
    let two = scratch.file("two.json", format!("\u{feff}\u{feff}{REQUEST}"));
    polyloop(["render", &two]).fails();
}

#[test]
fn a_position_counts_without_the_byte_order_mark() {
    let ran = polyloop_with(["render", "-"], "\u{feff}{\"x\": 1}".as_bytes());
    assert!(ran.fails().stderr.starts_with("polyloop: <stdin>:1:2: "), "{}", ran.stderr);
}

#[test]
fn line_ends_of_the_file_are_no_content() {
    let scratch = Scratch::new();
    let wanted = from_file(&scratch, "a.yaml", "goal:\n- role: user\n  content: |\n    a\n    b\n");
    assert_eq!(from_file(&scratch, "b.yaml", "goal:\r\n- role: user\r\n  content: |\r\n    a\r\n    b\r\n"), wanted);
    assert_eq!(from_file(&scratch, "c.json", REQUEST.replace(": [", ":\r\n[")), STREAM.as_bytes());
}

#[test]
fn other_encodings_are_named() {
    let utf_16: Vec<u8> = REQUEST.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with_mark = [&[0xff, 0xfe][..], &utf_16].concat();
    let latin_1 = [REQUEST.as_bytes(), b"\n# caf\xe9"].concat();
    for (input, word) in [(utf_16, "UTF-16"), (with_mark, "UTF-16"), (latin_1, "UTF-8")] {
        let ran = polyloop_with(["render", "-", "--format", "json"], &input);
        assert!(ran.exits(2).stderr.contains(word), "{}", ran.stderr);
        assert_eq!(ran.json()["code"], "request.encoding");
    }
}

#[test]
fn what_holds_no_request_is_refused() {
    for input in ["", "\n", " \n\t", "# only a comment\n", "hello", "12", "null", "[1]", "\"text\"", "--- \n..."] {
        polyloop_with(["render", "-"], input.as_bytes()).fails();
    }
}

#[test]
fn steps_count_what_is_completed() {
    let request = fixture("react/request.yaml");
    let golden = read(root().join(fixture("react/request.render.jsonl")));
    let steps = |count: &str| polyloop(["render", &request, "--format", "jsonl", "--steps", count]);
    let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
    for (count, messages) in [("0", 9), ("1", 11), ("4", 17), ("5", 19)] {
        let ran = steps(count);
        assert_eq!(lines(&ran.exits(0).stdout), messages);
        assert!(golden.starts_with(&ran.stdout), "--steps {count} is no prefix");
    }
    for count in ["6", "99999999999999999999", "-1", "1.5", "", "x"] {
        steps(count).fails();
    }
    let ran = polyloop(["render", &request, "--steps", "6", "--format", "json"]);
    assert_error_document(&ran.exits(2).json());
    assert_eq!(ran.json()["code"], "usage.arguments");
    assert!(ran.stderr.contains('5'), "the number there are: {}", ran.stderr);
}

#[test]
fn steps_of_recorded_messages_are_refused() {
    for input in [STREAM, &format!("[{}]", STREAM.trim())] {
        polyloop_with(["render", "-", "--steps", "0"], input.as_bytes()).fails();
    }
}

#[test]
fn a_missing_file_is_named() {
    let ran = polyloop(["render", "no/such/file.yaml", "--format", "json"]);
    assert!(ran.exits(2).stderr.starts_with("polyloop: no/such/file.yaml: "), "{}", ran.stderr);
    assert_eq!(ran.json()["code"], "io.read");
    assert_eq!(ran.json()["source"], "no/such/file.yaml");
}

#[test]
fn a_folder_is_no_input() {
    for folder in ["fixtures", "fixtures/", ".", "/"] {
        let ran = polyloop(["render", folder, "--format", "json"]);
        assert_eq!(ran.exits(2).json()["code"], "io.read", "{folder}");
        assert!(ran.stderr.contains("directory"), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn devices_end() {
    for device in ["/dev/null", "/dev/zero", "/dev/urandom"] {
        polyloop(["render", device]).fails();
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read() {
    let scratch = Scratch::new();
    for name in ["fifo.json", "fifo"] {
        let path = scratch.join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
        assert!(made.success());
        let target = path.clone();
        let writer = std::thread::spawn(move || std::fs::write(target, REQUEST));
        let ran = polyloop(["render", path.to_str().expect("UTF-8"), "--format", "jsonl"]);
        assert_eq!(ran.exits(0).stdout, STREAM.as_bytes());
        writer.join().expect("the writer ends").expect("the pipe is written");
    }
}

#[test]
fn what_is_no_body_and_no_request_is_named_as_neither() {
    let body = r#"{"model": "m", "prompt": "hi"}"#;
    let ran = polyloop_with(["render", "-", "--format", "json"], body.as_bytes());
    assert_eq!(ran.exits(2).json()["code"], "input.shape");
    let ran = polyloop_with(["render", "-", "--format", "json", "--from", "anthropic"], body.as_bytes());
    assert_eq!(ran.exits(2).json()["code"], "input.shape");
}
