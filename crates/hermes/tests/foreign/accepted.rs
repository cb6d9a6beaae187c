//! Plugins of a project with a say in what may run, that were accepted and are not as they were then.

use std::path::PathBuf;
use std::time::Duration;

use hermes::store::{Home, Named, Trust, foreign};
use hermes::{Outcome, PluginState, Runtime, Status, ToolCall};
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{LONG, call, plugin_with, runtime, tool_lines};

const POL: &str = "project/.hermes/plugins/pol";
const MANIFEST: &str = "name: pol\npolicy: true\n";
const BLOCKS: &str = "def register(ctx):\n    ctx.register_hook('pre_tool_call', lambda tool_name, **kw: \
                      {'action': 'block', 'message': 'no todo'} if tool_name == 'todo' else None)\n";

fn state(home: &TempHome) -> Home {
    Home::at(&home.path().join("home"))
}

fn folder(home: &TempHome) -> PathBuf {
    home.path().join(POL)
}

fn write(home: &TempHome, manifest: &str, code: &str) {
    home.write(&format!("{POL}/plugin.yaml"), manifest);
    home.write(&format!("{POL}/__init__.py"), code);
}

fn accept(home: &TempHome, policy: Option<Named>) {
    let digest = foreign::tree_digest(&folder(home)).unwrap();
    Trust::accept_as(&state(home), &folder(home), &digest, policy).unwrap();
}

fn named() -> Named {
    Named { key: "pol".to_owned(), name: "pol".to_owned() }
}

/// A project with a policy that was accepted, and is switched on.
fn guarded() -> TempHome {
    let home = TempHome::new();
    home.write("home/config.yaml", "plugins:\n  enabled: [pol]\n");
    write(&home, MANIFEST, BLOCKS);
    accept(&home, Some(named()));
    home
}

fn todo(runtime: &Runtime) -> Outcome {
    call(runtime, "todo", &json!({}))
}

fn looks(runtime: &Runtime) -> Outcome {
    call(runtime, "read_file", &json!({ "path": "/none" }))
}

/// Whether nothing goes past the plugin, and why.
fn shut(runtime: &Runtime) -> Option<String> {
    let outcome = looks(runtime);
    (outcome.status == Status::Denied).then_some(outcome.body)
}

/// What is done to the plugin, how, and what is then said of it.
type Change<'a> = (&'a str, &'a dyn Fn(&TempHome), &'a str);

#[test]
fn a_policy_that_is_not_as_it_was_accepted_lets_nothing_through() {
    let gone = |home: &TempHome, what: &str| std::fs::remove_dir_all(home.path().join(what)).unwrap();
    let changes: [Change<'_>; 7] = [
        ("its code", &|home| write(home, MANIFEST, "def register(ctx): pass\n"), "changed since"),
        ("its say", &|home| write(home, "name: pol\n", BLOCKS), "changed since"),
        ("its name", &|home| write(home, "name: another\npolicy: true\n", BLOCKS), "changed since"),
        ("its kind", &|home| write(home, "name: pol\nkind: backend\n", BLOCKS), "changed since"),
        (
            "no manifest",
            &|home| std::fs::remove_file(folder(home).join("plugin.yaml")).unwrap(),
            "changed since",
        ),
        ("no folder", &|home| gone(home, POL), "is not there any more"),
        ("no plugins", &|home| gone(home, "project/.hermes"), "is not there any more"),
    ];
    for (what, change, why) in changes {
        let home = guarded();
        let running = runtime(&home, LONG);
        assert!(todo(&running).body.contains("no todo") && shut(&running).is_none(), "{what}");

        change(&home);

        for runtime in [running, runtime(&home, LONG)] {
            let said = shut(&runtime).unwrap_or_else(|| panic!("{what}: it went through"));
            assert!(said.contains("plugin pol") && said.contains(why), "{what}: {said}");
            assert!(said.contains("`hermes plugins disable pol`"), "{what}: {said}");
            let views = runtime.plugins();
            let [view] = views.as_slice() else { panic!("{what}: {views:?}") };
            assert_eq!((view.key.as_str(), view.folder.as_ref()), ("pol", Some(&folder(&home))), "{what}");
            assert!(
                matches!(&view.state, PluginState::Failed(said) if said.contains(why)),
                "{what}: {view:?}"
            );
            assert!(runtime.foreign_problems().concat().contains(why), "{what}");
        }
    }
}

#[test]
fn it_is_heard_again_once_it_is_as_it_was_or_somebody_says_so() {
    let home = guarded();
    let runtime = runtime(&home, LONG);
    write(&home, MANIFEST, "def register(ctx): pass\n");
    assert!(shut(&runtime).is_some());

    write(&home, MANIFEST, BLOCKS);
    assert!(shut(&runtime).is_none() && todo(&runtime).body.contains("no todo"));

    write(&home, "name: pol\n", "def register(ctx): pass\n");
    assert!(shut(&runtime).is_some());
    accept(&home, None);
    assert!(shut(&runtime).is_none() && todo(&runtime).status != Status::Denied);

    write(&home, MANIFEST, BLOCKS);
    accept(&home, Some(named()));
    std::fs::remove_dir_all(home.path().join("project/.hermes")).unwrap();
    assert!(shut(&runtime).is_some());
    Trust::revoke(&state(&home), &folder(&home)).unwrap();
    assert!(shut(&runtime).is_none() && todo(&runtime).status != Status::Denied);
}

