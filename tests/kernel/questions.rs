//! What cells ask the context.

use serde_json::json;

use crate::common::polyloop;
use crate::session::{INPUT, Kernel, failed, has_python};

#[test]
fn all_five_questions_are_answered_inside_a_running_cell() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    kernel.run("held = 'a value'");
    let cell = "
import json
now = context.current()
counts = context.summarize()
assert len(now.messages) == counts.total_messages == counts.totalMessages == context.slice(0).total
assert now.runtimeState.alive is now['runtime_state']['alive'] is True is counts.runtime_alive
assert [variable.name for variable in now.runtime_state.variables][:1] == ['held']
assert now.runtimeState.variables[0].preview == \"'a value'\"
assert context.getRuntimeState()['revision'] == context.get_runtime_state().revision == 2
assert counts.messageCounts.user == sum(message.role == 'user' for message in now.messages)
assert context.search('limit').total == len(context.search('limit', limit=1000).results) > 0
assert [message.index for message in context.slice(-2).messages] == [counts.total_messages - 2, counts.total_messages - 1]
assert context.slice(1, 3).messages == now.messages[1:3] == context.slice(start=1, end=-counts.total_messages + 3).messages
assert context.slice(None, None).messages == now.messages and context.slice(10 ** 30).messages == []
assert now.messages[0].text == now.messages[0].content[0].text
assert counts.runtime_variables == 2
";
    let answer = kernel.run(cell);
    assert_eq!(answer["ok"], true, "{}", answer["error"]["traceback"].as_str().unwrap_or_default());
    kernel.close();
}

#[test]
fn what_the_request_says_of_the_run_is_told_and_found() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let cell = "
state = context.get_runtime_state()
assert state.phase == context.current().runtime_state['phase'], state
found = context.search(state.phase, state=True)
assert [hit.origin for hit in found.results if hit.index is None] == ['state.phase'], found
assert context.search(state.phase).total == found.total - 1
";
    let answer = kernel.run(cell);
    assert_eq!(answer["ok"], true, "{}", answer["error"]["traceback"].as_str().unwrap_or_default());
    kernel.close();
}

#[test]
fn answers_are_those_of_the_command_line() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let printed = kernel.prints("import json; print(json.dumps(context.summarize()))");
    let mut mine: serde_json::Value = serde_json::from_str(&printed).expect("it is JSON");
    let mut others = polyloop(["context", "summarize", INPUT, "--format", "json"]).json();
    for name in ["schema", "source"] {
        others.as_object_mut().expect("an object").remove(name);
    }
    for answer in [&mut mine, &mut others] {
        answer["runtime_variables"] = json!(null);
        answer["runtime_alive"] = json!(null);
    }
    assert_eq!(mine, others);
    kernel.close();
}

#[test]
fn what_the_context_refuses_is_an_exception_with_a_hint_that_can_be_caught() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    for (call, kind, words) in [
        ("context.search('a', role='usr')", "ContextError", "hint: did you mean user?"),
        ("context.search('a', segment='gaol')", "ContextError", "hint: did you mean goal?"),
        ("context.search('a', substring=True, regex=True)", "ContextError", "hint: give one of them"),
        ("context.search(3)", "TypeError", "as a str, not as int"),
        ("context.search(b'a')", "TypeError", "as a str, not as bytes"),
        ("context.search('a', role=3)", "TypeError", "role as a str"),
        ("context.search('a', limit=-1)", "ContextError", "hint: write limit=0 or more"),
        ("context.search('a', offset=-1)", "ContextError", "hint: write offset=0 or more"),
        ("context.search('(', regex=True)", "ContextError", "hint: look for text as it stands, as a substring"),
        ("context.search('a', limit='1')", "TypeError", "integer"),
        ("context.search('\\ud800')", "ContextError", "a lone surrogate"),
        ("context.search('a' * (17 << 20))", "ContextError", "too long"),
        ("context.search('a' * 1001)", "ContextError", "hint: polyloop's limit is 1000"),
        ("context.slice('a')", "TypeError", "integer"),
        ("context.slice(1.5)", "TypeError", "integer"),
        ("context.search()", "TypeError", "query"),
        ("context.summarize().message_count", "AttributeError", "message_counts"),
    ] {
        let answer = kernel.run(call);
        assert_eq!(failed(&answer), ("exception", false), "{call}");
        assert_eq!(answer["error"]["type"], kind, "{call}: {answer:#}");
        let message = answer["error"]["message"].as_str().expect("it says what");
        assert!(message.contains(words), "{call}: {message}");
        let printed = kernel.prints(&format!(
            "try:\n    {call}\nexcept ValueError as error:\n    print(bool(error.code and error.hint))\n\
             except (TypeError, AttributeError):\n    print(True)"
        ));
        assert_eq!(printed, "True\n", "{call}");
    }
    kernel.is_well();
    kernel.close();
}

#[test]
fn threads_ask_at_once() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let cell = "
import threading
wrong = []
def ask(number):
    for turn in range(50):
        if context.slice(number, number + 1).messages[0].index != number or context.search('limit').total < 1:
            wrong.append(number)
threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
[thread.start() for thread in threads]
for turn in range(50):
    ask(0)
[thread.join() for thread in threads]
print(wrong)
";
    assert_eq!(kernel.prints(cell), "[]\n");
    kernel.close();
}

#[test]
fn handlers_of_signals_may_ask_and_cut_no_answer() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    let cell = "
import signal
totals = set()
def ask(*_):
    totals.add(context.slice(0).total)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
signal.signal(signal.SIGALRM, ask)
signal.setitimer(signal.ITIMER_REAL, 0.001)
asked = {context.current().messages[0].index for _ in range(500)}
signal.signal(signal.SIGALRM, signal.SIG_IGN)
print(asked, totals)
";
    assert_eq!(kernel.prints(cell), "{0} {13}\n");
    let cell = "
def stop(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, stop)
stopped = 0
for turn in range(200):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + turn * 0.00001)
        while True:
            context.current()
    except TimeoutError:
        stopped += 1
    assert len(context.slice(turn % 13, turn % 13 + 1).messages) == 1
    assert context.summarize().total_messages == 13
print(stopped)
";
    assert_eq!(kernel.prints(cell), "200\n");
    kernel.close();
}

#[test]
fn a_thread_may_ask_between_cells() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    kernel.run(
        "import threading\ntotals, stop = [], threading.Event()\ndef ask():\n    while not stop.is_set():\n        \
         totals.append(context.slice(0).total)\nthread = threading.Thread(target=ask)\nthread.start()",
    );
    for _ in 0..20 {
        kernel.is_well();
    }
    assert_eq!(kernel.prints("stop.set(); thread.join(); print(len(set(totals)))"), "1\n");
    kernel.close();
}

#[test]
fn the_context_is_there_again_for_the_next_cell() {
    if !has_python() {
        return;
    }
    let mut kernel = Kernel::start(&[]);
    assert_eq!(kernel.prints("context = 3\nprint(context)"), "3\n");
    kernel.is_well();
    kernel.run("del context");
    kernel.is_well();
    kernel.close();
}
