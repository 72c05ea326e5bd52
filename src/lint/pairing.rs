//! Calls and results that do not go together, by the rules of the provider that is meant, else of the one the prompt was
//! read from, else of OpenAI, whose rules most of the others share.

use std::collections::{HashMap, HashSet};

use super::{Family, Findings, Rule, Severity, Subject};
use crate::provider::{Finding, Shape, check};

pub(super) const FAMILY: Family =
    Family { rules: &[MISSING_RESULT, ORPHAN_RESULT, MISPLACED_RESULT, REPEATED_RESULT, REPEATED_ID, REFUSED], find };

const MISSING_RESULT: Rule = Rule {
    code: "pairing.missing_result",
    severity: Severity::Error,
    finds: "a call that has no result before the conversation goes on",
    why: "providers refuse the whole request, and refuse it again on every later turn; where one does not, the model waits for an answer",
    fix: "give the call a result, if only one that says what became of it; polyloop render --repair marks it as lost",
    fine: "the recording ends with the call, and its result is still to come",
};

const ORPHAN_RESULT: Rule = Rule {
    code: "pairing.orphan_result",
    severity: Severity::Error,
    finds: "a result whose call is not there",
    why: "providers refuse the whole request; mostly the call was trimmed away and its result was not",
    fix: "trim a call and its results together, or not at all",
    fine: "the provider holds the earlier part of the conversation, and the call stands there",
};

const MISPLACED_RESULT: Rule = Rule {
    code: "pairing.misplaced_result",
    severity: Severity::Error,
    finds: "a result that does not stand directly behind its call",
    why: "providers refuse the whole request: something came between the call and its result",
    fix: "put all results of a turn directly behind its calls, and what else is to be said behind them",
    fine: "the provider takes results at any time, as OpenAI Responses does: say which with --for",
};

const REPEATED_RESULT: Rule = Rule {
    code: "pairing.repeated_result",
    severity: Severity::Error,
    finds: "a second result of one call",
    why: "providers refuse the whole request; one that does not leaves the model with two answers to one question",
    fix: "keep one result a call",
    fine: "never, for a provider that pairs calls and results by id",
};

const REPEATED_ID: Rule = Rule {
    code: "pairing.repeated_id",
    severity: Severity::Error,
    finds: "an id that two calls have where ids must be unique",
    why: "which result answers which call cannot be told any more, and providers refuse it",
    fix: "give each call an id of its own: a counter that starts anew every turn will not do",
    fine: "the turns are apart, and the provider compares ids within one turn only: say which with --for",
};

const REFUSED: Rule = Rule {
    code: "pairing.refused",
    severity: Severity::Error,
    finds: "calls or results that the provider named by --for would refuse for other reasons: ids, names, order, missing tools",
    why: "the request fails as a whole, and every later one that repeats these messages with it",
    fix: "let polyloop render --format NAME write the body: it spells ids and places calls as the provider wants them",
    fine: "the prompt is never sent to this provider as it stands",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    for Finding { code, path, what } in refusals(subject) {
        let rule = match code {
            "provider.call_without_result" => &MISSING_RESULT,
            "provider.result_without_call" => &ORPHAN_RESULT,
            "provider.result_misplaced" | "provider.result_order" => &MISPLACED_RESULT,
            "provider.result_twice" => &REPEATED_RESULT,
            "provider.id_repeated" => &REPEATED_ID,
            code if is_of_calls(code) && subject.target.is_some() => &REFUSED,
            _ => continue,
        };
        let message = if rule.code == REFUSED.code { format!("{what} ({code})") } else { what };
        findings.add(rule, path, message);
    }
}

/// Whether a rule of the providers is about calls and results.
pub(super) fn is_of_calls(code: &str) -> bool {
    matches!(
        code,
        "provider.call_placement"
            | "provider.call_without_result"
            | "provider.empty_calls"
            | "provider.id_missing"
            | "provider.id_repeated"
            | "provider.id_spelling"
            | "provider.result_misplaced"
            | "provider.result_order"
            | "provider.result_twice"
            | "provider.result_without_call"
            | "provider.tool_name"
            | "provider.tools_missing"
    )
}

/// The shape whose rules hold.
pub(super) fn shape(subject: &Subject<'_>) -> Shape {
    subject.target.or(subject.shape).unwrap_or(Shape::OpenAi)
}

/// What that provider would refuse: of each rule one finding a place, in prompt order.
pub(super) fn refusals(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = check(subject.context, shape(subject), subject.wire);
    let mut told = HashSet::new();
    findings.retain(|finding| told.insert((finding.code, finding.path.clone())));
    sort_by_place(subject, &mut findings, |finding| &finding.path);
    findings
}

/// Puts what has a path into prompt order.
pub(super) fn sort_by_place<T>(subject: &Subject<'_>, found: &mut [T], path: impl Fn(&T) -> &str) {
    if found.len() > 1 {
        let places = places(subject);
        found.sort_by_cached_key(|one| place_of(path(one), &places));
    }
}

/// Where in the prompt each origin stands first.
fn places(subject: &Subject<'_>) -> HashMap<String, usize> {
    let messages = subject.context.messages.iter();
    let origins = messages
        .flat_map(|message| std::iter::once(&message.origin).chain(message.blocks.iter().map(|block| &block.origin)));
    let mut places = HashMap::new();
    for (place, origin) in origins.enumerate() {
        places.entry(origin.to_string()).or_insert(place);
    }
    places
}

/// The place of a path, or of what it lies in; that of the body as a whole is behind all others.
fn place_of(path: &str, places: &HashMap<String, usize>) -> usize {
    let mut path = path;
    loop {
        match (places.get(path), path.rfind(['.', '['])) {
            (Some(place), _) => return *place,
            (None, Some(end)) => path = &path[..end],
            (None, None) => return usize::MAX,
        }
    }
}
