//! Templates that lose, cut, rewrite or double what they are given, and steps that give them nothing.

use super::{Family, Findings, Rule, Severity, Subject};
use crate::context::{Message, Origin, Text};
use crate::request::{Outcome, RunRequest, Step};
use crate::template::{Template, Warning};

pub(super) const FAMILY: Family =
    Family { rules: &[LOSSY, REPEATED_FIELD, DOUBLED, EMPTY_STEP, UNSEEN_OBSERVATION], find };

const LOSSY: Rule = Rule {
    code: "template.lossy",
    severity: Severity::Warning,
    finds: "a template that cuts or rewrites a field: `:.N`, `!r` or `!a`",
    why: "the model reads something else than what came back, and nothing in the prompt says so",
    fix: "write the plain field, and cut long text where it is made, with a mark that says so",
    fine: "the form is meant: the code that is replaced cut or quoted in just this way",
};

const REPEATED_FIELD: Rule = Rule {
    code: "template.repeated_field",
    severity: Severity::Note,
    finds: "a template that uses a declared field more than once",
    why: "the same text stands several times in every message of a step",
    fix: "use the field once",
    fine: "the field is short, such as a path that both opens and closes the frame",
};

const DOUBLED: Rule = Rule {
    code: "template.doubled",
    severity: Severity::Warning,
    finds: "a template that puts the observation, or the content of a fragment, in twice",
    why: "every step costs twice its size, and a text that stands twice weighs more with a model than one that stands once",
    fix: "use the field once",
    fine: "hardly ever: the second place could name the first",
};

const EMPTY_STEP: Rule = Rule {
    code: "template.empty_step",
    severity: Severity::Warning,
    finds: "a step that nothing came back from: its observation is empty, and no other field says anything",
    why: "the model cannot tell an action without output from one whose output was lost, and guesses",
    fix: "say so in words: a synthetic observation, or a field such as the return code",
    fine: "the words of the template make it plain that there was no output",
};

const UNSEEN_OBSERVATION: Rule = Rule {
    code: "template.unseen_observation",
    severity: Severity::Error,
    finds: "a step whose observation does not stand in its message as it came back",
    why: "what the record of the run holds and what the model read are two things: whoever looks into it is misled",
    fix: "put {observation} into the template as it is, without a conversion or a precision",
    fine: "the cut or the quoting is meant, and whoever reads the record knows of it",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(request) = subject.request else { return };
    for warning in request.template().map_or(&[][..], Template::warnings) {
        let is_observation = field_name(request, warning) == RunRequest::OBSERVATION;
        findings.add(rule_of(warning.code, is_observation), "observation_template", &*warning.message);
    }
    // Of the fields of a frame only the content is warned of.
    for warning in request.warnings().iter().filter(|warning| warning.path == "fragment_template") {
        findings.add(rule_of(warning.code, true), "fragment_template", &*warning.message);
    }
    for message in &subject.context.messages {
        let (Origin::Observation(index) | Origin::RawOutput(index)) = message.origin else { continue };
        if let Some(step) = request.parts().trajectory.get(index) {
            look_at_step(request, step, message, findings);
        }
    }
}

fn rule_of(code: &str, is_content: bool) -> &'static Rule {
    match code {
        "template.repeated_field" if is_content => &DOUBLED,
        "template.repeated_field" => &REPEATED_FIELD,
        _ => &LOSSY,
    }
}

/// The name in the field that a warning is about.
fn field_name<'r>(request: &'r RunRequest<'_>, warning: &Warning) -> &'r str {
    let source = request.template().map_or("", Template::source);
    let field = source.get(warning.span.clone()).unwrap_or_default();
    field.trim_start_matches('{').split(['!', ':', '}']).next().unwrap_or_default()
}

/// Looks at a step where its message stands: the observation's, or that of calls, which go through no template.
fn look_at_step(request: &RunRequest<'_>, step: &Step<'_>, message: &Message<'_>, findings: &mut Findings) {
    let origin = &message.origin;
    match (&step.outcome, origin) {
        (Outcome::ToolCalls(calls), Origin::RawOutput(_)) if calls.is_empty() => {
            findings.add(&EMPTY_STEP, origin, "this step has neither an observation nor a call");
        }
        (Outcome::Observation(_) | Outcome::Synthetic(_), Origin::Observation(_)) => {
            let Some(observation) = request.observation(step) else { return };
            if request.arguments(step).iter().all(|text| text.is_empty()) {
                findings.add(&EMPTY_STEP, origin, "the observation of this step is empty");
            } else if !stands_in(observation, request, message) {
                findings.add(
                    &UNSEEN_OBSERVATION,
                    origin,
                    "the observation does not stand in this message as it came back",
                );
            }
        }
        _ => {}
    }
}

/// Whether a text stands in a message; a plain field of the template vouches for it without a look.
fn stands_in(observation: &Text<'_>, request: &RunRequest<'_>, message: &Message<'_>) -> bool {
    let is_plain = request.template().is_some_and(|template| template.plain_fields() > 0);
    is_plain
        || message
            .blocks
            .iter()
            .filter_map(|block| block.content.as_text())
            .any(|text| text.bytes() >= observation.bytes() && text.to_cow().contains(&*observation.to_cow()))
}
