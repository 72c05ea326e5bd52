//! An MCP server over standard input and output, for one context that only is read.
//!
//! 1. [`lines`]: a thread reads standard input, line by line, and holds no line that is too long.
//! 2. [`transport`]: lines become messages of the protocol; what is none is answered here, and the server lives.
//! 3. [`server`]: the protocol itself is the work of rmcp, on a thread of its own: it answers a ping while a search runs.
//! 4. [`answers`]: the calling thread, which has the context, answers one question after the other. What a client has
//!    cancelled is passed over; what has begun is finished, and its answer dropped.

mod answers;
mod cursor;
mod envelope;
mod lines;
mod page;
mod resources;
mod server;
mod text;
mod tools;
mod transport;

use std::io;
use std::sync::mpsc;
use std::thread;

use polyloop::query::Subject;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::runtime;

use answers::Answers;
use server::{Question, Server};
use transport::Transport;

/// The bytes of JSON that one result may have unless something else is asked for: some 8,000 tokens of English.
pub const DEFAULT_RESULT_BYTES: u32 = 32 * 1024;
/// The least: what is said beside the content has to fit.
pub const MIN_RESULT_BYTES: u32 = 4 * 1024;
/// The most.
pub const MAX_RESULT_BYTES: u32 = 64 * 1024 * 1024;

/// Serves until standard input ends, or nobody reads standard output.
///
/// # Errors
/// Where the system gives no thread.
pub fn serve(subject: &Subject<'_>, max_result_bytes: usize) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let transport = Transport::new(lines::read(io::stdin())?);
    let (ask, asked) = mpsc::channel::<Question>();
    thread::Builder::new().name("protocol".to_owned()).spawn(move || {
        runtime.block_on(speak(Server::new(ask), transport));
    })?;
    let mut answers = Answers::new(*subject, max_result_bytes);
    // Ends when the server does, which holds the other end.
    asked.iter().for_each(|question| question(&mut answers));
    Ok(())
}

async fn speak(server: Server, transport: Transport) {
    loop {
        match server.clone().serve(transport.clone()).await {
            Ok(running) => {
                let _ = running.waiting().await;
                return;
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. }) => return,
            // Something other than a request came before the session was opened: it is passed over.
            Err(_) => {}
        }
    }
}
