//! How a kernel ends, and that nothing is left of it.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::wait;
use crate::session::{Kernel, has_python};

/// Starts processes in every way in which they could be left, and gives the ids of all of them.
const STARTS: &str = "
import os, subprocess, sys
started = [os.getpid()]
started += [subprocess.Popen(['sleep', '1000']).pid, subprocess.Popen(['sleep', '1000'], start_new_session=True).pid]
shell = subprocess.run(['sh', '-c', 'sleep 1000 >/dev/null 2>&1 & echo $!'], stdout=subprocess.PIPE)
started.append(int(shell.stdout))
deaf = 'import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(1000)'
started.append(subprocess.Popen([sys.executable, '-c', deaf], start_new_session=True).pid)
started.append(subprocess.Popen(['sleep', '1000'], start_new_session=True, env={}).pid)
# Nothing leads back to this one: neither its parent nor its group nor its environment.
away = 'sleep 1000 >/dev/null 2>&1 & echo $!'
shell = subprocess.run(['sh', '-c', away], stdout=subprocess.PIPE, start_new_session=True, env={'PATH': os.environ['PATH']})
started.append(int(shell.stdout))
print(*started, flush=True)
";

/// Fails unless all of them end soon.
#[track_caller]
fn assert_gone(started: &str) {
    let until = Instant::now() + Duration::from_secs(30);
    for pid in started.split_whitespace() {
        let is_there = || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
        };
        while is_there() {
            assert!(Instant::now() < until, "{pid} of {started} is still there");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn start() -> Option<(Kernel, String)> {
    if !has_python() || !cfg!(target_os = "linux") {
        return None;
    }
    let mut kernel = Kernel::start(&["--timeout", "0"]);
    let started = kernel.prints(STARTS);
    assert_eq!(started.split_whitespace().count(), 7, "{started}");
    Some((kernel, started))
}

#[test]
fn children_live_between_cells_and_are_gone_at_the_end() {
    let Some((mut kernel, started)) = start() else { return };
    let alive = kernel.prints("[os.kill(pid, 0) for pid in started]\nprint('alive')");
    assert_eq!(alive, "alive\n");
    kernel.close();
    assert_gone(&started);
}

#[test]
fn children_are_gone_once_the_process_was_replaced() {
    let Some((mut kernel, started)) = start() else { return };
    assert_eq!(kernel.run("os._exit(1)")["restarted"], true);
    assert_gone(&started);
    kernel.is_well();
    kernel.close();
}

#[test]
fn a_signal_ends_everything_in_the_middle_of_a_cell() {
    for signal in ["TERM", "INT", "HUP", "KILL"] {
        let Some((mut kernel, started)) = start() else { return };
        kernel.send(json!({"cell": "import time\nwhile True: time.sleep(1)"}).to_string().as_bytes());
        thread::sleep(Duration::from_millis(200));
        let pid = kernel.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status().expect("kill can be run");
        assert!(sent.success());
        let status = wait(&mut kernel.child, "polyloop kernel");
        assert_eq!(status.code(), None, "it ends as the signal ends a program");
        assert_gone(&started);
    }
}

#[test]
fn the_end_of_the_input_in_the_middle_of_a_cell_lets_it_finish() {
    let Some((mut kernel, started)) = start() else { return };
    kernel.send(json!({"cell": "import time\ntime.sleep(0.5)\nprint('finished')"}).to_string().as_bytes());
    kernel.close_input();
    assert_eq!(kernel.answer()["stdout"], "finished\n");
    assert_eq!(wait(&mut kernel.child, "polyloop kernel").code(), Some(0));
    assert_gone(&started);
}

#[test]
fn a_cell_without_a_limit_ends_when_its_client_is_gone() {
    if !has_python() {
        return;
    }
    let mut command = crate::common::command(["kernel", crate::session::INPUT, "--timeout", "0"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary can be started");
    let cell = json!({"cell": "while True: pass"}).to_string();
    writeln!(child.stdin.take().expect("stdin is piped"), "{cell}").expect("the kernel reads");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().expect("it can be asked"), None, "the end of the input alone ends no cell");
    drop(child.stdout.take());
    assert_eq!(wait(&mut child, "polyloop kernel").code(), Some(0));
}

#[test]
fn what_is_open_is_written_at_the_end() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("written");
    let mut kernel = Kernel::start(&[]);
    kernel
        .run(&format!("import atexit\nfile = open({file:?}, 'w')\nfile.write('all')\natexit.register(print, 'over')"));
    kernel.close();
    assert_eq!(fs::read_to_string(&file).expect("there is a file"), "all");
}

#[test]
fn a_thread_that_never_ends_does_not_hold_the_end_up() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    kernel.run("import threading, time\nthreading.Thread(target=time.sleep, args=[1000]).start()");
    kernel.close();
}

#[test]
fn answers_that_nobody_reads_end_it_quietly() {
    if !has_python() {
        return;
    }
    let script = format!(
        "yes '{{\"cell\": \"1\"}}' | {} kernel {} | head -n 2 | wc -l",
        crate::common::BINARY,
        crate::session::INPUT
    );
    let ran = Command::new("sh").args(["-c", &script]).current_dir(crate::common::root()).output().expect("sh runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "2");
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
}

#[test]
fn the_environment_of_cells_is_clean() {
    if !has_python() {
        return;
    }
    let mut command = crate::common::command(["kernel", crate::session::INPUT]);
    command.env("A_SECRET_KEY", "hidden").env("PYTHONPATH", "/nowhere").env("PYTHONSTARTUP", "/nowhere");
    let cell = json!({"cell": "import os, sys\nprint(sorted(os.environ), '/nowhere' in sys.path, os.getcwd())"});
    let ran = crate::common::run(&mut command, cell.to_string().as_bytes());
    let answer: serde_json::Value = serde_json::from_str(ran.exits(0).text()).expect("it is JSON");
    let printed = answer["stdout"].as_str().expect("stdout is text");
    assert!(!printed.contains("SECRET") && !printed.contains("PYTHON") && printed.contains("False"), "{printed}");
    assert!(printed.contains(&*crate::common::root().to_string_lossy()), "{printed}");
}
