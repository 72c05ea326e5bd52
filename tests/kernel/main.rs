//! `polyloop kernel`: Python cells in which a context is a variable, and what they can do wrong.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;

mod attacks;
mod cells;
mod endings;
mod fixtures;
mod previews;
mod prompt;
mod questions;
mod requests;
mod session;
