//! Context to bytes and views, one file each; escaping for terminals in one place.

mod across;
mod check;
mod context;
mod diff;
mod document;
mod escape;
mod lens;
mod lint;
mod look;
mod manifest;
mod report;
mod shell;
mod text;
mod trace;
mod words;
mod yaml;

pub use across::AcrossView;
pub use check::{CheckReport, public_line};
pub use context::{Answer, AnswerView};
pub use diff::{DiffOptions, DiffReport};
pub(crate) use document::write_document;
pub use escape::{Visible, is_live, json_formatter};
pub use lens::LensView;
pub use lint::{LintReport, write_explanation, write_rules};
pub use look::{Look, Style, Styles};
pub use manifest::{ManifestView, write_manifest_yaml};
pub use report::{Report, Slot, Tally};
pub use text::View;
pub use trace::TraceView;
pub use yaml::write_yaml;
