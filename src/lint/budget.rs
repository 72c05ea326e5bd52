//! How much of the space there is has been used.

use super::{Family, Findings, Rule, Severity, Subject};
use crate::measure;
use crate::request::Unit;
use crate::select::Selection;

pub(super) const FAMILY: Family = Family { rules: &[OVER, UNKNOWN, NEARLY_USED], find };

const OVER: Rule = Rule {
    code: "budget.over",
    severity: Severity::Error,
    finds: "a prompt that is larger than max_prompt_chars",
    why: "the run ends here, or the server drops the head of the prompt and says nothing",
    fix: "trim whole steps, sum up what is old, or raise the budget",
    fine: "never: a budget that may be passed is none",
};

const UNKNOWN: Rule = Rule {
    code: "budget.unknown",
    severity: Severity::Warning,
    finds: "a budget, and parts of the prompt whose size is not known",
    why: "whether the prompt fits cannot be told, and what counts as nothing passes every check",
    fix: "declare the size: tokens of each part, chars of each image",
    fine: "the rest is so small that it fits whatever the unknown parts come to",
};

const NEARLY_USED: Rule = Rule {
    code: "budget.nearly_used",
    severity: Severity::Warning,
    finds: "a prompt that takes more than nine tenths of its budget",
    why: "one more observation of ordinary size ends the run",
    fix: "trim or sum up now, while there is space to do it in",
    fine: "it is the last step, or a selection that is meant to fill the window",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(request) = subject.request else { return };
    if let Some(limit) = request.parts().max_prompt_chars {
        let size = measure::context(subject.context);
        if size.chars > limit {
            let message = format!("the prompt has {} characters, and the budget is {limit}", size.chars);
            findings.add(&OVER, "budget.max_prompt_chars", message);
        } else {
            if size.unmeasured > 0 {
                let message = format!("the size of {} blocks is not known", size.unmeasured);
                findings.add(&UNKNOWN, "budget.max_prompt_chars", message);
            }
            nearly_used("budget.max_prompt_chars", size.chars, limit, "characters", findings);
        }
    }
    if let Some(selection) = subject.selection {
        window(selection, findings);
    }
}

/// A selection never passes its window; what is not declared may.
fn window(selection: &Selection<'_>, findings: &mut Findings) {
    let space = &selection.space;
    if space.window.is_none() {
        return;
    }
    if let Some(first) = space.unknown.first() {
        let message = match space.unknown.len() - 1 {
            0 => format!("{first} declares no tokens"),
            others => format!("{first} and {others} more declare no tokens"),
        };
        findings.add(&UNKNOWN, "budget.window", message);
    }
    if let Some(available) = space.available {
        let unit = match space.unit {
            Unit::Chars => "characters",
            Unit::Tokens => "tokens",
        };
        nearly_used("budget.window", space.used, available, unit, findings);
    }
}

fn nearly_used(origin: &str, used: u64, limit: u64, unit: &str, findings: &mut Findings) {
    let (used, limit) = (u128::from(used), u128::from(limit));
    if used * 10 > limit * 9 {
        let percent = used * 100 / limit.max(1);
        findings.add(&NEARLY_USED, origin, format!("{used} of {limit} {unit} are used, {percent} %"));
    }
}
