//! What lint found: for people, for programs, for GitHub's log, and as SARIF.

mod sarif;
mod text;

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::error::Position;
use crate::lint::{Finding, Severity};
use crate::write::check::annotate;
use crate::write::escape::Visible;

pub use text::{write_explanation, write_rules};

/// What was found in an input, and where that stands in its file.
#[derive(Clone, Copy, Debug)]
pub struct LintReport<'l> {
    /// The name of the input.
    pub source: &'l str,
    /// What was found.
    pub findings: &'l [Finding],
    /// For each finding, its line and column, where they are known.
    pub positions: &'l [Option<Position>],
    /// The version that found it.
    pub tool_version: &'l str,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    error: usize,
    warning: usize,
    note: usize,
}

impl LintReport<'_> {
    fn counts(&self) -> Counts {
        let of = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        Counts { error: of(Severity::Error), warning: of(Severity::Warning), note: of(Severity::Note) }
    }

    fn each(&self) -> impl Iterator<Item = (&Finding, Option<Position>)> {
        let positions = self.positions.iter().copied().chain(std::iter::repeat(None));
        self.findings.iter().zip(positions)
    }

    /// Writes an annotation a finding, for GitHub's log.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_github<W: Write>(&self, out: &mut W) -> io::Result<()> {
        for (finding, position) in self.each() {
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let message = format!("{}: {}", Visible(&finding.origin), Visible(&finding.message));
            let position = position.map(|position| (position.line, position.column));
            annotate(level, self.source, position, finding.code, &message, out)?;
        }
        Ok(())
    }
}

/// `polyloop.lint/1`.
impl Serialize for LintReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Found<'l> {
            #[serde(flatten)]
            finding: &'l Finding,
            line: Option<usize>,
            column: Option<usize>,
        }
        #[derive(Serialize)]
        struct Document<'l> {
            schema: &'static str,
            source: &'l str,
            findings: Vec<Found<'l>>,
            counts: Counts,
        }
        let found = |(finding, position): (_, Option<Position>)| Found {
            finding,
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        };
        let findings = self.each().map(found).collect();
        Document { schema: "polyloop.lint/1", source: self.source, findings, counts: self.counts() }
            .serialize(serializer)
    }
}
