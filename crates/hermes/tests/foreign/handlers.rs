//! Handlers of tool files that crash, hang, block or answer oddly.

use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::join_all;
use hermes::{Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, body, call, file_with, runtime};

/// Handlers that misbehave, and some that do not.
const TOOLS: &str = r#"
import ctypes, json, os, subprocess, time
from tools.registry import registry


def boom(args, **kw):
    with open(args["file"], "a") as file:
        file.write("ran\n")
    os._exit(7)

def segfault(args, **kw):
    ctypes.string_at(0)

def hang(args, **kw):
    time.sleep(1000)

def spin(args, **kw):
    while True:
        pass

def wedge(args, **kw):
    # Sleeps without letting any other thread of the process run.
    if "file" in args:
        open(args["file"], "w").close()
    ctypes.PyDLL(None).sleep(1000)

def nap(args, **kw):
    time.sleep(args["seconds"])
    return json.dumps({"slept": args["seconds"]})

async def ablock(args, **kw):
    time.sleep(1000)

async def anap(args, **kw):
    import asyncio
    await asyncio.sleep(args["seconds"])
    return json.dumps({"slept": args["seconds"]})

def pid(args, **kw):
    return json.dumps({"pid": os.getpid()})

def number(args, **kw):
    return 5

def raises(args, **kw):
    raise ValueError("no such thing")

def leaves(args, **kw):
    return json.dumps({"pid": subprocess.Popen(["sleep", "1000"]).pid})

def waits(args, **kw):
    try:
        subprocess.run(["sh", "-c", "trap '' TERM; sleep 1000; sleep 1000"], stdout=subprocess.PIPE)
    finally:
        open(args["file"], "w").close()

PARAMETERS = {"type": "object", "properties": {"file": {"type": "string"}, "seconds": {"type": "number"}}}

registry.register("boom", "faults", {"name": "boom", "parameters": PARAMETERS}, boom)
registry.register("segfault", "faults", {"name": "segfault", "parameters": PARAMETERS}, segfault)
registry.register("hang", "faults", {"name": "hang", "parameters": PARAMETERS}, hang)
registry.register("spin", "faults", {"name": "spin", "parameters": PARAMETERS}, spin)
registry.register("wedge", "faults", {"name": "wedge", "parameters": PARAMETERS}, wedge)
registry.register("nap", "faults", {"name": "nap", "parameters": PARAMETERS}, nap)
registry.register("ablock", "faults", {"name": "ablock", "parameters": PARAMETERS}, ablock, is_async=True)
registry.register("anap", "faults", {"name": "anap", "parameters": PARAMETERS}, anap, is_async=True)
registry.register("pid", "faults", {"name": "pid", "parameters": PARAMETERS}, pid)
registry.register("number", "faults", {"name": "number", "parameters": PARAMETERS}, number)
registry.register("raises", "faults", {"name": "raises", "parameters": PARAMETERS}, raises)
registry.register("leaves", "faults", {"name": "leaves", "parameters": PARAMETERS}, leaves)
registry.register("waits", "faults", {"name": "waits", "parameters": PARAMETERS}, waits)
"#;

/// A runtime with the misbehaving tools, whose calls may take so long.
fn faults(limit: Duration) -> (TempHome, Runtime) {
    let home = TempHome::new();
    home.write("home/tools/faults.py", TOOLS);
    let runtime = runtime(&home, limit);
    (home, runtime)
}

