//! What is made from the command line's own description: completions and man pages.

use crate::common::{polyloop, read, root};
use crate::usage::commands;

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = polyloop(["completions", shell]);
        for word in ["polyloop", "render", "summary"] {
            assert!(ran.exits(0).text().contains(word), "{shell} knows no {word}");
        }
    }
}

#[test]
fn completions_are_scripts_the_shell_takes() {
    for shell in ["bash", "zsh", "fish"] {
        let script = polyloop(["completions", shell]).stdout;
        let mut command = std::process::Command::new(shell);
        match command.args(["-n", "/dev/stdin"]).output() {
            Ok(_) => {
                let ran = crate::common::run(&mut command, &script);
                assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{shell}");
            }
            Err(_) => eprintln!("skipped: there is no {shell}"),
        }
    }
}

/// Each visible command, and polyloop itself, with the file its page is committed as.
fn pages() -> Vec<(Option<String>, String)> {
    let commands = commands(&polyloop(["--help"])).into_iter();
    let own = (None, "man/polyloop.1".to_owned());
    std::iter::once(own)
        .chain(commands.map(|(name, _)| (Some(name.clone()), format!("man/polyloop-{name}.1"))))
        .collect()
}

#[test]
fn man_pages_are_as_committed() {
    for (command, file) in pages() {
        let page = polyloop(["man"].into_iter().map(String::from).chain(command)).exits(0).stdout.clone();
        assert!(page == read(root().join(&file)), "{file} is not what `polyloop man` says: write it anew");
    }
}

#[test]
fn no_man_page_is_left_over() {
    let wanted: Vec<String> = pages().into_iter().map(|(_, file)| file).collect();
    let committed = crate::common::files_under(&root().join("man"));
    for file in committed.iter().filter(|file| file.extension().is_some_and(|ending| ending == "1")) {
        let name = file.strip_prefix(root()).expect("it lies in the repository").display().to_string();
        assert!(wanted.contains(&name), "{name} is the page of no command");
    }
}

#[test]
fn man_pages_say_what_there_is_to_know() {
    for (command, file) in pages() {
        let ran = polyloop(["man"].into_iter().map(String::from).chain(command));
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", "EXIT STATUS"] {
            assert!(ran.exits(0).text().contains(section), "{file} has no {section}");
        }
        assert!(!ran.text().contains("\\-help\\-"), "{file} names what is no page");
    }
}
