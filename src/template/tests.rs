use super::*;
use crate::error::Code;
use proptest::prelude::*;

/// The output for the names `observation` and `open_file`.
fn format(template: &str, observation: &str) -> String {
    let template = Template::parse(template, &["observation", "open_file"]).unwrap();
    template.apply(&[&observation.into(), &"a.py".into()]).to_string()
}

#[test]
fn fields_and_doubled_braces() {
    for (template, expected) in [
        ("{observation}", "xé"),
        ("Output:\n```\n{observation}\n```\n\n", "Output:\n```\nxé\n```\n\n"),
        ("{{{observation}}}", "{xé}"),
        ("{{}}}}{{{{ {observation} {{observation}}", "{}}{{ xé {observation}"),
        ("{observation} in {open_file} {observation}", "xé in a.py xé"),
        ("${observation}%", "$xé%"),
    ] {
        assert_eq!(format(template, "xé"), expected, "{template}");
    }
}

#[test]
fn what_is_put_in_is_not_expanded() {
    assert_eq!(format("<{observation}>", "{observation} {{}} {open_file"), "<{observation} {{}} {open_file>");
}

#[test]
fn specs_pad_and_cut_by_code_points() {
    for (spec, expected) in [
        ("", "abé"),
        (":", "abé"),
        (":s", "abé"),
        ("!s:5", "abé  "),
        (":5", "abé  "),
        (":<5", "abé  "),
        (":>5", "  abé"),
        (":^6", " abé  "),
        (":*^6s", "*abé**"),
        (":😀>4", "😀abé"),
        (":<<4", "abé<"),
        (":05", "abé00"),
        (":>05", "00abé"),
        (":x<05", "abéxx"),
        (":0<5", "abé00"),
        (":0", "abé"),
        (":2", "abé"),
        (":.2", "ab"),
        (":.3", "abé"),
        (":.0", ""),
        (":3.1", "a  "),
        (":>٥.٢", "   ab"),
        (":𝟝", "abé  "),
        ("!r", "'abé'"),
        ("!a", r"'ab\xe9'"),
        ("!a:.5", r"'ab\x"),
        ("!r:>7.4", "   'abé"),
        ("!r:.0", ""),
    ] {
        assert_eq!(format(&format!("{{observation{spec}}}"), "abé"), expected, "{spec}");
    }
}

#[test]
fn a_precision_counts_over_pieces() {
    let template = Template::parse("{observation:>4.3}", &["observation"]).unwrap();
    for (json, expected) in [
        (r"a\nb\tc", " a\nb"),
        (r"\n\n\n\n", " \n\n\n"),
        (r"é\né\n", " é\né"),
        ("é中😀", " é中😀"),
        ("é", "   é"),
        ("", "    "),
    ] {
        assert_eq!(template.apply(&[&Text::from_json(json).unwrap()]).to_string(), expected, "{json}");
    }
}

#[test]
fn a_cut_text_in_one_run_is_borrowed() {
    let text = Text::from("abcdef");
    assert!(matches!(head(&text, 3), Cow::Borrowed("abc")));
}

#[test]
fn the_largest_width_is_allowed() {
    let template = Template::parse("{observation:é>16777216}", &["observation"]).unwrap();
    let text = "x".into();
    let arguments = [&text];
    assert_eq!(template.apply(&arguments).chars(), 16_777_216);
    assert!(template.cost(&arguments) > 2 * 16_777_215);
}

#[test]
fn the_cost_is_an_upper_bound_of_large_outputs() {
    for character in ["a", "\0", "\\", "é", "\u{85}", "中", "😀", "\u{10ffff}"] {
        let text = Text::from(character.repeat(1000));
        for form in ["", "!r", "!a", ":.900", "!r:.900", ":5000", ":é>5000.900", "!a:😀>5000.100"] {
            let template = Template::parse(format!("{{observation{form}}}"), &["observation"]).unwrap();
            let (cost, bytes) = (template.cost(&[&text]), template.apply(&[&text]).bytes());
            assert!(cost >= bytes + 64, "{character:?} {form}: {cost} < {bytes}");
        }
    }
    let text = Text::from("xyz");
    let template = Template::parse("ab{observation}c{observation:5}", &["observation"]).unwrap();
    assert!(template.cost(&[&text]) >= template.apply(&[&text]).bytes() + 5 * 64);
}

#[test]
fn the_cost_saturates() {
    let mut huge = Text::default();
    huge.push_fill('x', u64::MAX / 2);
    let template = Template::parse("{observation}{observation!r}{observation:5}", &["observation"]).unwrap();
    assert_eq!(template.cost(&[&huge]), u64::MAX);
}

#[test]
fn a_missing_argument_leaves_a_gap() {
    let template = Template::parse("<{observation}{open_file:5}>", &["observation", "open_file"]).unwrap();
    assert_eq!(template.apply(&[&"x".into()]).to_string(), "<x>");
    assert!(template.cost(&[]) >= 2);
}