#[test]
fn a_crash_costs_its_call_which_is_not_repeated_and_the_host_comes_back() {
    let (home, runtime) = faults(LONG);
    let file = home.path().join("ran");

    let boom = call(&runtime, "boom", &json!({ "file": file }));
    let segfault = call(&runtime, "segfault", &json!({}));
    let after = call(&runtime, "pid", &json!({}));

    assert_eq!((boom.status, segfault.status), (Status::Failed, Status::Failed), "{boom:?} {segfault:?}");
    assert!(boom.body.contains("exit code 7") && boom.body.contains("is not repeated"), "{boom:?}");
    assert!(segfault.body.contains("signal 11"), "{segfault:?}");
    assert!(after.status.is_ok(), "{after:?}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "ran\n");
}

#[test]
fn a_file_that_keeps_ending_the_process_is_left_alone_and_the_others_in_it_go_on() {
    let home = TempHome::new();
    home.write("home/tools/faults.py", TOOLS);
    home.write("home/tools/nice.py", &file_with("nice", ""));
    let runtime = runtime(&home, LONG);
    let began = Instant::now();
    let mut crashes = Vec::new();

    for _ in 0..8 {
        crashes.push(call(&runtime, "segfault", &json!({})).body);
        let nice = call(&runtime, "nice", &json!({}));
        assert!(nice.status.is_ok(), "{nice:?}");
    }

    if began.elapsed() < Duration::from_secs(15) {
        let last = crashes.last().unwrap();
        assert!(last.contains("did not run") && last.contains("it is left alone"), "{crashes:?}");
    }
}

#[test]
fn a_hang_costs_its_call_alone() {
    let (_home, runtime) = faults(Duration::from_secs(3));
    let first = body(&call(&runtime, "pid", &json!({})));

    for tool in ["hang", "spin"] {
        let hung = call(&runtime, tool, &json!({}));
        assert_eq!(hung.status, Status::TimedOut, "{hung:?}");
    }

    assert_eq!(body(&call(&runtime, "pid", &json!({}))), first, "the process goes on");
}

#[test]
fn what_a_call_that_is_stopped_waits_for_ends_with_it_and_what_another_one_left_stays() {
    let (home, runtime) = faults(Duration::from_secs(3));
    let over = home.path().join("over");
    let left = body(&call(&runtime, "leaves", &json!({})))["pid"].clone();

    let stopped = call(&runtime, "waits", &json!({ "file": over }));

    assert_eq!(stopped.status, Status::TimedOut, "{stopped:?}");
    let began = Instant::now();
    while !over.exists() {
        assert!(began.elapsed() < Duration::from_secs(15), "it waits still");
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = std::fs::read_to_string(format!("/proc/{left}/status")).unwrap();
    assert!(status.contains("State:\tS"), "{status}");
}

#[test]
fn a_process_full_of_stuck_calls_is_replaced() {
    let (_home, runtime) = faults(Duration::from_secs(3));
    let first = body(&call(&runtime, "pid", &json!({})));

    let hanging = |_| runtime.call(ToolCall::new("hang", "{}"));
    let stuck = block_on(join_all((0..8).map(hanging)));

    assert!(stuck.iter().all(|outcome| outcome.status == Status::TimedOut), "{stuck:?}");
    let after = call(&runtime, "pid", &json!({}));
    assert!(after.status.is_ok() && body(&after) != first, "{after:?}");
}

#[test]
fn a_process_that_lets_nobody_run_is_given_up() {
    let (_home, runtime) = faults(Duration::from_secs(3));
    let began = Instant::now();

    assert_eq!(call(&runtime, "wedge", &json!({})).status, Status::TimedOut);

    while !call(&runtime, "pid", &json!({})).status.is_ok() {
        assert!(began.elapsed() < Duration::from_secs(20), "it does not come back");
    }
}

#[test]
fn a_call_that_lets_nobody_run_keeps_its_process_to_itself() {
    let (home, runtime) = faults(Duration::from_secs(12));
    let begun = home.path().join("begun");
    assert!(call(&runtime, "pid", &json!({})).status.is_ok());

    std::thread::scope(|scope| {
        let wedged = scope.spawn(|| call(&runtime, "wedge", &json!({ "file": begun })));
        while !begun.exists() {
            assert!(!wedged.is_finished(), "it did not begin");
            std::thread::yield_now();
        }
        // What was sent at that very moment may still get in.
        std::thread::sleep(Duration::from_millis(200));
        let others = block_on(join_all((0..3).map(|_| runtime.call(ToolCall::new("pid", "{}")))));

        assert!(others.iter().all(|outcome| outcome.status.is_ok()), "{others:?}");
        assert_eq!(wedged.join().unwrap().status, Status::TimedOut);
    });
}

#[test]
fn calls_overlap_whether_they_block_or_wait() {
    let home = TempHome::new();
    home.write("home/tools/faults.py", TOOLS);
    let runtime = runtime(&home, LONG);
    call(&runtime, "pid", &json!({}));
    let began = Instant::now();

    let nap = |n: usize| {
        let tool = if n.is_multiple_of(2) { "nap" } else { "anap" };
        runtime.call(ToolCall::new(tool, r#"{"seconds": 1.0}"#))
    };
    let slept = block_on(join_all((0..6).map(nap)));

    assert!(slept.iter().all(|outcome| outcome.status.is_ok()), "{slept:?}");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn a_coroutine_that_blocks_is_in_the_way_of_no_other() {
    let (_home, runtime) = faults(Duration::from_secs(5));
    call(&runtime, "pid", &json!({}));
    let began = Instant::now();

    let stuck = runtime.call(ToolCall::new("ablock", "{}"));
    let quick = async {
        // The one that blocks is on its way by now.
        let first = runtime.call(ToolCall::new("nap", r#"{"seconds": 0.5}"#)).await;
        let second = runtime.call(ToolCall::new("anap", r#"{"seconds": 0.1}"#)).await;
        (first, second, began.elapsed())
    };
    let (stuck, (first, second, took)) = block_on(futures::future::join(stuck, quick));

    assert!(first.status.is_ok() && second.status.is_ok(), "{first:?} {second:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert_eq!(stuck.status, Status::TimedOut, "{stuck:?}");
}

#[test]
fn what_handlers_do_wrong_is_told_as_it_is() {
    let (_home, runtime) = faults(LONG);

    let number = call(&runtime, "number", &json!({}));
    let raised = call(&runtime, "raises", &json!({}));

    assert_eq!(body(&number)["error_type"], "tool_result_contract");
    assert_eq!(body(&number)["result_type"], "int");
    assert_eq!(raised.status, Status::Broken);
    assert!(raised.body.contains("Tool execution failed: ValueError: no such thing"), "{raised:?}");
}

/// A program with one tool, which answers with bytes that are no letters, half a letter and a large number.
const ODD: &str = r#"
import json, sys

said = b'{"result":{"latin":"gr\xfc\xdfe","half":"\\ud83c","number":123456789012345678901234567890}}'
tool = {'name': 'odd', 'schema': {'type': 'object', 'properties': {}}}
for line in sys.stdin:
    asked = json.loads(line)
    answer = said if asked['method'] == 'tool.call' else json.dumps({'tools': [tool]}).encode()
    sys.stdout.buffer.write(b'{"id":%d,"result":%s}\n' % (asked['id'], answer))
    sys.stdout.flush()
"#;

#[test]
fn an_answer_that_is_not_all_letters_is_an_answer_with_every_digit() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [odd]\n");
    home.write("home/plugins/odd/plugin.yaml", "name: odd\nrun: [python3, main.py]\n");
    home.write("home/plugins/odd/main.py", ODD);

    let said = call(&runtime(&home, LONG), "odd", &json!({}));

    let wanted = json!({
        "latin": "gr\u{fffd}\u{fffd}e", "half": "\u{fffd}", "number": "123456789012345678901234567890",
    });
    assert_eq!((said.status, body(&said)), (Status::Ok, wanted));
}

#[test]
fn a_file_dropped_into_an_open_session_is_there_at_its_next_call() {
    let home = TempHome::new();
    let runtime = runtime(&home, LONG);
    let session = runtime.session().select(runtime.platform("cli").unwrap()).open().unwrap();
    assert!(!session.toolbox_blocking().json().contains("\"pid\""));

    home.write("home/tools/faults.py", TOOLS);
    assert!(session.call_blocking(ToolCall::new("pid", "{}")).status.is_ok());
    assert!(session.toolbox_blocking().json().contains("\"pid\""));

    std::fs::remove_file(home.path().join("home/tools/faults.py")).unwrap();
    assert_eq!(session.call_blocking(ToolCall::new("pid", "{}")).status, Status::Unknown);
}

#[test]
fn secrets_that_a_handler_prints_or_raises_are_not_written_to_the_log() {
    let home = TempHome::new();
    home.write("home/.env", "MINE_API_KEY=zq81kslw9203jfnv77\n");
    let lines = "print('the key is', os.environ['MINE_API_KEY'])\n\n\ndef fail():\n    raise ValueError('no such \
                 key: ' + os.environ['MINE_API_KEY'])\n";
    let file = file_with("mine", lines).replace("json.dumps({'from': 'mine'})", "fail()");
    home.write("home/tools/mine.py", &file);

    let outcome = call(&runtime(&home, LONG), "mine", &json!({}));

    assert!(outcome.body.contains("ValueError"), "{outcome:?}");
    let log = std::fs::read_to_string(home.path().join("home/logs/tools.log")).unwrap();
    assert!(log.contains("the key is [REDACTED]") && log.contains("no such key: [REDACTED]"), "{log}");
    assert!(!log.contains("zq81kslw9203jfnv77"), "{log}");
}
