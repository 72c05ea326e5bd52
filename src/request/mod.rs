//! The run request: everything needed to assemble one prompt, as a value that cannot be invalid.

mod schema;

pub use schema::json_schema;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::context::{Content, Json, Key, Role, Text, ToolInput};
use crate::error::{Code, Error, Result};
use crate::template::Template;

/// A checked run request. Made from [`Parts`], which is where its rules are applied.
#[derive(Clone, Debug)]
pub struct RunRequest<'a> {
    parts: Parts<'a>,
    template: Option<Template<'a>>,
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
    /// What templates may make of a request in bytes, besides eight times the text they are given.
    pub const MAX_EXPANSION: u64 = 64 << 20;

    /// The field of the template that must occur.
    pub const OBSERVATION: &'static str = "observation";

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
        let warnings = warnings(&parts, template.as_ref());
        let request = RunRequest { parts, template, warnings };
        request.check_expansion()?;
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
        expansion.given += arguments.iter().map(|text| text.bytes()).sum::<u64>();
        expansion.cost = expansion.cost.saturating_add(template.cost(&arguments));
        if expansion.cost > Self::MAX_EXPANSION + 8 * (template.source().len() as u64 + expansion.given) {
            return Err(Error::new(
                Code::RequestLimit,
                "the template would make far more text of the observations than there is: polyloop's limit is 64 MiB \
                 and eight times the observations",
            )
            .with_hint("use fewer fields, or smaller widths")
            .with_path("observation_template"));
        }
        Ok(())
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

fn no_template() -> Error {
    Error::new(Code::RequestType, "there are steps but no observation_template")
        .with_hint("to feed observations back as they stand, write observation_template: \"{observation}\"")
        .with_path("observation_template")
}

fn check_field_names(names: &[Cow<'_, str>]) -> Result<()> {
    for (index, name) in names.iter().enumerate() {
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        let fault = if name.is_empty() || !name.chars().all(plain) || name.starts_with(char::is_numeric) {
            format!("{name:?} cannot be the name of a template field")
        } else if name == RunRequest::OBSERVATION || names[..index].contains(name) {
            format!("the field {name:?} is declared already")
        } else {
            continue;
        };
        return Err(Error::new(Code::RequestType, fault)
            .with_hint("names are letters, digits and _, each declared once; observation itself is always there")
            .with_path(format!("observation_fields[{index}]")));
    }
    Ok(())
}

/// The rules between a step and the rest; paths are those inside the step.
fn check_step(parts: &Parts<'_>, step: &Step<'_>) -> Result<()> {
    if let Outcome::ToolCalls(_) = step.outcome {
        return match step.fields.is_empty() {
            true => Ok(()),
            false => Err(Error::new(Code::RequestUnknownField, "a step with tool_calls goes through no template")
                .with_hint("leave fields out of this step")
                .with_path(".fields")),
        };
    }
    if let Outcome::Synthetic(name) = &step.outcome
        && !parts.synthetic_observations.contains_key(name)
    {
        let known = parts.synthetic_observations.keys().map(|name| &**name);
        return Err(Error::new(Code::RequestUnknownField, format!("synthetic_observations has no text {name:?}"))
            .with_nearest(name, known)
            .with_path(".synthetic"));
    }
    for name in &parts.observation_fields {
        if !step.fields.contains_key(name) {
            return Err(Error::new(Code::RequestType, format!("the step gives no value for the field {name:?}"))
                .with_hint(format!("add fields: {{{name}: \"...\"}}; an empty string is a value"))
                .with_path(format!(".fields{}", Key(name))));
        }
    }
    if let Some(name) = step.fields.keys().find(|name| !parts.observation_fields.contains(name)) {
        let known = parts.observation_fields.iter().map(|name| &**name);
        return Err(Error::new(Code::RequestUnknownField, format!("the field {name:?} is not declared"))
            .with_nearest(name, known)
            .with_path(format!(".fields{}", Key(name)))
            .at_key());
    }
    Ok(())
}

/// A request has no block without a size, so that no sum is ever too small.
fn check_measures(parts: &Parts<'_>) -> Result<()> {
    let messages = |segment, messages: &[InputMessage<'_>]| {
        messages.iter().enumerate().try_for_each(|(index, message)| {
            check_blocks(&message.content).map_err(|error| error.under(&format!("{segment}[{index}].content")))
        })
    };
    messages("prefix", &parts.prefix)?;
    for (channel, entries) in &parts.injections {
        for (index, entry) in entries.iter().enumerate() {
            let path = || format!("injections{}[{index}].content", Key(channel));
            check_blocks(&entry.content).map_err(|error| error.under(&path()))?;
        }
    }
    messages("goal", &parts.goal)
}

fn check_blocks(blocks: &[Content<'_>]) -> Result<()> {
    for (index, block) in blocks.iter().enumerate() {
        let checked = match block {
            Content::Image { chars: None, .. } => {
                Err(Error::new(Code::BlockUnmeasurable, "an image block needs its size in characters")
                    .with_hint("add chars: N, what the image counts for in the budget; unknown is never 0"))
            }
            Content::Opaque { .. } => Err(Error::new(Code::BlockUnknownType, "a request holds no opaque blocks")
                .with_nearest("opaque", Content::NAMES)),
            Content::ToolResult { content, .. } => check_blocks(content).map_err(|error| error.under(".content")),
            _ => Ok(()),
        };
        checked.map_err(|error| error.under(&format!("[{index}]")))?;
    }
    Ok(())
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
