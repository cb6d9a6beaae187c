//! From `platform_toolsets.<platform>` in the configuration to a selection.
//!
//! | the list | what comes in |
//! |---|---|
//! | absent | the platform's preset, the toolsets it covers, every plugin's toolset and every MCP server |
//! | `[]` | nothing |
//! | `[web]` | `web` and every MCP server |
//! | `[web, gh]`, `gh` an MCP server | `web` and that server: the list says which servers are allowed |
//! | `[web, mcp__gh__search]` | `web` and that one tool of the server |
//! | `[web, no_mcp]` | `web`; no MCP server, even if named |
//! | `[hermes-cli, spotify]` | `spotify`, and all that comes in without a list |
//! | `[web, "!web_extract"]` | `web` without that tool; `!` works for toolsets too |
//! | `["!web"]` | an error: a list begins with what it has |
//! | `[hermes]` | an error that offers the names that come near |
//! | `[discord]` for another platform | an error that says where the toolset works |
//!
//! - A list is exact. Nothing is added to it but MCP servers, and those not to an empty one; a list that has the
//!   platform's own preset has what that brings without a list, the toolsets of plugins too.
//! - A preset *covers* a toolset when it has all of its tools. The covered toolsets are turned
//!   on by name, so a tool that a plugin registers into `web` comes with them.
//! - A preset does not bring toolsets that are off by default, except that of the platform's
//!   own name and those that other settings unlock, nor toolsets of other platforms. `all` brings
//!   the former, never the latter.
//! - On a platform whose preset is restricted nothing comes in that is not named: no plugin, no
//!   MCP server, no tool that somebody registered into one of its toolsets, and `all` does not
//!   name a server.
//! - What `agent.disabled_toolsets` names is out, whatever else is said.
//! - A server that is configured counts as one before it is connected.

use std::collections::BTreeSet;

use super::catalog::{Catalog, Entry, Meaning, Source};
use super::resolve::Walk;
use super::selection::{McpServers, Selection, Withheld, WithheldWhy};
use super::{SelectionError, Toolset, UnknownName};

/// In a list: no MCP server at all.
pub(super) const NO_MCP: &str = "no_mcp";

/// What the configuration says about the tools of a platform.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlatformSettings<'a> {
    /// The platform, such as `cli` or `telegram`.
    pub platform: &'a str,
    /// `platform_toolsets.<platform>`, if it is there.
    pub toolsets: Option<&'a [String]>,
    /// `agent.disabled_toolsets`.
    pub disabled: &'a [String],
    /// Toolsets that are off by default but that other settings turn on, such as
    /// `homeassistant` where there is a token for it.
    pub unlocked: &'a [String],
    /// The session works on a kanban task.
    pub kanban_task: bool,
}

/// The selection for a platform, by the rules of this module.
pub fn platform_selection(
    catalog: &Catalog,
    settings: &PlatformSettings<'_>,
) -> Result<Selection, SelectionError> {
    let preset = catalog.preset(settings.platform).map_err(SelectionError::Platform)?;
    let reading = Reading {
        catalog,
        platform: settings.platform,
        preset,
        restricted: preset.fixed.is_some_and(|toolset| toolset.restricted),
        withheld: withheld(catalog, settings),
    };
    let mut selection = match settings.toolsets {
        None => reading.preset(settings.unlocked),
        Some(list) => reading.list(list)?,
    };
    selection.disabled.extend(settings.disabled.iter().cloned());
    selection.kanban_task = settings.kanban_task;
    selection.withheld = reading.withheld;
    Ok(selection)
}

/// The built-in toolsets that presets do not bring on this platform.
fn withheld(catalog: &Catalog, settings: &PlatformSettings<'_>) -> Vec<Withheld> {
    let why = |toolset: &Toolset| {
        let wanted =
            toolset.name == settings.platform || settings.unlocked.iter().any(|name| name == toolset.name);
        if toolset.works_on(settings.platform) {
            (toolset.default_off && !wanted).then_some(WithheldWhy::DefaultOff)
        } else {
            Some(WithheldWhy::OtherPlatform)
        }
    };
    let fixed = catalog.entries().filter_map(|entry| entry.fixed);
    fixed
        .filter_map(|toolset| Some(Withheld { toolset: toolset.name.to_owned(), why: why(toolset)? }))
        .collect()
}

/// Which MCP servers a list lets in.
pub(super) fn servers<'n>(
    catalog: &Catalog,
    restricted: bool,
    list: impl Iterator<Item = &'n str>,
) -> McpServers {
    let (mut any, mut named) = (false, restricted);
    for name in list.filter(|name| !name.starts_with('!')) {
        if name == NO_MCP {
            return McpServers::Never;
        }
        any = true;
        named |= match catalog.meaning(name) {
            Some(Meaning::Toolset(entry)) => entry.source == Source::Mcp,
            Some(Meaning::Tool) => catalog.mcp_owner(name).is_some(),
            Some(Meaning::Everything | Meaning::Legacy(_)) | None => false,
        };
    }
    if named || !any { McpServers::Named } else { McpServers::Every }
}

