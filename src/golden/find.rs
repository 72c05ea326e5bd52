//! Which files are requests, which are goldens, and which belongs to which: by their names alone.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Seen;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, io};

use super::file;
use super::list::{Kind, Listing, Name, kind_of};
use crate::error::{Code, Error, Result};
use crate::request::Warning;

/// What lies under the paths of a check.
#[derive(Debug)]
pub struct Found {
    pub(super) entries: Vec<Entry>,
    pub(super) paths: Vec<PathBuf>,
    pub(super) warnings: Vec<Warning>,
}

impl Found {
    /// How many requests, goldens without one, and faults there are to go through.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The requests, with what belongs to each.
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.entries.iter().filter_map(|entry| match &entry.thing {
            Thing::Request(pair) => Some(pair),
            _ => None,
        })
    }
}

#[derive(Debug)]
pub(super) struct Entry {
    pub thing: Thing,
    /// The path under which it was found, by index.
    pub under: usize,
    /// Others that it lies under.
    pub also: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Thing {
    Request(Pair),
    /// A golden without a request.
    Orphan(PathBuf),
    /// A file that by its name is neither of the two, and not to be overlooked either.
    NoRequest,
    /// A folder that could not be listed, a path that is not there.
    Fault(Error),
}

/// A request, as far as its name says so, and what lies beside it.
#[derive(Debug)]
pub struct Pair {
    /// The request.
    pub request: PathBuf,
    /// Its goldens; one, if all is well.
    pub goldens: Vec<PathBuf>,
    /// Other files that would have the same golden.
    pub rivals: Vec<PathBuf>,
    /// The tree that is checked, as its path was given.
    pub(super) tree: Arc<Path>,
    /// The root of that tree, with all links resolved.
    pub(super) root: Arc<Path>,
    /// Whether the folder says of request and goldens that they are files, and no links to others.
    pub(super) is_plain: bool,
}

impl Pair {
    /// The request's path inside the tree that is checked, going down only.
    pub fn inside(&self) -> PathBuf {
        let goes_down =
            |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let request = &self.request;
        let inside =
            if goes_down(request) { request } else { request.strip_prefix(&self.tree).unwrap_or(Path::new("")) };
        inside.components().filter(|part| matches!(part, Component::Normal(_))).collect()
    }

    /// Where the golden lies, or would.
    pub fn golden(&self) -> PathBuf {
        self.goldens.first().cloned().unwrap_or_else(|| self.request.with_extension("render.jsonl"))
    }
}

/// Finds requests and goldens under each path: a folder with all that is in it, hidden entries and symbolic links to
/// folders aside, or a single request.
///
/// # Errors
/// `usage.arguments` for a path that names a golden, or a file that by its name is no request.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let found = Found { entries: Vec::new(), paths: paths.to_vec(), warnings: Vec::new() };
    let mut search = Search { found, seen: HashMap::new(), last: None };
    for (index, path) in paths.iter().enumerate() {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let root = fs::canonicalize(path).map_err(|error| file::unreadable(path, &error))?;
                // What lies under `.` is named without it.
                let shown = if path == Path::new(".") { Path::new("") } else { path };
                let tree = Tree { path: index, shown: shown.into(), root: root.into() };
                search.folder(&tree, shown, &tree.root);
            }
            Ok(_) => search.single(index, path)?,
            Err(error) => search.fault(path, &error, index),
        }
    }
    Ok(search.found)
}

struct Search {
    found: Found,
    /// The files of all entries, by their resolved folder and their name.
    seen: HashMap<OsString, usize>,
    /// The folder of the last single request: many that are named one by one mostly lie in one.
    last: Option<Rc<Folder>>,
}

/// A folder that is not walked, but looked into.
struct Folder {
    shown: Arc<Path>,
    root: Arc<Path>,
    listing: Listing,
}

/// One of the paths, a folder.
struct Tree {
    path: usize,
    /// As it is shown.
    shown: Arc<Path>,
    root: Arc<Path>,
}

impl Search {
    /// Goes through a folder: `shown` as the path given leads there, `resolved` with all links resolved.
    fn folder(&mut self, tree: &Tree, shown: &Path, resolved: &Path) {
        let listing = match Listing::of(here(shown)) {
            Ok(listing) => listing,
            Err(error) => return self.fault(shown, &error, tree.path),
        };
        for name in listing.names.iter().filter(|name| !name.is_hidden()) {
            let new = |thing| Entry { thing, under: tree.path, also: Vec::new() };
            match name.kind {
                Some(Kind::Request) => {
                    if self.is_new(resolved, &name.name, tree.path) {
                        let request = join(shown, &name.name);
                        let pair = pair(request, shown, (&listing, Some(name)), (&tree.root, &tree.shown));
                        self.found.entries.push(new(Thing::Request(pair)));
                    }
                }
                Some(Kind::Golden) if listing.beside(Some(name), Kind::Request).next().is_none() => {
                    if self.is_new(resolved, &name.name, tree.path) {
                        self.found.entries.push(new(Thing::Orphan(join(shown, &name.name))));
                    }
                }
                Some(Kind::Golden) => {}
                Some(Kind::Neither) => {
                    if self.is_new(resolved, &name.name, tree.path) {
                        self.found.entries.push(new(Thing::NoRequest));
                    }
                }
                None => self.other(tree, join(shown, &name.name), resolved, name),
            }
        }
    }

