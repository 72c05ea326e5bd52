//! Nodes to fragments, and to the budget they are selected in.

use std::borrow::Cow;

use super::blocks::content;
use super::fields::{Fields, Path, boolean, each, string, text, whole_number};
use super::node::{Node, Value};
use super::request::{annotations, role};
use crate::context::{Role, Text};
use crate::error::{Code, Result};
use crate::request::{
    Body, Boundary, Budget, Claim, Compaction, ContentHash, EvidenceLevel, FileRange, Fragment, FragmentKind,
    Freshness, Keep, LineRange, OriginRange, Preference, Responsibility, Share, Statement, Summary, Time, Trim, Trust,
    Unit,
};

/// The keys of each object of a fragment.
pub(crate) mod keys {
    pub const FRAGMENT: &[&str] = &[
        "id",
        "kind",
        "content",
        "file",
        "role",
        "source_ref",
        "version",
        "content_hash",
        "trust",
        "priority",
        "required",
        "freshness",
        "observed_at",
        "ttl_s",
        "scope",
        "evidence",
        "claim",
        "supersedes",
        "tokens",
        "group",
        "trim",
        "reason",
        "replaces",
        "summary_of",
        "metadata",
    ];
    pub const FILE: &[&str] = &["path", "lines"];
    pub const CLAIM: &[&str] = &["key", "value"];
    pub const TRIM: &[&str] = &["keep", "boundary", "min_chars"];
    pub const SUMMARY: &[&str] = &[
        "goal",
        "completed_steps",
        "pending_steps",
        "decisions",
        "constraints",
        "evidence_refs",
        "side_effects",
        "known_failures",
        "next_action",
        "keep",
    ];
    pub const STATEMENT: &[&str] = &["text", "inferred"];
    pub const CONFLICTS: &[&str] = &["prefer"];
    pub const SHARE: &[&str] = &["floor", "cap"];
}

pub(super) fn fragment<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Fragment<'a>> {
    let fields = Fields::of(node, path, keys::FRAGMENT)?;
    let word = |key| fields.take_if_there(key, path, string);
    Ok(Fragment {
        id: fields.take("id", path, string)?,
        kind: fields.take("kind", path, kind)?,
        body: body(&fields, node, path)?,
        role: fields.take_if_there("role", path, role)?.unwrap_or(Role::User),
        source_ref: word("source_ref")?,
        version: fields.take_if_there("version", path, version)?,
        content_hash: fields.take_if_there("content_hash", path, content_hash)?,
        trust: fields.take_if_there("trust", path, trust)?.unwrap_or(Trust::External),
        priority: fields.take_if_there("priority", path, priority)?.unwrap_or(0),
        required: fields.take_if_there("required", path, boolean)?.unwrap_or(false),
        freshness: fields.take_if_there("freshness", path, freshness)?.unwrap_or_default(),
        observed_at: fields.take_if_there("observed_at", path, time)?,
        ttl_s: fields.take_if_there("ttl_s", path, |node, path| whole_number(node, path, 0))?,
        scope: word("scope")?,
        evidence: fields.take_if_there("evidence", path, evidence)?,
        claim: fields.take_if_there("claim", path, claim)?,
        supersedes: fields.take_if_there("supersedes", path, strings)?.unwrap_or_default(),
        tokens: annotations(&fields, path)?,
        group: word("group")?,
        trim: fields.take_if_there("trim", path, trim)?,
        reason: word("reason")?,
        compaction: compaction(&fields, path)?,
    })
}

fn body<'a>(fields: &Fields<'_, 'a>, node: &Node<'a>, path: &Path<'_>) -> Result<Body<'a>> {
    let given = fields.take_if_there("content", path, content)?;
    let file = fields.take_if_there("file", path, file)?;
    match (given, file) {
        (Some(content), None) => Ok(Body::Content(content)),
        (None, Some(file)) => Ok(Body::File(file)),
        (given, _) => {
            let what = if given.is_some() { "says twice what it holds" } else { "says nothing of what it holds" };
            Err(path
                .error(node, Code::RequestType, format!("{path} {what}"))
                .with_hint("give exactly one of content and file; an empty content is \"\""))
        }
    }
}

fn file<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<FileRange<'a>> {
    let fields = Fields::of(node, path, keys::FILE)?;
    Ok(FileRange { path: fields.take("path", path, string)?, lines: fields.take_if_there("lines", path, lines)? })
}

fn lines(node: &Node<'_>, path: &Path<'_>) -> Result<LineRange> {
    let numbers = each(node, path, |node, path| whole_number(node, path, 1))?;
    let range = if let [first, last] = numbers[..] { LineRange::new(first, last) } else { None };
    range.ok_or_else(|| {
        path.error(node, Code::RequestType, format!("{path} must be the first and the last line"))
            .with_hint("lines count from 1, both ends included: lines: [40, 132]")
    })
}

