//! `hermes tools enable` and `disable`: files with comments, and many at once.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;

use crate::home::{Home, Said};

const COMMENTED: &str = "\
# Ann's settings. Do not sort!
model:   'some/model'   # the cheap one

platform_toolsets:
  # What the terminal gets
  cli:
    - hermes-cli   # everything
    # no music yet
  telegram: [web,   todo]  # on the phone

agent:
  disabled_toolsets: []
";

#[test]
fn switching_off_and_on_is_seen_at_once() {
    let home = Home::new();

    assert_eq!(home.say(&["tools", "disable", "file"]), "`file` is disabled for cli\n");
    assert_eq!(
        home.say(&["tools", "explain", "read_file"]),
        "`read_file` is out: `file` is disabled (else it would be in through `hermes-cli`)\n"
    );
    assert_eq!(home.say(&["tools", "disable", "file"]), "`file` is disabled for cli, as before\n");
    assert_eq!(home.say(&["tools", "enable", "file"]), "`file` is enabled for cli\n");
    assert_eq!(home.say(&["tools", "explain", "read_file"]), "`read_file` is in through `hermes-cli`\n");
}

#[test]
fn a_tool_file_can_be_switched_off_and_stays_when_something_else_is() {
    let home = Home::new();
    home.say(&["tools", "new", "shout"]);

    home.say(&["tools", "disable", "todo"]);
    home.say(&["tools", "enable", "todo"]);
    assert_eq!(home.say(&["tools", "explain", "shout"]), "`shout` is in through `shout`\n");
    assert_eq!(home.say(&["tools", "disable", "shout"]), "`shout` is disabled for cli\n");
    assert!(home.say(&["tools", "explain", "shout"]).contains("`shout` is out: `shout` is disabled"));
    assert_eq!(home.say(&["tools", "enable", "shout"]), "`shout` is enabled for cli\n");
    assert_eq!(home.say(&["tools", "enable", "shout"]), "`shout` is enabled for cli, as before\n");
    home.say(&["tools", "disable", "shout"]);
    std::fs::remove_file(home.state().join("tools/shout.py")).unwrap();
    assert_eq!(home.run(&["tools", "explain", "todo"]).code, Some(2));
    assert_eq!(home.say(&["tools", "disable", "shout"]), "`shout` is disabled for cli\n");
    assert_eq!(home.say(&["tools", "explain", "todo"]), "`todo` is in through `hermes-cli`\n");
}

#[test]
fn single_tools_can_be_switched_too() {
    let home = Home::configured("platform_toolsets:\n  cli: [read_file, search_files, todo]\n");

    assert_eq!(
        home.say(&["tools", "disable", "read_file", "todo"]),
        "`read_file`, `todo` are disabled for cli\n"
    );

    let list = home.json(&["tools", "list"]);
    let on: Vec<_> = list.as_array().unwrap().iter().filter(|tool| tool["enabled"] == true).collect();
    assert_eq!(on.len(), 1);
    assert_eq!(on[0]["name"], "search_files");
}

#[test]
fn a_platform_has_its_own_switches() {
    let home = Home::new();

    home.say(&["tools", "disable", "todo", "--platform", "telegram"]);

    assert!(home.say(&["tools", "explain", "todo", "--platform", "telegram"]).contains("is out"));
    assert_eq!(home.say(&["tools", "explain", "todo"]), "`todo` is in through `hermes-cli`\n");
}

#[test]
fn with_json_it_tells_what_was_written() {
    let home = Home::new();

    let said = home.json(&["tools", "disable", "todo"]);

    assert_eq!(
        said,
        json!({
            "platform": "cli", "disabled": ["todo"], "changed": true, "written": true,
            "file": home.config(), "after": null,
        })
    );
    assert_eq!(home.json(&["tools", "disable", "todo"])["changed"], false);
}

#[test]
fn comments_and_every_other_byte_stay() {
    let home = Home::configured(COMMENTED);

    let said = home.run(&["tools", "enable", "spotify"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "`spotify` is enabled for cli\n"), "{said:?}");

    let after = home.config_text();
    let added: Vec<&str> = after.lines().filter(|line| !COMMENTED.lines().any(|old| old == *line)).collect();
    assert_eq!(added, ["    - spotify"], "{after}");
    let kept: Vec<&str> = after.lines().filter(|line| *line != "    - spotify").collect();
    assert_eq!(kept, COMMENTED.lines().collect::<Vec<_>>());

    home.say(&["tools", "disable", "spotify"]);
    assert_eq!(home.config_text(), COMMENTED);
}

#[test]
fn a_dry_run_shows_the_file_and_writes_nothing() {
    let home = Home::configured(COMMENTED);

    let said = home.say(&["tools", "disable", "todo", "--dry-run"]);

    assert!(said.contains("# no music yet") && said.contains("'!todo'"), "{said}");
    assert_eq!(home.config_text(), COMMENTED);
    let said = home.json(&["tools", "disable", "todo", "--dry-run"]);
    assert_eq!((&said["changed"], &said["written"]), (&json!(true), &json!(false)));
    assert!(said["after"].as_str().unwrap().contains("'!todo'"));
}

#[test]
fn a_new_file_is_its_owners_only() {
    let home = Home::new();

    home.say(&["tools", "disable", "todo"]);

    let mode = std::fs::metadata(home.config()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_another_setting_keeps_out_is_told() {
    let home = Home::configured("agent:\n  disabled_toolsets: [file]\n");

    let said = home.run(&["tools", "enable", "read_file"]);

    assert_eq!(said.code, Some(0));
    assert_eq!(
        said.err,
        "warning: `read_file` is out: `file` is disabled (else it would be in through `hermes-cli`)\n"
    );
}

#[test]
fn a_file_that_cannot_be_edited_stays_as_it_is() {
    let broken = "platform_toolsets:\n  cli: [todo\n";
    let home = Home::configured(broken);

    let said = home.run(&["tools", "enable", "file"]);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(home.config_text(), broken);
}

#[test]
fn switches_made_at_the_same_moment_all_land() {
    let names = ["web", "terminal", "vision", "tts", "skills", "memory", "todo", "file"];
    for config in [None, Some(COMMENTED)] {
        let home = config.map_or_else(Home::new, Home::configured);

        let start = |name| {
            let mut command = home.command(&["tools", "disable", name]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let running: Vec<_> = names.into_iter().map(start).collect();
        for child in running {
            let said = Said::of(child.wait_with_output().unwrap());
            assert_eq!(said.code, Some(0), "{said:?}");
        }

        let after = home.config_text();
        for name in names {
            assert_eq!(after.matches(&format!("'!{name}'")).count(), 1, "{name} in {after}");
        }
    }
}
