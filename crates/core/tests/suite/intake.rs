//! Steps 1 to 3: ids, names, arguments.

use std::sync::Arc;

use futures::executor::block_on;
use hermes_core::call::ToolCall;
use hermes_core::effect::Effect;
use hermes_core::gate::Gate;
use hermes_core::outcome::Status;
use hermes_core::tool::ToolEntry;
use hermes_testkit::{RecordingHook, Rig, echo, object};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{error, json};

/// A tool of one effect that answers with its arguments.
fn with_effect(name: &str, effect: Effect) -> ToolEntry {
    let definition = object(&json!({ "path": { "type": "string" }, "limit": { "type": "integer" } }));
    let effects = move |_: &serde_json::Map<String, Value>, _: &_| vec![effect.clone()];
    ToolEntry::from_fn(name, "test", definition, effects, |arguments, _| async move {
        Ok(Value::Object(arguments))
    })
    .trusted()
}

#[test]
fn every_call_gets_its_own_id_also_when_the_model_repeats_one() {
    let rig = Rig::with([echo("echo")]);
    let calls =
        || vec![ToolCall::new("echo", "{}").with_id("same"), ToolCall::new("echo", "{}").with_id("same")];

    let outcomes = block_on(async {
        let toolbox = rig.toolbox().await;
        let mut all = rig.road.batch(&rig.session, &toolbox, calls()).await;
        all.push(rig.road.call(&rig.session, &toolbox, ToolCall::new("nothing", "").with_id("same")).await);
        all
    });

    let ids: Vec<&str> = outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
    assert_eq!(ids, ["s.1", "s.2", "s.3"]);
    assert!(outcomes.iter().all(|outcome| outcome.given_id == "same"));
}

#[test]
fn a_name_is_found_in_any_style_of_writing() {
    let rig = Rig::with([echo("read_file")]);

    for name in [
        "read_file",
        "ReadFile",
        "read-file",
        "READ FILE",
        "functions.read_file",
        "read_file\"",
        "readFile()",
    ] {
        let outcome = rig.call_now(name, "{}");
        assert_eq!((outcome.status, outcome.tool.as_ref()), (Status::Ok, "read_file"), "{name}");
    }
}

#[test]
fn a_wrong_name_is_never_another_tool_but_may_suggest_some() {
    let rig =
        Rig::with([echo("read_file"), echo("write_file"), echo("kanban_complete"), echo("delegate_task")]);
    let said = |name: &str| {
        let outcome = rig.call_now(name, "{}");
        (outcome.status, error(&outcome))
    };

    let near = "Unknown tool: raed_file. Did you mean read_file, write_file?";
    assert_eq!(said("raed_file"), (Status::Unknown, near.to_owned()));
    assert_eq!(said("qqqqqq"), (Status::Unknown, "Unknown tool: qqqqqq".to_owned()));
    for name in ["list_files", "kanban_delete", "delete_task", "append_file", "read_files", ""] {
        assert_eq!(said(name).0, Status::Unknown, "{name}");
    }
}

#[test]
fn two_names_that_differ_in_style_alone_are_only_found_exactly() {
    let rig = Rig::with([echo("read_file"), echo("readFile")]);

    assert_eq!(rig.call_now("readFile", "{}").tool.as_ref(), "readFile");
    assert_eq!(rig.call_now("read_file", "{}").tool.as_ref(), "read_file");
    assert_eq!(rig.call_now("Read-File", "{}").status, Status::Unknown);
}

#[test]
fn an_unavailable_tool_says_what_is_missing() {
    let rig = Rig::with([echo("search").gate(Gate::env("SEARCH_KEY"))]);

    let outcome = rig.call_now("search", "{}");

    assert_eq!(outcome.status, Status::Unknown);
    assert_eq!(error(&outcome), "`search` is not available here: needs SEARCH_KEY");
}

