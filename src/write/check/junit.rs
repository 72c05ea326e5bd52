//! The view of a check for test runners: JUnit's XML, one test case a request.

use std::fmt;
use std::io::{self, Write};

use super::{CheckReport, name};
use crate::golden::{Around, Outcome, Status, name_of};
use crate::write::escape::Visible;

impl CheckReport<'_> {
    /// Writes the view.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_junit<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let outcomes = &self.report.outcomes;
        let of = |element: &str| outcomes.iter().filter(|outcome| element_of(outcome) == Some(element)).count();
        let counts = format!("tests=\"{}\" failures=\"{}\" errors=\"{}\"", outcomes.len(), of(FAILURE), of(ERROR));
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<testsuites name=\"polyloop check\" {counts}>")?;
        writeln!(out, "  <testsuite name=\"polyloop check\" {counts} skipped=\"0\">")?;
        for outcome in outcomes {
            self.write_case(outcome, out)?;
        }
        writeln!(out, "    <system-out>{}", Xml(&self.verdict()))?;
        if let Some(proof) = self.proof() {
            writeln!(out, "{}", Xml(&proof))?;
        }
        for warning in &self.report.warnings {
            writeln!(out, "warning: {}: {} ({})", Xml(&warning.path), Xml(&warning.message), warning.code)?;
        }
        writeln!(out, "</system-out>\n  </testsuite>\n</testsuites>")
    }

    fn write_case<W: Write>(&self, outcome: &Outcome, out: &mut W) -> io::Result<()> {
        let shown = name(outcome);
        let folder = shown.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let file = Xml(&shown);
        write!(out, "    <testcase classname=\"{}\" name=\"{file}\" file=\"{file}\"", Xml(folder))?;
        let Some(element) = element_of(outcome) else { return writeln!(out, "/>") };
        let reason = self.reason(outcome);
        let kind = outcome.status.as_str();
        writeln!(out, ">\n      <{element} type=\"{kind}\" message=\"{}\">{}", Xml(&reason), Xml(&reason))?;
        let golden = outcome.golden.as_deref().map(name_of);
        for (what, value) in
            [("golden", &golden), ("golden digest", &outcome.golden_digest), ("actual digest", &outcome.digest)]
        {
            if let Some(value) = value {
                writeln!(out, "{what}: {}", Xml(value))?;
            }
        }
        if let Some(Around { golden, request }) = outcome.around.as_ref().filter(|_| self.show_content) {
            writeln!(out, "- {}", Xml(&golden.concat()))?;
            writeln!(out, "+ {}", Xml(&request.concat()))?;
        }
        writeln!(out, "</{element}>\n    </testcase>")
    }
}

const FAILURE: &str = "failure";
const ERROR: &str = "error";

/// What a test case holds that did not pass: a failure is a finding, an error is no proof at all.
fn element_of(outcome: &Outcome) -> Option<&'static str> {
    match outcome.status {
        _ if outcome.is_settled() => None,
        Status::Different | Status::Orphaned => Some(FAILURE),
        Status::Identical | Status::Missing | Status::Error => Some(ERROR),
    }
}

/// Text inside of XML 1.0, in an element or in quotes. What XML cannot hold is named.
struct Xml<'t>(&'t str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Visible(self.0).to_string();
        for character in shown.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&apos;")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}
