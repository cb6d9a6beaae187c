//! Switching a toolset or a tool on or off for one platform: what its list has to say then.
//!
//! Pure: from the list as it is to the list as it should be. Writing it is somebody else's work. What a
//! list brings is asked of the code that selects: plugins, MCP servers and what a key unlocks come in
//! without being named.

use std::collections::BTreeSet;

use super::catalog::{Meaning, Source};
use super::decide::roots;
use super::platform::NO_MCP;
use super::selection::McpServers;
use super::{Catalog, PlatformSettings, Selection, SelectionError, platform_selection};

/// What the configuration says about one platform, before or after a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlatformLists {
    /// `platform_toolsets.<platform>`, if it is there.
    pub toolsets: Option<Vec<String>>,
    /// `agent.disabled_toolsets`, which holds for every platform.
    pub disabled_toolsets: Vec<String>,
    /// `agent.disabled_tools`, which holds for every platform.
    pub disabled_tools: Vec<String>,
    /// Toolsets that are off by default but that other settings turn on.
    pub unlocked: Vec<String>,
}

impl PlatformLists {
    /// The lists with `name` switched on: nothing holds it back any more, and the platform has it.
    pub fn with(&self, catalog: &Catalog, platform: &str, name: &str) -> Result<Self, SelectionError> {
        let mut lists = self.clone();
        let same = |known: &str| is_same(catalog, known, name);
        lists.disabled_toolsets.retain(|known| !same(known));
        lists.disabled_tools.retain(|known| known != name);
        let mut list = self.list_or_preset(catalog, platform)?;
        let before = self.servers(catalog, platform, &list)?;
        list.retain(|known| !known.strip_prefix('!').is_some_and(same));
        // It keeps servers out that are named, too; without it they and all others would come along.
        let only_this = is_of_a_server(catalog, name) && list.iter().any(|known| known == NO_MCP);
        if only_this {
            list.retain(|known| known != NO_MCP && !is_of_a_server(catalog, known));
        }
        let default_off = catalog.built_in(name).is_some_and(|toolset| toolset.default_off);
        let comes_unasked = !default_off && !only_this;
        let brought = self.brought(catalog, platform, &list)?;
        let is_there = list.iter().any(|known| same(known)) || (comes_unasked && brought.has_all(name)?);
        if !is_there {
            list.push(name.to_owned());
        }
        self.let_no_server_in(before, catalog, platform, &mut list)?;
        lists.settle(self, catalog, platform, list)
    }

    /// The lists with `name` switched off for the platform.
    pub fn without(&self, catalog: &Catalog, platform: &str, name: &str) -> Result<Self, SelectionError> {
        if catalog.meaning(name).is_none()
            && let Some(lists) = self.without_mention(name)
        {
            return Ok(lists);
        }
        let mut list = self.list_or_preset(catalog, platform)?;
        let before = self.servers(catalog, platform, &list)?;
        list.retain(|known| !is_same(catalog, known, name));
        self.let_no_server_in(before, catalog, platform, &mut list)?;
        let refusal = format!("!{name}");
        if !list.contains(&refusal) && self.brought(catalog, platform, &list)?.has_any(name)? {
            list.push(refusal);
        }
        if list.iter().all(|known| known.starts_with('!') || known == NO_MCP) {
            // A list that only leaves things out leaves nothing; servers that came by themselves stay by name.
            let came = if before == McpServers::Every { servers_but(catalog, name) } else { Vec::new() };
            list.retain(|known| !came.is_empty() && known != NO_MCP);
            list.splice(0..0, came);
        }
        self.clone().settle(self, catalog, platform, list)
    }

    /// The lists without a name that nobody has any more, as that of a tool file that was removed: it would keep
    /// everything else from working. Nothing when no list mentions it.
    fn without_mention(&self, name: &str) -> Option<Self> {
        let is_other = |known: &String| known.strip_prefix('!').unwrap_or(known) != name;
        let mut lists = self.clone();
        if let Some(list) = &mut lists.toolsets {
            list.retain(is_other);
        }
        lists.disabled_toolsets.retain(is_other);
        lists.disabled_tools.retain(is_other);
        (lists != *self).then_some(lists)
    }

    /// Which servers a list lets in.
    fn servers(
        &self,
        catalog: &Catalog,
        platform: &str,
        list: &[String],
    ) -> Result<McpServers, SelectionError> {
        Ok(self.brought(catalog, platform, list)?.selection.mcp)
    }

    /// A list without the last server that it named, or with the first name of all, would let every server in.
    fn let_no_server_in(
        &self,
        before: McpServers,
        catalog: &Catalog,
        platform: &str,
        list: &mut Vec<String>,
    ) -> Result<(), SelectionError> {
        let all = McpServers::Every;
        if before != all && self.servers(catalog, platform, list)? == all {
            list.push(NO_MCP.to_owned());
        }
        Ok(())
    }

