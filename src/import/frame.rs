//! The constant frame round the observations, as a person would write it into a template.

use std::collections::HashSet;

pub(super) use super::look::label_of;
use super::look::{Field, is_content_like, is_head_mark, is_tail_mark, label_in, number_label, tag_in, varying};

/// How far from either end of an observation its frame is looked for, in lines.
const DEEPEST: usize = 12;

/// Lines before and after the observation; or a label or tag on its own line.
#[derive(Default)]
pub(super) struct Frame {
    head: Vec<Line>,
    /// In reading order.
    tail: Vec<Line>,
    /// Whether every observation ends before the line feed that the tail begins with.
    is_apart: bool,
    open: Open,
    close: String,
}

#[derive(Default)]
enum Open {
    #[default]
    Nothing,
    /// `Observation: `, `<output>`
    Text(String),
    /// `Observation 3: `: what stands before and after the number
    Numbered(String, String),
}

/// A line of the frame.
enum Line {
    Constant(String),
    Varying(Field),
}

/// The name of the number in `Observation 3: `.
const NUMBER: &str = "number";

impl Frame {
    /// The frame that all texts have in common.
    pub fn find(texts: &[&str]) -> Self {
        let distinct = texts.iter().collect::<HashSet<_>>().len();
        if distinct < 2 {
            return Frame::default();
        }
        let fewest_lines = texts.iter().map(|text| 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count()).min();
        let fewest_lines = fewest_lines.unwrap_or(1);
        let mut head = head(&columns(texts, fewest_lines, |text| text.split('\n')), distinct);
        let mut tail = tail(&columns(texts, fewest_lines, |text| text.rsplit('\n')), distinct, !head.is_empty());
        // The last line of the head ends with a line feed, which is there where a line follows.
        let is_overlong = head.len() + tail.len() > fewest_lines || (tail.is_empty() && head.len() == fewest_lines);
        if is_overlong {
            head.clear();
        }
        tail.reverse();
        let is_apart = fewest_lines > head.len() + tail.len();
        let mut frame = Frame { head, tail, is_apart, ..Frame::default() };
        if frame.head.is_empty() {
            let bodies: Vec<&str> = texts.iter().map(|text| frame.lines_off(text)).collect();
            (frame.open, frame.close) = inline(&bodies, distinct);
        }
        frame.name_apart();
        frame
    }

    /// Whether there is no frame.
    pub fn is_plain(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty() && matches!(self.open, Open::Nothing)
    }

    /// The template, braces escaped.
    pub fn template(&self) -> String {
        let mut template = String::new();
        for line in &self.head {
            line.put(&mut template);
            template.push('\n');
        }
        match &self.open {
            Open::Nothing => {}
            Open::Text(text) => escape(text, &mut template),
            Open::Numbered(before, after) => {
                escape(before, &mut template);
                template += &format!("{{{NUMBER}}}");
                escape(after, &mut template);
            }
        }
        template += "{observation}";
        escape(&self.close, &mut template);
        for (index, line) in self.tail.iter().enumerate() {
            if index > 0 || self.is_apart {
                template.push('\n');
            }
            line.put(&mut template);
        }
        template
    }

    /// The names of what varies in the frame, in the order of [`Frame::take_off`].
    pub fn fields(&self) -> Vec<&str> {
        let number = matches!(self.open, Open::Numbered(..)).then_some(NUMBER);
        let named = |line| match line {
            &Line::Varying(Field { ref name, .. }) => Some(name.as_str()),
            Line::Constant(_) => None,
        };
        self.head.iter().filter_map(named).chain(number).chain(self.tail.iter().filter_map(named)).collect()
    }

    /// What was observed, and the values of the fields; the text is one that the frame was found round.
    pub fn take_off<'t>(&self, text: &'t str) -> (&'t str, Vec<&'t str>) {
        let mut values: Vec<&str> = self.head.iter().zip(text.split('\n')).filter_map(Line::value).collect();
        let mut body = self.lines_off(text);
        match &self.open {
            Open::Nothing => {}
            Open::Text(open) => body = body.strip_prefix(&**open).unwrap_or(body),
            Open::Numbered(before, after) => {
                let rest = body.strip_prefix(&**before).unwrap_or(body);
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                values.push(&rest[..digits]);
                body = rest[digits..].strip_prefix(&**after).unwrap_or(&rest[digits..]);
            }
        }
        body = body.strip_suffix(&*self.close).unwrap_or(body);
        let mut below: Vec<&str> = self.tail.iter().rev().zip(text.rsplit('\n')).filter_map(Line::value).collect();
        below.reverse();
        values.extend(below);
        (body, values)
    }

    /// The text without the lines of the frame.
    fn lines_off<'t>(&self, text: &'t str) -> &'t str {
        let above: usize = text.split('\n').take(self.head.len()).map(|line| line.len() + 1).sum();
        let below: usize = text.rsplit('\n').take(self.tail.len()).map(|line| line.len() + 1).sum();
        let below = if self.is_apart { below } else { below.saturating_sub(1) };
        &text[above..text.len() - below]
    }

    /// Gives every field a name of its own.
    fn name_apart(&mut self) {
        let mut taken: HashSet<String> = ["observation", NUMBER].map(str::to_owned).into();
        for line in self.head.iter_mut().chain(&mut self.tail) {
            let Line::Varying(field) = line else { continue };
            let mut name = field.name.clone();
            let mut count = 2;
            while !taken.insert(name.clone()) {
                name = format!("{}_{count}", field.name);
                count += 1;
            }
            field.name = name;
        }
    }
}

