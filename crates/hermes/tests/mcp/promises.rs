//! What a tool says that it answers with, and what it does answer.

use hermes::{Session, Status};
use serde_json::{Value, json};

use crate::others::bridge;
use crate::support::{Bench, call, told};

/// What the model is told, and whether a call is taken for one that went well.
fn weather(session: &Session, structure: &str) -> Value {
    let outcome = call(session, "mcp__s__weather", &json!({ "text": structure }));
    assert_eq!(outcome.status, Status::Ok, "{}", outcome.body);
    told(&outcome)
}

/// Answers that are as promised, and such that are not.
fn promises(bench: &Bench, server: &Value) {
    bench.configure(&json!({ "s": server }));
    let session = bench.session();

    let right = weather(&session, "{\"high\": 21}");
    let wrong = weather(&session, "{\"high\": \"hot\"}");
    let none = weather(&session, "");
    let vague = told(&call(&session, "mcp__s__vague", &json!({ "text": "x" })));
    let plain = told(&call(&session, "mcp__s__echo", &json!({ "text": "x" })));

    assert_eq!(right, json!({ "result": "Sunny.", "structuredContent": { "high": 21 } }));
    let note = "The structured content is not what the tool promises at `high`: expected number, got string \
                \"hot\". It is shown as it came.";
    assert_eq!(wrong, json!({ "result": "Sunny.", "structuredContent": { "high": "hot" }, "note": note }));
    let note = "The tool promises structured content, and the server sent none.";
    assert_eq!(none, json!({ "result": "weather: ", "note": note }));
    assert_eq!(vague, json!({ "result": "vague: x" }));
    assert_eq!(plain, json!({ "result": "echo: x" }));
    let log = std::fs::read_to_string(bench.path("home/logs/mcp-stderr.log")).unwrap();
    assert!(log.contains("`vague` promises to answer with is not looked at: in its schema, `enum`"), "{log}");
}

#[test]
fn an_answer_that_is_not_as_promised_comes_with_a_note() {
    let bench = Bench::with(&json!({}));

    promises(&bench, &bench.script(&[], &json!({})));
}

#[test]
fn so_it_does_over_http() {
    let bench = Bench::with(&json!({}));
    let script = bench.script(&[], &json!({}));
    let mut words = vec!["python3"];
    words.extend(script["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let served = bridge(&words);

    promises(&bench, &json!({ "url": format!("http://127.0.0.1:{}/mcp", served.1) }));
}

#[test]
fn a_home_from_before_promises_were_kept_goes_on_and_learns_them() {
    let bench = Bench::scripted(&json!({}));
    drop(bench.session());
    let file = bench.path("home/mcp/s.json");
    let mut known: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for tool in known["tools"].as_array_mut().unwrap() {
        tool.as_object_mut().unwrap().remove("output");
    }
    std::fs::write(&file, known.to_string()).unwrap();

    let told = weather(&bench.session(), "{}");

    assert!(told["note"].as_str().unwrap().contains("at `high`: required, but missing"), "{told}");
}
