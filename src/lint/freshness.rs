//! What does not hold any longer, and what contradicts itself.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{Family, Findings, Rule, Severity, Subject, texts};
use crate::context::{Context, Origin, Text};
use crate::request::Fragment;
use crate::select::{OpenQuestion, Reason, Resolution, Selection};

pub(super) const FAMILY: Family = Family { rules: &[STALE, SUPERSEDED_KEPT, CONFLICT_UNMARKED], find };

const STALE: Rule = Rule {
    code: "freshness.stale",
    severity: Severity::Warning,
    finds: "a fragment that was left out because it does not hold any longer",
    why: "the prompt goes out without something that was offered for it, and the model may act on the gap",
    fix: "read the source again, or stop offering it",
    fine: "it is no longer of use",
};

const SUPERSEDED_KEPT: Rule = Rule {
    code: "freshness.superseded_kept",
    severity: Severity::Warning,
    finds: "a fragment that is in the prompt though another, which was left out, stands in for it",
    why: "the model reads the old state as if it were the present one: what was to replace it has itself gone stale, or left with its group",
    fix: "read the source of the newer one again, or take out both",
    fine: "the older one holds as long as the newer one does not",
};

const CONFLICT_UNMARKED: Rule = Rule {
    code: "freshness.conflict_unmarked",
    severity: Severity::Warning,
    finds: "claims in the prompt that contradict one another, and nothing in the prompt that says so",
    why: "which of them the model believes hangs on their order, and nobody decided it",
    fix: "add a message that names the key and says what holds or that it is open, or leave out what does not hold",
    fine: "the texts themselves make it plain, such as values for two environments",
};

fn find(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(selection) = subject.selection else { return };
    for excluded in selection.excluded.iter().filter(|excluded| excluded.reason == Reason::Stale) {
        findings.add(&STALE, origin(excluded.index, excluded.fragment), stale(selection, excluded.fragment));
    }
    superseded_kept(selection, findings);
    conflict_unmarked(subject.context, selection, findings);
}

fn origin<'f>(index: usize, fragment: &'f Fragment<'_>) -> Origin<'f> {
    Origin::Fragment { index, id: Cow::Borrowed(&fragment.id) }
}

fn stale(selection: &Selection<'_>, fragment: &Fragment<'_>) -> String {
    let time = |time: Option<&crate::request::Time<'_>>| time.map_or(String::new(), |time| time.as_str().to_owned());
    let as_of = time(selection.request.parts().as_of.as_ref());
    let observed_at = time(fragment.observed_at.as_ref());
    let ttl_s = fragment.ttl_s.unwrap_or_default();
    format!("this was left out: it held for {ttl_s} s from {observed_at}, and it is {as_of}")
}

fn superseded_kept(selection: &Selection<'_>, findings: &mut Findings) {
    let mut replaced: HashMap<&str, &str> = HashMap::new();
    for excluded in &selection.excluded {
        for id in &excluded.fragment.supersedes {
            replaced.entry(id).or_insert(&excluded.fragment.id);
        }
    }
    for included in &selection.included {
        if let Some(by) = replaced.get(&*included.fragment.id) {
            let message = format!("{by:?} stands in for this, and was left out");
            findings.add(&SUPERSEDED_KEPT, origin(included.index, included.fragment), message);
        }
    }
}

/// A conflict is marked by a message that names its key, or the fragments that claim something under it; but for what
/// each of them says of itself.
fn conflict_unmarked(context: &Context<'_>, selection: &Selection<'_>, findings: &mut Findings) {
    let questions: Vec<Asked<'_>> = Asked::of(selection);
    if questions.is_empty() {
        return;
    }
    let mut of_id: HashMap<&str, usize> = HashMap::new();
    for (number, question) in questions.iter().enumerate() {
        of_id.extend(question.ids.iter().map(|id| (*id, number)));
    }
    let (mut said, mut is_marked) = (HashSet::new(), vec![false; questions.len()]);
    for message in &context.messages {
        let own = match &message.origin {
            Origin::Fragment { id, .. } => of_id.get_key_value(&**id),
            _ => None,
        };
        for (_, text) in texts(message) {
            each_word(text, |word| match own {
                // One of those that differ: it marks the conflict by naming another of them.
                Some((own, number)) => is_marked[*number] |= word != *own && of_id.get(word) == Some(number),
                None if !said.contains(word) => drop(said.insert(word.to_owned())),
                None => {}
            });
        }
    }
    let is_said = |name: &str| {
        let mut all = true;
        each_word(&Text::plain(name), |word| all &= said.contains(word));
        all
    };
    for (question, is_marked) in questions.iter().zip(is_marked) {
        if is_marked || is_said(question.key) || question.ids.iter().all(|id| is_said(id)) {
            continue;
        }
        let settled = match question.resolution {
            Resolution::UserInputRequired => "nothing says which holds".to_owned(),
            Resolution::Preferred { id, .. } => format!("the prompt does not say that {id:?} holds"),
        };
        let others = question.ids.iter().skip(1).map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", ");
        let message = format!("{others} claims another value of {:?}, and {settled}", question.key);
        findings.add(&CONFLICT_UNMARKED, &question.origin, message);
    }
}

/// An open question, of which the prompt holds more than one side.
struct Asked<'r> {
    key: &'r str,
    resolution: Resolution<'r>,
    /// The fragments in the prompt that claim something under the key, in prompt order.
    ids: Vec<&'r str>,
    /// Where the first of them stands.
    origin: Origin<'r>,
}

impl<'r> Asked<'r> {
    fn of(selection: &'r Selection<'r>) -> Vec<Self> {
        let mut places: HashMap<&str, (usize, usize)> = HashMap::new();
        for included in selection.included.iter().filter(|included| included.in_conflict) {
            places.insert(&included.fragment.id, (included.message, included.index));
        }
        let asked = |question: &OpenQuestion<'r>| {
            let mut sides: Vec<(usize, usize, &'r Fragment<'r>)> = question
                .candidates
                .iter()
                .filter_map(|fragment| places.get(&*fragment.id).map(|(message, index)| (*message, *index, *fragment)))
                .collect();
            sides.sort_by_key(|(message, ..)| *message);
            let (_, index, first) = *sides.first()?;
            let value = |fragment: &'r Fragment<'r>| fragment.claim.as_ref().map(|claim| &claim.value);
            let differs = |side: &&(usize, usize, &'r Fragment<'r>)| value(side.2) != value(first);
            let others = sides.iter().filter(differs).map(|(.., fragment)| &*fragment.id);
            let ids: Vec<&'r str> = std::iter::once(&*first.id).chain(others).collect();
            (ids.len() > 1).then(|| Asked {
                key: question.key,
                resolution: question.resolution,
                ids,
                origin: origin(index, first),
            })
        };
        selection.open_questions.iter().filter_map(asked).collect()
    }
}

/// Gives each word of a text: a name as programs write it, or a single character of a script without spaces.
fn each_word(text: &Text<'_>, mut take: impl FnMut(&str)) {
    let text = text.to_cow();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-./:#@".contains(c);
    for run in text.split(|c: char| c.is_whitespace() || c.is_ascii() && !is_of_name(c)) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let end = match first.is_ascii() {
                true => rest.find(|c: char| !c.is_ascii()).unwrap_or(rest.len()),
                false => first.len_utf8(),
            };
            let (word, behind) = rest.split_at(end);
            let word = word.trim_matches(|c| "-./:".contains(c));
            if !word.is_empty() {
                take(word);
            }
            rest = behind;
        }
    }
}
