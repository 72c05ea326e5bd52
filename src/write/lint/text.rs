//! What lint found, for people; and what its rules say.

use std::io::{self, Write};

use super::LintReport;
use crate::lint::{Rule, Severity, rules};
use crate::write::escape::Visible;
use crate::write::look::Look;
use crate::write::words::count;

impl LintReport<'_> {
    /// Writes the view for people.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        let columns = look.columns.unwrap_or(80).clamp(40, 160);
        for (finding, position) in self.each() {
            let style = match finding.severity {
                Severity::Error => &look.styles.bad,
                Severity::Warning => &look.styles.warning,
                Severity::Note => &look.styles.faint,
            };
            let at = position.map(|position| format!(", line {}", position.line)).unwrap_or_default();
            let place = Visible(&finding.origin).to_string();
            let head = format!("{} {}", style.paint(finding.severity.as_str()), look.styles.strong.paint(finding.code));
            writeln!(out, "{head}  {place}{at}")?;
            fold(&Visible(&finding.message).to_string(), columns, out)?;
            fold(&format!("hint: {}", finding.hint), columns, out)?;
        }
        let counts = self.counts();
        let verdict = match (counts.error, counts.warning, counts.note) {
            (0, 0, 0) => return writeln!(out, "{}", look.styles.good.paint("nothing found")),
            (errors, warnings, notes) => {
                [count(errors as u64, "error"), count(warnings as u64, "warning"), count(notes as u64, "note")]
                    .join(", ")
            }
        };
        writeln!(out, "{verdict}")
    }
}

/// Writes words in lines of so many columns, set in.
fn fold<W: Write>(words: &str, columns: usize, out: &mut W) -> io::Result<()> {
    use unicode_width::UnicodeWidthStr;

    const INDENT: &str = "   ";
    let mut line = String::new();
    for word in words.split(' ') {
        if !line.is_empty() && INDENT.len() + line.width() + 1 + word.width() > columns {
            writeln!(out, "{INDENT}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{INDENT}{line}")
}

/// Writes every rule, its code and what it finds.
///
/// # Errors
/// Those of the writer.
pub fn write_rules<W: Write>(look: &Look, out: &mut W) -> io::Result<()> {
    let columns = look.columns.unwrap_or(80).clamp(40, 160);
    for Rule { code, severity, finds, .. } in rules() {
        writeln!(out, "{} ({})", look.styles.strong.paint(code), severity.as_str())?;
        fold(finds, columns, out)?;
    }
    Ok(())
}

/// Writes what a rule says: what it finds, why that matters, what to do, and when it is fine.
///
/// # Errors
/// Those of the writer.
pub fn write_explanation<W: Write>(rule: &Rule, look: &Look, out: &mut W) -> io::Result<()> {
    let columns = look.columns.unwrap_or(80).clamp(40, 160);
    writeln!(out, "{} ({})", look.styles.strong.paint(rule.code), rule.severity.as_str())?;
    for (what, words) in [("finds", rule.finds), ("why", rule.why), ("fix", rule.fix), ("fine", rule.fine)] {
        writeln!(out, " {what}")?;
        fold(words, columns, out)?;
    }
    Ok(())
}
