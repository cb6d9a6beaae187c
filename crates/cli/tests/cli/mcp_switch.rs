//! Which tools of an MCP server the agent gets: switched one by one, and filtered in the configuration.

use serde_json::{Value, json};

use crate::mcp::home;

#[test]
fn one_tool_of_a_server_is_switched_in_its_filter() {
    let home = home();
    let config = |tools: &str| {
        let text =
            format!("mcp_servers:\n  plain:  # ours\n    command: python3\n    args: [server.py]\n{tools}");
        std::fs::write(home.config(), text).unwrap();
    };
    let filter = || home.json(&["config", "get", "mcp_servers.plain.tools"]);
    let state = || home.json(&["mcp", "tools", "plain"])[0]["state"].clone();
    config("");

    assert_eq!(
        home.say(&["tools", "disable", "plain:echo"]),
        "`plain:echo` is disabled for every platform\n"
    );
    assert_eq!((filter(), state()), (json!({ "exclude": ["echo"] }), json!("filtered")));
    let again = home.say(&["tools", "disable", "plain:echo"]);
    assert_eq!(again, "`plain:echo` is disabled for every platform, as before\n");
    home.say(&["tools", "enable", "plain:echo"]);
    assert_eq!((filter(), state()), (json!({ "exclude": [] }), json!("on")));

    config("    tools: {include: echo}\n");
    home.say(&["tools", "disable", "plain:echo"]);
    assert_eq!((filter(), state()), (json!({ "include": [] }), json!("filtered")));
    home.say(&["tools", "enable", "plain:echo", "todo"]);
    assert_eq!((filter(), state()), (json!({ "include": ["echo"] }), json!("on")));

    for (name, why) in [
        ("plain:ecko", "MCP server `plain` has no tool `ecko`; did you mean `echo`?"),
        ("plane:echo", "there is no MCP server `plane`; did you mean `plain`?"),
    ] {
        let wrong = home.run(&["tools", "disable", name]);
        assert_eq!(wrong.code, Some(2));
        assert!(wrong.err.contains(why), "{}", wrong.err);
    }
    assert!(std::fs::read_to_string(home.config()).unwrap().contains("plain:  # ours"));
}

#[test]
fn a_filter_with_nothing_behind_it_is_told_and_switches_only_what_is_named() {
    let home = home();
    let config = "mcp_servers:\n  plain:\n    command: python3\n    args: [server.py]\n    tools:  # later\n";
    let state = || home.json(&["mcp", "tools", "plain"])[0]["state"].clone();
    std::fs::write(home.config(), config).unwrap();

    let listed = home.say(&["mcp", "list"]);
    let checked = home.json(&["config", "check"]);
    let untouched = state();
    home.say(&["tools", "disable", "plain:echo"]);
    let disabled = state();
    home.say(&["tools", "enable", "plain:echo"]);

    assert!(listed.contains("note: `plain`: `tools` has nothing behind it, so no tool is taken"), "{listed}");
    assert_eq!(checked["found"][0]["key"], "mcp_servers.plain.tools", "{checked}");
    assert_eq!((untouched, disabled, state()), (json!("filtered"), json!("filtered"), json!("on")));
    let filter = home.json(&["config", "get", "mcp_servers.plain.tools"]);
    assert_eq!(filter, json!({ "include": ["echo"] }));
}

#[test]
fn a_check_of_the_configuration_knows_the_tools_of_a_server_that_was_heard_and_starts_none() {
    let home = home();
    let config = "mcp_servers:\n  plain:\n    command: python3\n    args: [server.py]\n    tools:\n      \
                  include: [echo, ecko]\n      exclude: [shout]\n";
    std::fs::write(home.config(), config).unwrap();
    let found = || home.json(&["config", "check"])["found"].clone();
    assert_eq!(found(), json!([]));
    assert!(!home.state().join("mcp/plain.json").exists());

    home.say(&["mcp", "test", "plain"]);
    std::fs::remove_file(home.project().join("server.py")).unwrap();

    let note = |line: u64, list: &str, name: &str, hint: Value| {
        json!({ "line": line, "key": format!("mcp_servers.plain.tools.{list}"), "level": "note",
                "what": format!("names `{name}`, and it has no such tool"), "hint": hint })
    };
    let expected =
        [note(6, "include", "ecko", json!("did you mean `echo`?")), note(7, "exclude", "shout", Value::Null)];
    assert_eq!(found(), json!(expected));
}

#[test]
fn a_tool_of_a_server_is_switched_off_and_on_and_nothing_else_is() {
    let home = home();
    for name in ["one", "two"] {
        home.say(&["mcp", "add", name, "--", "python3", "server.py"]);
    }
    let on = || -> Vec<bool> {
        let names = ["mcp__one__echo", "mcp__two__echo", "todo"];
        names.iter().map(|name| home.say(&["tools", "explain", name]).contains("is in through")).collect()
    };

    assert_eq!(home.say(&["tools", "disable", "mcp__one__echo"]), "`mcp__one__echo` is disabled for cli\n");
    assert_eq!(on(), [false, true, true]);
    home.say(&["tools", "enable", "mcp__one__echo"]);
    home.say(&["tools", "enable", "one"]);
    assert_eq!(on(), [true, true, true]);
    home.say(&["tools", "disable", "mcp-two", "todo"]);
    assert_eq!(on(), [true, false, false]);
    home.say(&["tools", "enable", "two"]);
    assert_eq!(on(), [true, true, false]);
}
