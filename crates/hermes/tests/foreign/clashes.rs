//! Plugins and tool files that want one name, and skills that do not lie where their plugin does.

use hermes::store::{Home, Trust, foreign};
use hermes::{PluginState, Runtime, Status};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, body, call, file_with, plugin_with, runtime};

/// A hook that blocks every call of a tool.
fn blocks(tool: &str) -> String {
    format!(
        "    ctx.register_hook('pre_tool_call', lambda tool_name, **kw: {{'action': 'block', 'message': 'no {tool}'}} if \
         tool_name == '{tool}' else None)\n"
    )
}

/// A plugin in this folder that calls itself `pol`.
fn pol(home: &TempHome, folder: &str, manifest: &str, body: &str) {
    home.write(&format!("{folder}/plugin.yaml"), &format!("name: pol\n{manifest}"));
    home.write(&format!("{folder}/__init__.py"), &format!("def register(ctx):\n{body}"));
}

fn enabled() -> TempHome {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [pol]\n");
    home
}

/// Accepts a plugin of the project as it is.
fn accept(home: &TempHome, folder: &str) {
    let path = home.path().join(folder);
    let digest = foreign::tree_digest(&path).unwrap();
    Trust::accept(&Home::at(&home.path().join("home")), &path, &digest).unwrap();
}

fn denied(runtime: &Runtime, tool: &str) -> bool {
    let arguments = if tool == "todo" { json!({}) } else { json!({ "path": "/none" }) };
    let outcome = call(runtime, tool, &arguments);
    outcome.status == Status::Denied && outcome.body.contains(&format!("no {tool}"))
}

#[test]
fn of_two_with_one_name_the_folder_of_that_name_runs_and_the_other_is_told() {
    let home = enabled();
    pol(&home, "home/plugins/pol", "", &blocks("todo"));
    pol(&home, "home/plugins/pol.bak", "", &blocks("read_file"));
    let runtime = runtime(&home, LONG);

    assert!(denied(&runtime, "todo") && !denied(&runtime, "read_file"));
    let told = runtime.foreign_problems().concat();
    assert!(
        told.contains("plugin pol:") && told.contains("pol.bak has the same name and does not run"),
        "{told}"
    );
    let views = runtime.plugins();
    let [first, second] = views.as_slice() else { panic!("{views:?}") };
    assert_eq!(first.state, PluginState::On);
    assert!(first.notes.concat().contains("pol.bak has the same name"), "{first:?}");
    assert!(matches!(&second.state, PluginState::Failed(why) if why.contains("runs instead")), "{second:?}");
}

#[test]
fn a_copy_of_a_policy_takes_nothing_from_it_and_adds_what_it_says() {
    let home = enabled();
    pol(&home, "home/plugins/pol", "policy: true\n", &blocks("todo"));
    pol(&home, "home/plugins/pol.bak", "policy: true\n", &blocks("read_file"));
    let runtime = runtime(&home, LONG);

    assert!(denied(&runtime, "todo") && denied(&runtime, "read_file"));
    assert!(runtime.foreign_problems().concat().contains("only the hooks count"));

    pol(&home, "home/plugins/pol.bak", "policy: true\n", "    raise RuntimeError('not any more')\n");
    let outcome = call(&runtime, "read_file", &json!({ "path": "/none" }));
    assert!(outcome.status == Status::Denied && outcome.body.contains("not any more"), "{outcome:?}");
}

#[test]
fn a_plugin_of_a_project_takes_no_say_from_one_of_the_home() {
    for theirs in ["", "policy: true\n"] {
        let home = enabled();
        pol(&home, "home/plugins/pol", "policy: true\n", &blocks("todo"));
        pol(&home, "project/.hermes/plugins/pol", theirs, &blocks("read_file"));
        accept(&home, "project/.hermes/plugins/pol");
        let runtime = runtime(&home, LONG);

        assert!(denied(&runtime, "todo"));
        assert_eq!(denied(&runtime, "read_file"), !theirs.is_empty(), "a say that was accepted counts too");
        assert!(runtime.foreign_problems().concat().contains("has the same name"));
    }
}

#[test]
fn without_a_say_a_plugin_of_a_project_stands_in_for_one_of_the_home() {
    let home = enabled();
    pol(&home, "home/plugins/pol", "", &blocks("todo"));
    pol(&home, "project/.hermes/plugins/pol", "", &blocks("read_file"));
    accept(&home, "project/.hermes/plugins/pol");
    let runtime = runtime(&home, LONG);

    assert!(!denied(&runtime, "todo") && denied(&runtime, "read_file"));
    assert_eq!(runtime.foreign_problems(), Vec::<String>::new());
}

/// A text that speaks of somebody.
fn skill(of: &str) -> String {
    format!("---\nname: s\ndescription: of {of}\n---\nBe {of}.\n")
}

#[test]
fn a_skill_begins_in_the_folder_of_its_plugin_and_not_where_one_stands() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [p]\n");
    let body = "    ctx.register_skill('bare', 'SKILL.md')\n    ctx.register_skill('deep', 'notes/s')\n";
    plugin_with(&home, "p", "", body);
    home.write("home/plugins/p/notes/s/SKILL.md", &skill("the plugin"));
    home.write("project/notes/s/SKILL.md", &skill("somebody else"));
    home.write("project/SKILL.md", &skill("somebody else"));
    let runtime = runtime(&home, LONG);

    let paths: Vec<_> = runtime.plugin_skills().into_iter().map(|skill| skill.path).collect();

    let folder = home.path().join("home/plugins/p");
    assert_eq!(paths, [folder.join("SKILL.md"), folder.join("notes/s")]);
}

#[test]
fn a_skill_of_an_accepted_plugin_lies_in_what_was_accepted() {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [p]\n");
    home.write("project/.hermes/plugins/p/plugin.yaml", "name: p\n");
    let register = |name: &str, path: &str| format!("    ctx.register_skill('{name}', '{path}')\n");
    let body = [register("good", "good"), register("up", "../../../loose"), register("far", "/etc")].concat();
    home.write("project/.hermes/plugins/p/__init__.py", &format!("def register(ctx):\n{body}"));
    home.write("project/.hermes/plugins/p/good/SKILL.md", &skill("the plugin"));
    home.write("project/loose/SKILL.md", &skill("somebody else"));
    accept(&home, "project/.hermes/plugins/p");
    let runtime = runtime(&home, LONG);

    let names: Vec<_> = runtime.plugin_skills().into_iter().map(|skill| skill.name).collect();

    assert_eq!(names, ["p:good"]);
    let told = runtime.foreign_problems().concat();
    assert!(told.contains("the skill `up` is not taken") && told.contains("the skill `far`"), "{told}");
}

#[test]
fn of_two_tool_files_with_one_name_the_first_keeps_it_while_it_is_asked_again() {
    let home = TempHome::new();
    let file = |who: &str, lines: &str| {
        file_with("shared", lines).replace("'from': 'shared'", &format!("'from': '{who}'"))
    };
    home.write("home/tools/a.py", &file("a", ""));
    home.write("home/tools/b.py", &file("b", ""));
    let runtime = runtime(&home, LONG);
    let from = || body(&call(&runtime, "shared", &json!({})))["from"].clone();
    assert_eq!(from(), "a");

    home.write("home/tools/a.py", &file("new a", "time.sleep(0.5)"));

    assert_eq!(from(), "new a");
}
