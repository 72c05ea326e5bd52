//! How variables are shown, and that showing them runs none of their code.

use serde_json::{Value, json};

use crate::session::{Kernel, has_python};

fn variable(kernel: &mut Kernel, cell: &str) -> Value {
    let answer = kernel.run(&format!("globals().pop('shown', None)\n{cell}"));
    assert_eq!(answer["ok"], true, "{cell}: {answer:#}");
    let variables = answer["state"]["variables"].as_array().expect("there are variables");
    variables.iter().find(|variable| variable["name"] == "shown").expect("it is among them").clone()
}

#[test]
fn builtin_values_are_shown() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    for (value, kind, preview, size) in [
        ("3", "int", "3", json!(null)),
        ("-2.5", "float", "-2.5", json!(null)),
        ("None", "NoneType", "None", json!(null)),
        ("True", "bool", "True", json!(null)),
        ("'a\\n'", "str", "'a\\n'", json!(2)),
        ("b'a'", "bytes", "b'a'", json!(1)),
        ("[1, 'a', (2,), {}]", "list", "[1, 'a', (2,), {}]", json!(4)),
        ("{'b': 1, 'a': [2]}", "dict", "{'b': 1, 'a': [2]}", json!(2)),
        ("{3, 1, 2}", "set", "{1, 2, 3}", json!(3)),
        ("set()", "set", "set()", json!(0)),
        ("frozenset([1])", "frozenset", "frozenset({1})", json!(1)),
        ("()", "tuple", "()", json!(0)),
        ("range(3)", "range", "range(0, 3)", json!(null)),
        ("10 ** 5000", "int", "<int of 16610 bits>", json!(null)),
        ("len", "builtin_function_or_method", "<builtin_function_or_method object>", json!(null)),
        ("lambda: 1", "function", "<function <lambda>>", json!(null)),
        ("ValueError", "type", "<class ValueError>", json!(null)),
        ("'\\ud800'", "str", "'\\ud800'", json!(1)),
        ("[[[[[[1]]]]]]", "list", "[[[[[…]]]]]", json!(1)),
        (
            "list(range(100))",
            "list",
            "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, …]",
            json!(100),
        ),
    ] {
        assert_eq!(
            variable(&mut kernel, &format!("shown = {value}")),
            json!({"name": "shown", "type": kind, "preview": preview, "size": size}),
            "{value}"
        );
    }
    kernel.close();
}

#[test]
fn code_of_values_is_never_run() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--timeout", "20"]);
    let trap = "
ran = []
class Kind(type):
    def __getattribute__(cls, name): ran.append(name); raise SystemExit
    __name__ = __module__ = property(lambda cls: ran.append('name'))
    def __instancecheck__(cls, other): ran.append('instance'); return True
    def __hash__(cls): ran.append('hash'); return 1
    def __eq__(cls, other): ran.append('eq'); return True
def trapped(self, *args):
    ran.append('called')
    while True: pass
names = '__repr__ __str__ __len__ __getattr__ __getattribute__ __iter__ __hash__ __eq__ __bool__ __format__ __sizeof__'
";
    for (cell, preview) in [
        ("shown = type('Trap', (), dict.fromkeys(names.split(), trapped))()", "<__main__.Trap object>"),
        ("shown = type('Trap', (list,), dict.fromkeys(names.split(), trapped))([1])", "<__main__.Trap object>"),
        ("shown = type('Trap', (dict,), dict.fromkeys(names.split(), trapped))(a=1)", "<__main__.Trap object>"),
        ("shown = type('Trap', (str,), dict.fromkeys(names.split(), trapped))('a')", "<__main__.Trap object>"),
        ("shown = [type('Trap', (int,), dict.fromkeys(names.split(), trapped))(1)]", "[<__main__.Trap object>]"),
        ("shown = Kind.__call__(Kind, 'Meta', (), {})", "<Kind object>"),
        ("shown = type.__call__(type.__call__(Kind, 'Meta', (), {}))", "<__main__.Meta object>"),
    ] {
        let answer = kernel.run(&format!("{trap}{cell}\nstarted = len(ran)\nstate = context.get_runtime_state()"));
        assert_eq!(answer["ok"], true, "{cell}: {answer:#}");
        let variables = answer["state"]["variables"].as_array().expect("there are variables");
        let shown = variables.iter().find(|variable| variable["name"] == "shown").expect("it is among them");
        assert_eq!(shown["preview"], preview, "{cell}");
        assert_eq!(kernel.prints("print(len(ran) - started)"), "0\n", "{cell}");
    }
    kernel.close();
}

#[test]
fn previews_are_bounded() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    for value in [
        "'a' * 10_000_000",
        "[['b' * 1000] * 1000] * 1000",
        "b'c' * 10_000_000",
        "set(range(1_000_000))",
        "dict.fromkeys(range(1_000_000))",
        "{'k' * 1000: {'v' * 1000: 1}}",
        "[10 ** 300] * 10",
    ] {
        let shown = variable(&mut kernel, &format!("shown = {value}"));
        let preview = shown["preview"].as_str().expect("it has a preview");
        assert!(preview.chars().count() <= 201 && preview.contains('…'), "{value}: {preview}");
    }
    let preview = variable(&mut kernel, "shown = []; shown.append(shown)")["preview"].clone();
    assert_eq!(preview, "[[[[[…]]]]]");
    let answer = kernel.run("for number in range(1000): globals()['v%d' % number] = number");
    assert_eq!(answer["state"]["variables"].as_array().map(Vec::len), Some(200));
    assert!(answer["state"]["variables_left_out"].as_u64() >= Some(800), "{}", answer["state"]["variables_left_out"]);
    kernel.close();
}

#[test]
fn modules_the_context_and_what_python_keeps_for_itself_are_no_variables() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let answer = kernel.run("import os, sys as system\n__own__ = 1\n_shown = 2");
    assert_eq!(answer["state"]["variables"], json!([{"name": "_shown", "type": "int", "preview": "2", "size": null}]));
    kernel.close();
}
