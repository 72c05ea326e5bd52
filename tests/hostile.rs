//! Input made to hurt: it is refused or read, in bounded time and memory, and never ends in a panic.
#![cfg(target_os = "linux")]

mod common;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use common::{BINARY, Ran, run};

/// Address space for one run, in KiB: 1 GiB, of which allocators leave much untouched.
const MEMORY_KIB: u32 = 1 << 20;

/// Processor time for one run, in seconds: enough for an unoptimised build, not for anything quadratic.
const SECONDS: u32 = 20;

/// Renders a file of this name and content within these bounds.
fn render(name: &str, content: impl AsRef<[u8]>, format: &str) -> Ran {
    let scratch = tempfile::tempdir().expect("a folder can be made");
    let file = scratch.path().join(name);
    std::fs::write(&file, content).expect("a file can be written");
    render_path(&file, format)
}

fn render_path(file: &Path, format: &str) -> Ran {
    let name = file.display();
    let mut command = Command::new("sh");
    // The output is not wanted, only that it comes to an end.
    let limits = format!("ulimit -v {MEMORY_KIB}; ulimit -t {SECONDS}");
    let script = format!("{limits}; exec \"$0\" render \"$1\" --format {format} >/dev/null");
    command.args(["-c", &script, BINARY]).arg(file).env_remove("RUST_BACKTRACE");
    let ran = run(&mut command, b"");
    assert!(matches!(ran.code, Some(0..=3)), "{name}: exit {:?}, {:.300}", ran.code, ran.stderr);
    assert!(ran.stderr.len() < 20_000, "{name}: {} bytes of words: {:.300}", ran.stderr.len(), ran.stderr);
    ran
}

/// The same, for what must be refused.
#[track_caller]
fn refuse(name: &str, content: impl AsRef<[u8]>) -> String {
    let ran = render(name, content, "text");
    assert_eq!(ran.code, Some(2), "{name} is not refused");
    assert!(ran.stderr.starts_with("polyloop: "), "{:.300}", ran.stderr);
    ran.stderr
}

/// The same, for what is large and right.
#[track_caller]
fn accept(name: &str, content: impl AsRef<[u8]>, format: &str) {
    let ran = render(name, content, format);
    assert!(matches!(ran.code, Some(0 | 3)), "{name} is refused: {:.300}", ran.stderr);
}

fn repeat(text: &str, count: usize) -> String {
    text.repeat(count)
}

#[test]
fn endless_devices() {
    for device in ["/dev/zero", "/dev/urandom"] {
        let scratch = tempfile::tempdir().expect("a folder can be made");
        let link = scratch.path().join("endless");
        std::os::unix::fs::symlink(device, &link).expect("a link can be made");
        assert_eq!(render_path(&link, "text").code, Some(2), "{device}");
    }
}

#[test]
fn deep_json() {
    const DEEP: usize = 100_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let middle = if open == "[" { "" } else { "1" };
        for content in [
            repeat(open, DEEP) + middle + &repeat(close, DEEP),
            repeat(open, DEEP),
            format!("{{\"tools\":[{{\"a\":{}{middle}{}}}]}}", repeat(open, DEEP), repeat(close, DEEP)),
            format!("{{\"metadata\":{{\"a\":{}{middle}{}}}}}", repeat(open, DEEP), repeat(close, DEEP)),
        ] {
            for name in ["deep.json", "deep.jsonl", "deep.yaml", "deep"] {
                refuse(name, &content);
            }
        }
    }
}

#[test]
fn five_megabytes_of_brackets() {
    for bracket in ["[", "{", "]", "[]", "{\"", "\"", "[[", "- [", ","] {
        let content = repeat(bracket, 5_000_000 / bracket.len());
        for name in ["open.json", "open.yaml", "open.jsonl", "open"] {
            refuse(name, &content);
        }
    }
}

