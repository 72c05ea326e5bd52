//! Content that stands in files: whoever knows where they are reads them, and gives them to the request.

use std::collections::HashMap;
use std::ops::Range;

use super::fragments::{Body, FileRange, Fragment, LineRange};
use super::{ContentHash, RunRequest};
use crate::context::{Content, Text};
use crate::error::{Code, Error, Result};

/// Where files named in a request are read from.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    /// `fragment.path_outside` for a path that leads out of where files may be read; `io.read` for what is there but
    /// cannot be read, or is not; `request.encoding` for what is not UTF-8; `request.limit` for what is too large.
    fn read(&self, path: &str) -> Result<String>;
}

impl<'a> RunRequest<'a> {
    /// The same request with the content of all files it names, verified where it gives a hash.
    ///
    /// # Errors
    /// Those of reading, `request.limit` for files that come to more than [`RunRequest::MAX_FILE_BYTES`], `fragment.lines` for lines a file does not have, and `fragment.hash_mismatch`; with the path of
    /// the fragment's part. [`place`](crate::read::place) finds its line and column.
    pub fn resolve(mut self, files: &impl Files) -> Result<Self> {
        let mut shelf = Shelf::default();
        for fragment in &self.parts.fragments {
            if let Body::File(file) = &fragment.body {
                *shelf.uses.entry(file.path.clone().into_owned()).or_default() += 1;
            }
        }
        for (index, fragment) in self.parts.fragments.iter_mut().enumerate() {
            let Body::File(file) = &fragment.body else { continue };
            let content =
                shelf.content(file, files).map_err(|error| error.under(&format!("fragments[{index}].file")))?;
            fragment.body = Body::Read { file: file.clone(), content: vec![Content::Text(content)] };
            verify(fragment).map_err(|error| error.under(&format!("fragments[{index}]")))?;
        }
        self.check_frames()?;
        Ok(self)
    }

    /// Whether there are files to be read.
    pub fn has_files(&self) -> bool {
        self.parts.fragments.iter().any(|fragment| matches!(fragment.body, Body::File(_)))
    }
}

/// The hash that is given must be that of the content.
pub(super) fn verify(fragment: &Fragment<'_>) -> Result<()> {
    let (Some(given), Some(content)) = (fragment.content_hash, fragment.content()) else { return Ok(()) };
    let found = ContentHash::of(content);
    if given == found {
        return Ok(());
    }
    let hint = match fragment.file() {
        Some(FileRange { path, lines: Some(_) }) => {
            format!("{path} has changed since, or other lines are meant: the hash is that of the lines named")
        }
        Some(FileRange { path, lines: None }) => format!("{path} has changed since: read it again"),
        None => "the content has changed since, or is not the text that was hashed".to_owned(),
    };
    Err(Error::new(Code::FragmentHashMismatch, format!("the content of {:?} hashes to {found}", fragment.id))
        .with_hint(hint)
        .with_path(".content_hash"))
}

/// Files that were read and are named again: each is read once, and let go behind its last use.
#[derive(Default)]
struct Shelf {
    uses: HashMap<String, usize>,
    held: HashMap<String, Held>,
    read_bytes: u64,
    given_bytes: u64,
}

struct Held {
    text: String,
    /// Where each line begins, and the end; once somebody asks for lines.
    lines: Option<Vec<usize>>,
}

