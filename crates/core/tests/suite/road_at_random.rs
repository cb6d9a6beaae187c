//! Whatever a model sends, every call ends in one well-formed answer.

use std::panic::catch_unwind;

use futures::executor::block_on;
use hermes_core::call::ToolCall;
use hermes_core::effect::Effect;
use hermes_core::outcome::Outcome;
use hermes_core::tool::{Reply, ToolEntry};
use hermes_testkit::{MemoryJournal, Record, Rig, any_object, echo, object, tool};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One that echoes, one with a schema, one that breaks on some inputs, one that answers in bytes.
fn rig() -> (Rig, std::sync::Arc<MemoryJournal>) {
    let typed = object(&json!({
        "path!": { "type": "string", "maxLength": 64 },
        "limit": { "type": "integer", "minimum": 1 },
        "mode": { "enum": ["a", "b"] },
    }));
    let effects = |arguments: &serde_json::Map<String, Value>, place: &hermes_core::session::Place| {
        vec![Effect::Write(place.resolve(arguments.get("path").and_then(Value::as_str).unwrap_or_default()))]
    };
    let breaks = tool("breaks", |arguments, _| async move {
        assert!(arguments.len() % 2 == 0, "an odd number of arguments: {arguments:?}");
        Ok(Reply::Text(format!("{arguments:?}")))
    });
    let bytes = ToolEntry::from_fn(
        "bytes",
        "test",
        any_object(),
        |_, _| vec![],
        |arguments, _| async move {
            Ok(serde_json::to_vec(&arguments).unwrap_or_default().into_iter().rev().collect::<Vec<u8>>())
        },
    );
    let journal = MemoryJournal::new();
    let rig = Rig::builder()
        .tool(echo("echo"))
        .tool(ToolEntry::from_fn("typed", "test", typed, effects, |arguments, _| async move {
            Ok(Value::Object(arguments))
        }))
        .tool(breaks)
        .tool(bytes)
        .journal(journal.clone())
        .build();
    (rig, journal)
}

fn names() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "echo",
        "typed",
        "breaks",
        "bytes",
        "Echo",
        "functions.typed",
        "tool_call",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>(), 1 => lossy()]
}

fn lossy() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..60).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec!["path", "limit", "mode"]).prop_map(str::to_owned),
            any::<String>()
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Anything at all, JSON, and JSON with a piece missing.
fn arguments() -> impl Strategy<Value = String> {
    let cut = (value(), any::<prop::sample::Index>()).prop_map(|(value, at)| {
        let text = value.to_string();
        let end = text.floor_char_boundary(at.index(text.len() + 1));
        text.get(..end).unwrap_or_default().to_owned()
    });
    prop_oneof![1 => any::<String>(), 1 => lossy(), 3 => value().prop_map(|value| value.to_string()), 2 => cut]
}

fn is_well_formed(outcome: &Outcome, call: &ToolCall) {
    let body: Value =
        serde_json::from_str(&outcome.body).unwrap_or_else(|bad| panic!("{bad}: {}", outcome.body));
    assert!(body.is_object() || body.is_array(), "{body}");
    assert_eq!(outcome.given_id, call.given_id);
    let known = ["echo", "typed", "breaks", "bytes"].contains(&outcome.tool.as_ref());
    assert!(known || outcome.tool.as_ref() == call.name, "{call:?} became {}", outcome.tool);
}

proptest! {
    #[test]
    fn any_call_has_one_well_formed_outcome(name in names(), arguments in arguments(), id in any::<String>()) {
        let (rig, journal) = rig();
        let call = ToolCall::new(name, arguments).with_id(id);

        let outcome = catch_unwind(std::panic::AssertUnwindSafe(|| block_on(async {
            let toolbox = rig.toolbox().await;
            rig.road.call(&rig.session, &toolbox, call.clone()).await
        })));

        let Ok(outcome) = outcome else { return Err(TestCaseError::fail("the road panicked")) };
        is_well_formed(&outcome, &call);
        let ends = journal.records().iter().filter(|record| matches!(record, Record::Finished { .. })).count();
        prop_assert_eq!(ends, 1);
    }

    #[test]
    fn any_batch_has_one_outcome_per_call_in_order(
        calls in prop::collection::vec((names(), arguments()), 0..12),
    ) {
        let (rig, _) = rig();
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .enumerate()
            .map(|(at, (name, arguments))| ToolCall::new(name, arguments).with_id(at.to_string()))
            .collect();

        let outcomes = block_on(async {
            let toolbox = rig.toolbox().await;
            rig.road.batch(&rig.session, &toolbox, calls.clone()).await
        });

        prop_assert_eq!(outcomes.len(), calls.len());
        for (outcome, call) in outcomes.iter().zip(&calls) {
            is_well_formed(outcome, call);
        }
    }

    #[test]
    fn any_schema_of_a_foreign_tool_is_survived(parameters in value(), arguments in arguments()) {
        let definition = hermes_core::tool::Definition { description: "Odd.".to_owned(), parameters };
        let odd = ToolEntry::from_fn("odd", "test", definition, |_, _| vec![], |arguments, _| async move { Ok(Value::Object(arguments)) });
        let rig = Rig::with([odd]);

        let outcome = rig.call_now("odd", &arguments);

        is_well_formed(&Outcome { tool: "echo".into(), ..outcome }, &ToolCall::new("odd", ""));
        let all: Value = serde_json::from_str(rig.toolbox_now().json()).unwrap();
        prop_assert!(all.is_array());
    }
}