#[test]
fn deep_yaml() {
    const DEEP: usize = 100_000;
    for open in ["- ", "? ", "a: ", "{a: ", "[", "{? ", "- - ? ", "-\t", "!!seq [", "&a [", "*a", ": ", "| ", "> "] {
        refuse("deep.yaml", repeat(open, DEEP));
    }
    let mut stairs = String::new();
    for indent in 0..3_000 {
        writeln!(stairs, "{}a:", " ".repeat(indent)).expect("a string takes every write");
    }
    refuse("stairs.yaml", &stairs);
    refuse("stairs.yaml", stairs.replace("a:", "-"));
}

#[test]
fn alias_bombs() {
    let levels = |first: &str, use_of: &dyn Fn(&str) -> String| {
        let mut bomb = format!("metadata:\n  a0: &a0 {first}\n");
        for level in 1..12 {
            let uses = use_of(&format!("*a{}", level - 1));
            writeln!(bomb, "  a{level}: &a{level} {uses}").expect("a string takes every write");
        }
        bomb
    };
    let ten = |alias: &str| [alias; 10].join(", ");
    refuse("lists.yaml", levels("[x, x]", &|alias| format!("[{}]", ten(alias))));
    refuse(
        "maps.yaml",
        levels("{x: y}", &|alias| {
            let entries: Vec<String> = (0..10).map(|key| format!("k{key}: {alias}")).collect();
            format!("{{{}}}", entries.join(", "))
        }),
    );
    // Nothing here is copied often, but each level is looked at again by the next.
    render("nested.yaml", levels("[x]", &|alias| format!("[{alias}]")), "text");

    let text = format!("metadata:\n  a: &a \"{}\"\ngoal:\n", repeat("x", 1 << 20));
    refuse("text.yaml", text + &repeat("- {role: user, content: *a}\n", 2_000));
    refuse(
        "text.yaml",
        format!("metadata: &a {{x: \"{}\"}}\ntools: [{}]", repeat("x", 1 << 20), vec!["*a"; 1000].join(",")),
    );
    let key = format!("metadata:\n  ? &a \"{}\"\n  : x\ntools:\n", repeat("k", 100_000));
    refuse("keys.yaml", key + &repeat("- {*a : 1}\n", 10_000));
    refuse("itself.yaml", "goal: &a [*a]");
    refuse("unknown.yaml", "goal: [*a]");
    render("anchors.yaml", "metadata:\n  x: [".to_owned() + &repeat("&a x, ", 90_000) + "]", "text");
}

#[test]
fn merge_bombs() {
    let map = |keys: usize| (0..keys).map(|key| format!("k{key}: x")).collect::<Vec<_>>().join(", ");
    let mut bomb = format!("metadata:\n  a0: &a0 {{{}}}\n", map(1000));
    for level in 1..12 {
        let uses = vec![format!("*a{}", level - 1); 20].join(", ");
        writeln!(bomb, "  a{level}: &a{level} {{<<: [{uses}], own{level}: x}}").expect("a string takes every write");
    }
    refuse("merge.yaml", bomb);
    let many = repeat("  - {<<: *a}\n", 5_000);
    refuse("merge.yaml", format!("metadata:\n  a: &a {{{}}}\n  b:\n{many}", map(1000)));
    render("merge.yaml", format!("metadata: {{<<: [{}]}}", vec!["{a: b}"; 50_000].join(", ")), "text");
}

#[test]
fn many_keys() {
    let keys = |key: &dyn Fn(usize) -> String| (0..200_000).map(key).collect::<Vec<_>>().join(",");
    refuse("doubled.json", format!("{{\"metadata\":{{{}}}}}", keys(&|_| "\"a\":1".to_owned())));
    refuse("doubled.json", format!("{{{}}}", keys(&|_| "\"goal\":[]".to_owned())));
    refuse("doubled.yaml", format!("metadata: {{{}}}", keys(&|_| "a: 1".to_owned())));
    refuse("last.json", format!("{{\"metadata\":{{{},\"k0\":1}}}}", keys(&|key| format!("\"k{key}\":1"))));
    accept("distinct.json", format!("{{\"metadata\":{{{}}}}}", keys(&|key| format!("\"k{key}\":1"))), "text");
    accept("channels.json", format!("{{\"injections\":{{{}}}}}", keys(&|key| format!("\"k{key}\":[]"))), "text");
    refuse("unknown.json", format!("{{{}}}", keys(&|key| format!("\"k{key}\":1"))));
}

