//! Switching a toolset or a tool on or off for one platform: what its list has to say then.
//!
//! Pure: from the list as it is to the list as it should be. Writing it is somebody else's work. A switch
//! changes what it names and nothing else: what comes in without being named, every plugin and every MCP
//! server, is neither lost nor let in with it.

use super::SelectionError;
use super::catalog::{Catalog, Source};
use super::platform::{self, NO_MCP};
use super::selection::McpServers;

/// What the configuration says about one platform, before or after a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformLists {
    /// `platform_toolsets.<platform>`, if it is there.
    pub toolsets: Option<Vec<String>>,
    /// `agent.disabled_toolsets`, which holds for every platform.
    pub disabled_toolsets: Vec<String>,
    /// `agent.disabled_tools`, which holds for every platform.
    pub disabled_tools: Vec<String>,
}

impl PlatformLists {
    /// The lists with `name` switched on: nothing holds it back any more, and the platform has it.
    pub fn with(&self, catalog: &Catalog, platform: &str, name: &str) -> Result<Self, SelectionError> {
        let mut lists = self.clone();
        let same = |known: &str| is_same(catalog, known, name);
        lists.disabled_toolsets.retain(|known| !same(known));
        lists.disabled_tools.retain(|known| known != name);
        let reach = Reach::new(catalog, platform)?;
        let before = self.list_or_preset(catalog, platform)?;
        let mut list = before.clone();
        list.retain(|known| !known.strip_prefix('!').is_some_and(same));
        let shut = names_server(catalog, name) && list.iter().any(|known| known == NO_MCP);
        if shut {
            // Servers that were named beside it had no effect, and get none.
            list.retain(|known| known != NO_MCP && !names_server(catalog, known));
        }
        let comes_unasked = catalog.built_in(name).is_none_or(|toolset| !toolset.default_off);
        let is_there =
            list.iter().any(|known| same(known)) || (!shut && comes_unasked && reach.all_of(&list, name)?);
        if !is_there {
            list.push(name.to_owned());
        }
        reach.let_no_server_in(&before, &mut list);
        lists.settle(self, catalog, platform, list)
    }

    /// The lists with `name` switched off for the platform.
    pub fn without(&self, catalog: &Catalog, platform: &str, name: &str) -> Result<Self, SelectionError> {
        let reach = Reach::new(catalog, platform)?;
        let before = self.list_or_preset(catalog, platform)?;
        let mut list = before.clone();
        list.retain(|known| !is_same(catalog, known, name));
        reach.let_no_server_in(&before, &mut list);
        let refusal = format!("!{name}");
        if !list.contains(&refusal) && reach.any_of(&list, name)? {
            list.push(refusal);
        }
        if list.iter().all(|known| !is_wanted(known)) {
            // A list that only leaves things out leaves nothing; servers that came by themselves stay by name.
            let servers = reach.servers_that_came(&before, name);
            list.retain(|known| !servers.is_empty() && known != NO_MCP);
            list.splice(0..0, servers);
        }
        self.clone().settle(self, catalog, platform, list)
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

/// Whether two names mean the same toolset or tool: a server is known by two.
fn is_same(catalog: &Catalog, one: &str, other: &str) -> bool {
    let plain = |name| catalog.toolset(name).map_or(name, |entry| entry.name.as_ref());
    one == other || plain(one) == plain(other)
}

/// Whether a name of a list brings something in.
fn is_wanted(name: &str) -> bool {
    !name.starts_with('!') && name != NO_MCP
}

/// Whether a name is that of an MCP server or of a tool of one.
fn names_server(catalog: &Catalog, name: &str) -> bool {
    catalog.is_mcp(name) || (catalog.toolset(name).is_none() && catalog.mcp_owner(name).is_some())
}

/// The tools a name stands for, built or not.
fn tools(catalog: &Catalog, name: &str) -> Result<Vec<String>, SelectionError> {
    let found = catalog.resolve(name)?;
    Ok(found.tools.iter().chain(&found.missing).map(|member| member.tool.to_string()).collect())
}

/// What lists of a platform bring in, what they leave out aside.
struct Reach<'a> {
    catalog: &'a Catalog,
    platform: &'a str,
    restricted: bool,
}

impl<'a> Reach<'a> {
    fn new(catalog: &'a Catalog, platform: &'a str) -> Result<Self, SelectionError> {
        let preset = catalog.preset(platform).map_err(SelectionError::Platform)?;
        let restricted = preset.fixed.is_some_and(|toolset| toolset.restricted);
        Ok(Self { catalog, platform, restricted })
    }

    fn servers(&self, list: &[String]) -> McpServers {
        platform::servers(self.catalog, self.restricted, list.iter().map(String::as_str))
    }

    /// The tools that a list brings in.
    fn brought(&self, list: &[String]) -> Result<Vec<String>, SelectionError> {
        let mut all = Vec::new();
        for name in list.iter().filter(|name| is_wanted(name)) {
            all.extend(tools(self.catalog, name)?);
        }
        let servers = self.servers(list);
        let preset = self.catalog.preset(self.platform).map_err(SelectionError::Platform)?;
        let plugins = !self.restricted && list.iter().any(|name| is_same(self.catalog, name, &preset.name));
        for entry in self.catalog.entries() {
            let comes = match entry.source {
                Source::Mcp => servers == McpServers::Every,
                Source::Plugin => plugins,
                Source::BuiltIn => false,
            };
            if comes {
                all.extend(tools(self.catalog, &entry.name)?);
            }
        }
        if servers == McpServers::Never {
            all.retain(|tool| self.catalog.mcp_owner(tool).is_none());
        }
        Ok(all)
    }

    /// Whether a name is that of a server that comes in without being named, or of a tool of one. What it offers
    /// may not be known yet.
    fn comes_by_itself(&self, list: &[String], name: &str) -> bool {
        names_server(self.catalog, name) && self.servers(list) == McpServers::Every
    }

    fn all_of(&self, list: &[String], name: &str) -> Result<bool, SelectionError> {
        let (wanted, all) = (tools(self.catalog, name)?, self.brought(list)?);
        let whole = !wanted.is_empty() && wanted.iter().all(|tool| all.contains(tool));
        Ok(whole || self.comes_by_itself(list, name))
    }

    fn any_of(&self, list: &[String], name: &str) -> Result<bool, SelectionError> {
        let (wanted, all) = (tools(self.catalog, name)?, self.brought(list)?);
        Ok(wanted.iter().any(|tool| all.contains(tool)) || self.comes_by_itself(list, name))
    }

    /// A list without the last server that it named, or with the first name of all, would let every server in.
    fn let_no_server_in(&self, before: &[String], list: &mut Vec<String>) {
        if self.servers(before) != McpServers::Every && self.servers(list) == McpServers::Every {
            list.push(NO_MCP.to_owned());
        }
    }

    /// The servers, but for one, that came in without being named.
    fn servers_that_came(&self, before: &[String], but: &str) -> Vec<String> {
        let came = self.servers(before) == McpServers::Every;
        let servers = self.catalog.entries().filter(|entry| came && entry.source == Source::Mcp);
        servers
            .map(|entry| entry.name.as_ref().to_owned())
            .filter(|name| !is_same(self.catalog, name, but))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::toolset::{CatalogParts, DynamicToolset, PlatformSettings, Toolset, platform_selection};

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
        PlatformLists {
            toolsets: toolsets.map(owned),
            disabled_toolsets: Vec::new(),
            disabled_tools: Vec::new(),
        }
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
                let named = tools(&catalog, name).unwrap();
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
