//! What successive calls kept of each other, for people and as `polyloop.trace/1`.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use unicode_width::UnicodeWidthStr;

use super::escape::Visible;
use super::look::Look;
use super::words::{count, thousands};
use crate::trace::cache::Cached;
use crate::trace::{Relation, Trace, Traced};

/// A trace with the name of what it is of.
#[derive(Clone, Copy, Debug)]
pub struct TraceView<'v> {
    /// The name it is shown by.
    pub source: &'v str,
    /// What was found.
    pub trace: &'v Trace,
    /// The budget of a request, if there is one.
    pub max_prompt_chars: Option<u64>,
    /// What a provider's rules make of every call, where that was asked for.
    pub cached: Option<&'v [Cached]>,
    /// What that would cost, where prices were given.
    pub cost: Option<f64>,
}

impl Serialize for TraceView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", "polyloop.trace/1")?;
        map.serialize_entry("source", self.source)?;
        map.serialize_entry("calls", &self.trace.calls)?;
        map.serialize_entry("summary", &self.trace.summary)?;
        if let Some(cached) = self.cached {
            map.serialize_entry("cached", cached)?;
        }
        if let Some(cost) = self.cost {
            map.serialize_entry("cost", &cost)?;
        }
        map.end()
    }
}

impl TraceView<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<W: Write>(&self, look: &Look, out: &mut W) -> io::Result<()> {
        let columns = look.columns.unwrap_or(80).clamp(40, 160);
        let summary = &self.trace.summary;
        let (calls, breaks) = (count(summary.calls as u64, "call"), count(summary.breaks as u64, "break"));
        let style = if summary.breaks == 0 { &look.styles.good } else { &look.styles.bad };
        let (again, sent) = (thousands(summary.resent_chars), thousands(summary.sent_chars));
        let (verdict, again) = (format!("{calls}, {breaks}"), format!("{again} of {sent} chars sent again"));
        let between = if verdict.len() + again.len() + 2 > columns { ":\n " } else { ": " };
        writeln!(out, "{}{between}{again}", style.paint(verdict))?;
        if summary.conversations > 1 {
            writeln!(out, " {} are told apart", count(summary.conversations as u64, "conversation"))?;
        }
        let wide = columns >= 76;
        let bar = if wide { columns.saturating_sub(67).min(24) } else { 0 };
        let title = match wide {
            true => " call messages     chars      kept       new    resent".to_owned(),
            false => " call      chars     resent".to_owned(),
        };
        writeln!(out, "{}", look.styles.faint.paint(title.trim_end()))?;
        let most = self.trace.calls.iter().map(|call| call.chars).max().unwrap_or(0).max(1);
        for call in &self.trace.calls {
            self.write_call(call, (columns, bar, wide, most), look, out)?;
        }
        self.write_end(columns, look, out)
    }

    fn write_call<W: Write>(
        &self,
        call: &Traced,
        (columns, bar, wide, most): (usize, usize, bool, u64),
        look: &Look,
        out: &mut W,
    ) -> io::Result<()> {
        let kept = if call.relation == Relation::Initial { "–".to_owned() } else { thousands(call.kept_chars) };
        let [chars, new, resent] = [call.chars, call.new_chars, call.resent_chars].map(thousands);
        let style = match call.relation {
            Relation::Changed => &look.styles.bad,
            Relation::Stable | Relation::AppendOnly => &look.styles.good,
            Relation::Initial => &look.styles.faint,
        };
        let relation = style.paint(call.relation.as_str());
        let (index, messages) = (call.call, thousands(call.messages as u64));
        match wide {
            true => {
                let picture = picture(call, bar, most);
                writeln!(
                    out,
                    " {index:>4} {messages:>8} {chars:>9} {kept:>9} {new:>9} {resent:>9} {picture} {relation}"
                )?;
            }
            false => writeln!(out, " {index:>4}  {chars:>9}  {resent:>9}  {relation}")?,
        }
        let changed: Vec<&str> = call.changed.iter().map(|changed| changed.as_str()).collect();
        let mut lines: Vec<String> = call.causes.clone();
        if !changed.is_empty() && lines.is_empty() {
            lines.push(changed.join(", "));
        }
        if let (Relation::Changed, Some(first)) = (call.relation, &call.first_difference) {
            let origin = first.origin_b.as_ref().or(first.origin_a.as_ref());
            let place = origin.map_or_else(|| "tools".to_owned(), String::clone);
            let char = first.char.map(|char| format!(" char {}", thousands(char))).unwrap_or_default();
            lines.push(format!("parts at {place}{char}; changed: {}", changed.join(", ")));
        }
        for left in call.evicted.iter().filter(|left| left.pinned) {
            lines.push(format!("#{} {} ({}) must stay, and left", left.message, left.origin, left.role));
        }
        let evicted: Vec<usize> = call.evicted.iter().filter(|left| !left.pinned).map(|left| left.message).collect();
        if !evicted.is_empty() {
            let runs = evicted.chunk_by(|a, b| a + 1 == *b);
            let which = runs.map(|run| match run {
                [first, .., last] => format!("#{first}–{last}"),
                _ => format!("#{}", run[0]),
            });
            let which = which.collect::<Vec<_>>().join(", ");
            let were = count(evicted.len() as u64, "message");
            lines.push(format!("{were} of the call before left: {which}"));
        }
        if let Some(Cached { read_tokens, written_tokens, why, .. }) =
            self.cached.and_then(|cached| cached.get(call.call))
        {
            let (read, written) = (thousands(*read_tokens), thousands(*written_tokens));
            lines.push(format!("by the rules {read} tokens read, {written} written: {why}"));
        }
        for line in lines {
            // Only a terminal has an edge.
            let room = look.columns.map_or(usize::MAX, |_| columns.saturating_sub(7));
            let line = Visible(&line).to_string();
            let shown = cut(&line, room);
            writeln!(out, "       {}", look.styles.faint.paint(shown))?;
        }
        Ok(())
    }

    fn write_end<W: Write>(&self, columns: usize, look: &Look, out: &mut W) -> io::Result<()> {
        let summary = &self.trace.summary;
        let growth: Vec<u64> = self.trace.calls.iter().map(|call| call.chars).collect();
        if growth.len() > 1 {
            writeln!(out, " growth  {}", sparkline(&growth, columns - 10))?;
        }
        let [kept, new, again] = [summary.shared_chars, summary.new_chars, summary.resent_chars].map(thousands);
        writeln!(out, "{}", cut(&format!(" chars   {kept} kept, {new} new, {again} sent again"), columns))?;
        if let Some(cost) = self.cost {
            writeln!(out, "{}", cut(&format!(" cost    {cost:.6} by the rules and the prices given"), columns))?;
        }
        if let Some(limit) = self.max_prompt_chars {
            let passed = self.trace.calls.iter().find(|call| call.chars > limit);
            let words = match passed {
                Some(call) => {
                    format!("passed at call {}: {} of {}", call.call, thousands(call.chars), thousands(limit))
                }
                None => format!(
                    "never passed: at most {} of {}",
                    thousands(growth.iter().copied().max().unwrap_or(0)),
                    thousands(limit)
                ),
            };
            writeln!(out, "{}", cut(&format!(" budget  {words}"), columns))?;
        }
        if summary.pinned_lost > 0 {
            let lost = count(summary.pinned_lost as u64, "message");
            let words = cut(&format!("{lost} that must stay left the context"), columns - 1);
            writeln!(out, " {}", look.styles.bad.paint(words))?;
        }
        Ok(())
    }
}

