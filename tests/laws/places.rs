//! An error points at the very character where the fault begins, whatever stands before it.

use polyloop::error::Code;
use polyloop::read::{self, Format};
use proptest::prelude::*;

use crate::emit;
use crate::generate::request;
use crate::model::{Json, Request};
use crate::text::Choices;

/// What the faults are made of; nothing else holds it.
const MARK: &str = "zqzqzq";

/// Line and column of a byte, counted from 1 in characters; lines end at LF, CRLF or a lone CR.
fn place(document: &str, at: usize) -> (usize, usize) {
    let before = &document[..at];
    let ends = before
        .char_indices()
        .filter(|&(at, character)| character == '\n' || (character == '\r' && !document[at + 1..].starts_with('\n')));
    let (mut lines, mut line_start) = (1, 0);
    for (end, _) in ends {
        lines += 1;
        line_start = end + 1;
    }
    (lines, before[line_start..].chars().count() + 1)
}

/// The one place where the document holds this; `None` where an escape hides it.
fn find(document: &str, needle: &str) -> Option<usize> {
    let mut found = document.match_indices(needle);
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

fn top(request: &Request, change: impl FnOnce(&mut Vec<(String, Json)>)) -> Json {
    let Json::Map(mut entries) = request.document() else { unreachable!("a request is a map") };
    change(&mut entries);
    Json::Map(entries)
}

fn entry<'e>(entries: &'e mut [(String, Json)], key: &str) -> &'e mut Json {
    &mut entries.iter_mut().find(|(name, _)| name == key).expect("the key is there").1
}

/// Checks the error of a document in both formats. `at` gives the byte where the fault begins.
fn check(
    document: &Json,
    seed: u64,
    (code, path): (Code, &str),
    at: impl Fn(&str) -> Option<usize>,
) -> Result<(), TestCaseError> {
    let mut choices = Choices::new(seed);
    for format in [Format::Json, Format::Yaml] {
        let text = match format {
            Format::Yaml => emit::yaml(document, &mut choices),
            _ => emit::json(document, &mut choices),
        };
        let error = read::request(&text, Some(format)).expect_err("the document is faulty");
        prop_assert_eq!((error.code(), error.path()), (code, Some(path)), "{}", text);
        let position = error.position().expect("the error has a position");
        // Folding hides where in the text a place is.
        if let Some(at) = at(&text)
            && !text.contains(">-\n")
        {
            prop_assert_eq!((position.line, position.column), place(&text, at), "{}\n{}", error, text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_unknown_key(request in request(true), seed: u64) {
        let document = top(&request, |entries| entries.push((MARK.to_owned(), Json::Null)));
        check(&document, seed, (Code::RequestUnknownField, MARK), |text| Some(find(text, MARK)? - 1))?;
    }

    #[test]
    fn a_wrong_value(request in request(true), seed: u64) {
        let document = top(&request, |entries| {
            let wrong = [("role", Json::Text("user".into())), ("content", Json::Number("12345678987".into()))];
            let wrong = wrong.map(|(key, value)| (key.to_owned(), value)).to_vec();
            let Json::List(goal) = entry(entries, "goal") else { unreachable!("goal is a list") };
            goal.push(Json::Map(wrong));
        });
        let path = format!("goal[{}].content", request.goal.len());
        check(&document, seed, (Code::RequestType, &path), |text| find(text, "12345678987"))?;
    }

    #[test]
    fn a_fault_in_the_template(request in request(true), seed: u64) {
        let document = top(&request, |entries| {
            let Json::Text(template) = entry(entries, "observation_template") else { unreachable!("a template is text") };
            *template += &format!("{{{MARK}}}");
        });
        check(&document, seed, (Code::TemplateUnknownField, "observation_template"), |text| find(text, MARK))?;
    }
}

/// In a block scalar a quote is content, and so is what a line is indented by beyond the others.
#[test]
fn a_fault_in_a_block_scalar() {
    for lines in [
        "  \"a\": {zqzqzq}\n",
        "  '{zqzqzq}'\n",
        "  \"{zqzqzq}\"\n",
        "  \\{zqzqzq}\n",
        "  a\n    {zqzqzq}\n",
        "  a\n   \n\n   {zqzqzq}\n",
        "    a:\n      {zqzqzq}\n    b\n",
    ] {
        for header in ["|", "|-", "|+"] {
            let text = format!("observation_template: {header}\n{lines}");
            let error = read::request(&text, Some(Format::Yaml)).expect_err("the template is faulty");
            let position = error.position().expect("the error has a position");
            let at = find(&text, MARK).expect("the fault is there");
            assert_eq!((position.line, position.column), place(&text, at), "{text}");
        }
    }
}
