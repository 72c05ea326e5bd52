//! The document `polyloop.check/1`.

use serde::{Serialize, Serializer};

use super::{CheckReport, public_words};
use crate::diff::{Class, FirstDifference};
use crate::error::{Code, Error};
use crate::golden::{Outcome, Status, name_of};
use crate::request::Warning;

#[derive(Serialize)]
struct Document<'d> {
    schema: &'static str,
    tool_version: &'static str,
    checked: usize,
    identical: usize,
    different: usize,
    missing: usize,
    orphaned: usize,
    skipped: usize,
    errors: usize,
    compared_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Flips>,
    warnings: &'d [Warning],
    results: Vec<One<'d>>,
}

/// What flipping bytes showed.
#[derive(Serialize)]
struct Flips {
    goldens: usize,
    flips: usize,
    caught: usize,
}

#[derive(Serialize)]
struct One<'d> {
    request: Option<String>,
    golden: Option<String>,
    status: Status,
    digest: &'d Option<String>,
    golden_digest: &'d Option<String>,
    first_difference: &'d Option<FirstDifference>,
    classes: &'d [Class],
    bytes: Option<u64>,
    /// Where the file is not the canonical stream of its own messages, though these are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    golden_byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault<'d>>,
}

/// The text round the first difference.
#[derive(Serialize)]
struct Content {
    golden: String,
    request: String,
}

#[derive(Serialize)]
struct Fault<'d> {
    code: Code,
    message: String,
    source: Option<&'d str>,
    line: Option<usize>,
    column: Option<usize>,
}

impl Serialize for CheckReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.report;
        Document {
            schema: "polyloop.check/1",
            tool_version: env!("CARGO_PKG_VERSION"),
            checked: report.checked(),
            identical: report.count(Status::Identical),
            different: report.count(Status::Different),
            missing: report.count(Status::Missing),
            orphaned: report.count(Status::Orphaned),
            skipped: report.skipped,
            errors: report.count(Status::Error),
            compared_bytes: report.compared_bytes(),
            accepted: Some(report.accepted()).filter(|accepted| *accepted > 0),
            proof: report.proof().map(|(goldens, proof)| Flips {
                goldens,
                flips: proof.flips,
                caught: proof.flips - proof.uncaught.len(),
            }),
            warnings: &report.warnings,
            results: report.outcomes.iter().map(|outcome| self.one(outcome)).collect(),
        }
        .serialize(serializer)
    }
}

impl CheckReport<'_> {
    fn one<'d>(&self, outcome: &'d Outcome) -> One<'d> {
        let written = [&outcome.written.golden, &outcome.written.actual];
        One {
            request: outcome.request.as_deref().map(name_of),
            golden: outcome.golden.as_deref().map(name_of),
            status: outcome.status,
            digest: &outcome.digest,
            golden_digest: &outcome.golden_digest,
            first_difference: &outcome.first_difference,
            classes: &outcome.classes,
            bytes: outcome.bytes,
            golden_byte: outcome.golden_byte,
            content: outcome
                .around
                .as_ref()
                .filter(|_| self.show_content)
                .map(|around| Content { golden: around.golden.concat(), request: around.request.concat() }),
            written: written.into_iter().flatten().map(|path| name_of(path)).collect(),
            error: outcome.error.as_ref().map(|error| self.json_fault(error)),
        }
    }

    fn json_fault<'d>(&self, error: &'d Error) -> Fault<'d> {
        let message = if self.show_content { error.message().to_owned() } else { public_words(error).into_owned() };
        let position = error.position();
        Fault {
            code: error.code(),
            message,
            source: error.source_name(),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        }
    }
}
