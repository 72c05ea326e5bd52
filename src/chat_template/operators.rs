//! Operators on values the engine has no words for, put through filters: `+` of text that is marked as safe, which
//! escapes the text beside it, and `%` behind a literal.

use super::source::token_len;

/// The filter that adds up a list as Python's `+` does where some text is safe.
pub(super) const SUM: &str = "__sum";
/// The filter that formats the first of two as Python's `%` does.
pub(super) const PERCENT: &str = "__percent";

/// Words that end the operands of a sum.
const WORDS: [&str; 19] = [
    "and",
    "or",
    "not",
    "in",
    "if",
    "else",
    "elif",
    "set",
    "for",
    "print",
    "do",
    "call",
    "macro",
    "filter",
    "with",
    "recursive",
    "is",
    "include",
    "import",
];

/// Brackets nested deeper stay as they are; the engine refuses them.
const MAX_DEPTH: usize = 100;

/// The inside of a tag with its sums and formats spelled as filters.
pub(super) fn spell(inside: &str, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return inside.to_owned();
    }
    let mut out = String::with_capacity(inside.len() + 16);
    let mut sum = Sum::default();
    let mut rest = inside;
    // Behind `is` stands the name of a test, whatever word it is.
    let mut names_test = false;
    while !rest.is_empty() {
        let len = token_len(rest);
        let (token, after) = rest.split_at(len);
        rest = after;
        if token.trim().is_empty() {
            sum.push(token);
            continue;
        }
        match token {
            "(" | "[" | "{" => {
                let len = group_len(rest);
                let (group, after) = rest.split_at(len);
                rest = after;
                sum.push(token);
                sum.push(&spell(group, depth + 1));
            }
            "is" if !sum.is_start() => {
                names_test = true;
                sum.push(token);
                continue;
            }
            "not" if names_test => {
                sum.push(token);
                continue;
            }
            _ if names_test => sum.push(token),
            "+" if !sum.is_start() => sum.operand(),
            "-" if !sum.is_start() => {
                sum.subtracts = true;
                sum.push(token);
            }
            "," | ":" | "=" | "<" | ">" | "!" => sum.end(&mut out, token),
            _ if WORDS.contains(&token) => sum.end(&mut out, token),
            _ => sum.push(token),
        }
        names_test = false;
    }
    sum.end(&mut out, "");
    out
}

/// The length up to the bracket that closes.
pub(super) fn group_len(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let len = token_len(&text[at..]);
        match &text[at..at + len] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        at += len;
    }
    text.len()
}

/// The operands of one run of `+`, the last still growing.
#[derive(Default)]
struct Sum {
    done: Vec<String>,
    last: String,
    subtracts: bool,
}

impl Sum {
    /// Whether no operand has begun, so that a sign would be its own.
    fn is_start(&self) -> bool {
        self.last.trim().is_empty()
    }

    fn push(&mut self, text: &str) {
        self.last.push_str(text);
    }

    fn operand(&mut self) {
        self.done.push(std::mem::take(&mut self.last));
    }

    /// Writes what there is, and the token that ends it.
    fn end(&mut self, out: &mut String, token: &str) {
        let Sum { mut done, last, subtracts } = std::mem::take(self);
        done.push(last);
        let operands: Vec<String> = done.iter().map(|operand| format(operand)).collect();
        if operands.len() == 1 || subtracts || operands.iter().any(|operand| operand.trim().is_empty()) {
            out.push_str(&operands.join("+"));
        } else {
            // Space at the ends stays outside, for the sake of words beside it.
            let all = operands.join(",");
            let start = all.len() - all.trim_start().len();
            let end = all.trim_end().len();
            out.push_str(&format!("{}([{}]|{SUM}){}", &all[..start], &all[start..end], &all[end..]));
        }
        out.push_str(token);
    }
}

/// `'…' % VALUE` as a filter, whatever is done with the result; any other operand as it is.
fn format(operand: &str) -> String {
    let start = operand.len() - operand.trim_start().len();
    let (left, rest) = operand[start..].split_at(token_len(&operand[start..]));
    let is_text = left.starts_with(['"', '\'']);
    match rest.trim_start().strip_prefix('%') {
        Some(right) if is_text => {
            let (value, rest) = right.split_at(value_len(right));
            format!("{}([{left},{value}]|{PERCENT}){rest}", &operand[..start])
        }
        _ => operand.to_owned(),
    }
}

/// The length of an operand up to the next operator that binds as tightly, or nearly.
fn value_len(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let len = token_len(&text[at..]);
        match &text[at..at + len] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "%" | "*" | "/" | "~" if depth == 0 => return at,
            _ => {}
        }
        at += len;
    }
    text.len()
}
