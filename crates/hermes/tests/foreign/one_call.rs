//! A program that makes one call of a tool of our own: it looks at the foreign tools that have a say in what that
//! tool does, at the others only when somebody asks for them.

use std::time::Duration;

use hermes::extend::plugins::offer::OfferedCli;
use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, body, file_with, plugin_with, runtime, tool_lines};

const BLOCKS: &str =
    "    ctx.register_hook('pre_tool_call', lambda **kw: {'action': 'block', 'message': 'shut'})\n";

/// A home with a plugin that brings a tool, and what an earlier program has learnt of it.
fn learnt(manifest: &str, body: &str) -> TempHome {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [plugged]\n");
    plugin_with(&home, "plugged", manifest, body);
    learn(&home);
    home
}

fn learn(home: &TempHome) {
    // What changed a moment ago may change again within the same tick, and is not relied upon.
    std::thread::sleep(Duration::from_millis(100));
    let learning = runtime(home, LONG);
    learning.try_plugins(&["plugged".to_owned()]);
    assert_eq!(learning.foreign_problems(), Vec::<String>::new());
}

fn for_call_of(tool: &str, home: &TempHome, more: &[(&str, &str)]) -> Runtime {
    builder_for_call_of(tool, home, more).build().unwrap()
}

fn builder_for_call_of(tool: &str, home: &TempHome, more: &[(&str, &str)]) -> RuntimeBuilder {
    let path = std::env::var("PATH").unwrap();
    let env = [("PATH", path.as_str())].into_iter().chain(more.iter().copied());
    Runtime::builder()
        .cwd(home.path().join("project"))
        .home(Home::at(&home.path().join("home")))
        .env(env.map(|(name, value)| (name.to_owned(), value.to_owned())))
        .one_call(tool)
}

fn has(runtime: &Runtime, tool: &str) -> bool {
    runtime.tools().tool(tool).is_some()
}

#[test]
fn a_plugin_without_a_say_is_not_looked_at_until_somebody_asks() {
    let home = learnt("", &tool_lines("plugged_tool"));
    home.write(
        "home/config.yaml",
        "plugins:\n  enabled: [plugged]\nmcp_servers:\n  none:\n    command: none\n",
    );

    let narrow = for_call_of("todo", &home, &[]);
    assert!(narrow.call_blocking(ToolCall::new("clarify", "{}")).status != Status::Ok);
    assert!(narrow.session().open().unwrap().call_blocking(ToolCall::new("todo", "{}")).status.is_ok());
    assert!(!has(&narrow, "plugged_tool"));

    // Each of these is somebody who asks.
    assert!(for_call_of("todo", &home, &[]).plugins().iter().any(|it| it.key == "plugged"));
    assert_eq!(for_call_of("todo", &home, &[]).mcp().servers().len(), 1);
    narrow.wait_for_tool("plugged_tool");
    assert!(has(&narrow, "plugged_tool"));
}

#[test]
fn a_tool_that_looks_around_or_is_not_ours_sees_everything() {
    let home = learnt("", &tool_lines("plugged_tool"));

    for tool in ["execute_code", "skills_list", "plugged_tool", "unheard_of"] {
        assert!(has(&for_call_of(tool, &home, &[]), "plugged_tool"), "{tool}");
    }
}

#[test]
fn a_hook_is_asked_and_so_is_one_that_came_since() {
    let home = learnt("", &format!("{}{BLOCKS}", tool_lines("plugged_tool")));
    let denied = |home: &TempHome, more: &[(&str, &str)]| {
        let runtime = for_call_of("todo", home, more);
        runtime.session().open().unwrap().call_blocking(ToolCall::new("todo", "{}")).status == Status::Denied
    };
    assert!(denied(&home, &[]));

    plugin_with(&home, "plugged", "", &tool_lines("plugged_tool"));
    learn(&home);
    assert!(!denied(&home, &[]));
    plugin_with(&home, "plugged", "", BLOCKS);
    assert!(denied(&home, &[]));

    // With a variable that it asked for, a plugin may do otherwise.
    let if_set = format!("    if os.environ.get('SHUT'):\n    {BLOCKS}");
    plugin_with(&home, "plugged", "requires_env: [SHUT]\n", &if_set);
    learn(&home);
    assert!(!denied(&home, &[]));
    assert!(denied(&home, &[("SHUT", "1")]));
}