    /// What the positive names of a list bring in.
    fn brought<'a>(
        &self,
        catalog: &'a Catalog,
        platform: &str,
        list: &[String],
    ) -> Result<Brought<'a>, SelectionError> {
        let names: Vec<String> = list.iter().filter(|name| !name.starts_with('!')).cloned().collect();
        let settings = PlatformSettings {
            platform,
            toolsets: Some(&names),
            unlocked: &self.unlocked,
            ..PlatformSettings::default()
        };
        let selection = platform_selection(catalog, &settings)?;
        let mut unknown = Vec::new();
        let named = roots(catalog, &selection, &mut unknown).into_iter().map(|root| root.name.to_owned());
        let names: Vec<String> = named.collect();
        if !unknown.is_empty() {
            return Err(SelectionError::Unknown(unknown));
        }
        let (mut toolsets, mut tools) = (BTreeSet::new(), BTreeSet::new());
        for name in names {
            toolsets.extend(toolset(catalog, &name));
            tools.extend(tools_of(catalog, &name)?);
        }
        Ok(Brought { catalog, selection, toolsets, tools })
    }

    fn list_or_preset(&self, catalog: &Catalog, platform: &str) -> Result<Vec<String>, SelectionError> {
        let preset = catalog.platform_preset(platform).map_err(SelectionError::Platform)?;
        Ok(self.toolsets.clone().unwrap_or_else(|| vec![preset.to_owned()]))
    }

    /// Takes the list over, unless nothing was configured and it says no more than that.
    fn settle(
        mut self,
        before: &Self,
        catalog: &Catalog,
        platform: &str,
        list: Vec<String>,
    ) -> Result<Self, SelectionError> {
        let unchanged = before.toolsets.is_none() && list == before.list_or_preset(catalog, platform)?;
        self.toolsets = if unchanged { None } else { Some(list) };
        Ok(self)
    }
}

/// What a list brings in.
struct Brought<'a> {
    catalog: &'a Catalog,
    selection: Selection,
    /// By the names of toolsets. That of a server which has not connected has no tools yet.
    toolsets: BTreeSet<&'a str>,
    tools: BTreeSet<String>,
}

impl Brought<'_> {
    fn has_all(&self, name: &str) -> Result<bool, SelectionError> {
        if is_of_a_server(self.catalog, name) {
            return Ok(self.has_toolset(name));
        }
        Ok(tools_of(self.catalog, name)?.iter().all(|tool| self.tools.contains(tool)))
    }

    fn has_any(&self, name: &str) -> Result<bool, SelectionError> {
        let any = tools_of(self.catalog, name)?.iter().any(|tool| self.tools.contains(tool));
        Ok(any || self.has_toolset(name))
    }

    /// Whether it has the toolset of this name; of a server's tool, that server.
    fn has_toolset(&self, name: &str) -> bool {
        let owner = self.catalog.mcp_owner(name).map(|entry| entry.name.as_ref());
        toolset(self.catalog, name).or(owner).is_some_and(|found| self.toolsets.contains(found))
    }
}

/// The toolset that a name is, or is another name for.
fn toolset<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a str> {
    match catalog.meaning(name)? {
        Meaning::Toolset(entry) => Some(entry.name.as_ref()),
        _ => None,
    }
}

/// Whether two names mean the same toolset or tool: a server is known by two.
fn is_same(catalog: &Catalog, one: &str, other: &str) -> bool {
    one == other || toolset(catalog, one).is_some_and(|found| toolset(catalog, other) == Some(found))
}

/// The servers, but for one.
fn servers_but(catalog: &Catalog, name: &str) -> Vec<String> {
    let servers = catalog.entries().filter(|entry| entry.source == Source::Mcp);
    let names = servers.map(|entry| entry.name.as_ref().to_owned());
    names.filter(|known| !is_same(catalog, known, name)).collect()
}

/// Whether a name is that of an MCP server, or of a tool of one.
fn is_of_a_server(catalog: &Catalog, name: &str) -> bool {
    catalog.is_mcp(name) || (toolset(catalog, name).is_none() && catalog.mcp_owner(name).is_some())
}

