//! The view of a comparison for people: the verdict, a map of the whole prompt, then every change.

use std::fmt::Write as _;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::line::{cut, named, shown_line};
use super::{DiffReport, names, prefix_kept, sign, verdict, wire_verdict};
use crate::context::{Content, Message, ToolInput};
use crate::diff::{Change, Class, Hunk, Kind, Line, LineSide, differing, hunks};
use crate::measure;
use crate::provider::WireChange;
use crate::write::escape::Visible;
use crate::write::look::{Look, Style};
use crate::write::words::{chars, count, pad, thousands};

/// How much of a comparison is shown.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    /// Equal lines shown round each changed one.
    pub context_lines: usize,
    /// Changes shown with their lines; those behind them are named only.
    pub details: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions { context_lines: 2, details: 100 }
    }
}

impl DiffReport<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text<W: Write>(&self, look: &Look, options: DiffOptions, out: &mut W) -> io::Result<()> {
        self.write_contexts(look, options, out)?;
        let Some(changes) = self.wire else { return Ok(()) };
        let style = if changes.is_empty() { &look.styles.good } else { &look.styles.bad };
        writeln!(out, "{}", style.paint(wire_verdict(changes)))?;
        for WireChange { path, class } in changes {
            let path = if path.is_empty() { "the whole" } else { path };
            writeln!(out, " {:<13} {}", class.as_str(), Visible(path))?;
        }
        Ok(())
    }

    fn write_contexts<W: Write>(&self, look: &Look, options: DiffOptions, out: &mut W) -> io::Result<()> {
        let comparison = self.comparison;
        let styles = &look.styles;
        if comparison.identical {
            return writeln!(out, "{}", styles.good.paint(verdict(comparison)));
        }
        if let Some(spelling) = &comparison.spelling {
            let classes: Vec<&str> = spelling.classes.iter().map(|class| class.as_str()).collect();
            let at = thousands(spelling.byte);
            return writeln!(
                out,
                "{}: the messages are equal, the bytes are not: from byte {at} on one file is not the canonical stream",
                styles.bad.paint(format!("differs ({})", classes.join(", "))),
            );
        }
        writeln!(out, "{}; {}", styles.bad.paint(verdict(comparison)), prefix_kept(comparison))?;
        writeln!(out, " {}", self.map(look))?;
        self.write_slot(look, out)?;
        for (index, change) in comparison.changes.iter().enumerate() {
            self.write_head(change, look, out)?;
            if index < options.details {
                self.write_lines(change, look, options, out)?;
            }
        }
        let named_only = comparison.changes.len().saturating_sub(options.details);
        if named_only > 0 {
            let words = format!(
                "the last {} are named without their lines; --all shows them",
                count(named_only as u64, "change")
            );
            writeln!(out, " {} {words}", styles.warning.paint("note"))?;
        }
        if comparison.paired_in_order {
            writeln!(
                out,
                " {} there were too many messages for the shortest list of changes: some are paired in order",
                styles.warning.paint("note")
            )?;
        }
        Ok(())
    }

    /// A sign a message of the whole prompt: `=` equal, the others as in the list of changes. Where the prompt is longer
    /// than the line, a sign stands for several messages and shows a change if there is one.
    fn map(&self, look: &Look) -> String {
        let mut signs = Vec::new();
        let (mut next_a, mut next_b) = (0, 0);
        for change in &self.comparison.changes {
            let first = |indices: &[usize], next| indices.first().copied().unwrap_or(next);
            let equal = match (change.a.first(), change.b.first()) {
                (Some(_), _) => first(&change.a, next_a).saturating_sub(next_a),
                (None, Some(_)) => first(&change.b, next_b).saturating_sub(next_b),
                (None, None) => 0,
            };
            signs.extend(std::iter::repeat_n('=', equal));
            let touched = change.a.len().max(change.b.len()).max(1);
            signs.extend(std::iter::repeat_n(sign(change.kind), touched));
            next_a = change.a.last().map_or(next_a + equal, |last| last + 1);
            next_b = change.b.last().map_or(next_b + equal, |last| last + 1);
        }
        signs.extend(std::iter::repeat_n('=', self.a.context.messages.len().saturating_sub(next_a)));
        let columns = look.columns.unwrap_or(80).saturating_sub(2).max(20);
        let each = signs.len().div_ceil(columns).max(1);
        let mut map = String::new();
        for cell in signs.chunks(each) {
            let sign = cell.iter().copied().find(|sign| *sign != '=').unwrap_or('=');
            let style = self.style_of_sign(sign, look);
            map.push_str(&style.paint(sign));
        }
        if each > 1 {
            let _ = write!(map, "  ({each} messages a sign)");
        }
        map
    }

    fn style_of_sign<'l>(&self, sign: char, look: &'l Look) -> &'l Style {
        match sign {
            '=' => &look.styles.faint,
            '+' => &look.styles.good,
            '-' => &look.styles.bad,
            _ => &look.styles.warning,
        }
    }

    /// What lies between prefix and goal is named, with the very bytes.
    fn write_slot<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        for change in self.comparison.at_slot().filter(|change| matches!(change.kind, Kind::Inserted | Kind::Removed)) {
            let (context, indices, other, side, verb) = match change.kind {
                Kind::Inserted => (self.b.context, &change.b, self.a, "b", "adds"),
                _ => (self.a.context, &change.a, self.b, "a", "has"),
            };
            let others_slot = other
                .context
                .messages
                .iter()
                .filter(|message| message.origin.segment() == crate::context::Segment::Injections)
                .count();
            for message in indices.iter().filter_map(|index| context.messages.get(*index)) {
                let mut line = Vec::new();
                message.write_canonical(&mut line)?;
                let shown = String::from_utf8_lossy(&line);
                let size = measure::message(message);
                let empty =
                    if others_slot == 0 { "; the other side's slot is empty: not equal to no slot" } else { "" };
                writeln!(
                    out,
                    " {} {side} {verb} a message of {} here, {} bytes of the stream{empty}",
                    look.styles.warning.paint("injection slot:"),
                    chars(size),
                    thousands(line.len() as u64),
                )?;
                writeln!(out, "   {}", Visible(&cut(shown.trim_end_matches('\n'), 0, 160)))?;
            }
        }
        Ok(())
    }

    /// What became of which messages, on one line.
    pub(super) fn write_head<W: Write>(&self, change: &Change, look: &Look, out: &mut W) -> io::Result<()> {
        let (messages_a, messages_b) = (&self.a.context.messages, &self.b.context.messages);
        let origin = match (&change.origin_a, &change.origin_b) {
            (Some(a), Some(b)) if a != b => format!("{a} → {b}"),
            (Some(one), _) | (None, Some(one)) => one.clone(),
            (None, None) => String::new(),
        };
        let role = |indices: &[usize], messages: &[Message<'_>]| {
            Some(messages.get(*indices.first()?)?.role.as_str().to_owned())
        };
        let role = match (role(&change.a, messages_a), role(&change.b, messages_b)) {
            (Some(a), Some(b)) if a != b => format!("{a} → {b}"),
            (Some(one), _) | (None, Some(one)) => one,
            (None, None) => String::new(),
        };
        let mark = self.style_of_sign(sign(change.kind), look).paint(sign(change.kind));
        let head = format!("{} {}  {}", names(change), Visible(&role), Visible(&origin));
        let columns = look.columns.unwrap_or(80);
        let classes: Vec<&str> = change.classes.iter().map(|class| class.as_str()).collect();
        let what = match change.kind {
            Kind::Changed => classes.join(", "),
            Kind::Inserted | Kind::Removed => {
                let (messages, indices) =
                    if change.kind == Kind::Inserted { (messages_b, &change.b) } else { (messages_a, &change.a) };
                let size = indices.iter().filter_map(|index| messages.get(*index)).map(measure::message).sum();
                format!("{}, {}", change.kind.as_str(), chars(size))
            }
            Kind::Moved => change.kind.as_str().to_owned(),
            Kind::Split | Kind::Merged => format!("{}: {}", change.kind.as_str(), classes.join(", ")),
        };
        let room = columns.saturating_sub(what.width() + 5);
        writeln!(out, " {mark} {}  {}", pad(&head, room), look.styles.strong.paint(what))
    }

    /// The lines in which they differ.
    pub(super) fn write_lines<W: Write>(
        &self,
        change: &Change,
        look: &Look,
        options: DiffOptions,
        out: &mut W,
    ) -> io::Result<()> {
        let (messages_a, messages_b) = (&self.a.context.messages, &self.b.context.messages);
        match (change.kind, &*change.a, &*change.b) {
            (Kind::Changed, [m], [n]) => match (messages_a.get(*m), messages_b.get(*n)) {
                (Some(a), Some(b)) => self.write_pair(a, b, change, look, options, out),
                _ => Ok(()),
            },
            (Kind::Changed, [], []) => self.write_tools(look, out),
            (Kind::Inserted, ..) => self.write_whole(messages_b, &change.b, LineSide::B, look, out),
            (Kind::Removed, ..) => self.write_whole(messages_a, &change.a, LineSide::A, look, out),
            (Kind::Split | Kind::Merged | Kind::Changed, ..) => {
                self.write_whole(messages_a, &change.a, LineSide::A, look, out)?;
                self.write_whole(messages_b, &change.b, LineSide::B, look, out)
            }
            (Kind::Moved, ..) => Ok(()),
        }
    }

    /// The blocks of two messages, where they differ.
    fn write_pair<W: Write>(
        &self,
        a: &Message<'_>,
        b: &Message<'_>,
        change: &Change,
        look: &Look,
        options: DiffOptions,
        out: &mut W,
    ) -> io::Result<()> {
        if a.role != b.role {
            let (was, is) = (Visible(a.role.as_str()).to_string(), Visible(b.role.as_str()).to_string());
            self.write_plain(LineSide::A, &format!("role {was}"), look, out)?;
            self.write_plain(LineSide::B, &format!("role {is}"), look, out)?;
        }
        let many = a.blocks.len() > 1 || b.blocks.len() > 1;
        for n in 0..a.blocks.len().max(b.blocks.len()) {
            let (block_a, block_b) = (a.blocks.get(n), b.blocks.get(n));
            if let (Some(block_a), Some(block_b)) = (block_a, block_b)
                && block_a.content == block_b.content
            {
                continue;
            }
            if many {
                let kinds = |content: Option<&Content<'_>>| content.map_or("none", |content| content.kind());
                let (kind_a, kind_b) = (kinds(block_a.map(|b| &b.content)), kinds(block_b.map(|b| &b.content)));
                let kinds = if kind_a == kind_b { kind_a.to_owned() } else { format!("{kind_a} → {kind_b}") };
                writeln!(out, "   {}", look.styles.faint.paint(format!("block {n}: {kinds}")))?;
            }
            let shown = |content: Option<&Content<'_>>| content.map_or_else(String::new, shown_content);
            let (text_a, text_b) = (shown(block_a.map(|b| &b.content)), shown(block_b.map(|b| &b.content)));
            if text_a == text_b {
                self.write_plain(LineSide::A, &described(block_a.map(|b| &b.content)), look, out)?;
                self.write_plain(LineSide::B, &described(block_b.map(|b| &b.content)), look, out)?;
                continue;
            }
            for (index, hunk) in hunks(&text_a, &text_b, options.context_lines).iter().enumerate() {
                if index > 0 {
                    writeln!(out, "   {}", look.styles.faint.paint("⋮"))?;
                }
                self.write_hunk(hunk, look, out)?;
            }
            self.write_place(&text_a, &text_b, look, out)?;
        }
        if change.classes.contains(&Class::Template) {
            let words = "the observation is equal: its frame, the template, changed";
            writeln!(out, "   {}", look.styles.faint.paint(words))?;
        }
        Ok(())
    }

    fn write_hunk<W: Write>(&self, hunk: &Hunk<'_>, look: &Look, out: &mut W) -> io::Result<()> {
        for line in &hunk.lines {
            let (mark, style) = match line.side {
                LineSide::Both => (' ', &look.styles.faint),
                LineSide::A => ('-', &look.styles.bad),
                LineSide::B => ('+', &look.styles.good),
            };
            let number = look.styles.faint.paint(format!("{:>5}", line.number));
            writeln!(out, " {number} {} {}", style.paint(mark), shown_line(line, style, look))?;
        }
        Ok(())
    }

    /// Where the first difference of two texts is, and the characters by name: what looks alike is told apart.
    fn write_place<W: Write>(&self, a: &str, b: &str, look: &Look, out: &mut W) -> io::Result<()> {
        let (range_a, range_b) = differing(a, b);
        let before = &a[..range_a.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let place = format!(
            "char {}, byte {}, line {}, column {}:",
            before.chars().count(),
            range_a.start,
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        );
        let (was, is) = (named(&a[range_a]), named(&b[range_b]));
        let change = match (was, is) {
            (None, Some(is)) => format!("{is} added"),
            (Some(was), None) => format!("{was} removed"),
            (Some(was), Some(is)) => format!("{was} → {is}"),
            (None, None) => String::new(),
        };
        writeln!(out, "       {}", look.styles.faint.paint(format!("{place} {change}")))
    }

    fn write_tools<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        let line = |context: &crate::Context<'_>| {
            let mut line = Vec::new();
            context.write_tools(&mut line).map(|()| String::from_utf8_lossy(&line).into_owned())
        };
        let (a, b) = (line(self.a.context)?, line(self.b.context)?);
        for hunk in hunks(&a, &b, 0) {
            self.write_hunk(&hunk, look, out)?;
        }
        self.write_place(&a, &b, look, out)
    }

    /// The first lines of messages that stand on one side alone.
    fn write_whole<W: Write>(
        &self,
        messages: &[Message<'_>],
        indices: &[usize],
        side: LineSide,
        look: &Look,
        out: &mut W,
    ) -> io::Result<()> {
        const LINES: usize = 6;
        for message in indices.iter().filter_map(|index| messages.get(*index)) {
            if message.blocks.is_empty() {
                self.write_plain(side, "(no blocks)", look, out)?;
            }
            for block in &message.blocks {
                let text = shown_content(&block.content);
                if text.is_empty() {
                    self.write_plain(side, "(empty: 0 chars)", look, out)?;
                }
                let lines = text.split_inclusive('\n').count();
                let style = if side == LineSide::A { &look.styles.bad } else { &look.styles.good };
                for (n, line) in text.split_inclusive('\n').take(LINES).enumerate() {
                    let body = line.strip_suffix('\n').unwrap_or(line);
                    let ends_text = n + 1 == lines && line.len() > body.len();
                    let line = Line { side, number: n + 1, text: body, ends_text, changed: 0..body.len() };
                    let mark = style.paint(if side == LineSide::A { '-' } else { '+' });
                    writeln!(out, "       {mark} {}", shown_line(&line, style, look))?;
                }
                if lines > LINES {
                    let rest = format!("… {} more lines", thousands((lines - LINES) as u64));
                    writeln!(out, "         {}", look.styles.faint.paint(rest))?;
                }
            }
        }
        Ok(())
    }

    fn write_plain<W: Write>(&self, side: LineSide, words: &str, look: &Look, out: &mut W) -> io::Result<()> {
        let (mark, style) = if side == LineSide::A { ('-', &look.styles.bad) } else { ('+', &look.styles.good) };
        writeln!(out, "       {} {}", style.paint(mark), Visible(words))
    }
}

/// What is compared and shown of a block: its text, or its canonical JSON.
fn shown_content(content: &Content<'_>) -> String {
    match content {
        Content::Text(text) => text.to_string(),
        Content::Thinking { text, signature: None } => text.to_string(),
        Content::ToolUse { input: ToolInput::Text(text), .. } if text.is_empty() => String::new(),
        other => {
            let mut json = Vec::new();
            other.write_canonical(&mut json).expect("a vector takes every write");
            String::from_utf8_lossy(&json).into_owned()
        }
    }
}

/// A block that differs from another with the same shown text.
fn described(content: Option<&Content<'_>>) -> String {
    match content {
        None => "no block".to_owned(),
        Some(content) => format!("a {} block of {}", content.kind(), chars(measure::block(content))),
    }
}
