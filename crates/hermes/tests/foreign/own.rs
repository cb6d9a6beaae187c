//! Plugins of the home with a say in what may run, that are switched on and gone.

use std::path::PathBuf;

use hermes::store::{Home, Trust};
use hermes::{PluginState, Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, call, plugin_with, runtime};

const BLOCKS: &str = "    ctx.register_hook('pre_tool_call', lambda tool_name, **kw: \
                      {'action': 'block', 'message': 'no todo'} if tool_name == 'todo' else None)\n";

/// A home with a policy that is switched on and was heard.
fn guarded() -> (TempHome, Runtime) {
    let home = TempHome::new();
    home.write("project/notes.txt", "");
    home.write("home/config.yaml", "plugins:\n  enabled: [pol]\n");
    plugin_with(&home, "pol", "policy: true\n", BLOCKS);
    let running = runtime(&home, LONG);
    assert!(call(&running, "todo", &json!({})).body.contains("no todo"));
    assert!(shut(&running).is_none());
    (home, running)
}

fn folder(home: &TempHome) -> PathBuf {
    home.path().join("home/plugins/pol")
}

/// What is said when nothing goes through.
fn shut(runtime: &Runtime) -> Option<String> {
    let outcome = call(runtime, "read_file", &json!({ "path": "/none" }));
    (outcome.status == Status::Denied).then_some(outcome.body)
}

/// How many plugins of the home are remembered to have a say.
fn remembered(home: &TempHome) -> usize {
    Trust::read(&Home::at(&home.path().join("home"))).unwrap().own().len()
}

#[test]
fn a_policy_that_was_removed_lets_nothing_through_here_or_in_a_program_that_starts() {
    type Change<'a> = (&'a str, &'a dyn Fn(&TempHome));
    let changes: [Change<'_>; 4] = [
        ("its folder", &|home| std::fs::remove_dir_all(folder(home)).unwrap()),
        ("its manifest", &|home| std::fs::remove_file(folder(home).join("plugin.yaml")).unwrap()),
        ("all plugins", &|home| std::fs::remove_dir_all(home.path().join("home/plugins")).unwrap()),
        ("its name", &|home| drop(home.write("home/plugins/pol/plugin.yaml", "name: other\npolicy: true\n"))),
    ];
    for (what, change) in changes {
        let (home, running) = guarded();

        change(&home);

        for runtime in [running, runtime(&home, LONG), runtime(&home, LONG)] {
            let said = shut(&runtime).unwrap_or_else(|| panic!("{what}: it went through"));
            assert!(said.contains("plugin pol") && said.contains("is not there any more"), "{what}: {said}");
            assert!(said.contains("put it back") && said.contains("`hermes plugins disable pol`"), "{said}");
            let views = runtime.plugins();
            let view = views.iter().find(|view| view.key == "pol").unwrap();
            assert!(matches!(&view.state, PluginState::Failed(why) if why.contains("any more")), "{view:?}");
        }
    }
}

#[test]
fn it_is_heard_again_when_it_is_back_and_forgotten_when_it_is_switched_off() {
    let (home, running) = guarded();
    let aside = home.path().join("aside");
    std::fs::rename(folder(&home), &aside).unwrap();
    assert!(shut(&running).is_some());

    std::fs::rename(&aside, folder(&home)).unwrap();
    assert!(shut(&running).is_none() && call(&running, "todo", &json!({})).status == Status::Denied);

    std::fs::remove_dir_all(folder(&home)).unwrap();
    assert!(shut(&running).is_some() && remembered(&home) == 1);
    home.write("home/config.yaml", "plugins:\n  enabled: [other]\n");
    running.refresh().unwrap();
    assert!(shut(&running).is_none() && shut(&runtime(&home, LONG)).is_none());
    assert_eq!(remembered(&home), 0);
}

#[test]
fn a_person_may_take_the_say_out_of_it_and_move_it() {
    let (home, running) = guarded();
    std::fs::rename(folder(&home), home.path().join("home/plugins/moved")).unwrap();
    for runtime in [&running, &runtime(&home, LONG)] {
        assert!(shut(runtime).is_none() && call(runtime, "todo", &json!({})).body.contains("no todo"));
    }
    assert_eq!(remembered(&home), 1);

    home.write("home/plugins/moved/plugin.yaml", "name: pol\n");
    assert!(shut(&running).is_none());
    assert_eq!(remembered(&home), 0);
    std::fs::remove_dir_all(home.path().join("home/plugins/moved")).unwrap();
    assert!(shut(&running).is_none() && shut(&runtime(&home, LONG)).is_none());
}

#[test]
fn half_a_manifest_takes_no_say_away_in_a_program_that_starts() {
    let (home, _) = guarded();

    home.write("home/plugins/pol/plugin.yaml", "name: [p");

    assert!(shut(&runtime(&home, LONG)).is_some_and(|said| said.contains("plugin.yaml")));
    assert_eq!(remembered(&home), 1);
}

#[test]
fn a_manifest_that_claims_a_say_and_was_never_whole_lets_nothing_through() {
    for manifest in
        ["name: [pol\npolicy: true\n", "name: pol: x\npolicy: true\n", "kind: backend\npolicy: true\n"]
    {
        let home = TempHome::new();
        home.write("home/config.yaml", "plugins:\n  enabled: [pol]\n");
        home.write("home/plugins/pol/plugin.yaml", manifest);
        home.write("home/plugins/pol/__init__.py", "def register(ctx):\n    pass\n");

        assert!(shut(&runtime(&home, LONG)).is_some(), "{manifest}");
    }
}

#[test]
fn a_list_that_cannot_be_read_lets_nothing_past_a_plugin_that_is_not_there() {
    let (home, _) = guarded();
    std::fs::remove_dir_all(folder(&home)).unwrap();
    let list = std::fs::read_to_string(home.path().join("home/trusted.json")).unwrap();
    home.write("home/trusted.json", "{ no");

    let runtime = runtime(&home, LONG);

    let said = shut(&runtime).unwrap();
    assert!(said.contains("trusted.json") && said.contains("`hermes plugins disable pol`"), "{said}");
    home.write("home/trusted.json", &list.replace("\"pol\"", "\"another\""));
    assert!(shut(&runtime).is_none(), "it had no say, as the list tells again");
}

#[test]
fn a_program_that_makes_one_call_sees_it_too() {
    let (home, _) = guarded();
    std::fs::remove_dir_all(folder(&home)).unwrap();

    let path = std::env::var("PATH").unwrap();
    let builder = Runtime::builder().cwd(home.path().join("project"));
    let builder = builder.home(Home::at(&home.path().join("home"))).env([("PATH".to_owned(), path)]);
    let runtime = builder.one_call("todo").build().unwrap();

    assert_eq!(runtime.call_blocking(ToolCall::new("todo", "{}")).status, Status::Denied);
}
