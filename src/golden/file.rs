//! Files of a check: read with a bound, named for people, and told apart.

use std::fs::{self, File};
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

/// Reads a file whole. Only regular files: a pipe has no end that could be waited for.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let read = || {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        read_to_end(File::open(path)?, metadata.len())
    };
    read().map_err(|error| unreadable(path, &error))
}

/// Reads in one go what a file is said to hold, and on from there if it has grown; no more than one byte past the
/// largest document.
fn read_to_end(mut file: File, len: u64) -> io::Result<Vec<u8>> {
    let most = limits::DOCUMENT_BYTES + 1;
    let expected = usize::try_from(len).unwrap_or(most).saturating_add(1).min(most);
    let mut bytes = vec![0; expected];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => {
                bytes.truncate(filled);
                return Ok(bytes);
            }
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    file.take((most - filled) as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
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

/// Refuses a symbolic link that leads out of a tree; `root` is that of the tree, with all links resolved.
pub fn stays_inside(path: &Path, root: &Path) -> Result<()> {
    if !path.is_symlink() {
        return Ok(());
    }
    let target = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
    if target.starts_with(root) {
        return Ok(());
    }
    Err(Error::new(Code::IoRead, "is a symbolic link that leads out of the folder that is checked")
        .with_hint("keep the file itself there, or check the folder it lies in")
        .with_source(name_of(path)))
}

/// Whether two paths lead to one file, by a symbolic or a hard link.
#[cfg(unix)]
pub fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    id(a).is_some() && id(a) == id(b)
}

/// Whether two paths lead to one file, by a symbolic link.
#[cfg(not(unix))]
pub fn is_same(a: &Path, b: &Path) -> bool {
    let resolved = || Some(fs::canonicalize(a).ok()? == fs::canonicalize(b).ok()?);
    resolved().unwrap_or(false)
}
