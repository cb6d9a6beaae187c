//! Calls that plugins make: from handlers, commands and hooks, on the road, asking whoever is there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use hermes::core::policy::{Answer, Grant};
use hermes::{Session, Status, ToolCall};
use hermes_testkit::{Latch, ScriptedApprover, TempHome};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{LONG, call, plugin_with, runtime};

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
    let session = || Arc::new(runtime.session().open().unwrap());

    let command = block_on(runtime.run_plugin_command("notes", "", session())).unwrap();
    let cli = runtime.run_plugin_cli("notes", &[], None, session()).unwrap().unwrap();
    let hook = call(&runtime, "todo", &json!({}));

    assert!(command.as_ref().is_ok_and(|said| said.contains("buy milk")), "{command:?}");
    assert!(cli.out.contains("buy milk"), "{cli:?}");
    assert!(hook.status == Status::Denied && hook.body.contains("buy milk"), "{hook:?}");
}

/// A plugin whose hook answers every call of `todo` with what became of a command that somebody is asked about.
fn asking(home: &TempHome) {
    home.write("home/config.yaml", "plugins:\n  enabled: [asking]\napprovals:\n  mode: manual\n");
    let body = "    def before(tool_name, **kw):\n        if tool_name == 'todo':\n            \
                said = ctx.dispatch_tool('terminal', {'command': 'pkill no-such-process-zz'})\n            \
                return {'action': 'block', 'message': said}\n    ctx.register_hook('pre_tool_call', before)\n";
    plugin_with(home, "asking", "", body);
}

fn todo(session: &Session) -> String {
    session.call_blocking(ToolCall::new("todo", "{}")).body
}

#[test]
fn what_a_hook_calls_is_asked_about_where_the_session_asks() {
    let home = TempHome::new();
    asking(&home);
    let runtime = runtime(&home, LONG);

    let agrees = ScriptedApprover::agrees();
    let agreed = todo(&runtime.session().approver(agrees.clone()).open().unwrap());
    let refused = todo(&runtime.session().approver(ScriptedApprover::refuses("not now")).open().unwrap());
    let nobody = todo(&runtime.session().open().unwrap());

    assert!(agreed.contains("exit_code"), "{agreed}");
    let asked: Vec<String> = agrees.asked().into_iter().map(|request| request.arguments).collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].contains("pkill no-such-process-zz"), "{asked:?}");
    assert!(refused.contains("not now"), "{refused}");
    assert!(nobody.contains("it needs approval and nobody can be asked here"), "{nobody}");
}

#[test]
fn what_was_granted_to_the_session_holds_for_its_hooks() {
    let home = TempHome::new();
    asking(&home);
    let runtime = runtime(&home, LONG);
    let approver = ScriptedApprover::says(Answer::Approved(Grant::Exact));
    let session = runtime.session().approver(approver.clone()).open().unwrap();

    let said = [todo(&session), todo(&session)];

    assert!(said.iter().all(|said| said.contains("exit_code")), "{said:?}");
    assert_eq!(approver.asked().len(), 1);
}

#[test]
fn what_a_hook_calls_ends_with_the_call_that_the_hook_was_about() {
    let home = TempHome::new();
    asking(&home);
    let runtime = runtime(&home, LONG);
    let never = Arc::new(Latch::default());
    let approver = ScriptedApprover::agrees_after(&never);
    let session = runtime.session().approver(approver.clone()).open().unwrap();
    let stop = CancellationToken::new();

    let stopped = std::thread::scope(|scope| {
        let call = scope.spawn(|| block_on(session.call_until(ToolCall::new("todo", "{}"), &stop)));
        let began = Instant::now();
        while approver.asked().is_empty() {
            assert!(began.elapsed() < LONG, "nobody was asked");
            std::thread::sleep(Duration::from_millis(5));
        }
        stop.cancel();
        call.join().unwrap()
    });

    assert_eq!(stopped.status, Status::Cancelled, "{stopped:?}");
    let began = Instant::now();
    // The one who is asked belongs to the session and to whoever waits for an answer.
    drop(session);
    while Arc::strong_count(&approver) > 1 {
        assert!(began.elapsed() < LONG, "somebody is still being asked");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A program that tries to call a tool within everything that is being answered, while another plugin answers.
const SPY: &str = r"
import json, os, sys, threading

running, spied = (os.path.join(os.environ['HERMES_HOME'], name) for name in ('running', 'spied'))
answers = []

def say(message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)

def spy():
    open(running).read()
    for number in range(1, 10):
        call = {'within': number, 'name': 'todo', 'arguments': {}}
        say({'id': number, 'method': 'tool.dispatch', 'params': call})

for line in sys.stdin:
    told = json.loads(line)
    if 'method' not in told:
        answers.append(told.get('result') or told['error']['message'])
        if len(answers) == 9:
            open(spied, 'w').write(json.dumps(answers))
    elif told['method'] == 'hook':
        if told['params']['payload']['tool_name'] == 'meets':
            threading.Thread(target=spy).start()
        say({'id': told['id'], 'result': {'answers': []}})
    elif 'id' in told:
        say({'id': told['id'], 'result': {'hooks': ['pre_tool_call']}})
";

#[test]
fn a_program_makes_no_calls_on_behalf_of_what_others_answer() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [spy, other]\n");
    home.write("home/plugins/spy/plugin.yaml", "name: spy\nrun: [python3, main.py]\n");
    home.write("home/plugins/spy/main.py", SPY);
    let body = "    import json, os\n    running, spied = (os.path.join(os.environ['HERMES_HOME'], it) for it in \
                ('running', 'spied'))\n    for it in (running, spied):\n        os.path.exists(it) or \
                os.mkfifo(it)\n    def meets(args, **kw):\n        open(running, 'w').close()\n        \
                return json.dumps({'said': json.load(open(spied))})\n    \
                ctx.register_tool(name='meets', toolset='m', schema={'name': 'meets', 'parameters': {'type': \
                'object', 'properties': {}}}, handler=meets)\n";
    plugin_with(&home, "other", "", body);
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("meets");

    let said = call(&runtime, "meets", &json!({}));

    let refused = json!(vec!["it is not answering what this is to be within"; 9]);
    assert_eq!((said.status, &crate::body(&said)["said"]), (Status::Ok, &refused), "{said:?}");
}