/// A word out of a list.
fn one_of<T: Copy>(
    node: &Node<'_>,
    path: &Path<'_>,
    known: &[T],
    word: impl Fn(T) -> &'static str,
    (code, what): (Code, &str),
) -> Result<T> {
    let said = string(node, path)?;
    known.iter().copied().find(|known| word(*known) == said).ok_or_else(|| {
        path.error(node, code, format!("{said:?} is no {what}"))
            .with_nearest(&said, known.iter().map(|known| word(*known)))
    })
}

fn kind(node: &Node<'_>, path: &Path<'_>) -> Result<FragmentKind> {
    one_of(node, path, FragmentKind::ALL, FragmentKind::as_str, (Code::FragmentUnknownKind, "kind of a fragment"))
}

fn trust(node: &Node<'_>, path: &Path<'_>) -> Result<Trust> {
    one_of(node, path, Trust::ALL, Trust::as_str, (Code::RequestType, "degree of trust"))
}

fn evidence(node: &Node<'_>, path: &Path<'_>) -> Result<EvidenceLevel> {
    one_of(node, path, EvidenceLevel::ALL, EvidenceLevel::as_str, (Code::RequestType, "level of evidence"))
}

fn preference(node: &Node<'_>, path: &Path<'_>) -> Result<Preference> {
    one_of(node, path, Preference::ALL, Preference::as_str, (Code::RequestType, "rule that settles a conflict"))
}

/// Text as it is written, or a whole number.
fn version<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Cow<'a, str>> {
    match &node.value {
        Value::Number(spelling) if spelling.bytes().all(|byte| byte.is_ascii_digit()) => Ok(spelling.clone()),
        _ => string(node, path),
    }
}

fn content_hash(node: &Node<'_>, path: &Path<'_>) -> Result<ContentHash> {
    let said = string(node, path)?;
    ContentHash::parse(&said).ok_or_else(|| {
        path.error(node, Code::RequestType, format!("{path} is no hash that can be verified"))
            .with_hint("write sha256: and 64 lower-case hex digits")
    })
}

/// A whole number of either sign, in plain decimal digits.
fn priority(node: &Node<'_>, path: &Path<'_>) -> Result<i64> {
    let Value::Number(spelling) = &node.value else {
        return Err(path.wrong_type(node, "a whole number").with_hint("higher is chosen first; 0 is what is not said"));
    };
    spelling.parse().ok().filter(|value: &i64| value.to_string() == **spelling).ok_or_else(|| {
        path.error(node, Code::RequestType, format!("{path} must be a whole number of 64 bits"))
            .with_hint("write plain decimal digits: higher is chosen first, 0 is what is not said")
    })
}

fn freshness(node: &Node<'_>, path: &Path<'_>) -> Result<Freshness> {
    match &node.value {
        // What other readers take for octal or hexadecimal is not in JSON.
        Value::Number(spelling) => serde_json::from_str(spelling).ok().and_then(Freshness::new),
        _ => None,
    }
    .ok_or_else(|| path.wrong_type(node, "a number from 0 to 1").with_hint("write 0.75; 0 is what is not said"))
}

pub(super) fn time<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Time<'a>> {
    Time::parse(string(node, path)?).ok_or_else(|| {
        path.error(node, Code::RequestTime, format!("{path} is no time of RFC 3339"))
            .with_hint("write date, time and offset: 2026-08-11T09:30:00Z")
    })
}

fn claim<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Claim<'a>> {
    let fields = Fields::of(node, path, keys::CLAIM)?;
    let value = |node: &Node<'a>, path: &Path<'_>| node.to_json().map_err(|error| error.or_path(|| path.to_string()));
    Ok(Claim { key: fields.take("key", path, string)?, value: fields.take("value", path, value)? })
}

fn strings<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Vec<Cow<'a, str>>> {
    each(node, path, string)
}

fn trim(node: &Node<'_>, path: &Path<'_>) -> Result<Trim> {
    let fields = Fields::of(node, path, keys::TRIM)?;
    let keep = |node: &Node<'_>, path: &Path<'_>| {
        one_of(node, path, Keep::ALL, Keep::as_str, (Code::RequestType, "end that can be kept"))
    };
    let boundary = |node: &Node<'_>, path: &Path<'_>| {
        one_of(node, path, Boundary::ALL, Boundary::as_str, (Code::RequestType, "place to cut at"))
    };
    Ok(Trim {
        keep: fields.take_if_there("keep", path, keep)?.unwrap_or(Keep::Head),
        boundary: fields.take_if_there("boundary", path, boundary)?.unwrap_or(Boundary::Line),
        min_chars: fields.take_if_there("min_chars", path, |node, path| whole_number(node, path, 1))?.unwrap_or(1),
    })
}

