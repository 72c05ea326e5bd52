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
    let is_root = command.get_version().is_some();
    let questions: Vec<clap::Command> =
        command.get_subcommands().filter(|command| !is_root && !command.is_hide_set()).cloned().collect();
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
    questions.into_iter().try_for_each(|question| write_question(question, out))?;
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

/// A command that has no page of its own: a section, as its page would be.
fn write_question(command: clap::Command, out: &mut impl Write) -> io::Result<()> {
    let title = command.get_display_name().unwrap_or_default().replace('-', " ").to_uppercase();
    // What every command takes stands above.
    let hidden = ["color", "help"].into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)));
    let page = Page::new(hidden);
    let mut sections = [Vec::new(), Vec::new(), Vec::new()];
    page.render_synopsis_section(&mut sections[0])?;
    page.render_description_section(&mut sections[1])?;
    page.render_options_section(&mut sections[2])?;
    let mut heading = Roff::new();
    heading.control("SH", [title.as_str()]);
    heading.to_writer(out)?;
    for section in sections {
        // Each begins with what is set up for every page, and with a heading of its own.
        let text = String::from_utf8_lossy(&section).into_owned();
        let mut lines = text.lines().skip_while(|line| !line.starts_with(".SH")).skip(1);
        out.write_all(b".PP\n")?;
        lines.try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

/// Page, what the example is for, and a transcript from a checkout, which tests run.
const EXAMPLES: [(&str, &str, &str); 16] = [
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
        "polyloop-context",
        "The last message alone:",
        "$ polyloop context slice fixtures/context/login.yaml -1\n…\n1 of 9 messages: #8",
    ),
    (
        "polyloop-context",
        "What is known of the run, for a program:",
        "$ polyloop context state fixtures/context/login.yaml --format json | grep -c polyloop.state/1\n1",
    ),
    (
        "polyloop-mcp",
        "What a client runs, and asks:",
        "$ echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | polyloop mcp fixtures/minimal/request.yaml\n\
         {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    ),
    (
        "polyloop-kernel",
        "A cell that asks the context:",
        "$ echo '{\"cell\": \"context.summarize().total_messages\"}' | polyloop kernel fixtures/react/request.yaml\n\
         {\"ok\":true,\"stdout\":\"\",\"stderr\":\"\",\"stdout_left_out_bytes\":0,\"stderr_left_out_bytes\":0,\
         \"result\":\"19\",\"error\":null,\"restarted\":false,\
         \"state\":{\"alive\":true,\"revision\":1,\"variables\":[]}}",
    ),
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
