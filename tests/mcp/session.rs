//! A client that speaks lines of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{command, wait};

/// No answer may take longer, even on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    begun: Instant,
}

impl Session {
    /// A server that was told nothing yet.
    pub fn spawn(input: &Path, args: &[&str]) -> Session {
        let mut command = command(["mcp"]);
        command.arg(input).args(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be run");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        Session { child, stdin, lines, next_id: 0, begun: Instant::now() }
    }

    /// A session that is open.
    pub fn open(input: &Path, args: &[&str]) -> Session {
        let mut session = Session::spawn(input, args);
        session.initialize("2025-11-25");
        session
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        let info = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let answer = self.ask("initialize", &params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    pub fn send(&mut self, message: &Value) {
        self.send_bytes(message.to_string().as_bytes());
        self.send_bytes(b"\n");
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).expect("the server reads");
    }

    /// The next line that is written.
    #[track_caller]
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(LONGEST) {
            Ok(line) => line,
            Err(error) => panic!("no answer: {error}, {:?}", self.child.try_wait()),
        }
    }

    /// The next message that is written.
    #[track_caller]
    pub fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request and gives its answer, which is the next message.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// What a tool gives.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{tool} {:.200}: {answer:.200}", arguments.to_string());
        result["structuredContent"].clone()
    }

    /// What a tool says is wrong with its arguments.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], true, "{tool} {:.200}: {answer:.200}", arguments.to_string());
        assert_eq!(answer["result"].get("structuredContent"), None, "{answer}");
        answer["result"]["content"][0]["text"].as_str().expect("errors are text").to_owned()
    }

    /// All results of a call, one after the other.
    pub fn pages(&mut self, tool: &str, arguments: &Value) -> Vec<Value> {
        let mut pages = vec![self.call(tool, arguments)];
        while let Some(cursor) = pages.last().and_then(|page| page.get("next_cursor")).cloned() {
            let mut arguments = arguments.clone();
            arguments["cursor"] = cursor;
            pages.push(self.call(tool, &arguments));
            assert!(pages.len() < 10_000, "{tool} never ends");
        }
        pages
    }

    /// Shows that the server lives.
    #[track_caller]
    pub fn lives(&mut self) {
        let answer = self.ask("ping", &json!({}));
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    /// Closes standard input; what else is written, how it ended and what it said on stderr.
    pub fn end(mut self) -> (Vec<String>, ExitStatus, String) {
        drop(self.stdin.take());
        let status = wait(&mut self.child, "polyloop mcp");
        let lines = self.lines.iter().collect();
        let mut stderr = String::new();
        let pipe = self.child.stderr.as_mut().expect("stderr is piped");
        std::io::Read::read_to_string(pipe, &mut stderr).expect("stderr is UTF-8");
        (lines, status, stderr)
    }

    /// Ends it, and fails if it did not end well, or said anything more.
    #[track_caller]
    pub fn ends_quietly(self) {
        let (lines, status, stderr) = self.end();
        assert_eq!((lines, status.code(), stderr.as_str()), (vec![], Some(0), ""));
    }

    /// Whether the server has not ended; fails where it takes too long.
    pub fn is_running(&mut self) -> bool {
        assert!(self.begun.elapsed() < LONGEST, "the server never ends");
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    /// Sends something that a server which has ended does not take.
    pub fn try_send(&mut self, bytes: &[u8]) {
        let _ = self.stdin.as_mut().expect("stdin is open").write_all(bytes);
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Stops reading standard output.
    pub fn stop_reading(&mut self) {
        let (_, nothing) = channel();
        self.lines = nothing;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
