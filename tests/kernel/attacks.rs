//! What cells do that they should not: it is reported, and the next cell works.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::session::{Kernel, failed, has_python};

#[test]
fn a_cell_that_never_ends_is_interrupted_at_its_limit() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--timeout", "1.5"]);
    kernel.run("kept = 1");
    for cell in [
        "while True: pass",
        "import time\nprint('before')\ntime.sleep(1000)",
        "while True: context.search('limit')",
        "while True: context.current()",
        "import subprocess\nsubprocess.run(['sleep', '1000'])",
        "class Endless:\n    def __repr__(self):\n        while True: pass\nEndless()",
        "class Endless(Exception):\n    def __str__(self):\n        while True: pass\nraise Endless",
    ] {
        let answer = kernel.run(cell);
        assert_eq!(failed(&answer), ("timeout", false), "{cell}: {answer:#}");
        assert_eq!(answer["error"]["message"], "the cell took longer than 1.5 s");
    }
    let answer = kernel.ask(json!({"cell": "while True: pass", "timeout_seconds": 0.25}).to_string().as_bytes());
    assert_eq!(answer["error"]["message"], "the cell took longer than 0.25 s");
    assert_eq!(kernel.prints("print(kept)"), "1\n");
    kernel.close();
}

#[test]
fn a_cell_that_cannot_be_interrupted_is_killed_and_the_answer_says_what_is_lost() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--timeout", "2"]);
    for cell in [
        "import time\nprint('before', flush=True)\nwhile True:\n    try:\n        while True: time.sleep(0.01)\n    \
         except KeyboardInterrupt: pass",
        "import signal\nprint('before', flush=True)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)",
    ] {
        kernel.run("kept = 1");
        let answer = kernel.run(cell);
        assert_eq!(failed(&answer), ("timeout", true), "{cell}");
        assert_eq!(answer["stdout"], "before\n", "{cell}");
        assert_eq!(answer["state"]["variables"], json!([]), "{cell}");
        assert_eq!(failed(&kernel.run("kept")), ("exception", false), "{cell}");
    }
    kernel.close();
}

#[test]
fn a_cell_is_interrupted_when_a_request_says_so() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--timeout", "0"]);
    for cell in ["import time\ntime.sleep(1000)", "while True: context.search('limit')"] {
        kernel.send(json!({"cell": cell, "id": 7}).to_string().as_bytes());
        kernel.send(json!({"cell": "1", "id": 8}).to_string().as_bytes());
        kernel.send(b"{\"interrupt\": true}");
        let answer = kernel.answer();
        assert_eq!(failed(&answer), ("interrupted", false), "{answer:#}");
        assert_eq!(answer["id"], 7);
        assert_eq!(kernel.answer()["id"], 8);
    }
    kernel.close();
}

#[test]
fn a_process_that_ends_is_replaced() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    for (cell, part) in [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os; os._exit(0)", "exit code 0"),
        ("import os; os.abort()", "SIGABRT"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os.closerange(3, 500)", "exit code 1"),
        ("import os; os.fork(); os._exit(4)", "exit code 4"),
    ] {
        let answer = kernel.run(&format!("print('before', flush=True)\n{cell}"));
        assert_eq!(failed(&answer), ("crashed", true), "{cell}");
        assert_eq!(answer["stdout"].as_str().expect("stdout is text").lines().next(), Some("before"), "{cell}");
        let message = answer["error"]["message"].as_str().expect("it says what");
        assert!(message.contains(part), "{cell}: {message}");
        kernel.is_well();
    }
    kernel.close();
}

#[test]
fn a_process_that_ends_between_cells_is_replaced_and_the_next_answer_says_so() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let pid = kernel.prints("import os, threading\nkept = 1\nprint(os.getpid(), end='')");
    kernel.run("threading.Timer(0.2, os._exit, [5]).start()");
    let until = Instant::now() + Duration::from_secs(60);
    let is_there = || Command::new("kill").args(["-0", &pid]).output().is_ok_and(|ran| ran.status.success());
    while is_there() {
        assert!(Instant::now() < until, "the process has not ended");
        thread::sleep(Duration::from_millis(20));
    }
    let answer = kernel.run("'kept' in globals()");
    assert_eq!((&answer["ok"], &answer["result"], &answer["restarted"]), (&json!(true), &json!("False"), &json!(true)));
    assert_eq!(kernel.run("1")["restarted"], false);
    kernel.close();
}

#[test]
fn memory_is_bounded_and_what_recurses_without_end_stops() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--memory", "512"]);
    let answer = kernel.run("kept = 1\nbytearray(1 << 30)");
    assert_eq!((failed(&answer), &answer["error"]["type"]), (("exception", false), &json!("MemoryError")));
    let answer = kernel.run("def deeper(): deeper()\ndeeper()");
    assert_eq!(answer["error"]["type"], "RecursionError", "{answer:#}");
    assert_eq!(kernel.prints("print(kept)"), "1\n");
    let answer =
        kernel.run("import sys\nsys.setrecursionlimit(10 ** 8)\ndef deep(n): return [*map(deep, [n])]\ndeep(1)");
    assert_eq!(answer["ok"], false, "{answer:#}");
    kernel.is_well();
    kernel.close();
}

