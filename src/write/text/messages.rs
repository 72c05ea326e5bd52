//! The messages of a view, line by line.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::View;
use crate::context::{Block, Content, Message, ToolInput};
use crate::measure;
use crate::write::escape::Visible;
use crate::write::look::Style;
use crate::write::words::{break_at, chars, pad};

impl View<'_, '_> {
    pub(in crate::write) fn message<W: Write>(
        &self,
        index: usize,
        message: &Message<'_>,
        out: &mut W,
    ) -> io::Result<()> {
        let styles = &self.look.styles;
        let style = styles.of(message.origin.segment());
        let name = format!("#{index}");
        let role = Visible(message.role.as_str()).to_string();
        let origin = Visible(&message.origin.to_string()).to_string();
        let size = chars(measure::message(message));
        let used = 1 + name.width().max(4) + 1 + role.width().max(9) + 2;
        let room = self.columns.saturating_sub(used + size.width() + 2);
        writeln!(
            out,
            " {} {}  {}  {}",
            style.paint(pad(&name, 4)),
            styles.strong.paint(pad(&role, 9)),
            style.paint(pad(&origin, room)),
            size,
        )?;
        let plain = matches!(&*message.blocks, [Block { content: Content::Text(_), .. }]);
        if message.blocks.is_empty() {
            self.note(style, "no blocks", out)?;
        }
        for (n, block) in message.blocks.iter().enumerate() {
            if !plain {
                let place = format!("block {n}: {}, {}", block.content.kind(), chars(measure::block(&block.content)));
                self.note(style, &place, out)?;
            }
            self.content(style, &block.content, out)?;
        }
        Ok(())
    }

    pub(in crate::write) fn content<W: Write>(
        &self,
        style: &Style,
        content: &Content<'_>,
        out: &mut W,
    ) -> io::Result<()> {
        match content {
            Content::Text(text) => self.lines(style, &text.to_cow(), out),
            Content::Thinking { text, signature } => {
                self.lines(style, &text.to_cow(), out)?;
                match signature {
                    Some(text) => self.note(style, &format!("signature {}", Visible(&text.to_cow())), out),
                    None => Ok(()),
                }
            }
            Content::ToolUse { id, name, input } => {
                self.note(style, &format!("{} {}", Visible(&name.to_cow()), Visible(&id.to_cow())), out)?;
                match input {
                    ToolInput::Json(json) => self.lines(style, json.as_str(), out),
                    ToolInput::Text(text) => self.lines(style, &text.to_cow(), out),
                }
            }
            Content::ToolResult { tool_use_id, content, is_error, status } => {
                let mut words = format!("of {}", Visible(&tool_use_id.to_cow()));
                if let Some(is_error) = is_error {
                    words.push_str(if *is_error { ", an error" } else { ", no error" });
                }
                if let Some(status) = status {
                    words.push_str(&format!(", {}", Visible(&status.to_cow())));
                }
                self.note(style, &words, out)?;
                for part in content {
                    if !matches!(part, Content::Text(_)) {
                        self.note(style, &format!("{}, {}", part.kind(), chars(measure::block(part))), out)?;
                    }
                    self.content(style, part, out)?;
                }
                Ok(())
            }
            Content::Image { source, .. } => self.lines(style, source.as_str(), out),
            Content::Opaque { kind, value } => {
                self.note(style, &format!("recorded as {}", Visible(&kind.to_cow())), out)?;
                self.lines(style, value.as_str(), out)
            }
        }
    }

    /// A line of the view's own among content: another gutter says so.
    fn note<W: Write>(&self, style: &Style, words: &str, out: &mut W) -> io::Result<()> {
        writeln!(out, " {} {}", style.paint("├"), self.look.styles.faint.paint(words))
    }

    /// The text line by line. A line feed at the very end is shown as `⏎`, so that its absence is seen too; a line that
    /// is broken by the view goes on behind another gutter.
    fn lines<W: Write>(&self, style: &Style, text: &str, out: &mut W) -> io::Result<()> {
        if text.is_empty() {
            return self.note(style, "empty: 0 chars", out);
        }
        let gutter = style.paint("│");
        let ended = text.ends_with('\n');
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
        let mut shown = String::new();
        while let Some(line) = lines.next() {
            shown.clear();
            self.visible_line(line, &mut shown);
            if ended && lines.peek().is_none() {
                shown.push_str(&self.look.styles.sign.paint("⏎"));
            }
            match self.look.wrap {
                _ if shown.is_empty() => writeln!(out, " {gutter}")?,
                Some(columns) => self.wrapped(&gutter, style, &shown, columns.saturating_sub(3).max(20), out)?,
                None => writeln!(out, " {gutter} {shown}")?,
            }
        }
        Ok(())
    }

    /// A line with its signs painted, and its trailing spaces made visible.
    fn visible_line(&self, line: &str, shown: &mut String) {
        let sign = &self.look.styles.sign;
        let body = line.trim_end_matches(' ');
        let mut written = 0;
        for (at, character) in body.char_indices().filter(|(_, character)| !matches!(character, ' '..='~')) {
            if let Some(picture) = Visible::sign(character) {
                shown.push_str(&body[written..at]);
                shown.push_str(&sign.paint(picture));
                written = at + character.len_utf8();
            }
        }
        shown.push_str(&body[written..]);
        if body.len() < line.len() {
            shown.push_str(&sign.paint("␠".repeat(line.len() - body.len())));
        }
    }

    fn wrapped<W: Write>(
        &self,
        gutter: &str,
        style: &Style,
        shown: &str,
        columns: usize,
        out: &mut W,
    ) -> io::Result<()> {
        let mut gutter = Cow::Borrowed(gutter);
        let mut rest = shown;
        loop {
            let at = break_at(rest, columns);
            writeln!(out, " {gutter} {}", &rest[..at])?;
            rest = &rest[at..];
            if rest.is_empty() {
                return Ok(());
            }
            gutter = Cow::Owned(style.paint("┆"));
        }
    }
}
