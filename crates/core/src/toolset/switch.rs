//! Switching a toolset or a tool on or off for one platform: what its list has to say then.
//!
//! Pure: from the list as it is to the list as it should be. Writing it is somebody else's work.

use super::{Catalog, SelectionError};

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
        lists.disabled_toolsets.retain(|known| known != name);
        lists.disabled_tools.retain(|known| known != name);
        let mut list = self.list_or_preset(catalog, platform)?;
        list.retain(|known| known.strip_prefix('!') != Some(name));
        let comes_unasked = catalog.built_in(name).is_none_or(|toolset| !toolset.default_off);
        let is_there =
            list.iter().any(|known| known == name) || (comes_unasked && reaches_all(catalog, &list, name)?);
        if !is_there {
            list.push(name.to_owned());
        }
        lists.settle(self, catalog, platform, list)
    }

    /// The lists with `name` switched off for the platform.
    pub fn without(&self, catalog: &Catalog, platform: &str, name: &str) -> Result<Self, SelectionError> {
        let mut list = self.list_or_preset(catalog, platform)?;
        list.retain(|known| known != name);
        let refusal = format!("!{name}");
        if !list.contains(&refusal) && reaches_any(catalog, &list, name)? {
            list.push(refusal);
        }
        if list.iter().all(|known| known.starts_with('!')) {
            // A list that only leaves things out leaves nothing.
            list.clear();
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

/// The tools a name stands for, built or not.
fn tools(catalog: &Catalog, name: &str) -> Result<Vec<String>, SelectionError> {
    let found = catalog.resolve(name)?;
    Ok(found.tools.iter().chain(&found.missing).map(|member| member.tool.to_string()).collect())
}

/// The tools that the positive names of a list bring in.
fn brought(catalog: &Catalog, list: &[String]) -> Result<Vec<String>, SelectionError> {
    let mut all = Vec::new();
    for name in list.iter().filter(|name| !name.starts_with('!') && *name != super::platform::NO_MCP) {
        all.extend(tools(catalog, name)?);
    }
    Ok(all)
}

fn reaches_all(catalog: &Catalog, list: &[String], name: &str) -> Result<bool, SelectionError> {
    let all = brought(catalog, list)?;
    Ok(tools(catalog, name)?.iter().all(|tool| all.contains(tool)))
}

fn reaches_any(catalog: &Catalog, list: &[String], name: &str) -> Result<bool, SelectionError> {
    let all = brought(catalog, list)?;
    Ok(tools(catalog, name)?.iter().any(|tool| all.contains(tool)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::toolset::{CatalogParts, Toolset};

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

    #[test]
    fn an_unknown_name_or_platform_is_an_error() {
        assert!(lists(None).without(&catalog(), "cli", "wbe").is_err());
        assert!(lists(None).with(&catalog(), "clli", "web").is_err());
    }
}
