//! Foreign programs that crash, hang and change while the runtime goes on: each costs its own call,
//! nothing runs twice, and what belongs to others stays.

#![expect(clippy::disallowed_methods, reason = "the tests write files, and wait for processes")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::join_all;
use hermes::core::road::RoadLimits;
use hermes::store::Home;
use hermes::{Outcome, Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::{Value, json};

/// Handlers that misbehave, and some that do not.
const TOOLS: &str = r#"
import ctypes, json, os, time
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
"#;

fn runtime(home: &TempHome, call: Duration) -> Runtime {
    let path = std::env::var("PATH").unwrap();
    Runtime::builder()
        .cwd(home.path().join("project"))
        .home(Home::at(&home.path().join("home")))
        .env([("PATH".to_owned(), path), ("HOME".to_owned(), home.path().display().to_string())])
        .limits(RoadLimits { call, ..RoadLimits::default() })
        .build()
        .unwrap()
}

/// Long enough for anything that does not hang, on a busy machine too.
const LONG: Duration = Duration::from_secs(30);

/// A runtime with the misbehaving tools, whose calls may take so long.
fn faults(limit: Duration) -> (TempHome, Runtime) {
    let home = TempHome::new();
    home.write("home/tools/faults.py", TOOLS);
    let runtime = runtime(&home, limit);
    (home, runtime)
}

fn call(runtime: &Runtime, tool: &str, arguments: &Value) -> Outcome {
    runtime.call_blocking(ToolCall::new(tool, arguments.to_string()))
}

fn body(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.body).unwrap()
}

/// A plugin that blocks calls of a tool.
fn blocking(home: &TempHome, name: &str, tool: &str, word: &str) {
    home.write(&format!("home/plugins/{name}/plugin.yaml"), &format!("name: {name}\n"));
    let lines = format!(
        "def register(ctx):\n    def before(tool_name, **kw):\n        if tool_name == '{tool}':\n            \
         return {{'action': 'block', 'message': '{word}'}}\n    ctx.register_hook('pre_tool_call', before)\n"
    );
    home.write(&format!("home/plugins/{name}/__init__.py"), &lines);
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
fn reloading_one_plugin_leaves_the_hooks_of_the_other() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [one, two]\n");
    blocking(&home, "one", "todo", "first word");
    blocking(&home, "two", "read_file", "never");
    let runtime = runtime(&home, LONG);
    let denied = |tool: &str| {
        let arguments = if tool == "todo" { json!({}) } else { json!({ "path": "/none" }) };
        call(&runtime, tool, &arguments).body
    };
    assert!(denied("todo").contains("first word") && denied("read_file").contains("never"));

    blocking(&home, "one", "todo", "another word, a longer one");
    assert!(denied("todo").contains("another word, a longer one"));
    assert!(denied("read_file").contains("never"));

    home.write("home/plugins/one/__init__.py", "raise RuntimeError('broken now')\n");
    assert!(!denied("todo").contains("word"));
    assert!(denied("read_file").contains("never"));
    assert_eq!(runtime.tools().hooks().len(), 1);
    assert!(runtime.foreign_problems().concat().contains("RuntimeError: broken now"));
}

#[test]
fn a_plugin_calls_tools_on_the_road_from_within_a_call() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [reader]\n");
    home.write("home/plugins/reader/plugin.yaml", "name: reader\n");
    let lines = "import json\n\ndef register(ctx):\n    def handler(args, **kw):\n        \
                 return ctx.dispatch_tool('read_file', {'path': args['path']})\n    \
                 ctx.register_tool(name='reader', toolset='reader', handler=handler, schema={'name': 'reader', \
                 'description': 'Reads.', 'parameters': {'type': 'object', 'properties': {'path': {'type': 'string'}}}})\n";
    home.write("home/plugins/reader/__init__.py", lines);
    let file = home.write("project/notes.txt", "buy milk\n");
    let runtime = runtime(&home, LONG);

    let read = call(&runtime, "reader", &json!({ "path": file }));
    let refused = call(&runtime, "reader", &json!({ "path": "/etc/shadow" }));

    assert!(read.body.contains("buy milk"), "{read:?}");
    assert!(!refused.body.contains("root:"), "{refused:?}");
}

