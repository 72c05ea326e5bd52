//! What a template may cost. Templates come from strangers: none may hang, exhaust memory or overflow the stack.

use std::thread;

use super::source::token_len;
use crate::error::{Code, Error, Result};

/// Instructions of a render, and one sixty-fourth of the bytes it makes.
pub(super) fn fuel(input_bytes: usize) -> u64 {
    4_000_000 + input_bytes as u64
}

/// What a render may write.
pub(super) fn output_bytes(input_bytes: usize) -> usize {
    (64 << 20) + 8 * input_bytes
}

/// Nested calls of macros and recursive loops.
pub(super) const MAX_NESTED: usize = 200;

const MAX_SOURCE_BYTES: usize = 4 << 20;

/// The engine parses a tag by recursion.
const MAX_TAG_TOKENS: usize = 20_000;

/// Lists can be nested once every few instructions, and are taken apart by recursion. Memory is used when it is touched.
const STACK_BYTES: usize = 512 << 20;

/// Does work that may recurse deeply.
pub(super) fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let no_room = |error| Error::new(Code::RequestLimit, format!("no room for the stack of a template: {error}"));
        spawned.map_err(no_room)?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

pub(super) fn check_source(source: &str) -> Result<()> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Error::new(
            Code::RequestLimit,
            format!("a chat template of {} bytes: polyloop's limit is {MAX_SOURCE_BYTES}", source.len()),
        ));
    }
    Ok(())
}

/// Whether a tag is too long to be parsed.
pub(super) fn is_too_long(tag: &str) -> bool {
    let (mut at, mut count) = (0, 0);
    while at < tag.len() && count <= MAX_TAG_TOKENS {
        let len = token_len(&tag[at..]);
        count += usize::from(!tag[at..at + len].trim().is_empty());
        at += len;
    }
    count > MAX_TAG_TOKENS
}

/// A tag's inside whose numbers are no constants: the engine works out what is constant while it parses, without a
/// bound, and a list may be repeated a hundred million times.
pub(super) fn defuse(body: &str) -> String {
    let mut out = String::with_capacity(body.len() + 16);
    let (mut at, mut before) = (0, "");
    while at < body.len() {
        let token = &body[at..at + token_len(&body[at..])];
        at += token.len();
        let is_part = before == "." || body[at..].starts_with('.');
        let is_float = token.contains(['e', 'E']) && !token.starts_with("0x") && !token.starts_with("0X");
        let is_int = token.starts_with(|c: char| c.is_ascii_digit()) && !is_float && !is_part;
        if is_int || ["true", "True"].contains(&token) && before != "is" && before != "not" {
            out.push_str(&format!("({token}|int)"));
        } else {
            out.push_str(token);
        }
        if !token.trim().is_empty() {
            before = token;
        }
    }
    out
}
