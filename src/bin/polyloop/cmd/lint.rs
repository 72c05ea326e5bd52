//! `polyloop lint`

use std::path::Path;

use polyloop::error::Position;
use polyloop::lint::{Finding, Options, Severity, Subject, lint, rule, rules};
use polyloop::provider::Shape;
use polyloop::read::{self, Format};
use polyloop::write::{LintReport, write_explanation, write_rules};
use polyloop::{Error, Result};

use super::render::usage;
use crate::args::{Lint as Args, LintFormat};
use crate::exit::Exit;
use crate::input::{Document, Side, Source, folder_of};
use crate::io::{cannot_read, name_of, refuse_overwriting, write_json, write_out};
use crate::terminal::Terminal;

pub fn run(args: &Args, terminal: &Terminal) -> anyhow::Result<Exit> {
    let look = terminal.look(args.output.as_deref());
    if args.rules {
        write_out(args.output.as_deref(), |out| write_rules(&look, out))?;
        return Ok(Exit::Done);
    }
    if let Some(code) = &args.explain {
        let known = rule(code).ok_or_else(|| unknown(code))?;
        write_out(args.output.as_deref(), |out| write_explanation(known, &look, out))?;
        return Ok(Exit::Done);
    }
    let Some(input) = &args.input else {
        return Err(usage("nothing to look at").with_hint("name an input, or --rules, or --explain CODE").into());
    };
    refuse_overwriting(args.output.as_deref(), [input.as_path()])?;
    let options = Options { allow: codes(&args.allow)?, deny: codes(&args.deny)? };
    let (target, template) = target(args.target.as_deref())?;
    let source = Document::open(input)?.hold()?;
    let Some(side) = Side::of(None, Some(&source), args.from.taken()) else { unreachable!("it is held") };
    let placed = |error: Error| match source.text() {
        Ok(text) => read::place(error, text, Some(source.format_of(text))).with_source(&source.name),
        Err(_) => error.with_source(&source.name),
    };
    let side = side?.resolve(&folder_of(input, &args.root)?).map_err(placed)?;
    let selection = side.selection(None).map_err(placed)?;
    let own = if selection.is_none() { Some(side.context(None).map_err(placed)?) } else { None };
    let Some(context) = own.as_ref().or(selection.as_ref().map(|selection| &selection.context)) else {
        unreachable!("one of the two is there")
    };
    let recorded = side.recorded();
    let findings = lint(
        &Subject {
            context,
            request: side.request(),
            selection: selection.as_ref(),
            wire: recorded.and_then(|recorded| recorded.wire.as_deref()),
            shape: recorded.and_then(|recorded| recorded.shape),
            target,
            chat_template: template.as_deref(),
        },
        &options,
    );
    let base = recorded.and_then(|recorded| recorded.call.as_ref()).map(|call| &*call.path).unwrap_or_default();
    let positions = positions(&findings, base, &source);
    let report = LintReport {
        source: &source.name,
        findings: &findings,
        positions: &positions,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    write_out(args.output.as_deref(), |out| match args.format {
        LintFormat::Json => write_json(out, &report, true),
        LintFormat::Sarif => write_json(out, &report.to_sarif(), true),
        LintFormat::Github => report.write_github(out),
        LintFormat::Text => report.write_text(&look, out),
    })?;
    let is_found = findings.iter().any(|finding| finding.severity > Severity::Note);
    Ok(if is_found { Exit::Differs } else { Exit::Done })
}

/// Where the findings stand in the file, where their places can be found there.
fn positions(findings: &[Finding], base: &str, source: &Source) -> Vec<Option<Position>> {
    let Ok(text) = source.text() else { return Vec::new() };
    let format = source.format_of(text);
    if format == Format::JsonLines {
        return Vec::new();
    }
    let path = |finding: &Finding| {
        // What an entry or a fragment is called is no part of its path.
        let origin = finding.origin.split('#').next().unwrap_or_default();
        if base.is_empty() { origin.to_owned() } else { format!("{base}.{origin}") }
    };
    read::positions(text, Some(format), &findings.iter().map(path).collect::<Vec<_>>())
}

/// Codes of rules or families that there are.
fn codes(list: &[String]) -> Result<Vec<String>> {
    for name in list {
        let is_known = rules().any(|rule| rule.code == name || rule.code.split('.').next() == Some(name));
        if !is_known {
            return Err(unknown(name));
        }
    }
    Ok(list.to_vec())
}

fn unknown(code: &str) -> Error {
    usage(format!("there is no rule {code:?}")).with_nearest(code, rules().map(|rule| rule.code))
}

/// The provider that a prompt is meant for, or the source of its chat template.
fn target(name: Option<&str>) -> Result<(Option<Shape>, Option<String>)> {
    let Some(name) = name else { return Ok((None, None)) };
    if let Some(shape) = Shape::of_name(name) {
        return Ok((Some(shape), None));
    }
    let path = Path::new(name);
    let bytes = std::fs::read(path).map_err(|error| cannot_read(&error).with_source(name_of(path)))?;
    let text = read::decode(&bytes).map_err(|error| error.with_source(name_of(path)))?;
    Ok((None, Some(text.to_owned())))
}
