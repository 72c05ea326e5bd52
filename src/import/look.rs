//! What a line looks like: a mark of a frame, a label, a tag; or text that was observed.

/// A line that varies in one place.
pub(super) struct Field {
    pub before: String,
    pub after: String,
    pub name: String,
    /// Whether it says what varies, as `(Open file: a.py)` and `<code>1</code>` do.
    pub is_labelled: bool,
}

/// Words that what is fed back is announced with.
const ANNOUNCING: [&str; 12] = [
    "observation",
    "output",
    "result",
    "results",
    "response",
    "feedback",
    "environment",
    "tool",
    "returned",
    "execution",
    "stdout",
    "answer",
];

/// Words that programs begin their own output with.
const OBSERVED: [&str; 14] = [
    "error",
    "traceback",
    "warning",
    "usage",
    "file",
    "files",
    "note",
    "exception",
    "fatal",
    "info",
    "debug",
    "failed",
    "found",
    "http",
];

/// Elements that are content wherever they stand.
const MARKUP: [&str; 10] = ["html", "body", "div", "p", "table", "svg", "head", "span", "ul", "xml"];

/// Whether a line above an observation announces it.
pub(super) fn is_head_mark(line: &str) -> bool {
    let line = line.trim();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let is_words = line.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '_' | '-'));
    let bracketed = inside(line, '[', ']').is_some_and(is_label);
    is_rule(line)
        || is_tag(line)
        || bracketed
        || (line.starts_with('#') && letters > 2 && !line.starts_with("#!"))
        || (is_words && letters > 2 && !line.chars().any(char::is_lowercase) && line.is_ascii())
        || line.strip_suffix(':').is_some_and(announces)
}

/// Words before a colon that are no output of a program; a word alone may be the name of a folder.
fn announces(words: &str) -> bool {
    let words = words.trim_matches(['*', '[', ']']);
    let is_sentence = words.starts_with(char::is_uppercase) || words.contains(' ') || ANNOUNCING.contains(&words);
    is_sentence && words.starts_with(char::is_alphabetic) && !is_content_like(words) && words.split(' ').count() <= 12
}

/// Whether a line below an observation is a status, a prompt or the end of what stands round it.
pub(super) fn is_tail_mark(line: &str) -> bool {
    let line = line.trim();
    let status = [('(', ')'), ('[', ']')].iter().any(|(open, close)| {
        inside(line, *open, *close).is_some_and(|words| {
            words.starts_with(char::is_alphabetic) && words.contains([' ', ':']) && !words.contains(['(', '"'])
        })
    });
    let prompt =
        line.ends_with(['$', '#', '>', '%']) && line.len() <= 40 && !line.contains(' ') && !line.starts_with('<');
    status || prompt || is_rule(line) || is_tag(line) || is_head_mark(line)
}

fn is_rule(line: &str) -> bool {
    let fence = |mark: &str| line.strip_prefix(mark).is_some_and(|word| word.chars().all(char::is_alphanumeric));
    let is_line = |mark: char| line.len() >= 3 && line.chars().all(|c| c == mark);
    fence("```") || fence("~~~") || ['-', '=', '*', '_', '#', '~', '+'].into_iter().any(is_line)
}

/// `<output>`, `</output>`, `<result id="3">`
fn is_tag(line: &str) -> bool {
    let Some(inner) = inside(line, '<', '>') else { return false };
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let name = inner.split(' ').next().unwrap_or_default();
    is_tag_name(name) && !inner.contains(['<', '>'])
}

fn is_tag_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'))
        && !MARKUP.contains(&&*name.to_ascii_lowercase())
}

/// The tag a text begins with, and the one that would close it.
pub(super) fn tag_in(text: &str) -> Option<(&str, String)> {
    let end = text.find('>')? + 1;
    let name = text[..end].strip_prefix('<')?.strip_suffix('>')?;
    is_tag_name(name).then(|| (&text[..end], format!("</{name}>")))
}

/// What a line has between two brackets that are its ends.
fn inside(line: &str, open: char, close: char) -> Option<&str> {
    line.strip_prefix(open)?.strip_suffix(close)
}

