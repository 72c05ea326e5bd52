//! The names in a folder, and which of them belong together.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::Path;

use super::compare::{Form, split_name};
use crate::context::equal_start;

/// What a file is by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Golden,
    /// `*.render.*` that is no golden.
    Neither,
}

/// What a name says, and the part of it that a request and its golden have in common. Folders may be large, and paths
/// are slow to take apart: this looks at bytes.
pub(super) fn kind_of(name: &[u8]) -> Option<(Kind, &[u8])> {
    if let Some((_, stem)) = Form::of_name(name) {
        return Some((Kind::Golden, stem));
    }
    let (stem, ending) = split_name(name)?;
    if !matches!(ending, b"yaml" | b"yml" | b"json") {
        return None;
    }
    let is_render = memchr::memmem::find(name, b".render.").is_some();
    Some((if is_render { Kind::Neither } else { Kind::Request }, stem))
}

/// A name in a folder.
#[derive(Debug, Default)]
pub(super) struct Name {
    pub name: OsString,
    /// `None` for a name that says nothing.
    pub kind: Option<Kind>,
    /// As the folder has it; `None` where that does not say.
    pub file_type: Option<FileType>,
    /// The first name with the same stem, and the next one, by index; [`NONE`] where there is none.
    first: usize,
    next: usize,
}

const NONE: usize = usize::MAX;

impl Name {
    fn of(entry: &DirEntry) -> Name {
        let name = entry.file_name();
        let kind = kind_of(name.as_encoded_bytes()).map(|(kind, _)| kind);
        Name { kind, file_type: entry.file_type().ok(), first: NONE, next: NONE, name }
    }

    pub fn is_hidden(&self) -> bool {
        self.name.as_encoded_bytes().starts_with(b".")
    }

    /// Whether the folder says that it is a file, and no link to one.
    pub fn is_plain(&self) -> bool {
        self.file_type.is_some_and(|file_type| file_type.is_file())
    }
}

/// What a folder holds, in the order of the names' bytes.
#[derive(Debug)]
pub(super) struct Listing {
    pub names: Vec<Name>,
}

impl Listing {
    pub fn of(folder: &Path) -> io::Result<Listing> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(Name::of(&entry?));
        }
        let mut listing = Listing { names: sorted(names) };
        listing.link();
        Ok(listing)
    }

    /// Links requests and goldens of one stem to one another.
    fn link(&mut self) {
        let mut links = vec![(NONE, NONE); self.names.len()];
        // By stem, the first name and the last so far.
        let mut ends: HashMap<&[u8], (usize, usize)> = HashMap::with_capacity(self.names.len());
        for (index, name) in self.names.iter().enumerate() {
            if let Some((Kind::Request | Kind::Golden, stem)) = kind_of(name.name.as_encoded_bytes()) {
                let (first, last) = ends.entry(stem).or_insert((index, index));
                links[*last].1 = index;
                *last = index;
                links[index] = (*first, NONE);
            }
        }
        for (name, link) in self.names.iter_mut().zip(links) {
            (name.first, name.next) = link;
        }
    }

    /// The names with the stem of another, that one included, which are of a kind.
    pub fn beside(&self, name: Option<&Name>, kind: Kind) -> impl Iterator<Item = &Name> {
        let first = name.and_then(|name| self.names.get(name.first));
        let all = std::iter::successors(first, |name| self.names.get(name.next));
        all.filter(move |name| name.kind == Some(kind))
    }

    /// A name, if it stands there in these very bytes.
    pub fn get(&self, name: &[u8]) -> Option<&Name> {
        let found = self.names.binary_search_by(|other| other.name.as_encoded_bytes().cmp(name));
        found.ok().map(|index| &self.names[index])
    }

    /// A name with the stem of one that leads to a file and need not stand there: file systems may take one for another.
    pub fn alike(&self, name: &[u8]) -> Option<&Name> {
        let stem_of = |name| match kind_of(name) {
            Some((Kind::Request | Kind::Golden, stem)) => Some(stem),
            _ => None,
        };
        let stem = stem_of(name)?;
        self.get(name).or_else(|| self.names.iter().find(|other| stem_of(other.name.as_encoded_bytes()) == Some(stem)))
    }
}

/// Sorts names by their bytes. What follows on the bytes that all have in common tells most of them apart, and eight
/// bytes are compared at once.
fn sorted(mut names: Vec<Name>) -> Vec<Name> {
    let bytes = |name: &'_ Name| name.name.as_encoded_bytes().to_vec();
    let common = names.first().map(bytes).unwrap_or_default();
    let common = names.iter().fold(common.len(), |len, name| equal_start(&common[..len], name.name.as_encoded_bytes()));
    let key = |name: &Name| {
        let mut key = [0; 8];
        let rest = &name.name.as_encoded_bytes()[common..];
        let len = rest.len().min(key.len());
        key[..len].copy_from_slice(&rest[..len]);
        u64::from_be_bytes(key)
    };
    let mut order: Vec<(u64, usize)> = names.iter().map(key).zip(0..).collect();
    let rest = |index: usize| names[index].name.as_encoded_bytes();
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(rest(b.1))));
    order.into_iter().map(|(_, index)| std::mem::take(&mut names[index])).collect()
}
