//! What comes of cells.

use serde_json::json;

use crate::session::{Kernel, failed, has_python};

#[test]
fn a_cell_gives_what_it_prints_and_what_it_ends_in() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let answer = kernel.run("import sys\nx = [1, 2]\nprint('out')\nprint('err', file=sys.stderr)\nlen(x)");
    assert_eq!(
        answer,
        json!({
            "ok": true, "stdout": "out\n", "stderr": "err\n", "stdout_left_out_bytes": 0, "stderr_left_out_bytes": 0,
            "result": "2", "error": null, "restarted": false,
            "state": {
                "alive": true, "revision": 1,
                "variables": [{"name": "x", "type": "list", "preview": "[1, 2]", "size": 2}],
            },
        })
    );
    for (cell, result) in [("x", json!("[1, 2]")), ("None", json!(null)), ("y = 1", json!(null)), ("", json!(null))] {
        assert_eq!(kernel.run(cell)["result"], result, "{cell}");
    }
    assert_eq!(kernel.prints("print(__name__)"), "__main__\n");
    kernel.close();
}

#[test]
fn an_exception_comes_with_its_traceback_and_without_frames_of_the_kernel() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    kernel.run("def fails(text):\n    return context.search(text, regex=True)\n");
    let answer = kernel.run("fails('(') if False else fails(3)");
    assert_eq!(failed(&answer), ("exception", false));
    let traceback = answer["error"]["traceback"].as_str().expect("there is a traceback");
    for part in
        ["File \"<cell 1>\", line 2, in fails", "return context.search(text, regex=True)", "<cell 2>", "TypeError"]
    {
        assert!(traceback.contains(part), "{part}: {traceback}");
    }
    assert!(!traceback.contains("polyloop kernel"), "{traceback}");
    let answer =
        kernel.run("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('later') from error");
    let traceback = answer["error"]["traceback"].as_str().expect("there is a traceback");
    assert!(traceback.contains("ZeroDivisionError") && traceback.contains("ValueError: later"), "{traceback}");
    assert_eq!((&answer["error"]["type"], &answer["error"]["message"]), (&json!("ValueError"), &json!("later")));
    let answer = kernel.run("a = (");
    assert_eq!(answer["error"]["type"], "SyntaxError", "{answer:#}");
    kernel.close();
}

#[test]
fn cells_that_end_themselves_are_reported_and_lose_nothing() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    kernel.run("kept = 1");
    for (cell, code) in [
        ("exit()", 0),
        ("import sys; sys.exit(3)", 3),
        ("quit()", 0),
        ("raise SystemExit('words')", 1),
        ("raise SystemExit(10 ** 30)", 1),
    ] {
        let answer = kernel.run(cell);
        assert_eq!(failed(&answer), ("exit", false), "{cell}");
        let message = answer["error"]["message"].as_str().expect("it says what");
        assert_eq!(message.ends_with(": words"), cell.contains("words"), "{message}");
        assert_eq!(answer["error"]["exit_code"], code, "{cell}");
    }
    assert_eq!(kernel.prints("print(kept, end='')"), "1");
    kernel.close();
}

#[test]
fn what_is_printed_between_cells_is_in_the_next_answer() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    kernel.run(
        "import threading, time\ngo, gone = threading.Event(), threading.Event()\ndef later():\n    go.wait()\n    \
         print('later', flush=True)\n    gone.set()\nthreading.Thread(target=later).start()",
    );
    assert_eq!(kernel.prints("go.set(); gone.wait(); print('now')"), "later\nnow\n");
    kernel.close();
}

#[test]
fn all_that_a_cell_prints_is_in_its_own_answer() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    for number in 0..300 {
        let answer = kernel.run(&format!("import os\nos.write(1, b'{number}'); os.write(2, b'-{number}')"));
        assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!(number.to_string()), &json!(format!("-{number}"))));
    }
    for _ in 0..20 {
        assert_eq!(kernel.prints("print('é' * 200_000, end='')").chars().count(), 200_000);
    }
    kernel.close();
}

#[test]
fn output_past_the_limit_is_counted_and_not_kept() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--max-output", "5"]);
    let answer = kernel.run("import sys\nprint('ééé', end='')\nsys.stderr.write('12345678')\n'x' * 1000");
    assert_eq!((&answer["stdout"], &answer["stdout_left_out_bytes"]), (&json!("éé"), &json!(2)));
    assert_eq!((&answer["stderr"], &answer["stderr_left_out_bytes"]), (&json!("12345"), &json!(3)));
    let result = answer["result"].as_str().expect("there is a result");
    assert!(result.contains("997 characters left out") && result.len() < 60, "{result}");
    let mut large = Kernel::start(&["--max-output", "1000000000"]);
    for cell in ["'😀' * 3_000_000", "raise ValueError('😀' * 3_000_000)", "type('K' * 3_000_000, (), {})()"] {
        assert_eq!(large.run(cell)["restarted"], false, "{cell}");
    }
    large.close();
    let answer = kernel.run("print('next', end='')");
    assert_eq!((&answer["stdout"], &answer["stdout_left_out_bytes"]), (&json!("next"), &json!(0)));
    kernel.close();
}

#[test]
fn what_has_no_bytes_is_shown() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let printed = kernel.prints("import os\nprint('\\ud800')\nos.write(1, b'\\xff\\n')\n'\\udfff'\nx = '\\udc00'");
    assert_eq!(printed, "\\ud800\n\\xff\n");
    let answer = kernel.run("raise ValueError('\\ud800')");
    assert_eq!(answer["error"]["message"], "\\ud800");
    kernel.close();
}

#[test]
fn a_thousand_searches_in_a_session() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let printed = kernel.prints("print(sum(context.search('limit %d' % n, limit=1).total >= 0 for n in range(1000)))");
    assert_eq!(printed, "1000\n");
    kernel.close();
}
