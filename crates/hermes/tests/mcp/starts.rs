//! A start is told what servers offer by what an earlier one has kept. That is the same as reading all of it, and
//! holds no longer than what it was made from.

use std::time::Duration;

use hermes::Runtime;
use hermes::core::definitions::DefinitionSettings;
use hermes::core::toolset::Selection;
use serde_json::{Value, json};

use crate::support::{Bench, call, words};

/// Where it is kept.
const KEPT: &str = "home/cache/mcp-briefs.packed";

/// A server that is known for a while, and a start that has kept what there is to say.
fn kept(more: &Value) -> Bench {
    let bench = Bench::scripted(more);
    drop(bench.session());
    keep(&bench);
    bench
}

fn keep(bench: &Bench) {
    // What was written a moment before it is kept is looked at again.
    std::thread::sleep(Duration::from_millis(60));
    drop(bench.builder().build().unwrap().tools());
    assert!(bench.path(KEPT).exists());
}

/// Everything that a model and the road see of the tools of servers.
fn offered(runtime: &Runtime) -> Vec<(String, String, bool)> {
    let only = Selection::of(["mcp-s".to_owned()]);
    let toolbox = runtime.toolbox_blocking(&only, &DefinitionSettings::default()).unwrap();
    let tools = toolbox.offered().iter().map(|tool| {
        let entry = tool.entry();
        (tool.json().to_owned(), entry.toolset().to_string(), entry.is_read_only())
    });
    tools.collect()
}

#[test]
fn what_was_kept_offers_what_would_be_read_and_starts_nothing() {
    let bench = kept(&json!({ "timeout": 7 }));
    std::fs::remove_file(bench.path(KEPT)).unwrap();
    let whole = bench.builder().build().unwrap();
    let (read, told) = (offered(&whole), whole.foreign_problems());
    assert!(read.len() > 5, "{read:?}");
    assert!(told.iter().any(|it| it.contains("tool `broken` of MCP server `s` is left out")), "{told:?}");

    let runtime = bench.builder().build().unwrap();
    assert_eq!(offered(&runtime), read);

    assert_eq!(bench.count("started"), 1);
    assert_eq!(runtime.foreign_problems(), told);
    let session = runtime.session().open().unwrap();
    assert_eq!(words(&call(&session, "mcp__s__echo", &json!({ "text": "x" }))), "echo: x");
    assert_eq!(bench.count("started"), 2);
    assert_eq!(runtime.mcp().server("s").unwrap().config().timeout, Duration::from_secs(7));
}

#[test]
fn a_chat_is_offered_what_was_kept_whoever_reads_it() {
    let bench = kept(&json!({}));
    bench.name_a_model();
    let all = bench.builder().build().unwrap().tools();
    let wanted: Vec<&str> =
        all.tools().map(|tool| tool.name().as_ref()).filter(|name| name.starts_with("mcp__s__")).collect();

    // Sometimes a thread comes first, and sometimes the chat itself.
    for _ in 0..30 {
        let chat = bench.builder().build().unwrap().chat().open_blocking().unwrap();

        let session = chat.session();
        let toolbox = session.current_toolbox_blocking();
        for name in &wanted {
            assert!(toolbox.snapshot().tool(name).is_some(), "{name}");
        }
    }

    assert!(wanted.len() > 5 && bench.count("started") == 1, "{wanted:?}");
    let chat = bench.builder().build().unwrap().chat().open_blocking().unwrap();
    assert_eq!(words(&call(&chat.session(), "mcp__s__echo", &json!({ "text": "x" }))), "echo: x");
}

