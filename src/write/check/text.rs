//! The view of a check for people: the verdict, then what is not as it should be and what to do about it.

use std::io::{self, Write};

use super::{CheckReport, name};
use crate::golden::{Around, Outcome, Status, name_of};
use crate::write::escape::Visible;
use crate::write::look::Look;
use crate::write::shell::quoted;

impl CheckReport<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        let styles = &look.styles;
        let outcomes = &self.report.outcomes;
        let style = if outcomes.iter().all(Outcome::is_settled) { &styles.good } else { &styles.bad };
        writeln!(out, "{}", style.paint(self.verdict()))?;
        if let Some(proof) = self.proof() {
            writeln!(out, "{proof}")?;
        }
        for outcome in outcomes {
            let is_quiet = outcome.status == Status::Identical && outcome.is_settled();
            if !is_quiet {
                self.write_outcome(outcome, look, out)?;
            }
        }
        for warning in &self.report.warnings {
            let words = format!("{}: {} ({})", warning.path, warning.message, warning.code);
            writeln!(out, " {} {}", styles.warning.paint("! warning"), Visible(&words))?;
        }
        Ok(())
    }

    fn write_outcome<W: Write>(&self, outcome: &Outcome, look: &Look, out: &mut W) -> io::Result<()> {
        let styles = &look.styles;
        let mark = if outcome.is_settled() { styles.good.paint("✓") } else { styles.bad.paint("✗") };
        let shown = name(outcome);
        // This is for whoever reads the errors themselves, source lines included, right beside it.
        let reason = CheckReport { show_content: true, ..*self }.reason(outcome);
        writeln!(out, " {mark} {}  {}", styles.strong.paint(Visible(&shown)), Visible(&reason))?;
        if let Some(around) = outcome.around.as_ref().filter(|_| self.show_content) {
            write_around(around, look, out)?;
        }
        for (path, what) in [(&outcome.written.golden, "golden"), (&outcome.written.actual, "actual render")] {
            if let Some(path) = path {
                writeln!(out, "   {what} written to {}", Visible(&name_of(path)))?;
            }
        }
        let Some(request) = outcome.request.as_deref().filter(|_| !outcome.is_settled()) else { return Ok(()) };
        let request = quoted(request);
        match (outcome.status, &outcome.golden) {
            (Status::Different, Some(golden)) => {
                writeln!(out, "   to see it:   polyloop diff {} {request}", quoted(golden))?;
            }
            (Status::Missing, _) => writeln!(out, "   to see it:   polyloop render {request}")?,
            _ => return Ok(()),
        }
        writeln!(out, "   to take it:  polyloop check {request} --accept")
    }
}

fn write_around<W: Write>(around: &Around, look: &Look, out: &mut W) -> io::Result<()> {
    let styles = &look.styles;
    for (sign, style, [before, after]) in [("-", &styles.bad, &around.golden), ("+", &styles.good, &around.request)] {
        writeln!(out, "   {} {}{}", style.paint(sign), Visible(before), style.paint(Visible(after)))?;
    }
    Ok(())
}
