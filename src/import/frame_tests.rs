//! Which frames are found, and which likenesses are left alone.

use super::frame::Frame;
use crate::context::Text;
use crate::template::Template;

/// Observations, and the template that a person would write for them.
const CASES: &[(&[&str], &str)] = &[
    // Nothing to go by.
    (&[], "{observation}"),
    (&["Output:\na"], "{observation}"),
    (&["Output:\na", "Output:\na"], "{observation}"),
    (&["", "a"], "{observation}"),
    (&["Output:", "Output:\na"], "{observation}"),
    (&["```", "```\na\n```"], "{observation}```"),
    // Announced above.
    (&["Output:\na", "Output:\nb"], "Output:\n{observation}"),
    (
        &["OBSERVATION:\n[File: a (4 lines)]\n(begin)\n1", "OBSERVATION:\n[File: b (5 lines)]\n(begin)\n2"],
        "OBSERVATION:\n{observation}",
    ),
    (&["OBSERVATION\na", "OBSERVATION\nb"], "OBSERVATION\n{observation}"),
    (&["## Result\n\na", "## Result\n\nb"], "## Result\n\n{observation}"),
    (&["[Observation]\na", "[Observation]\nb"], "[Observation]\n{observation}"),
    (
        &["Here is what came back:\n---\na\n---", "Here is what came back:\n---\nb\n---"],
        "Here is what came back:\n---\n{observation}\n---",
    ),
    (&["Command: ls\nOutput:\na", "Command: cat\nOutput:\nb"], "Command: {command}\nOutput:\n{observation}"),
    // Begins alike, and was observed.
    (&["src:\na.py", "src:\nb.py", "src:\nc.py"], "{observation}"),
    (&["./src:\na.py", "./src:\nb.py"], "{observation}"),
    (&["Traceback (most recent call last):\na", "Traceback (most recent call last):\nb"], "{observation}"),
    (&["1:import os\na", "1:import os\nb"], "{observation}"),
    (&["[File: a.py]\n1:x\n2:y", "[File: b.py]\n1:x\n2:z"], "{observation}"),
    (&["  % Total\na", "  % Total\nb", "  % Total\nc", "  % Total\nd"], "{observation}"),
    (&["The same words", "The same word"], "{observation}"),
    (&["The tool said\na", "The tool said\nb"], "{observation}"),
    (&["The tool said\na", "The tool said\nb", "The tool said\nc", "The tool said\nd"], "The tool said\n{observation}"),
    // On its own line.
    (&["Observation: a", "Observation: b\nc"], "Observation: {observation}"),
    (&["Observation 1: a", "Observation 2: b"], "Observation {number}: {observation}"),
    (&["Observation 9:\na", "Observation 10:\nb"], "Observation {number}:\n{observation}"),
    (&["Observation 1: a", "Observation 3: b"], "{observation}"),
    (&["Observation 01: a", "Observation 02: b"], "{observation}"),
    (&["Error: a", "Error: b", "Error: c", "Error: d"], "{observation}"),
    (&["Roses: a", "Roses: b"], "{observation}"),
    (&["Roses: a", "Roses: b", "Roses: c", "Roses: d"], "Roses: {observation}"),
    (&["Result:a", "Result:b"], "{observation}"),
    (&["<output>a</output>", "<output>b\nc</output>"], "<output>{observation}</output>"),
    (&["<output>a</output>", "<output>b"], "{observation}"),
    (&["<html>a</html>", "<html>b</html>"], "{observation}"),
    // Below.
    (&["a\n(Directory: /x)\n$", "b\n(Directory: /x)\n$"], "{observation}\n(Directory: /x)\n$"),
    (&["a\n(Directory: /x)\n$", "b\n(Directory: /y)\n$"], "{observation}\n(Directory: {directory})\n$"),
    (
        &["a\n(File: 1)\n(File: 2)\n$", "b\n(File: 3)\n(File: 4)\n$"],
        "{observation}\n(File: {file})\n(File: {file_2})\n$",
    ),
    (&["a\n(Observation: 1)\n$", "b\n(Observation: 2)\n$"], "{observation}\n(Observation: {observation_2})\n$"),
    // What programs print often ends in a line feed: an empty line is theirs.
    (&["a\n\nbash-$", "b\n\nbash-$"], "{observation}\nbash-$"),
    (&["a\n(x: 1)", "b\n(x: 2)"], "{observation}"),
    (&["{\n\"a\": 1\n}", "{\n\"a\": 2\n}"], "{observation}"),
    (&["a\n", "b\n"], "{observation}"),
    (&["a\nWhat is next", "b\nWhat is next"], "{observation}"),
    (&["a\nWhat is next", "b\nWhat is next", "c\nWhat is next", "d\nWhat is next"], "{observation}\nWhat is next"),
    // Both, and nothing in between.
    (
        &["<code>0</code>\n<out>\na\n</out>", "<code>1</code>\n<out>\n</out>"],
        "<code>{code}</code>\n<out>\n{observation}</out>",
    ),
    (&["Output:\n```\na\n```\n\n", "Output:\n```\n\n```\n\n"], "Output:\n```\n{observation}\n```\n\n"),
    // Braces are text.
    (&["{x}:\n```\na\n```", "{x}:\n```\nb\n```"], "{observation}\n```"),
    (&["Got {x}:\n```\na\n```", "Got {x}:\n```\nb\n```"], "Got {{x}}:\n```\n{observation}\n```"),
];

#[test]
fn frames_are_those_a_person_would_write() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|(texts, wanted)| {
            let found = Frame::find(texts).template();
            (found != *wanted).then(|| format!("{texts:?}\n  wanted {wanted:?}\n  found  {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_taken_off_goes_back_on() {
    for (texts, _) in CASES {
        let frame = Frame::find(texts);
        let names: Vec<&str> = ["observation"].into_iter().chain(frame.fields()).collect();
        let template = Template::parse(frame.template(), &names).expect("a template");
        for text in *texts {
            let (observation, values) = frame.take_off(text);
            let arguments: Vec<Text<'_>> = [observation].into_iter().chain(values).map(Text::from).collect();
            assert_eq!(template.apply(&arguments.iter().collect::<Vec<_>>()).to_cow(), *text, "{}", template.source());
        }
    }
}

#[test]
fn a_frame_that_is_taken_off_leaves_the_observation() {
    let texts = ["<code>0</code>\n<out>\na\n</out>\n(At: x)\n$", "<code>1</code>\n<out>\n</out>\n(At: y)\n$"];
    let frame = Frame::find(&texts);
    assert_eq!(frame.fields(), ["code", "at"]);
    assert_eq!(frame.take_off(texts[0]), ("a\n", vec!["0", "x"]));
    assert_eq!(frame.take_off(texts[1]), ("", vec!["1", "y"]));
}