#[test]
fn many_values() {
    refuse("prefix.json", format!("{{\"prefix\":[{}]}}", vec!["{}"; 1_000_000].join(",")));
    refuse("prefix.yaml", "prefix:\n".to_owned() + &repeat("- {}\n", 300_000));
    refuse("list.json", format!("[{}]", vec!["{}"; 1_000_000].join(",")));
    refuse("too_many.json", format!("{{\"metadata\":{{\"a\":[{}]}}}}", vec!["1"; 2_100_000].join(",")));
    let message = r#"{"role":"user","content":""}"#;
    accept("messages.json", format!("{{\"prefix\":[{}]}}", vec![message; 50_000].join(",")), "text");
    accept("messages.json", format!("{{\"prefix\":[{}]}}", vec![message; 50_000].join(",")), "json");
    accept("stream.jsonl", repeat(&format!("{message}\n"), 50_000), "yaml");
    accept("batch.jsonl", repeat("{}\n", 20_000), "json");
    let blocks = vec![r#"{"type":"text","text":""}"#; 50_000].join(",");
    accept("blocks.json", format!("{{\"goal\":[{{\"role\":\"user\",\"content\":[{blocks}]}}]}}"), "text");
}

#[test]
fn huge_scalars() {
    let long = repeat("9", 1_000_000);
    for number in
        [&long, &format!("-{long}"), &format!("0.{long}"), &format!("1e{long}"), "1e999999999", "-1e-999999999"]
    {
        refuse("budget.json", format!("{{\"budget\":{{\"max_prompt_chars\":{number}}}}}"));
        refuse("budget.yaml", format!("budget: {{max_prompt_chars: {number}}}"));
        accept("tools.json", format!("{{\"tools\":[{{\"a\":{number}}}]}}"), "jsonl");
        accept("metadata.yaml", format!("metadata: {{a: {number}}}"), "text");
    }
    let line = repeat("x", 5_000_000);
    for format in ["text", "json", "jsonl", "yaml"] {
        accept("line.json", format!("{{\"goal\":[{{\"role\":\"user\",\"content\":\"{line}\"}}]}}"), format);
    }
    accept("lines.yaml", format!("goal:\n- role: user\n  content: |\n{}", repeat("    x\n", 500_000)), "text");
    accept("folded.yaml", format!("goal:\n- role: user\n  content: >\n{}", repeat("    x\n\n", 300_000)), "yaml");
    accept("quoted.yaml", format!("goal:\n- role: user\n  content: \"{}\"", repeat("x\n\n    ", 300_000)), "yaml");
    accept("plain.yaml", format!("goal:\n- role: user\n  content: x{}", repeat("\n    x", 300_000)), "yaml");
    accept(
        "escapes.json",
        format!("{{\"goal\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}", repeat("\\u0001", 500_000)),
        "text",
    );
    accept("comment.yaml", format!("# {line}\ngoal: []\n#{line}"), "text");
    refuse("blank.yaml", repeat("\n", 2_000_000));
    refuse("returns.yaml", repeat("\r", 2_000_000) + "goal: [");
    refuse("directives.yaml", repeat("%x\n", 500_000));
}

#[test]
fn huge_names() {
    let name = repeat("goal", 250_000);
    for document in [
        format!("{{\"{name}\":1}}"),
        format!("{{\"goal\":[{{\"role\":\"{name}\",\"content\":\"\"}}]}}"),
        format!("{{\"goal\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"{name}\"}}]}}]}}"),
        format!("{{\"budget\":{{\"{name}\":1}}}}"),
        format!("{{\"observation_template\":\"{{{name}}}\"}}"),
        format!("{{\"observation_template\":\"{{observation:{name}}}\"}}"),
        format!("{{\"observation_template\":\"{{observation!{name}}}\"}}"),
        format!("{{\"observation_template\":\"{{observation.{name}}}\"}}"),
        format!("{{\"observation_fields\":[\"{name}\",\"{name}\"]}}"),
        format!(
            "{{\"observation_template\":\"{{observation}}\",\
             \"trajectory\":[{{\"raw_output\":\"\",\"synthetic\":\"{name}\"}}],\"synthetic_observations\":{{\"a\":\"\"}}}}"
        ),
        format!("{{\"injections\":{{\"{name}\":1}}}}"),
        format!("{{\"injections\":{{\"{name}\":[{{\"entry_id\":1,\"content\":1}}]}}}}"),
        format!("{{\"metadata\":{{\"{name}\":1,\"{name}\":1}}}}"),
    ] {
        refuse("name.json", &document);
        refuse("name", &document);
    }
    refuse("key.yaml", format!("? {name}\n: x"));
    refuse("tag.yaml", format!("goal: !{name} x"));
    refuse("alias.yaml", format!("goal: *{name}"));
    accept(
        "channel.json",
        format!("{{\"injections\":{{\"{name}\":[{{\"entry_id\":\"{name}\",\"content\":\"\"}}]}}}}"),
        "text",
    );
}

/// A request with so many steps that observe so much.
fn steps(template: &str, observation: &str, count: usize) -> String {
    let step = format!("{{\"raw_output\":\"\",\"observation\":\"{observation}\"}}");
    format!("{{\"observation_template\":\"{template}\",\"trajectory\":[{}]}}", vec![step; count].join(","))
}

#[test]
fn template_bombs() {
    let observation = repeat("x", 1_000);
    refuse("fields.json", steps(&repeat("{observation}", 1_000), &observation, 500));
    refuse("widths.json", steps("{observation:>16777216}", "x", 100));
    refuse("widths.json", steps(&repeat("{observation:中^16777216}", 1_000), "x", 1));
    refuse("empty.json", steps(&repeat("{observation}", 1_000), "", 20_000));
    refuse("escaped.json", steps(&repeat("{observation!a}", 1_000), &repeat("\\u0000", 1_000), 100));
    for template in ["{observation:>16777216}", "{observation!r:*^16777216}"] {
        for format in ["text", "json", "jsonl", "yaml"] {
            accept("width.json", steps(template, "x", 1), format);
        }
    }
    accept("steps.json", steps("Output: {observation}", "x", 50_000), "jsonl");
    accept("literals.json", steps(&(repeat("{{", 20_000) + "{observation}"), "x", 10), "jsonl");
    refuse("open.json", steps(&repeat("{", 1_000_001), "x", 1));
    refuse("nested.json", steps(&repeat("{observation:", 200_000), "x", 1));
    refuse("digits.json", steps(&format!("{{observation:{}}}", repeat("9", 1_000_000)), "x", 1));
}

/// A request whose fragments are made one by one.
fn fragments(count: usize, fragment: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(fragment).collect();
    format!(r#"{{"observation_template":"{{observation}}","fragments":[{}]"#, all.join(","))
}

#[test]
fn many_fragments_that_stand_in_for_one_another() {
    let chain = |n: usize| match n {
        0 => r#"{"id":"f0","kind":"evidence","content":"0"}"#.to_owned(),
        _ => format!(r#"{{"id":"f{n}","kind":"evidence","content":"{n}","supersedes":["f{}"]}}"#, n - 1),
    };
    accept("chain.json", fragments(100_000, chain) + "}", "digest");
    let stretch = |n: usize| match n {
        39_999 => r#"{"id":"f","kind":"history","content":"s"}"#.to_owned(),
        _ => format!(r#"{{"id":"f{n}","kind":"history","content":"{n}","replaces":["fragments[{}:40000]"]}}"#, n + 1),
    };
    accept("stretches.json", fragments(40_000, stretch) + "}", "digest");
    let circle = |n: usize| {
        let next = (n + 1) % 40_000;
        format!(r#"{{"id":"f{n}","kind":"evidence","content":"{n}","supersedes":["f{next}"]}}"#)
    };
    let words = refuse("circle.json", fragments(40_000, circle) + "}");
    assert!(words.contains("supersedes itself"), "{words}");
}

#[test]
fn summaries_that_lose_all_there_is() {
    let names = |from: usize| (from..from + 60_000).map(|n| format!("src/f{n}.rs")).collect::<Vec<_>>().join(" ");
    let summary =
        |_| format!(r#"{{"id":"s","kind":"history","content":"{}","replaces":["trajectory[0]"]}}"#, names(1 << 20));
    let steps = format!(r#","trajectory":[{{"raw_output":"{}","observation":""}}]}}"#, names(0));
    accept("lost.json", fragments(1, summary) + &steps, "json");
}

#[test]
fn a_manifest_of_more_values_than_a_document_may_have() {
    let fragment = |n: usize| format!(r#"{{"id":"f{n}","kind":"evidence","content":"{n}"}}"#);
    let scratch = tempfile::tempdir().expect("a folder can be made");
    let file = scratch.path().join("many.json");
    std::fs::write(&file, fragments(60_000, fragment) + "}").expect("a file can be written");
    let ran = run(Command::new(BINARY).args(["manifest", "-f", "yaml"]).arg(&file), b"");
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let yaml = String::from_utf8(ran.stdout).expect("YAML is UTF-8");
    assert_eq!(yaml.matches("\n  - id: \"f").count() + yaml.matches("\n  - id: f").count(), 60_000);
}

/// A body of this many calls in one turn, and of results under the ids that `result` gives.
fn calls(count: usize, id: impl Fn(usize) -> String, result: Option<&dyn Fn(usize) -> String>) -> String {
    let mut body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"tool_calls\":[".to_owned();
    for at in 0..count {
        let comma = if at > 0 { "," } else { "" };
        let id = id(at);
        write!(body, "{comma}{{\"id\":\"{id}\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}").unwrap();
    }
    body += "]}";
    for id in (0..count).filter_map(|at| result.map(|result| result(at))) {
        write!(body, ",{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"r\"}}").unwrap();
    }
    body + "]}"
}

#[test]
fn many_calls() {
    const MANY: usize = 120_000;
    const TURNS: usize = 20_000;
    let own = |at: usize| format!("c{at}");
    let same = |_: usize| "c".to_owned();
    accept("lost.json", calls(MANY, own, None), "digest --repair");
    assert_eq!(render("lost.json", calls(MANY, own, None), "anthropic").code, Some(2));
    accept("answered.json", calls(TURNS, own, Some(&own)), "openai --repair");
    accept("same.json", calls(TURNS, same, Some(&same)), "digest --repair");
    let turn =
        r#"{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]}"#;
    accept("turns.json", format!("{{\"messages\":[{}]}}", vec![turn; TURNS].join(",")), "digest --repair");
}

#[test]
fn many_names_that_are_not_modelled() {
    const MANY: usize = 220_000;
    let messages = |of: &dyn Fn(usize) -> String| {
        format!("{{\"messages\":[{}]}}", (0..MANY).map(of).collect::<Vec<_>>().join(","))
    };
    accept("roles.json", messages(&|at| format!("{{\"role\":\"r{at}\",\"content\":\"x\"}}")), "digest");
    accept("keys.json", messages(&|at| format!("{{\"role\":\"user\",\"content\":\"x\",\"k{at}\":1}}")), "digest");
}

#[test]
fn long_logs() {
    let line = r#"{"request":{"body":"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"}}"#;
    accept("log.jsonl", repeat(&format!("{line}\n"), 100_000), "digest");
    let mut nested = "{\"messages\":[]}".to_owned();
    for _ in 0..12 {
        nested = format!("{{\"body\":{}}}", serde_json::Value::from(nested));
    }
    refuse("nested.json", nested);
}

#[test]
fn many_findings() {
    const MANY: usize = 60_000;
    let own = |at: usize| format!("c{at}");
    let scratch = tempfile::tempdir().expect("a folder can be made");
    let file = scratch.path().join("calls.json");
    std::fs::write(&file, calls(MANY, own, None)).expect("a file can be written");
    for format in ["text", "json", "github", "sarif"] {
        let ran = run(Command::new(BINARY).args(["lint", "--for", "openai", "-f", format]).arg(&file), b"");
        assert_eq!((ran.code, &*ran.stderr), (Some(1), ""), "{format}");
    }
}
