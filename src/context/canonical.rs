//! The canonical stream: the bytes that stand for a context, and so define equality.
//!
//! JSON Lines, one line a message, compact, UTF-8, keys in a fixed order, what a model meets first coming first.

use std::fmt;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::escape::write_escaped;
use super::{Content, Context, Json, Message, Text, ToolInput};

impl Context<'_> {
    /// Writes the canonical stream. Calls `write_all` for many small pieces: hand in a buffered writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_canonical<W: Write>(&self, out: &mut W) -> io::Result<()> {
        self.write_tools(out)?;
        self.messages.iter().try_for_each(|message| message.write_canonical(out))
    }

    /// Writes the line `{"tools":[...]}`, or nothing where there are none.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_tools<W: Write>(&self, out: &mut W) -> io::Result<()> {
        if self.tools.is_empty() {
            return Ok(());
        }
        out.write_all(b"{\"tools\":")?;
        write_list(out, &self.tools, Json::write_canonical)?;
        out.write_all(b"}\n")
    }

    /// The canonical stream as one vector of bytes.
    pub fn to_canonical(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_canonical(&mut bytes).expect("a vector takes every write");
        bytes
    }

    /// The length of the canonical stream in bytes.
    pub fn canonical_len(&self) -> u64 {
        let mut count = Count(0);
        self.write_tools(&mut count).expect("counting takes every write");
        count.0 + self.messages.iter().map(Message::canonical_len).sum::<u64>()
    }

    /// `sha256:` and the lower-case hex of the canonical stream.
    pub fn digest(&self) -> String {
        let mut canonical = Canonical::new(io::sink());
        self.write_canonical(&mut canonical).expect("a sink takes every write");
        canonical.finish().expect("a sink takes every flush").0
    }
}

impl Message<'_> {
    /// Writes the message's line of the canonical stream, with its final `\n`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_canonical<W: Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"{\"role\":\"")?;
        write_escaped(self.role.as_str(), out)?;
        out.write_all(b"\",\"content\":")?;
        write_list(out, &self.blocks, |block, out| block.content.write_canonical(out))?;
        out.write_all(b"}\n")
    }

    /// The length of that line in bytes.
    pub fn canonical_len(&self) -> u64 {
        if let Some(fingerprint) = self.fingerprint {
            return fingerprint.len;
        }
        let mut count = Count(0);
        self.write_canonical(&mut count).expect("counting takes every write");
        count.0
    }
}

/// Counts what is written.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Content<'_> {
    /// Writes the block as it stands in the canonical stream.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_canonical<W: Write>(&self, out: &mut W) -> io::Result<()> {
        // Pieces one by one: formatting would take longer than the writing.
        out.write_all(b"{\"type\":\"")?;
        out.write_all(self.kind().as_bytes())?;
        out.write_all(b"\"")?;
        match self {
            Content::Text(text) => write_text(out, "text", text)?,
            Content::Thinking { text, signature } => {
                write_text(out, "text", text)?;
                if let Some(signature) = signature {
                    write_text(out, "signature", signature)?;
                }
            }
            Content::ToolUse { id, name, input } => {
                write_text(out, "id", id)?;
                write_text(out, "name", name)?;
                match input {
                    ToolInput::Text(text) => write_text(out, "input", text)?,
                    ToolInput::Json(json) => write_json(out, "input", json)?,
                }
            }
            Content::ToolResult { tool_use_id, content, is_error, status } => {
                write_text(out, "tool_use_id", tool_use_id)?;
                out.write_all(b",\"content\":")?;
                write_list(out, content, Content::write_canonical)?;
                if let Some(is_error) = is_error {
                    write!(out, ",\"is_error\":{is_error}")?;
                }
                if let Some(status) = status {
                    write_text(out, "status", status)?;
                }
            }
            Content::Image { source, chars } => {
                write_json(out, "source", source)?;
                if let Some(chars) = chars {
                    write!(out, ",\"chars\":{chars}")?;
                }
            }
            Content::Opaque { kind, value } => {
                write_text(out, "kind", kind)?;
                write_json(out, "value", value)?;
            }
        }
        out.write_all(b"}")
    }
}

fn write_text<W: Write>(out: &mut W, key: &str, text: &Text<'_>) -> io::Result<()> {
    write_key(out, key)?;
    out.write_all(b"\"")?;
    text.write_escaped(out)?;
    out.write_all(b"\"")
}

fn write_json<W: Write>(out: &mut W, key: &str, json: &Json<'_>) -> io::Result<()> {
    write_key(out, key)?;
    json.write_canonical(out)
}

fn write_key<W: Write>(out: &mut W, key: &str) -> io::Result<()> {
    out.write_all(b",\"")?;
    out.write_all(key.as_bytes())?;
    out.write_all(b"\":")
}

fn write_list<W: Write, T>(
    out: &mut W,
    items: &[T],
    mut write: impl FnMut(&T, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write(item, out)?;
    }
    out.write_all(b"]")
}

/// A writer that gathers small writes into pieces of 64 KiB, hashes them and passes them on.
pub struct Canonical<W> {
    out: W,
    hash: Sha256,
    buffer: Vec<u8>,
    bytes: u64,
}

impl<W: Write> Canonical<W> {
    const PIECE: usize = 64 * 1024;

    /// Hashes and counts what is written on its way to `out`.
    pub fn new(out: W) -> Self {
        Canonical { out, hash: Sha256::new(), buffer: Vec::with_capacity(Self::PIECE), bytes: 0 }
    }

    /// The digest (`sha256:` and hex) and the number of bytes that were written.
    ///
    /// # Errors
    /// Those of the writer beneath.
    pub fn finish(mut self) -> io::Result<(String, u64)> {
        self.flush()?;
        Ok((digest_text(self.hash), self.bytes))
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.buffer);
        self.hash.update(&piece);
        let result = self.out.write_all(&piece);
        self.buffer = piece;
        self.buffer.clear();
        result
    }
}

impl<W: Write> Write for Canonical<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > Self::PIECE {
            self.pass_on()?;
        }
        if bytes.len() < Self::PIECE {
            self.buffer.extend_from_slice(bytes);
        } else {
            for piece in bytes.chunks(Self::PIECE) {
                self.hash.update(piece);
                self.out.write_all(piece)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.out.flush()
    }
}

/// `sha256:` and the hex.
pub(crate) fn digest_text(hash: Sha256) -> String {
    struct Hex<'a>(&'a [u8]);
    impl fmt::Display for Hex<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        }
    }
    format!("sha256:{}", Hex(&hash.finalize()))
}
