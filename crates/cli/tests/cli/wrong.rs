//! What happens when something is wrong: words and exit codes.

use std::process::Stdio;

use crate::home::{Home, Said};

/// The command failed with this code, said this on standard error, and nothing on standard output.
#[track_caller]
fn refuses(said: &Said, code: i32, why: &str) {
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
    assert_eq!(said.err, format!("error: {why}\n"));
}

#[test]
fn a_command_without_its_action_shows_help_and_is_wrong_usage() {
    let home = Home::new();

    for words in [&[][..], &["toolsets"]] {
        let said = home.run(words);
        assert_eq!(said.code, Some(2), "{words:?}");
        assert!(said.err.contains("Usage: hermes") && said.err.contains("Commands:"), "{said:?}");
        assert_eq!(said.out, "");
    }
}

#[test]
fn wrong_words_are_wrong_usage() {
    let home = Home::new();

    for words in [
        &["tool", "list"][..],
        &["tools", "lst"],
        &["tools", "list", "--josn"],
        &["tools", "info"],
        &["tools", "call"],
        &["tools", "call", "todo", "--josn"],
        &["tools", "call", "todo", "{}", "{}"],
        &["tools", "schema", "--provider", "sloppy"],
        &["toolsets", "resolve"],
        &["tools", "enable"],
        &["completion"],
        &["completion", "csh"],
    ] {
        let said = home.run(words);
        assert_eq!(said.code, Some(2), "{words:?}: {said:?}");
        assert!(said.err.starts_with("error: "), "{said:?}");
    }
    assert!(home.run(&["tool", "list"]).err.contains("'tools'"), "clap suggests");
}

