//! What is wrong with a prompt, or likely to be: findings, each by a rule with a stable code.
//!
//! One file a family of rules. A rule says what it finds, why that matters, what to do, and when it is fine; it looks at the
//! context, at the request it was assembled from where there is one, and at the body it was read from where there is one.

mod budget;
mod cache;
mod content;
mod duplicate;
mod encoding;
mod freshness;
mod pairing;
mod roles;
mod secret;
mod template;
mod tools;
mod trust;

use serde::Serialize;

use crate::context::{Block, Content, Context, Message, Text};
use crate::provider::{Shape, Wire};
use crate::request::RunRequest;
use crate::select::Selection;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing to mend.
    Note,
    /// Most likely not meant.
    Warning,
    /// Something is lost, refused or unsafe.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `family.rule`.
    pub code: &'static str,
    /// How bad what it finds is.
    pub severity: Severity,
    /// What it finds, in a line.
    pub finds: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
    /// When it is fine.
    pub fine: &'static str,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The code of the rule.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where: an origin, or a path in the request.
    pub origin: String,
    /// What it is: lower case, one sentence, no full stop. Never the text of a secret.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'l> {
    /// What the model sees.
    pub context: &'l Context<'l>,
    /// What it was assembled from, if it was.
    pub request: Option<&'l RunRequest<'l>>,
    /// What was selected, where there was anything to select.
    pub selection: Option<&'l Selection<'l>>,
    /// The body it was read from, if it was.
    pub wire: Option<&'l Wire<'l>>,
    /// The shape it was read from, if it was.
    pub shape: Option<Shape>,
    /// The provider it is meant for.
    pub target: Option<Shape>,
    /// The source of the chat template it is meant for.
    pub chat_template: Option<&'l str>,
}

/// What is found, rule by rule.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding of a rule, which is one of [`RULES`].
    fn add(&mut self, rule: &'static Rule, origin: impl ToString, message: impl Into<String>) {
        let Rule { code, severity, fix: hint, .. } = *rule;
        self.0.push(Finding { code, severity, origin: origin.to_string(), message: message.into(), hint });
    }
}

/// A family: its rules, and the one function that goes by them.
struct Family {
    rules: &'static [Rule],
    find: fn(&Subject<'_>, &mut Findings),
}

const FAMILIES: [Family; 12] = [
    template::FAMILY,
    pairing::FAMILY,
    roles::FAMILY,
    tools::FAMILY,
    content::FAMILY,
    budget::FAMILY,
    cache::FAMILY,
    duplicate::FAMILY,
    freshness::FAMILY,
    trust::FAMILY,
    encoding::FAMILY,
    secret::FAMILY,
];

/// Every rule, family by family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().flat_map(|family| family.rules)
}

/// The rule with a code.
pub fn rule(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code == code)
}

/// Which findings are told, and as what.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Codes, or families, that are not told.
    pub allow: Vec<String>,
    /// Codes, or families, that are errors whatever they are by themselves.
    pub deny: Vec<String>,
}

impl Options {
    fn names(list: &[String], code: &str) -> bool {
        list.iter().any(|name| name == code || code.split('.').next() == Some(name))
    }
}

/// Goes by every rule; findings are in the order of the families, and in each in prompt order.
pub fn lint(subject: &Subject<'_>, options: &Options) -> Vec<Finding> {
    let mut findings = Findings::default();
    FAMILIES.iter().for_each(|family| (family.find)(subject, &mut findings));
    let allowed_inside = subject.request.map(|request| request.lint_allow()).unwrap_or_default();
    findings.0.retain(|finding| {
        !Options::names(&options.allow, finding.code) && !Options::names(allowed_inside, finding.code)
            || Options::names(&options.deny, finding.code)
    });
    for finding in &mut findings.0 {
        finding.message = secret::masked(std::mem::take(&mut finding.message));
        finding.origin = secret::masked(std::mem::take(&mut finding.origin));
        if Options::names(&options.deny, finding.code) {
            finding.severity = Severity::Error;
        }
    }
    findings.0
}

/// Every text of a message, in its order, with the block it stands in; those of results too.
fn texts<'m>(message: &'m Message<'_>) -> impl Iterator<Item = (&'m Block<'m>, &'m Text<'m>)> {
    fn of<'m>(content: &'m Content<'m>, texts: &mut Vec<&'m Text<'m>>) {
        match content {
            Content::Text(text) => texts.push(text),
            Content::ToolResult { content, .. } => content.iter().for_each(|content| of(content, texts)),
            _ => {}
        }
    }
    message.blocks.iter().flat_map(|block| {
        let mut texts = Vec::new();
        of(&block.content, &mut texts);
        texts.into_iter().map(move |text| (block, text))
    })
}
