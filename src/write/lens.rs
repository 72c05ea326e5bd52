//! What a provider or a chat template makes of a message list, for people.

use std::io::{self, Write};

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::escape::Visible;
use super::look::{Look, Style};
use super::words::{count, lines, pad, shortened, thousands};
use crate::context::Context;
use crate::provider::Lens;

/// A message list as it is seen through a lens; `polyloop.lens/1` in JSON.
#[derive(Debug, Serialize)]
pub struct LensView<'v> {
    schema: &'static str,
    source: &'v str,
    /// The provider, or the file of the template.
    lens: &'v str,
    #[serde(flatten)]
    seen: &'v Lens,
    #[serde(skip)]
    context: &'v Context<'v>,
}

impl<'v> LensView<'v> {
    /// A view of what `lens`, which is a provider or the file of a template, makes of a context.
    pub fn new(source: &'v str, lens: &'v str, seen: &'v Lens, context: &'v Context<'v>) -> Self {
        LensView { schema: "polyloop.lens/1", source, lens, seen, context }
    }

    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        let messages = count(self.context.messages.len() as u64, "message");
        let seen = count(self.seen.messages.len() as u64, "message");
        let columns = look.columns.unwrap_or(COLUMNS);
        let head = format!("{}: {messages} seen by {} as {seen}", Visible(self.source), Visible(self.lens));
        paragraph(&look.styles.strong, &head, 0, columns, out)?;
        for (index, message) in self.seen.messages.iter().enumerate() {
            let chars = message.chars.map_or_else(|| "unknown".to_owned(), thousands);
            let from = ranges(&message.from);
            let from = shortened(&from, FROM);
            let hoisted = if message.hoisted { ", at the head" } else { "" };
            let role = pad(&shortened(&Visible(&message.role).to_string(), ROLE), ROLE);
            let line = format!(" {index:>3}  {role} {chars:>9} chars  {from}{hoisted}");
            let room = columns.saturating_sub(line.width() + 2);
            let origin = message.from.first().map(|&first| self.origin(first)).unwrap_or_default();
            // An origin that is cut to nothing says nothing.
            let origin = if room < LEAST.min(origin.width()) {
                String::new()
            } else {
                format!("  {}", shortened(&origin, room))
            };
            writeln!(out, "{line}{origin}")?;
        }
        for &index in &self.seen.dropped {
            let words = format!("#{index} {} is not seen: its text does not appear", self.origin(index));
            paragraph(&look.styles.bad, &words, 1, columns, out)?;
        }
        if self.seen.vanished.is_empty() {
            return writeln!(out, " {}", look.styles.good.paint("every boundary between messages is seen"));
        }
        let vanished = count(self.seen.vanished.len() as u64, "boundary").replace("boundarys", "boundaries");
        writeln!(out, " {}", look.styles.warning.paint(format!("{vanished} between messages cannot be seen")))?;
        for boundary in &self.seen.vanished {
            let words = format!("#{} | #{}  {}", boundary.before, boundary.behind, Visible(&boundary.why));
            paragraph(&Style::default(), &words, 3, columns, out)?;
        }
        Ok(())
    }

    fn origin(&self, index: usize) -> String {
        let origin = self.context.messages.get(index).map(|message| message.origin.to_string()).unwrap_or_default();
        Visible(&origin).to_string()
    }
}

/// Columns, where none are given.
const COLUMNS: usize = 80;
/// Columns of a role.
const ROLE: usize = 10;
/// Columns of what a message is made of.
const FROM: usize = 16;
/// Columns that an origin needs to say anything.
const LEAST: usize = 8;

/// The messages something is made of: those in a row as a range.
fn ranges(indices: &[usize]) -> String {
    let runs = indices.chunk_by(|a, b| a + 1 == *b);
    let words: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("#{first}–{last}"),
            one => one.iter().map(|index| format!("#{index}")).collect(),
        })
        .collect();
    words.join(", ")
}

/// Words that go on in the next line, further in, where they are too long.
fn paragraph<W: Write>(style: &Style, words: &str, indent: usize, columns: usize, out: &mut W) -> io::Result<()> {
    const HANG: usize = 2;
    let room = columns.saturating_sub(indent);
    for (index, line) in lines(words, room, room.saturating_sub(HANG)).into_iter().enumerate() {
        let indent = if index == 0 { indent } else { indent + HANG };
        writeln!(out, "{}{}", " ".repeat(indent), style.paint(line))?;
    }
    Ok(())
}
