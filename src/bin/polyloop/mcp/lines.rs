//! Lines of standard input, none of which is held where it is too long.

use std::io::{self, BufRead, BufReader, Read};
use std::thread;

use tokio::sync::mpsc::{Receiver, channel};

use super::envelope::{Envelope, Scan};

/// A line of what a client sends.
#[derive(Debug)]
pub enum Line {
    /// One of a bearable length, without its end.
    Whole(Vec<u8>),
    /// One that is longer than [`MAX_LINE_BYTES`], of which only this is known.
    TooLong(Envelope),
}

/// The longest line that is taken. Requests are short: the longest thing in one is a query.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;

/// How many lines wait to be taken before no more are read.
const WAITING_LINES: usize = 8;

/// Reads lines on a thread of its own, which nobody waits for: where the client is silent it never ends.
///
/// # Errors
/// Where the system gives no thread.
pub fn read(input: impl Read + Send + 'static) -> io::Result<Receiver<Line>> {
    let (lines, taken) = channel(WAITING_LINES);
    thread::Builder::new().name("lines".to_owned()).spawn(move || {
        let mut input = BufReader::with_capacity(64 * 1024, input);
        // An input that fails has ended.
        while let Ok(Some(line)) = next(&mut input, MAX_LINE_BYTES) {
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(taken)
}

/// The next line; the last one need not be ended.
fn next(input: &mut impl BufRead, max_bytes: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut scan: Option<Scan> = None;
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() && line.is_empty() && scan.is_none() {
            return Ok(None);
        }
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        match &mut scan {
            Some(scan) => scan.push(part),
            None if line.len() + part.len() <= max_bytes => line.extend_from_slice(part),
            None => {
                let begun = scan.insert(Scan::default());
                begun.push(&line);
                begun.push(part);
                line = Vec::new();
            }
        }
        let is_last = bytes.is_empty();
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() || is_last {
            return Ok(Some(match scan {
                Some(scan) => Line::TooLong(scan.finish()),
                None => Line::Whole(line),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], max_bytes: usize) -> Vec<String> {
        let mut found = Vec::new();
        // A small buffer, so that lines are read in pieces.
        let mut input = BufReader::with_capacity(3, input);
        while let Some(line) = next(&mut input, max_bytes).unwrap() {
            found.push(match line {
                Line::Whole(bytes) => String::from_utf8(bytes).unwrap(),
                Line::TooLong(envelope) => format!("too long: {:?}", envelope.id.map(|id| id.to_string())),
            });
        }
        found
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        for (input, expected) in [
            ("", vec![]),
            ("\n", vec![""]),
            ("a", vec!["a"]),
            ("a\n", vec!["a"]),
            ("abcdefgh\n\nb\r\n", vec!["abcdefgh", "", "b\r"]),
            ("abcdefgh\nb", vec!["abcdefgh", "b"]),
        ] {
            assert_eq!(lines(input.as_bytes(), 8), expected, "{input:?}");
        }
    }

    #[test]
    fn a_line_too_long_is_passed_over_and_its_id_read() {
        let long = format!("{{\"params\":\"{}\",\"id\":7}}", "x".repeat(100));
        let input = format!("a\n{long}\nb\n{long}");
        let said = "too long: Some(\"7\")";
        assert_eq!(lines(input.as_bytes(), 10), ["a", said, "b", said]);
        assert_eq!(lines(b"123456789\n12345678\n", 8), ["too long: None", "12345678"]);
    }
}
