//! The answers: JSON objects, one a line.

use polyloop::Error;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::output::Written;
use super::request::Refusal;

/// What came of a cell, or of a line that is none.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// That of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<RawValue>>,
    /// Whether the cell ran to its end.
    pub ok: bool,
    pub stdout: String,
    pub stderr: String,
    /// How much came after `stdout`, and was not kept.
    pub stdout_left_out_bytes: u64,
    pub stderr_left_out_bytes: u64,
    /// The `repr` of the expression the cell ends in; `null` where that is `None`, or where there is none.
    pub result: Option<String>,
    pub error: Option<Failure>,
    /// Whether another Python process has taken the place of the one that the last answer came from: what it held is lost.
    pub restarted: bool,
    /// What the process holds now; `null` where none could be started.
    pub state: Option<Box<RawValue>>,
}

/// Why a cell did not run to its end.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Failure {
    /// `exception`, `exit`, `interrupted`, `timeout`, `crashed`, `start` or `request`.
    pub kind: String,
    /// The class of the exception.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What is wrong with a request, as in other errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What the cell or the process ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// As Python shows it.
    pub traceback: Option<String>,
}

impl Failure {
    /// A failure that did not happen in Python.
    pub fn new(kind: &str, message: impl Into<String>) -> Failure {
        Failure { kind: kind.to_owned(), message: message.into(), ..Failure::default() }
    }

    /// One that an error says.
    pub fn of_error(kind: &str, error: &Error) -> Failure {
        Failure {
            code: Some(error.code().to_string()),
            hint: error.hint().map(ToOwned::to_owned),
            ..Failure::new(kind, error.message())
        }
    }
}

impl Answer {
    /// An answer that says nothing yet.
    pub fn to(id: Option<Box<RawValue>>) -> Answer {
        Answer {
            id,
            ok: true,
            stdout: String::new(),
            stderr: String::new(),
            stdout_left_out_bytes: 0,
            stderr_left_out_bytes: 0,
            result: None,
            error: None,
            restarted: false,
            state: None,
        }
    }

    /// The answer to a line that is no request: nothing was run.
    pub fn refusal(refusal: Refusal) -> Answer {
        Answer::to(refusal.id).failed(Failure::of_error("request", &refusal.error))
    }

    /// The same, with why the cell did not run to its end.
    pub fn failed(mut self, failure: Failure) -> Answer {
        self.ok = false;
        self.error = Some(failure);
        self
    }

    /// The same, with what was written.
    pub fn wrote(mut self, [stdout, stderr]: [Written; 2]) -> Answer {
        (self.stdout, self.stdout_left_out_bytes) = (stdout.text, stdout.left_out_bytes);
        (self.stderr, self.stderr_left_out_bytes) = (stderr.text, stderr.left_out_bytes);
        self
    }
}
