//! Plugins: in Python and in other languages, switched on and off, whole or not at all, each for itself.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::home::{Home, Said};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Home {
    /// With an example plugin, switched on.
    fn example(self, name: &str) -> Self {
        copy(&examples().join(name), &self.state().join("plugins").join(name));
        self.say(&["plugins", "enable", name]);
        self
    }

    /// With a plugin in Python of these lines, switched on or not.
    pub(crate) fn plugin(&self, name: &str, lines: &str) -> PathBuf {
        let folder = self.state().join("plugins").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("plugin.yaml"), format!("name: {name}\nversion: 1.0\n")).unwrap();
        std::fs::write(folder.join("__init__.py"), lines).unwrap();
        folder
    }

    fn call(&self, tool: &str, arguments: &str) -> Said {
        self.run(&["tools", "call", tool, arguments])
    }
}

/// A plugin with one tool that says `word`.
fn saying(tool: &str, word: &str) -> String {
    format!(
        "import json\n\ndef register(ctx):\n    ctx.register_tool(name='{tool}', toolset='{tool}', \
         schema={{'name': '{tool}', 'description': 'Says.', 'parameters': {{'type': 'object', 'properties': {{}}}}}}, \
         handler=lambda args, **kw: json.dumps({{'said': '{word}'}}))\n"
    )
}

