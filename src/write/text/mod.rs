//! The view for people: every message with its origin and size, then tables of sizes, then the verdicts.

mod messages;
mod tables;

pub(super) use tables::bar_of;

use std::io::{self, Write};

use super::diff::DiffOptions;
use super::escape::Visible;
use super::look::Look;
use super::report::{Report, Slot, out_in_words, unknown_in_words};
use super::words::{amount, count, lines, thousands};
use crate::measure::Verdict;
use crate::provider::{Repair, Shape};
use crate::read::{Call, Recorded};

/// The view of a report.
#[derive(Debug)]
pub struct View<'v, 'r> {
    report: &'v Report<'r>,
    look: &'v Look,
    columns: usize,
}

impl<'v, 'r> View<'v, 'r> {
    /// A view of `report` as `look` says.
    pub fn new(report: &'v Report<'r>, look: &'v Look) -> Self {
        View { report, look, columns: look.columns.unwrap_or(80).clamp(40, 160) }
    }

    /// Everything: the messages, then the summary.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        for (index, message) in self.report.context.messages.iter().enumerate() {
            self.message(index, message, out)?;
        }
        if !self.report.context.messages.is_empty() {
            writeln!(out)?;
        }
        self.write_summary(out)
    }

    /// The tables and verdicts alone.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_summary<W: Write>(&self, out: &mut W) -> io::Result<()> {
        self.block_table(out)?;
        self.segment_table(out)?;
        writeln!(out)?;
        self.verdicts(out)
    }

    fn budget(&self) -> String {
        let styles = &self.look.styles;
        let Some(limit) = self.report.max_prompt_chars else { return "unset".to_owned() };
        let of_budget = Verdict::of(self.report.total.size, Some(limit));
        let verdict = of_budget.as_str();
        let used = format!("{} of {} chars", amount(self.report.total.size), thousands(limit));
        match of_budget {
            Verdict::ContextOverflow => {
                styles.bad.paint(format!("{verdict}, {} over: {used}", thousands(self.report.over_by())))
            }
            Verdict::Unknown => styles.warning.paint(format!("{verdict}: {used}; some blocks have no known size")),
            _ => styles.good.paint(format!("{verdict}: {used}")),
        }
    }

    /// What the window says, and how many fragments are in and out of it.
    fn selection<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let Some(selection) = self.report.selection else { return Ok(()) };
        let styles = &self.look.styles;
        let space = &selection.space;
        if let Some(available) = space.available {
            let (used, unit) = (thousands(space.used), space.unit.as_str());
            let of = format!("of {} {unit}", thousands(available));
            let line = match unknown_in_words(&space.unknown) {
                Some(why) => styles.warning.paint(format!("unknown: ≥ {used} {of}; {}", Visible(&why))),
                None => styles.good.paint(format!("fits: {used} {of}")),
            };
            writeln!(out, " window  {line}")?;
        } else if let Some(why) = unknown_in_words(&space.unknown) {
            writeln!(out, " tokens  {}", styles.warning.paint(format!("unknown: {}", Visible(&why))))?;
        }
        let included = thousands(selection.included.len() as u64);
        writeln!(out, " chosen  {included} in, {}; polyloop manifest says why", out_in_words(selection))
    }

    fn verdicts<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let styles = &self.look.styles;
        let has_window = self.report.selection.is_some_and(|selection| selection.space.window.is_some());
        if self.report.max_prompt_chars.is_some() || !has_window {
            writeln!(out, " budget  {}", self.budget())?;
        }
        self.selection(out)?;
        if self.report.verdict == Verdict::ContextOverflow {
            let largest = self.report.largest(3);
            let named = largest.iter().map(|(index, size)| {
                let origin = self.report.context.messages[*index].origin.to_string();
                format!("#{index} {} {}", Visible(&origin), thousands(size.chars))
            });
            writeln!(out, " largest {}", named.collect::<Vec<_>>().join("; "))?;
        }
        if let Some((assembled, all)) = self.report.steps.filter(|(assembled, all)| assembled < all) {
            writeln!(out, " steps   the first {} of {}", thousands(assembled as u64), thousands(all as u64))?;
        }
        if let Some(slot) = &self.report.slot {
            writeln!(out, " slot    {}", slot_in_words(slot))?;
        }
        writeln!(out, " digest  {}", self.report.digest())?;
        if let Some(run) = self.report.run {
            let fields =
                [("request", &run.request_id), ("run", &run.run_id), ("step", &run.step_id), ("model", &run.model)];
            let known = fields.iter().filter_map(|(name, id)| Some(format!("{name} {}", Visible(id.as_deref()?))));
            let known: Vec<_> = known.collect();
            if !known.is_empty() {
                writeln!(out, " run     {}", known.join(", "))?;
            }
        }
        if let Some(Recorded { shape, call, .. }) = self.report.recorded.filter(|recorded| recorded.is_body()) {
            let shape = shape.map_or("messages", Shape::as_str);
            match call {
                Some(Call { index, of, path }) => {
                    let words = format!("{shape}, call {index} of 0 to {} at {}", of - 1, Visible(path));
                    self.told("read   ", &words, out)?;
                }
                None => writeln!(out, " read    {shape}")?,
            }
        }
        for Repair { path, name, status, .. } in self.report.repairs.iter().flatten() {
            let words = format!("a result marked {} for the call of {name} at {path}", status.as_str());
            self.told(&format!("{} ", styles.warning.paint("repair")), &Visible(&words).to_string(), out)?;
        }
        for warning in &self.report.warnings {
            let words = format!("{} ({}, {})", warning.message, warning.path, warning.code);
            self.told(&styles.warning.paint("warning"), &Visible(&words).to_string(), out)?;
        }
        match self.report.diff() {
            Some(diff) => {
                writeln!(out, "\n {} {}", styles.strong.paint("against"), Visible(diff.a.name))?;
                diff.write_text(self.look, DiffOptions::default(), out)
            }
            None => Ok(()),
        }
    }

    /// A name, already painted and padded, and words that go on below themselves where the columns are known.
    fn told<W: Write>(&self, name: &str, words: &str, out: &mut W) -> io::Result<()> {
        const INDENT: usize = 9;
        let room = self.look.columns.map_or(usize::MAX, |columns| columns.saturating_sub(INDENT));
        for (index, line) in lines(words, room, room).into_iter().enumerate() {
            match index {
                0 => writeln!(out, " {name} {line}")?,
                _ => writeln!(out, "{}{line}", " ".repeat(INDENT))?,
            }
        }
        Ok(())
    }
}

fn slot_in_words(slot: &Slot) -> String {
    if slot.equal_to_no_slot {
        return "empty, equal to no slot: it adds no byte".to_owned();
    }
    let entries = match slot.entries {
        1 => "1 entry".to_owned(),
        n => format!("{} entries", thousands(n as u64)),
    };
    let give = if slot.entries == 1 { "gives" } else { "give" };
    let channels = count(slot.channels as u64, "channel");
    format!("{entries} in {channels} {give} {}, not equal to no slot", count(slot.messages as u64, "message"))
}
