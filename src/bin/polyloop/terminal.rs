//! What the terminal can show, and the colours.

use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;

use owo_colors::Style as Paint;
use polyloop::write::{Look, Style, Styles};

use crate::args::Color;
use crate::io::file_of;

/// Whether and how to paint, for each of the two streams.
pub struct Terminal {
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
    pub stdout_colour: bool,
    stderr_colour: bool,
}

impl Terminal {
    /// flag > `NO_COLOR` > `CLICOLOR_FORCE` > `TERM=dumb` > whether it is a terminal
    pub fn new(flag: Color) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let forced = match flag {
            Color::Always => Some(true),
            Color::Never => Some(false),
            Color::Auto if set("NO_COLOR").is_some() => Some(false),
            Color::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => Some(true),
            Color::Auto if set("TERM").is_some_and(|value| value == "dumb") => Some(false),
            Color::Auto => None,
        };
        let (stdout_is_terminal, stderr_is_terminal) = (stdout().is_terminal(), stderr().is_terminal());
        Terminal {
            stdout_is_terminal,
            stderr_is_terminal,
            stdout_colour: forced.unwrap_or(stdout_is_terminal),
            stderr_colour: forced.unwrap_or(stderr_is_terminal),
        }
    }

    /// How a view looks that goes to a file, or else to stdout. A file is no terminal, and is never painted.
    pub fn look(&self, output: Option<&Path>) -> Look {
        if file_of(output).is_some() {
            return Look::default();
        }
        let columns = terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0));
        let wrap = columns.filter(|_| self.stdout_is_terminal);
        Look { wrap, columns: wrap, styles: if self.stdout_colour { styles() } else { Styles::default() } }
    }

    /// The styles of messages on stderr.
    pub fn stderr_styles(&self) -> Styles {
        if self.stderr_colour { styles() } else { Styles::default() }
    }
}

fn styles() -> Styles {
    let style =
        |paint: Paint| Style { on: paint.prefix_formatter().to_string(), off: paint.suffix_formatter().to_string() };
    Styles {
        prefix: style(Paint::new().bright_blue()),
        injections: style(Paint::new().magenta()),
        goal: style(Paint::new().yellow()),
        trajectory: style(Paint::new().cyan()),
        fragments: style(Paint::new().green()),
        recorded: style(Paint::new().cyan()),
        strong: style(Paint::new().bold()),
        faint: style(Paint::new().dimmed()),
        sign: style(Paint::new().dimmed()),
        mark: style(Paint::new().bold().reversed()),
        good: style(Paint::new().green()),
        bad: style(Paint::new().red()),
        warning: style(Paint::new().yellow()),
    }
}