#[test]
fn much_output_flows_through() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--timeout", "100", "--max-output", "1000"]);
    let answer = kernel.run("import os\npiece = b'x' * 1_000_000\nfor _ in range(200): os.write(1, piece)\n'done'");
    assert_eq!(answer["result"], "'done'");
    // A pipe may take a part of what is written to it only.
    assert!(answer["stdout_left_out_bytes"].as_u64().is_some_and(|left_out| left_out > 100_000_000), "{answer:#}");
    kernel.is_well();
    kernel.close();
}

#[test]
fn a_child_that_holds_the_streams_open_holds_no_answer_up() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let answer = kernel.run("import subprocess\nprint('started')\nchild = subprocess.Popen(['sleep', '1000'])");
    assert_eq!((&answer["ok"], &answer["stdout"]), (&json!(true), &json!("started\n")));
    // Nor does one that never stops writing.
    kernel.run("noise = subprocess.Popen(['yes'])");
    kernel.run("import time; time.sleep(0.3)");
    assert_eq!(kernel.run("noise.kill(); noise.wait()")["ok"], true);
    kernel.close();
}

#[test]
fn streams_and_channels_outlive_what_cells_do_to_descriptors() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    for cell in [
        "import os; os.close(1); os.close(2); os.close(0)",
        "import os; os.closerange(0, 100)",
        "import os\nfor fd in range(3, 51):\n    try: os.write(fd, b'junk')\n    except OSError: pass",
        "import os, fcntl\nos.set_blocking(1, False)",
        "import os; os.dup2(os.open('/dev/null', os.O_RDWR), 1)",
        "import sys; sys.stdout.close(); sys.stderr.close()",
        "import sys; sys.stdout.detach()",
        "import sys; sys.stdout.buffer.raw.close()",
        "import sys; sys.stdout = None; sys.stderr = 3; sys.stdin = None",
        "import sys; del sys.stdout",
        "import sys; sys.stdout.reconfigure(encoding='utf-16', newline='\\r\\n', line_buffering=False)",
        "import sys; sys.stdout.write = sys.stdout.flush = sys.stdout.reconfigure = None",
        "import sys; sys.stdout.buffer.write = sys.stdout.buffer.raw.write = sys.stdout.buffer.flush = None",
        "import sys\nclass Bad:\n    def flush(self): raise SystemExit\n    def write(self, text): raise KeyboardInterrupt\n\
         sys.stdout = sys.stderr = Bad()",
        "import os\nif os.fork() == 0: raise ValueError('in the child')",
        "import os\nif os.fork() == 0: context.summarize()",
    ] {
        let answer = kernel.run(cell);
        assert_eq!((&answer["restarted"], &answer["ok"]), (&json!(false), &json!(true)), "{cell}: {answer:#}");
        let _ = kernel.run("import time; time.sleep(0.1)");
        kernel.is_well();
    }
    let answer = kernel.run("input()");
    assert_eq!(answer["error"]["type"], "EOFError", "{answer:#}");
    kernel.close();
}

#[test]
fn nothing_that_cells_replace_is_needed() {
    if !has_python() {
        return;
    }
    for cell in [
        "import builtins\nfor name in ('len', 'type', 'isinstance', 'repr', 'str', 'list', 'exec', 'compile', 'dict', 'getattr'):\
         \n    setattr(builtins, name, None)",
        "import json\njson.dumps = json.loads = json.JSONEncoder = json.JSONDecoder = json.encoder = json.decoder = None",
        "import traceback, linecache\ntraceback.TracebackException.format = linecache.getline = None\nlinecache.cache = None",
        "import os, io, struct, socket, signal\nos.dup2 = os.getpid = io.TextIOWrapper = struct.pack = signal.signal = None\n\
         socket.socket.recv = socket.socket.sendall = None",
        "import sys\nsys.settrace(lambda *a: 1 / 0)",
        "import sys\nsys.setprofile(lambda *a: 1 / 0)",
        "import sys\ndef trace(*a):\n    raise SystemExit\nsys.settrace(trace)\nsys.setprofile(trace)",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.exc_info = sys.excepthook = sys.displayhook = None",
        "context.__class__.search = None\ncontext.__class__.current = None",
        "globals().clear()",
        "globals()[1] = 2; globals()[None] = 3",
        "__builtins__ = {}",
    ] {
        let mut kernel = Kernel::start(&[]);
        let answer = kernel.run(cell);
        assert_eq!(answer["restarted"], false, "{cell}: {answer:#}");
        let answer = kernel.run("1 / 0");
        assert_eq!(answer["error"]["type"], "ZeroDivisionError", "{cell}: {answer:#}");
        let answer = kernel.run("context.slice(0).total > 0");
        assert_eq!((&answer["restarted"], &answer["ok"]), (&json!(false), &json!(true)), "{cell}: {answer:#}");
        kernel.close();
    }
}

#[test]
fn a_frame_is_never_cut_by_an_interrupt() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&["--timeout", "0"]);
    for _ in 0..20 {
        kernel.send(json!({"cell": "while True: context.current()"}).to_string().as_bytes());
        thread::sleep(Duration::from_millis(20));
        kernel.send(b"{\"interrupt\": true}");
        assert_eq!(failed(&kernel.answer()), ("interrupted", false));
        kernel.is_well();
    }
    kernel.close();
}
