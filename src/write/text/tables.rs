//! The tables of a view: what every block and every segment weighs.

use std::io::{self, Write};

use super::View;
use crate::context::Segment;
use crate::measure::{self, Size};
use crate::write::escape::Visible;
use crate::write::look::Style;
use crate::write::report::Tally;
use crate::write::words::{amount, pad, shortened, thousands};

impl View<'_, '_> {
    pub(super) fn block_table<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let messages = &self.report.context.messages;
        if messages.is_empty() {
            return Ok(());
        }
        let bar = bar_columns(self.columns);
        let origin_columns = self.columns.saturating_sub(1 + 5 + 1 + 9 + 2 + 12 + 7 + 2 + bar);
        let styles = &self.look.styles;
        let title =
            format!("{} {}  {}{:>12}   share", pad("block", 5), pad("role", 9), pad("origin", origin_columns), "chars");
        writeln!(out, " {}", styles.faint.paint(title))?;
        for (index, message) in messages.iter().enumerate() {
            let many = message.blocks.len() > 1;
            for (n, block) in message.blocks.iter().enumerate() {
                let style = styles.of(block.origin.segment());
                let name = if many { format!("#{index}.{n}") } else { format!("#{index}") };
                let origin = Visible(&block.origin.to_string()).to_string();
                self.row(
                    style,
                    &format!(
                        "{} {}  {}",
                        pad(&name, 5),
                        pad(&Visible(message.role.as_str()).to_string(), 9),
                        pad(&shortened(&origin, origin_columns), origin_columns)
                    ),
                    measure::block(&block.content),
                    bar,
                    out,
                )?;
            }
        }
        writeln!(out)
    }

    pub(super) fn segment_table<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let styles = &self.look.styles;
        let bar = bar_columns(self.columns);
        let name_columns = self.columns.saturating_sub(1 + 10 + 12 + 7 + 2 + bar).max(12);
        let title = format!("{}{:>10}{:>12}   share", pad("segment", name_columns), "messages", "chars");
        writeln!(out, " {}", styles.faint.paint(title))?;
        let has_segments = self.report.run.is_some();
        for (segment, tally) in self
            .report
            .segments
            .iter()
            .filter(|(segment, tally)| has_segments && (tally.messages > 0 || *segment != Segment::Fragments))
        {
            let label = format!("{}{:>10}", pad(segment.as_str(), name_columns), thousands(tally.messages as u64));
            self.row(styles.of(*segment), &label, tally.size, bar, out)?;
        }
        let Tally { messages, size, .. } = self.report.total;
        let label = format!("{}{:>10}", pad("total", name_columns), thousands(messages as u64));
        let total = format!("{label}{:>12}", amount(size));
        writeln!(out, " {}", styles.strong.paint(total))?;
        if !self.report.context.tools.is_empty() {
            let label = pad("tools (beside the messages)", name_columns);
            let tools = self.report.context.tools.len() as u64;
            writeln!(out, " {label}{:>10}{:>12}", thousands(tools), amount(self.report.tools))?;
        }
        Ok(())
    }

    /// A row of a table: label, characters, share of all, bar.
    fn row<W: Write>(&self, style: &Style, label: &str, size: Size, bar: usize, out: &mut W) -> io::Result<()> {
        let whole = self.report.total.size.chars;
        let share = if whole == 0 { 0.0 } else { size.chars as f64 / whole as f64 };
        let percent = match size.chars {
            0 => String::new(),
            _ if share < 0.005 => "<1 %".to_owned(),
            _ => format!("{:.0} %", share * 100.0),
        };
        let line =
            format!(" {}{:>12}{percent:>7}  {}", style.paint(label), amount(size), style.paint(bar_of(share, bar)));
        writeln!(out, "{}", line.trim_end())
    }
}

fn bar_columns(columns: usize) -> usize {
    (columns / 8).clamp(8, 24)
}

/// A bar in eighths of a column; anything above zero shows.
pub(in crate::write) fn bar_of(share: f64, columns: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}
