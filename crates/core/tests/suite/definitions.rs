//! What the model is told: sorted, byte-stable, patched, found again.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::availability::Change;
use hermes_core::gate::Gate;
use hermes_core::registry::{Scope, Source};
use hermes_core::tool::{Definition, SchemaCx, ToolEntry};
use hermes_core::toolset::{Plan, Selection};
use hermes_testkit::{Rig, echo, object};
use proptest::prelude::*;
use serde_json::{Value, json};

fn offered(rig: &Rig) -> Vec<String> {
    rig.toolbox_now().offered().iter().map(|tool| tool.name().to_string()).collect()
}

fn definition(rig: &Rig, name: &str) -> Value {
    let toolbox = rig.toolbox_now();
    let tool = toolbox.offered().iter().find(|tool| tool.name().as_ref() == name).unwrap();
    serde_json::from_str(tool.json()).unwrap()
}

#[test]
fn definitions_are_functions_sorted_by_name_in_one_array() {
    let rig = Rig::with([echo("zebra"), echo("ant")]);

    let toolbox = rig.toolbox_now();

    let expected = |name: &str| {
        json!({ "type": "function", "function": {
            "name": name,
            "description": "A tool of a test.",
            "parameters": { "type": "object", "properties": {} },
        }})
    };
    let all: Value = serde_json::from_str(toolbox.json()).unwrap();
    assert_eq!(all, json!([expected("ant"), expected("zebra")]));
}

#[test]
fn an_empty_plan_is_an_empty_array() {
    assert_eq!(Rig::with([]).toolbox_now().json().as_ref(), "[]");
}

#[test]
fn the_same_plan_is_found_again_as_the_same_value() {
    let rig = Rig::with([echo("a"), echo("b").gate(Gate::env("KEY"))]);

    let first = rig.toolbox_now();
    let second = rig.toolbox_now();

    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(rig.probe.asked("KEY"), 1);
}

#[test]
fn another_generation_availability_or_setting_is_built_anew_with_the_same_bytes_for_the_same_tools() {
    let rig = Rig::with([echo("a"), echo("b").gate(Gate::env("KEY"))]);
    let first = rig.toolbox_now();

    rig.registry.install(Scope::new(Source::Plugin("p".into()))).unwrap();
    let generation = rig.toolbox_now();
    rig.availability.changed(&Change::Environment);
    let epoch = rig.toolbox_now();
    rig.host.advance(Duration::from_secs(30));
    let later = rig.toolbox_now();

    for other in [&generation, &epoch, &later] {
        assert!(!Arc::ptr_eq(&first, other));
        assert_eq!(first.json(), other.json());
    }
}

#[test]
fn the_cache_keeps_few_plans_and_forgets_the_one_not_used_for_longest() {
    let rig = Rig::with((0..12).map(|n| echo(&format!("t{n}"))));
    let snapshot = rig.registry.snapshot();
    let toolbox = |n: usize| {
        let plan = Arc::new(Plan::new(snapshot.catalog(), &Selection::of([format!("t{n}")])).unwrap());
        let config = |_: &str| None;
        futures::executor::block_on(rig.definitions.toolbox(
            &snapshot,
            &plan,
            &rig.settings,
            &rig.availability,
            &config,
        ))
    };
    let (zero, one) = (toolbox(0), toolbox(1));
    for n in 2..8 {
        toolbox(n);
    }

    assert!(Arc::ptr_eq(&zero, &toolbox(0)), "used again, so it is the newest now");
    toolbox(8);

    assert!(Arc::ptr_eq(&zero, &toolbox(0)));
    assert!(!Arc::ptr_eq(&one, &toolbox(1)));
}

#[test]
fn an_unavailable_tool_is_left_out_for_the_model_and_named_for_the_person() {
    let rig = Rig::with([echo("here"), echo("there").gate(Gate::env("KEY"))]);

    let toolbox = rig.toolbox_now();

    assert_eq!(offered(&rig), ["here"]);
    assert!(!toolbox.json().contains("there"));
    let why: Vec<_> =
        toolbox.unavailable().iter().map(|tool| (tool.name.as_ref(), tool.why.as_ref())).collect();
    assert_eq!(why, [("there", "needs KEY")]);
}