#[test]
fn a_list_that_did_not_tell_who_has_a_say_is_read_and_completed() {
    let home = guarded();
    accept(&home, None);
    assert!(todo(&runtime(&home, LONG)).body.contains("no todo"));

    let trust = Trust::read(&state(&home)).unwrap();
    assert_eq!(trust.accepted().iter().map(|it| it.policy.clone()).collect::<Vec<_>>(), [Some(named())]);
    write(&home, "name: pol\n", BLOCKS);
    assert!(shut(&runtime(&home, LONG)).is_some());
}

#[test]
fn a_list_that_cannot_be_read_lets_nothing_past_a_policy_that_may_be_in_it() {
    let home = guarded();
    let runtime = runtime(&home, LONG);
    assert!(shut(&runtime).is_none());
    let list = std::fs::read_to_string(home.path().join("home/trusted.json")).unwrap();

    home.write("home/trusted.json", "{ no");
    let said = shut(&runtime).unwrap();
    assert!(said.contains("plugin pol") && said.contains("trusted.json"), "{said}");
    home.write("home/trusted.json", &list);
    assert!(shut(&runtime).is_none() && todo(&runtime).body.contains("no todo"));

    home.write("home/trusted.json", "{ no");
    write(&home, "name: pol\n", BLOCKS);
    assert!(shut(&runtime).is_none(), "it has no say, and does not run");
    assert!(matches!(&runtime.plugins()[0].state, PluginState::Failed(why) if why.contains("trusted.json")));
}

#[test]
fn nobody_else_is_affected() {
    let home = guarded();
    write(&home, "name: pol\n", BLOCKS);
    assert!(shut(&runtime(&home, LONG)).is_some());

    for config in ["plugins:\n  enabled: [other]\n", "plugins:\n  enabled: [pol]\n  disabled: [pol]\n"] {
        home.write("home/config.yaml", config);
        assert!(shut(&runtime(&home, LONG)).is_none(), "{config}");
    }
    home.write("home/config.yaml", "plugins:\n  enabled: [pol]\n");
    home.write("elsewhere/.hermes/plugins/pol/plugin.yaml", "name: pol\n");
    let elsewhere = Runtime::builder().cwd(home.path().join("elsewhere")).home(state(&home)).build().unwrap();
    assert!(shut(&elsewhere).is_none());
}

#[test]
fn it_holds_in_every_folder_of_its_repository() {
    let home = guarded();
    home.write("project/.git/HEAD", "ref: refs/heads/main\n");
    home.write("project/deep/inside/.hermes/plugins/other/plugin.yaml", "name: other\n");
    let path = std::env::var("PATH").unwrap();
    let builder = Runtime::builder().cwd(home.path().join("project/deep/inside")).home(state(&home));
    let runtime = builder.env([("PATH".to_owned(), path)]).build().unwrap();

    assert!(todo(&runtime).body.contains("no todo"));
    write(&home, MANIFEST, "def register(ctx): pass\n");
    assert!(shut(&runtime).is_some());
}

#[test]
fn it_holds_below_its_folder_whatever_is_a_repository_there() {
    for repository in [None, Some("project/deep"), Some("project/deep/inside")] {
        let home = guarded();
        home.write("project/deep/inside/.hermes/plugins/other/plugin.yaml", "name: other\n");
        home.write("project/.hermes/plugins/mild/plugin.yaml", "name: mild\n");
        if let Some(folder) = repository {
            home.write(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
        }
        let path = std::env::var("PATH").unwrap();
        let builder = Runtime::builder().cwd(home.path().join("project/deep/inside")).home(state(&home));
        let runtime = builder.env([("PATH".to_owned(), path)]).build().unwrap();

        assert!(todo(&runtime).body.contains("no todo"), "{repository:?}");
        let keys: Vec<String> = runtime.plugins().into_iter().map(|view| view.key).collect();
        assert_eq!(keys, ["other", "pol"], "{repository:?}");
        std::fs::remove_dir_all(home.path().join("project/.hermes")).unwrap();
        assert!(shut(&runtime).is_some(), "{repository:?}");
        Trust::revoke(&state(&home), &folder(&home)).unwrap();
        assert!(shut(&runtime).is_none(), "{repository:?}");
    }
}

#[test]
fn a_program_that_makes_one_call_sees_it_too() {
    let home = guarded();
    home.write("home/config.yaml", "plugins:\n  enabled: [pol, plugged]\n");
    plugin_with(&home, "plugged", "", &tool_lines("plugged_tool"));
    let denied = || {
        let path = std::env::var("PATH").unwrap();
        let builder = Runtime::builder().cwd(home.path().join("project")).home(state(&home));
        let runtime = builder.env([("PATH".to_owned(), path)]).one_call("todo").build().unwrap();
        runtime.call_blocking(ToolCall::new("todo", "{}")).status == Status::Denied
    };
    let learn = || {
        // What changed a moment ago may change again within the same tick, and is not relied upon.
        std::thread::sleep(Duration::from_millis(100));
        let learning = runtime(&home, LONG);
        learning.try_plugins(&["plugged".to_owned()]);
        learning.tools();
    };
    learn();
    assert!(denied());

    std::fs::remove_dir_all(home.path().join("project/.hermes")).unwrap();
    assert!(denied());
    learn();
    assert!(denied(), "also when others have been heard since");

    Trust::revoke(&state(&home), &folder(&home)).unwrap();
    assert!(!denied());
}
