//! Content that stands in files: whoever knows where they are reads them, and gives them to the request.

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
    /// Those of reading, `fragment.lines` for lines a file does not have, and `fragment.hash_mismatch`; with the path of
    /// the fragment's part. [`place`](crate::read::place) finds its line and column.
    pub fn resolve(mut self, files: &impl Files) -> Result<Self> {
        for (index, fragment) in self.parts.fragments.iter_mut().enumerate() {
            let Body::File(file) = &fragment.body else { continue };
            let content = content(file, files).map_err(|error| error.under(&format!("fragments[{index}].file")))?;
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

fn content(file: &FileRange<'_>, files: &impl Files) -> Result<Text<'static>> {
    let text = files.read(&file.path).map_err(|error| error.or_path(|| ".path".to_owned()))?;
    match file.lines {
        None => Ok(Text::plain(text)),
        Some(lines) => match cut(&text, lines) {
            Ok(range) => Ok(Text::plain(text[range].to_owned())),
            Err(there_are) => {
                let message =
                    format!("{} has {there_are} lines, not the lines {} to {}", file.path, lines.first(), lines.last());
                Err(Error::new(Code::FragmentLines, message)
                    .with_hint("lines count from 1, both ends included")
                    .with_path(".lines"))
            }
        },
    }
}

/// Where lines lie in a text, their line feeds included; or how many there are, if there are too few.
fn cut(text: &str, lines: LineRange) -> Result<std::ops::Range<usize>, u64> {
    let (mut start, mut at, mut number) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        number += 1;
        if number == lines.first() {
            start = at;
        }
        at += line.len();
        if number == lines.last() {
            return Ok(start..at);
        }
    }
    Err(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_ends() {
        let range = |first, last| LineRange::new(first, last).unwrap();
        let text = "a\r\nb\n\nd";
        assert_eq!(cut(text, range(1, 1)).map(|r| &text[r]), Ok("a\r\n"));
        assert_eq!(cut(text, range(2, 3)).map(|r| &text[r]), Ok("b\n\n"));
        assert_eq!(cut(text, range(4, 4)).map(|r| &text[r]), Ok("d"));
        assert_eq!(cut(text, range(4, 5)), Err(4));
        assert_eq!(cut("", range(1, 1)), Err(0));
    }
}
