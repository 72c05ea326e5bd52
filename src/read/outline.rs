//! A YAML document without the text of its large literal block scalars, and of those in double quotes that are spelled as
//! the canonical stream spells.
//!
//! The scan only proposes: it takes lines out that look like such text, leaves one line in their stead, and the parser
//! then says whether that line is a block scalar of its own ([`super::yaml::parse_outline`]). The header of a block, the
//! blank lines round its text and everything else stay where they are, so what they mean is for the parser alone to say.
//! All that is taken for granted here is that in a block scalar which is indented by `n` spaces, the lines that are blank
//! or begin with `n` spaces belong to it.

use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::lines::{Lines, lines};
use super::node::Span;
use super::pieces;
use crate::context::masks::spaces_at;
use crate::context::{Form, Scanned, Store, Stored, Text, scan};

/// The document, and what was taken out of it.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The document with a line in the stead of each text.
    pub text: String,
    /// The texts, in the order of the document.
    pub blocks: Vec<Block>,
}

/// What may be the text of a literal block scalar: the lines of a file from the first to the last that is not blank. Or
/// what stands between two double quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Whether it stands in double quotes.
    pub is_quoted: bool,
    /// Where in the outline its stand-in is, in bytes.
    pub stand_in: usize,
    /// How many spaces stand before that.
    pub spaces: usize,
    /// Where in the file its first line begins, in bytes.
    pub place: u64,
    /// Its length in the file in bytes, without the line break behind the last line.
    pub len: usize,
    /// How many spaces its lines are indented by.
    pub indent: usize,
    /// Size of the text itself.
    pub chars: u64,
    /// The same in bytes.
    pub bytes: u64,
    /// A hash of its bytes in the file, where it is to be compared.
    pub hash: Option<u64>,
}

/// What stands for a text.
const STAND_IN: &str = "text";

impl Outline {
    /// For a parser to meet.
    pub(super) fn stand_ins<'a>(&'a self, store: &'a Store) -> StandIns<'a> {
        StandIns { left: &self.blocks, store }
    }
}

/// The lines of an outline that stand for text which was taken out.
pub(super) struct StandIns<'a> {
    /// Those that have not been met yet, in the order of the document.
    left: &'a [Block],
    store: &'a Store,
}

impl<'a> StandIns<'a> {
    /// The next one, if a scalar holds it.
    pub fn in_span(&mut self, span: Span) -> Option<&'a Block> {
        let (next, left) = self.left.split_first()?;
        let is_inside = next.stand_in < span.end;
        self.left = if is_inside { left } else { self.left };
        is_inside.then_some(next)
    }

    /// The text that was taken out, if the parser found the stand-in to be all the text of a block scalar, indented as
    /// the text was taken to be.
    pub fn text(&self, block: &Block, value: &str, span: Span) -> Option<Text<'a>> {
        let &Block { place, len, indent, chars, bytes, hash, .. } = block;
        if block.is_quoted {
            let stored = Stored::new(self.store, place, len, Form::Escaped, hash)?;
            let mut text = Text::default();
            text.push_stored(stored, chars, bytes);
            return (value == STAND_IN && span.start + 1 == block.stand_in).then_some(text);
        }
        let line = value.trim_start_matches('\n');
        let before = &value[..value.len() - line.len()];
        let more = block.spaces - block.indent;
        let behind = line.strip_prefix(&" ".repeat(more))?.strip_prefix(STAND_IN)?;
        if !behind.bytes().all(|byte| byte == b'\n') || span.start + more != block.stand_in {
            return None;
        }
        let form = Form::Block { indent: u16::try_from(indent).ok()? };
        let stored = Stored::new(self.store, place, len, form, hash)?;
        let breaks = |breaks: &str| if breaks == "\n" { Cow::Borrowed("\n") } else { Cow::Owned(breaks.to_owned()) };
        let mut text = Text::default();
        text.push_plain(breaks(before));
        text.push_stored(stored, chars, bytes);
        text.push_plain(breaks(behind));
        Some(text)
    }

    /// Whether all of them have been met.
    pub fn is_over(&self) -> bool {
        self.left.is_empty()
    }
}

/// How a file is scanned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    /// How much of the file is read at once, in bytes.
    pub window: usize,
    /// The length of the shortest text that is taken out, in bytes.
    pub least: usize,
    /// Whether what is taken out is to be compared.
    pub hashed: bool,
    /// Whether a second thread may be started to read.
    pub own_thread: bool,
}

