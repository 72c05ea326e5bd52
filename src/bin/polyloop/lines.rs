//! Lines of a long input, some at a time.

use std::io::{self, BufRead, Read};

use polyloop::read::limits;

use crate::in_order::Held;

/// A piece is handed on once it has this many bytes or lines: enough that handing it on costs little beside the work,
/// few enough that a short batch is shared out too.
const PIECE_BYTES: usize = 64 * 1024;
const PIECE_LINES: usize = 64;

/// Some lines of an input, whole ones.
pub struct Piece {
    bytes: Vec<u8>,
    /// The number of its first line, counted from 0.
    first: usize,
    /// How much of the input has been read when it has been.
    pub end: usize,
}

impl Piece {
    /// The lines without their ends, whether they are text or not, with their numbers from 0.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let lines = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes).split(|byte| *byte == b'\n');
        lines.enumerate().map(|(number, line)| (self.first + number, line))
    }
}

impl Held for Piece {
    fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// An input, piece by piece, to its end or to where it cannot be read.
pub struct Pieces<R> {
    input: R,
    /// Bytes of a line that are held; a longer one is cut behind the first byte too many, so that it is refused for
    /// its length.
    most: usize,
    lines: usize,
    end: usize,
    is_over: bool,
    fault: Option<io::Error>,
}

impl<R: BufRead> Pieces<R> {
    pub fn new(input: R) -> Self {
        Pieces { input, most: limits::DOCUMENT_BYTES, lines: 0, end: 0, is_over: false, fault: None }
    }

    /// Why there are no more, if that is not the end.
    pub fn into_fault(self) -> Option<io::Error> {
        self.fault
    }

    /// Reads a line and gives its length in the input.
    fn line(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let read = self.input.by_ref().take(self.most as u64 + 1).read_until(b'\n', bytes)?;
        if read <= self.most || bytes.ends_with(b"\n") {
            return Ok(read);
        }
        let rest = self.input.skip_until(b'\n')?;
        bytes.push(b'\n');
        Ok(read + rest)
    }
}

impl<R: BufRead> Iterator for Pieces<R> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let mut piece = Piece { bytes: Vec::new(), first: self.lines, end: self.end };
        while !self.is_over && piece.bytes.len() < PIECE_BYTES && self.lines - piece.first < PIECE_LINES {
            let before = piece.bytes.len();
            match self.line(&mut piece.bytes) {
                Ok(0) => self.is_over = true,
                Ok(read) => {
                    self.lines += 1;
                    self.end += read;
                }
                Err(error) => {
                    piece.bytes.truncate(before);
                    self.is_over = true;
                    self.fault = Some(error);
                }
            }
        }
        piece.end = self.end;
        (self.lines > piece.first).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines<R: BufRead>(pieces: &mut Pieces<R>) -> Vec<(usize, String)> {
        let pieces: Vec<Piece> = pieces.collect();
        let lines = pieces.iter().flat_map(Piece::lines);
        lines.map(|(number, line)| (number, String::from_utf8_lossy(line).into_owned())).collect()
    }

    #[test]
    fn lines_are_those_of_the_input() {
        for text in ["a\nb", "a\n\nb\r\n", "\n\na", "a", "\n"] {
            let wanted = text.strip_suffix('\n').unwrap_or(text).split('\n').map(str::to_owned);
            let wanted: Vec<_> = wanted.enumerate().collect();
            assert_eq!(lines(&mut Pieces::new(text.as_bytes())), wanted, "{text:?}");
        }
        assert_eq!(lines(&mut Pieces::new(&b""[..])), []);
    }

    #[test]
    fn numbers_go_on_from_piece_to_piece() {
        let text: String = (0..1000).map(|number| format!("{number}\n")).collect();
        let mut pieces = Pieces::new(text.as_bytes());
        assert!(lines(&mut pieces).iter().all(|(number, line)| *line == number.to_string()));
        assert_eq!((pieces.lines, pieces.end), (1000, text.len()));
    }

    #[test]
    fn of_a_line_that_is_too_long_one_byte_too_many_is_held() {
        for (text, wanted) in [
            ("1234\na", ["1234", "a"]),
            ("12345\na", ["12345", "a"]),
            ("123456789\na\n", ["12345", "a"]),
            ("a\n123456789", ["a", "12345"]),
        ] {
            let mut pieces = Pieces { most: 4, ..Pieces::new(text.as_bytes()) };
            let lines: Vec<String> = lines(&mut pieces).into_iter().map(|(_, line)| line).collect();
            assert_eq!(lines, wanted, "{text:?}");
            assert_eq!(pieces.end, text.len(), "{text:?}");
        }
    }

    #[test]
    fn whole_lines_come_before_a_fault() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut pieces = Pieces::new(io::BufReader::new(b"a\nb\nc".chain(Broken)));
        assert_eq!(lines(&mut pieces), [(0, "a".to_owned()), (1, "b".to_owned())]);
        assert!(pieces.next().is_none());
        assert!(pieces.into_fault().is_some());
    }
}
