//! The run request: everything needed to assemble one prompt, as a value that cannot be invalid.

mod budget;
mod check;
mod compaction;
mod files;
mod fragments;
mod hash;
mod rules;
mod schema;
mod stand_in;
mod state;
mod time;
mod words;

pub use budget::{Budget, Share};
pub use compaction::{Compaction, OriginRange, PartOfRequest, Statement, Summary};
pub use files::Files;
pub use fragments::{Body, Claim, FileRange, Fragment, Freshness, LineRange, Trim};
pub use hash::ContentHash;
pub(crate) use rules::each_text;
pub use schema::json_schema;
pub(crate) use stand_in::{Left, stands_in_for};
pub use state::{State, Variable};
pub use time::Time;
pub use words::{Boundary, EvidenceLevel, FragmentKind, Keep, Layer, Preference, Responsibility, Trust, Unit};

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::context::{Content, Json, Key, Role, Status, Text, ToolInput};
use crate::error::{Code, Error, Result};
use crate::template::Template;
use check::{check_field_names, check_measures, check_step};

/// A checked run request. Made from [`Parts`], which is where its rules are applied.
#[derive(Clone, Debug)]
pub struct RunRequest<'a> {
    parts: Parts<'a>,
    template: Option<Template<'a>>,
    frame: Option<Template<'a>>,
    warnings: Vec<Warning>,
}

/// What a run request is made of, in the order in which a model meets it.
#[derive(Clone, Debug, Default)]
pub struct Parts<'a> {
    /// Messages that are the same in every run of this agent.
    pub prefix: Vec<InputMessage<'a>>,
    /// Channel to entries: what is injected between prefix and goal. The map is ordered by Unicode code point.
    pub injections: BTreeMap<Cow<'a, str>, Vec<Injection<'a>>>,
    /// Messages of this one goal.
    pub goal: Vec<InputMessage<'a>>,
    /// The text of the template every observation goes through.
    pub observation_template: Option<Cow<'a, str>>,
    /// Names the template may use besides `observation`.
    pub observation_fields: Vec<Cow<'a, str>>,
    /// Completed steps, oldest first.
    pub trajectory: Vec<Step<'a>>,
    /// Texts the loop itself feeds back, by name.
    pub synthetic_observations: BTreeMap<Cow<'a, str>, Text<'a>>,
    /// The largest allowed sum of characters over all blocks.
    pub max_prompt_chars: Option<u64>,
    /// Native tool schemas, passed through untouched.
    pub tools: Vec<Json<'a>>,
    /// Identity, shown in reports and never in the prompt.
    pub run: Run<'a>,
    /// What may be selected besides, in the order in which it stands in its layer.
    pub fragments: Vec<Fragment<'a>>,
    /// The text of the template every text of a fragment goes through.
    pub fragment_template: Option<Cow<'a, str>>,
    /// The rules by which conflicts are settled, the first that applies.
    pub conflicts: Vec<Preference>,
    /// The time the request speaks of.
    pub as_of: Option<Time<'a>>,
    /// Codes of lint rules, or families of them, that its author has looked at: `metadata: {lint: {allow: [...]}}`.
    pub lint_allow: Vec<String>,
    /// The state of the run, to be queried; never in the prompt.
    pub state: State<'a>,
    /// The space the selection is made in.
    pub budget: Budget,
}

/// A message of the prefix or the goal.
#[derive(Clone, Debug)]
pub struct InputMessage<'a> {
    /// One of the five roles of a request.
    pub role: Role<'a>,
    /// The blocks; a string in the document is one text block.
    pub content: Vec<Content<'a>>,
    /// Its declared size in tokens.
    pub tokens: Option<u64>,
}

/// An entry of an injection channel: exactly one user message.
#[derive(Clone, Debug)]
pub struct Injection<'a> {
    /// What the entry is called in reports; an empty one is warned about.
    pub entry_id: Cow<'a, str>,
    /// The blocks, verbatim.
    pub content: Vec<Content<'a>>,
    /// Its declared size in tokens.
    pub tokens: Option<u64>,
}

/// A completed step: what the model said and what came back.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// What the model said, fed back as it stands.
    pub raw_output: Text<'a>,
    /// What came back.
    pub outcome: Outcome<'a>,
    /// Values of the declared observation fields.
    pub fields: BTreeMap<Cow<'a, str>, Text<'a>>,
    /// Its declared size in tokens.
    pub tokens: Option<u64>,
}