impl Scan {
    /// Scans a file from its start, until `stop` is set. `None` is what has to be read whole: what is no YAML, and what is mostly not block
    /// scalars.
    pub fn outline<R: Read + Seek + Send>(self, file: &mut R, stop: &AtomicBool) -> Option<Outline> {
        let len = file.seek(SeekFrom::End(0)).ok()?;
        file.seek(SeekFrom::Start(0)).ok()?;
        let most = (len / 4) as usize + (64 << 10);
        let state = State::Between;
        let mut scanner =
            Scanner { text: Vec::new(), blocks: Vec::new(), most, least: self.least, hashed: self.hashed, state };
        let mut place = 0;
        pieces::each(file, self.window, self.own_thread, |piece| {
            let bytes = piece.bytes();
            let mut at = 0;
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            if place == 0 {
                at = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
                // JSON and flow style hold no block scalars.
                if bytes[at..].trim_ascii_start().starts_with(b"{") || bytes[at..].trim_ascii_start().starts_with(b"[")
                {
                    return None;
                }
            }
            let used = scanner.take(bytes, at, place, piece.is_last)?;
            place += used as u64;
            (bytes.len() - used <= most).then_some(used)
        })?;
        let Scanner { text, blocks, .. } = scanner;
        // What is refused before the parser sees it.
        let is_fine = place == len && !text.starts_with(MARK) && !blocks.is_empty();
        Some(Outline { text: String::from_utf8(text).ok().filter(|_| is_fine)?, blocks })
    }
}

/// A byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Goes through a document line by line.
struct Scanner {
    /// The outline so far.
    text: Vec<u8>,
    blocks: Vec<Block>,
    /// How large the outline may get.
    most: usize,
    least: usize,
    hashed: bool,
    state: State,
}

enum State {
    /// Outside of what is taken out.
    Between,
    /// Behind the header of a block, before its text.
    Behind(Header),
    /// In a line of a text that is being taken out.
    Within(Box<Taken>),
}

impl Scanner {
    /// Takes what can be taken of the text in sight, from `at` on, and tells how far that is. `None` is what has to be
    /// read whole.
    fn take(&mut self, bytes: &[u8], mut at: usize, place: u64, is_last: bool) -> Option<usize> {
        loop {
            match &mut self.state {
                State::Between => {
                    let line = match memchr::memchr(b'\n', &bytes[at..]) {
                        Some(len) => &bytes[at..=at + len],
                        None if is_last && at < bytes.len() => &bytes[at..],
                        None => return Some(at),
                    };
                    match Quoted::of(line).filter(|quoted| quoted.size.len >= self.least) {
                        Some(quoted) => self.take_quoted(quoted, line, place + at as u64)?,
                        None => {
                            if let Some(header) = Header::of(line.strip_suffix(b"\n").unwrap_or(line)) {
                                self.state = State::Behind(header);
                            }
                            self.keep(line)?;
                        }
                    }
                    at += line.len();
                }
                State::Behind(header) => {
                    let spaces = spaces_at(bytes, at, usize::MAX);
                    let indent = header.indent.unwrap_or(spaces);
                    match bytes.get(at + spaces) {
                        None if !is_last => return Some(at),
                        Some(b'\n') if header.indent.is_none() || spaces <= indent => {
                            self.keep(&bytes[at..=at + spaces])?;
                            at += spaces + 1;
                        }
                        Some(_) if header.parent < indent && indent <= spaces => {
                            let lines = lines(bytes, at + indent, indent, is_last);
                            let raw = &bytes[at..lines.end];
                            if raw.len() >= self.least {
                                let taken = Taken::at(place + at as u64, spaces, indent, self.hashed);
                                at = lines.end;
                                self.take_out(Box::new(taken), raw, lines)?;
                            } else if lines.is_whole {
                                self.state = State::Between;
                                at = lines.end;
                                self.keep(raw)?;
                            }
                            if !lines.is_whole {
                                return Some(at);
                            }
                        }
                        _ => self.state = State::Between,
                    }
                }
                State::Within(_) => {
                    let State::Within(taken) = std::mem::replace(&mut self.state, State::Between) else { return None };
                    let lines = lines(bytes, at, taken.indent, is_last);
                    let raw = &bytes[at..lines.end];
                    at = lines.end;
                    self.take_out(taken, raw, lines)?;
                    if !lines.is_whole {
                        return Some(at);
                    }
                }
            }
        }
    }

    /// Takes lines out; behind the last of them something stands for all.
    fn take_out(&mut self, mut taken: Box<Taken>, raw: &[u8], lines: Lines) -> Option<()> {
        taken.add(raw, lines);
        if !lines.is_whole {
            self.state = State::Within(taken);
            return Some(());
        }
        self.state = State::Between;
        self.keep(&vec![b' '; taken.spaces])?;
        self.blocks.push(taken.block(self.text.len()));
        self.keep(STAND_IN.as_bytes())
    }

