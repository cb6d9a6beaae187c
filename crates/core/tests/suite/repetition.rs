//! The loop guard on the road: remarks first, refusals when asked for.

use hermes_core::error::ToolError;
use hermes_core::loop_guard::Settings;
use hermes_core::outcome::Status;
use hermes_testkit::{Rig, RigBuilder, echo, tool};
use serde_json::{Value, json};

use crate::json;

fn rig() -> RigBuilder {
    Rig::builder()
        .tool(echo("look").read_only())
        .tool(echo("act"))
        .tool(tool("fails", |_, _| async { Err::<Value, _>(ToolError::Failed("no".into())) }))
}

fn strict() -> Rig {
    rig().loop_guard(Settings { hard_stop_enabled: true, ..Settings::default() }).build()
}

#[test]
fn the_second_identical_failure_carries_a_warning() {
    let rig = rig().build();

    let first = json(&rig.call_now("fails", r#"{"a": 1, "b": 2}"#));
    let second = json(&rig.call_now("fails", r#"{"b": 2, "a": 1}"#));

    assert_eq!(first, json!({ "error": "no" }));
    assert_eq!(
        (&second["error"], &second["guardrail"]["code"]),
        (&json!("no"), &json!("repeated_exact_failure_warning"))
    );
    assert_eq!(second["guardrail"]["count"], 2);
}

#[test]
fn the_same_read_with_the_same_result_is_remarked_on_until_something_is_done() {
    let rig = rig().build();
    let look = || json(&rig.call_now("look", r#"{"path": "a"}"#)).get("guardrail").is_some();

    assert_eq!((look(), look()), (false, true));
    rig.call_now("act", "{}");
    assert!(!look());
}

#[test]
fn without_hard_stops_nothing_is_refused() {
    let rig = rig().build();

    assert!((0..20).all(|_| rig.call_now("fails", "{}").status == Status::Failed));
}

#[test]
fn with_hard_stops_the_call_is_refused_and_then_the_tool() {
    let rig = strict();
    for _ in 0..5 {
        rig.call_now("fails", "{}");
    }

    let blocked = rig.call_now("fails", "{}");
    for n in 0..3 {
        rig.call_now("fails", &format!(r#"{{"n": {n}}}"#));
    }
    let halted = rig.call_now("fails", r#"{"n": 99}"#);

    assert_eq!(
        (blocked.status, json(&blocked)["guardrail"]["action"].clone()),
        (Status::Repeated, json!("block"))
    );
    assert_eq!(
        (halted.status, json(&halted)["guardrail"]["action"].clone()),
        (Status::Repeated, json!("halt"))
    );
    assert_eq!(rig.call_now("act", "{}").status, Status::Ok);
}

#[test]
fn a_new_turn_starts_counting_anew() {
    let rig = strict();
    for _ in 0..5 {
        rig.call_now("fails", "{}");
    }

    rig.session.new_turn();

    assert_eq!(json(&rig.call_now("fails", "{}")), json!({ "error": "no" }));
}
