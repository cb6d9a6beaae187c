//! What plugins bring, and what is left when one changes.

use std::time::{Duration, Instant};

use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, call, file_with, plugin_with, runtime, tool_lines};

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
    assert!(!denied("todo").contains("word"));
    assert!(denied("read_file").contains("never"));
    assert_eq!(runtime.tools().hooks().len(), 1);
    assert!(runtime.foreign_problems().concat().contains("RuntimeError: broken now"));
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