#[test]
fn a_policy_hook_that_fails_denies_and_another_is_passed_over() {
    for (policy, denied) in [("true", true), ("false", false)] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        home.write("home/plugins/guard/plugin.yaml", &format!("name: guard\npolicy: {policy}\n"));
        let lines = "def register(ctx):\n    ctx.register_hook('pre_tool_call', lambda **kw: 1 / 0)\n";
        home.write("home/plugins/guard/__init__.py", lines);
        let runtime = runtime(&home, LONG);

        let outcome = runtime.session().open().unwrap().call_blocking(ToolCall::new("todo", "{}"));

        assert_eq!(outcome.status == Status::Denied, denied, "{outcome:?}");
    }
}

#[test]
fn a_name_that_is_refused_costs_a_plugin_that_tool_and_nothing_else() {
    for name in ["taken", "no name"] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        home.write("home/tools/taken.py", &file_with("taken", ""));
        let body = format!(
            "{}{}    ctx.register_hook('pre_tool_call', lambda **kw: {{'action': 'block', 'message': 'shut'}})\n",
            tool_lines(name),
            tool_lines("kept")
        );
        plugin_with(&home, "guard", "policy: true\n", &body);
        let runtime = runtime(&home, LONG);

        let denied = call(&runtime, "todo", &json!({}));

        assert!(denied.status == Status::Denied && denied.body.contains("shut"), "{denied:?}");
        assert!(runtime.tools().tool("kept").is_some());
        let told = runtime.foreign_problems().concat();
        assert!(told.contains(&format!("`{name}`")) && told.contains("plugin `guard`"), "{told}");
    }
}

#[test]
fn a_plugin_with_a_say_denies_when_one_callback_fails_and_another_answers() {
    for (policy, second, denied) in [
        ("true", "{'note': 'seen'}", true),
        ("'yes'", "{'note': 'seen'}", true),
        ("false", "{'note': 'seen'}", false),
    ] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        let body = format!(
            "    ctx.register_hook('pre_tool_call', lambda **kw: 1 / 0)\n    \
             ctx.register_hook('pre_tool_call', lambda **kw: {second})\n"
        );
        plugin_with(&home, "guard", &format!("policy: {policy}\n"), &body);
        let runtime = runtime(&home, LONG);

        let outcome = call(&runtime, "todo", &json!({}));

        assert_eq!(outcome.status == Status::Denied, denied, "{policy}: {outcome:?}");
    }
}

#[test]
fn a_manifest_that_cannot_be_read_denies_if_it_claims_a_say_and_else_costs_its_plugin() {
    for (text, denied) in
        [("policy: true\n: : [", true), ("policy: strict\n", true), ("kind: x\n: : [", false)]
    {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        // The folder is called otherwise.
        home.write("home/plugins/other/plugin.yaml", &format!("name: guard\n{text}"));
        home.write("home/plugins/other/__init__.py", "def register(ctx): pass\n");
        let runtime = runtime(&home, LONG);

        let outcome = call(&runtime, "todo", &json!({}));

        assert_eq!(outcome.status == Status::Denied, denied, "{text}: {outcome:?}");
        assert!(runtime.foreign_problems().concat().contains("plugin guard: plugin.yaml"), "{text}");
        home.write("home/plugins/other/plugin.yaml", "name: guard\n# mended\n");
        assert!(call(&runtime, "todo", &json!({})).status != Status::Denied, "{text}");
    }
}

/// A plugin whose tools, hooks and commands read a file through the road.
fn reader(home: &TempHome, body: &str) {
    home.write("home/config.yaml", "plugins:\n  enabled: [reader]\n");
    home.write("project/notes.txt", "buy milk\n");
    let file = home.path().join("project/notes.txt");
    let read = format!(
        "    def read():\n        return ctx.dispatch_tool('read_file', {{'path': '{}'}})\n",
        file.display()
    );
    plugin_with(home, "reader", "", &format!("{read}{body}"));
}

