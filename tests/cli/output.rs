//! `--save` and `--output`: whole files or none.

use std::fs;

use crate::common::{Ran, assert_error_document, command, digest, fixture, polyloop, polyloop_with, read, run};
use crate::{REQUEST, STREAM, Scratch};

const OLD: &str = "what was there before\n";

/// Renders the small request, or another, with these arguments, in a folder.
fn render(scratch: &Scratch, input: &str, args: &[&str]) -> Ran {
    run(command(["render", "-"]).args(args).current_dir(scratch.path()), input.as_bytes())
}

#[test]
fn a_saved_stream_is_the_exact_bytes_whatever_is_printed() {
    for format in ["text", "json", "jsonl", "yaml"] {
        let scratch = Scratch::new();
        let without = render(&scratch, REQUEST, &["--format", format]);
        let with = render(&scratch, REQUEST, &["--format", format, "--save", "golden.jsonl"]);
        assert_eq!(with.exits(0).stdout, without.exits(0).stdout);
        assert_eq!(read(scratch.join("golden.jsonl")), STREAM.as_bytes());
        assert_eq!(scratch.names(), ["golden.jsonl"]);
    }
}

#[test]
fn an_output_holds_what_would_be_printed() {
    for format in ["text", "json", "jsonl", "yaml"] {
        let scratch = Scratch::new();
        let printed = render(&scratch, REQUEST, &["--format", format]).stdout;
        let ran = render(&scratch, REQUEST, &["--format", format, "-o", "out"]);
        assert!(ran.exits(0).stdout.is_empty());
        assert_eq!(read(scratch.join("out")), printed);
        assert_eq!(scratch.names(), ["out"]);
    }
}

#[test]
fn both_can_be_asked_for() {
    let scratch = Scratch::new();
    render(&scratch, REQUEST, &["--format", "json", "--output", "report.json", "--save", "golden.jsonl"]).exits(0);
    assert_eq!(read(scratch.join("golden.jsonl")), STREAM.as_bytes());
    let report: serde_json::Value = serde_json::from_slice(&read(scratch.join("report.json"))).expect("JSON");
    assert_eq!(report["digest"], digest(STREAM.as_bytes()));
}

#[test]
fn a_passed_budget_and_a_difference_do_not_keep_from_writing() {
    let scratch = Scratch::new();
    let over = REQUEST.replace("]}", "], \"budget\": {\"max_prompt_chars\": 1}}");
    render(&scratch, &over, &["--save", "golden.jsonl"]).exits(3);
    assert_eq!(read(scratch.join("golden.jsonl")), STREAM.as_bytes());
    fs::write(scratch.join("old.jsonl"), STREAM.repeat(2)).expect("a file can be written");
    // The earlier render is read before it is replaced.
    render(&scratch, REQUEST, &["--against", "old.jsonl", "--save", "old.jsonl"]).exits(1);
    assert_eq!(read(scratch.join("old.jsonl")), STREAM.as_bytes());
}

#[test]
fn bad_input_leaves_the_old_file_alone() {
    let template = r#"{"observation_template": "no field"}"#;
    for (input, extra) in
        [("{", &[][..]), (template, &[]), (REQUEST, &["--steps", "9"]), (REQUEST, &["--against", "no"])]
    {
        for option in ["--save", "--output"] {
            let scratch = Scratch::new();
            fs::write(scratch.join("old"), OLD).expect("a file can be written");
            render(&scratch, input, &[&[option, "old"], extra].concat()).fails();
            assert_eq!(read(scratch.join("old")), OLD.as_bytes());
            assert_eq!(scratch.names(), ["old"]);
        }
    }
}

