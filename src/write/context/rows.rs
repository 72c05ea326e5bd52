//! Text in rows of a terminal, with parts of it marked.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::write::escape::Visible;
use crate::write::look::{Look, Style};

/// Text line by line behind a gutter that stands so far in, as `render` shows it, with the characters of some ranges
/// marked: painted, or pointed at from the row below where nothing is painted. Ranges are sorted.
pub(super) fn write_marked<W: Write>(
    text: &str,
    marks: &[[usize; 2]],
    (indent, style): (usize, &Style),
    look: &Look,
    out: &mut W,
) -> io::Result<()> {
    let gutter = |sign: &str| format!("{}{}", " ".repeat(indent), style.paint(sign));
    let mut rows = Rows {
        look,
        room: look.wrap.map_or(usize::MAX, |columns| columns.saturating_sub(indent + 2).max(20)),
        gutters: [gutter("│"), gutter("┆")],
        used: 0,
        is_marked: false,
        pointers: String::new(),
        out,
    };
    let mut marks = marks.iter().copied().peekable();
    let mut at = 0;
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        let body = line.trim_end_matches(' ').len();
        rows.begin(line.is_empty())?;
        for (byte, character) in line.char_indices() {
            while marks.next_if(|[_, end]| *end <= at).is_some() {}
            let is_marked = marks.peek().is_some_and(|[start, _]| *start <= at);
            rows.character(character, byte >= body, is_marked)?;
            at += 1;
        }
        rows.end()?;
        at += 1;
    }
    Ok(())
}

/// The rows of a line, written as its characters come.
struct Rows<'r, W> {
    look: &'r Look,
    room: usize,
    /// Before the first row of a line, and before those behind it.
    gutters: [String; 2],
    /// Columns of the row that are used.
    used: usize,
    /// Whether what is written now is marked.
    is_marked: bool,
    /// What points at the row from below.
    pointers: String,
    out: &'r mut W,
}

impl<W: Write> Rows<'_, W> {
    fn begin(&mut self, is_empty: bool) -> io::Result<()> {
        write!(self.out, "{}{}", self.gutters[0], if is_empty { "" } else { " " })
    }

    fn character(&mut self, character: char, is_trailing: bool, is_marked: bool) -> io::Result<()> {
        let sign = if is_trailing { Some("␠".into()) } else { Visible::sign(character) };
        let columns = sign.as_ref().map_or_else(|| character.width().unwrap_or(0), |sign| sign.width());
        if self.used > 0 && self.used.saturating_add(columns) > self.room {
            self.end()?;
            write!(self.out, "{} ", self.gutters[1])?;
        }
        self.mark(is_marked)?;
        if is_marked && !self.paints() {
            self.pointers += &" ".repeat(self.used - self.pointers.len());
            self.pointers += &"^".repeat(columns);
        }
        self.used += columns;
        match sign {
            None => write!(self.out, "{character}"),
            // A sign's own style would end that of the mark.
            Some(sign) if is_marked && self.paints() => self.out.write_all(sign.as_bytes()),
            Some(sign) => self.out.write_all(self.look.styles.sign.paint(sign).as_bytes()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.mark(false)?;
        writeln!(self.out)?;
        self.used = 0;
        if self.pointers.is_empty() {
            return Ok(());
        }
        // Nothing is painted here, and so the gutter is as wide as it looks.
        writeln!(self.out, "{} {}", " ".repeat(self.gutters[0].width()), std::mem::take(&mut self.pointers))
    }

    fn mark(&mut self, is_marked: bool) -> io::Result<()> {
        let style = &self.look.styles.mark;
        let change = match (std::mem::replace(&mut self.is_marked, is_marked), is_marked) {
            (false, true) => &style.on,
            (true, false) => &style.off,
            _ => return Ok(()),
        };
        self.out.write_all(change.as_bytes())
    }

    fn paints(&self) -> bool {
        !self.look.styles.mark.on.is_empty()
    }
}