#[test]
fn a_plugin_with_a_say_that_cannot_be_loaded_shuts() {
    let home = learnt("policy: true\n", &tool_lines("plugged_tool"));
    plugin_with(&home, "plugged", "policy: true\n", "    raise RuntimeError('broken')\n");

    let runtime = for_call_of("todo", &home, &[]);

    let session = runtime.session().open().unwrap();
    assert_eq!(session.call_blocking(ToolCall::new("todo", "{}")).status, Status::Denied);
}

#[test]
fn what_stands_in_for_a_tool_of_ours_does() {
    let home = TempHome::new();
    let config =
        "plugins:\n  enabled: [plugged]\n  entries:\n    plugged:\n      allow_tool_override: true\n";
    home.write("home/config.yaml", config);
    plugin_with(&home, "plugged", "", &tool_lines("todo").replace("handler=", "override=True, handler="));
    learn(&home);
    let of_plugin = for_call_of("todo", &home, &[]).call_blocking(ToolCall::new("todo", "{}"));
    assert_eq!(body(&of_plugin), json!({ "from": "todo" }), "{of_plugin:?}");

    let home = TempHome::new();
    let overriding = file_with("todo", "").replace("{'from': 'todo'}))", "{'from': 'file'}), override=True)");
    home.write("home/tools/todo.py", &overriding);
    let runtime = for_call_of("todo", &home, &[]);
    let of_file = runtime.call_blocking(ToolCall::new("todo", "{}"));
    assert_eq!(body(&of_file), json!({ "from": "file" }), "{:?}", runtime.foreign_problems());
}

#[test]
fn a_session_for_one_tool_has_no_other_unless_that_one_looks_at_them() {
    let home = learnt("", &tool_lines("plugged_tool"));
    let names = |tool: &str| {
        let session = for_call_of(tool, &home, &[]).session().only(tool).open().unwrap();
        session.toolbox_blocking().plan().tools().iter().map(ToString::to_string).collect::<Vec<_>>()
    };

    assert_eq!(names("todo"), ["todo"]);
    // A toolset of that name has more.
    assert_eq!(names("terminal"), ["terminal"]);
    for tool in ["execute_code", "plugged_tool", "unheard_of"] {
        let offered = names(tool);
        assert!(offered.iter().any(|it| it == "todo") && offered.len() > 5, "{tool}: {offered:?}");
    }
}

#[test]
fn commands_of_plugins_are_kept_until_somebody_looks_at_the_plugins_or_wants_others() {
    let greets = |help: &str| {
        format!("    ctx.register_cli_command('greet', help='{help}', handler_fn=lambda args: None)\n")
    };
    let names = |told: Vec<OfferedCli>| told.into_iter().map(|it| (it.name, it.help)).collect::<Vec<_>>();
    let told = |home: &TempHome| names(runtime(home, LONG).plugin_cli());
    let kept = |home: &TempHome, more: &[_]| builder_for_call_of("", home, more).kept_plugin_cli().map(names);
    let greet = |help: &str| vec![("greet".to_owned(), help.to_owned())];
    let home = learnt("requires_env: [WANTED_KEY]\n", &greets("says hello"));
    assert_eq!((kept(&home, &[]), told(&home)), (Some(greet("says hello")), greet("says hello")));
    assert_eq!(kept(&home, &[("WANTED_KEY", "it may do more with it")]), None);
    assert_eq!(kept(&home, &[("HERMES_SAFE_MODE", "1")]), Some(Vec::new()));

    plugin_with(&home, "plugged", "", &greets("says goodbye"));
    assert_eq!(kept(&home, &[]), Some(greet("says hello")), "nobody has looked at it since");
    assert_eq!(told(&home), greet("says goodbye"));

    learn(&home);
    assert_eq!(kept(&home, &[]), Some(greet("says goodbye")));
    home.write("project/.hermes/plugins/other/plugin.yaml", "name: other\n");
    assert_eq!((kept(&home, &[]), told(&home)), (None, greet("says goodbye")));

    home.write("home/config.yaml", "plugins:\n  enabled: [plugged]\n  disabled: [plugged]\n");
    assert_eq!((kept(&home, &[]), told(&home)), (None, Vec::new()));
    home.write("home/config.yaml", "");
    assert_eq!((kept(&home, &[]), told(&home)), (Some(Vec::new()), Vec::new()));
}

#[test]
fn plugins_of_a_project_are_looked_at() {
    let home = learnt("", &tool_lines("plugged_tool"));
    home.write("project/.hermes/plugins/other/plugin.yaml", "name: other\n");

    assert!(has(&for_call_of("todo", &home, &[]), "plugged_tool"));
}