#[test]
fn a_target_that_cannot_be_is_an_error_of_writing() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("folder")).expect("a folder can be made");
    fs::write(scratch.join("file"), OLD).expect("a file can be written");
    for target in ["folder", "folder/", ".", "missing/out", "file/out", ""] {
        for option in ["--save", "--output"] {
            let ran = render(&scratch, REQUEST, &[option, target]);
            assert!(ran.fails().stderr.contains("hint: "), "{}", ran.stderr);
        }
        let json = render(&scratch, REQUEST, &["--save", target, "--format", "json"]);
        let document = json.exits(2).json();
        assert_error_document(&document);
        assert!(document["code"] == "io.write" || target.is_empty(), "{target}: {document}");
    }
    assert_eq!(scratch.names(), ["file", "folder"]);
    assert_eq!(read(scratch.join("file")), OLD.as_bytes());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::common::{BINARY, finish};

    fn mode(scratch: &Scratch, name: &str) -> u32 {
        fs::metadata(scratch.join(name)).expect("the file is there").permissions().mode() & 0o7777
    }

    #[test]
    fn the_mode_is_kept() {
        for wanted in [0o600, 0o640, 0o755] {
            let scratch = Scratch::new();
            fs::write(scratch.join("old"), OLD).expect("a file can be written");
            fs::set_permissions(scratch.join("old"), fs::Permissions::from_mode(wanted)).expect("modes can be set");
            render(&scratch, REQUEST, &["--save", "old"]).exits(0);
            assert_eq!(mode(&scratch, "old"), wanted);
            assert_eq!(read(scratch.join("old")), STREAM.as_bytes());
        }
    }

    #[test]
    fn a_new_file_goes_by_the_umask() {
        for (umask, wanted) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
            let scratch = Scratch::new();
            let script = format!("umask {umask}; exec \"$0\" render - --save new --output out");
            let ran =
                run(Command::new("sh").args(["-c", &script, BINARY]).current_dir(scratch.path()), REQUEST.as_bytes());
            ran.exits(0);
            assert_eq!(mode(&scratch, "new"), wanted, "umask {umask}");
            assert_eq!(mode(&scratch, "out"), wanted, "umask {umask}");
        }
    }

    #[test]
    fn a_link_inside_the_folder_is_followed() {
        let scratch = Scratch::new();
        fs::create_dir(scratch.join("below")).expect("a folder can be made");
        for target in ["real", "below/real"] {
            fs::write(scratch.join(target), OLD).expect("a file can be written");
            let link = format!("link-{}", target.len());
            symlink(target, scratch.join(&link)).expect("a link can be made");
            render(&scratch, REQUEST, &["--save", &link]).exits(0);
            assert!(fs::symlink_metadata(scratch.join(&link)).expect("the link is there").is_symlink());
            assert_eq!(read(scratch.join(target)), STREAM.as_bytes());
        }
    }

    #[test]
    fn a_link_out_of_the_folder_is_refused() {
        let (outside, scratch) = (Scratch::new(), Scratch::new());
        let target = outside.file("target", OLD);
        fs::create_dir(scratch.join("sub")).expect("a folder can be made");
        fs::write(scratch.join("beside"), OLD).expect("a file can be written");
        symlink(&target, scratch.join("absolute")).expect("a link can be made");
        symlink("../beside", scratch.join("sub/up")).expect("a link can be made");
        symlink(outside.join("new"), scratch.join("dangling")).expect("a link can be made");
        symlink("loop", scratch.join("loop")).expect("a link can be made");
        for link in ["absolute", "sub/up", "dangling", "loop"] {
            for option in ["--save", "--output"] {
                render(&scratch, REQUEST, &[option, link]).fails();
            }
        }
        assert_eq!(read(&target), OLD.as_bytes());
        assert_eq!(read(scratch.join("beside")), OLD.as_bytes());
        assert_eq!(outside.names(), ["target"]);
        assert_eq!(scratch.names(), ["absolute", "beside", "dangling", "loop", "sub"]);
    }

    /// What is no file is written to as it is. Every test that names a device of the system asks a pipe of its own
    /// first: a binary that replaced the one would replace the other.
    fn prove_that_a_pipe_stays_a_pipe() {
        let scratch = Scratch::new();
        let path = scratch.join("fifo");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo is there").success());
        let mut reader = Command::new("cat").arg(&path).stdout(Stdio::piped()).spawn().expect("cat starts");
        render(&scratch, REQUEST, &["--save", "fifo"]).exits(0);
        if !fs::metadata(&path).expect("it is there").file_type().is_fifo() {
            reader.kill().expect("cat can be ended");
            panic!("the pipe was replaced");
        }
        assert_eq!(finish(reader, "cat").stdout, STREAM.as_bytes());
    }

    #[test]
    fn a_device_stays_a_device() {
        prove_that_a_pipe_stays_a_pipe();
        let scratch = Scratch::new();
        for option in ["--save", "--output"] {
            render(&scratch, REQUEST, &[option, "/dev/null"]).exits(0);
            let kind = fs::metadata("/dev/null").expect("it is there").file_type();
            assert!(kind.is_char_device(), "/dev/null was replaced");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_of_writing() {
        prove_that_a_pipe_stays_a_pipe();
        let scratch = Scratch::new();
        for option in ["--save", "--output"] {
            let ran = render(&scratch, REQUEST, &[option, "/dev/full"]);
            assert!(ran.fails().stderr.starts_with("polyloop: /dev/full: cannot be written"), "{}", ran.stderr);
        }
        let json = render(&scratch, REQUEST, &["--save", "/dev/full", "--format", "json"]);
        assert_eq!(json.exits(2).json()["code"], "io.write");

        // Standard output itself: short and long results, and every command that prints.
        let long = fixture("react/request.yaml");
        for args in [
            &["render", "-"][..],
            &["render", "-", "--format", "json"],
            &["render", "-", "--format", "jsonl"],
            &["render", &long],
            &["schema"],
            &["completions", "bash"],
            &["man"],
            &["--help"],
            &["--version"],
        ] {
            let mut command = Command::new("sh");
            command
                .args(["-c", "exec \"$0\" \"$@\" > /dev/full", BINARY])
                .args(args)
                .current_dir(crate::common::root());
            let ran = run(&mut command, REQUEST.as_bytes());
            assert!(ran.fails().stderr.contains("cannot be written"), "{args:?}: {}", ran.stderr);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_read_only_place_is_an_error_of_writing() {
        let scratch = Scratch::new();
        render(&scratch, REQUEST, &["--save", "/proc/polyloop"]).fails();
        render(&scratch, REQUEST, &["--save", "/proc/version"]).fails();
    }
}

#[test]
fn one_file_is_not_two_outputs() {
    let scratch = Scratch::new();
    let ran = polyloop_with(
        ["render", "-", "--save", &scratch.file("x", OLD), "--output", &scratch.file("x", OLD)],
        REQUEST.as_bytes(),
    );
    ran.fails();
    assert_eq!(read(scratch.join("x")), OLD.as_bytes());
}

#[test]
fn no_output_takes_the_place_of_what_is_read() {
    let scratch = Scratch::new();
    let (request, golden) = (scratch.file("a.json", REQUEST), scratch.join("a.render.jsonl").display().to_string());
    polyloop(["render", &request, "--save", &golden]).exits(0);
    let before = (read(&request), read(&golden));
    for args in [
        &["render", &request, "-o", &request][..],
        &["render", &request, "--save", &request],
        &["render", &request, "--against", &golden, "-o", &golden],
        &["diff", &request, &golden, "-o", &golden],
        &["diff", &request, &golden, "-o", &request],
        &["check", &request, "-o", &request],
        &["check", &request, "-o", &golden],
    ] {
        polyloop(args).fails();
        assert!((read(&request), read(&golden)) == before, "{args:?}");
    }
    // A single hyphen is standard output.
    let printed = polyloop(["render", &request, "-f", "jsonl", "-o", "-"]);
    assert_eq!(printed.exits(0).stdout, before.1);
}
