//! What lint found, as SARIF 2.1.0.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::LintReport;
use crate::lint::{Severity, rule};

impl LintReport<'_> {
    /// The document, with the rules that found something.
    pub fn to_sarif(&self) -> Value {
        let level = |severity| match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let codes: BTreeSet<&str> = self.findings.iter().map(|finding| finding.code).collect();
        let rules: Vec<Value> = codes
            .iter()
            .filter_map(|code| rule(code))
            .map(|rule| {
                json!({
                    "id": rule.code,
                    "shortDescription": {"text": rule.finds},
                    "fullDescription": {"text": rule.why},
                    "help": {"text": format!("{} Fine: {}", rule.fix, rule.fine)},
                    "defaultConfiguration": {"level": level(rule.severity)},
                })
            })
            .collect();
        let results: Vec<Value> = self
            .each()
            .map(|(finding, position)| {
                let mut physical = json!({"artifactLocation": {"uri": self.source}});
                if let Some(position) = position {
                    physical["region"] = json!({"startLine": position.line, "startColumn": position.column});
                }
                json!({
                    "ruleId": finding.code,
                    "level": level(finding.severity),
                    "message": {"text": format!("{}: {}. {}", finding.origin, finding.message, finding.hint)},
                    "locations": [{
                        "physicalLocation": physical,
                        "logicalLocations": [{"fullyQualifiedName": finding.origin}],
                    }],
                })
            })
            .collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {"name": "polyloop", "version": self.tool_version, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        })
    }
}
