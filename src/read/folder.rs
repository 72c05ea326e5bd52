//! Files named in a request, read from its folder and never from outside.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::limits;
use crate::error::{Code, Error, Result};
use crate::request::Files;

/// The folder of a request. Paths in the request are relative to it.
#[derive(Clone, Debug)]
pub struct Folder {
    base: PathBuf,
    root: PathBuf,
}

impl Folder {
    /// Reads below `base`, the folder of the request; or from anywhere below `root`, which may be further up.
    pub fn new(base: impl Into<PathBuf>, root: Option<PathBuf>) -> Self {
        let base = base.into();
        let root = root.unwrap_or_else(|| base.clone());
        Folder { base, root }
    }

    /// The folder that a request lies in; files may be anywhere below `root`, where that is given.
    pub fn of_request(request: &Path, root: Option<&Path>) -> Self {
        let folder = request.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Folder::new(folder, root.map(Path::to_owned))
    }

    fn open(&self, path: &str) -> Result<File> {
        let outside = |why: &str| {
            Error::new(Code::FragmentPathOutside, format!("{path:?} {why}"))
                .with_hint("keep the file below the folder of the request, or name a folder above both with --root")
        };
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir);
        if !Path::new(path).components().all(is_plain) {
            return Err(outside("is not relative to the folder of the request"));
        }
        let unreadable = |error: io::Error| unreadable(path, &error);
        let root = fs::canonicalize(&self.root).map_err(unreadable)?;
        let base = fs::canonicalize(&self.base).map_err(unreadable)?;
        // As it is spelled, so that nothing is said of what there is outside; and then with all links resolved.
        if !spelled(&base, path).starts_with(&root) {
            return Err(outside("leads out of the folder of the request"));
        }
        let found = fs::canonicalize(base.join(path)).map_err(unreadable)?;
        if !found.starts_with(&root) {
            return Err(outside("is a symbolic link out of the folder of the request"));
        }
        // Opening a pipe would wait for whoever writes to it.
        if !fs::metadata(&found).map_err(unreadable)?.is_file() {
            return Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")));
        }
        File::open(&found).map_err(unreadable)
    }
}

/// Where a path leads if no part of it is a link.
fn spelled(base: &Path, path: &str) -> PathBuf {
    let mut all = base.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => _ = all.pop(),
            part => all.push(part),
        }
    }
    all
}

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String> {
        let mut bytes = Vec::new();
        let most = limits::DOCUMENT_BYTES as u64;
        let file = self.open(path)?;
        let is_large = file.metadata().is_ok_and(|it| it.len() > most);
        if !is_large {
            file.take(most + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
        }
        if is_large || bytes.len() as u64 > most {
            return Err(super::node::limit_error(format_args!("{path} is too large"), format_args!("{most} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Error::new(
                Code::RequestEncoding,
                format!("{path} is not UTF-8: byte 0x{:02x} at {at}", error.as_bytes()[at]),
            )
            .with_hint("save the file as UTF-8; other files have no text that a model could be given")
        })
    }
}

fn unreadable(path: &str, error: &io::Error) -> Error {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or(&words).to_lowercase();
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "paths are relative to the folder of the request",
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "only regular files are read",
    };
    Error::new(Code::IoRead, format!("{path} cannot be read: {words}")).with_hint(hint)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A folder with a request's folder in it, and something beside that.
    fn tree() -> (tempfile::TempDir, Folder) {
        let tree = tempfile::tempdir().unwrap();
        let base = tree.path().join("base");
        fs::create_dir_all(base.join("src")).unwrap();
        fs::write(base.join("src/a.txt"), "a\n").unwrap();
        fs::write(base.join("bytes"), b"a\xff").unwrap();
        fs::write(tree.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("../secret", base.join("link")).unwrap();
        std::os::unix::fs::symlink("src/a.txt", base.join("inner")).unwrap();
        let folder = Folder::of_request(&base.join("request.yaml"), None);
        (tree, folder)
    }

    #[test]
    fn files_below_the_folder_are_read() {
        let (tree, folder) = tree();
        for path in ["src/a.txt", "./src/../src/a.txt", "inner"] {
            assert_eq!(folder.read(path).unwrap(), "a\n", "{path}");
        }
        let wider = Folder::new(tree.path().join("base"), Some(tree.path().to_owned()));
        assert_eq!(wider.read("../secret").unwrap(), "s");
        assert_eq!(wider.read("link").unwrap(), "s");
    }

    #[test]
    fn nothing_else_is() {
        let (tree, folder) = tree();
        let absolute = tree.path().join("base/src/a.txt");
        for (path, code) in [
            ("../secret", Code::FragmentPathOutside),
            ("../nothing", Code::FragmentPathOutside),
            ("src/../../secret", Code::FragmentPathOutside),
            ("link", Code::FragmentPathOutside),
            (absolute.to_str().unwrap(), Code::FragmentPathOutside),
            ("nothing", Code::IoRead),
            ("src", Code::IoRead),
            ("", Code::IoRead),
            ("bytes", Code::RequestEncoding),
        ] {
            let error = folder.read(path).expect_err(path);
            assert_eq!(error.code(), code, "{path}: {error}");
            assert!(error.hint().is_some());
        }
    }
}
