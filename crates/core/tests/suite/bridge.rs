//! Tools behind the search: when they go there, and how a model reaches them.

use std::sync::{Arc, Mutex};

use hermes_core::bridge::{ToolSearch, When};
use hermes_core::definitions::DefinitionSettings;
use hermes_core::effect::Effect;
use hermes_core::outcome::Status;
use hermes_core::policy::{Reason, Verdict};
use hermes_core::registry::{Registry, Scope, Source};
use hermes_core::tool::{Definition, SchemaCx, ToolDef, ToolEntry};
use hermes_core::toolset::{Selection, Toolset};
use hermes_testkit::{RecordingHook, Rig, RigBuilder, echo, judged, object};
use serde_json::{Value, json};

use crate::{error, json};

fn when(when: When) -> DefinitionSettings {
    DefinitionSettings {
        search: ToolSearch { when, ..ToolSearch::default() },
        ..DefinitionSettings::default()
    }
}

fn weather() -> ToolEntry {
    let mut definition = object(&json!({ "city!": { "type": "string" } }));
    definition.description = "Forecast of rain and temperature for a city.".to_owned();
    let effects =
        |_: &serde_json::Map<String, Value>, _: &_| vec![Effect::Connect("weather.example".to_owned())];
    ToolEntry::from_fn("get_weather", "mcp-sky", definition, effects, |arguments, _| async move {
        Ok(json!({ "rain in": arguments["city"] }))
    })
    .trusted()
}

fn rig() -> RigBuilder {
    Rig::builder().settings(when(When::On)).tool(weather()).tool(echo("echo"))
}

fn names(rig: &Rig) -> (Vec<String>, Vec<String>) {
    let toolbox = rig.toolbox_now();
    let name = |tool: &hermes_core::definitions::Offered| tool.name().to_string();
    (toolbox.offered().iter().map(name).collect(), toolbox.deferred().iter().map(name).collect())
}

#[test]
fn off_never_defers_and_on_always_does() {
    let off = rig().settings(when(When::Off)).build();
    let on = rig().build();

    assert_eq!(names(&off), (vec!["echo".into(), "get_weather".into()], vec![]));
    let bridge = ["tool_search", "tool_describe", "tool_call"].map(str::to_owned).to_vec();
    assert_eq!(names(&on), (bridge, vec!["echo".into(), "get_weather".into()]));
}

#[test]
fn auto_defers_from_a_tenth_of_the_context_on() {
    let cost: u64 = rig()
        .settings(when(When::Off))
        .build()
        .toolbox_now()
        .offered()
        .iter()
        .map(hermes_core::definitions::Offered::tokens)
        .sum();
    let deferred = |context: u64| {
        let settings = DefinitionSettings { context_tokens: Some(context), ..when(When::Auto) };
        !names(&rig().settings(settings).build()).1.is_empty()
    };

    assert!(deferred(cost * 10));
    assert!(!deferred(cost * 10 + 10));
    assert!(!deferred(u64::MAX));
    assert!(names(&rig().settings(when(When::Auto)).build()).1.is_empty(), "far from 20000 tokens");
}

#[test]
fn core_tools_stay_unless_they_are_included() {
    static SET: Toolset = Toolset::new("kit", "A toolset of a test.");
    static SETS: &[&Toolset] = &[&SET];
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    impl hermes_core::tool::Tool for Nothing {
        fn effects(&self, _: &hermes_core::session::Place) -> Vec<Effect> {
            Vec::new()
        }
        async fn call(self, _: &hermes_core::cx::ToolCx) -> hermes_core::error::ToolResult {
            Ok(json!({}))
        }
    }
    static CORE: ToolDef = ToolDef::of::<Nothing>("central", &SET);
    static EXTRA: ToolDef = ToolDef::of::<Nothing>("extra", &SET);
    let deferred = |include_core| {
        let mut rig = rig().settings(when(When::On)).build();
        rig.settings.search.include_core = include_core;
        rig.registry = Registry::new(Scope::built_in(&[&CORE, &EXTRA], SETS, &["central"])).unwrap();
        names(&rig).1
    };

    assert_eq!(deferred(false), ["extra"]);
    assert_eq!(deferred(true), ["central", "extra"]);
}

