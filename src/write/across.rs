//! What many runs have in common, for people and as `polyloop.across/1`.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use unicode_width::UnicodeWidthStr;

use super::escape::Visible;
use super::look::Look;
use super::words::{count, shortened, thousands};
use crate::trace::across::Across;

/// What many runs have in common.
#[derive(Clone, Copy, Debug)]
pub struct AcrossView<'v> {
    /// What was found.
    pub across: &'v Across,
}

impl Serialize for AcrossView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'v> {
            schema: &'static str,
            #[serde(flatten)]
            across: &'v Across,
        }
        Document { schema: "polyloop.across/1", across: self.across }.serialize(serializer)
    }
}

impl AcrossView<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        const SHOWN: usize = 10;
        let columns = look.columns.unwrap_or(80).clamp(40, 160);
        let Across { runs, sent_chars, shared_chars, shared_by_all, shared_by_all_chars, breaks, tree } = self.across;
        let share =
            if *sent_chars == 0 { 0 } else { (u128::from(*shared_chars) * 100 / u128::from(*sent_chars)) as u64 };
        writeln!(out, "{}", look.styles.strong.paint(count(*runs as u64, "run")))?;
        writeln!(out, " {} of {} chars shared, {share} %", thousands(*shared_chars), thousands(*sent_chars))?;
        let messages = count(*shared_by_all as u64, "message");
        writeln!(out, " all begin with {messages}, {} chars", thousands(*shared_by_all_chars))?;
        for branch in tree.iter().take(SHOWN) {
            let indent = "  ".repeat(branch.depth.min(columns / 8));
            let runs = count(branch.runs as u64, "run");
            let what = format!("{}, {} chars", count(branch.messages as u64, "message"), thousands(branch.chars));
            let head = format!("   {indent}{runs}: {what} from ");
            let origin = Visible(&branch.origin).to_string();
            writeln!(out, "{head}{}", shortened(&origin, columns.saturating_sub(head.width()).max(8)))?;
        }
        if tree.len() > SHOWN {
            writeln!(out, "   and {} more of the tree", thousands((tree.len() - SHOWN) as u64))?;
        }
        if breaks.is_empty() {
            return writeln!(out, " {}", look.styles.good.paint("none parts from the others"));
        }
        writeln!(out, " {}", look.styles.faint.paint("they part (the dearest first):"))?;
        for place in breaks.iter().take(SHOWN) {
            let head = format!("   after {:>4}  ", thousands(place.after as u64));
            let origin = Visible(&place.origin).to_string();
            writeln!(out, "{head}{}", shortened(&origin, columns.saturating_sub(head.width())))?;
            let runs = format!("{} in {} ways", count(place.runs as u64, "run"), thousands(place.ways as u64));
            writeln!(out, "               {runs}")?;
            let more = format!("{} more chars would be shared", thousands(place.would_share_chars));
            writeln!(out, "               {}", look.styles.warning.paint(more))?;
        }
        if breaks.len() > SHOWN {
            writeln!(out, "   and {} more", thousands((breaks.len() - SHOWN) as u64))?;
        }
        Ok(())
    }
}