/// Whether a line may well have been observed: it has a digit, a path, an indent or no word in it.
pub(super) fn is_content_like(line: &str) -> bool {
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    line.starts_with([' ', '\t'])
        || line.contains(['/', '\\', '=', ';', '|'])
        || line.chars().any(|c| c.is_numeric())
        || line.chars().filter(|c| c.is_alphabetic()).count() < 3
        || OBSERVED.contains(&&*first.to_lowercase())
}

/// One to four words, such as `Current directory`.
fn is_label(words: &str) -> bool {
    words.starts_with(char::is_alphabetic)
        && words.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'))
        && (1..=4).contains(&words.split(' ').count())
        && words.chars().count() <= 40
}

/// The label that a text begins with, colon and white space included: `Observation: `.
pub(super) fn label_of(text: &str) -> Option<&str> {
    let colon = text.find(':')?;
    let is_one = is_label(&text[..colon]) && !text[..colon].chars().any(char::is_numeric);
    is_one.then(|| with_gap(text, colon + 1)).flatten()
}

/// The text up to and with the white space that stands at this place.
fn with_gap(text: &str, at: usize) -> Option<&str> {
    match text[at..].chars().next() {
        Some(' ' | '\n') => Some(&text[..=at]),
        _ => None,
    }
}

/// The same, where so many different texts make it credible that it belongs to the frame.
pub(super) fn label_in(text: &str, distinct: usize) -> Option<&str> {
    let label = label_of(text)?;
    let mut words = label.trim_end_matches([':', ' ', '\n']).split([' ', '_', '-']).map(str::to_lowercase);
    let is_announced = words.clone().any(|word| ANNOUNCING.contains(&&*word));
    let is_observed = words.any(|word| OBSERVED.contains(&&*word));
    (is_announced || (distinct >= 4 && !is_observed)).then_some(label)
}

/// `Observation 3: ` as what stands before the number, the number, and what stands after it.
pub(super) fn number_label(text: &str) -> Option<(&str, u64, &str)> {
    let before = text.find(|c: char| c.is_ascii_digit())?;
    let words = text[..before].strip_suffix(' ')?;
    let digits = text[before..].bytes().take_while(u8::is_ascii_digit).count();
    let after = before + digits;
    let number: &str = &text[before..after];
    // Any other spelling would not come back.
    let is_plain = !number.starts_with('0') || number == "0";
    let colon = text[after..].starts_with(':').then(|| with_gap(text, after + 1)).flatten()?;
    (is_label(words) && is_plain).then_some((&text[..before], number.parse().ok()?, &colon[after..]))
}

/// What the lines of a column have round the place in which they vary, if that is a line of a frame.
pub(super) fn varying(column: &[&str]) -> Option<Field> {
    let first = column[0];
    let all = |before: &str, after: &str| {
        let fits =
            |line: &&str| line.len() >= before.len() + after.len() && line.starts_with(before) && line.ends_with(after);
        column.iter().all(fits)
    };
    if let Some((open, close)) = tag_in(first)
        && all(open, &close)
    {
        let name = name_of(open.trim_matches(['<', '>']));
        return Some(Field { before: open.to_owned(), after: close, name, is_labelled: true });
    }
    let (bracket, close) = match first.chars().next()? {
        '(' => ("(", ")"),
        '[' => ("[", "]"),
        _ => ("", ""),
    };
    let words = &first[bracket.len()..];
    let colon = words.find(": ")?;
    let (label, before) = (&words[..colon], &first[..bracket.len() + colon + 2]);
    if !is_label(label) || !all(before, close) {
        return None;
    }
    Some(Field {
        before: before.to_owned(),
        after: close.to_owned(),
        name: name_of(label),
        // Programs write such lines too, but seldom in brackets.
        is_labelled: !bracket.is_empty(),
    })
}

/// A label as the name of a field: `Open file` is `open_file`.
fn name_of(label: &str) -> String {
    let words: Vec<String> = label
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let name = words.join("_");
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { "value".to_owned() }
}