#[test]
fn what_changes_while_a_program_goes_by_what_was_kept_is_noticed() {
    let bench = kept(&json!({}));
    let runtime = bench.builder().build().unwrap();
    let says = |words: &str| offered(&runtime).iter().any(|(json, ..)| json.contains(words));
    assert!(says("Say something back."));

    // As another program does in which a person agrees to a change.
    let file = bench.path("home/mcp/s.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(bench.path("home/mcp/s.new"), text.replace("Say something back.", "Say it again."))
        .unwrap();
    std::fs::rename(bench.path("home/mcp/s.new"), &file).unwrap();

    assert!(says("Say it again.") && !says("Say something back."));
    assert_eq!(bench.count("started"), 1);
}

#[test]
fn another_value_of_a_variable_is_another_server() {
    let bench = Bench::scripted(&json!({ "cwd": "${PLACE}" }));
    let at = |place: &str| {
        let place = ("PLACE".to_owned(), bench.path(place).display().to_string());
        bench.builder().env([place]).build().unwrap()
    };
    at("work").mcp().ready_blocking();
    std::thread::sleep(Duration::from_millis(60));
    drop(at("work").tools());
    assert!(bench.path(KEPT).exists());

    assert!(at("work").tools().tool("mcp__s__echo").is_some());
    assert!(at("user").tools().tool("mcp__s__echo").is_none(), "nobody has asked that one");
    assert!(bench.builder().build().unwrap().tools().tool("mcp__s__echo").is_none());
}

#[test]
fn a_server_with_more_to_say_is_read_and_the_others_are_not_in_its_way() {
    let bench = kept(&json!({}));
    let broken = json!({ "command": "no-such-program-anywhere" });
    bench.configure(&json!({ "s": bench.script(&[], &json!({})), "b": broken }));
    drop(bench.session());
    keep(&bench);

    let runtime = bench.builder().build().unwrap();

    assert!(runtime.tools().tool("mcp__s__echo").is_some());
    let problems = runtime.foreign_problems();
    assert!(problems.iter().any(|it| it.contains("MCP server `b` does not work")), "{problems:?}");
    assert_eq!(runtime.mcp().servers().len(), 2);
}

#[test]
fn what_is_kept_and_broken_costs_nobody_a_tool() {
    let bench = kept(&json!({}));
    let whole = std::fs::read(bench.path(KEPT)).unwrap();

    for broken in [&b""[..], b"1 2 3", &whole[..whole.len() / 2], &[0xff; 40]] {
        std::fs::write(bench.path(KEPT), broken).unwrap();
        assert!(bench.builder().build().unwrap().tools().tool("mcp__s__echo").is_some());
    }
}

#[test]
fn servers_that_do_not_run_are_told_by_a_start_from_what_was_kept_too() {
    let bench = kept(&json!({}));
    let off = json!({ "command": "x", "enabled": false });
    bench.configure(&json!({ "s": bench.script(&[], &json!({})), "off": off, "odd": {} }));
    keep(&bench);

    let runtime = bench.builder().build().unwrap();

    let mcp = runtime.mcp();
    assert_eq!(mcp.switched_off().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["off"]);
    assert_eq!(mcp.misread().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["odd"]);
    let odd = "MCP server `odd`: it has neither `command` nor `url`";
    assert_eq!(runtime.mcp_problems().iter().filter(|it| *it == odd).count(), 1);
}

#[test]
fn a_program_below_the_persons_home_is_started_and_a_folder_that_is_not_there_is_told() {
    let bench = Bench::scripted(&json!({}));
    std::fs::create_dir_all(bench.path("user/bin")).unwrap();
    let script = bench.script(&[], &json!({}));
    let words: Vec<String> = script["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| format!("'{}'", word.as_str().unwrap()))
        .collect();
    let program = bench.path("user/bin/server");
    let text = format!("#!/bin/sh\nexec {} {}\n", script["command"].as_str().unwrap(), words.join(" "));
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let nowhere = json!({ "command": "~/bin/server", "cwd": "~/nowhere" });
    bench.configure(&json!({ "s": { "command": "~/bin/server" }, "n": nowhere }));

    let runtime = bench.runtime();

    assert!(runtime.tools().tool("mcp__s__echo").is_some(), "{:?}", runtime.foreign_problems());
    let problems = runtime.foreign_problems();
    assert!(problems.iter().any(|it| it.contains("nowhere to start it in")), "{problems:?}");
}
