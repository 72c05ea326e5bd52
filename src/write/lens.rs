//! What a provider or a chat template makes of a message list, for people.

use std::io::{self, Write};

use serde::Serialize;

use super::escape::Visible;
use super::look::Look;
use super::words::{count, pad, thousands};
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
        let head = format!("{}: {messages} seen by {} as {seen}", self.source, self.lens);
        writeln!(out, "{}", look.styles.strong.paint(Visible(&head)))?;
        for (index, message) in self.seen.messages.iter().enumerate() {
            let chars = message.chars.map_or_else(|| "unknown".to_owned(), thousands);
            let from = match &*message.from {
                [] => "nothing".to_owned(),
                [one] => format!("#{one}"),
                [first, .., last] => format!("#{first}–{last}"),
            };
            let origin = message.from.first().and_then(|&first| self.context.messages.get(first));
            let origin = origin.map(|message| message.origin.to_string()).unwrap_or_default();
            let hoisted = if message.hoisted { ", at the head" } else { "" };
            let role = pad(&Visible(&message.role).to_string(), 10);
            writeln!(out, " {index:>3}  {role} {chars:>9} chars  {from}{hoisted}  {}", Visible(&origin))?;
        }
        for &index in &self.seen.dropped {
            let origin = self.context.messages.get(index).map(|message| message.origin.to_string()).unwrap_or_default();
            let words = format!("#{index} {origin} is not seen: its text does not appear");
            writeln!(out, " {}", look.styles.bad.paint(Visible(&words)))?;
        }
        if self.seen.vanished.is_empty() {
            return writeln!(out, " {}", look.styles.good.paint("every boundary between messages is seen"));
        }
        let vanished = count(self.seen.vanished.len() as u64, "boundary").replace("boundarys", "boundaries");
        writeln!(out, " {}", look.styles.warning.paint(format!("{vanished} between messages cannot be seen")))?;
        for boundary in &self.seen.vanished {
            writeln!(out, "   #{} | #{}  {}", boundary.before, boundary.behind, Visible(&boundary.why))?;
        }
        Ok(())
    }
}