/// Kept, sent again and new, as parts of a bar.
fn picture(call: &Traced, columns: usize, most: u64) -> String {
    let of = |chars: u64| (chars as f64 / most as f64 * columns as f64).round() as usize;
    let kept = of(call.kept_chars).min(columns);
    let again = (of(call.kept_chars + call.resent_chars).min(columns)).saturating_sub(kept);
    let new = of(call.chars).min(columns).saturating_sub(kept + again);
    format!("{}{}{}{}", "█".repeat(kept), "▒".repeat(again), "░".repeat(new), " ".repeat(columns - kept - again - new))
}

/// Sizes as a row of blocks; of many, the largest of each stretch.
fn sparkline(sizes: &[u64], columns: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = sizes.iter().copied().max().unwrap_or(0).max(1);
    let stretch = sizes.len().div_ceil(columns).max(1);
    let largest = sizes.chunks(stretch).map(|chunk| chunk.iter().copied().max().unwrap_or(0));
    largest.map(|size| BLOCKS[((size as u128 * 7).div_ceil(most as u128) as usize).min(7)]).collect()
}

/// A line that fits; the beginning of one that does not, its end marked.
fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut text = String::new();
    for character in line.chars() {
        if text.width() + 2 > columns {
            break;
        }
        text.push(character);
    }
    text.push('…');
    text
}
