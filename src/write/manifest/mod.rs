//! A manifest for people: the verdict, what is in, what is out and why, what is open, and how the budget is shared.

mod picture;
mod rows;
#[cfg(test)]
mod tests;
mod yaml;

use std::io::{self, Write};

pub use yaml::write_manifest_yaml;

use super::escape::Visible;
use super::look::Look;
use super::report::{Report, out_in_words, unknown_in_words};
use super::words::{break_words, count, thousands, thousands_in};
use crate::measure::Verdict;
use crate::select::{Manifest, Resolution, Selection};

/// The view of a manifest.
#[derive(Debug)]
pub struct ManifestView<'v, 's> {
    selection: &'s Selection<'s>,
    manifest: &'v Manifest<'s>,
    look: &'v Look,
    columns: usize,
    show_content: bool,
    report: Report<'s>,
}

impl<'v, 's> ManifestView<'v, 's> {
    /// A view of `manifest`, which is that of `selection`, as `look` says; with contents where they are to be shown.
    pub fn new(selection: &'s Selection<'s>, manifest: &'v Manifest<'s>, look: &'v Look, show_content: bool) -> Self {
        let columns = look.columns.unwrap_or(80).clamp(40, 160);
        let report = Report::of_selection("", selection);
        ManifestView { selection, manifest, look, columns, show_content, report }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        self.verdict(out)?;
        self.entries(out)?;
        self.excluded(out)?;
        self.questions(out)?;
        self.picture(out)?;
        self.layers(out)?;
        writeln!(out)?;
        self.fields(out)
    }

    /// The answer, in the first line.
    fn verdict<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let styles = &self.look.styles;
        let Manifest { verdict, unit, available, used, .. } = self.manifest;
        let style = match verdict {
            Verdict::ContextOverflow => &styles.bad,
            Verdict::Unknown => &styles.warning,
            Verdict::Unset | Verdict::Fits => &styles.good,
        };
        let at_least = if self.selection.space.unknown.is_empty() { "" } else { "≥ " };
        let mut words = format!("{}: {at_least}{}", verdict.as_str(), thousands(*used));
        words += &available.map_or_else(String::new, |available| format!(" of {}", thousands(available)));
        words += &format!(" {}; {} in, ", unit.as_str(), count(self.selection.included.len() as u64, "fragment"));
        words += &out_in_words(self.selection);
        if !self.manifest.open_questions.is_empty() {
            words += &format!(", {}", count(self.manifest.open_questions.len() as u64, "open question"));
        }
        let mut rest = &*words;
        while !rest.is_empty() {
            let at = break_words(rest, self.columns);
            writeln!(out, "{}", style.paint(rest[..at].trim_end()))?;
            rest = &rest[at..];
        }
        Ok(())
    }

    fn questions<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let styles = &self.look.styles;
        for question in self.manifest.open_questions {
            let (style, answer) = match &question.resolution {
                Resolution::UserInputRequired => (&styles.warning, "user_input_required".to_owned()),
                Resolution::Preferred { rule, id } => (&styles.good, format!("{id} by {}", rule.as_str())),
            };
            let words = Visible(&format!("{}: {answer}", question.key)).to_string();
            let (mut label, mut rest) = ("question", &*words);
            writeln!(out)?;
            while !rest.is_empty() {
                let at = break_words(rest, self.columns - 10);
                writeln!(out, " {} {}", styles.faint.paint(format!("{label:8}")), style.paint(rest[..at].trim_end()))?;
                (label, rest) = ("", &rest[at..]);
            }
            for fragment in &question.candidates {
                let Some(claim) = &fragment.claim else { continue };
                let known = [
                    Some(fragment.trust.as_str()),
                    fragment.evidence.map(|level| level.as_str()),
                    fragment.source_ref.as_deref(),
                    fragment.scope.as_deref(),
                    fragment.observed_at.as_ref().map(|time| time.as_str()),
                ];
                let known: Vec<&str> = known.into_iter().flatten().collect();
                let line = format!("{}: {} ({})", fragment.id, claim.value.as_str(), known.join(", "));
                self.detail(&styles.fragments, &line, out)?;
            }
        }
        Ok(())
    }

    fn layers<W: Write>(&self, out: &mut W) -> io::Result<()> {
        const DIGITS: usize = 12;
        let styles = &self.look.styles;
        let name_columns = self.columns.saturating_sub(1 + 2 + 12 + 2 + DIGITS + 1).min(28);
        let title = format!("{:name_columns$}  {:>12}  sha256", "layer", "chars");
        writeln!(out, "\n {}", styles.faint.paint(title))?;
        for layer in &self.manifest.layers {
            let name = format!("{} {}", layer.layer.number(), layer.layer.responsibility().as_str());
            let name = super::words::shortened(&name, name_columns).into_owned();
            let hex = layer.digest.trim_start_matches("sha256:").get(..DIGITS).unwrap_or_default();
            let digest = if layer.chars == 0 { String::new() } else { format!("{hex}…") };
            let line = format!(" {name:name_columns$}  {:>12}  {digest}", thousands_in(layer.chars, 12));
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn fields<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let manifest = self.manifest;
        let space = &self.selection.space;
        let unit = manifest.unit.as_str();
        if let (Some(window), Some(available)) = (space.window, space.available) {
            let mut words = format!("{} {unit}", thousands(window));
            for (what, size) in [("reserved_output", space.reserved_output), ("tools", space.tools)] {
                if size > 0 {
                    words += &format!(" − {} {what}", thousands(size));
                }
            }
            if space.reserved_output + space.tools > 0 {
                words += &format!(" = {} {unit}", thousands(available));
            }
            self.field("window", &words, out)?;
        }
        if let Some(limit) = self.report.max_prompt_chars {
            let used = thousands(self.report.total.size.chars);
            let over = match self.report.over_by() {
                0 => String::new(),
                over => format!(", {} over", thousands(over)),
            };
            self.field("budget", &format!("{used} of {} chars{over}", thousands(limit)), out)?;
        }
        if let Some(why) = unknown_in_words(&space.unknown) {
            self.field("unknown", &why, out)?;
        }
        if !manifest.empty_segments.is_empty() {
            let names: Vec<&str> = manifest.empty_segments.iter().map(|segment| segment.as_str()).collect();
            self.field("empty", &format!("{} gave no message", names.join(", ")), out)?;
        }
        self.field("context", &manifest.context_id, out)?;
        self.field("digest", &manifest.digest, out)?;
        self.field("key", &manifest.cache_key.to_string(), out)?;
        for warning in &self.report.warnings {
            self.field("warning", &format!("{} ({}, {})", warning.message, warning.path, warning.code), out)?;
        }
        let asked = manifest.open_questions.iter().filter(|it| it.resolution == Resolution::UserInputRequired);
        let asked: Vec<&str> = asked.map(|question| question.key).collect();
        if !asked.is_empty() {
            self.field("ask", &format!("what holds of {}", asked.join(", ")), out)?;
        }
        Ok(())
    }

    /// A line with a name before it; what is too long goes on below.
    fn field<W: Write>(&self, name: &str, words: &str, out: &mut W) -> io::Result<()> {
        let styles = &self.look.styles;
        let words = Visible(words).to_string();
        let mut label = match name {
            "warning" | "unknown" | "ask" => styles.warning.paint(format!("{name:7}")),
            _ => format!("{name:7}"),
        };
        let mut rest = &*words;
        while !rest.is_empty() {
            let at = break_words(rest, self.columns - 9);
            writeln!(out, " {label} {}", rest[..at].trim_end())?;
            rest = &rest[at..];
            label = " ".repeat(7);
        }
        Ok(())
    }
}
