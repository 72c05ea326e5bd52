//! The transcripts in the README, in the man pages and among the fixtures are run, and say what they say there.
//!
//! In a fenced block marked `console`, or in a literal block of a man page, a line `$ COMMAND` is run by sh in the root
//! of the repository, the binary being first in PATH. The lines after it are what it prints, stdout and stderr as they
//! come, to the next command or the end of the block. A line `…` stands for any number of lines, and a last line
//! `[exit N]` for an exit code other than 0. A file `NAME.console` is one such block, behind lines that begin with `# `.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{BINARY, files_under, root, run};

struct Transcript {
    place: String,
    command: String,
    expected: Vec<String>,
    exit: i32,
}

/// The transcripts of the lines of a block.
fn transcripts(place: &str, block: &[String]) -> Vec<Transcript> {
    let mut found: Vec<Transcript> = Vec::new();
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            let place = place.to_owned();
            found.push(Transcript { place, command: command.to_owned(), expected: Vec::new(), exit: 0 });
            continue;
        }
        let last = found.last_mut().unwrap_or_else(|| panic!("{place}: {line:?} comes before any command"));
        match line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')) {
            Some(code) => last.exit = code.parse().unwrap_or_else(|_| panic!("{place}: {line:?} is no exit code")),
            None => last.expected.push(line.clone()),
        }
    }
    for transcript in &mut found {
        // Blank lines before the next command are for the eye.
        while transcript.expected.last().is_some_and(String::is_empty) {
            transcript.expected.pop();
        }
    }
    found
}

/// The fenced blocks marked `console`.
fn of_markdown(name: &str, text: &str) -> Vec<Transcript> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.trim_end() == "```console" {
            let block: Vec<String> =
                lines.by_ref().map(|(_, line)| line.to_owned()).take_while(|line| line != "```").collect();
            found.extend(transcripts(&format!("{name}:{}", number + 1), &block));
        }
    }
    found
}

/// The literal blocks that hold a command.
fn of_man_page(name: &str, text: &str) -> Vec<Transcript> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if matches!(line, ".nf" | ".EX") {
            let block = lines.by_ref().map(|(_, line)| line).take_while(|line| !matches!(*line, ".fi" | ".EE"));
            let block: Vec<String> = block.map(plain).collect();
            if block.iter().any(|line| line.starts_with("$ ")) {
                found.extend(transcripts(&format!("{name}:{}", number + 1), &block));
            }
        }
    }
    found
}

/// A file that is one block, behind what it says of itself.
fn of_console(name: &str, text: &str) -> Vec<Transcript> {
    let lines = text.lines().skip_while(|line| line.starts_with("# ") || line.is_empty());
    transcripts(name, &lines.map(str::to_owned).collect::<Vec<_>>())
}

/// A line of roff as it is shown.
fn plain(line: &str) -> String {
    let line = line.strip_prefix("\\&").unwrap_or(line);
    [
        ("\\-", "-"),
        ("\\*(Aq", "'"),
        ("\\(aq", "'"),
        ("\\fR", ""),
        ("\\fB", ""),
        ("\\&", ""),
        ("\\e", "\\"),
        ("\\\\", "\\"),
    ]
    .iter()
    .fold(line.to_owned(), |line, (roff, plain)| line.replace(roff, plain))
}

/// Whether the lines are the expected ones, `…` being any number of them.
fn matches(expected: &[String], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "…" => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, lines)| first == line && matches(rest, lines)),
    }
}

fn check(transcript: &Transcript) -> Result<(), String> {
    let Transcript { place, command, expected, exit } = transcript;
    let folder = Path::new(BINARY).parent().expect("the binary lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).current_dir(root());
    shell.env("PATH", format!("{}:{path}", folder.display()));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"] {
        shell.env_remove(name);
    }
    let ran = run(&mut shell, b"");
    let mut lines: Vec<&str> = ran.text().lines().collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    if ran.code == Some(*exit) && matches(expected, &lines) {
        return Ok(());
    }
    let (wanted, got) = (expected.join("\n"), lines.join("\n"));
    Err(format!(
        "{place}: $ {command}\nshould print, and exit {exit}:\n{wanted}\nbut prints, and exits {:?}:\n{got}",
        ran.code
    ))
}

#[test]
fn transcripts_say_what_happens() {
    let readme = root().join("README.md");
    if !readme.exists() {
        eprintln!("skipped: there is no README.md");
        return;
    }
    let mut all = of_markdown("README.md", &fs::read_to_string(readme).expect("the README is UTF-8"));
    assert!(!all.is_empty(), "the README holds no transcript");
    if root().join("man").exists() {
        for page in files_under(&root().join("man")) {
            let name = page.strip_prefix(root()).expect("a page lies in the repository").display().to_string();
            all.extend(of_man_page(&name, &fs::read_to_string(&page).expect("a page is UTF-8")));
        }
    }
    for file in files_under(&root().join("fixtures")) {
        if file.extension().is_some_and(|ending| ending == "console") {
            let name = file.strip_prefix(root()).expect("a fixture lies in the repository").display().to_string();
            all.extend(of_console(&name, &fs::read_to_string(&file).expect("a transcript is UTF-8")));
        }
    }
    let has_python = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_python {
        assert!(std::env::var_os("CI").is_none(), "there is no python3");
        eprintln!("there is no python3: transcripts of cells are not run");
        all.retain(|transcript| !transcript.command.contains("polyloop kernel"));
    }
    let faults: Vec<String> = all.iter().filter_map(|transcript| check(transcript).err()).collect();
    eprintln!("{} transcripts", all.len());
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn a_transcript_that_is_wrong_is_found_out() {
    let text = "```console\n$ printf 'a\\nb\\nc\\n'; exit 3\na\n…\nc\n[exit 3]\n\n$ true\n```\n";
    let right = of_markdown("text", text);
    assert_eq!(right.len(), 2);
    assert!(right.iter().all(|transcript| check(transcript).is_ok()));
    for wrong in [text.replace("\nc\n[", "\nd\n["), text.replace("[exit 3]", "[exit 2]"), text.replace("…\n", "")] {
        assert!(of_markdown("text", &wrong).iter().any(|transcript| check(transcript).is_err()), "{wrong}");
    }
    let page = ".SH EXAMPLES\n.nf\n$ echo \\-\\-x\n\\-\\-x\n.fi\n.EX\nno command\n.EE\n";
    let [transcript] = &of_man_page("page", page)[..] else { panic!("one transcript") };
    assert!(check(transcript).is_ok());
}
