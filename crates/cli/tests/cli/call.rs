//! `hermes tools call`: one JSON document per call, where arguments come from, Ctrl-C.

use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::{Home, Said};

fn project() -> Home {
    Home::new().file("notes.txt", "buy milk\nTODO: call Ann\n")
}

#[test]
fn a_call_prints_the_result_as_the_model_gets_it() {
    let said = project().say(&["tools", "call", "read_file", r#"{"path": "notes.txt", "limit": 1}"#]);

    let result: Value = serde_json::from_str(&said).unwrap();
    assert!(result["content"].as_str().unwrap().contains("1|buy milk"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn with_json_the_result_comes_with_its_story() {
    let said = project().json(&["tools", "call", "search_files", r#"{"pattern": "TODO"}"#]);

    assert_eq!(said["tool"], "search_files");
    assert_eq!(said["status"], "ok");
    assert_eq!(said["saved_to"], Value::Null);
    assert_eq!(said["result"]["matches"][0]["path"], "notes.txt");
    assert!(said["duration_ms"].as_f64().is_some_and(|time| time >= 0.0));
}

#[test]
fn arguments_can_come_from_a_file_or_from_standard_input() {
    let home = project().file("query.json", r#"{"pattern": "milk"}"#);

    let from_file = home.say(&["tools", "call", "search_files", "@query.json"]);
    let from_stdin = home.run_with(&["tools", "call", "search_files", "-"], br#"{"pattern": "milk"}"#);

    assert!(from_file.contains("buy milk"));
    assert_eq!((from_stdin.out, from_stdin.code), (from_file, Some(0)));
}

#[test]
fn arguments_that_cannot_be_read_are_wrong_usage() {
    let home = project();

    let said = home.run(&["tools", "call", "todo", "@nowhere.json"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(
        said.err.starts_with("error: cannot read the arguments from nowhere.json: No such file"),
        "{said:?}"
    );

    let said = home.run_with(&["tools", "call", "todo", "-"], b"\xff\xfe");
    assert_eq!(said.code, Some(2));
    assert_eq!(said.err, "error: cannot read the arguments from standard input: it is not UTF-8 text\n");
}

#[test]
fn no_arguments_are_an_empty_object() {
    let said = project().say(&["tools", "call", "todo"]);

    assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["todos"], json!([]));
}

#[test]
fn a_failure_is_a_result_too() {
    let home = project();

    for (arguments, why) in [
        (r#"{"path": "nowhere.txt"}"#, "nowhere.txt"),
        ("{}", "path"),
        ("[1, 2]", "object"),
        (r#"{"path": 7, "limit": "many"}"#, "limit"),
    ] {
        let said = home.run(&["tools", "call", "read_file", arguments]);
        assert_eq!((said.code, said.err.as_str()), (Some(1), ""), "{arguments}: {said:?}");
        let error = said.json();
        assert!(error["error"].as_str().unwrap().contains(why), "{arguments}: {error}");
    }
    let said = home.run(&["tools", "call", "read_file", r#"{"path": "nowhere.txt"}"#, "--json"]);
    assert_eq!(said.json()["status"], "failed");
}

#[test]
fn nearly_json_is_good_enough() {
    let said = project().say(&["tools", "call", "Read-File", "{'path': 'notes.txt',}"]);

    assert!(said.contains("buy milk"), "{said}");
}

#[test]
fn an_unknown_tool_is_a_result_and_wrong_usage() {
    let home = project();

    let said = home.run(&["tools", "call", "raed_file"]);
    assert_eq!((said.code, said.err.as_str()), (Some(2), ""));
    let error = said.json()["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("Unknown tool: raed_file. Did you mean read_file"), "{error}");

    let said = home.run(&["tools", "call", "todo", "--toolsets", "file", "--json"]);
    assert_eq!((said.code, &said.json()["status"]), (Some(2), &json!("unknown")));
}

#[test]
fn a_call_does_not_depend_on_what_is_selected() {
    let home = Home::configured("platform_toolsets:\n  cli: []\n");

    assert!(home.say(&["tools", "call", "todo"]).contains("todos"));
}

/// A search that takes far longer than anybody waits: one large file under very many names.
fn endless_search() -> (Home, &'static str) {
    let home = Home::new().file("many/0.txt", "a3b4c5 some words of no importance\n".repeat(250_000));
    for n in 1..600 {
        let name = home.project().join(format!("many/{n}.txt"));
        std::fs::hard_link(home.project().join("many/0.txt"), name).unwrap();
    }
    (home, r#"{"pattern": "([a-z]\\d){4,9}\\s(\\w+\\s){7}x$", "path": "many", "output_mode": "count"}"#)
}

/// Waits until the program listens to Ctrl-C; before that the system would end it.
fn listening(child: &mut Child) -> Pid {
    let pid = Pid::from_child(child);
    let status = format!("/proc/{}/status", child.id());
    loop {
        let text = std::fs::read_to_string(Path::new(&status)).unwrap();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        let mask = u64::from_str_radix(caught, 16).unwrap();
        if mask & (1 << (Signal::INT.as_raw() - 1)) != 0 {
            return pid;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before it listened");
        std::thread::yield_now();
    }
}

#[test]
fn ctrl_c_stops_the_call_and_still_prints_one_result() {
    let (home, arguments) = endless_search();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut command = home.command(&["tools", "call", "search_files", arguments, "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();

        kill_process(listening(&mut child), signal).unwrap();

        let said = Said::of(child.wait_with_output().unwrap());
        assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{said:?}");
        assert_eq!(said.json()["status"], "cancelled");
        assert_eq!(said.out.lines().count(), 1);
    }
}

#[test]
fn a_tool_of_a_server_that_is_not_there_is_told_with_why_the_server_is_not() {
    let servers = json!({
        "dead": { "command": "/nowhere/dead" },
        "off": { "command": "/nowhere/off", "enabled": false },
        "odd": { "tools": {} },
    });
    let home = Home::configured(&json!({ "mcp_servers": servers }).to_string());

    for (tool, why) in [
        ("mcp__dead__look", "MCP server `dead` does not work: cannot start `/nowhere/dead`"),
        ("mcp__off__look", "MCP server `off` is switched off in config.yaml"),
        ("mcp__odd__look", "MCP server `odd`: it has neither `command` nor `url`"),
    ] {
        let called = home.run(&["tools", "call", tool]);
        let explained = home.say(&["tools", "explain", tool]);

        assert_eq!(
            (called.code, called.json()),
            (Some(2), json!({ "error": format!("Unknown tool: {tool}") }))
        );
        assert!(called.err.contains(why), "{}", called.err);
        assert!(
            explained.starts_with(&format!("`{tool}` is out: nobody has said to have it; {why}")),
            "{explained}"
        );
    }
}
