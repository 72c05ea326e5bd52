//! What is in, in prompt order; and what is out, in the order of the request.

use std::io::{self, Write};

use super::ManifestView;
use crate::context::{Message, Segment};
use crate::select::{Entry, Excluded, Kept};
use crate::write::escape::Visible;
use crate::write::look::Style;
use crate::write::text::View;
use crate::write::words::{break_words, count, pad, shortened, thousands, thousands_in};

/// Columns of a place in the prompt, of a number, and of a reason.
const PLACE: usize = 6;
const NUMBER: usize = 10;
const REASON: usize = 11;

impl ManifestView<'_, '_> {
    fn name_columns(&self) -> usize {
        self.columns.saturating_sub(1 + PLACE + 1 + NUMBER + 2 + REASON)
    }

    fn title<W: Write>(&self, what: &str, last: &str, out: &mut W) -> io::Result<()> {
        let name = pad("", self.name_columns());
        let title = format!("{} {name}{:>NUMBER$}  {last}", pad(what, PLACE), "chars");
        writeln!(out, "\n {}", self.look.styles.faint.paint(title))
    }

    fn row<W: Write>(
        &self,
        style: &Style,
        (place, name): (&str, &str),
        chars: u64,
        reason: &str,
        out: &mut W,
    ) -> io::Result<()> {
        let columns = self.name_columns();
        let name = Visible(name).to_string();
        let name = pad(&shortened(&name, columns), columns);
        let label = style.paint(format!("{} {name}", pad(place, PLACE)));
        writeln!(out, " {label}{:>NUMBER$}  {reason}", thousands_in(chars, NUMBER - 1))
    }

    /// A line that says more of the row above it; what is too long goes on behind another gutter.
    pub(super) fn detail<W: Write>(&self, style: &Style, words: &str, out: &mut W) -> io::Result<()> {
        let words = Visible(words).to_string();
        let (mut gutter, mut rest) = ("├", &*words);
        while !rest.is_empty() {
            let at = break_words(rest, self.columns - 3);
            writeln!(out, " {} {}", style.paint(gutter), self.look.styles.faint.paint(rest[..at].trim_end()))?;
            (gutter, rest) = ("┆", &rest[at..]);
        }
        Ok(())
    }

    pub(super) fn entries<W: Write>(&self, out: &mut W) -> io::Result<()> {
        if self.manifest.entries.is_empty() {
            return Ok(());
        }
        self.title("in", "by", out)?;
        let mut included =
            self.selection.included.iter().map(|included| (included.index, included)).collect::<Vec<_>>();
        included.sort_by_key(|(_, included)| included.message);
        let mut included = included.into_iter().map(|(_, included)| included).peekable();
        for entry in &self.manifest.entries {
            let messages = match entry.messages[..] {
                [only] => format!("#{only}"),
                [first, .., last] => format!("#{first}–{last}"),
                [] => String::new(),
            };
            let Some(id) = entry.id else {
                let segment = Segment::OF_REQUEST.into_iter().find(|it| it.as_str() == entry.kind);
                let style = segment.map_or(&self.look.styles.strong, |segment| self.look.styles.of(segment));
                self.row(style, (&messages, &entry.origin), entry.chars, "segment", out)?;
                self.messages(entry, out)?;
                continue;
            };
            let style = &self.look.styles.fragments;
            let own = included.next_if(|included| entry.messages.contains(&included.message));
            let rule = own.map_or("", |included| included.rule.as_str());
            self.row(style, (&messages, &format!("{} {id}", entry.kind)), entry.chars, rule, out)?;
            let mut about: Vec<String> = Vec::new();
            if let Some(kept) = &entry.kept {
                about.push(kept_in_words(kept));
            }
            if let Some(file) = own.and_then(|included| included.fragment.file()) {
                let lines = file.lines.map_or_else(String::new, |it| format!(":{}–{}", it.first(), it.last()));
                about.push(format!("{}{lines}", file.path));
            }
            if let Some(source) = entry.source_ref {
                let version = entry.version.map_or_else(String::new, |version| format!(" at {version}"));
                about.push(format!("from {source}{version}"));
            }
            about.extend(entry.trust.map(|trust| trust.as_str().to_owned()));
            if entry.priority.is_some_and(|priority| priority != 0) {
                about.extend(entry.priority.map(|priority| format!("priority {priority}")));
            }
            if own.is_some_and(|included| included.in_conflict) {
                about.push("in conflict".to_owned());
            }
            if own.is_some_and(|included| included.fragment.reason.is_some()) {
                about.push(entry.reason.to_owned());
            }
            self.detail(style, &about.join(", "), out)?;
            self.messages(entry, out)?;
        }
        Ok(())
    }

    /// The messages of an entry, where contents are to be shown.
    fn messages<W: Write>(&self, entry: &Entry<'_>, out: &mut W) -> io::Result<()> {
        if !self.show_content {
            return Ok(());
        }
        let view = View::new(&self.report, self.look);
        let messages = entry.messages.iter().filter_map(|at| self.selection.context.messages.get(*at));
        messages
            .flat_map(|Message { blocks, origin, .. }| blocks.iter().map(move |block| (origin, block)))
            .try_for_each(|(origin, block)| view.content(self.look.styles.of(origin.segment()), &block.content, out))
    }

    pub(super) fn excluded<W: Write>(&self, out: &mut W) -> io::Result<()> {
        if self.manifest.excluded.is_empty() {
            return Ok(());
        }
        self.title("out", "why", out)?;
        let view = View::new(&self.report, self.look);
        let style = &self.look.styles.faint;
        for Excluded { fragment, reason, by, chars, .. } in self.manifest.excluded {
            let name = format!("{} {}", fragment.kind.as_str(), fragment.id);
            self.row(style, ("", &name), *chars, reason.as_str(), out)?;
            let by = by.and_then(|by| self.selection.request.parts().fragments.get(by));
            let mut about: Vec<String> = by.map(|by| format!("by {}", by.id)).into_iter().collect();
            if let Some(source) = fragment.source_ref.as_deref() {
                let version = fragment.version.as_deref().map_or_else(String::new, |version| format!(" at {version}"));
                about.push(format!("from {source}{version}"));
            }
            self.detail(style, &about.join(", "), out)?;
            if self.show_content {
                let blocks = fragment.content().unwrap_or_default();
                blocks.iter().try_for_each(|block| view.content(style, block, out))?;
            }
        }
        Ok(())
    }
}

fn kept_in_words(kept: &Kept) -> String {
    let ranges: Vec<String> =
        kept.ranges.iter().map(|range| format!("{}–{}", thousands(range.start), thousands(range.end))).collect();
    format!("trimmed to {} of {}", ranges.join(" and "), count(kept.of, "char"))
}
