//! What plugins bring, and what is left when one changes.

use std::time::{Duration, Instant};

use hermes::store::Home;
use hermes::{Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, body, call, file_with, plugin_with, runtime, tool_lines};

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
    assert!(denied("todo").contains("another word, a longer one"), "it goes on as it was");
    assert!(denied("read_file").contains("never"));
    assert!(runtime.foreign_problems().concat().contains("RuntimeError: broken now"));
    let notes = runtime.hook_notes();
    let told = notes.iter().filter(|it| it.contains("RuntimeError: broken now") && it.contains("plugin one"));
    assert_eq!(told.count(), 1, "{notes:?}");

    blocking(&home, "one", "todo", "mended, and longer than what it was before");
    assert!(denied("todo").contains("mended"));
    assert_eq!(runtime.foreign_problems(), Vec::<String>::new());
}

#[test]
fn half_a_file_takes_no_say_away_and_costs_no_plugin_what_it_had() {
    for (manifest, denies) in [("policy: true\n", true), ("", false)] {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [guard]\n");
        let hook = "    ctx.register_hook('pre_tool_call', lambda tool_name, **kw: {'action': 'block', 'message': \
                    'guarded'} if tool_name == 'read_file' else None)\n";
        plugin_with(&home, "in-other-folder", manifest, hook);
        let whole = format!("name: guard\n{manifest}");
        home.write("home/plugins/in-other-folder/plugin.yaml", &whole);
        let runtime = runtime(&home, LONG);
        let is_denied = || call(&runtime, "todo", &json!({})).status == Status::Denied;
        let read = || call(&runtime, "read_file", &json!({ "path": "/none" })).body;
        assert!(read().contains("guarded") && !is_denied());

        home.write("home/plugins/in-other-folder/plugin.yaml", "");

        assert!(denies || read().contains("guarded"), "it goes on as it was");
        assert_eq!(is_denied(), denies);
        assert!(runtime.foreign_problems().concat().contains("not a mapping"));
        assert_eq!(runtime.hook_notes().concat().contains("not a mapping"), !denies, "who denies says so");

        home.write("home/plugins/in-other-folder/plugin.yaml", &whole);
        assert!(read().contains("guarded") && !is_denied());
    }
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
fn a_call_has_one_id_for_hooks_and_for_its_handler() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [ids]\n");
    let tool =
        tool_lines("ids").replace("{'from': 'ids'}", "{'hook': seen, 'handler': kw.get('tool_call_id')}");
    let hook = "    seen = []\n    ctx.register_hook('pre_tool_call', lambda tool_call_id, **kw: seen.append(tool_call_id))\n";
    plugin_with(&home, "ids", "", &format!("{hook}{tool}"));
    let runtime = runtime(&home, LONG);

    let given = runtime.call_blocking(ToolCall::new("ids", "{}").with_id("call_7"));
    let own = runtime.call_blocking(ToolCall::new("ids", "{}"));

    assert_eq!(body(&given), json!({ "hook": ["call_7"], "handler": "call_7" }));
    let id = own.id.as_str();
    assert_eq!(body(&own), json!({ "hook": ["call_7", id], "handler": id }));
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

#[test]
fn what_a_program_in_python_compiles_lies_in_the_cache_and_not_beside_what_was_accepted() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [snake]\n");
    home.write("home/plugins/snake/plugin.yaml", "name: snake\nrun: [python3, main.py]\n");
    home.write("home/plugins/snake/part.py", "WORD = 'compiled'\n");
    let main = "import json, sys\nimport part\nTOOL = {'name': 'snake', 'schema': {'name': 'snake', 'parameters': \
                {'type': 'object', 'properties': {}}}}\nfor line in sys.stdin:\n    asked = json.loads(line)\n    \
                if 'id' in asked:\n        said = {'initialize': {'tools': [TOOL]}, 'tool.call': {'text': \
                json.dumps({'word': part.WORD})}}\n        print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], \
                'result': said.get(asked['method'], {})}), flush=True)\n";
    home.write("home/plugins/snake/main.py", main);
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("snake");

    let said = call(&runtime, "snake", &json!({}));

    assert!(said.body.contains("compiled"), "{said:?} {:?}", runtime.foreign_problems());
    let folder = home.path().join("home/plugins/snake");
    assert!(!folder.join("__pycache__").exists());
    let below = folder.strip_prefix("/").unwrap();
    let compiled = std::fs::read_dir(home.path().join("home/cache/pycache").join(below)).unwrap();
    let names: Vec<String> = compiled.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("part.")), "{names:?}");
}

#[test]
fn a_program_that_asks_and_does_not_read_the_answers_is_ended_and_costs_its_own_call() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [asker, other]\n");
    home.write("home/plugins/asker/plugin.yaml", "name: asker\nrun: [python3, main.py]\n");
    let main = "import json, sys\nTOOL = {'name': 'asker', 'schema': {'name': 'asker', 'parameters': {'type': \
                'object', 'properties': {}}}}\nfor line in sys.stdin:\n    asked = json.loads(line)\n    if \
                asked['method'] == 'tool.call':\n        while True:\n            print('{\"id\":1,\"method\":\
                \"any\"}\\n' * 1000)\n    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': \
                {'tools': [TOOL]}}), flush=True)\n";
    home.write("home/plugins/asker/main.py", main);
    plugin_with(&home, "other", "", &tool_lines("other"));
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("asker");
    runtime.wait_for_tool("other");

    let said = call(&runtime, "asker", &json!({}));

    let why = "it asked 16384 things and did not read the answers";
    assert!((said.status, said.body.contains(why)) == (Status::Failed, true), "{said:?}");
    assert_eq!(call(&runtime, "other", &json!({})).status, Status::Ok);
}

#[test]
fn a_home_that_is_reached_by_a_link_is_no_project_of_whoever_stands_in_it() {
    let home = TempHome::new();
    home.write("real/.hermes/tools/mine.py", &file_with("mine", ""));
    home.write("real/.hermes/plugins/own/plugin.yaml", "name: own\n");
    home.write("real/.git/HEAD", "ref: refs/heads/main\n");
    home.write("real/work/notes", "");
    std::os::unix::fs::symlink(home.path().join("real"), home.path().join("link")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let builder = Runtime::builder().cwd(home.path().join("real/work"));
    let builder = builder.home(Home::at(&home.path().join("link/.hermes")));
    let runtime = builder.env([("PATH".to_owned(), path)]).build().unwrap();
    runtime.wait_for_tool("mine");

    assert_eq!(call(&runtime, "mine", &json!({})).status, Status::Ok);
    assert_eq!(runtime.foreign_problems(), Vec::<String>::new());
    let origins: Vec<&str> = runtime.plugins().iter().map(|view| view.origin.word()).collect();
    assert_eq!(origins, ["user"]);
}