/// What came back from a step.
#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    /// What the environment answered.
    Observation(Text<'a>),
    /// The name of a text of the loop's own.
    Synthetic(Cow<'a, str>),
    /// Native tool calls and their results.
    ToolCalls(Vec<ToolCall<'a>>),
}

/// A native tool call of a step.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// The call's id.
    pub id: Text<'a>,
    /// The tool's name.
    pub name: Text<'a>,
    /// The arguments.
    pub input: ToolInput<'a>,
    /// What came back; `None` is a call without a result.
    pub result: Option<Vec<Content<'a>>>,
    /// Whether the tool reported a failure, where that is said.
    pub is_error: Option<bool>,
    /// What became of a call without a result, or what its result was marked as.
    pub status: Option<Status>,
}

/// Identity of a run, for reports.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[allow(missing_docs, reason = "identifiers of the project's own, passed through")]
pub struct Run<'a> {
    pub request_id: Option<Cow<'a, str>>,
    pub run_id: Option<Cow<'a, str>>,
    pub step_id: Option<Cow<'a, str>>,
    pub model: Option<Cow<'a, str>>,
    pub agent_version: Option<Cow<'a, str>>,
    pub policy_version: Option<Cow<'a, str>>,
    pub capability_set_version: Option<Cow<'a, str>>,
}

/// Something that is allowed and probably not meant.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// A stable, dotted name.
    pub code: &'static str,
    /// The place in the document.
    pub path: String,
    /// What is odd about it.
    pub message: String,
}

impl<'a> RunRequest<'a> {
    /// Codes of lint rules, or families of them, that its author has looked at.
    pub fn lint_allow(&self) -> &[String] {
        &self.parts.lint_allow
    }

    /// Gives every call of a step that has no result one that is marked as what became of it, `lost` unless the request
    /// says so; calls `mark` with the step, the place of the call in it, and the call.
    pub fn mark_missing_results(&mut self, mut mark: impl FnMut(usize, usize, &ToolCall<'a>)) {
        for (step, Step { outcome, .. }) in self.parts.trajectory.iter_mut().enumerate() {
            let Outcome::ToolCalls(calls) = outcome else { continue };
            for (place, call) in calls.iter_mut().enumerate().filter(|(_, call)| call.result.is_none()) {
                let status = *call.status.get_or_insert_default();
                call.result = Some(vec![status.text(&call.id, &call.name)]);
                call.is_error = status.is_error();
                mark(step, place, call);
            }
        }
    }

    /// What templates may make of a request in bytes, besides eight times the text they are given.
    pub const MAX_EXPANSION: u64 = 64 << 20;

    /// What the files that fragments name may come to, in bytes: as much as a document may.
    pub const MAX_FILE_BYTES: u64 = 1 << 30;

    /// The field of the template that must occur.
    pub const OBSERVATION: &'static str = "observation";

    /// The fields of the frame round fragments; the first must occur.
    pub const FRAME: [&'static str; 6] = ["content", "id", "kind", "source_ref", "trust", "truncated"];

    /// Checks the rules that hold between the parts, and parses the template, steps or not.
    ///
    /// # Errors
    /// The first rule broken, with the path of the part that breaks it. An error about the template has a byte range
    /// in the template's own text.
    pub fn new(mut parts: Parts<'a>) -> Result<Self> {
        check_field_names(&parts.observation_fields)?;
        let mut names = vec![Self::OBSERVATION];
        names.extend(parts.observation_fields.iter().map(|name| &**name));
        let template = match parts.observation_template.take() {
            Some(text) => {
                Some(Template::parse(text, &names).map_err(|e| e.or_path(|| "observation_template".to_owned()))?)
            }
            None => None,
        };
        if parts.max_prompt_chars == Some(0) {
            return Err(Error::new(Code::RequestType, "a budget must be at least 1")
                .with_hint("leave max_prompt_chars out for no budget")
                .with_path("budget.max_prompt_chars"));
        }
        if template.is_none() && parts.trajectory.iter().any(Step::needs_template) {
            return Err(no_template());
        }
        for (index, step) in parts.trajectory.iter().enumerate() {
            check_step(&parts, step).map_err(|error| error.under(&format!("trajectory[{index}]")))?;
        }
        check_measures(&parts)?;
        let frame = match parts.fragment_template.take() {
            Some(text) => {
                Some(Template::parse(text, &Self::FRAME).map_err(|e| e.or_path(|| "fragment_template".to_owned()))?)
            }
            None => None,
        };
        rules::check_fragments(&parts)?;
        let mut warnings = warnings(&parts, template.as_ref());
        warnings.extend(rules::fragment_warnings(&parts, frame.as_ref()));
        warnings.extend(parts.state.warnings());
        let request = RunRequest { parts, template, frame, warnings };
        request.check_expansion()?;
        request.check_frames()?;
        Ok(request)
    }

    /// The parts; the template's text is in [`RunRequest::template`].
    pub fn parts(&self) -> &Parts<'a> {
        &self.parts
    }

    /// The parsed template.
    pub fn template(&self) -> Option<&Template<'a>> {
        self.template.as_ref()
    }

