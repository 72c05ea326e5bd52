//! One request and its golden, from their files.

use std::fs::{self, File, Metadata};
use std::path::Path;

use super::compare::{Form, Golden, compare, shared_bytes, unmodelled};
use super::file::{self, name_of};
use super::find::Pair;
use super::prove::prove;
use super::{Actual, Options, Outcome, Status};
use crate::assemble;
use crate::context::Context;
use crate::diff::Subject;
use crate::error::{Code, Error, Result};
use crate::read::{self, Format};
use crate::request::RunRequest;
use crate::stream;

/// What files are read into, one pair after the other.
#[derive(Default)]
pub(super) struct Room {
    request: Vec<u8>,
    golden: Vec<u8>,
}

/// What became of a request; `None` for a file that is none. Whose outcome it is the caller knows.
pub(super) fn check(pair: &Pair, options: &Options<'_>, room: &mut Room) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    match examine(pair, options, room, &mut outcome) {
        Ok(true) => {}
        Ok(false) => return None,
        Err(error) => (outcome.status, outcome.error) = (Status::Error, Some(error)),
    }
    Some(outcome)
}

/// False for a file that is no request.
fn examine(pair: &Pair, options: &Options<'_>, room: &mut Room, outcome: &mut Outcome) -> Result<bool> {
    let named = |error: Error| error.with_source(name_of(&pair.request));
    let looked = file::look(&pair.request, &pair.root, pair.is_plain)?;
    let metadata = looked.metadata.clone();
    if metadata.len() >= LARGE && proved_in_windows(pair, &metadata, options, outcome) {
        return Ok(true);
    }
    let bytes = file::read(&pair.request, looked, &mut room.request)?;
    let text = decode(bytes).map_err(named)?;
    let format = Format::of_path(&pair.request);
    if pair.goldens.is_empty() && !read::looks_like_request(text, format).map_err(named)? {
        return Ok(false);
    }
    refuse_ambiguous(pair)?;
    let golden = pair.goldens.first().map(|path| vetted(path, pair, &metadata, &mut room.golden)).transpose()?;

    let placed = |error: Error| named(read::place(error, text, format));
    let request = read::request(text, format).map_err(named)?;
    let request = request.resolve(&read::Folder::of_request(&pair.request, options.root)).map_err(placed)?;
    let context = assemble(&request, None).map_err(placed)?;
    outcome.digest = options.digests.then(|| context.digest());
    match golden {
        None => {
            outcome.bytes = Some(context.canonical_len());
            outcome.status = Status::Missing;
        }
        Some(golden) => {
            outcome.golden_print = Some((golden.bytes.len(), xxhash_rust::xxh3::xxh3_128(golden.bytes)));
            set_against(pair, (&request, &context), golden, options.prove, outcome)?;
        }
    }
    // The golden is not needed to write another one.
    if matches!(outcome.status, Status::Different | Status::Missing) {
        outcome.written = (options.take)(&Actual { pair, context: &context })?;
    }
    Ok(true)
}

/// Files from this size on are compared without being held, in bytes.
const LARGE: u64 = 1 << 20;

/// Whether a large request and its golden are the same bytes; whatever else they are is for those to say who hold them.
fn proved_in_windows(pair: &Pair, request: &Metadata, options: &Options<'_>, outcome: &mut Outcome) -> bool {
    let [golden] = &*pair.goldens else { return false };
    let is_json = Format::of_path(&pair.request) == Some(Format::Json);
    if !is_json || !pair.rivals.is_empty() || options.prove || Form::of_path(golden) != Some(Form::Stream) {
        return false;
    }
    let Ok(looked) = file::look(golden, &pair.root, pair.is_plain) else { return false };
    if file::is_same((golden, &looked.metadata), (&pair.request, request)) || !looked.metadata.is_file() {
        return false;
    }
    let Ok(mut file) = File::open(&pair.request) else { return false };
    let options = stream::Options { digest: options.digests, own_thread: false, ..stream::Options::default() };
    let Some(proved) = stream::prove(&mut file, || File::open(golden), options) else { return false };
    outcome.status = Status::Identical;
    outcome.bytes = Some(proved.bytes);
    outcome.golden_print = usize::try_from(proved.bytes).ok().map(|len| (len, proved.hash));
    outcome.digest = proved.digest;
    outcome.golden_digest = outcome.digest.clone();
    true
}

