//! What a selection comes to, and how it is explained.

use std::collections::HashMap;
use std::sync::Arc;

use super::{catalog, catalog_with_servers, tools};
use crate::toolset::{McpServers, Selection, SelectionError, explain};

fn story(selection: &Selection, tool: &str) -> String {
    explain(&catalog_with_servers(), selection).unwrap().of(tool).unwrap().to_string()
}

#[test]
fn nothing_selected_is_nothing_and_no_list_is_everything() {
    assert_eq!(tools(&catalog(), &Selection::of(Vec::<String>::new())), "");
    assert_eq!(tools(&catalog(), &Selection::everything()), "a b read sing write");
}

#[test]
fn disabled_is_taken_away_from_a_list_and_from_everything() {
    assert_eq!(tools(&catalog(), &Selection::of(["top", "loop-a"]).without(["files"])), "a b");
    assert_eq!(tools(&catalog(), &Selection::everything().without(["loop-a"])), "read sing write");
    assert_eq!(tools(&catalog(), &Selection::of(["read"]).without(["read"])), "");
    assert_eq!(tools(&catalog(), &Selection::everything().without(["all"])), "");
}

#[test]
fn a_disabled_preset_or_posture_takes_away_only_what_is_not_core() {
    assert_eq!(tools(&catalog(), &Selection::everything().without(["hermes-term"])), "a b read write");
    assert_eq!(tools(&catalog(), &Selection::everything().without(["stance"])), "b read sing write");
}

#[test]
fn a_single_tool_can_be_disabled() {
    let selection = Selection { tools_disabled: vec!["write".into()], ..Selection::of(["files"]) };

    assert_eq!(tools(&catalog(), &selection), "read");
}

#[test]
fn a_kanban_task_brings_its_toolset_if_there_is_one() {
    let mut parts = super::parts();
    parts.tools.push(("show".into(), "kanban".into()));
    let selection = Selection { kanban_task: true, ..Selection::of(["choir"]) };

    assert_eq!(tools(&crate::toolset::Catalog::new(parts), &selection), "show sing");
    assert_eq!(tools(&catalog(), &selection), "sing");
}

#[test]
fn servers_come_in_as_the_selection_says() {
    let catalog = catalog_with_servers();
    let of =
        |mcp, names: &[&str]| tools(&catalog, &Selection { mcp, ..Selection::of(names.iter().copied()) });

    assert_eq!(of(McpServers::Selected, &["all"]), "a b mcp__files__list mcp__gh__find read sing write");
    assert_eq!(of(McpServers::Every, &["choir"]), "mcp__files__list mcp__gh__find sing");
    assert_eq!(of(McpServers::Named, &["all"]), "a b read sing write");
    assert_eq!(of(McpServers::Named, &["choir", "gh"]), "mcp__gh__find sing");
    assert_eq!(of(McpServers::Named, &["mcp__gh__find"]), "mcp__gh__find");
    assert_eq!(of(McpServers::Never, &["gh", "mcp__gh__find", "choir"]), "sing");
}

#[test]
fn every_unknown_name_is_told_wherever_it_stands() {
    let selection = Selection {
        disabled: vec!["lop-a".into()],
        tools_disabled: vec!["wirte".into()],
        ..Selection::of(["files", "choirs"])
    };

    let Err(SelectionError::Unknown(unknown)) = selection.plan(&catalog()) else { panic!("it was accepted") };
    let told: Vec<&str> = unknown.iter().map(|unknown| unknown.name.as_str()).collect();
    assert_eq!(told, ["choirs", "lop-a", "wirte"]);
    assert_eq!(explain(&catalog(), &selection), Err(SelectionError::Unknown(unknown)));
}

#[test]
fn plans_with_the_same_tools_are_the_same_to_a_cache() {
    let catalog = catalog();
    let one = Selection::of(["files"]).plan(&catalog).unwrap();
    let same = Selection::of(["top", "file_tools"]).plan(&catalog).unwrap();
    let other = Selection::of(["choir"]).plan(&catalog).unwrap();
    let cache = HashMap::from([(one.key().clone(), "files"), (other.key().clone(), "choir")]);

    assert_eq!(one, same);
    assert_eq!(cache.get(same.key()), Some(&"files"));
    assert_eq!(cache.len(), 2);
}

#[test]
fn a_plan_finds_its_tools_and_offers_them_for_others() {
    let plan = Selection::of(["files"]).plan(&catalog()).unwrap();

    assert_eq!(plan.find("read"), Ok(&Arc::from("read")));
    assert_eq!(plan.find("Wrote").unwrap_err().to_string(), "`Wrote` is not known; did you mean `write`?");
    assert!(plan.find("sing").unwrap_err().suggestions.is_empty(), "what is not in the plan is not offered");
    assert!(!plan.contains("sing") && !plan.contains(""));
}

#[test]
fn each_tool_has_a_story() {
    let selection = Selection {
        tools_disabled: vec!["b".into()],
        mcp: McpServers::Never,
        ..Selection::of(["top", "loop-a", "gh", "mcp__files__list"]).without(["stance", "right"])
    };

    assert_eq!(
        story(&selection, "a"),
        "`a` is out: `stance` is disabled (else it would be in through `loop-a`)"
    );
    assert_eq!(
        story(&selection, "b"),
        "`b` is out: the tool is disabled (else it would be in through `loop-a` → `loop-b`)"
    );
    assert_eq!(
        story(&selection, "read"),
        "`read` is out: `right` is disabled (else it would be in through `top` → `left` → `files`)"
    );
    assert_eq!(story(&selection, "sing"), "`sing` is out: nothing selected has it (toolset `choir` does)");
    assert_eq!(
        story(&selection, "mcp__gh__find"),
        "`mcp__gh__find` is out: MCP server `mcp-gh` is not among those let in"
    );
    assert_eq!(story(&Selection::of(["read"]), "read"), "`read` is in by its own name");
}

#[test]
fn what_is_asked_for_but_not_there_is_told() {
    let mut parts = super::parts();
    parts.tools.retain(|(tool, _)| tool.as_ref() != "write");
    let told = explain(&crate::toolset::Catalog::new(parts), &Selection::of(["left"])).unwrap();

    assert_eq!(told.missing.len(), 1);
    assert_eq!(told.missing[0].tool.as_ref(), "write");
    assert_eq!(told.missing[0].chain.join(" "), "left files");
    assert!(told.of("rite").is_err());
}