impl Shelf {
    fn content(&mut self, file: &FileRange<'_>, files: &impl Files) -> Result<Text<'static>> {
        let mut held = match self.held.remove(&*file.path) {
            Some(held) => held,
            None => {
                let text = files.read(&file.path).map_err(|error| error.or_path(|| ".path".to_owned()))?;
                self.read_bytes += text.len() as u64;
                Held { text, lines: None }
            }
        };
        let range = match file.lines {
            None => 0..held.text.len(),
            Some(lines) => held.cut(lines).map_err(|there_are| no_such_lines(file, lines, there_are))?,
        };
        self.given_bytes += range.len() as u64;
        if self.read_bytes.max(self.given_bytes) > RunRequest::MAX_FILE_BYTES {
            let most = RunRequest::MAX_FILE_BYTES;
            let message = format!("the files of the request come to too much: polyloop's limit is {most} bytes");
            return Err(Error::new(Code::RequestLimit, message)
                .with_hint("name the lines that are wanted, of fewer files")
                .with_path(".path"));
        }
        let uses = self.uses.get_mut(&*file.path);
        let is_last = uses.is_none_or(|uses| {
            *uses -= 1;
            *uses == 0
        });
        if !is_last {
            let content = held.text[range].to_owned();
            self.held.insert(file.path.clone().into_owned(), held);
            return Ok(Text::plain(content));
        }
        if range.len() == held.text.len() {
            return Ok(Text::plain(held.text));
        }
        Ok(Text::plain(held.text[range].to_owned()))
    }
}

impl Held {
    /// Where lines lie in the text, their line feeds included; or how many there are, if there are too few.
    fn cut(&mut self, lines: LineRange) -> Result<Range<usize>, u64> {
        let starts = self.lines.get_or_insert_with(|| {
            let ends = self.text.split_inclusive('\n').scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            });
            std::iter::once(0).chain(ends).collect()
        });
        let there_are = starts.len() as u64 - 1;
        if lines.last() > there_are {
            return Err(there_are);
        }
        let at = |line: u64| usize::try_from(line).ok().and_then(|line| starts.get(line).copied());
        Ok(at(lines.first() - 1).unwrap_or(0)..at(lines.last()).unwrap_or(0))
    }
}

fn no_such_lines(file: &FileRange<'_>, lines: LineRange, there_are: u64) -> Error {
    let message = format!("{} has {there_are} lines, not the lines {} to {}", file.path, lines.first(), lines.last());
    Error::new(Code::FragmentLines, message).with_hint("lines count from 1, both ends included").with_path(".lines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_ends() {
        let range = |first, last| LineRange::new(first, last).unwrap();
        let cut = |text: &str, lines| {
            let mut held = Held { text: text.to_owned(), lines: None };
            held.cut(lines).map(|range| text[range].to_owned())
        };
        let text = "a\r\nb\n\nd";
        assert_eq!(cut(text, range(1, 1)).as_deref(), Ok("a\r\n"));
        assert_eq!(cut(text, range(2, 3)).as_deref(), Ok("b\n\n"));
        assert_eq!(cut(text, range(4, 4)).as_deref(), Ok("d"));
        assert_eq!(cut(text, range(4, 5)), Err(4));
        assert_eq!(cut(text, range(u64::MAX, u64::MAX)), Err(4));
        assert_eq!(cut("", range(1, 1)), Err(0));
    }

    #[test]
    fn a_file_is_read_once() {
        struct Counting(std::cell::RefCell<Vec<String>>);
        impl Files for Counting {
            fn read(&self, path: &str) -> Result<String> {
                self.0.borrow_mut().push(path.to_owned());
                Ok(format!("one\n{path}\n"))
            }
        }
        let yaml = "fragments:
  - {id: a, kind: evidence, file: {path: x}}
  - {id: b, kind: evidence, file: {path: y, lines: [2, 2]}}
  - {id: c, kind: evidence, file: {path: x, lines: [2, 2]}}
  - {id: d, kind: evidence, file: {path: x}}";
        let files = Counting(std::cell::RefCell::default());
        let request = crate::read::request(yaml, Some(crate::read::Format::Yaml)).unwrap().resolve(&files).unwrap();
        let texts: Vec<String> = request.parts().fragments.iter().map(|it| it.text().unwrap().to_string()).collect();
        assert_eq!(texts, ["one\nx\n", "y\n", "x\n", "one\nx\n"]);
        assert_eq!(files.0.into_inner(), ["x", "y"]);
    }
}
