//! Files of a check: read with a bound, named for people, and told apart.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Code, Error, Result};
use crate::read::limits;

/// A path as it is shown: bytes that are not UTF-8 as `\xNN`, and so a backslash of its own as `\\`.
pub fn name_of(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        if cfg!(unix) {
            name.push_str(&chunk.valid().replace('\\', "\\\\"));
        } else {
            name.push_str(chunk.valid());
        }
        chunk.invalid().iter().for_each(|byte| name.push_str(&format!("\\x{byte:02x}")));
    }
    name
}

/// A file that was looked at, and opened if that told it apart from others already.
pub struct Looked {
    pub metadata: Metadata,
    file: Option<File>,
}

/// Looks at a file below a folder, which a symbolic link may not lead out of; `root` is the folder with all links
/// resolved. `is_plain` where the folder says that it is a file and no link: an open file tells of itself for less than
/// its path does.
pub fn look(path: &Path, root: &Path, is_plain: bool) -> Result<Looked> {
    let look = || {
        if is_plain {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            return Ok((Looked { metadata, file: Some(file) }, true));
        }
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_symlink() {
            return Ok((metadata.into(), true));
        }
        let target = fs::canonicalize(path)?;
        Ok((fs::metadata(path)?.into(), target.starts_with(root)))
    };
    match look().map_err(|error| unreadable(path, &error))? {
        (looked, true) => Ok(looked),
        _ => Err(Error::new(Code::IoRead, "is a symbolic link that leads out of the folder that is checked")
            .with_hint("keep the file itself there, or check the folder it lies in")
            .with_source(name_of(path))),
    }
}

impl From<Metadata> for Looked {
    fn from(metadata: Metadata) -> Self {
        Looked { metadata, file: None }
    }
}

/// Reads a file whole. Only regular files: a pipe has no end that could be waited for.
pub fn read<'r>(path: &Path, looked: Looked, room: &'r mut Vec<u8>) -> Result<&'r [u8]> {
    let Looked { metadata, file } = looked;
    let read = || {
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let file = file.map_or_else(|| File::open(path), Ok)?;
        read_to_end(file, metadata.len(), room)
    };
    match read() {
        Ok(filled) => Ok(&room[..filled]),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Reads in one go what a file is said to hold, and on from there if it has grown; no more than one byte past the
/// largest document.
fn read_to_end(mut file: File, len: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let most = limits::DOCUMENT_BYTES + 1;
    let expected = usize::try_from(len).unwrap_or(most).saturating_add(1).min(most);
    // What the room holds of other files is written over; only what is new has to be cleared.
    if bytes.len() < expected {
        bytes.resize(expected, 0);
    }
    let mut filled = 0;
    while filled < expected {
        match file.read(&mut bytes[filled..expected]) {
            Ok(0) => return Ok(filled),
            Ok(count) => {
                filled += count;
                // One byte more was asked for than the file is said to hold, and did not come: this is its end.
                if filled as u64 == len && filled < expected {
                    return Ok(filled);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    file.take((most - filled) as u64).read_to_end(bytes)?;
    Ok(bytes.len())
}

/// The error of something that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => "the symbolic link leads nowhere",
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::IsADirectory => "a folder does not end in .yaml, .yml or .json: rename one of the two",
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "nothing was written",
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or(&words).to_lowercase();
    Error::new(Code::IoRead, format!("cannot be read: {words}")).with_hint(hint).with_source(name_of(path))
}

/// Whether two paths lead to one file, by a symbolic or a hard link.
#[cfg(unix)]
pub fn is_same(a: (&Path, &Metadata), b: (&Path, &Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.1.dev(), a.1.ino()) == (b.1.dev(), b.1.ino())
}

/// Whether two paths lead to one file, by a symbolic link.
#[cfg(not(unix))]
pub fn is_same(a: (&Path, &Metadata), b: (&Path, &Metadata)) -> bool {
    let resolved = || Some(fs::canonicalize(a.0).ok()? == fs::canonicalize(b.0).ok()?);
    resolved().unwrap_or(false)
}
