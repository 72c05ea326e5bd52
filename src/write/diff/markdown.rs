//! The view of a comparison for a pull request.

use std::io::{self, Write};

use super::{DiffReport, names, prefix_kept, sign, verdict, wire_verdict};
use crate::write::escape::Visible;
use crate::write::look::Look;
use crate::write::{DiffOptions, words::count};

impl DiffReport<'_> {
    /// Writes the view as Markdown. Fences are longer than any run of backticks inside.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_markdown<W: Write>(&self, options: DiffOptions, out: &mut W) -> io::Result<()> {
        self.write_contexts_markdown(options, out)?;
        let Some(changes) = self.wire else { return Ok(()) };
        writeln!(out, "\n**{}**", wire_verdict(changes))?;
        if !changes.is_empty() {
            writeln!(out, "\n| class | path |\n|---|---|")?;
        }
        changes.iter().try_for_each(|change| writeln!(out, "| {} | {} |", change.class.as_str(), code(&change.path)))
    }

    fn write_contexts_markdown<W: Write>(&self, options: DiffOptions, out: &mut W) -> io::Result<()> {
        let comparison = self.comparison;
        let sources = format!("{} → {}", code(&comparison.a.source), code(&comparison.b.source));
        if comparison.identical {
            return writeln!(out, "**{}** ({sources})", verdict(comparison));
        }
        writeln!(out, "**{}** ({sources})\n", verdict(comparison))?;
        writeln!(out, "{}\n", prefix_kept(comparison))?;
        writeln!(out, "| | message | from | kind | classes |\n|---|---|---|---|---|")?;
        for change in &comparison.changes {
            let origin = match (&change.origin_a, &change.origin_b) {
                (Some(a), Some(b)) if a != b => format!("{} → {}", code(a), code(b)),
                (Some(one), _) | (None, Some(one)) => code(one),
                (None, None) => String::new(),
            };
            let classes: Vec<&str> = change.classes.iter().map(|class| class.as_str()).collect();
            writeln!(
                out,
                "| `{}` | {} | {origin} | {} | {} |",
                sign(change.kind),
                names(change),
                change.kind.as_str(),
                classes.join(", ")
            )?;
        }
        let mut details = Vec::new();
        let look = Look { columns: Some(100), ..Look::default() };
        for change in comparison.changes.iter().take(options.details) {
            self.write_head(change, &look, &mut details)?;
            self.write_lines(change, &look, options, &mut details)?;
        }
        let details = String::from_utf8_lossy(&details);
        let fence = fence(&details);
        writeln!(out, "\n{fence}text\n{details}{fence}")?;
        let named_only = comparison.changes.len().saturating_sub(options.details);
        if named_only > 0 {
            writeln!(out, "\nThe last {} are named above without their lines.", count(named_only as u64, "change"))?;
        }
        Ok(())
    }
}

/// A fence longer than any run of backticks in the text.
pub(crate) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// A name as inline code in a table cell.
pub(crate) fn code(name: &str) -> String {
    let name = Visible(name).to_string().replace('|', "\\|");
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    if longest > 0 { format!("{ticks} {name} {ticks}") } else { format!("{ticks}{name}{ticks}") }
}