#[test]
fn a_plugin_calls_tools_from_coroutines_and_threads_of_a_handler() {
    let home = TempHome::new();
    let tool = |name: &str| {
        format!(
            "    ctx.register_tool(name='{name}', toolset='r', schema={{'name': '{name}', 'parameters': \
             {{'type': 'object', 'properties': {{}}}}}}, handler={name})\n"
        )
    };
    let body = format!(
        "    import threading\n    from concurrent.futures import ThreadPoolExecutor\n    \
         pool = ThreadPoolExecutor(1)\n    async def waits(args, **kw):\n        return read()\n    \
         def threads(args, **kw):\n        said = []\n        \
         thread = threading.Thread(target=lambda: said.append(read()))\n        thread.start()\n        \
         thread.join()\n        return said[0]\n    \
         def pools(args, **kw):\n        return pool.submit(read).result()\n{}{}{}",
        tool("waits"),
        tool("threads"),
        tool("pools")
    );
    reader(&home, &body);
    let runtime = runtime(&home, LONG);

    for tool in ["waits", "threads", "pools", "pools"] {
        let read = call(&runtime, tool, &json!({}));
        assert!(read.body.contains("buy milk"), "{tool}: {read:?}");
    }
}

#[test]
fn commands_and_hooks_of_plugins_call_tools_and_hooks_do_so_without_end() {
    let home = TempHome::new();
    let body = "    ctx.register_command('notes', lambda words: read())\n    \
                ctx.register_cli_command('notes', handler_fn=lambda args: print(read()))\n    \
                def before(tool_name, **kw):\n        if tool_name == 'todo':\n            \
                return {'action': 'block', 'message': read()}\n        if tool_name == 'read_file':\n            \
                read()\n    ctx.register_hook('pre_tool_call', before)\n";
    reader(&home, body);
    let runtime = runtime(&home, LONG);
    let session = || std::sync::Arc::new(runtime.session().open().unwrap());

    let command = block_on(runtime.run_plugin_command("notes", "", session())).unwrap();
    let cli = runtime.run_plugin_cli("notes", &[], session()).unwrap().unwrap();
    let hook = call(&runtime, "todo", &json!({}));

    assert!(command.as_ref().is_ok_and(|said| said.contains("buy milk")), "{command:?}");
    assert!(cli.out.contains("buy milk"), "{cli:?}");
    assert!(hook.status == Status::Denied && hook.body.contains("buy milk"), "{hook:?}");
}

#[test]
fn numbers_and_names_that_json_does_not_have_hold_nobody_up() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [odd]\n");
    let body = format!(
        "{}    ctx.register_hook('pre_tool_call', lambda **kw: {{('t', 1): 2, 'n': float('nan')}})\n",
        tool_lines("plugged")
    );
    plugin_with(&home, "odd", "", &body);
    let file = file_with("large", "")
        .replace("lambda args", "max_result_size_chars=float('inf'), handler=lambda args");
    let file =
        file.replace("'properties': {}", "'properties': {'n': {'type': 'number', 'maximum': float('inf')}}");
    home.write("home/tools/large.py", &file);
    let began = Instant::now();
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("large");

    let large = call(&runtime, "large", &json!({ "n": 1 }));
    let plugged = call(&runtime, "plugged", &json!({}));

    assert!(large.status.is_ok() && plugged.status.is_ok(), "{large:?} {plugged:?}");
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
}

#[test]
fn a_check_that_ends_the_process_costs_its_own_tool() {
    let home = TempHome::new();
    let checked = |tool: &str, check: &str| {
        file_with(tool, &format!("def check():\n    {check}\n"))
            .replace("'mine', ", "'mine', check_fn=check, schema=")
            .replace("}, lambda args", "}, handler=lambda args")
    };
    home.write("home/tools/deadly.py", &checked("deadly", "os._exit(3)"));
    for name in ["one", "two", "three"] {
        home.write(&format!("home/tools/{name}.py"), &checked(name, "time.sleep(0.2); return True"));
    }
    let runtime = runtime(&home, LONG);
    for name in ["deadly", "one", "two", "three"] {
        runtime.wait_for_tool(name);
    }
    let session = runtime.session().open().unwrap();

    let offered = session.toolbox_blocking();

    let json = offered.json();
    assert!(["one", "two", "three"].iter().all(|name| json.contains(&format!("\"{name}\""))), "{json}");
    let why = offered.unavailable().iter().find(|it| &*it.name == "deadly").map(|it| it.why.to_string());
    assert!(why.as_ref().is_some_and(|why| why.contains("it ends the process")), "{why:?}");
}

