//! The picture of a budget: a bar for each responsibility, with its floor, its cap, what it uses and what was left out.

use std::io::{self, Write};

use super::ManifestView;
use crate::context::Segment;
use crate::request::Responsibility;
use crate::select::Holding;
use crate::write::look::Style;
use crate::write::text::bar_of;
use crate::write::words::thousands_in;

/// Columns of a number; the longest heading is as wide.
const NUMBER: usize = 9;
/// Columns of the longest name.
const NAME: usize = 25;

impl ManifestView<'_, '_> {
    pub(super) fn picture<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let styles = &self.look.styles;
        let numbers = 4 * NUMBER;
        let is_narrow = self.columns < 1 + NAME + numbers + 2 + 12;
        let title = format!("{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}", "floor", "cap", "used", "left out");
        let unit = self.manifest.unit.as_str();
        if is_narrow {
            writeln!(out, "\n {}\n {}", styles.faint.paint(unit), styles.faint.paint(title))?;
        } else {
            writeln!(out, "\n {}", styles.faint.paint(format!("{unit:NAME$}{title}")))?;
        }
        let holdings = &self.selection.space.holdings;
        let bar = if is_narrow { self.columns - 2 } else { self.columns - 1 - NAME - numbers - 2 };
        let longest = holdings.iter().map(extent).max().unwrap_or(0).max(1);
        for holding in holdings {
            let Holding { responsibility, share, used, left_out } = holding;
            let style = styles.of(segment_of(*responsibility));
            let number = |size: Option<u64>| size.filter(|size| *size > 0).map_or_else(|| "–".to_owned(), in_columns);
            let numbers = format!(
                "{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}{:>NUMBER$}",
                number(Some(share.floor)),
                share.cap.map_or_else(|| "–".to_owned(), in_columns),
                number(Some(*used)),
                number(Some(*left_out))
            );
            let bar = bar_with_bounds(holding, longest, bar, style);
            let name = responsibility.as_str();
            let line = match is_narrow {
                true if bar.is_empty() => format!(" {}\n {numbers}", style.paint(name)),
                true => format!(" {}\n {numbers}\n {bar}", style.paint(name)),
                false => format!(" {}{numbers}  {bar}", style.paint(format!("{name:NAME$}"))),
            };
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out, " {}", styles.faint.paint("█ used  ░ left out  ╎ floor  ┃ cap"))
    }
}

/// A number with a space before it.
fn in_columns(number: u64) -> String {
    thousands_in(number, NUMBER - 1)
}

/// How far the bar of a responsibility reaches.
fn extent(holding: &Holding) -> u64 {
    let reach = holding.used.saturating_add(holding.left_out);
    reach.max(holding.share.floor).max(holding.share.cap.unwrap_or(0))
}

/// What is used, behind it what was left out; a bound stands in the column it falls into.
fn bar_with_bounds(holding: &Holding, longest: u64, columns: usize, style: &Style) -> String {
    let part = |size: u64| size as f64 / longest as f64;
    let column = |size: u64| ((part(size) * columns as f64).round() as usize).min(columns);
    let used = bar_of(part(holding.used), columns);
    let mut cells: Vec<char> = used.chars().collect();
    let reach = column(holding.used.saturating_add(holding.left_out));
    let reach = if holding.left_out > 0 { reach.max(cells.len() + 1).min(columns) } else { reach };
    while cells.len() < reach {
        cells.push('░');
    }
    let bounds = [(Some(holding.share.floor).filter(|floor| *floor > 0), '╎'), (holding.share.cap, '┃')];
    for (size, sign) in bounds {
        let Some(size) = size else { continue };
        let at = column(size).saturating_sub(1);
        while cells.len() <= at {
            cells.push(' ');
        }
        cells[at] = sign;
    }
    if cells.is_empty() { String::new() } else { style.paint(cells.into_iter().collect::<String>()) }
}

/// The segment whose colour a layer has.
fn segment_of(responsibility: Responsibility) -> Segment {
    match responsibility {
        Responsibility::ImmutableInstructions => Segment::Prefix,
        Responsibility::SelectedSkillsAndTools => Segment::Injections,
        Responsibility::GoalAndAcceptance => Segment::Goal,
        Responsibility::RecentHistory => Segment::Trajectory,
        _ => Segment::Fragments,
    }
}