    /// The parsed template of fragments.
    pub fn frame(&self) -> Option<&Template<'a>> {
        self.frame.as_ref()
    }

    /// Whether anything is to be selected, or a window to be kept to: such a request is assembled by way of
    /// [`select`](crate::select()).
    pub fn needs_selection(&self) -> bool {
        !self.parts.fragments.is_empty() || self.parts.budget.window.is_some()
    }

    /// What is allowed and probably not meant.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What goes into the template for a step: the observation, then the declared fields; nothing for native tool calls.
    pub fn arguments<'r>(&'r self, step: &'r Step<'a>) -> Vec<&'r Text<'r>> {
        let fields = self.parts.observation_fields.iter().filter_map(|name| step.fields.get(name));
        self.observation(step).into_iter().flat_map(|text| std::iter::once(text).chain(fields.clone())).collect()
    }

    /// The rules that hold between this request and a step that follows those it has; `expansion` is that of the steps
    /// before. What is admitted step by step is what [`RunRequest::new`] takes whole.
    pub(crate) fn admit(&self, step: &Step<'a>, expansion: &mut Expansion) -> Result<()> {
        if self.template.is_none() && step.needs_template() {
            return Err(no_template());
        }
        check_step(&self.parts, step)?;
        self.expand(step, expansion)
    }

    /// The same request with steps that it admitted.
    pub(crate) fn with_steps(mut self, steps: Vec<Step<'a>>) -> Self {
        self.parts.trajectory = steps;
        self
    }

    fn check_expansion(&self) -> Result<()> {
        let mut expansion = Expansion::default();
        self.parts.trajectory.iter().try_for_each(|step| self.expand(step, &mut expansion))
    }

    /// A template that repeats its fields, or pads them, could ask for more than any machine holds.
    fn expand(&self, step: &Step<'a>, expansion: &mut Expansion) -> Result<()> {
        let (Some(template), arguments) = (&self.template, self.arguments(step)) else { return Ok(()) };
        if arguments.is_empty() {
            return Ok(());
        }
        if expansion.add(template, &arguments) {
            return Ok(());
        }
        Err(Error::new(
            Code::RequestLimit,
            "the template would make far more text of the observations than there is: polyloop's limit is 64 MiB and \
             eight times the observations",
        )
        .with_hint("use fewer fields, or smaller widths")
        .with_path("observation_template"))
    }

    /// The text that goes into the template for a step: its observation, or the synthetic one it names.
    pub fn observation<'r>(&'r self, step: &'r Step<'a>) -> Option<&'r Text<'a>> {
        match &step.outcome {
            Outcome::Observation(text) => Some(text),
            Outcome::Synthetic(name) => self.parts.synthetic_observations.get(name),
            Outcome::ToolCalls(_) => None,
        }
    }
}

impl Step<'_> {
    /// Native tool calls alone go through no template.
    fn needs_template(&self) -> bool {
        !matches!(self.outcome, Outcome::ToolCalls(_))
    }
}

/// What templates have been given, and have made of it, in bytes.
#[derive(Default)]
pub(crate) struct Expansion {
    given: u64,
    cost: u64,
}

impl Expansion {
    /// Counts one use of a template; false where it is too much.
    fn add(&mut self, template: &Template<'_>, arguments: &[&Text<'_>]) -> bool {
        let sizes: Vec<_> = arguments.iter().map(|text| (text.chars(), text.bytes())).collect();
        self.add_sizes(template, &sizes)
    }

    /// The same with arguments of these sizes, in characters and bytes.
    fn add_sizes(&mut self, template: &Template<'_>, sizes: &[(u64, u64)]) -> bool {
        self.given += sizes.iter().map(|(_, bytes)| bytes).sum::<u64>();
        self.cost = self.cost.saturating_add(template.cost_of_sizes(|at| sizes.get(at).copied().unwrap_or_default()));
        self.cost <= RunRequest::MAX_EXPANSION + 8 * (template.source().len() as u64 + self.given)
    }
}

fn no_template() -> Error {
    Error::new(Code::RequestType, "there are steps but no observation_template")
        .with_hint("to feed observations back as they stand, write observation_template: \"{observation}\"")
        .with_path("observation_template")
}

fn warnings(parts: &Parts<'_>, template: Option<&Template<'_>>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (channel, entries) in &parts.injections {
        let mut seen = std::collections::HashSet::new();
        for (index, entry) in entries.iter().enumerate() {
            let (code, message) = if entry.entry_id.is_empty() {
                ("request.empty_entry_id", "the entry_id is empty: reports cannot name this entry".to_owned())
            } else if !seen.insert(&*entry.entry_id) {
                let message = format!("the entry_id {:?} stands twice in this channel", entry.entry_id);
                ("request.repeated_entry_id", message)
            } else {
                continue;
            };
            warnings.push(Warning { code, path: format!("injections{}[{index}].entry_id", Key(channel)), message });
        }
    }
    for warning in template.map_or(&[][..], Template::warnings) {
        warnings.push(Warning {
            code: warning.code,
            path: "observation_template".to_owned(),
            message: warning.message.clone(),
        });
    }
    warnings
}
