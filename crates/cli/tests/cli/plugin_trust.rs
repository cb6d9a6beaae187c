//! A plugin of a project with a say in what may run, accepted and then changed: what the person sees, and does.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use crate::home::{Home, Said};

const FOLDER: &str = ".hermes/plugins/safety/guard";

const STOPS: &str = "def register(ctx):\n    ctx.register_hook('pre_tool_call', lambda **kw: {'action': 'block', \
                     'message': 'not today'})\n";

fn looks(home: &Home) -> Said {
    home.run(&["tools", "call", "read_file", r#"{"path": "notes.txt"}"#])
}

#[test]
fn nothing_goes_past_a_policy_that_changed_until_the_person_says_so() {
    let home = Home::new()
        .file(&format!("{FOLDER}/plugin.yaml"), "name: watcher\npolicy: true\n")
        .file(&format!("{FOLDER}/__init__.py"), "def register(ctx): pass\n")
        .file("notes.txt", "buy milk\n");
    let folder = home.project().join(FOLDER);
    let path = folder.to_str().unwrap();
    home.say(&["plugins", "trust", path]);
    home.say(&["plugins", "enable", "safety/guard"]);
    assert!(looks(&home).out.contains("buy milk"));

    let home = home.file(&format!("{FOLDER}/plugin.yaml"), "name: watcher\n");
    let denied = looks(&home);
    assert!(denied.out.contains("denied") && !denied.out.contains("buy milk"), "{denied:?}");
    assert!(denied.out.contains("plugin safety/guard") && denied.out.contains("changed since"), "{denied:?}");
    let listed = &home.run(&["plugins", "list", "--json"]).json()[0];
    assert_eq!((&listed["key"], &listed["state"]), (&"safety/guard".into(), &"failed".into()));
    assert!(home.say(&["plugins", "info", "watcher"]).contains("changed since it was accepted"));

    home.say(&["plugins", "disable", "safety/guard"]);
    assert!(looks(&home).out.contains("buy milk"));
    home.run(&["plugins", "enable", "safety/guard"]);
    assert!(looks(&home).out.contains("denied"));
    home.say(&["plugins", "trust", path]);
    assert!(looks(&home).out.contains("buy milk"));

    let home = home.file(&format!("{FOLDER}/plugin.yaml"), "name: watcher\npolicy: true\n");
    home.say(&["plugins", "trust", path]);
    std::fs::remove_dir_all(home.project().join(".hermes")).unwrap();
    let denied = looks(&home);
    assert!(denied.out.contains("is not there any more"), "{denied:?}");
    assert_eq!(home.run(&["plugins", "list", "--json"]).json()[0]["state"], "failed");
    home.say(&["plugins", "trust", "--revoke", path]);
    assert!(looks(&home).out.contains("buy milk"));
}

#[test]
fn a_file_of_a_plugin_is_not_accepted_without_the_rest_of_it() {
    let home = Home::new()
        .file(&format!("{FOLDER}/plugin.yaml"), "name: watcher\n")
        .file(&format!("{FOLDER}/__init__.py"), "def register(ctx): pass\n");
    let folder = home.project().join(FOLDER);

    let refused = home.run(&["plugins", "trust", folder.join("__init__.py").to_str().unwrap()]);

    let way = format!("`hermes plugins trust {}`", folder.display());
    assert!(refused.code == Some(2) && refused.err.contains(&way), "{refused:?}");
    assert_eq!(home.json(&["plugins", "trust"]), json!([]));
}

#[test]
fn nothing_goes_past_a_policy_of_the_home_that_was_removed_until_it_is_switched_off() {
    let home = Home::new().file("notes.txt", "buy milk\n");
    let folder = home.state().join("plugins/guard");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plugin.yaml"), "name: guard\npolicy: true\n").unwrap();
    std::fs::write(folder.join("__init__.py"), "def register(ctx): pass\n").unwrap();
    home.say(&["plugins", "enable", "guard"]);
    assert!(looks(&home).out.contains("buy milk"));
    // Nobody accepted it, since it lies in the home.
    assert_eq!(home.json(&["plugins", "trust"]), json!([]));

    std::fs::remove_dir_all(&folder).unwrap();

    let denied = looks(&home);
    assert_eq!(denied.code, Some(1), "{denied:?}");
    assert!(denied.out.contains("had a say in what may run and is not there any more"), "{denied:?}");
    assert!(denied.out.contains("`hermes plugins disable guard`"), "{denied:?}");
    let listed = &home.json(&["plugins", "list"])[0];
    assert_eq!((&listed["key"], &listed["state"]), (&"guard".into(), &"failed".into()));
    home.say(&["plugins", "disable", "guard"]);
    assert!(looks(&home).out.contains("buy milk"));
}

#[test]
fn what_is_accepted_by_a_way_through_a_link_is_accepted_where_it_really_is() {
    let home = Home::new()
        .file(&format!("{FOLDER}/plugin.yaml"), "name: watcher\npolicy: true\n")
        .file(&format!("{FOLDER}/__init__.py"), STOPS)
        .file("notes.txt", "buy milk\n");
    let link = home.path().join("link");
    std::os::unix::fs::symlink(home.project(), &link).unwrap();
    let path = link.join(FOLDER);

    home.say(&["plugins", "trust", path.to_str().unwrap()]);
    home.say(&["plugins", "enable", "safety/guard"]);

    assert!(looks(&home).out.contains("not today"));
    home.say(&["plugins", "trust", "--revoke", path.to_str().unwrap()]);
    assert!(looks(&home).out.contains("buy milk"));
}

#[test]
fn a_folder_whose_name_is_no_text_costs_nothing_that_was_accepted_and_nothing_else_breaks_there() {
    let tool = "from tools.registry import registry\nregistry.register('mine', 'mine', {'name': 'mine', \
                'parameters': {'type': 'object', 'properties': {}}}, lambda args, **kw: '{}')\n";
    let home = Home::new().file(".hermes/tools/mine.py", tool);
    home.say(&["plugins", "trust", ".hermes/tools/mine.py"]);
    let accepted = home.json(&["plugins", "trust"]);
    let odd = home.project().join(OsStr::from_bytes(b"odd-\xff"));
    let plugin = odd.join(".hermes/plugins/own");
    std::fs::create_dir_all(&plugin).unwrap();
    std::fs::write(plugin.join("plugin.yaml"), "name: own\n").unwrap();
    std::fs::write(plugin.join("__init__.py"), "def register(ctx): pass\n").unwrap();
    std::fs::write(odd.join("mine.py"), tool).unwrap();
    let there = |words: &[&str]| Said::of(home.command(words).current_dir(&odd).output().unwrap());

    let refused = there(&["plugins", "trust", ".hermes/plugins/own"]);
    let listed = there(&["plugins", "list", "--json"]);
    let tried = there(&["tools", "test", "mine.py", "--json"]);

    assert!(refused.code == Some(1) && refused.err.contains("is not UTF-8; rename"), "{refused:?}");
    assert_eq!(home.json(&["plugins", "trust"]), accepted);
    assert_eq!((listed.code, &listed.json()[0]["key"]), (Some(0), &json!("own")), "{listed:?}");
    assert_eq!((tried.code, &tried.json()["ok"]), (Some(0), &json!(true)), "{tried:?}");
}
