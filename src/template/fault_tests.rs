//! Every fault of a template: its code, its place, its words.

use super::Template;

/// Template ~ code ~ what the span covers ~ message ~ part of the hint; the backslashes are those of `escapes`.
const FAULTS: &str = r##"
Observation: ~ template.no_field ~ Observation: ~ the template has no field {observation} ~ where that text belongs
{open_file} ~ template.no_field ~ {open_file} ~ the template has no field {observation} ~ where that text belongs
a {{observation}} b ~ template.no_field ~ {{observation}} ~ the template has no field {observation} ~ single braces
{{{{observation}}}} ~ template.no_field ~ {{{{observation}}}} ~ the template has no field {observation} ~ single braces
{{ observation }} ~ template.no_field ~ {{ observation }} ~ the template has no field {observation} ~ Jinja
x {{- observation | trim -}} y ~ template.no_field ~ {{- observation | trim -}} ~ the template has no field {observation} ~ Jinja
<<observation>> ~ template.no_field ~ <observation> ~ the template has no field {observation} ~ place of <observation>
${{observation}} ~ template.no_field ~ {{observation}} ~ the template has no field {observation} ~ single braces
$observation ~ template.no_field ~ $observation ~ the template has no field {observation} ~ place of $observation
$observations ~ template.no_field ~ $observations ~ the template has no field {observation} ~ where that text belongs
[observation] ~ template.no_field ~ [observation] ~ the template has no field {observation} ~ place of [observation]
%s %(observation)s ~ template.no_field ~ %(observation)s ~ the template has no field {observation} ~ %(observation)s
observation: %s ~ template.no_field ~ %s ~ the template has no field {observation} ~ place of %s

