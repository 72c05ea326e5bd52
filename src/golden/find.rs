//! Which files are requests, which are goldens, and which belongs to which: by their names alone.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Seen;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::compare::Form;
use super::file;
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
    /// The paths it lies under, by index; the first is that under which it was found first.
    pub under: Vec<usize>,
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
    let mut search = Search { found, seen: HashMap::new() };
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
            Err(error) => {
                let thing = Thing::Fault(file::unreadable(path, &error));
                search.found.entries.push(Entry { thing, under: vec![index] });
            }
        }
    }
    Ok(search.found)
}

struct Search {
    found: Found,
    /// The files of all entries, by their resolved folder and their name.
    seen: HashMap<OsString, usize>,
}

/// One of the paths, a folder.
struct Tree {
    path: usize,
    /// As it is shown.
    shown: Arc<Path>,
    root: Arc<Path>,
}

/// Files of one folder that have a name in common.
#[derive(Default)]
struct Group {
    requests: Vec<PathBuf>,
    goldens: Vec<PathBuf>,
}

/// What a file is by its name.
enum Kind {
    Request(OsString),
    Golden(OsString),
    /// `*.render.*` that is no golden.
    Neither,
}

fn kind_of(name: &OsStr) -> Option<Kind> {
    let path = Path::new(name);
    let stem = path.file_stem()?;
    if Form::of_path(path).is_some() {
        return Some(Kind::Golden(Path::new(stem).file_stem()?.to_owned()));
    }
    if !matches!(path.extension()?.to_str()?, "yaml" | "yml" | "json") {
        return None;
    }
    let is_render = name.as_encoded_bytes().windows(8).any(|part| part == b".render.");
    Some(if is_render { Kind::Neither } else { Kind::Request(stem.to_owned()) })
}

impl Search {
    /// Goes through a folder: `shown` as the path given leads there, `resolved` with all links resolved.
    fn folder(&mut self, tree: &Tree, shown: &Path, resolved: &Path) {
        let (names, groups) = match list(shown) {
            Ok(listed) => listed,
            Err(error) => {
                let thing = Thing::Fault(file::unreadable(shown, &error));
                return self.found.entries.push(Entry { thing, under: vec![tree.path] });
            }
        };
        for name in names {
            let path = shown.join(&name);
            let resolved = resolved.join(&name);
            match kind_of(&name) {
                Some(Kind::Request(stem)) => {
                    if self.is_new(resolved, tree.path) {
                        let pair = pair(path, &groups[&stem], tree.root.clone(), tree.shown.clone());
                        self.found.entries.push(Entry { thing: Thing::Request(pair), under: vec![tree.path] });
                    }
                }
                Some(Kind::Golden(stem)) if groups[&stem].requests.is_empty() => {
                    if self.is_new(resolved, tree.path) {
                        self.found.entries.push(Entry { thing: Thing::Orphan(path), under: vec![tree.path] });
                    }
                }
                Some(Kind::Neither) => {
                    if self.is_new(resolved, tree.path) {
                        self.found.entries.push(Entry { thing: Thing::NoRequest, under: vec![tree.path] });
                    }
                }
                None if path.is_symlink() => {
                    if path.is_dir() {
                        self.found.warnings.push(Warning {
                            code: "check.folder_link",
                            path: file::name_of(&path),
                            message: "is a symbolic link to a folder: what lies there was not checked".to_owned(),
                        });
                    }
                }
                Some(Kind::Golden(_)) => {}
                None => match std::fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => self.folder(tree, &path, &resolved),
                    Ok(_) => {}
                    // What cannot be looked at may be a folder of requests.
                    Err(error) => {
                        let thing = Thing::Fault(file::unreadable(&path, &error));
                        self.found.entries.push(Entry { thing, under: vec![tree.path] });
                    }
                },
            }
        }
    }

    /// A path that is a file.
    fn single(&mut self, index: usize, path: &Path) -> Result<()> {
        let name = path.file_name().unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        let refused = |message: &str, hint: String| {
            Err(Error::new(Code::UsageArguments, message).with_hint(hint).with_source(file::name_of(path)))
        };
        let kind = kind_of(name);
        let (Some(Kind::Request(stem) | Kind::Golden(stem)), true) = (&kind, name != "-") else {
            let hint = "name a folder, or a request: NAME.yaml, NAME.yml or NAME.json".to_owned();
            return refused("is neither a folder nor a request", hint);
        };
        let resolved = fs::canonicalize(here(folder)).map_err(|error| file::unreadable(folder, &error))?;
        let (_, mut groups) = list(folder).map_err(|error| file::unreadable(folder, &error))?;
        let group = groups.entry(stem.clone()).or_default();
        if let Some(Kind::Golden(_)) = kind {
            let hint = match group.requests.first() {
                Some(request) => format!("name the request: {}", file::name_of(request)),
                None => "name the request beside it; there is none".to_owned(),
            };
            return refused("is a golden, not a request", hint);
        }
        if self.is_new(resolved.join(name), index) {
            let pair = pair(path.to_owned(), group, resolved.into(), folder.into());
            self.found.entries.push(Entry { thing: Thing::Request(pair), under: vec![index] });
        }
        Ok(())
    }

    /// Remembers a file, whose entry is the next. One that was found before under another path counts for this one too.
    fn is_new(&mut self, resolved: PathBuf, path: usize) -> bool {
        match self.seen.entry(resolved.into_os_string()) {
            Seen::Vacant(slot) => {
                slot.insert(self.found.entries.len());
                true
            }
            Seen::Occupied(slot) => {
                if let Some(entry) = self.found.entries.get_mut(*slot.get()) {
                    entry.under.push(path);
                }
                false
            }
        }
    }
}

/// The names in a folder, by their bytes, hidden ones left out; and those of requests and goldens by what they have in
/// common.
fn list(folder: &Path) -> std::io::Result<(Vec<OsString>, HashMap<OsString, Group>)> {
    let mut names = Vec::new();
    for entry in fs::read_dir(here(folder))? {
        names.push(entry?.file_name());
    }
    names.sort_unstable_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    let mut groups: HashMap<OsString, Group> = HashMap::new();
    for name in &names {
        match kind_of(name) {
            Some(Kind::Request(stem)) => groups.entry(stem).or_default().requests.push(folder.join(name)),
            Some(Kind::Golden(stem)) => groups.entry(stem).or_default().goldens.push(folder.join(name)),
            _ => {}
        }
    }
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    Ok((names, groups))
}

/// The empty path stands for the current folder.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

fn pair(request: PathBuf, group: &Group, root: Arc<Path>, tree: Arc<Path>) -> Pair {
    let rivals = match &*group.requests {
        [_] => Vec::new(),
        all => all.iter().filter(|path| path.file_name() != request.file_name()).cloned().collect(),
    };
    Pair { goldens: group.goldens.clone(), rivals, tree, root, request }
}