impl Line {
    fn put(&self, template: &mut String) {
        match self {
            Line::Constant(text) => escape(text, template),
            Line::Varying(Field { before, after, name, .. }) => {
                escape(before, template);
                *template += &format!("{{{name}}}");
                escape(after, template);
            }
        }
    }

    fn value<'t>((line, text): (&Line, &'t str)) -> Option<&'t str> {
        match line {
            Line::Varying(Field { before, after, .. }) => text.get(before.len()..text.len() - after.len()),
            Line::Constant(_) => None,
        }
    }
}

fn escape(text: &str, template: &mut String) {
    *template += &text.replace('{', "{{").replace('}', "}}");
}

/// The lines of all texts from one end on: the first of each, then the second of each.
fn columns<'t, I: Iterator<Item = &'t str>>(
    texts: &[&'t str],
    fewest_lines: usize,
    lines: impl Fn(&'t str) -> I,
) -> Vec<Vec<&'t str>> {
    let mut columns = vec![Vec::with_capacity(texts.len()); fewest_lines.min(DEEPEST)];
    for text in texts {
        columns.iter_mut().zip(lines(text)).for_each(|(column, line)| column.push(line));
    }
    columns
}

/// A constant line, or one that varies in one place.
fn line(column: &[&str]) -> Option<Line> {
    match column.iter().all(|line| *line == column[0]) {
        true => Some(Line::Constant(column[0].to_owned())),
        false => varying(column).map(Line::Varying),
    }
}

/// How many different texts it takes until a line that looks like nothing in particular is taken for a frame.
const ENOUGH: usize = 4;

/// The lines of the frame above: they end with a mark of one, since what is observed often begins alike.
fn head(columns: &[Vec<&str>], distinct: usize) -> Vec<Line> {
    let (mut lines, mut accepted, mut is_open) = (Vec::new(), 0, false);
    for column in columns {
        let Some(line) = line(column) else { break };
        match &line {
            Line::Varying(_) => is_open = true,
            Line::Constant(text) => {
                let is_accepted = if text.trim().is_empty() {
                    accepted > 0 && accepted == lines.len()
                } else if is_head_mark(text) {
                    is_open = false;
                    true
                } else {
                    distinct >= ENOUGH && !is_open && !is_content_like(text)
                };
                if !is_accepted {
                    break;
                }
                accepted = lines.len() + 1;
            }
        }
        lines.push(line);
    }
    lines.truncate(accepted);
    lines
}

/// The lines of the frame below, from the last one on: a status or a prompt, constant or labelled.
fn tail(columns: &[Vec<&str>], distinct: usize, has_head: bool) -> Vec<Line> {
    let (mut lines, mut accepted, mut is_sure) = (Vec::new(), 0, has_head);
    for column in columns {
        let Some(line) = line(column) else { break };
        let is_accepted = match &line {
            Line::Varying(field) => is_sure && (field.is_labelled || (lines.is_empty() && distinct >= ENOUGH)),
            Line::Constant(text) if text.trim().is_empty() => false,
            Line::Constant(text) => {
                if !is_tail_mark(text) && (distinct < ENOUGH || is_content_like(text)) {
                    break;
                }
                is_sure = true;
                true
            }
        };
        lines.push(line);
        if is_accepted {
            accepted = lines.len();
        }
    }
    lines.truncate(accepted);
    lines
}

/// A label or a tag on the observation's own line.
fn inline(bodies: &[&str], distinct: usize) -> (Open, String) {
    let first = bodies[0];
    if let Some((before, _, after)) = number_label(first) {
        let numbers = bodies.iter().map(|body| match number_label(body)? {
            (its_before, number, its_after) if (its_before, its_after) == (before, after) => Some(number),
            _ => None,
        });
        let numbers: Option<Vec<u64>> = numbers.collect();
        if numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)) {
            return (Open::Numbered(before.to_owned(), after.to_owned()), String::new());
        }
    }
    let all_begin = |open: &str| bodies.iter().all(|body| body.starts_with(open));
    if let Some((open, close)) = tag_in(first)
        && all_begin(open)
        && bodies.iter().all(|body| body.len() >= open.len() + close.len() && body.ends_with(&*close))
    {
        return (Open::Text(open.to_owned()), close);
    }
    match label_in(first, distinct) {
        Some(label) if all_begin(label) => (Open::Text(label.to_owned()), String::new()),
        _ => (Open::Nothing, String::new()),
    }
}