#[test]
fn the_python_example_brings_everything_it_registers() {
    let home = Home::new().example("greeter");

    let greeted = home.call("greet", r#"{"name": "Ann"}"#);
    let blocked = home.call("greet", r#"{"name": "Voldemort"}"#);
    let cli = home.run(&["greet", "Bob"]);
    let wrong = home.run(&["greet"]);
    let info = home.json(&["plugins", "info", "greeter"]);

    assert_eq!(greeted.json(), json!({ "greeting": "Hello, Ann!", "number": 1 }), "{greeted:?}");
    assert_eq!(blocked.code, Some(1));
    assert!(blocked.out.contains("denied by plugin greeter: not him"), "{blocked:?}");
    assert_eq!((cli.out.as_str(), cli.code), ("Hello, Bob!\n", Some(0)), "{cli:?}");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("usage: hermes greet"), "{wrong:?}");
    assert_eq!(
        (&info["state"], &info["tools"], &info["hooks"], &info["commands"], &info["cli"], &info["skills"]),
        (
            &json!("on"),
            &json!(["greet"]),
            &json!(["pre_tool_call"]),
            &json!(["greet"]),
            &json!(["greet"]),
            &json!(["greeting"])
        )
    );
}

#[test]
fn the_shell_example_speaks_the_protocol() {
    let home = Home::new().example("space-sh");

    let said = home.call("free_space", r#"{"path": "/"}"#);
    let none = home.call("free_space", r#"{"path": "/no/such/place"}"#);

    assert!(said.json()["free_kb"].as_u64().is_some(), "{said:?}");
    assert_eq!(none.json()["error"], "there is no such path");
}

#[test]
fn the_node_example_speaks_the_protocol_and_has_a_hook() {
    let home = Home::new().example("words-node").file("secrets.txt", "x");

    let said = home.call("count_words", r#"{"text": "one two  three"}"#);
    let blocked = home.call("terminal", r#"{"command": "cat secrets.txt"}"#);

    assert_eq!(said.json(), json!({ "words": 3 }), "{said:?}");
    assert!(blocked.out.contains("secrets.txt stays closed"), "{blocked:?}");
}

#[test]
fn a_plugin_is_off_until_it_is_switched_on() {
    let home = Home::new();
    home.plugin("one", &saying("one", "1"));
    assert_eq!(home.call("one", "{}").code, Some(2));
    assert_eq!(home.json(&["plugins", "list"])[0]["state"], "off");

    home.say(&["plugins", "enable", "one"]);
    assert_eq!(home.call("one", "{}").json(), json!({ "said": "1" }));

    home.say(&["plugins", "disable", "one"]);
    assert_eq!(home.call("one", "{}").code, Some(2));
}

#[test]
fn a_plugin_that_raises_half_way_leaves_nothing() {
    let home = Home::new();
    home.plugin("half", &format!("{}    ctx.register_hook('pre_tool_call', lambda **kw: {{'action': 'block', 'message': 'no'}})\n    raise ValueError('half-way')\n", saying("half", "1")));
    home.plugin("whole", &saying("whole", "2"));

    let said = home.run(&["plugins", "enable", "half", "whole"]);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("ValueError: half-way"), "{said:?}");
    assert_eq!(home.call("half", "{}").code, Some(2));
    assert_eq!(home.call("whole", "{}").json(), json!({ "said": "2" }));
    let views = home.run(&["plugins", "list", "--json"]).json();
    assert_eq!(
        (&views[0]["state"], &views[0]["tools"], &views[1]["state"]),
        (&json!("failed"), &json!([]), &json!("on"))
    );
}

#[test]
fn a_plugin_of_a_project_runs_only_as_it_was_accepted() {
    let home = Home::new()
        .file(".hermes/plugins/one/plugin.yaml", "name: one\n")
        .file(".hermes/plugins/one/__init__.py", saying("one", "1"));
    let folder = home.project().join(".hermes/plugins/one");
    let enabled = home.run(&["plugins", "enable", "one"]);
    assert!(enabled.err.contains("`hermes plugins trust"), "{enabled:?}");
    assert_eq!(home.call("one", "{}").code, Some(2));

    home.say(&["plugins", "trust", folder.to_str().unwrap()]);
    assert_eq!(home.call("one", "{}").json(), json!({ "said": "1" }));

    std::fs::write(folder.join("__init__.py"), saying("one", "evil")).unwrap();
    assert_eq!(home.call("one", "{}").code, Some(2));
    assert_eq!(home.json(&["plugins", "list"])[0]["state"], "not accepted");
    home.say(&["plugins", "trust", folder.to_str().unwrap()]);
    home.say(&["plugins", "trust", folder.to_str().unwrap(), "--revoke"]);
    assert_eq!(home.call("one", "{}").code, Some(2));
}

#[test]
fn what_lies_outside_of_a_project_plugin_cannot_be_accepted_with_it() {
    let home = Home::new()
        .file(".hermes/plugins/one/plugin.yaml", "name: one\n")
        .file(".hermes/plugins/run/plugin.yaml", "name: run\nrun: [sh, ../../../start.sh]\n")
        .file("elsewhere.py", saying("one", "1"));
    let (one, run) = (home.project().join(".hermes/plugins/one"), home.project().join(".hermes/plugins/run"));
    std::os::unix::fs::symlink(home.project().join("elsewhere.py"), one.join("__init__.py")).unwrap();

    let linked = home.run(&["plugins", "trust", one.to_str().unwrap()]);
    let started = home.run(&["plugins", "trust", run.to_str().unwrap()]);
    let strange = home.run(&["plugins", "trust", "/etc/passwd"]);

    assert!(linked.code == Some(1) && linked.err.contains("is a link to"), "{linked:?}");
    assert!(started.code == Some(1) && started.err.contains("`run` says `../../../start.sh`"), "{started:?}");
    assert!(strange.code == Some(2) && strange.err.contains("neither a Python file nor"), "{strange:?}");
}

#[test]
fn everything_in_a_project_plugin_counts_also_what_was_compiled() {
    let home = Home::new()
        .file(".hermes/plugins/one/plugin.yaml", "name: one\n")
        .file(".hermes/plugins/one/__init__.py", saying("one", "1"));
    let folder = home.project().join(".hermes/plugins/one");
    home.say(&["plugins", "trust", folder.to_str().unwrap()]);
    home.say(&["plugins", "enable", "one"]);
    assert_eq!(home.call("one", "{}").json(), json!({ "said": "1" }));
    assert!(!folder.join("__pycache__").exists());

    std::fs::create_dir(folder.join("__pycache__")).unwrap();
    std::fs::write(folder.join("__pycache__/start"), "#!/bin/sh\n").unwrap();

    assert_eq!(home.call("one", "{}").code, Some(2));
    assert_eq!(home.json(&["plugins", "list"])[0]["state"], "not accepted");
}

#[test]
fn enabling_asks_a_plugin_again_that_was_heard_before() {
    let home = Home::new();
    let lines = "import os, json\n\ndef register(ctx):\n    with open(os.environ['HERMES_HOME'] + '/word') as file:\n        \
                 word = file.read()\n    ctx.register_command(word, lambda words: word)\n    \
                 ctx.register_cli_command(word + '-cli', help='Says ' + word, handler_fn=lambda args: print(word))\n";
    home.plugin("words", lines);
    std::fs::write(home.state().join("word"), "first").unwrap();
    let enable = || home.json(&["plugins", "enable", "words"])[0]["commands"].clone();
    assert_eq!(enable(), json!(["first"]));
    let help = home.say(&["--help"]);
    assert!(help.contains("Commands of plugins:") && help.contains("Says first"), "{help}");

    std::fs::write(home.state().join("word"), "second").unwrap();

    assert_eq!(home.json(&["plugins", "list"])[0]["commands"], json!(["first"]));
    assert_eq!(enable(), json!(["second"]));
    assert_eq!(home.json(&["plugins", "list"])[0]["commands"], json!(["second"]));
}

#[test]
fn what_the_configuration_says_of_plugins_is_understood_or_told() {
    let home = Home::configured("plugins:\n  enabled: [ghost]\n");
    // By then Python has said where packages are.
    let plugins = home.run(&["plugins", "list"]);
    assert!(plugins.err.contains("plugin ghost is switched on, and is not there"), "{plugins:?}");

    let listed = home.run(&["tools", "list"]);
    let check = home.run(&["config", "check"]);
    let explained = home.say(&["config", "explain", "plugins.enabled"]);
    let disabled = home.run(&["plugins", "disable", "ghost"]);

    assert!(listed.err.contains("plugin ghost: it is switched on, and is not there"), "{listed:?}");
    assert!(!check.out.contains("not used") && !explained.contains("not used"), "{check:?} {explained}");
    assert_eq!(disabled.code, Some(0), "{disabled:?}");
    assert_eq!(home.run(&["tools", "list"]).err, "");
    for (odd, told) in [
        ("plugins:\n  enabled: {a: 1}\n", "line 2: `plugins.enabled` must be a list, not a map"),
        ("plugins: [a]\n", "line 1: `plugins` must be a map, not a list"),
    ] {
        let listed = Home::configured(odd).run(&["tools", "list"]);
        assert!(listed.code != Some(0) && listed.err.contains(told), "{listed:?}");
    }
    let misspelt = Home::configured("plugins:\n  enable: [a]\n").run(&["config", "check"]);
    assert!(format!("{misspelt:?}").contains("did you mean `plugins.enabled`?"), "{misspelt:?}");
    let one = Home::configured("plugins:\n  enabled: one\n");
    one.plugin("one", &saying("one", "1"));
    assert_eq!(one.call("one", "{}").json(), json!({ "said": "1" }));
}

#[test]
fn a_plugin_is_told_what_its_manifest_says() {
    let home = Home::new();
    let lines =
        "def register(ctx):\n    ctx.register_command(ctx.manifest.provides_tools[0], lambda words: '')\n";
    let folder = home.plugin("told", lines);
    std::fs::write(folder.join("plugin.yaml"), "name: told\nprovides_tools: [it-brings]\n").unwrap();

    assert_eq!(home.json(&["plugins", "enable", "told"])[0]["commands"], json!(["it-brings"]));
}

#[test]
fn a_program_that_is_not_there_or_cannot_be_run_is_told_as_such() {
    let home = Home::new();
    for (name, run) in [("gone", "./nothing"), ("plain", "./start")] {
        let folder = home.state().join("plugins").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("plugin.yaml"), format!("name: {name}\nrun: {run}\n")).unwrap();
        std::fs::write(folder.join("start"), "#!/bin/sh\n").unwrap();
    }

    let gone = home.run(&["plugins", "enable", "gone"]);
    let plain = home.run(&["plugins", "enable", "plain"]);

    assert!(gone.err.contains("there is no such file"), "{gone:?}");
    assert!(plain.err.contains("it is not executable"), "{plain:?}");
}

#[test]
fn an_installed_package_can_be_a_plugin() {
    let home = Home::new();
    let site = home.path().join("site");
    std::fs::create_dir_all(site.join("pack-1.2.dist-info")).unwrap();
    let entry = "[hermes_agent.plugins]\npack = pack_plugin\n";
    std::fs::write(site.join("pack-1.2.dist-info/entry_points.txt"), entry).unwrap();
    std::fs::write(site.join("pack_plugin.py"), saying("packed", "here")).unwrap();
    // A Python whose packages are there.
    let bin = home.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let python = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\nexport PYTHONPATH='{}'\nexec python3 \"$@\"\n",
        site.display()
    );
    std::fs::write(bin.join("python3"), python).unwrap();
    std::fs::set_permissions(bin.join("python3"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let run = |words: &[&str]| {
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        Said::of(home.command(words).env("PATH", path).output().unwrap())
    };

    let enabled = run(&["plugins", "enable", "pack"]);
    let said = run(&["tools", "call", "packed"]);

    assert_eq!(enabled.code, Some(0), "{enabled:?}");
    assert_eq!(said.json(), json!({ "said": "here" }), "{said:?}");
    let info = run(&["plugins", "info", "pack", "--json"]).json();
    assert_eq!((&info["source"], &info["version"]), (&json!("package"), &json!("1.2")));
    std::fs::write(site.join("pack_plugin.py"), saying("packed_anew", "there, and more of it")).unwrap();
    assert_eq!(run(&["tools", "call", "packed_anew"]).json(), json!({ "said": "there, and more of it" }));
}

#[test]
fn fifty_plugins_start_no_python() {
    let home = Home::new();
    let names: Vec<String> = (0..50).map(|n| format!("p{n}")).collect();
    for name in &names {
        home.plugin(name, &saying(name, name));
    }
    let words: Vec<&str> =
        ["plugins", "enable"].into_iter().chain(names.iter().map(String::as_str)).collect();
    assert_eq!(home.run(&words).code, Some(0));

    // A search path without Python: whoever needed it now would say so.
    let mut command = home.command(&["tools", "list", "--json"]);
    let said = Said::of(command.env("PATH", home.path()).output().unwrap());

    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let there = |name: &String| said.json().as_array().unwrap().iter().any(|tool| tool["name"] == **name);
    assert!(names.iter().all(there));
}

#[test]
fn wrong_names_are_wrong_usage_with_a_suggestion() {
    let home = Home::new();
    home.plugin("calculator", &saying("calc", "1"));

    let said = home.run(&["plugins", "enable", "calculater"]);
    let none = home.run(&["plugins", "trust", "nowhere"]);

    assert_eq!((said.code, none.code), (Some(2), Some(2)));
    assert!(said.err.contains("did you mean `calculator`?"), "{said:?}");
}

#[test]
fn a_plugin_that_hangs_is_told_wherever_somebody_looks() {
    let home = Home::configured("plugins:\n  enabled: [asleep]\n");
    home.plugin("asleep", "import time\n\ndef register(ctx):\n    time.sleep(60)\n");
    home.plugin("awake", &saying("awake", "1"));
    let began = std::time::Instant::now();

    let listed = home.run(&["tools", "list"]);
    let info = home.run(&["plugins", "info", "asleep", "--json"]).json();
    let why = home.run(&["tools", "explain", "dreamt"]);

    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(listed.err.contains("plugin asleep: it takes its time"), "{listed:?}");
    assert_eq!((&info["state"], &info["enabled"]), (&json!("late"), &json!(true)), "{info}");
    assert!(why.out.contains("plugin asleep") && why.out.contains("hermes plugins enable asleep"), "{why:?}");
}

#[test]
fn skills_of_a_plugin_come_and_go_with_it() {
    let home = Home::new();
    let lines = "from pathlib import Path\n\ndef register(ctx):\n    \
        ctx.register_skill('foo', Path(__file__).parent / 'skills' / 'foo' / 'SKILL.md')\n";
    let folder = home.plugin("pp", lines).join("skills/foo");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\nname: foo\ndescription: About foo\n---\nDo it\n").unwrap();

    let before = home.json(&["skills", "list"]);
    home.say(&["plugins", "enable", "pp"]);
    let listed = home.json(&["skills", "list"]);
    let viewed = home.say(&["skills", "view", "pp:foo"]);
    let called = home.call("skill_view", r#"{"name": "pp:foo"}"#);
    home.say(&["plugins", "disable", "pp"]);

    assert_eq!(before, json!([]));
    assert_eq!(
        listed,
        json!([{ "name": "pp:foo", "description": "About foo", "category": null, "origin": "plugin" }])
    );
    assert!(viewed.ends_with("Do it\n"), "{viewed}");
    assert_eq!(called.json()["name"], "pp:foo", "{called:?}");
    assert_eq!(home.json(&["skills", "list"]), json!([]));
}

#[test]
fn of_two_plugins_with_one_name_the_one_that_runs_is_shown_and_the_other_told() {
    let home = Home::new();
    home.plugin("one", &saying("one", "first"));
    copy(&home.state().join("plugins/one"), &home.state().join("plugins/copy-of-one"));

    let enabled = home.run(&["plugins", "enable", "one"]);

    assert!(enabled.err.contains("runs instead"), "{enabled:?}");
    let said = home.call("one", "{}");
    assert_eq!(said.json(), json!({ "said": "first" }));
    let listed = home.json(&["plugins", "list"]);
    assert_eq!((&listed[0]["state"], &listed[1]["state"]), (&json!("failed"), &json!("on")), "{listed}");
    let info = home.say(&["plugins", "info", "one"]);
    assert!(info.contains("copy-of-one has the same name, and does not run"), "{info}");
    assert!(home.run(&["tools", "list"]).err.contains("copy-of-one has the same name"));
}

#[test]
fn a_line_is_told_only_where_it_is_in_the_plugin_itself() {
    let home = Home::new();
    home.plugin("none", "x = 1\n");
    home.plugin("early", "import json\n\ndef register(ctx):\n    json.loads('{')\n");
    let folder = home.plugin("deep", "from . import other\n");
    std::fs::write(folder.join("other.py"), "\n1 / 0\n").unwrap();
    home.plugin("lost", "def register(ctx): pass\n");
    std::fs::remove_file(home.state().join("plugins/lost/__init__.py")).unwrap();

    let said = home.run(&["plugins", "enable", "none", "early", "deep", "lost"]);

    let told = |words: &str| assert!(said.err.contains(words), "{words}: {}", said.err);
    told("AttributeError: the plugin has no register(ctx)\n");
    told("double quotes: line 1 column 2 (char 1) (line 4)\n");
    told("ZeroDivisionError: division by zero (line 2 of other.py)\n");
    told("there is no __init__.py in the plugin's folder\n");
}

#[test]
fn the_last_words_of_a_program_that_ends_at_its_start_are_told_without_secrets() {
    let home = Home::new();
    let folder = home.state().join("plugins/broken");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = "name: broken\nrun: ./start\nrequires_env: [BROKEN_API_KEY]\n";
    std::fs::write(folder.join("plugin.yaml"), manifest).unwrap();
    let start = "#!/bin/sh\necho one >&2; echo two >&2\necho \"no server takes $BROKEN_API_KEY\" >&2\n\
                 echo 'give it another' >&2\nexit 3\n";
    std::fs::write(folder.join("start"), start).unwrap();
    std::fs::set_permissions(folder.join("start"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    std::fs::write(home.state().join(".env"), "BROKEN_API_KEY=hunter2-hunter2-hunter2\n").unwrap();

    let said = home.run(&["plugins", "enable", "broken"]);

    assert!(
        said.err.contains("it ended with exit code 3; its last words: two / no server takes "),
        "{said:?}"
    );
    assert!(said.err.contains(" / give it another\n") && !said.err.contains("hunter2-h"), "{said:?}");
}

#[test]
fn odd_names_of_a_plugin_are_written_out() {
    let home = Home::new();
    let lines = "def register(ctx):\n    ctx.register_command('a\\nstate     off', lambda words: '')\n    \
                 ctx.register_hook('on\\x1b[2J', lambda **kw: None)\n";
    let folder = home.plugin("odd", lines);
    let manifest = "name: odd\ndescription: |\n  First.\n  Second.\n";
    std::fs::write(folder.join("plugin.yaml"), manifest).unwrap();
    home.say(&["plugins", "enable", "odd"]);

    let info = home.say(&["plugins", "info", "odd"]);

    assert!(info.contains("  what for  First. Second.\n"), "{info}");
    assert!(info.contains(r"on\u{1b}[2J") && !info.contains('\u{1b}'), "{info}");
    let states = info.lines().filter(|line| line.trim_start().starts_with("state")).count();
    assert_eq!(states, 1, "{info}");
}
