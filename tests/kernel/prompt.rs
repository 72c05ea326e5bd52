//! Python's own prompt, on a terminal.

use std::process::Command;

use crate::common::{BINARY, root, run};
use crate::session::{INPUT, has_python};

/// Talks to the program it is given on a terminal of its own.
const TALK: &str = r#"
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])

def until(mark):
    seen = b""
    while mark not in seen:
        seen += os.read(terminal, 65536)
    return seen

def say(line, mark):
    os.write(terminal, line)
    return until(mark)

banner = until(b">>> ")
assert banner.startswith(b"Python 3") and banner.count(b"context.current(), .search()") == 1, banner
say(b"context.summarize().total_messages\n", b"\r\n13\r\n>>> ")
say(b"held = context.slice(-1)\n", b"slice(-1)\r\n>>> ")
say(b"[variable.name for variable in context.get_runtime_state().variables]\n", b"['held']\r\n>>> ")
say(b"print('lo' + 'op'); exec('while True: context.slice(0)')\n", b"loop\r\n")
seen = say(b"\x03", b"KeyboardInterrupt\r\n>>> ")
assert b'"<polyloop kernel>"' not in seen, seen
say(b"context.search('a', role='usr')\n", b"hint: did you mean user?\r\n>>> ")
seen = say(b"import subprocess; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)\n", b">>> ")
child = int(seen.split(b"\r\n")[-2])
os.kill(child, 0)
os.write(terminal, b"exit(3)\n")
assert os.waitpid(pid, 0)[1] == 0
if sys.platform == "linux":
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        pass
    else:
        sys.exit("what was started at the prompt is still there")
"#;

#[test]
fn the_prompt_of_python_has_the_context_ready() {
    if !has_python() {
        return;
    }
    let mut command = Command::new("python3");
    command.args(["-c", TALK, BINARY, "kernel", INPUT]).current_dir(root()).env("TERM", "dumb");
    let ran = run(&mut command, b"");
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{}", ran.text());
}
