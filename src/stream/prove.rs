//! A request against its golden, both of them read in windows.

use std::io::{self, Read, Seek, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::digest::Digester;
use super::walk::Sink;
use super::{Options, Place};
use crate::context::{Context, Message};

/// A golden that holds the very bytes of its request's canonical stream.
#[derive(Debug)]
pub(crate) struct Proved {
    /// Length of the stream.
    pub bytes: u64,
    /// XXH3, 128 bits, of the stream.
    pub hash: u128,
    /// The digest, where it was asked for.
    pub digest: Option<String>,
}

/// Compares a request in JSON with a golden, byte for byte. `None` says nothing but that both have to be read whole: they
/// may differ, or the request may be invalid or another kind of document. `open` opens the golden at its start.
pub(crate) fn prove<R: Read + Seek, G: Read>(
    file: &mut R,
    mut open: impl FnMut() -> io::Result<G>,
    options: Options,
) -> Option<Proved> {
    let walked = options
        .walk()
        .through(file, || Compare { golden: open().ok().map(Golden::new), digester: options.digester() })?;
    let Compare { golden, digester } = walked.sink;
    let mut golden = golden?;
    golden.is_at_end().ok()?.then(|| Proved {
        bytes: golden.len,
        hash: golden.hash.digest128(),
        digest: digester.map(|digester| digester.finish().wait()),
    })
}

/// Ends the walk at the first byte that differs.
struct Compare<G> {
    golden: Option<Golden<G>>,
    digester: Option<Digester>,
}

impl<G: Read> Compare<G> {
    fn put(&mut self, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Option<()> {
        write(self.golden.as_mut()?).ok()?;
        self.digester.as_mut().map_or(Some(()), |digester| write(digester).ok())
    }
}

impl<G: Read> Sink for Compare<G> {
    fn begin(&mut self, context: &Context<'_>) -> Option<()> {
        self.put(|mut out| context.write_canonical(&mut out))
    }

    fn message(&mut self, message: &Message<'_>, _: Place<'_>) -> Option<()> {
        self.put(|mut out| message.write_canonical(&mut out))
    }
}

/// Takes what is written to it for as long as the golden holds the same.
struct Golden<G> {
    golden: G,
    bytes: Vec<u8>,
    /// What has been read and not been compared.
    from: usize,
    until: usize,
    hash: Xxh3Default,
    len: u64,
}

impl<G: Read> Golden<G> {
    const PIECE: usize = 64 << 10;

    fn new(golden: G) -> Self {
        Golden { golden, bytes: vec![0; Self::PIECE], from: 0, until: 0, hash: Xxh3Default::new(), len: 0 }
    }

    fn is_at_end(&mut self) -> io::Result<bool> {
        while self.from == self.until {
            match self.golden.read(&mut self.bytes) {
                Ok(0) => return Ok(true),
                Ok(read) => {
                    (self.from, self.until) = (0, read);
                    self.hash.update(&self.bytes[..read]);
                    self.len += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

impl<G: Read> Write for Golden<G> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() || self.is_at_end()? {
            return Ok(0);
        }
        let both = bytes.len().min(self.until - self.from);
        if self.bytes[self.from..self.from + both] != bytes[..both] {
            return Err(io::Error::other("the golden differs"));
        }
        self.from += both;
        Ok(both)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{self, Format};
    use crate::{assemble, stream::Sizes};

    fn proves(request: &str, golden: &[u8], window: usize) -> Option<Proved> {
        let sizes = Sizes { window, ..Sizes::default() };
        let options = Options { digest: true, sizes, ..Options::default() };
        prove(&mut io::Cursor::new(request), || Ok(io::Cursor::new(golden)), options)
    }

    #[test]
    fn every_flipped_cut_or_added_byte_is_seen() {
        for request in [
            r#"{"observation_template":"<{observation}>","trajectory":[{"raw_output":"a","observation":"b\n"}]}"#,
            r#"{"trajectory":[{"raw_output":"é","observation":"b"}],"observation_template":"<{observation}>","tools":[{}]}"#,
            r#"{"goal":[{"role":"user","content":"hi"}]}"#,
            "{}",
        ] {
            let parsed = read::request(request, Some(Format::Json)).unwrap();
            let context = assemble(&parsed, None).unwrap();
            let golden = context.to_canonical();
            for window in [1, 7, 4096] {
                let proved = proves(request, &golden, window).unwrap();
                assert_eq!(proved.bytes, golden.len() as u64);
                assert_eq!(proved.hash, xxhash_rust::xxh3::xxh3_128(&golden));
                assert_eq!(proved.digest, Some(context.digest()));
                for at in 0..golden.len() {
                    let mut flipped = golden.clone();
                    flipped[at] ^= 1;
                    assert!(proves(request, &flipped, window).is_none(), "{request} {at}");
                    assert!(proves(request, &golden[..at], window).is_none(), "{request} {at}");
                }
                assert!(proves(request, &[&golden[..], b"\n"].concat(), window).is_none());
                assert!(proves(&request[1..], &golden, window).is_none());
            }
        }
    }
}
