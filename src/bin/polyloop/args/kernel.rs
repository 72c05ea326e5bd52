//! The flags of `polyloop kernel`.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::Asked;

/// Run Python cells in which the context is a variable
///
/// Standard input holds cells, one JSON object a line: {"cell": "SOURCE"}, with "id" (whatever the answer is to be known
/// by) and "timeout_seconds" beside it where they are wanted. Each is answered by one line on standard output: ok, stdout,
/// stderr, result (of the expression it ends in), error, restarted and state. The line {"interrupt": true} interrupts the
/// cell that runs. At the end of the input it ends, and all that cells have started with it. On a terminal Python's own
/// prompt is shown instead.
///
/// In both, context.current(), context.search(QUERY), context.slice(START, END), context.summarize() and
/// context.get_runtime_state() ask INPUT, as polyloop context does.
///
/// This runs the code it is given, with your rights: it is not a sandbox. The limits stop accidents, not attacks.
#[derive(Args, Debug)]
pub struct Kernel {
    #[command(flatten)]
    pub asked: Asked,

    /// The Python to run, 3.8 or later; it is started with -I
    #[arg(long, value_name = "EXE", default_value = "python3")]
    pub python: OsString,

    /// How many seconds a cell may take that names no limit of its own; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub timeout: Seconds,

    /// How much address space the Python process and each one it starts may take, in MiB; 0 is no limit
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub memory: u32,

    /// How much is kept of what a cell writes to each of stdout and stderr, in bytes, and of its result, in characters (of that 1048576 at most)
    #[arg(long, value_name = "SIZE", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(..=1 << 30))]
    pub max_output: u32,
}

/// A time limit, or none.
#[cfg_attr(not(unix), allow(dead_code, reason = "there is no kernel to be limited"))]
#[derive(Clone, Copy, Debug)]
pub struct Seconds(pub Option<Duration>);

fn seconds(text: &str) -> Result<Seconds, String> {
    let wanted = "give a number of seconds from 0 to 1000000";
    let number: f64 = text.parse().map_err(|_| wanted.to_owned())?;
    match number {
        0.0 => Ok(Seconds(None)),
        0.0..=1e6 => Ok(Seconds(Some(Duration::from_secs_f64(number)))),
        _ => Err(wanted.to_owned()),
    }
}