/// What is needed to read a platform's list.
struct Reading<'a> {
    catalog: &'a Catalog,
    platform: &'a str,
    preset: &'a Entry,
    restricted: bool,
    withheld: Vec<Withheld>,
}

impl Reading<'_> {
    /// Without a list.
    fn preset(&self, unlocked: &[String]) -> Selection {
        let mut enabled = self.expand(self.preset);
        if !self.restricted {
            let held = |name: &str| self.withheld.iter().any(|withheld| withheld.toolset == name);
            let there = unlocked.iter().filter(|name| self.catalog.toolset(name).is_some() && !held(name));
            enabled.extend(there.cloned());
        }
        let mcp = if self.restricted { McpServers::Named } else { McpServers::Every };
        Selection { mcp, plugins: !self.restricted, ..Selection::of(enabled) }
    }

    /// With a list.
    fn list(&self, list: &[String]) -> Result<Selection, SelectionError> {
        let mut selection = Selection::default();
        let (mut enabled, mut unknown) = (Vec::new(), Vec::new());
        for name in list.iter().map(|name| name.trim()) {
            if name == NO_MCP {
                continue;
            }
            if let Some(name) = name.strip_prefix('!') {
                self.leave_out(name.trim(), &mut selection, &mut unknown);
            } else if let Some(meaning) = self.catalog.meaning(name) {
                selection.plugins |= !self.restricted && self.is_own_preset(meaning);
                enabled.extend(self.take_in(name, meaning)?);
            } else {
                unknown.push(self.catalog.unknown(name));
            }
        }
        if !unknown.is_empty() {
            return Err(SelectionError::Unknown(unknown));
        }
        if enabled.is_empty() && !(selection.disabled.is_empty() && selection.tools_disabled.is_empty()) {
            let preset = self.preset.name.as_ref().to_owned();
            return Err(SelectionError::NothingToLeaveOutOf { platform: self.platform.to_owned(), preset });
        }
        selection.mcp = servers(self.catalog, self.restricted, list.iter().map(|name| name.trim()));
        selection.enabled = Some(enabled);
        Ok(selection)
    }

    /// The names that one name of the list turns on.
    fn take_in(&self, name: &str, meaning: Meaning<'_>) -> Result<Vec<String>, SelectionError> {
        let Meaning::Toolset(entry) = meaning else { return Ok(vec![name.to_owned()]) };
        if let Some(toolset) = entry.fixed.filter(|toolset| !toolset.works_on(self.platform)) {
            return Err(SelectionError::Elsewhere {
                toolset: name.to_owned(),
                platform: self.platform.to_owned(),
                only_on: toolset.only_on.iter().map(|&platform| platform.to_owned()).collect(),
            });
        }
        Ok(if entry.is_preset() { self.expand(entry) } else { vec![name.to_owned()] })
    }

    fn leave_out(&self, name: &str, selection: &mut Selection, unknown: &mut Vec<UnknownName>) {
        match self.catalog.meaning(name) {
            Some(Meaning::Tool) => selection.tools_disabled.push(name.to_owned()),
            Some(_) => selection.disabled.push(name.to_owned()),
            None => unknown.push(self.catalog.unknown(name)),
        }
    }

    fn is_own_preset(&self, meaning: Meaning<'_>) -> bool {
        matches!(meaning, Meaning::Toolset(entry) if entry.name == self.preset.name)
    }

    /// A preset, and the toolsets it covers: those that setup offers, then those that add to
    /// them. On a restricted platform the preset alone.
    fn expand(&self, preset: &Entry) -> Vec<String> {
        let mut names = vec![preset.name.as_ref().to_owned()];
        if self.restricted {
            return names;
        }
        let found = Walk::of(self.catalog, &preset.name, Meaning::Toolset(preset)).found;
        let has: BTreeSet<&str> = found.into_iter().map(|(tool, _)| tool).collect();
        let covered: Vec<&Toolset> =
            self.catalog.entries().filter_map(|entry| self.covered(entry, &has)).collect();
        let (offered, others): (Vec<&Toolset>, Vec<&Toolset>) =
            covered.into_iter().partition(|toolset| toolset.configurable);
        let through: BTreeSet<&str> = offered.iter().flat_map(|toolset| toolset.tools).copied().collect();
        let adding =
            others.into_iter().filter(|other| other.tools.iter().any(|tool| !through.contains(tool)));
        names.extend(offered.iter().copied().chain(adding).map(|toolset| toolset.name.to_owned()));
        names
    }

    /// The built-in toolset of an entry, if `has` has all of it and nothing holds it back.
    fn covered(&self, entry: &Entry, has: &BTreeSet<&str>) -> Option<&'static Toolset> {
        let toolset = entry.fixed.filter(|_| !entry.spares_core())?;
        let whole = !toolset.tools.is_empty() && toolset.includes.is_empty();
        let inside = toolset.tools.iter().all(|&tool| has.contains(tool));
        let held = self.withheld.iter().any(|withheld| withheld.toolset == toolset.name);
        (whole && inside && !held).then_some(toolset)
    }
}
