//! What a name stands for.

use super::{catalog, catalog_with_servers, names, parts, tools};
use crate::toolset::{Catalog, DynamicToolset, Member, Selection, SelectionError};

/// `tool: chain` for each member.
fn lines(members: &[Member]) -> Vec<String> {
    members.iter().map(|member| format!("{}: {}", member.tool, member.chain.join(" "))).collect()
}

#[test]
fn members_are_sorted_and_told_with_the_shortest_way() {
    let found = catalog().resolve("top").unwrap();

    assert_eq!(lines(&found.tools), ["read: top left files", "write: top right"]);
}

#[test]
fn circles_end() {
    let found = catalog().resolve("loop-b").unwrap();

    assert_eq!(lines(&found.tools), ["a: loop-b loop-a", "b: loop-b"]);
}

#[test]
fn an_include_that_leads_nowhere_is_told() {
    let found = catalog().resolve("top").unwrap();

    assert_eq!(found.dangling, [names(&["top", "right", "gone"])]);
}

#[test]
fn a_tool_that_is_not_registered_is_missing() {
    let mut parts = parts();
    parts.tools.retain(|(tool, _)| tool.as_ref() != "write");
    let found = Catalog::new(parts).resolve("files").unwrap();

    assert_eq!(lines(&found.tools), ["read: files"]);
    assert_eq!(lines(&found.missing), ["write: files"]);
}

#[test]
fn the_order_of_the_parts_does_not_matter() {
    let mut parts = parts();
    parts.dynamic = ["b", "a"].map(|server| DynamicToolset::mcp(server, Vec::new())).into();
    parts.tools.reverse();

    let catalog = Catalog::new(parts);

    let homes: Vec<String> = catalog.tools().map(|(tool, home)| format!("{tool} {home}")).collect();
    assert_eq!(homes, ["a loop-a", "b loop-b", "read files", "sing choir", "write files"]);
    assert!(catalog.names().is_sorted());
    assert_eq!(catalog.names().take(4).collect::<Vec<_>>(), ["a", "b", "choir", "files"]);
}

#[test]
fn a_tool_that_was_registered_twice_is_under_the_toolset_given_last() {
    let mut parts = parts();
    parts.tools.push(("read".into(), "library".into()));

    let catalog = Catalog::new(parts);

    assert_eq!(catalog.home("read").map(AsRef::as_ref), Some("library"));
    assert_eq!(catalog.tools().len(), 5);
}

#[test]
fn everything_is_told_by_the_toolset_a_tool_is_registered_under() {
    for name in ["all", "*"] {
        let found = catalog().resolve(name).unwrap();

        let expected = ["a: # loop-a", "b: # loop-b", "read: # files", "sing: # choir", "write: # files"];
        assert_eq!(lines(&found.tools), expected.map(|line| line.replace('#', name)));
    }
}

#[test]
fn a_toolset_is_its_file_and_what_is_registered_under_its_name() {
    let mut parts = parts();
    parts.tools.push(("rename".into(), "files".into()));
    parts.dynamic.push(DynamicToolset {
        name: "files".into(),
        tools: names(&["sing"]),
        includes: names(&["loop-a"]),
        ..DynamicToolset::default()
    });
    let catalog = Catalog::new(parts);

    assert_eq!(tools(&catalog, &Selection::of(["files"])), "a b read rename sing write");
    assert_eq!(tools(&catalog, &Selection::of(["choir"])), "sing", "only registered tools mention it");
}

#[test]
fn nobody_adds_to_a_restricted_toolset() {
    let mut parts = parts();
    parts.tools.push(("rm".into(), "hermes-hook".into()));
    parts.dynamic.push(DynamicToolset {
        name: "hermes-hook".into(),
        tools: names(&["sing"]),
        includes: names(&["top"]),
        ..DynamicToolset::default()
    });
    let catalog = Catalog::new(parts);

    assert_eq!(tools(&catalog, &Selection::of(["hermes-hook"])), "read");
    assert_eq!(tools(&catalog, &Selection::everything()), "a b read rm sing write");
}

#[test]
fn a_server_is_reached_by_its_name_unless_a_toolset_has_it() {
    let catalog = catalog_with_servers();

    assert_eq!(tools(&catalog, &Selection::of(["gh"])), "mcp__gh__find");
    assert_eq!(tools(&catalog, &Selection::of(["files"])), "read write");
    assert_eq!(tools(&catalog, &Selection::of(["mcp-files"])), "mcp__files__list");
    assert!(catalog.names().any(|name| name == "gh") && !catalog.names().any(|name| name == "mcp-gh"));
    assert!(catalog.names().any(|name| name == "mcp-files"), "there is no shorter name for it");
}

#[test]
fn a_server_cannot_claim_a_tool_of_somebody_else() {
    let found = catalog_with_servers().resolve("mcp-gh").unwrap();

    assert_eq!(lines(&found.tools), ["mcp__gh__find: mcp-gh"]);
}

#[test]
fn a_platform_of_a_plugin_has_a_preset() {
    let mut parts = parts();
    parts.platforms = names(&["choir", "hook"]);
    let catalog = Catalog::new(parts);

    let found = catalog.resolve("hermes-choir").unwrap();
    assert_eq!(
        lines(&found.tools),
        ["read: hermes-choir", "sing: hermes-choir choir", "write: hermes-choir"]
    );
    assert_eq!(tools(&catalog, &Selection::of(["hermes-hook"])), "read", "a file comes before a plugin");
    assert_eq!(catalog.platform_preset("choir").unwrap(), "hermes-choir");
    assert!(catalog.platform_preset("chior").unwrap_err().suggestions.contains(&"choir".into()));
}

#[test]
fn old_names_and_single_tools_are_names_too() {
    assert_eq!(lines(&catalog().resolve("file_tools").unwrap().tools), ["read: file_tools"]);
    assert_eq!(lines(&catalog().resolve("write").unwrap().tools), ["write: "]);
}

#[test]
fn an_unknown_name_is_an_error() {
    let error = catalog().resolve("fiels").unwrap_err();

    let SelectionError::Unknown(unknown) = error else { panic!("{error}") };
    assert_eq!(unknown[0].suggestions.first().map(AsRef::as_ref), Some("files"));
}