#[test]
fn an_unknown_tool_is_answered_with_those_that_come_near() {
    let home = Home::new();

    let said = home.run(&["tools", "info", "serch_files"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    let nearest = "error: there is no tool `serch_files`; did you mean `search_files`";
    assert!(said.err.starts_with(nearest), "{said:?}");
    refuses(&home.run(&["tools", "explain", "todoo"]), 2, "there is no tool `todoo`; did you mean `todo`?");
    refuses(
        &home.run(&["tools", "schema", "xyzzy"]),
        2,
        "there is no tool `xyzzy`; `hermes tools list` shows all",
    );
}

#[test]
fn a_program_that_wants_json_finds_the_failure_on_standard_output() {
    let home = Home::new();

    for (words, code, why) in [
        (&["tools", "info", "xyzzy"][..], 2, "there is no tool `xyzzy`"),
        (&["sessions", "show", "xyzzy"], 2, "no session `xyzzy`"),
        (&["mcp", "test", "xyzzy"], 2, "there is no MCP server `xyzzy`"),
        (&["tools", "lst"], 2, "unrecognized subcommand 'lst'"),
    ] {
        let said = home.run(&[words, &["--json"]].concat());

        assert_eq!(said.code, Some(code), "{said:?}");
        let told = said.json();
        let told = told["error"].as_str().unwrap();
        assert!(told.starts_with(why) && !told.contains('\n'), "{told}");
        assert!(said.err.starts_with(&format!("error: {told}")), "{said:?}");
    }
}

#[test]
fn an_unknown_toolset_is_answered_with_those_that_come_near() {
    let home = Home::new();

    refuses(
        &home.run(&["toolsets", "resolve", "wbe", "flie"]),
        2,
        "`wbe` is not known; did you mean `web`?\n       `flie` is not known; did you mean `file`?",
    );
    for words in [
        &["tools", "list", "--toolsets", "wbe"][..],
        &["tools", "cost", "--disable", "wbe"],
        &["tools", "schema", "--toolsets", "file,wbe"],
        &["tools", "enable", "wbe"],
        &["tools", "disable", "wbe"],
        &["tools", "call", "todo", "--toolsets", "wbe"],
    ] {
        refuses(&home.run(words), 2, "`wbe` is not known; did you mean `web`?");
    }
    refuses(
        &home.run(&["toolsets", "resolve", "quaternion"]),
        2,
        "`quaternion` is not known; `hermes toolsets list` and `hermes tools list` show all names",
    );
}

#[test]
fn an_unknown_platform_is_answered_with_those_that_come_near() {
    let home = Home::new();

    for words in [
        &["tools", "list", "--platform", "telegrm"][..],
        &["tools", "enable", "web", "--platform", "telegrm"],
    ] {
        refuses(&home.run(words), 2, "platform `telegrm` is not known; did you mean `telegram`?");
    }
}

#[test]
fn a_tool_that_is_not_selected_has_no_definition() {
    let said = Home::new().run(&["tools", "schema", "todo", "--toolsets", "file"]);

    refuses(&said, 1, "`todo` is not selected; `hermes tools explain todo` tells why");
}

#[test]
fn a_typo_in_the_configuration_is_told_with_its_file() {
    let home = Home::configured("platform_toolsets:\n  cli: [flie]\n");

    let said = home.run(&["tools", "list"]);

    let config = home.config();
    let why = "in the list of toolsets, `flie` is not known; did you mean `file`?";
    let helps = "`hermes tools disable flie` takes it out of the lists";
    refuses(&said, 2, &format!("{}: {why}\n       {helps}", config.display()));
}

#[test]
fn a_name_that_nobody_has_any_more_ends_a_chat_with_what_helps() {
    let model = "model:\n  default: m\n  provider: custom\n  base_url: http://127.0.0.1:9/v1\n  api_key: k\n";
    let home = Home::configured(&format!("{model}platform_toolsets:\n  cli: [hermes-cli, weather]\n"));
    let chat = |variables: &[(&str, &str)], words: &[&str]| {
        let mut command = home.command(&[&["chat", "-q", "Hi"], words].concat());
        Said::of(command.envs(variables.iter().copied()).output().unwrap())
    };
    let shown = home.config();
    let why = format!("{}: in the list of toolsets, `weather` is not known", shown.display());

    refuses(
        &chat(&[], &[]),
        2,
        &format!("{why}\n       `hermes tools disable weather` takes it out of the lists"),
    );
    let safe = "HERMES_SAFE_MODE switches tool files, plugins and MCP servers off, so that their names are not known";
    refuses(&chat(&[("HERMES_SAFE_MODE", "1")], &[]), 2, &format!("{why}\n       {safe}"));
    let typed = chat(&[], &["--toolsets", "weather"]);
    assert!(!typed.err.contains("takes it out"), "{typed:?}");
    home.say(&["tools", "disable", "weather"]);
    home.say(&["tools", "list"]);
}

#[test]
fn a_configuration_that_cannot_be_read_is_told_with_its_line() {
    let broken = Home::configured("agent:\n  disabled_tools: [a\nx: 1\n");
    let odd = Home::configured("# mine\n\nagent: 7\n");
    for home in [&broken, &odd] {
        let said = home.run(&["tools", "list"]);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
        assert!(said.err.contains("config.yaml"), "{said:?}");
    }

    assert!(
        broken.run(&["tools", "list"]).err.contains("config.yaml:3:"),
        "{:?}",
        broken.run(&["tools", "list"])
    );
    assert!(odd.run(&["tools", "list"]).err.contains("line 3: `agent`"), "{:?}", odd.run(&["tools", "list"]));
}

#[test]
fn an_odd_key_is_a_warning_and_no_more() {
    let home = Home::configured("toolz: {}\n");

    let said = home.run(&["tools", "list", "--json"]);

    assert_eq!(said.code, Some(0));
    assert!(said.json().is_array());
    assert!(
        said.err.starts_with("warning: ") && said.err.contains("config.yaml, line 1: `toolz`"),
        "{said:?}"
    );
    assert_eq!(said.err.lines().count(), 1);
}

#[test]
fn a_home_that_cannot_be_used_is_told() {
    let home = Home::new().file("not-a-folder", "");
    let with =
        |value: &str| Said::of(home.command(&["tools", "list"]).env("HERMES_HOME", value).output().unwrap());

    let blocked = home.project().join("not-a-folder");
    let why = format!("{} is a file, not a folder; set HERMES_HOME to a folder", blocked.display());
    refuses(&with(blocked.to_str().unwrap()), 2, &format!("no usable Hermes home: {why}"));
    refuses(&with("relative/path"), 2, "no usable Hermes home: relative/path is not an absolute path");
    let said = Said::of(home.command(&["tools", "list"]).env_remove("HOME").output().unwrap());
    assert!(said.code == Some(2) && said.err.contains("set HERMES_HOME to an absolute path"), "{said:?}");
}

#[test]
fn a_profile_has_its_own_configuration_and_must_exist() {
    let home = Home::new();
    std::fs::create_dir_all(home.state().join("profiles/work")).unwrap();
    std::fs::write(home.state().join("profiles/work/config.yaml"), "platform_toolsets:\n  cli: [todo]\n")
        .unwrap();

    assert_eq!(home.say(&["-p", "work", "tools", "explain", "todo"]), "`todo` is in through `todo`\n");
    assert_eq!(
        home.say(&["tools", "explain", "todo", "--profile", "default"]),
        "`todo` is in through `hermes-cli`\n"
    );
    let said = home.run(&["-p", "wrok", "tools", "list"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("profile `wrok` does not exist") && said.err.contains("did you mean `work`?"),
        "{said:?}"
    );
    assert_eq!(home.run(&["-p", "../up", "tools", "list"]).code, Some(2));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new();
    for words in [&["toolsets", "list"][..], &["tools", "schema"], &["completion", "bash"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);

        let mut command = home.command(words);
        let said = Said::of(command.stdout(writer).stderr(Stdio::piped()).output().unwrap());

        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{words:?}");
    }
}
