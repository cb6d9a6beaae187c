//! What the process that Python runs in stands up to: every call is answered at once, by the process that was
//! asked, and costs no other call.

use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::join;
use hermes::{Outcome, Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::{Value, json};

use crate::{LONG, body, call, plugin_with, runtime};

/// Handlers that end in odd ways, and some that do not.
const ODD: &str = r#"
import json, multiprocessing, os, sys, time
from tools.registry import registry


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")

class Unwritable:
    def __str__(self):
        sys.exit("not as text either")

def wordless(args, **kw):
    raise Wordless()

def deaf(args, **kw):
    sys.stderr.close()
    raise ValueError("unheard")

def unwritable(args, **kw):
    return {"_multimodal": True, "content": Unwritable()}

def endless(args, **kw):
    raise ValueError("x" * 34_000_000)

def huge(args, **kw):
    return json.dumps("x" * args["size"])

def nap(args, **kw):
    time.sleep(2)
    return json.dumps({"slept": os.getpid()})

def pid(args, **kw):
    return json.dumps({"slept": os.getpid()})

def deafened(args, **kw):
    os.closerange(3, 256)
    return "{}"

def forked(args, **kw):
    child = os.fork()
    if child == 0:
        if args["how"] == "exit":
            sys.exit(3)
        if args["how"] == "raise":
            raise ValueError("in the child")
        return json.dumps({"said by": "the child"})
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.dumps({"said by": "the parent", "code": code})

async def aforked(args, **kw):
    return forked(args)

def asks(args, **kw):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            registry.dispatch("pid", {})
        except Exception as error:
            os.write(writing, str(error).encode())
        sys.exit(0)
    os.waitpid(child, 0)
    return json.dumps({"said": os.read(reading, 1000).decode()})

def square(n):
    return n * n

def squares(args, **kw):
    with multiprocessing.get_context(args["how"]).Pool(2) as pool:
        return json.dumps({"squares": pool.map(square, [1, 2, 3])})

PARAMETERS = {"type": "object", "properties": {"how": {"type": "string"}, "size": {"type": "integer"}}}

registry.register("wordless", "odd", {"name": "wordless", "parameters": PARAMETERS}, wordless)
registry.register("deaf", "odd", {"name": "deaf", "parameters": PARAMETERS}, deaf)
registry.register("unwritable", "odd", {"name": "unwritable", "parameters": PARAMETERS}, unwritable)
registry.register("endless", "odd", {"name": "endless", "parameters": PARAMETERS}, endless)
registry.register("huge", "odd", {"name": "huge", "parameters": PARAMETERS}, huge)
registry.register("nap", "odd", {"name": "nap", "parameters": PARAMETERS}, nap)
registry.register("pid", "odd", {"name": "pid", "parameters": PARAMETERS}, pid)
registry.register("deafened", "odd", {"name": "deafened", "parameters": PARAMETERS}, deafened)
registry.register("forked", "odd", {"name": "forked", "parameters": PARAMETERS}, forked)
registry.register("aforked", "odd", {"name": "aforked", "parameters": PARAMETERS}, aforked)
registry.register("asks", "odd", {"name": "asks", "parameters": PARAMETERS}, asks)
registry.register("squares", "odd", {"name": "squares", "parameters": PARAMETERS}, squares)
"#;

fn odd() -> (TempHome, Runtime) {
    let home = TempHome::new();
    home.write("home/tools/odd.py", ODD);
    let runtime = runtime(&home, LONG);
    (home, runtime)
}

/// What a call comes to, and that it did not have to wait for it.
fn at_once(runtime: &Runtime, tool: &str, arguments: &Value) -> Outcome {
    let began = Instant::now();
    let outcome = call(runtime, tool, arguments);
    assert!(began.elapsed() < Duration::from_secs(15), "{tool}: {outcome:?}");
    outcome
}

#[test]
fn an_error_without_words_and_one_that_nobody_can_be_told_of_are_answered_at_once() {
    let (_home, runtime) = odd();

    let wordless = at_once(&runtime, "wordless", &json!({}));
    let deaf = at_once(&runtime, "deaf", &json!({}));
    let unwritable = at_once(&runtime, "unwritable", &json!({}));
    let deafened = at_once(&runtime, "deafened", &json!({}));

    assert_eq!((wordless.status, deaf.status), (Status::Broken, Status::Broken));
    assert!(wordless.body.contains("Tool execution failed: Wordless"), "{wordless:?}");
    assert!(deaf.body.contains("Tool execution failed: ValueError: unheard"), "{deaf:?}");
    assert!(unwritable.body.contains("cannot be written as JSON: SystemExit"), "{unwritable:?}");
    assert_eq!(deafened.status, Status::Failed, "{deafened:?}");
    assert!(call(&runtime, "pid", &json!({})).status.is_ok());
}

#[test]
fn an_answer_that_is_too_large_costs_its_own_call_and_says_so() {
    let (_home, runtime) = odd();
    let first = body(&call(&runtime, "pid", &json!({})));

    let napping = runtime.call(ToolCall::new("nap", "{}"));
    let huge = runtime.call(ToolCall::new("huge", r#"{"size": 34000000}"#));
    let (napped, huge) = block_on(join(napping, huge));
    let endless = at_once(&runtime, "endless", &json!({}));

    assert_eq!(huge.status, Status::Broken, "{huge:?}");
    let told = "it is 34000055 bytes long, and a message can have 33554432 at most";
    assert!(huge.body.contains(told), "{huge:?}");
    assert_eq!(endless.status, Status::Broken);
    assert_eq!((napped.status, body(&napped)), (Status::Ok, first), "it goes on in its process");
    assert!(call(&runtime, "huge", &json!({ "size": 30_000_000 })).status.is_ok(), "less than the most fits");
}

#[test]
fn a_process_that_a_handler_forked_never_answers_for_it() {
    let (_home, runtime) = odd();

    for tool in ["forked", "aforked"] {
        for (how, code) in [("exit", 3), ("return", 0), ("raise", 1)] {
            let said = at_once(&runtime, tool, &json!({ "how": how }));
            assert_eq!(body(&said), json!({ "said by": "the parent", "code": code }), "{tool} {how}");
        }
    }
    let asked = at_once(&runtime, "asks", &json!({}));
    assert!(asked.body.contains("a process that was forked"), "{asked:?}");
}

#[test]
fn processes_that_python_starts_anew_find_what_a_tool_file_defines() {
    let (_home, runtime) = odd();

    for how in ["fork", "spawn", "forkserver"] {
        let said = call(&runtime, "squares", &json!({ "how": how }));
        assert_eq!(body(&said), json!({ "squares": [1, 4, 9] }), "{how}");
    }
}

#[test]
fn processes_that_python_starts_anew_find_what_a_plugin_defines() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [wide]\n");
    let body_lines = "    ctx.register_tool(name='wide', toolset='wide', schema={'name': 'wide', 'parameters': \
                      {'type': 'object', 'properties': {}}}, handler=lambda args, **kw: json.dumps(wide()))\n\n\
                      def square(n):\n    return n * n\n\ndef wide():\n    import multiprocessing\n    from . \
                      import other\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        return \
                      {'squares': pool.map(square, [2]), 'cubes': pool.map(other.cube, [2])}\n";
    plugin_with(&home, "wide", "", body_lines);
    home.write("home/plugins/wide/other.py", "def cube(n):\n    return n * n * n\n");
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("wide");

    let said = call(&runtime, "wide", &json!({}));

    assert_eq!(body(&said), json!({ "squares": [4], "cubes": [8] }), "{said:?}");
}
