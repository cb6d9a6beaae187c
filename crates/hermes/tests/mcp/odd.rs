//! Servers that write their messages in an odd way are understood as far as that goes, and at once.

use std::path::Path;
use std::time::{Duration, Instant};

use hermes::Status;
use serde_json::{Value, json};

use crate::support::{Bench, call, told, words};

/// With a server that writes in this way, and more in its configuration.
fn odd(way: &str, more: &Value) -> Bench {
    let bench = Bench::with(&json!({}));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/odd.py");
    let mut server = json!({ "command": "python3", "args": [script, way, bench.path("notes")] });
    for (key, value) in more.as_object().unwrap() {
        server[key] = value.clone();
    }
    bench.configure(&json!({ "s": server }));
    bench
}

/// What `echo` of such a server answers.
fn answer(way: &str) -> Value {
    let bench = odd(way, &json!({ "connect_timeout": 10, "timeout": 10 }));
    let began = Instant::now();

    let outcome = call(&bench.session(), "mcp__s__echo", &json!({}));

    assert_eq!(outcome.status, Status::Ok, "{way}: {}", outcome.body);
    assert!(began.elapsed() < Duration::from_secs(8), "{way}");
    told(&outcome)
}

#[test]
fn half_a_letter_costs_that_letter_and_neither_the_server_nor_the_answer() {
    assert_eq!(answer("half"), json!({ "result": "half \u{fffd}" }));
}

#[test]
fn a_tool_whose_schema_is_nested_too_deeply_is_left_out_alone() {
    let bench = odd("deep", &json!({ "connect_timeout": 10 }));
    let runtime = bench.runtime();

    let problems = runtime.foreign_problems();
    let echoed = call(&runtime.session().open().unwrap(), "mcp__s__echo", &json!({}));

    for tool in ["deep199", "deep200"] {
        assert!(
            problems.iter().any(|it| it.contains(&format!("`{tool}`")) && it.contains("left out")),
            "{problems:?}"
        );
    }
    assert!(echoed.body.contains("nested too deeply"), "{}", echoed.body);
    assert_eq!(echoed.status, Status::Ok);
}

#[test]
fn an_answer_that_is_no_json_fails_what_waits_for_it_at_once() {
    let bench = odd("broken", &json!({ "connect_timeout": 30 }));
    let began = Instant::now();

    let problems = bench.runtime().foreign_problems();

    assert!(began.elapsed() < Duration::from_secs(15));
    assert!(
        problems.iter().any(|it| it.contains("its answer cannot be read: it is no JSON")),
        "{problems:?}"
    );
}

#[test]
fn several_messages_at_once_are_understood() {
    assert_eq!(answer("batch"), json!({ "result": "said" }));
}

#[test]
fn a_mark_of_the_encoding_is_skipped() {
    assert_eq!(answer("mark"), json!({ "result": "said" }));
}

#[test]
fn a_last_line_without_an_end_is_an_answer_all_the_same() {
    assert_eq!(answer("unended"), json!({ "result": "said" }));
}

#[test]
fn a_block_that_is_not_known_costs_itself_only() {
    assert_eq!(
        answer("video"),
        json!({ "result": "said\n[a block of type `video` that this program cannot show]" })
    );
}

#[test]
fn null_is_no_structured_content() {
    assert_eq!(answer("null"), json!({ "result": "said" }));
}

#[test]
fn the_time_of_a_call_counts_from_when_it_is_sent() {
    let slow = json!({ "timeout": 1.0, "connect_timeout": 20, "env": { "ODD_SLOW": "2.5" } });
    let bench = odd("slow", &slow);
    drop(bench.runtime());

    let late = call(&bench.builder().build().unwrap().session().open().unwrap(), "mcp__s__echo", &json!({}));

    assert_eq!(told(&late), json!({ "result": "said" }));
}

#[test]
fn a_call_that_was_not_sent_says_so() {
    let slow = json!({ "timeout": 1.0, "connect_timeout": 20, "env": { "ODD_SLOW": "0" } });
    let bench = odd("slow", &slow);
    drop(bench.runtime());
    bench.reconfigure(|server| {
        server["connect_timeout"] = json!(2);
        server["env"]["ODD_SLOW"] = json!("60");
    });
    let began = Instant::now();

    let unsent =
        call(&bench.builder().build().unwrap().session().open().unwrap(), "mcp__s__echo", &json!({}));

    let said = words(&unsent);
    assert!(said.contains("the call was not sent: it did not begin to talk within 2 s"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(15) && bench.notes().is_empty());
}

#[test]
fn that_there_are_more_tools_than_are_taken_is_told() {
    let bench = odd("many", &json!({ "connect_timeout": 60 }));

    let problems = bench.runtime().foreign_problems();

    let cut = "MCP server `s`: it offers more tools than are taken: only the first 2000";
    assert!(problems.iter().any(|it| it == cut), "{problems:?}");
}
