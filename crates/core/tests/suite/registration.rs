//! Scopes come and go whole; names have one owner.

use std::sync::Arc;

use hermes_core::registry::{Installed, RegisterError, Registry, Scope, Snapshot, Source};
use hermes_core::tool::ToolEntry;
use hermes_testkit::{RecordingHook, any_object};
use serde_json::json;

fn plugin(name: &str) -> Source {
    Source::Plugin(name.to_owned())
}

fn mcp(name: &str) -> Source {
    Source::Mcp(name.to_owned())
}

/// A tool whose toolset tells its copies apart.
fn entry(name: &str, toolset: &str) -> ToolEntry {
    ToolEntry::from_fn(name, toolset, any_object(), |_, _| Vec::new(), |_, _| async { Ok(json!({})) })
}

fn registry() -> Registry {
    Registry::new(
        Scope::new(Source::BuiltIn).tool(entry("read_file", "file")).tool(entry("terminal", "terminal")),
    )
    .unwrap()
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot.tools().map(|tool| tool.name().to_string()).collect()
}

fn toolset_of(registry: &Registry, tool: &str) -> String {
    registry.snapshot().tool(tool).map(|tool| tool.toolset().to_string()).unwrap_or_default()
}

#[test]
fn a_scope_replaces_the_one_its_source_had_before_whole() {
    let registry = registry();
    let first =
        registry.install(Scope::new(plugin("p")).tool(entry("one", "p")).tool(entry("two", "p"))).unwrap();
    let before = registry.snapshot();

    let second =
        registry.install(Scope::new(plugin("p")).tool(entry("two", "p")).tool(entry("three", "p"))).unwrap();

    assert_eq!(first, Installed { generation: 2, added: vec!["one".into(), "two".into()], replaced: vec![] });
    assert_eq!(second, Installed { generation: 3, added: vec!["three".into()], replaced: vec![] });
    assert_eq!(names(&registry.snapshot()), ["read_file", "terminal", "three", "two"]);
    assert_eq!(names(&before), ["one", "read_file", "terminal", "two"], "a snapshot in use does not change");
}

#[test]
fn a_catalog_tells_of_its_own_snapshot_whenever_it_is_first_asked() {
    let registry = registry();
    let before = registry.snapshot();
    let scope = |name: &str| Scope::new(plugin(name)).tool(entry(name, "late"));
    registry.change(&[], vec![scope("write"), scope("ask"), scope("see")]);

    let told = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.catalog().tools().map(|(tool, toolset)| format!("{tool} in {toolset}")).collect()
    };

    assert_eq!(
        told(&registry.snapshot()),
        ["ask in late", "read_file in file", "see in late", "terminal in terminal", "write in late"]
    );
    assert_eq!(told(&before), ["read_file in file", "terminal in terminal"]);
    assert_eq!(registry.snapshot().catalog().names().collect::<Vec<_>>(), ["file", "late", "terminal"]);
}

#[test]
fn a_scope_with_one_bad_tool_leaves_nothing_behind_and_stops_nobody() {
    let registry = registry();
    registry.install(Scope::new(plugin("p")).tool(entry("mine", "p"))).unwrap();

    let refused = registry.install(
        Scope::new(plugin("p"))
            .tool(entry("fine", "p"))
            .tool(entry("terminal", "p"))
            .hook(Arc::new(RecordingHook::named("h"))),
    );
    let other = registry.install(Scope::new(plugin("q")).tool(entry("other", "q")));

    assert!(matches!(refused, Err(RegisterError::Taken { .. })));
    assert!(other.is_ok());
    assert_eq!(names(&registry.snapshot()), ["mine", "other", "read_file", "terminal"]);
    assert!(registry.snapshot().hooks().is_empty());
}

#[test]
fn a_scope_that_comes_in_parts_goes_without_the_tools_that_are_refused() {
    let registry = registry();
    registry.install(Scope::new(plugin("other")).tool(entry("theirs", "other"))).unwrap();
    let scope = || {
        ["fine", "terminal", "no name", "theirs", "fine"]
            .into_iter()
            .fold(Scope::new(plugin("p")).in_parts(), |scope, name| scope.tool(entry(name, "p")))
            .hook(Arc::new(RecordingHook::named("h")))
    };

    let first = registry.install(scope()).unwrap_err().to_string();
    let again = registry.change(&[], vec![scope()]).pop().unwrap().unwrap_err().to_string();

    for told in [first, again] {
        let words = ["`no name`", "`fine` twice", "`terminal` of plugin `p`", "`theirs` of plugin `p`"];
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    }
    assert_eq!(names(&registry.snapshot()), ["fine", "read_file", "terminal", "theirs"]);
    assert_eq!(toolset_of(&registry, "theirs"), "other");
    assert_eq!(registry.snapshot().hooks().len(), 1);
    // In its place, before the one that took a name meanwhile.
    registry.install(Scope::new(plugin("late")).tool(entry("wanted", "late"))).unwrap();
    let more = registry.install(scope().tool(entry("wanted", "p"))).unwrap_err().to_string();
    assert!(more.contains("`wanted` of plugin `p`"), "{more}");
    assert_eq!((toolset_of(&registry, "wanted"), registry.snapshot().hooks().len()), ("late".to_owned(), 1));
}