fn compaction<'a>(fields: &Fields<'_, 'a>, path: &Path<'_>) -> Result<Option<Compaction<'a>>> {
    let replaces = fields.take_if_there("replaces", path, |node, path| each(node, path, origin_range))?;
    let summary_of = fields.take_if_there("summary_of", path, summary)?;
    Ok((replaces.is_some() || summary_of.is_some())
        .then(|| Compaction { replaces: replaces.unwrap_or_default(), summary_of: summary_of.unwrap_or_default() }))
}

fn origin_range<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<OriginRange<'a>> {
    let said = string(node, path)?;
    OriginRange::parse(said.clone()).ok_or_else(|| {
        path.error(node, Code::RequestType, format!("{said:?} is no stretch of a request")).with_hint(
            "write trajectory[0:12], goal[0], injections.skills[0:2] or fragments[3]; the end is not included",
        )
    })
}

fn summary<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Summary<'a>> {
    let fields = Fields::of(node, path, keys::SUMMARY)?;
    let mut statements = Vec::new();
    for field in Summary::FIELDS {
        let of_field = fields.take_if_there(field, path, |node, path| match field {
            "goal" | "next_action" => statement(node, path).map(|statement| vec![statement]),
            _ => each(node, path, statement),
        })?;
        statements.extend(of_field.map(|of_field| (field, of_field)));
    }
    let keep = fields.take_if_there("keep", path, |node, path| each(node, path, kept))?;
    Ok(Summary { statements, keep: keep.unwrap_or_default() })
}

fn statement<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Statement<'a>> {
    if let Value::Text(text) = &node.value {
        return Ok(Statement { text: text.clone(), inferred: false });
    }
    if !matches!(node.value, Value::Map(_)) {
        return Err(path
            .wrong_type(node, "a statement")
            .with_hint("a statement is text, or {text: \"...\", inferred: true}"));
    }
    let fields = Fields::of(node, path, keys::STATEMENT)?;
    Ok(Statement {
        text: fields.take("text", path, text)?,
        inferred: fields.take_if_there("inferred", path, boolean)?.unwrap_or(false),
    })
}

/// Something that must survive: text, or a number as it is written.
fn kept<'a>(node: &Node<'a>, path: &Path<'_>) -> Result<Text<'a>> {
    match &node.value {
        Value::Number(spelling) => Ok(Text::plain(spelling.clone())),
        _ => text(node, path),
    }
}

pub(super) fn conflicts(node: &Node<'_>, path: &Path<'_>) -> Result<Vec<Preference>> {
    let fields = Fields::of(node, path, keys::CONFLICTS)?;
    let prefer = fields.take_if_there("prefer", path, |node, path| each(node, path, preference))?;
    Ok(prefer.unwrap_or_default())
}

/// The budget of fragments, out of the fields of `budget`.
pub(super) fn budget(fields: &Fields<'_, '_>, path: &Path<'_>) -> Result<Budget> {
    let unit = |node: &Node<'_>, path: &Path<'_>| {
        one_of(node, path, Unit::ALL, Unit::as_str, (Code::RequestType, "unit of a budget"))
    };
    let responsibilities = |node: &Node<'_>, path: &Path<'_>| {
        let known: Vec<&str> = Responsibility::ALL.iter().map(|known| known.as_str()).collect();
        let fields = Fields::of(node, path, &known)?;
        let shares = Responsibility::ALL.iter().filter_map(|responsibility| {
            let share = fields.take_if_there(responsibility.as_str(), path, share).transpose()?;
            Some(share.map(|share| (*responsibility, share)))
        });
        shares.collect::<Result<_>>()
    };
    Ok(Budget {
        unit: fields.take_if_there("unit", path, unit)?.unwrap_or(Unit::Chars),
        window: fields.take_if_there("window", path, amount)?,
        reserved_output: fields.take_if_there("reserved_output", path, amount)?.unwrap_or(0),
        responsibilities: fields.take_if_there("responsibilities", path, responsibilities)?.unwrap_or_default(),
    })
}

fn share(node: &Node<'_>, path: &Path<'_>) -> Result<Share> {
    let fields = Fields::of(node, path, keys::SHARE)?;
    Ok(Share {
        floor: fields.take_if_there("floor", path, amount)?.unwrap_or(0),
        cap: fields.take_if_there("cap", path, amount)?,
    })
}

fn amount(node: &Node<'_>, path: &Path<'_>) -> Result<u64> {
    if let Value::Number(spelling) = &node.value
        && spelling.starts_with('-')
    {
        return Err(path
            .error(node, Code::BudgetNegative, format!("{path} cannot be negative"))
            .with_hint("write how much there is, or leave it out"));
    }
    whole_number(node, path, 0)
}