#[test]
fn searching_finds_by_words_and_says_where_a_tool_comes_from() {
    let found = rig().build().call_now("tool_search", r#"{"query": "rain forecast"}"#);

    let expected = json!({
        "query": "rain forecast",
        "total_available": 2,
        "matches": [{
            "name": "get_weather", "source": "plugin", "source_name": "test",
            "description": "Forecast of rain and temperature for a city.",
        }],
    });
    assert_eq!((found.status, json(&found)), (Status::Ok, expected));
}

#[test]
fn the_number_of_matches_is_bounded() {
    let tools = (0..40).map(|n| echo(&format!("lamp_{n}")));
    let rig = tools.fold(Rig::builder().settings(when(When::On)), RigBuilder::tool).build();
    let count =
        |arguments: &str| json(&rig.call_now("tool_search", arguments))["matches"].as_array().unwrap().len();

    assert_eq!(count(r#"{"query": "lamp"}"#), 5);
    assert_eq!(count(r#"{"query": "lamp", "limit": "7"}"#), 7);
    assert_eq!(count(r#"{"query": "lamp", "limit": 1000}"#), 20);
    assert_eq!(count(r#"{"query": "lamp", "limit": 0}"#), 1);
    assert_eq!(count(r#"{"query": "elephant"}"#), 0);
}

#[test]
fn describing_shows_a_tool_whole_and_a_wrong_name_leads_to_near_ones() {
    let rig = rig().build();

    let shown = rig.call_now("tool_describe", r#"{"name": "get_weather"}"#);
    let wrong = rig.call_now("tool_describe", r#"{"name": "weather"}"#);
    let nothing_near = rig.call_now("tool_describe", r#"{"name": "qqqqqqqq"}"#);

    assert_eq!(json(&shown)["parameters"], object(&json!({ "city!": { "type": "string" } })).parameters);
    assert_eq!(
        (wrong.status, error(&wrong).as_str()),
        (Status::Unknown, "no tool `weather` behind the search; near: get_weather")
    );
    assert_eq!(error(&nothing_near), "no tool `qqqqqqqq` behind the search");
}

#[test]
fn what_is_described_is_what_would_have_been_offered() {
    #[expect(clippy::unnecessary_wraps, reason = "a patch may leave a tool out")]
    fn patched(mut definition: Definition, _: &SchemaCx<'_>) -> Option<Definition> {
        definition.description = "Patched to fit.".to_owned();
        Some(definition)
    }
    let rig = Rig::builder().settings(when(When::On)).tool(echo("lamp").dynamic(patched)).build();

    let found = rig.call_now("tool_search", r#"{"query": "patched lamp"}"#);
    let shown = rig.call_now("tool_describe", r#"{"name": "lamp"}"#);

    assert_eq!(json(&found)["matches"][0]["description"], "Patched to fit.");
    assert_eq!(json(&shown)["description"], "Patched to fit.");
}

#[test]
fn a_call_is_unwrapped_before_hooks_and_policy_see_it() {
    let hook = Arc::new(RecordingHook::named("h"));
    let judged_tools: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = judged_tools.clone();
    let rig = rig()
        .hook(hook.clone())
        .policy(judged(move |request| {
            seen.lock().unwrap().push(format!("{} {}", request.tool, request.effects[0]));
            Verdict::Allow
        }))
        .build();

    let outcome = rig.call_now("tool_call", r#"{"name": "get_weather", "arguments": {"city": "Graz"}}"#);

    assert_eq!((outcome.tool.as_ref(), json(&outcome)), ("get_weather", json!({ "rain in": "Graz" })));
    assert_eq!(*judged_tools.lock().unwrap(), ["get_weather connects to weather.example"]);
    assert_eq!(hook.seen().iter().map(|call| call.tool.to_string()).collect::<Vec<_>>(), ["get_weather"]);
}

#[test]
fn a_denial_of_the_real_tool_holds_through_the_bridge() {
    let deny = Verdict::Deny(Reason::new("no weather", "it always rains"));
    let rig = rig()
        .policy(judged(
            move |request| if request.tool == "get_weather" { deny.clone() } else { Verdict::Allow },
        ))
        .build();

    let outcome = rig.call_now("tool_call", r#"{"name": "get_weather", "arguments": {"city": "Graz"}}"#);

    assert_eq!(
        (outcome.status, error(&outcome).as_str()),
        (Status::Denied, "denied by no weather: it always rains")
    );
}

#[test]
fn arguments_may_be_an_object_text_or_left_out_and_are_held_to_the_real_schema() {
    let rig = rig().build();
    let call = |arguments: &str| rig.call_now("tool_call", arguments);

    assert_eq!(json(&call(r#"{"name": "echo"}"#)), json!({}));
    assert_eq!(json(&call(r#"{"name": "echo", "arguments": null}"#)), json!({}));
    assert_eq!(json(&call(r#"{"name": " Echo ", "arguments": "{\"a\": 1,}"}"#)), json!({ "a": 1 }));
    let missing = call(r#"{"name": "get_weather", "arguments": {}}"#);
    assert_eq!(missing.status, Status::Invalid);
    assert!(error(&missing).contains("city"), "{}", missing.body);
}

#[test]
fn wrong_bridge_calls_say_what_is_wrong() {
    let rig = rig().build();
    let wrong = |arguments: &str| {
        let outcome = rig.call_now("tool_call", arguments);
        (outcome.status, error(&outcome))
    };

    assert_eq!(wrong("{}"), (Status::Invalid, "tool_call: `name` must be the name of a tool".to_owned()));
    let direct = (Status::Invalid, "tool_call: call the search tools directly".to_owned());
    assert_eq!(wrong(r#"{"name": "tool_search", "arguments": {"query": "x"}}"#), direct);
    assert_eq!(wrong(r#"{"name": "tool_call", "arguments": {"name": "echo"}}"#), direct);
    assert_eq!(
        wrong(r#"{"name": "echo", "arguments": [1]}"#),
        (Status::Invalid, "tool_call: `arguments` must be an object".to_owned())
    );
    assert_eq!(
        wrong(r#"{"name": "ecko"}"#),
        (Status::Unknown, "Unknown tool: ecko. Did you mean echo?".to_owned())
    );
}

#[test]
fn inner_arguments_that_were_cut_off_do_not_act() {
    let outcome =
        rig().build().call_now("tool_call", r#"{"name": "get_weather", "arguments": "{\"city\": \"Gra"}"#);

    assert_eq!(outcome.status, Status::Invalid);
    assert!(error(&outcome).contains("cut off"), "{}", outcome.body);
}

#[test]
fn a_deferred_tool_can_be_called_by_its_own_name() {
    let outcome = rig().build().call_now("get_weather", r#"{"city": "Graz"}"#);

    assert_eq!(json(&outcome), json!({ "rain in": "Graz" }));
}

#[test]
fn without_a_bridge_its_names_are_unknown() {
    let rig = rig().settings(when(When::Off)).build();

    for name in ["tool_search", "tool_describe", "tool_call"] {
        assert_eq!(rig.call_now(name, r#"{"name": "echo"}"#).status, Status::Unknown);
    }
}

#[test]
fn a_tool_outside_the_plan_cannot_be_reached_through_the_bridge() {
    let rig = rig().build();
    let snapshot = rig.registry.snapshot();
    let plan = Arc::new(Selection::of(["echo"]).plan(snapshot.catalog()).unwrap());
    let config = |_: &str| None;
    let outcome = futures::executor::block_on(async {
        let toolbox =
            rig.definitions.toolbox(&snapshot, &plan, &rig.settings, &rig.availability, &config).await;
        let call = hermes_core::call::ToolCall::new(
            "tool_call",
            r#"{"name": "get_weather", "arguments": {"city": "x"}}"#,
        );
        rig.road.call(&rig.session, &toolbox, call).await
    });

    assert_eq!(outcome.status, Status::Unknown);
    assert!(rig.registry.snapshot().source("get_weather") == Some(&Source::Embedder("test".into())));
}