#[test]
fn nearly_json_is_mended() {
    let rig = Rig::with([echo("echo")]);
    let cases = [
        (r#"{"a": 1,}"#, json!({ "a": 1 })),
        ("{'a': 'b'}", json!({ "a": "b" })),
        ("```json\n{\"a\": 1}\n```", json!({ "a": 1 })),
        (r#""{\"a\": 1}""#, json!({ "a": 1 })),
        ("", json!({})),
        ("{a: True}", json!({ "a": true })),
    ];

    for (raw, expected) in cases {
        assert_eq!(json(&rig.call_now("echo", raw)), expected, "{raw}");
    }
}

#[test]
fn arguments_that_are_no_object_are_refused_with_the_place() {
    let rig = Rig::with([echo("echo")]);

    for raw in ["[1]", "12", "{\"a\" 1 2}", "\u{0}"] {
        let outcome = rig.call_now("echo", raw);
        assert_eq!(outcome.status, Status::Invalid, "{raw}");
        assert!(error(&outcome).contains("line 1"), "{}", outcome.body);
    }
}

#[test]
fn cut_off_arguments_may_look_but_not_act() {
    let rig = Rig::with([
        with_effect("look", Effect::Read("/work/a".into())),
        with_effect("act", Effect::Write("/work/a".into())),
        with_effect("connect", Effect::Connect("a.example".into())),
        echo("pure"),
    ]);
    let cut = r#"{"path": "/work/a", "limit": 1"#;

    assert_eq!(json(&rig.call_now("look", cut)), json!({ "path": "/work/a", "limit": 1 }));
    assert_eq!(rig.call_now("pure", cut).status, Status::Ok);
    for name in ["act", "connect"] {
        let refused = rig.call_now(name, cut);
        assert_eq!(refused.status, Status::Invalid);
        let why = "the arguments were cut off before their end; nothing was run, send the whole call again";
        assert_eq!(error(&refused), why);
    }
}

#[test]
fn coercion_loses_nothing() {
    let definition = object(&json!({
        "big": { "type": "integer" },
        "flag": { "type": "boolean" },
        "either": { "type": ["string", "integer"] },
    }));
    let tool = ToolEntry::from_fn(
        "t",
        "test",
        definition,
        |_, _| vec![],
        |arguments, _| async move { Ok(Value::Object(arguments)) },
    );
    let rig = Rig::with([tool.trusted()]);

    let outcome = rig.call_now("t", r#"{"big": "9007199254740993", "flag": "true", "either": "12"}"#);
    let plain = rig.call_now("t", r#"{"big": 9007199254740993}"#);

    assert_eq!(json(&outcome), json!({ "big": 9_007_199_254_740_993_u64, "flag": true, "either": "12" }));
    assert_eq!(plain.body, r#"{"big":9007199254740993}"#);
}

#[test]
fn a_validation_error_names_the_field_and_hooks_hear_of_it() {
    let definition = object(
        &json!({ "items!": { "type": "array", "items": { "type": "object", "properties": { "id": { "type": "integer" } } } } }),
    );
    let tool = ToolEntry::from_fn("t", "test", definition, |_, _| vec![], |_, _| async { Ok(json!({})) });
    let hook = Arc::new(RecordingHook::named("h"));
    let rig = Rig::builder().tool(tool).hook(hook.clone()).build();

    let missing = rig.call_now("t", "{}");
    let deep = rig.call_now("t", r#"{"items": [{"id": 1}, {"id": "x"}]}"#);

    assert_eq!((missing.status, deep.status), (Status::Invalid, Status::Invalid));
    assert!(error(&missing).contains("items"), "{}", missing.body);
    assert!(error(&deep).contains("items[1].id"), "{}", deep.body);
    assert_eq!(hook.seen(), [], "nobody is asked about a call that cannot run");
    assert_eq!(hook.ends().len(), 2);
}

proptest! {
    #[test]
    fn a_name_that_runs_a_tool_has_the_tools_letters_and_digits(name in "[a-zA-Z_. -]{0,16}") {
        let rig = Rig::with([echo("read_file"), echo("write_file"), echo("todo")]);
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();

        let outcome = rig.call_now(&name, "{}");

        if outcome.status.is_ok() {
            let bare = letters(&name);
            prop_assert!(bare.ends_with(&letters(&outcome.tool)), "{} ran {}", name, outcome.tool);
        }
    }
}