#[test]
fn a_check_that_hangs_is_waited_for_once() {
    let home = TempHome::new();
    let file = file_with("stuck", "def check():\n    time.sleep(100)\n")
        .replace("'mine', ", "'mine', check_fn=check, schema=")
        .replace("}, lambda args", "}, handler=lambda args");
    home.write("home/tools/stuck.py", &file);
    let why = || {
        let runtime = runtime(&home, LONG);
        runtime.wait_for_tool("stuck");
        let session = runtime.session().open().unwrap();
        let offered = session.toolbox_blocking();
        offered.unavailable().iter().find(|it| &*it.name == "stuck").map(|it| it.why.to_string()).unwrap()
    };
    assert!(why().contains("its check does not answer"));
    let began = Instant::now();

    let second = why();

    assert!(second.contains("did not answer a while ago"), "{second}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn what_was_learnt_is_asked_again_when_what_it_depends_on_changes() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [keyed]\n");
    let body = format!("    if os.environ.get('KEYED'):\n    {}", tool_lines("keyed"));
    plugin_with(&home, "keyed", "requires_env: [KEYED]\n", &body);
    home.write(
        "home/tools/uses.py",
        &file_with("uses", "from tools.shared import WORD").replace("'from': 'uses'", "'from': WORD"),
    );
    home.write("home/tools/shared.py", "WORD = 'first'\nTOOL = 'first'\n");
    home.write(
        "home/tools/named.py",
        "import json\nfrom tools import shared\nfrom tools.registry import registry\n\
         registry.register(shared.TOOL, 'mine', {'name': shared.TOOL, 'parameters': {'type': 'object'}}, \
         lambda args, **kw: json.dumps({}))\n",
    );
    let first = runtime(&home, LONG);
    first.wait_for_tool("first");
    assert!(first.tools().tool("first").is_some() && first.tools().tool("keyed").is_none());

    home.write("home/tools/shared.py", "WORD = 'second, which is longer'\nTOOL = 'second'\n");
    home.write("home/.env", "KEYED=1\n");
    let second = runtime(&home, LONG);
    second.wait_for_tool("second");
    second.wait_for_tool("keyed");

    let tools = second.tools();
    assert!(
        tools.tool("second").is_some() && tools.tool("first").is_none(),
        "{:?}",
        second.foreign_problems()
    );
    assert!(tools.tool("keyed").is_some(), "{:?}", second.foreign_problems());
    assert!(call(&second, "uses", &json!({})).body.contains("second"));
}

#[test]
fn what_a_plugin_needs_its_tools_need() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [needy]\n");
    plugin_with(&home, "needy", "requires_env: [NEEDY_KEY]\n", &tool_lines("needy"));
    let runtime = runtime(&home, LONG);
    let session = runtime.session().open().unwrap();

    let offered = session.toolbox_blocking();

    let why = offered.unavailable().iter().find(|it| &*it.name == "needy").map(|it| it.why.to_string());
    assert_eq!(why.as_deref(), Some("needs NEEDY_KEY"));
}

/// A tool file with one tool, after these lines.
fn file_with(tool: &str, lines: &str) -> String {
    format!(
        "import json, os, time\nfrom tools.registry import registry\n{lines}\nregistry.register('{tool}', 'mine', \
         {{'name': '{tool}', 'parameters': {{'type': 'object', 'properties': {{}}}}}}, \
         lambda args, **kw: json.dumps({{'from': '{tool}'}}))\n"
    )
}

/// A plugin in Python with this `register(ctx)`.
fn plugin_with(home: &TempHome, name: &str, manifest: &str, body: &str) {
    home.write(&format!("home/plugins/{name}/plugin.yaml"), &format!("name: {name}\n{manifest}"));
    let lines = format!("import json, os, time\n\ndef register(ctx):\n{body}");
    home.write(&format!("home/plugins/{name}/__init__.py"), &lines);
}

/// The lines of `register(ctx)` that bring one tool.
fn tool_lines(tool: &str) -> String {
    format!(
        "    ctx.register_tool(name='{tool}', toolset='{tool}', schema={{'name': '{tool}', 'parameters': \
         {{'type': 'object', 'properties': {{}}}}}}, handler=lambda args, **kw: json.dumps({{'from': '{tool}'}}))\n"
    )
}

