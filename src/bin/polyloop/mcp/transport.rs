//! Messages of the protocol, one a line.
//!
//! The transport of the SDK passes over what is no JSON and what is too long without a word, and takes any number of
//! requests at once. Here everything that could be a request is answered.

use std::collections::HashSet;
use std::future::{Future, poll_fn, ready};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ContentBlock, ErrorCode, JsonRpcError, JsonRpcMessage,
    JsonRpcResponse, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::sync::mpsc::Receiver;

use super::envelope::Envelope;
use super::lines::{Line, MAX_LINE_BYTES};

/// How many requests may wait for their answers; more are not read before one is answered.
const MAX_WAITING: usize = 64;

/// The methods that are served. The SDK takes a request of one of them whose params do not fit for one of a method that it
/// does not know.
const METHODS: [&str; 8] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// Standard output, and the lines of standard input. A clone is the same one: a session that was not opened can be tried
/// again.
#[derive(Clone)]
pub struct Transport {
    wire: Arc<Mutex<Wire>>,
}

struct Wire {
    lines: Receiver<Line>,
    /// The requests without an answer.
    waiting: HashSet<RequestId>,
    /// Whether nobody reads the answers.
    is_closed: bool,
}

impl Transport {
    pub fn new(lines: Receiver<Line>) -> Self {
        Transport { wire: Arc::new(Mutex::new(Wire { lines, waiting: HashSet::new(), is_closed: false })) }
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl rmcp::transport::Transport<RoleServer> for Transport {
    type Error = io::Error;

    /// Writes at once: a client that does not read is not read either.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let mut wire = self.wire();
        match &message {
            JsonRpcMessage::Response(JsonRpcResponse { id, .. })
            | JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => {
                wire.waiting.remove(id);
            }
            _ => {}
        }
        ready(wire.write(line_of(&message)))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        poll_fn(|context| self.wire().poll(context)).await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl Wire {
    /// Whoever gives an answer polls again after it.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<ClientJsonRpcMessage>> {
        loop {
            if self.is_closed {
                return Poll::Ready(None);
            }
            if self.waiting.len() >= MAX_WAITING {
                return Poll::Pending;
            }
            match self.lines.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                // What was asked before the end is answered.
                Poll::Ready(None) if !self.waiting.is_empty() => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(line)) => {
                    if let Some(message) = self.take(line) {
                        return Poll::Ready(Some(message));
                    }
                }
            }
        }
    }

    /// The message of a line; where it holds none, the answer to it is written.
    fn take(&mut self, line: Line) -> Option<ClientJsonRpcMessage> {
        let bytes = match &line {
            Line::TooLong(envelope) => {
                let said = format!("a line longer than {MAX_LINE_BYTES} bytes is not taken");
                self.refuse(envelope, ErrorCode::INVALID_REQUEST, &said);
                return None;
            }
            Line::Whole(bytes) => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii(),
        };
        if bytes.is_empty() {
            return None;
        }
        let refuse = |wire: &mut Self, code, said: &str| {
            wire.refuse(&Envelope::of(bytes), code, said);
            None
        };
        match serde_json::from_slice::<ClientJsonRpcMessage>(bytes) {
            Ok(JsonRpcMessage::Request(request)) => {
                if let ClientRequest::CustomRequest(other) = &request.request
                    && METHODS.contains(&&*other.method)
                {
                    let said = format!("the params are not those of {}", other.method);
                    return refuse(self, ErrorCode::INVALID_PARAMS, &said);
                }
                if !self.waiting.insert(request.id.clone()) {
                    return refuse(self, ErrorCode::INVALID_REQUEST, "the id is that of a request without an answer");
                }
                Some(JsonRpcMessage::Request(request))
            }
            Ok(JsonRpcMessage::Notification(_)) if Envelope::of(bytes).has_id => {
                refuse(self, ErrorCode::INVALID_REQUEST, "the id is neither a string nor an integer of 64 bits")
            }
            Ok(JsonRpcMessage::Notification(notification)) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.waiting.remove(id);
                }
                Some(JsonRpcMessage::Notification(notification))
            }
            // The server asks nothing, so nothing of this answers it.
            Ok(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => None,
            // Passing over a value checks neither its depth nor its characters.
            Err(_) if str::from_utf8(bytes).is_err() || serde_json::from_slice::<IgnoredAny>(bytes).is_err() => {
                self.refuse(&Envelope::default(), ErrorCode::PARSE_ERROR, "the line is not JSON");
                None
            }
            Err(_) if bytes.starts_with(b"[") => {
                refuse(self, ErrorCode::INVALID_REQUEST, "batches are not taken: send one message a line")
            }
            Err(_) => refuse(self, ErrorCode::INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message"),
        }
    }

    fn refuse(&mut self, envelope: &Envelope, code: ErrorCode, said: &str) {
        if envelope.is_answer {
            return;
        }
        let answer = Refusal {
            jsonrpc: "2.0",
            id: envelope.id.as_deref(),
            error: rmcp::ErrorData::new(code, said.to_owned(), None),
        };
        // A client that is gone is noticed by the next poll.
        let _ = self.write(serde_json::to_vec(&answer));
    }

    fn write(&mut self, line: serde_json::Result<Vec<u8>>) -> io::Result<()> {
        let mut line = line?;
        line.push(b'\n');
        let mut out = io::stdout().lock();
        let written = out.write_all(&line).and_then(|()| out.flush());
        self.is_closed |= written.is_err();
        written
    }
}

/// An error of which the id may be null, or spelled in any way.
#[derive(Serialize)]
struct Refusal<'r> {
    jsonrpc: &'static str,
    id: Option<&'r RawValue>,
    error: rmcp::ErrorData,
}

/// The result of a tool, with its text as structured content: the very same JSON, since numbers and the order of keys
/// would not survive a way through values.
#[derive(Serialize)]
struct Structured<'r> {
    jsonrpc: &'static str,
    id: &'r RequestId,
    result: StructuredResult<'r>,
}

#[derive(Serialize)]
struct StructuredResult<'r> {
    #[serde(flatten)]
    result: &'r rmcp::model::CallToolResult,
    #[serde(rename = "structuredContent")]
    structured_content: &'r RawValue,
}

fn line_of(message: &ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    if let JsonRpcMessage::Response(JsonRpcResponse { id, result: ServerResult::CallToolResult(result), .. }) = message
        && result.is_error == Some(false)
        && let [ContentBlock::Text(text)] = &*result.content
    {
        let structured_content = serde_json::from_str(&text.text)?;
        let result = StructuredResult { result, structured_content };
        return serde_json::to_vec(&Structured { jsonrpc: "2.0", id, result });
    }
    serde_json::to_vec(message)
}