fn set_against(
    pair: &Pair,
    (request, context): (&RunRequest<'_>, &Context<'_>),
    golden: Recorded<'_>,
    prove_it: bool,
    outcome: &mut Outcome,
) -> Result<()> {
    // Nearly every golden is the very stream, whose length is then known and which takes no names to say so.
    let is_stream = golden.form == Form::Stream && shared_bytes(context, golden.bytes).is_none();
    outcome.bytes = Some(if is_stream { golden.bytes.len() as u64 } else { context.canonical_len() });
    let (name, golden_name) = if is_stream { <_>::default() } else { (name_of(&pair.request), name_of(golden.path)) };
    let golden = Golden { name: &golden_name, form: golden.form, bytes: golden.bytes };
    if golden.form != Form::Stream {
        outcome.unmodelled = unmodelled(golden)?;
    }
    let subject = Subject { name: &name, context, request: Some(request), spelled: None };
    match if is_stream { None } else { compare(subject, golden)? } {
        None => {
            outcome.status = Status::Identical;
            outcome.golden_digest = outcome.digest.clone();
            if prove_it {
                outcome.proof = Some(prove(context, golden));
            }
        }
        Some(difference) => {
            outcome.status = Status::Different;
            outcome.golden_digest = Some(difference.golden_digest);
            outcome.first_difference = difference.first;
            outcome.classes = difference.classes;
            outcome.golden_byte = difference.golden_byte;
            outcome.around = difference.around;
        }
    }
    Ok(())
}

/// A golden's file.
struct Recorded<'r> {
    path: &'r Path,
    form: Form,
    bytes: &'r [u8],
}

/// Reads a golden that can prove anything about its request.
fn vetted<'r>(path: &'r Path, pair: &Pair, request: &Metadata, room: &'r mut Vec<u8>) -> Result<Recorded<'r>> {
    let looked = file::look(path, &pair.root, pair.is_plain)?;
    if file::is_same((path, &looked.metadata), (&pair.request, request)) {
        return Err(Error::new(
            Code::InputShape,
            "the golden is the request itself, by a link: equal to itself it proves nothing",
        )
        .with_hint("remove the link; polyloop check --accept then writes a golden")
        .with_source(name_of(path)));
    }
    let form = Form::of_path(path).unwrap_or(Form::Stream);
    Ok(Recorded { path, form, bytes: file::read(path, looked, room)? })
}

/// Two requests for one golden, or two goldens for one request: neither says which is meant.
fn refuse_ambiguous(pair: &Pair) -> Result<()> {
    let names = |paths: &[&Path]| paths.iter().map(|path| name_of(path)).collect::<Vec<_>>().join(", ");
    let refused = |message: String, hint: &str| {
        Err(Error::new(Code::InputShape, message).with_hint(hint).with_source(name_of(&pair.request)))
    };
    let rivals: Vec<&Path> =
        pair.rivals.iter().map(|path| &**path).filter(|path| !pair.goldens.is_empty() || is_request(path)).collect();
    if !rivals.is_empty() {
        let message = format!("shares its golden {} with {}", name_of(&pair.golden()), names(&rivals));
        return refused(message, "give each request a name of its own, without the ending");
    }
    if pair.goldens.len() > 1 {
        let goldens: Vec<&Path> = pair.goldens.iter().map(|path| &**path).collect();
        return refused(format!("has more than one golden: {}", names(&goldens)), "keep one of them");
    }
    Ok(())
}

/// What is wrong with a rival is said where it is checked itself.
fn is_request(path: &Path) -> bool {
    let mut room = Vec::new();
    let Ok(metadata) = fs::metadata(path) else { return false };
    let Ok(bytes) = file::read(path, metadata.into(), &mut room) else { return false };
    decode(bytes).and_then(|text| read::looks_like_request(text, Format::of_path(path))).unwrap_or(false)
}

fn decode(bytes: &[u8]) -> Result<&str> {
    read::decode(bytes).map_err(|error| error.locate(bytes))
}
