//! `polyloop man`, hidden: the pages under `man/` are its output.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, bold, roman};
use polyloop::lint::rules;
use polyloop::{Code, Error};

use crate::args::{Cli, Man};
use crate::exit::Exit;
use crate::io::to_stdout;

pub fn run(args: &Man) -> anyhow::Result<Exit> {
    let mut root = Cli::command();
    root.build();
    let command = match &args.command {
        None => root,
        Some(name) => match root.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return Err(Error::new(Code::UsageArguments, format!("there is no command {name:?}")).into()),
        },
    };
    let mut page = Vec::new();
    write_page(command, &mut page)?;
    to_stdout(|out| out.write_all(&page))?;
    Ok(Exit::Done)
}

fn write_page(command: clap::Command, out: &mut impl Write) -> io::Result<()> {
    let is_root = command.has_subcommands();
    let name = command.get_display_name().unwrap_or("polyloop").replace(' ', "-");
    let page = Page::new(command.display_name(&name)).title(name.to_uppercase()).date("").manual("polyloop");
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if is_root {
        page.render_subcommands_section(out)?;
    }
    let mut more = Roff::new();
    more.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in Exit::TABLE {
        more.control("TP", []);
        more.text([bold(exit.code().to_string())]);
        more.text([roman(meaning)]);
    }
    more.control("PP", []);
    more.text([roman("Over several results 2 beats 3 beats 1 beats 0.")]);
    if name == "polyloop-lint" {
        more.control("SH", ["RULES"]);
        for rule in rules() {
            more.control("TP", []);
            more.text([bold(rule.code), roman(format!(" ({})", rule.severity.as_str()))]);
            more.text([roman(rule.finds)]);
        }
    }
    let mut examples = EXAMPLES.iter().filter(|(of, ..)| *of == name).peekable();
    if examples.peek().is_some() {
        more.control("SH", ["EXAMPLES"]);
    }
    for (_, what, transcript) in examples {
        more.control("PP", []);
        more.text([roman(*what)]);
        more.control("EX", []);
        for line in transcript.lines() {
            more.text([roman(line)]);
        }
        more.control("EE", []);
    }
    more.to_writer(out)?;
    if is_root { page.render_version_section(out) } else { Ok(()) }
}

/// Page, what the example is for, and a transcript from a checkout, which tests run.
const EXAMPLES: [(&str, &str, &str); 12] = [
    ("polyloop", "See what a model is given:", "$ polyloop render fixtures/react/request.yaml\n…"),
    (
        "polyloop",
        "Check a folder of requests against their goldens:",
        "$ polyloop check fixtures/react\n1 request: 1 identical (3,968 bytes compared)",
    ),
    (
        "polyloop-render",
        "The digest of the exact bytes:",
        "$ polyloop render fixtures/minimal/request.yaml -f jsonl | sha256sum\n\
         0fd97ad8532ea34b5c32234c003ecb91895e913dbf4f34884ca192dccf192c43  -",
    ),
    (
        "polyloop-render",
        "What the model saw at call 2, the messages left out:",
        "$ polyloop render fixtures/react/request.yaml --steps 2 --summary\n…",
    ),
    (
        "polyloop-diff",
        "A golden and the request that should give it:",
        "$ polyloop diff fixtures/react/request.render.jsonl fixtures/react/request.yaml\n\
         identical: 19 messages, 3,968 bytes",
    ),
    (
        "polyloop-manifest",
        "What went in, what stayed out, and why:",
        "$ polyloop manifest fixtures/fragments/group/request.yaml\n…",
    ),
    (
        "polyloop-import",
        "Make a request of recorded messages, and see what it gives:",
        "$ polyloop import fixtures/import/react/messages.json | polyloop render - -f digest\n…\n\
         sha256:975dbec65943478202eca833d6ad99b8627df3da4e0297b701608a71c1123c37",
    ),
    (
        "polyloop-render",
        "A recorded body as another provider takes it:",
        "$ polyloop render fixtures/providers/bodies/responses_string.json -f anthropic --param max_tokens=9\n\
         {\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"Which plank leaks?\"}]}\n…",
    ),
    (
        "polyloop-trace",
        "Why the cache missed:",
        "$ polyloop trace fixtures/trace/tools_order.jsonl\n…\n       tools: the same tools in another order\n…",
    ),
    ("polyloop-lint", "What is wrong with a prompt:", "$ polyloop lint fixtures/minimal/request.yaml\nnothing found"),
    (
        "polyloop-check",
        "A folder of requests and goldens:",
        "$ polyloop check fixtures/template_specs\n8 requests: 8 identical (2,591 bytes compared)",
    ),
    (
        "polyloop-check",
        "Show that every flipped byte would be caught:",
        "$ polyloop check fixtures/template_specs --prove\n…",
    ),
];
