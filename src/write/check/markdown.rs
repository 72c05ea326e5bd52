//! The view of a check for a pull request.

use std::io::{self, Write};

use super::{CheckReport, name, place};
use crate::golden::{Outcome, Status};
use crate::write::diff::{code, fence};
use crate::write::escape::Visible;
use crate::write::shell::quoted;

impl CheckReport<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_markdown<W: Write>(&self, out: &mut W) -> io::Result<()> {
        writeln!(out, "**{}**", self.verdict())?;
        if let Some(proof) = self.proof() {
            writeln!(out, "\n{proof}")?;
        }
        let open: Vec<&Outcome> = self.report.outcomes.iter().filter(|outcome| !outcome.is_settled()).collect();
        if !open.is_empty() {
            writeln!(out, "\n| | request | status | where | classes |\n|---|---|---|---|---|")?;
        }
        for outcome in &open {
            let status = outcome.status.as_str();
            let place = match outcome.status {
                Status::Different => code(&place(outcome)),
                Status::Error | Status::Identical => code(&self.reason(outcome)),
                Status::Missing | Status::Orphaned => String::new(),
            };
            let classes: Vec<&str> = outcome.classes.iter().map(|class| class.as_str()).collect();
            writeln!(out, "| ✗ | {} | {status} | {place} | {} |", code(&name(outcome)), classes.join(", "))?;
        }
        self.write_content(&open, out)?;
        let can_be_taken = |outcome: &&&Outcome| matches!(outcome.status, Status::Different | Status::Missing);
        let taken: Vec<String> =
            open.iter().filter(can_be_taken).filter_map(|outcome| outcome.request.as_deref()).map(quoted).collect();
        if !taken.is_empty() {
            let command = format!("polyloop check {} --accept", taken.join(" "));
            let fence = fence(&command);
            writeln!(out, "\nTo take what is there now:\n\n{fence}sh\n{command}\n{fence}")?;
        }
        if !self.report.warnings.is_empty() {
            writeln!(out)?;
        }
        for warning in &self.report.warnings {
            writeln!(
                out,
                "- warning: {}: {}",
                code(&warning.path),
                code(&format!("{} ({})", warning.message, warning.code))
            )?;
        }
        Ok(())
    }

    fn write_content<W: Write>(&self, open: &[&Outcome], out: &mut W) -> io::Result<()> {
        if !self.show_content {
            return Ok(());
        }
        for outcome in open {
            let Some(around) = &outcome.around else { continue };
            let (was, is) = (around.golden.concat(), around.request.concat());
            let lines = format!("- {}\n+ {}", Visible(&was), Visible(&is));
            let fence = fence(&lines);
            writeln!(out, "\n{}:\n\n{fence}diff\n{lines}\n{fence}", code(&name(outcome)))?;
        }
        Ok(())
    }
}
