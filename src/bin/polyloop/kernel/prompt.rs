//! Python's own prompt.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use polyloop::query::Subject;
use polyloop::{Code, Error};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;

use super::process::Process;
use super::questions::Questions;
use super::session::end_on_signals;
use super::{Event, Settings, family};
use crate::exit::Exit;

/// Lets Python talk to the terminal, and answers what it asks, until it ends.
///
/// # Errors
/// `kernel.start` where there is no such Python.
pub fn prompt(subject: &Subject<'_>, settings: &Settings) -> anyhow::Result<Exit> {
    // What is typed to interrupt is meant for Python, which is in the same group.
    for signal in [SIGINT, SIGQUIT] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(|error| Error::new(Code::KernelStart, format!("signals: {error}")))?;
    }
    end_on_signals(&[SIGTERM, SIGHUP])?;
    family::adopt();
    let (sender, events) = mpsc::sync_channel(8);
    let mut process = Process::start(settings, 1, subject.state, true, 0, &sender)?;
    let mut questions = Questions::of(subject);
    for event in &events {
        match event {
            Event::Question(_, question) => process.answer(questions.answer(&question)),
            Event::Exited(_) => break,
            // Without its channels it can still be talked to.
            Event::Outcome(..) | Event::Broken(_) | Event::Line(_) | Event::InputEnd | Event::Unread => {}
        }
    }
    process.end();
    Ok(Exit::Done)
}
