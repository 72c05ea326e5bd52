//! The names in a folder, and which of them belong together.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::Path;

use super::compare::{Form, split_name};

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
#[derive(Debug)]
pub(super) struct Name {
    pub name: OsString,
    /// `None` for a name that says nothing.
    pub kind: Option<Kind>,
    /// As the folder has it; `None` where that does not say.
    pub file_type: Option<FileType>,
    /// Which of the groups it belongs to, if it is a request or a golden.
    group: usize,
}

impl Name {
    fn of(entry: &DirEntry) -> Name {
        let name = entry.file_name();
        let kind = kind_of(name.as_encoded_bytes()).map(|(kind, _)| kind);
        Name { kind, file_type: entry.file_type().ok(), group: usize::MAX, name }
    }

    pub fn is_hidden(&self) -> bool {
        self.name.as_encoded_bytes().starts_with(b".")
    }

    /// Whether the folder says that it is a file, and no link to one.
    pub fn is_plain(&self) -> bool {
        self.file_type.is_some_and(|file_type| file_type.is_file())
    }
}

/// The files of a folder that have one stem, by index; in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub requests: Vec<usize>,
    pub goldens: Vec<usize>,
}

/// What a folder holds, in the order of the names' bytes.
#[derive(Debug)]
pub(super) struct Listing {
    pub names: Vec<Name>,
    groups: Vec<Group>,
}

impl Listing {
    pub fn of(folder: &Path) -> io::Result<Listing> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(Name::of(&entry?));
        }
        names.sort_unstable_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        let mut listing = Listing { names, groups: Vec::new() };
        listing.group();
        Ok(listing)
    }

    fn group(&mut self) {
        let mut by_stem: HashMap<&[u8], usize> = HashMap::with_capacity(self.names.len());
        let mut groups: Vec<Group> = Vec::new();
        let mut places = Vec::with_capacity(self.names.len());
        for (index, name) in self.names.iter().enumerate() {
            let Some((kind @ (Kind::Request | Kind::Golden), stem)) = kind_of(name.name.as_encoded_bytes()) else {
                places.push(usize::MAX);
                continue;
            };
            let place = *by_stem.entry(stem).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Group::default());
            }
            let group = &mut groups[place];
            if kind == Kind::Request { &mut group.requests } else { &mut group.goldens }.push(index);
            places.push(place);
        }
        self.groups = groups;
        for (name, place) in self.names.iter_mut().zip(places) {
            name.group = place;
        }
    }

    /// The files that belong to one of the names.
    pub fn group_of(&self, name: &Name) -> Option<&Group> {
        self.groups.get(name.group)
    }

    /// A name, if it stands there in these very bytes.
    pub fn get(&self, name: &[u8]) -> Option<&Name> {
        let found = self.names.binary_search_by(|other| other.name.as_encoded_bytes().cmp(name));
        found.ok().map(|index| &self.names[index])
    }

    /// The files with a stem. A name that leads to a file need not stand there: file systems may take one for another.
    pub fn with_stem(&self, name: &[u8], stem: &[u8]) -> Option<&Group> {
        let has_stem = |other: &&Name| matches!(kind_of(other.name.as_encoded_bytes()), Some((Kind::Request | Kind::Golden, found)) if found == stem);
        self.get(name).or_else(|| self.names.iter().find(has_stem)).and_then(|name| self.group_of(name))
    }
}