#[test]
fn many_scopes_are_one_change_and_one_that_is_refused_stops_nobody() {
    let registry = registry();
    registry.install(Scope::new(plugin("old")).tool(entry("one", "old"))).unwrap();

    let done = registry.change(
        &[plugin("old"), plugin("nobody")],
        vec![
            Scope::new(plugin("a")).tool(entry("one", "a")).tool(entry("two", "a")),
            Scope::new(plugin("b")).tool(entry("fine", "b")).tool(entry("two", "b")),
            Scope::new(plugin("c")).tool(entry("three", "c")),
        ],
    );

    let [first, second, third] = done.as_slice() else { panic!("{done:?}") };
    assert_eq!((first, third), (&Ok(()), &Ok(())));
    assert!(matches!(second, Err(RegisterError::Taken { name, .. }) if name == "two"), "{second:?}");
    assert_eq!(names(&registry.snapshot()), ["one", "read_file", "terminal", "three", "two"]);
    assert_eq!(toolset_of(&registry, "one"), "a");
    assert_eq!(registry.change(&[], Vec::new()), []);
    assert_eq!(registry.snapshot().generation(), 3);
}

#[test]
fn shadowing_is_refused_in_words_that_name_both_sides() {
    let refused = registry().install(Scope::new(plugin("p")).tool(entry("terminal", "p"))).unwrap_err();

    assert_eq!(
        refused.to_string(),
        "`terminal` of plugin `p` would shadow the one of hermes itself (toolset `terminal`); \
         choose another name, or ask for an override"
    );
}

#[test]
fn names_that_cannot_go_over_the_wire_are_refused() {
    let registry = registry();
    let refused = |name: &str| {
        let scope = Scope::new(plugin("p")).tool(entry(name, "p"));
        registry.install(scope).map(drop).map_err(|wrong| wrong.to_string())
    };
    let bad = |name: &str| {
        Err(format!("`{name}` (plugin `p`) is not a tool name: use 1 to 64 letters, digits, `_` or `-`"))
    };

    assert_eq!(refused(""), bad(""));
    assert_eq!(refused("a b"), bad("a b"));
    assert_eq!(refused("größe"), bad("größe"));
    assert_eq!(refused(&"x".repeat(65)), bad(&"x".repeat(65)));
    assert_eq!(refused("tool_call"), Err("`tool_call` (plugin `p`) is a reserved name".to_owned()));
    assert_eq!(refused(&"x".repeat(64)), Ok(()));
}

#[test]
fn names_that_begin_as_those_of_servers_tools_are_for_servers_alone() {
    let registry = registry();
    let offered = |source: Source| Scope::new(source).tool(entry("mcp__s__ask", "s").overriding());

    let by_plugin = registry.install(offered(plugin("p"))).unwrap_err();
    let by_embedder = registry.install(offered(Source::Embedder("e".to_owned()))).unwrap_err();

    let words = "begins with `mcp__`, as only the tools of MCP servers do; choose another name";
    assert_eq!(by_plugin.to_string(), format!("`mcp__s__ask` (plugin `p`) {words}"));
    assert_eq!(by_embedder.to_string(), format!("`mcp__s__ask` (`e`) {words}"));
    assert!(registry.install(offered(mcp("s"))).is_ok());
}

#[test]
fn one_source_cannot_register_a_name_twice() {
    let scope = Scope::new(plugin("p")).tool(entry("b", "p")).tool(entry("a", "p")).tool(entry("b", "p"));

    assert_eq!(registry().install(scope).unwrap_err().to_string(), "plugin `p` registers `b` twice");
}

#[test]
fn an_override_stands_in_until_its_scope_goes() {
    let registry = registry();

    let installed =
        registry.install(Scope::new(plugin("p")).tool(entry("terminal", "p").overriding())).unwrap();
    let during = toolset_of(&registry, "terminal");
    let gone = registry.remove(&plugin("p"));

    assert_eq!(installed.replaced, [("terminal".to_owned(), Source::BuiltIn)]);
    assert_eq!(during, "p");
    assert!(gone);
    assert_eq!(toolset_of(&registry, "terminal"), "terminal");
    assert_eq!(registry.snapshot().generation(), 3);
}

