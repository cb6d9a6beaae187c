//! Secrets that tool files and plugins were given and put into what they say of themselves.

use hermes::Runtime;
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, call, file_with, plugin_with, runtime};

/// The value of a variable that everything here asks for.
const KEY: &str = "zq81kslw9203jfnv77";

/// A home with that variable.
fn home() -> TempHome {
    let home = TempHome::new();
    home.write("home/.env", &format!("MINE_API_KEY={KEY}\n"));
    home
}

/// A tool file that reads the variable, after these lines.
fn file(home: &TempHome, tool: &str, lines: &str) {
    let text = file_with(tool, &format!("KEY = os.environ['MINE_API_KEY']\n{lines}"));
    home.write(&format!("home/tools/{tool}.py"), &text);
}

/// A plugin that asked for the variable, with this `register(ctx)`, switched on.
fn plugin(home: &TempHome, body: &str) {
    home.write("home/config.yaml", "plugins:\n  enabled: [mine]\n");
    let manifest = "requires_env: [MINE_API_KEY]\n";
    plugin_with(home, "mine", manifest, &format!("    key = os.environ['MINE_API_KEY']\n{body}"));
}

/// Told, but without the secret.
#[track_caller]
fn cleared(told: &str, what: &str) {
    assert!(told.contains(what) && told.contains("[REDACTED]") && !told.contains(KEY), "{told}");
}

fn kept(home: &TempHome, name: &str) -> String {
    std::fs::read_to_string(home.path().join("home/cache").join(name)).unwrap()
}

fn problems(runtime: &Runtime) -> String {
    runtime.foreign_problems().concat()
}

#[test]
fn secrets_in_what_keeps_a_file_from_loading_are_neither_told_nor_kept() {
    let home = home();
    file(&home, "mine", "raise ValueError('no such key: ' + KEY)");
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("mine");

    cleared(&problems(&runtime), "no such key");
    cleared(&kept(&home, "tool-files.jsonl"), "no such key");
    cleared(&runtime.why_missing("mine").concat(), "no such key");
}

#[test]
fn secrets_in_what_keeps_a_plugin_from_loading_are_neither_told_nor_kept() {
    let home = home();
    plugin(&home, "    raise ValueError('no such key: ' + key)\n");
    let runtime = runtime(&home, LONG);
    runtime.try_plugins(&["mine".to_owned()]);

    cleared(&problems(&runtime), "no such key");
    cleared(&kept(&home, "plugins.jsonl"), "no such key");
    cleared(&format!("{:?}", runtime.plugins()), "no such key");
}

#[test]
fn secrets_in_the_description_of_a_tool_are_neither_told_nor_kept() {
    let home = home();
    let lines = "    ctx.register_tool(name='mine', toolset='mine', handler=lambda args, **kw: '{}', schema={\
                 'name': 'mine', 'description': 'asks with ' + key, 'parameters': {'type': 'object', 'properties': \
                 {'with': {'type': 'string', 'default': key}}}})\n";
    plugin(&home, lines);
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("mine");

    cleared(&kept(&home, "plugins.jsonl"), "asks with");
    let offered = runtime.session().open().unwrap().toolbox_blocking().json().to_string();
    cleared(&offered, "asks with");
}

#[test]
fn secrets_in_the_reason_of_a_check_are_not_told() {
    let home = home();
    file(&home, "mine", "def check():\n    raise ValueError('no such key: ' + KEY)\n");
    let path = home.path().join("home/tools/mine.py");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text
        .replace("'mine', {", "'mine', check_fn=check, schema={")
        .replace("}, lambda", "}, handler=lambda");
    std::fs::write(&path, text).unwrap();
    let runtime = runtime(&home, LONG);
    runtime.wait_for_tool("mine");

    let toolbox = runtime.session().open().unwrap().toolbox_blocking();
    let why = toolbox.unavailable().iter().find(|it| &*it.name == "mine").unwrap().why.to_string();
    cleared(&why, "no such key");
}

#[test]
fn secrets_in_what_a_handler_raises_are_not_in_its_trace() {
    let home = home();
    file(&home, "mine", "def fail():\n    raise ValueError('no such key: ' + KEY)\n");
    let path = home.path().join("home/tools/mine.py");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("json.dumps({'from': 'mine'})", "fail()")).unwrap();
    let runtime = runtime(&home, LONG);

    cleared(&call(&runtime, "mine", &json!({})).body, "no such key");
    cleared(&runtime.last_trace().unwrap(), "no such key");
}

#[test]
fn secrets_in_what_a_hook_or_a_command_of_a_plugin_raises_are_not_told() {
    let home = home();
    plugin(
        &home,
        "    def fail(*args, **kw):\n        raise ValueError('no such key: ' + key)\n    \
         ctx.register_hook('pre_tool_call', fail)\n    ctx.register_hook('post_tool_call', fail)\n    \
         ctx.register_cli_command('notes', handler_fn=fail)\n    ctx.register_command('notes', fail)\n",
    );
    let runtime = runtime(&home, LONG);
    runtime.try_plugins(&["mine".to_owned()]);

    let notes = call(&runtime, "todo", &json!({})).notes;
    cleared(&notes.concat(), "no such key");
    cleared(&runtime.settle(LONG).concat(), "no such key");
    let session = || runtime.session().open().unwrap().into();
    cleared(&runtime.run_plugin_cli("notes", &[], None, session()).unwrap().unwrap().err, "no such key");
    let said = futures::executor::block_on(runtime.run_plugin_command("notes", "", session()));
    cleared(&said.unwrap().unwrap_err(), "no such key");
}

#[test]
fn secrets_in_what_a_program_that_is_a_hook_complains_about_are_not_told() {
    let home = home();
    home.write("project/notes.txt", "it runs in this folder");
    let script = home.path().join("fail.sh");
    std::fs::write(&script, format!("echo 'no such key: {KEY}' >&2\nexit 3\n")).unwrap();
    let hook = format!("    - command: sh {}\n", script.display());
    let config =
        format!("hooks_auto_accept: true\nhooks:\n  pre_tool_call:\n{hook}  post_tool_call:\n{hook}");
    home.write("home/config.yaml", &config);
    let runtime = runtime(&home, LONG);

    let notes = call(&runtime, "todo", &json!({})).notes;

    cleared(&notes.concat(), "no such key");
    cleared(&runtime.settle(LONG).concat(), "no such key");
}
