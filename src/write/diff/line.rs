//! One line of a comparison, made visible and folded round what changed in it.

use std::ops::Range;

use crate::diff::Line;
use crate::write::escape::Visible;
use crate::write::look::{Look, Style};
use crate::write::words::thousands;

/// Characters of a long line that are shown before and behind what changed in it.
const AROUND: usize = 48;

/// A line made visible: what changed painted, long stretches round it folded, its end shown where the text ends.
pub(super) fn shown_line(line: &Line<'_>, style: &Style, look: &Look) -> String {
    let text = line.text;
    let Range { start, end } = line.changed.clone();
    // Spaces at the end of a line cannot be seen.
    let body = text.trim_end_matches(' ').len();
    let part = |from: usize, to: usize| {
        let spaces = to.saturating_sub(from.max(body));
        format!("{}{}", Visible(&text[from..to - spaces]), "␠".repeat(spaces))
    };
    let folded = |from: usize, to: usize| match text[from..to].chars().count() {
        0 => String::new(),
        n => look.styles.faint.paint(format!("…{} chars…", thousands(n as u64))),
    };
    let before_from = fold_back(text, start, AROUND);
    let (head_to, tail_from) = fold_inner(text, start, end);
    let after_to = fold_forward(text, end, AROUND);
    let mut shown = folded(0, before_from) + &part(before_from, start) + &style.paint(part(start, head_to));
    if head_to < tail_from {
        shown += &folded(head_to, tail_from);
        shown += &style.paint(part(tail_from, end));
    }
    shown += &part(end, after_to);
    shown += &folded(after_to, text.len());
    if line.ends_text {
        shown += &look.styles.sign.paint("⏎");
    }
    shown
}

fn fold_back(text: &str, from: usize, keep: usize) -> usize {
    // Folding a few characters saves nothing.
    match text[..from].char_indices().rev().nth(keep + 16) {
        Some(_) => text[..from].char_indices().rev().nth(keep - 1).map_or(0, |(at, _)| at),
        None => 0,
    }
}

fn fold_forward(text: &str, from: usize, keep: usize) -> usize {
    match text[from..].char_indices().nth(keep + 16) {
        Some(_) => text[from..].char_indices().nth(keep).map_or(text.len(), |(at, _)| from + at),
        None => text.len(),
    }
}

/// Where the shown head of a long changed stretch ends and its shown tail begins.
fn fold_inner(text: &str, start: usize, end: usize) -> (usize, usize) {
    let inner = &text[start..end];
    match inner.char_indices().nth(4 * AROUND) {
        Some(_) => {
            let head = inner.char_indices().nth(2 * AROUND).map_or(end, |(at, _)| start + at);
            let tail = inner.char_indices().rev().nth(AROUND).map_or(start, |(at, _)| start + at);
            (head, tail)
        }
        None => (end, end),
    }
}

/// Up to so many characters from the start, and how many were left out.
pub(super) fn cut(text: &str, from: usize, keep: usize) -> String {
    let to = fold_forward(text, from, keep);
    match text[to..].chars().count() {
        0 => text.to_owned(),
        n => format!("{}… {} more chars", &text[..to], thousands(n as u64)),
    }
}

/// Characters by code point and bytes if there are few, else the first of them and their number; `None` for none.
pub(super) fn named(text: &str) -> Option<String> {
    const FEW: usize = 4;
    let count = text.chars().count();
    let shown: String = text.chars().take(if count > FEW { 1 } else { FEW }).collect();
    let points: Vec<String> = shown.chars().map(|c| format!("U+{:04X}", c as u32)).collect();
    let bytes: Vec<String> = shown.bytes().map(|byte| format!("{byte:02x}")).collect();
    let named = format!("{} [{}]", points.join(" "), bytes.join(" "));
    match count {
        0 => None,
        1..=FEW => Some(named),
        _ => Some(format!("{named} and {} more", thousands(count as u64 - 1))),
    }
}
