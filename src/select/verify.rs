//! First step: the content is there. That it hashes to what is said was checked where it was read.

use super::candidate::Candidate;
use crate::error::{Code, Error, Result};
use crate::request::RunRequest;

pub(super) fn verify<'r>(request: &'r RunRequest<'r>) -> Result<Vec<Candidate<'r>>> {
    let candidates = Candidate::all(request);
    match candidates.iter().find(|candidate| candidate.fragment.content().is_none()) {
        None => Ok(candidates),
        Some(candidate) => {
            let path = candidate.fragment.file().map_or("", |file| &file.path);
            Err(Error::new(Code::FragmentUnresolved, format!("the file {path} was not read"))
                .with_hint("a request that comes from no folder has no files: give the text as content")
                .with_path(format!("{}.file", candidate.path())))
        }
    }
}