/// The same home at another start, where whoever needs Python finds none.
fn without_python(home: &TempHome) -> Runtime {
    Runtime::builder()
        .cwd(home.path().join("project"))
        .home(Home::at(&home.path().join("home")))
        .env([("PATH".to_owned(), home.path().display().to_string())])
        .build()
        .unwrap()
}

#[test]
fn what_hangs_holds_up_no_start_and_nobody_else() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [asleep, awake]\n");
    plugin_with(&home, "asleep", "", "    time.sleep(60)\n");
    plugin_with(&home, "awake", "", &tool_lines("plugged"));
    home.write("home/tools/asleep.py", &file_with("dreamt", "time.sleep(60)"));
    home.write("home/tools/awake.py", &file_with("dropped", ""));

    let began = Instant::now();
    let first = runtime(&home, LONG);
    let there = first.tools();
    let took = began.elapsed();
    assert!(there.tool("plugged").is_some() && there.tool("dropped").is_some(), "{:?}", first.warnings());
    assert!(there.tool("dreamt").is_none());
    assert!(took < Duration::from_secs(10), "it waited for those that hang: {took:?}");

    let began = Instant::now();
    let second = without_python(&home);
    let there = second.tools();
    let took = began.elapsed();
    assert!(there.tool("plugged").is_some() && there.tool("dropped").is_some());
    let said = second.foreign_problems().join("\n");
    assert_eq!(said.matches("it takes its time to say what it offers").count(), 2, "{said}");
    assert!(took < Duration::from_secs(2), "it waited again: {took:?}");
    assert!(second.why_missing("dreamt").concat().contains("asleep.py"));
}

#[test]
fn what_never_answers_is_told_and_asked_again_only_when_it_changes() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [asleep]\n");
    plugin_with(&home, "asleep", "", "    time.sleep(60)\n");
    let first = runtime(&home, LONG);

    first.try_plugins(&["asleep".to_owned()]);
    assert!(first.foreign_problems().concat().contains("did not say within 15 s"));
    let second = without_python(&home);
    second.wait_for_tool("dreamt");
    assert!(second.foreign_problems().concat().contains("did not say within 15 s"));

    plugin_with(&home, "asleep", "", &tool_lines("dreamt"));
    let third = runtime(&home, LONG);
    third.wait_for_tool("dreamt");
    assert!(third.tools().tool("dreamt").is_some(), "{:?}", third.foreign_problems());
}

#[test]
fn a_failure_is_remembered_and_tried_again_when_the_tool_is_named() {
    let home = TempHome::new();
    home.write("home/tools/needy.py", &file_with("needy", "open(os.environ['HERMES_HOME'] + '/there')"));
    let first = runtime(&home, LONG);
    first.wait_for_tool("needy");
    assert!(first.foreign_problems().concat().contains("FileNotFoundError"));

    assert!(without_python(&home).foreign_problems().concat().contains("FileNotFoundError"));

    home.write("home/there", "");
    let third = runtime(&home, LONG);
    assert!(third.tools().tool("needy").is_none());
    third.wait_for_tool("needy");
    assert!(third.tools().tool("needy").is_some(), "{:?}", third.foreign_problems());
}

#[test]
fn a_file_that_ends_the_process_it_is_loaded_in_is_alone_in_that() {
    let home = TempHome::new();
    home.write("home/tools/exits.py", &file_with("exits", "time.sleep(0.1); os._exit(3)"));
    home.write("home/tools/slow.py", &file_with("slow", "time.sleep(0.5)"));
    let runtime = runtime(&home, LONG);
    runtime.tools();

    runtime.wait_for_tool("slow");

    assert!(call(&runtime, "slow", &json!({})).status.is_ok(), "{:?}", runtime.foreign_problems());
    runtime.wait_for_tool("exits");
    assert!(runtime.foreign_problems().concat().contains("exit code 3"), "{:?}", runtime.foreign_problems());
}

