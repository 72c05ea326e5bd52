//! The hash that stands for a content: sources are told apart and verified by it.

use std::fmt;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use crate::context::Content;

/// SHA-256 of a content: of a single text its UTF-8 bytes, of anything else the blocks as a list in the canonical
/// stream's spelling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Reads `sha256:` and 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64)?.as_bytes();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        for (byte, digits) in hash.iter_mut().zip(hex.chunks(2)) {
            *byte = digit(digits[0])? << 4 | digit(digits[1])?;
        }
        Some(ContentHash(hash))
    }

    /// That of some blocks.
    pub fn of<'c, 'a: 'c>(blocks: impl IntoIterator<Item = &'c Content<'a>>) -> Self {
        let mut hasher = Hasher(Sha256::new());
        let mut blocks = blocks.into_iter().peekable();
        let first = blocks.next();
        if let (Some(Content::Text(text)), None) = (first, blocks.peek()) {
            text.chunks().for_each(|chunk| hasher.0.update(chunk.as_bytes()));
            return hasher.finish();
        }
        let mut separator: &[u8] = b"[";
        let mut write = |block: &Content<'_>| {
            hasher.write_all(separator)?;
            separator = b",";
            block.write_canonical(&mut hasher)
        };
        first.into_iter().chain(blocks).try_for_each(&mut write).expect("hashing takes every write");
        hasher.0.update(if first.is_none() { &b"[]"[..] } else { b"]" });
        hasher.finish()
    }

    /// That of some bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut hasher = Hasher(Sha256::new());
        hasher.0.update(bytes);
        hasher.finish()
    }
}

struct Hasher(Sha256);

impl Hasher {
    fn finish(self) -> ContentHash {
        ContentHash(self.0.finalize().into())
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Text;

    #[test]
    fn a_text_is_known_by_its_bytes_however_it_is_written() {
        let known = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let hash = ContentHash::of(&[Content::Text(Text::plain("hello"))]);
        assert_eq!(hash.to_string(), known);
        assert_eq!(ContentHash::parse(known), Some(hash));
        assert_eq!(ContentHash::of_bytes(b"hello"), hash);
    }

    #[test]
    fn other_contents_are_known_by_the_list_of_their_blocks() {
        let text = || Content::Text(Text::plain("a"));
        let list = br#"[{"type":"text","text":"a"},{"type":"text","text":"a"}]"#;
        assert_eq!(ContentHash::of(&[text(), text()]), ContentHash::of_bytes(list));
        assert_eq!(ContentHash::of(&[]), ContentHash::of_bytes(b"[]"));
    }

    #[test]
    fn other_spellings_of_a_hash_are_refused() {
        let hex = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        for text in [hex.to_owned(), format!("sha256:{}", hex.to_uppercase()), format!("sha256:{}", &hex[1..])] {
            assert_eq!(ContentHash::parse(&text), None, "{text}");
        }
    }
}
