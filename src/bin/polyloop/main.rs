//! The command `polyloop`: a thin shell over the library. Printing, colour and exit codes live here.

mod args;
mod asked;
mod cmd;
mod exit;
mod in_order;
mod input;
mod io;
#[cfg(unix)]
mod kernel;
mod lines;
mod mcp;
mod progress;
mod terminal;

use std::process::ExitCode;

use args::{Cli, Color, Command};
use clap::Parser;
use exit::Exit;
use terminal::Terminal;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return io::report_usage(&error, &Terminal::new(Color::Auto)).into(),
    };
    let terminal = Terminal::new(cli.color);
    let as_json = cli.command.prints_json();
    let outcome = match &cli.command {
        Command::Render(render) => cmd::render::run(render, &terminal),
        Command::Diff(diff) => cmd::diff::run(diff, &terminal),
        Command::Check(check) => cmd::check::run(check, &terminal),
        Command::Manifest(manifest) => cmd::manifest::run(manifest, &terminal),
        Command::Import(import) => cmd::import::run(import),
        Command::Trace(trace) => cmd::trace::run(trace, &terminal),
        Command::Lint(lint) => cmd::lint::run(lint, &terminal),
        Command::Context(context) => cmd::context::run(context, &terminal),
        Command::Kernel(kernel) => cmd::kernel::run(kernel),
        Command::Mcp(mcp) => cmd::mcp::run(mcp),
        Command::Schema => cmd::schema::run(),
        Command::Completions(completions) => cmd::completions::run(completions),
        Command::Man(man) => cmd::man::run(man),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => io::report_error(&error, as_json, &terminal).into(),
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