/// Mentions `web_search` only where it is.
#[expect(clippy::unnecessary_wraps, reason = "a patch may leave a tool out")]
fn mentions(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    if !cx.offers("web_search") {
        definition.description = "Open a page.".to_owned();
    }
    Some(definition)
}

/// Lists the tools it could use, and goes when there are none.
fn wraps(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    let usable: Vec<&str> = ["web_search", "browse"].into_iter().filter(|name| cx.offers(name)).collect();
    definition.description = format!("Script these tools: {}", usable.join(", "));
    (!usable.is_empty()).then_some(definition)
}

/// Needs the tool that needs others.
fn follows(definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
    cx.offers("script").then_some(definition)
}

fn family() -> Rig {
    let described = |name: &str, description: &str| {
        let mut definition = object(&json!({}));
        definition.description = description.to_owned();
        ToolEntry::from_fn(name, "test", definition, |_, _| Vec::new(), |_, _| async { Ok(json!({})) })
    };
    Rig::with([
        described("browse", "Open a page; prefer web_search.").gate(Gate::env("BROWSER")).dynamic(mentions),
        described("web_search", "Search.").gate(Gate::env("SEARCH")),
        described("script", "Run a script.").dynamic(wraps),
        described("helper", "Help the script.").dynamic(follows),
    ])
}

#[test]
fn a_definition_does_not_mention_a_tool_that_is_not_there() {
    let rig = family();
    rig.probe.set("BROWSER", true);

    assert_eq!(offered(&rig), ["browse", "helper", "script"]);
    assert!(!rig.toolbox_now().json().contains("web_search"));
    assert_eq!(definition(&rig, "script")["function"]["description"], "Script these tools: browse");

    rig.probe.set("SEARCH", true);
    rig.availability.changed(&Change::Environment);

    let described = definition(&rig, "browse")["function"]["description"].clone();
    assert_eq!(described, "Open a page; prefer web_search.");
}

#[test]
fn a_tool_with_nothing_to_do_leaves_and_takes_along_those_that_need_it() {
    let rig = family();

    let toolbox = rig.toolbox_now();

    assert_eq!(offered(&rig), [""; 0]);
    let why: Vec<_> =
        toolbox.unavailable().iter().map(|tool| (tool.name.as_ref(), tool.why.as_ref())).collect();
    let nothing = "nothing it could do is available";
    let expected = [
        ("browse", "needs BROWSER"),
        ("helper", nothing),
        ("script", nothing),
        ("web_search", "needs SEARCH"),
    ];
    assert_eq!(why, expected);
}

#[test]
fn a_patch_may_look_at_the_configuration_and_one_that_breaks_leaves_the_definition_as_declared() {
    fn configured(mut definition: Definition, cx: &SchemaCx<'_>) -> Option<Definition> {
        definition.description = (cx.config)("say").and_then(|value| value.as_str().map(str::to_owned))?;
        Some(definition)
    }
    fn broken(_: Definition, _: &SchemaCx<'_>) -> Option<Definition> {
        panic!("a patch broke")
    }
    let rig = Rig::with([echo("configured").dynamic(configured), echo("broken").dynamic(broken)]);
    rig.probe.set_config("say", json!("hello"));

    assert_eq!(definition(&rig, "configured")["function"]["description"], "hello");
    assert_eq!(definition(&rig, "broken")["function"]["description"], "A tool of a test.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bytes_do_not_depend_on_the_order_of_registration(
        names in prop::collection::btree_set("[a-z]{1,8}", 1..12).prop_map(|set| set.into_iter().collect::<Vec<_>>()),
        seed in any::<prop::sample::Index>(),
    ) {
        let mut turned = names.clone();
        turned.rotate_left(seed.index(names.len()));

        let one = Rig::with(names.iter().map(|name| echo(name)));
        let other = Rig::with(turned.iter().map(|name| echo(name)));

        let (one_box, other_box) = (one.toolbox_now(), other.toolbox_now());
        prop_assert_eq!(one_box.json(), other_box.json());
        prop_assert_eq!(offered(&one), names);
    }
}
