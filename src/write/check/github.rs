//! The view of a check for GitHub's log: one annotation for each thing to look at.

use std::fmt;
use std::io::{self, Write};

use super::{CheckReport, name};
use crate::golden::{Outcome, Status};
use crate::write::escape::Visible;

impl CheckReport<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_github<W: Write>(&self, out: &mut W) -> io::Result<()> {
        writeln!(out, "{}", self.verdict())?;
        if let Some(proof) = self.proof() {
            writeln!(out, "{proof}")?;
        }
        for outcome in self.report.outcomes.iter().filter(|outcome| !outcome.is_settled()) {
            let title = match outcome.status {
                Status::Identical => "a flip was not caught",
                Status::Different => "the prompt differs from its golden",
                Status::Missing => "a request without a golden",
                Status::Orphaned => "a golden without a request",
                Status::Error => "a prompt could not be checked",
            };
            let mut message = Visible(&self.reason(outcome)).to_string();
            if let Some(around) = outcome.around.as_ref().filter(|_| self.show_content) {
                let (golden, request) = (around.golden.concat(), around.request.concat());
                message += &format!("\n- {}\n+ {}", Visible(&golden), Visible(&request));
            }
            annotate("error", &name(outcome), position(outcome), title, &message, out)?;
        }
        for warning in &self.report.warnings {
            let message = format!("{} ({})", Visible(&warning.message), warning.code);
            annotate("warning", &warning.path, None, "a check that proves little", &message, out)?;
        }
        Ok(())
    }
}

/// Line and column, where the fault lies in the file that is named.
fn position(outcome: &Outcome) -> Option<(usize, usize)> {
    let error = outcome.error.as_ref()?;
    let position = error.position().filter(|_| error.source_name() == Some(&name(outcome)))?;
    Some((position.line, position.column))
}

/// Writes a workflow command; `message` holds nothing live but line feeds.
pub(crate) fn annotate<W: Write>(
    level: &str,
    file: &str,
    position: Option<(usize, usize)>,
    title: &str,
    message: &str,
    out: &mut W,
) -> io::Result<()> {
    let position = position.map_or(String::new(), |(line, column)| format!(",line={line},col={column}"));
    let file = Visible(file).to_string();
    let (file, title) = (Escaped { text: &file, in_property: true }, Escaped { text: title, in_property: true });
    let message = Escaped { text: message, in_property: false };
    writeln!(out, "::{level} file={file}{position},title={title}::{message}")
}

/// Text inside of a workflow command: nothing in it can end the command or begin another.
struct Escaped<'t> {
    text: &'t str,
    in_property: bool,
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.text.chars() {
            match character {
                '%' => f.write_str("%25")?,
                '\r' => f.write_str("%0D")?,
                '\n' => f.write_str("%0A")?,
                ':' if self.in_property => f.write_str("%3A")?,
                ',' if self.in_property => f.write_str("%2C")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}