    /// What is neither a request nor a golden by its name, and may be a folder.
    fn other(&mut self, tree: &Tree, path: PathBuf, resolved: &Path, name: &Name) {
        if name.file_type.map_or_else(|| path.is_symlink(), |file_type| file_type.is_symlink()) {
            if path.is_dir() {
                self.found.warnings.push(Warning {
                    code: "check.folder_link",
                    path: file::name_of(&path),
                    message: "is a symbolic link to a folder: what lies there was not checked".to_owned(),
                });
            }
            return;
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => self.folder(tree, &path, &join(resolved, &name.name)),
            Ok(_) => {}
            // What cannot be looked at may be a folder of requests.
            Err(error) => self.fault(&path, &error, tree.path),
        }
    }

    fn fault(&mut self, path: &Path, error: &io::Error, under: usize) {
        let thing = Thing::Fault(file::unreadable(path, error));
        self.found.entries.push(Entry { thing, under, also: Vec::new() });
    }

    /// A path that is a file.
    fn single(&mut self, index: usize, path: &Path) -> Result<()> {
        let name = path.file_name().unwrap_or_default();
        let bytes = name.as_encoded_bytes();
        let folder = path.parent().unwrap_or(Path::new(""));
        let refused = |message: &str, hint: String| {
            Err(Error::new(Code::UsageArguments, message).with_hint(hint).with_source(file::name_of(path)))
        };
        let (Some((kind @ (Kind::Request | Kind::Golden), _)), true) = (kind_of(bytes), name != "-") else {
            let hint = "name a folder, or a request: NAME.yaml, NAME.yml or NAME.json".to_owned();
            return refused("is neither a folder nor a request", hint);
        };
        let looked_into = self.look_into(folder)?;
        let Folder { shown, root, listing } = &*looked_into;
        let alike = listing.alike(bytes);
        if kind == Kind::Golden {
            let hint = match listing.beside(alike, Kind::Request).next() {
                Some(request) => format!("name the request: {}", file::name_of(&join(folder, &request.name))),
                None => "name the request beside it; there is none".to_owned(),
            };
            return refused("is a golden, not a request", hint);
        }
        if self.is_new(root, name, index) {
            let pair = pair(path.to_owned(), folder, (listing, alike), (root, shown));
            self.found.entries.push(Entry { thing: Thing::Request(pair), under: index, also: Vec::new() });
        }
        Ok(())
    }

    fn look_into(&mut self, folder: &Path) -> Result<Rc<Folder>> {
        if let Some(last) = self.last.as_ref().filter(|last| last.shown.as_os_str() == folder.as_os_str()) {
            return Ok(last.clone());
        }
        let unreadable = |error| file::unreadable(folder, &error);
        let root = fs::canonicalize(here(folder)).map_err(unreadable)?.into();
        let listing = Listing::of(here(folder)).map_err(unreadable)?;
        Ok(self.last.insert(Rc::new(Folder { shown: folder.into(), root, listing })).clone())
    }

    /// Remembers a file, whose entry is the next. One that was found before under another path counts for this one too.
    fn is_new(&mut self, resolved: &Path, name: &OsStr, path: usize) -> bool {
        // Below one path no file is met twice.
        if self.found.paths.len() == 1 {
            return true;
        }
        match self.seen.entry(join(resolved, name).into_os_string()) {
            Seen::Vacant(slot) => {
                slot.insert(self.found.entries.len());
                true
            }
            Seen::Occupied(slot) => {
                if let Some(entry) = self.found.entries.get_mut(*slot.get()) {
                    entry.also.push(path);
                }
                false
            }
        }
    }
}

/// A request and what lies beside it in its folder; the name is one of its stem.
fn pair(
    request: PathBuf,
    folder: &Path,
    (listing, name): (&Listing, Option<&Name>),
    (root, tree): (&Arc<Path>, &Arc<Path>),
) -> Pair {
    let is_own = |name: &&Name| Some(&*name.name) == request.file_name();
    let path = |name: &Name| join(folder, &name.name);
    let requests = || listing.beside(name, Kind::Request);
    let goldens = || listing.beside(name, Kind::Golden);
    let is_alone = requests().count() == 1;
    let rivals = requests().filter(|name| !is_alone && !is_own(name)).map(path).collect();
    let is_plain = requests().any(|name| is_own(&name) && name.is_plain()) && goldens().all(Name::is_plain);
    let goldens = goldens().map(path).collect();
    Pair { goldens, rivals, root: root.clone(), tree: tree.clone(), is_plain, request }
}

/// The empty path stands for the current folder.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// A path in a folder.
fn join(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}