x {observation ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ close it: {observation}
{observation!r ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ close it: {observation}
{observation! ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ close it: {observation}
{observation:{} ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ close it: {observation}
{observation[0} ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ close it: {observation}
{observations ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ written twice
{observation} { ~ template.syntax ~ { ~ a single `{` whose field is never closed ~ written twice
{observation} } ~ template.syntax ~ } ~ a single `}` that closes no field ~ written twice
{{ observation } ~ template.syntax ~ } ~ a single `}` that closes no field ~ write {observation}:
if (x) { {observation} } ~ template.syntax ~ { { ~ a `{` inside the name of a field ~ written twice
{observation{open_file}} ~ template.syntax ~ {observation{ ~ a `{` inside the name of a field ~ close it: {observation}
{observation!x} ~ template.syntax ~ x ~ no conversion "x" ~ !s, !r and !a
{observation!r\e} ~ template.syntax ~ r\e ~ no conversion "r\u{1b}" ~ !s, !r and !a
{observation!}} ~ template.syntax ~ ! ~ a `!` without a conversion ~ !s, !r and !a
{observation!:>5} ~ template.syntax ~ ! ~ a `!` without a conversion ~ !s, !r and !a
{"a": "{observation}"} ~ template.syntax ~ { ~ a brace before a quoted string opens no field ~ {{"output":
{\n  'a': {observation}\n} ~ template.syntax ~ { ~ a brace before a quoted string opens no field ~ {{"output":
{% if x %}{observation} ~ template.syntax ~ { ~ a Jinja tag is no field ~ no tags
{# x #}{observation} ~ template.syntax ~ { ~ a Jinja tag is no field ~ no tags

{output} ~ template.unknown_field ~ output ~ unknown field "output" ~ the fields are {observation} and {open_file};
é{#1} ~ template.unknown_field ~ #1 ~ unknown field "#1" ~ written twice
{a\e\n} ~ template.unknown_field ~ a\e\n ~ unknown field "a\u{1b}\n" ~ written twice
{x.y} ~ template.unknown_field ~ x ~ unknown field "x" ~ written twice
{x:{observation}} ~ template.unknown_field ~ x ~ unknown field "x" ~ written twice
{Observation} ~ template.unknown_field ~ Observation ~ unknown field "Observation" ~ write {observation}
{openfile} ~ template.unknown_field ~ openfile ~ unknown field "openfile" ~ write {open_file}
{ observation } ~ template.unknown_field ~  observation  ~ unknown field " observation " ~ spaces included
{observation=} ~ template.unknown_field ~ observation= ~ unknown field "observation=" ~ f-strings
{\u043e\u043e\u043e\u043ervation} ~ template.unknown_field ~ \u043e\u043e\u043e\u043ervation ~ unknown field "\u{43e}\u{43e}\u{43e}\u{43e}rvation": it holds U+043E ~ write {observation}
{obse\u200brvation} ~ template.unknown_field ~ obse\u200brvation ~ unknown field "obse\u{200b}rvation": it holds U+200B ~ write {observation}
{файл} ~ template.unknown_field ~ файл ~ unknown field "файл" ~ written twice
{} ~ template.unknown_field ~ {} ~ a field without a name ~ written twice
{.x} ~ template.unknown_field ~ {.x} ~ a field without a name ~ written twice
{0!r:>5} ~ template.unknown_field ~ {0!r:>5} ~ the field "0" has a number for a name ~ written twice
{٣} ~ template.unknown_field ~ {٣} ~ the field "٣" has a number for a name ~ written twice

{observation.strip()} ~ template.access ~ .strip() ~ the field "observation.strip()" reaches into its text ~ write {observation}
{open_file[0]} ~ template.access ~ [0] ~ the field "open_file[0]" reaches into its text ~ write {open_file}
{observation[}:!]} ~ template.access ~ [}:!] ~ the field "observation[}:!]" reaches into its text ~ write {observation}
{observation.} ~ template.access ~ . ~ the field "observation." reaches into its text ~ write {observation}
{observation:>{open_file}} ~ template.access ~ { ~ a field inside a format spec ~ as numbers

{observation:{{}}} ~ template.spec ~ { ~ a brace in a format spec ~ [[fill]align]
{observation:é=10} ~ template.spec ~ = ~ the alignment `=` is for numbers ~ <, > or ^
{observation:=10} ~ template.spec ~ = ~ the alignment `=` is for numbers ~ <, > or ^
{observation:>+5} ~ template.spec ~ + ~ the option `+` of a format spec is for numbers ~ [[fill]align]
{observation:-} ~ template.spec ~ - ~ the option `-` of a format spec is for numbers ~ [[fill]align]
{observation:z} ~ template.spec ~ z ~ the option `z` of a format spec is for numbers ~ [[fill]align]
{observation:#} ~ template.spec ~ # ~ the option `#` of a format spec is for numbers ~ [[fill]align]
{observation:5,} ~ template.spec ~ , ~ the option `,` of a format spec is for numbers ~ [[fill]align]
{observation:5_} ~ template.spec ~ _ ~ the option `_` of a format spec is for numbers ~ [[fill]align]
{observation:016777217} ~ template.spec ~ 16777217 ~ a width over 16777216 characters ~ smaller width
{observation:99999999999999999999} ~ template.spec ~ 99999999999999999999 ~ a width over 16777216 characters ~ smaller
{observation:.s} ~ template.spec ~ . ~ a `.` without a precision ~ after it
{observation:.9223372036854775808} ~ template.spec ~ 9223372036854775808 ~ a precision over 9223372036854775807 characters ~ leave
{observation:d} ~ template.spec ~ d ~ no format code "d" for text ~ [[fill]align]
{observation:5\e} ~ template.spec ~ \e ~ no format code "\u{1b}" for text ~ [[fill]align]
{observation:%Y-%m} ~ template.spec ~ %Y-%m ~ the format spec does not end before "%Y-%m" ~ [[fill]align]

{observation!x} {output ~ template.syntax ~ x ~ no conversion "x" ~ !s, !r and !a
{output} {observation!x} ~ template.unknown_field ~ output ~ unknown field "output" ~ written twice
{output!x:d} ~ template.unknown_field ~ output ~ unknown field "output" ~ written twice
{observation!x:d} ~ template.syntax ~ x ~ no conversion "x" ~ !s, !r and !a
{{observation}} {output} ~ template.unknown_field ~ output ~ unknown field "output" ~ written twice
"##;

#[test]
fn every_fault_has_its_code_place_and_hint() {
    let escapes = [("\\n", "\n"), ("\\e", "\u{1b}"), ("\\u200b", "\u{200b}"), ("\\u043e", "\u{43e}")];
    let unescape = |text: &str| escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let mut seen = 0;
    for line in FAULTS.lines().filter(|line| !line.is_empty()) {
        let [template, code, span, message, hint] = line.splitn(5, " ~ ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let template = unescape(template);
        let error = Template::parse(template.as_str(), &["observation", "open_file"]).unwrap_err();
        assert_eq!(error.code().as_str(), code, "{line}");
        assert_eq!(template[error.span().unwrap()], unescape(span), "{line}");
        assert_eq!(error.message(), message, "{line}");
        assert!(error.hint().unwrap().contains(hint), "{line}: {:?}", error.hint());
        seen += 1;
    }
    assert!(seen > 50);
}

#[test]
fn a_span_counts_bytes_and_an_empty_template_has_an_empty_one() {
    let span = |template: &str| Template::parse(template, &["observation"]).unwrap_err().span();
    assert_eq!(span("é{observation:é>5d}"), Some(19..20));
    assert_eq!(span(""), Some(0..0));
}

#[test]
fn messages_stay_short() {
    let name = "a".repeat(1000);
    let names: Vec<String> = (0..1000).map(|n| format!("field{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = Template::parse(format!("{{{name}}}"), &names).unwrap_err();
    assert_eq!(error.message(), format!("unknown field \"{}\"…", "a".repeat(40)));
    assert!(error.hint().unwrap().starts_with("the fields are {field0}, {field1}, {field2}"));
    assert!(error.hint().unwrap().len() < 200);
    let error = Template::parse("{x}", &[&name]).unwrap_err();
    assert!(error.hint().unwrap().starts_with(&format!("the only field is {{{}…}}", "a".repeat(40))));
}