#[test]
fn a_file_that_joins_late_takes_nothing_from_those_that_are_there() {
    let home = TempHome::new();
    home.write("home/tools/slow.py", &file_with("slow", "time.sleep(2)"));
    let counting =
        file_with("count", "told = []").replace("{'from': 'count'}", "[told.append(1), len(told)]");
    home.write("home/tools/count.py", &counting);
    let runtime = runtime(&home, LONG);
    let first = call(&runtime, "count", &json!({}));

    assert!(call(&runtime, "slow", &json!({})).status.is_ok(), "{:?}", runtime.foreign_problems());

    let second = call(&runtime, "count", &json!({}));
    assert!(first.body.contains('1') && second.body.contains('2'), "{first:?} {second:?}");
}

#[test]
fn while_a_policy_plugin_is_not_heard_nothing_runs_past_it() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
    let hook =
        "    ctx.register_hook('pre_tool_call', lambda **kw: {'action': 'block', 'message': 'guarded'})\n";
    plugin_with(&home, "guard", "policy: true\n", &format!("    time.sleep(1)\n{hook}"));
    let late = call(&runtime(&home, LONG), "todo", &json!({}));
    assert_eq!(late.status, Status::Denied, "{late:?}");
    assert!(late.body.contains("guarded"), "{late:?}");

    plugin_with(&home, "guard", "policy: true\n", "    raise ValueError('broken')\n");
    let broken = call(&runtime(&home, LONG), "todo", &json!({}));
    assert_eq!(broken.status, Status::Denied, "{broken:?}");
    assert!(broken.body.contains("ValueError: broken"), "{broken:?}");

    home.write("home/config.yaml", "plugins:\n  enabled: []\n");
    assert!(call(&runtime(&home, LONG), "todo", &json!({})).status != Status::Denied);
}

#[test]
fn a_later_start_knows_its_plugins_by_one_file_until_one_of_theirs_changes() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [one, two]\n");
    plugin_with(&home, "one", "", &tool_lines("first"));
    plugin_with(&home, "two", "policy: true\n", &tool_lines("second"));
    home.write("home/plugins/two/inner/more.py", "");
    let has = |runtime: &Runtime, tool: &str| runtime.tools().tool(tool).is_some();
    // What changed a moment ago may change again within the same tick, and is not relied upon.
    std::thread::sleep(Duration::from_millis(100));
    let learning = runtime(&home, LONG);
    learning.try_plugins(&["one".to_owned(), "two".to_owned()]);
    assert!(has(&learning, "first") && has(&learning, "second"), "{:?}", learning.foreign_problems());

    // Neither Python nor what was learnt elsewhere is needed any more.
    std::fs::remove_file(home.path().join("home/cache/plugins.jsonl")).unwrap();
    let later = without_python(&home);
    assert!(has(&later, "first") && has(&later, "second"), "{:?}", later.foreign_problems());
    assert_eq!(later.foreign_problems(), Vec::<String>::new());

    // A file deep in a folder counts for a start, a manifest at once.
    home.write("home/plugins/two/inner/more.py", "changed = True\n");
    assert!(has(&later, "second"));
    assert!(!has(&without_python(&home), "second"));
    home.write("home/plugins/one/plugin.yaml", "name: another\n");
    assert!(!has(&later, "first"));
}

#[test]
fn a_program_that_is_one_moment_looks_once() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [late]\n");
    home.write("home/tools/first.py", &file_with("first", ""));
    let path = std::env::var("PATH").unwrap();
    let builder = || {
        let builder = Runtime::builder().cwd(home.path()).home(Home::at(&home.path().join("home")));
        builder.env([("PATH".to_owned(), path.clone())])
    };
    let (once, always) = (builder().one_moment().build().unwrap(), builder().build().unwrap());
    for runtime in [&once, &always] {
        runtime.wait_for_tool("first");
        assert!(runtime.tools().tool("first").is_some(), "{:?}", runtime.foreign_problems());
    }

    home.write("home/tools/second.py", &file_with("second", ""));
    plugin_with(&home, "late", "", &tool_lines("third"));
    always.wait_for_tool("second");
    always.try_plugins(&["late".to_owned()]);

    let has = |runtime: &Runtime, tool: &str| runtime.tools().tool(tool).is_some();
    assert!(has(&always, "second") && has(&always, "third"), "{:?}", always.foreign_problems());
    assert!(has(&once, "first") && !has(&once, "second") && !has(&once, "third"));
}