/// The tools a name stands for, built or not.
fn tools_of(catalog: &Catalog, name: &str) -> Result<Vec<String>, SelectionError> {
    let found = catalog.resolve(name)?;
    Ok(found.tools.iter().chain(&found.missing).map(|member| member.tool.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::toolset::{CatalogParts, DynamicToolset, Toolset};

    const WEB: Toolset = Toolset::new("web", "").tools(&["web_search", "web_extract"]);
    const FILE: Toolset = Toolset::new("file", "").tools(&["read_file"]);
    const SPOTIFY: Toolset = Toolset::new("spotify", "").tools(&["spotify_search"]).default_off();
    const CLI: Toolset = Toolset::new("hermes-cli", "")
        .tools(&["web_search", "web_extract", "read_file", "spotify_search"])
        .preset_of(&["cli"]);

    fn catalog() -> Catalog {
        Catalog::new(CatalogParts {
            toolsets: &[&WEB, &FILE, &SPOTIFY, &CLI],
            tools: vec![(Arc::from("read_file"), Arc::from("file"))],
            ..CatalogParts::default()
        })
    }

    fn lists(toolsets: Option<&[&str]>) -> PlatformLists {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        PlatformLists { toolsets: toolsets.map(owned), ..PlatformLists::default() }
    }

    #[test]
    fn switching_off_what_the_preset_brings_leaves_it_out() {
        let off = lists(None).without(&catalog(), "cli", "web").unwrap();

        assert_eq!(off, lists(Some(&["hermes-cli", "!web"])));
    }

    #[test]
    fn switching_off_and_on_again_ends_where_it_began() {
        let off = lists(None).without(&catalog(), "cli", "read_file").unwrap();

        let on = off.with(&catalog(), "cli", "read_file").unwrap();

        assert_eq!(on.toolsets.as_deref(), Some(["hermes-cli".to_owned()].as_slice()));
    }

    #[test]
    fn switching_off_the_last_name_leaves_an_empty_list() {
        let off = lists(Some(&["web", "!web_extract"])).without(&catalog(), "cli", "web").unwrap();

        assert_eq!(off, lists(Some(&[])));
    }

    #[test]
    fn what_is_off_by_default_is_added_by_name_even_if_the_preset_names_its_tools() {
        let on = lists(None).with(&catalog(), "cli", "spotify").unwrap();

        assert_eq!(on, lists(Some(&["hermes-cli", "spotify"])));
    }

    #[test]
    fn switching_on_what_is_there_changes_nothing() {
        assert_eq!(lists(None).with(&catalog(), "cli", "web").unwrap(), lists(None));
    }

    #[test]
    fn switching_on_takes_the_name_from_what_is_disabled_everywhere() {
        let before = PlatformLists { disabled_toolsets: vec!["web".to_owned()], ..lists(None) };

        assert_eq!(before.with(&catalog(), "cli", "web").unwrap(), lists(None));
    }

    /// The same with a plugin, two MCP servers, of which `fs` has not connected, and a toolset with a key.
    fn full() -> Catalog {
        const X: Toolset = Toolset::new("x", "").tools(&["x_search"]).default_off().unlocked_by("X_KEY");
        let tools = [("read_file", "file"), ("forecast", "weather"), ("mcp__gh__find", "mcp-gh")];
        Catalog::new(CatalogParts {
            toolsets: &[&WEB, &FILE, &SPOTIFY, &CLI, &X],
            tools: tools.map(|(tool, toolset)| (Arc::from(tool), Arc::from(toolset))).to_vec(),
            dynamic: vec![
                DynamicToolset::mcp("gh", vec![]),
                DynamicToolset::mcp("fs", vec![]),
                DynamicToolset { name: "weather".into(), ..DynamicToolset::default() },
            ],
            ..CatalogParts::default()
        })
    }

    #[test]
    fn what_comes_in_without_a_name_can_be_switched_off_and_on_again() {
        let before = PlatformLists { unlocked: vec!["x".to_owned()], ..lists(None) };
        for name in ["weather", "forecast", "gh", "mcp-gh", "mcp__gh__find", "fs", "mcp__fs__read", "x"] {
            let off = before.without(&full(), "cli", name).unwrap();
            let on = off.with(&full(), "cli", name).unwrap();

            assert_eq!(off.toolsets, lists(Some(&["hermes-cli", &format!("!{name}")])).toolsets);
            let expected: &[&str] = if name == "x" { &["hermes-cli", "x"] } else { &["hermes-cli"] };
            assert_eq!(on.toolsets, lists(Some(expected)).toolsets, "{name}");
            if name != "x" {
                assert_eq!(before.with(&full(), "cli", name).unwrap(), before, "{name} is there already");
            }
        }
    }

    #[test]
    fn a_list_that_says_which_servers_are_allowed_goes_on_doing_so() {
        let one = lists(Some(&["web", "gh"]));

        let none = one.without(&full(), "cli", "gh").unwrap();

        assert_eq!(none, lists(Some(&["web", "no_mcp"])));
        assert_eq!(none.with(&full(), "cli", "fs").unwrap(), lists(Some(&["web", "fs"])));
        assert_eq!(one.with(&full(), "cli", "fs").unwrap(), lists(Some(&["web", "gh", "fs"])));
        assert_eq!(one.without(&full(), "cli", "web").unwrap(), lists(Some(&["gh"])));
    }

    #[test]
    fn a_name_that_nobody_has_any_more_can_be_taken_out_of_the_lists() {
        let stale = PlatformLists {
            disabled_tools: vec!["gone".to_owned()],
            ..lists(Some(&["hermes-cli", "gone", "!gone"]))
        };

        assert_eq!(stale.without(&catalog(), "cli", "gone").unwrap(), lists(Some(&["hermes-cli"])));
        assert!(stale.with(&catalog(), "cli", "gone").is_err());
    }

    /// With the servers `gh`, of which two tools are known, and `new`, of which nothing is, and a plugin.
    fn foreign() -> Catalog {
        let own = [("read_file", "file"), ("web_search", "web"), ("web_extract", "web")];
        let theirs = [("mcp__gh__find", "mcp-gh"), ("mcp__gh__drop", "mcp-gh"), ("paint", "art")];
        let mut parts = CatalogParts {
            toolsets: &[&WEB, &FILE, &SPOTIFY, &CLI],
            tools: own.iter().chain(&theirs).map(|&(tool, set)| (Arc::from(tool), Arc::from(set))).collect(),
            ..CatalogParts::default()
        };
        let found = vec![Arc::from("mcp__gh__find"), Arc::from("mcp__gh__drop")];
        let plugin = DynamicToolset { name: "art".into(), ..DynamicToolset::default() };
        parts.dynamic =
            vec![DynamicToolset::mcp("gh", found), DynamicToolset::mcp("new", Vec::new()), plugin];
        Catalog::new(parts)
    }

    fn present(catalog: &Catalog, lists: &PlatformLists) -> Vec<String> {
        let toolsets = lists.toolsets.as_deref();
        let settings = PlatformSettings { platform: "cli", toolsets, ..PlatformSettings::default() };
        let plan = platform_selection(catalog, &settings).unwrap().plan(catalog).unwrap();
        plan.tools().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_server_and_a_tool_of_one_are_switched_off_although_nothing_names_them() {
        let catalog = foreign();

        assert_eq!(
            lists(None).without(&catalog, "cli", "mcp__gh__drop").unwrap(),
            lists(Some(&["hermes-cli", "!mcp__gh__drop"]))
        );
        assert_eq!(
            lists(None).without(&catalog, "cli", "new").unwrap(),
            lists(Some(&["hermes-cli", "!new"]))
        );
        let off = lists(None).without(&catalog, "cli", "mcp-gh").unwrap();
        assert_eq!(present(&catalog, &off), ["paint", "read_file", "web_extract", "web_search"]);
        assert_eq!(off.with(&catalog, "cli", "gh").unwrap(), lists(Some(&["hermes-cli"])));
    }

    #[test]
    fn a_switch_changes_what_it_names_and_nothing_else() {
        let catalog = foreign();
        let some: [Option<&[&str]>; 9] = [
            None,
            Some(&[]),
            Some(&["hermes-cli"]),
            Some(&["web"]),
            Some(&["web", "gh"]),
            Some(&["web", "mcp__gh__find"]),
            Some(&["web", "no_mcp"]),
            Some(&["gh", "art"]),
            Some(&["hermes-cli", "!web", "!mcp-gh"]),
        ];
        for list in some {
            for name in ["web", "web_extract", "gh", "mcp-gh", "new", "mcp__gh__find", "art", "paint"] {
                let before = present(&catalog, &lists(list));
                let named = tools_of(&catalog, name).unwrap();
                let others = |all: Vec<String>| -> Vec<String> {
                    all.into_iter().filter(|tool| !named.contains(tool)).collect()
                };

                let off = present(&catalog, &lists(list).without(&catalog, "cli", name).unwrap());
                let on = present(&catalog, &lists(list).with(&catalog, "cli", name).unwrap());

                assert!(!off.iter().any(|tool| named.contains(tool)), "{list:?} without {name}: {off:?}");
                assert_eq!(others(off), others(before.clone()), "{list:?} without {name}");
                assert_eq!(others(on), others(before), "{list:?} with {name}");
            }
        }
    }

    #[test]
    fn an_unknown_name_or_platform_is_an_error() {
        assert!(lists(None).without(&catalog(), "cli", "wbe").is_err());
        assert!(lists(None).with(&catalog(), "clli", "web").is_err());
    }
}
