//! The resolver and the plan on a small table.

mod lookup;
mod plan;
mod properties;

use std::sync::Arc;

use super::{Catalog, CatalogParts, DynamicToolset, Selection, Toolset};

/// `loop-a` and `loop-b` include each other; `top` reaches `files` in two ways.
const TABLE: &[&Toolset] = &[
    &Toolset::new("files", "Files.").tools(&["read", "write"]).legacy("file_tools", &["read"]),
    &Toolset::new("hermes-hook", "Anybody.").tools(&["read"]).restricted().preset_of(&["hook"]),
    &Toolset::new("hermes-term", "People.").tools(&["read", "write", "sing"]).preset_of(&["term"]),
    &Toolset::new("left", "Left.").includes(&["files"]),
    &Toolset::new("loop-a", "A.").tools(&["a"]).includes(&["loop-b"]),
    &Toolset::new("loop-b", "B.").tools(&["b"]).includes(&["loop-a", "loop-b"]),
    &Toolset::new("right", "Right.").tools(&["write"]).includes(&["files", "gone"]),
    &Toolset::new("stance", "Posture.").tools(&["read", "a"]).posture(),
    &Toolset::new("top", "Top.").includes(&["left", "right"]),
];

fn parts() -> CatalogParts {
    let tools = [("a", "loop-a"), ("b", "loop-b"), ("read", "files"), ("sing", "choir"), ("write", "files")];
    CatalogParts {
        toolsets: TABLE,
        core: &["read", "write"],
        tools: tools.iter().map(|&(tool, toolset)| (tool.into(), toolset.into())).collect(),
        ..CatalogParts::default()
    }
}

fn catalog() -> Catalog {
    Catalog::new(parts())
}

/// With MCP servers `files`, called like a toolset, and `gh`.
fn catalog_with_servers() -> Catalog {
    let mut parts = parts();
    parts.dynamic = vec![
        DynamicToolset::mcp("gh", names(&["mcp__gh__find", "read"])),
        DynamicToolset::mcp("files", Vec::new()),
    ];
    parts.tools.push(("mcp__gh__find".into(), "mcp-gh".into()));
    parts.tools.push(("mcp__files__list".into(), "mcp-files".into()));
    Catalog::new(parts)
}

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|&name| name.into()).collect()
}

/// The tools of a selection, as one line.
fn tools(catalog: &Catalog, selection: &Selection) -> String {
    selection.plan(catalog).unwrap().tools().join(" ")
}