#[test]
fn the_first_name_must_occur_and_no_other() {
    let names = ["content", "id"];
    assert!(Template::parse("{content}", &names).is_ok());
    assert_eq!(Template::parse("{id}", &names).unwrap_err().code(), Code::TemplateNoField);
    assert!(Template::parse("{content}", &["content", "content"]).is_ok());
    assert!(Template::parse("no names, no field", &[]).is_ok());
    assert_eq!(Template::parse("{content}", &[]).unwrap_err().code(), Code::TemplateUnknownField);
}

#[test]
fn names_are_compared_as_they_stand() {
    for name in ["datei-é", "]x", "a b", "x\n", "\"q\"", "x}y"] {
        let valid = Template::parse(format!("{{{name}}}"), &[name]).is_ok();
        assert_eq!(valid, !name.contains('}'), "{name}");
    }
}

#[test]
fn plain_fields_are_those_without_conversion_and_spec() {
    for (template, count) in [
        ("{observation}{observation:}{open_file}", 2),
        ("{observation!s}", 0),
        ("{observation:s}{{observation}}", 0),
        ("{observation:5}{observation}", 1),
    ] {
        assert_eq!(
            Template::parse(template, &["observation", "open_file"]).unwrap().plain_fields(),
            count,
            "{template}"
        );
    }
}

#[test]
fn warnings_name_what_is_lost_and_what_is_repeated() {
    let warnings = |template: &str| -> Vec<(&str, Range<usize>, String)> {
        let template = Template::parse(template, &["observation", "open_file"]).unwrap();
        template
            .warnings()
            .iter()
            .map(|warning| (warning.code, warning.span.clone(), warning.message.clone()))
            .collect()
    };
    assert_eq!(warnings("{observation:>5}{open_file!s}"), []);
    assert_eq!(
        warnings("é{observation:.20}"),
        [("template.lossy", 2..19, "the field \"observation\" is cut after 20 characters".to_owned())]
    );
    let codes = warnings("{observation!r}{open_file!a:.3}");
    assert_eq!(
        codes.iter().map(|(code, span, _)| (*code, span.clone())).collect::<Vec<_>>(),
        [("template.lossy", 0..15), ("template.lossy", 15..31), ("template.lossy", 15..31)]
    );
    assert_eq!(warnings("{observation:.1}{observation:.2}{observation!r}{observation!r}").len(), 3);
    assert_eq!(codes[0].2, "the field \"observation\" is rewritten by `!r`: quoted and escaped");
    assert_eq!(
        warnings("{observation}{observation}{open_file}{observation}"),
        [("template.repeated_field", 13..26, "the field \"observation\" is used more than once".to_owned())]
    );
}

#[test]
fn a_template_owns_or_borrows_its_source() {
    let owned: Template<'static> = Template::parse("<{observation}>".to_owned(), &["observation"]).unwrap();
    assert_eq!(owned.clone().source(), "<{observation}>");
}

/// A literal, as it is written and as it is read.
fn literal() -> impl Strategy<Value = (String, String)> {
    any::<String>().prop_map(|text| (text.replace('{', "{{").replace('}', "}}"), text))
}

proptest! {
    #[test]
    fn plain_fields_are_concatenation(
        literals in prop::collection::vec(literal(), 2..6),
        observation: String,
    ) {
        let written: Vec<&str> = literals.iter().map(|(written, _)| written.as_str()).collect();
        let read: Vec<&str> = literals.iter().map(|(_, read)| read.as_str()).collect();
        let template = Template::parse(written.join("{observation}"), &["observation"]).unwrap();
        let json = serde_json::to_string(&observation).unwrap();
        let escaped = Text::from_json(&json[1..json.len() - 1]).unwrap();

        for argument in [Text::from(observation.as_str()), escaped] {
            let arguments = [&argument];
            let output = template.apply(&arguments);
            prop_assert_eq!(output.to_cow(), read.join(&observation));
            prop_assert!(template.cost(&arguments) >= output.bytes());
        }
        prop_assert_eq!(template.plain_fields(), literals.len() - 1);
    }

    #[test]
    fn the_observation_occurs_as_often_as_it_is_promised(
        fields in prop::collection::vec("(\\{observation(![sra])?(:x?[<^>][0-9]?(\\.[0-9])?)?\\}|\\{\\{|\\}\\}|[a-c])", 0..8),
        observation in "[x-z{}]{1,4}",
    ) {
        let source = format!("{{observation:5}}{}", fields.concat());
        let template = Template::parse(source, &["observation"]).unwrap();
        let text = Text::from(observation.as_str());
        let output = template.apply(&[&text]).to_string();
        prop_assert!(output.matches(&observation).count() >= template.plain_fields());
        prop_assert!(template.cost(&[&text]) >= output.len() as u64);
    }

    #[test]
    fn no_template_panics(source in "[{}:!\\[\\].<>^=0-9sra é\u{661}\n\u{1b}o]{0,24}", argument: String) {
        match Template::parse(source.as_str(), &["o", "a"]) {
            Ok(template) => {
                template.apply(&[&argument.as_str().into()]);
            }
            Err(error) => {
                prop_assert!(source.get(error.span().unwrap()).is_some());
                let words = format!("{} {}", error.message(), error.hint().unwrap());
                prop_assert!(!words.contains(char::is_control), "{}", words);
            }
        }
    }
}
