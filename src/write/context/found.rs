//! What a search found.

use std::io::{self, Write};
use std::path::Path;

use unicode_width::UnicodeWidthStr;

use super::AnswerView;
use super::rows::write_marked;
use crate::query::{Found, Hit, Options};
use crate::write::escape::Visible;
use crate::write::look::{Look, Style};
use crate::write::shell::quoted;
use crate::write::words::{count, pad, thousands};

impl AnswerView<'_, '_> {
    pub(super) fn found<W: Write>(
        &self,
        found: &Found<'_>,
        options: &Options,
        look: &Look,
        out: &mut W,
    ) -> io::Result<()> {
        writeln!(out, "{}", self.verdict(found, options, look))?;
        for hit in &found.results {
            self.hit(hit, look, out)?;
        }
        match self.next(found, options) {
            Some(next) => writeln!(out, "\n{next}"),
            None => Ok(()),
        }
    }

    /// In how many places something was found, and which of them are shown.
    fn verdict(&self, found: &Found<'_>, options: &Options, look: &Look) -> String {
        let messages = self.subject.context.messages.len() as u64;
        let state = if options.state { " and the state" } else { "" };
        let all = format!("{}{state}", count(messages, "message"));
        if found.total == 0 {
            return format!("nothing found in {all}");
        }
        let what = match options.state {
            true => format!("{} in {all}", count(found.total as u64, "result")),
            false => format!("found in {} of {all}", thousands(found.total as u64)),
        };
        let what = look.styles.good.paint(what);
        match (found.results.len(), options.offset) {
            (0, _) => format!("{what}, none from {} on", thousands(options.offset as u64)),
            (1, 0) if found.total == 1 => what,
            (shown, 0) if shown == found.total => format!("{what}, best first"),
            (1, offset) => format!("{what}, best first: {}", thousands(offset as u64 + 1)),
            (shown, offset) => {
                let [first, last] = [offset + 1, offset + shown].map(|at| thousands(at as u64));
                format!("{what}, best first: {first} to {last}")
            }
        }
    }

    fn hit<W: Write>(&self, hit: &Hit<'_>, look: &Look, out: &mut W) -> io::Result<()> {
        let columns = look.columns.unwrap_or(80).clamp(40, 160);
        let style = self.style_of(hit, look);
        let name = hit.index.map_or_else(|| "state".to_owned(), |index| format!("#{index}"));
        let role = Visible(hit.role.as_deref().unwrap_or_default()).to_string();
        let origin = Visible(&hit.origin.to_string()).to_string();
        let [start, end] = hit.chars;
        let place = format!("score {:.2}  chars {start}:{end}", hit.score);
        let used = 1 + name.width().max(4) + 1 + role.width().max(9) + 2;
        let room = columns.saturating_sub(used + place.width() + 2);
        writeln!(
            out,
            " {} {}  {}  {}",
            style.paint(pad(&name, 4)),
            look.styles.strong.paint(pad(&role, 9)),
            style.paint(pad(&origin, room)),
            look.styles.faint.paint(place),
        )?;
        let marks: Vec<_> =
            hit.matches.iter().map(|range| range.map(|at| at.saturating_sub(hit.snippet_start))).collect();
        write_marked(&hit.snippet, &marks, (1, style), look, out)
    }

    fn style_of<'l>(&self, hit: &Hit<'_>, look: &'l Look) -> &'l Style {
        let message = hit.index.and_then(|index| self.subject.context.messages.get(index));
        message.map_or(&look.styles.strong, |message| look.styles.of(message.origin.segment()))
    }

    /// The next results, or else the best one whole.
    fn next(&self, found: &Found<'_>, options: &Options) -> Option<String> {
        let input = match self.source {
            "<stdin>" => "-".to_owned(),
            source => quoted(Path::new(source)),
        };
        let best = found.results.first()?;
        let shown = options.offset + found.results.len();
        if shown < found.total {
            return Some(format!("the next ones:  --offset {shown}"));
        }
        Some(match best.index {
            Some(index) => format!("to read it all:  polyloop context slice {input} {index}:{}", index + 1),
            None => format!("to read it all:  polyloop context state {input}"),
        })
    }
}