    /// Takes out what stands between the quotes of a line that begins at byte `place` of the file.
    fn take_quoted(&mut self, quoted: Quoted, line: &[u8], place: u64) -> Option<()> {
        let Quoted { start, size } = quoted;
        let end = start + size.len;
        self.keep(&line[..start])?;
        self.blocks.push(Block {
            is_quoted: true,
            stand_in: self.text.len(),
            spaces: 0,
            place: place + start as u64,
            len: size.len,
            indent: 0,
            chars: size.chars as u64,
            bytes: (size.len - size.saved) as u64,
            hash: self.hashed.then(|| xxh3_64(&line[start..end])),
        });
        self.keep(STAND_IN.as_bytes())?;
        self.keep(&line[end..])
    }

    fn keep(&mut self, line: &[u8]) -> Option<()> {
        self.text.extend_from_slice(line);
        (self.text.len() <= self.most).then_some(())
    }
}

/// Lines that are being taken out.
struct Taken {
    place: u64,
    spaces: usize,
    indent: usize,
    len: usize,
    /// Bytes of indentation, and bytes that begin no character.
    indentation: usize,
    continuations: usize,
    hash: Option<Xxh3Default>,
}

impl Taken {
    fn at(place: u64, spaces: usize, indent: usize, hashed: bool) -> Self {
        let hash = hashed.then(Xxh3Default::new);
        // The indentation of the first line.
        Taken { place, spaces, indent, len: 0, indentation: indent, continuations: 0, hash }
    }

    fn add(&mut self, raw: &[u8], lines: Lines) {
        self.len += raw.len();
        self.indentation += lines.indentation;
        self.continuations += lines.continuations;
        if let Some(hash) = &mut self.hash {
            hash.update(raw);
        }
    }

    fn block(&self, stand_in: usize) -> Block {
        let bytes = self.len - self.indentation;
        Block {
            is_quoted: false,
            stand_in,
            spaces: self.spaces,
            place: self.place,
            len: self.len,
            indent: self.indent,
            chars: (bytes - self.continuations) as u64,
            bytes: bytes as u64,
            hash: self.hash.as_ref().map(Xxh3Default::digest),
        }
    }
}

/// The end of a line that may be a value in double quotes.
struct Quoted {
    /// Where the text begins in the line, behind its quote.
    start: usize,
    size: Scanned,
}

impl Quoted {
    /// Behind `- ` or `key: `, text in double quotes up to the end of the line, in which JSON and YAML mean the same.
    fn of(line: &[u8]) -> Option<Quoted> {
        let start = memchr::memchr(b'"', line)? + 1;
        let before = &line[..start - 1];
        let is_value = before.ends_with(b" ") && before.trim_ascii_end().ends_with(b":") || before.trim_ascii() == b"-";
        let size = scan(&line[start..]).ok().filter(|size| is_value && size.is_canonical)?;
        line[start + size.len + 1..].trim_ascii().is_empty().then_some(Quoted { start, size })
    }
}

/// The end of a line that may be the header of a literal block scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// The column of what the block is a value of: its lines are indented more.
    parent: usize,
    /// How they are indented, where that is stated.
    indent: Option<usize>,
}

impl Header {
    /// Behind `- ` or `key: `, `|` with indicators and perhaps a comment.
    fn of(line: &[u8]) -> Option<Header> {
        let mut parent = spaces_at(line, 0, usize::MAX);
        let mut at = parent;
        while line[at..].starts_with(b"- ") {
            parent = at;
            at += 1 + spaces_at(line, at + 1, usize::MAX);
        }
        match line.get(at) {
            Some(b'|') if at > parent => return Header::behind(&line[at + 1..], parent),
            None | Some(b'#') => return None,
            Some(_) => parent = at,
        }
        memchr::memchr_iter(b'|', line).find_map(|bar| {
            let before = line[..bar].trim_ascii_end();
            let is_value = before.len() < bar && before.ends_with(b":");
            is_value.then(|| Header::behind(&line[bar + 1..], parent)).flatten()
        })
    }

    fn behind(rest: &[u8], parent: usize) -> Option<Header> {
        let is_indicator = |byte: &&u8| matches!(byte, b'+' | b'-' | b'1'..=b'9');
        let (indicators, behind) = rest.split_at(rest.iter().take_while(is_indicator).count());
        let comment = behind.trim_ascii_start();
        let is_end = comment.is_empty() || comment.starts_with(b"#") && comment.len() < behind.len();
        let digit = indicators.iter().find(|byte| byte.is_ascii_digit());
        let indent = digit.map(|digit| parent + usize::from(digit - b'0'));
        (is_end && indicators.len() <= 2).then_some(Header { parent, indent })
    }
}
