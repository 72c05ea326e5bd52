//! Where prefix, goal and steps lie in a recording.

use std::borrow::Cow;
use std::ops::Range;

use super::frame::{Frame, label_of};
use super::steps::{Fault, Found, Shape, sole_text, step_at};
use crate::context::{Message, Role};

/// The parts of a recording; indices are those of messages.
pub(super) struct Split {
    /// The message that sets the task, if there is one.
    pub task: Option<usize>,
    /// Where the goal ends.
    pub goal_end: usize,
    /// The steps with their first messages, up to the end of the recording.
    pub steps: Vec<(usize, Found)>,
    /// What is no part of a step between the task and the steps, and what is not as plain as it looks.
    pub faults: Vec<Fault>,
}

impl Split {
    /// The split with the most steps, demonstrations set aside: nothing can stand behind the steps.
    pub fn of(messages: &[Message<'_>]) -> Self {
        let mut found: Vec<Option<Found>> = Vec::with_capacity(messages.len());
        found.extend((0..messages.len()).map(|at| step_at(messages, at).ok()));
        let mut leads_to_end = vec![false; messages.len() + 1];
        leads_to_end[messages.len()] = true;
        for (at, step) in found.iter().enumerate().rev() {
            leads_to_end[at] = step.as_ref().is_some_and(|step| leads_to_end[step.end]);
        }
        let first_said = position(messages, 0..messages.len(), &Role::Assistant).unwrap_or(messages.len());
        let first_task = (0..first_said).rev().find(|at| messages[*at].role == Role::User);
        let task = first_task.map(|task| last_task(messages, task).unwrap_or(task));
        let retold = first_task.zip(task).filter(|(first, task)| first != task);
        let from = task.map_or(first_said, |task| task + 1);
        let start = (from..messages.len()).find(|at| leads_to_end[*at]).unwrap_or(messages.len());

        let mut steps = Vec::new();
        let mut faults = faults(messages, from..start);
        if let Some((first, task)) = retold {
            let why =
                format!("it sets a task as messages[{first}] does; what stands before it is taken for a demonstration");
            faults.insert(0, Fault { message: task, why });
        }
        let mut at = start;
        while let Some(step) = found.get_mut(at).and_then(Option::take) {
            let end = step.end;
            if matches!(&step.shape, Shape::Calls(calls) if calls.is_empty()) {
                let why = "no observation follows it; it is a step whose tool_calls are empty";
                faults.push(Fault { message: at, why: why.to_owned() });
            }
            steps.push((at, step));
            at = end;
        }
        Split { task, goal_end: start, steps, faults }
    }

    /// The same with everything before the end in prefix and goal.
    pub fn without_steps(&self, messages: &[Message<'_>]) -> Self {
        Split { task: self.task, goal_end: messages.len(), steps: Vec::new(), faults: Vec::new() }
    }

    /// The observations that go through the template, with their messages.
    pub fn observations<'m>(&self, messages: &'m [Message<'_>]) -> Vec<(usize, Cow<'m, str>)> {
        let pairs = self.steps.iter().filter(|(_, step)| matches!(step.shape, Shape::Pair));
        pairs.filter_map(|(at, _)| Some((at + 1, sole_text(&messages[at + 1])?.to_cow()))).collect()
    }
}

fn position(messages: &[Message<'_>], mut range: Range<usize>, role: &Role<'_>) -> Option<usize> {
    range.find(|at| messages[*at].role == *role)
}

/// What keeps the messages before the steps from being steps.
fn faults(messages: &[Message<'_>], range: Range<usize>) -> Vec<Fault> {
    let Some(mut at) = position(messages, range.clone(), &Role::Assistant) else { return Vec::new() };
    let mut faults = Vec::new();
    while at < range.end {
        match step_at(messages, at) {
            Ok(step) => at = step.end,
            Err(fault) => {
                at = at.max(fault.message) + 1;
                faults.push(fault);
            }
        }
    }
    faults
}

/// A later message that sets the task anew, in the words of the first: what stands before it is a demonstration.
fn last_task(messages: &[Message<'_>], first: usize) -> Option<usize> {
    let text = |at: usize| sole_text(&messages[at]).map(|text| text.to_cow());
    let task = text(first)?;
    let answers = (first + 1..messages.len()).filter(|at| messages[*at].role == Role::User);
    let answers: Vec<(usize, Cow<'_, str>)> = answers.filter_map(|at| Some((at, text(at)?))).collect();
    let alike = |set_anew: &dyn Fn(&str) -> bool| {
        let (tasks, others): (Vec<_>, Vec<_>) =
            answers.iter().partition(|(_, answer)| *answer != task && set_anew(answer));
        (!others.is_empty()).then_some((tasks.last()?.0, others))
    };
    if let Some((at, _)) = alike(&|answer| begins_like(&task, answer)) {
        return Some(at);
    }
    // A label in common, such as `Question:`, is enough where all other answers have a frame of their own.
    let label = label_of(&task)?;
    let (at, others) = alike(&|answer| label_of(answer) == Some(label))?;
    let others: Vec<&str> = others.iter().map(|(_, text)| &**text).collect();
    let is_framed = others.iter().all(|other| label_of(other).is_some()) && !Frame::find(&others).is_plain();
    is_framed.then_some(at)
}

/// Whether two texts begin with the same words of a template: lines in common, or a long beginning.
fn begins_like(task: &str, answer: &str) -> bool {
    const LINES_CHARS: usize = 40;
    const WORDS_CHARS: usize = 100;
    let shared = task.chars().zip(answer.chars()).take_while(|(a, b)| a == b);
    let (mut chars, mut in_lines) = (0, 0);
    for (character, _) in shared {
        chars += 1;
        if character == '\n' {
            in_lines = chars;
        }
        if chars > 2 * WORDS_CHARS {
            break;
        }
    }
    in_lines >= LINES_CHARS || chars >= WORDS_CHARS
}