#[test]
fn an_mcp_server_may_take_over_from_another_and_from_itself_but_not_from_others() {
    let registry = registry();
    registry.install(Scope::new(mcp("a")).tool(entry("ask", "mcp-a"))).unwrap();

    let again = registry.install(Scope::new(mcp("a")).tool(entry("ask", "mcp-a"))).unwrap();
    let taken_over = registry.install(Scope::new(mcp("b")).tool(entry("ask", "mcp-b"))).unwrap();
    let by_plugin = registry.install(Scope::new(plugin("p")).tool(entry("ask", "p")));
    let of_built_in = registry.install(Scope::new(mcp("c")).tool(entry("terminal", "mcp-c")));

    assert_eq!((again.added.len(), again.replaced.len()), (0, 0));
    assert_eq!(taken_over.replaced, [("ask".to_owned(), mcp("a"))]);
    assert!(by_plugin.is_err() && of_built_in.is_err());
    registry.remove(&mcp("b"));
    assert_eq!(toolset_of(&registry, "ask"), "mcp-a");
}

#[test]
fn removing_a_source_always_succeeds_even_when_others_stood_on_it() {
    let registry = registry();
    registry.install(Scope::new(plugin("p")).tool(entry("ask", "p"))).unwrap();
    registry.install(Scope::new(mcp("a")).tool(entry("ask", "mcp-a").overriding())).unwrap();
    registry.install(Scope::new(mcp("b")).tool(entry("ask", "mcp-b")).tool(entry("more", "mcp-b"))).unwrap();

    let gone = registry.remove(&mcp("a"));

    assert!(gone);
    assert_eq!(toolset_of(&registry, "ask"), "p", "nobody allowed `b` to shadow the plugin");
    assert_eq!(toolset_of(&registry, "more"), "mcp-b");
    registry.remove(&plugin("p"));
    assert_eq!(toolset_of(&registry, "ask"), "mcp-b");
}

#[test]
fn a_source_that_comes_again_with_a_name_that_a_later_one_has_is_the_one_refused() {
    let registry = registry();
    registry.install(Scope::new(plugin("early")).tool(entry("one", "early"))).unwrap();
    registry.install(Scope::new(plugin("late")).tool(entry("two", "late"))).unwrap();

    let refused = registry.install(Scope::new(plugin("early")).tool(entry("two", "early"))).unwrap_err();

    let RegisterError::Taken { source_name, owner, owner_toolset, .. } = refused else { panic!("{refused}") };
    assert_eq!((source_name, owner, owner_toolset.as_str()), (plugin("early"), plugin("late"), "late"));
}

#[test]
fn what_stays_behind_an_override_is_not_reported_as_standing_in() {
    let registry = registry();
    registry.install(Scope::new(plugin("early")).tool(entry("one", "early"))).unwrap();
    registry.install(Scope::new(plugin("late")).tool(entry("two", "late").overriding())).unwrap();

    let installed = registry.install(Scope::new(plugin("early")).tool(entry("two", "early"))).unwrap();

    assert_eq!(toolset_of(&registry, "two"), "late");
    assert_eq!(installed.replaced, []);
}

#[test]
fn removing_what_is_not_there_changes_nothing() {
    let registry = registry();

    assert!(!registry.remove(&plugin("nobody")));
    assert_eq!(registry.snapshot().generation(), 1);
}

#[test]
fn hooks_of_all_scopes_run_by_order_and_then_as_installed() {
    let hook = |name: &str, order| Arc::new(RecordingHook::named(name).order(order));
    let registry = registry();
    registry.install(Scope::new(plugin("p")).hook(hook("late", 5)).hook(hook("first of zero", 0))).unwrap();
    registry
        .install(Scope::new(plugin("q")).hook(hook("second of zero", 0)).hook(hook("early", -5)))
        .unwrap();

    let snapshot = registry.snapshot();

    let order: Vec<&str> = snapshot.hooks().iter().map(|hook| hook.name()).collect();
    assert_eq!(order, ["early", "first of zero", "second of zero", "late"]);
}

#[test]
fn an_entry_carries_everything_that_was_said_about_it() {
    use hermes_core::gate::Gate;
    use hermes_core::tool::{MaxSize, Parallel, Trust};
    use std::time::Duration;

    let said = entry("ask", "p")
        .gate(Gate::env("KEY"))
        .emoji("❓")
        .requires_env(["KEY".to_owned()])
        .max_result(MaxSize::Chars(10))
        .alone()
        .read_only()
        .timeout(Duration::from_secs(3));

    assert_eq!((said.gate_value(), said.emoji_text()), (&Gate::env("KEY"), "❓"));
    assert_eq!(said.required_env().collect::<Vec<_>>(), ["KEY"]);
    assert_eq!((said.max_result_size(), said.trust()), (Some(MaxSize::Chars(10)), Trust::Untrusted));
    assert_eq!((said.parallel(), said.is_read_only()), (Parallel::Never, true));
    assert_eq!(said.time_limit(), Some(Duration::from_secs(3)));
}
