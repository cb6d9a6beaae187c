//! `Catalog`: what toolsets and tools there are at one moment.
//!
//! It is made from plain values, by a snapshot of the registry when it is first asked, and never
//! changes itself. Everything about toolsets is answered from it.

use std::sync::Arc;

use super::{Legacy, Toolset, UnknownName};
use crate::digest::ByName;
use crate::names::OF_SERVERS;

/// Names of toolsets that serve a platform begin with this.
pub(super) const PRESET: &str = "hermes-";
/// Names of toolsets that an MCP server brings begin with this.
const MCP: &str = "mcp-";

/// A toolset that came with a plugin, an MCP server or a caller, while running.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DynamicToolset {
    /// Its name. When a built-in toolset has it too, the two are one.
    pub name: Arc<str>,
    /// Tools it names, besides those registered under its name.
    pub tools: Vec<Arc<str>>,
    /// Toolsets whose tools it has too.
    pub includes: Vec<Arc<str>>,
    /// Other names for it. The name of a toolset always wins over an alias.
    pub aliases: Vec<Arc<str>>,
    /// Whether an MCP server brought it.
    pub mcp: bool,
}

impl DynamicToolset {
    /// The toolset of an MCP server: `mcp-<server>`, alias `<server>`.
    ///
    /// A server that is configured but not connected belongs in the catalog too, without
    /// tools: a list that names it is then still a list of the servers that are allowed.
    pub fn mcp(server: &str, tools: Vec<Arc<str>>) -> DynamicToolset {
        DynamicToolset {
            name: format!("{MCP}{server}").into(),
            tools,
            includes: Vec::new(),
            aliases: vec![server.into()],
            mcp: true,
        }
    }
}

/// What a [`Catalog`] is made from.
#[derive(Debug, Clone, Default)]
pub struct CatalogParts {
    /// The built-in toolsets.
    pub toolsets: &'static [&'static Toolset],
    /// The tools that most presets share, and that disabling a preset leaves alone.
    pub core: &'static [&'static str],
    /// Toolsets of plugins, MCP servers and callers.
    pub dynamic: Vec<DynamicToolset>,
    /// Platforms that plugins bring; each gets the preset `hermes-<platform>`.
    pub platforms: Vec<Arc<str>>,
    /// Every registered tool, with the toolset it is registered under.
    pub tools: Vec<(Arc<str>, Arc<str>)>,
}

/// What toolsets and tools there are at one moment.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// In order, like the rest.
    entries: ByName<Entry>,
    aliases: ByName<Arc<str>>,
    /// The registered tools, each with its toolset.
    tools: ByName<Arc<str>>,
    core: &'static [&'static str],
}

/// Everything known under one name.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    /// What its file says, for a built-in one.
    pub(super) fixed: Option<&'static Toolset>,
    /// The tools it has from the start; they are not copied, since most presets share them.
    base: &'static [&'static str],
    /// The tools that came to it; a name may come twice.
    added: Vec<Arc<str>>,
    /// The includes that came to it.
    joined: Vec<Arc<str>>,
    pub(super) source: Source,
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Our own: a file in `toolsets/`, or a built-in tool's.
    BuiltIn,
    /// A plugin, or a caller.
    Plugin,
    /// An MCP server.
    Mcp,
}

impl Entry {
    fn new(name: &Arc<str>) -> Entry {
        Entry {
            name: Arc::clone(name),
            fixed: None,
            base: &[],
            added: Vec::new(),
            joined: Vec::new(),
            source: Source::BuiltIn,
        }
    }

    /// What a built-in toolset's file says, by its name.
    fn of(toolset: &'static Toolset) -> (Arc<str>, Entry) {
        let name = Arc::from(toolset.name);
        let entry = Entry { fixed: Some(toolset), base: toolset.tools, ..Entry::new(&name) };
        (name, entry)
    }

    /// The tools it names itself; a name may come twice.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.base.iter().copied().chain(self.added.iter().map(AsRef::as_ref))
    }

    /// The toolsets it includes; a name may come twice.
    pub(super) fn includes(&self) -> impl Iterator<Item = &str> {
        let fixed = self.fixed.map_or(&[][..], |toolset| toolset.includes);
        fixed.iter().copied().chain(self.joined.iter().map(AsRef::as_ref))
    }

    /// Nobody may add to a restricted toolset: it has what its file says.
    fn is_closed(&self) -> bool {
        self.fixed.is_some_and(|toolset| toolset.restricted)
    }

    /// Disabling it leaves the core tools alone.
    pub(super) fn spares_core(&self) -> bool {
        self.is_preset() || self.fixed.is_some_and(|toolset| toolset.posture)
    }

    pub(super) fn is_preset(&self) -> bool {
        self.name.starts_with(PRESET)
    }
}

/// What a name in a list means.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning<'a> {
    /// `all` or `*`.
    Everything,
    Toolset(&'a Entry),
    /// An old name, which stands for these tools.
    Legacy(&'static [&'static str]),
    /// A tool of this name.
    Tool,
}

impl Catalog {
    /// Puts the parts together. A tool registered twice is under the toolset given last.
    pub fn new(parts: CatalogParts) -> Catalog {
        let CatalogParts { toolsets, core, dynamic, platforms, tools } = parts;
        Catalog::of(toolsets, core, &dynamic, &platforms, tools)
    }

    /// The same from parts that somebody else keeps.
    pub(crate) fn of<'a>(
        toolsets: &[&'static Toolset],
        core: &'static [&'static str],
        dynamic: impl IntoIterator<Item = &'a DynamicToolset>,
        platforms: impl IntoIterator<Item = &'a Arc<str>>,
        mut tools: Vec<(Arc<str>, Arc<str>)>,
    ) -> Catalog {
        // In order from the start: there are many of them, and mostly they are so already.
        tools.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut made = Catalog {
            entries: toolsets.iter().map(|toolset| Entry::of(toolset)).collect(),
            aliases: ByName::default(),
            tools: tools.into_iter().collect(),
            core,
        };
        for toolset in dynamic {
            made.add(toolset);
        }
        made.fence_mcp();
        made.add_registered();
        for platform in platforms {
            made.add_preset(platform);
        }
        made.aliases.retain(|alias, _| !made.entries.contains_key(alias));
        made.aliases.sort_keys();
        made.entries.sort_keys();
        made
    }

    fn add(&mut self, toolset: &DynamicToolset) {
        for alias in &toolset.aliases {
            self.aliases.insert(Arc::clone(alias), Arc::clone(&toolset.name));
        }
        let entry = entry(&mut self.entries, &toolset.name);
        if !entry.is_closed() {
            entry.added.extend_from_slice(&toolset.tools);
            entry.joined.extend_from_slice(&toolset.includes);
        }
        if entry.fixed.is_none() {
            entry.source = if toolset.mcp { Source::Mcp } else { Source::Plugin };
        }
    }

    /// Every tool is in the toolset that it is registered under.
    fn add_registered(&mut self) {
        for (tool, toolset) in &self.tools {
            let entry = entry(&mut self.entries, toolset);
            if !entry.is_closed() {
                entry.added.push(Arc::clone(tool));
            }
        }
    }

    /// The preset of a plugin's platform: the core tools, and what is registered for it.
    fn add_preset(&mut self, platform: &Arc<str>) {
        let name: Arc<str> = format!("{PRESET}{platform}").into();
        if self.entries.contains_key(&name) {
            return;
        }
        let core = self.core;
        let own = self.entries.contains_key(platform).then(|| Arc::clone(platform));
        let entry = entry(&mut self.entries, &name);
        entry.base = core;
        entry.joined.extend(own);
    }

    /// An MCP server speaks for its own tools only: it cannot bring in one that is registered
    /// elsewhere by listing its name.
    fn fence_mcp(&mut self) {
        for entry in self.entries.values_mut().filter(|entry| entry.source == Source::Mcp) {
            let home = &entry.name;
            entry.added.retain(|tool| self.tools.get(tool).is_none_or(|at| at == home));
            entry.joined.clear();
        }
    }

    /// The toolset that `name` is, or is another name for.
    pub(super) fn toolset(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name).or_else(|| self.entries.get(self.aliases.get(name)?))
    }

    /// What `name` means in a list. Toolsets come before tools: `terminal` is the toolset.
    pub(super) fn meaning(&self, name: &str) -> Option<Meaning<'_>> {
        if matches!(name, "all" | "*") {
            return Some(Meaning::Everything);
        }
        if let Some(entry) = self.toolset(name) {
            return Some(Meaning::Toolset(entry));
        }
        if let Some(old) = self.legacy().find(|legacy| legacy.name == name) {
            return Some(Meaning::Legacy(old.tools));
        }
        self.knows_tool(name).then_some(Meaning::Tool)
    }

    /// Whether `name` is a tool: one that is registered, one that a toolset names, or one of
    /// an MCP server that may not have connected yet.
    pub(super) fn knows_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
            || self.entries.values().any(|entry| entry.tools().any(|tool| tool == name))
            || self.legacy().any(|legacy| legacy.tools.contains(&name))
            || self.mcp_owner(name).is_some()
    }

    fn legacy(&self) -> impl Iterator<Item = Legacy> {
        self.entries.values().filter_map(|entry| entry.fixed?.legacy)
    }

    /// The MCP toolset that a tool belongs to, by registration or by its name.
    pub(super) fn mcp_owner(&self, tool: &str) -> Option<&Entry> {
        if let Some(home) = self.tools.get(tool) {
            return self.entries.get(home).filter(|entry| entry.source == Source::Mcp);
        }
        let rest = tool.strip_prefix(OF_SERVERS)?;
        self.entries.values().filter(|entry| entry.source == Source::Mcp).find(|entry| {
            let server = entry.name.strip_prefix(MCP).unwrap_or(&entry.name);
            let server: String =
                server.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            rest.strip_prefix(&server).is_some_and(|rest| rest.starts_with("__"))
        })
    }

    /// An error for a name that means nothing here.
    pub(super) fn unknown(&self, name: &str) -> UnknownName {
        let legacy = self.legacy().map(|legacy| legacy.name);
        let aliases = self.aliases.keys().map(AsRef::as_ref);
        let listed = self.entries.values().filter(|entry| entry.source != Source::Mcp);
        let known =
            listed.map(|entry| entry.name.as_ref()).chain(self.tools().map(|(tool, _)| tool.as_ref()));
        UnknownName::among(name, known.chain(aliases).chain(legacy))
    }

    /// The registered tools in order, each with the toolset it is registered under.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<str>)> {
        self.tools.iter()
    }

    /// The toolset that a registered tool is registered under.
    pub fn home(&self, tool: &str) -> Option<&Arc<str>> {
        self.tools.get(tool)
    }

    /// The names of all toolsets, in order. That of an MCP server is the server's.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mcp = self.aliases.iter().filter(|(_, name)| self.is_mcp(name));
        let (aliases, mut hidden): (Vec<&str>, Vec<&str>) =
            mcp.map(|(alias, name)| (alias.as_ref(), name.as_ref())).unzip();
        hidden.sort_unstable();
        let is_hidden =
            |entry: &Entry| entry.source == Source::Mcp && hidden.binary_search(&&*entry.name).is_ok();
        let own = self.entries().filter(|entry| !is_hidden(entry)).map(|entry| entry.name.as_ref());
        let mut names: Vec<&str> = own.chain(aliases).collect();
        #[expect(clippy::stable_sort_primitive, reason = "it merges the two, which are in order")]
        names.sort();
        names.into_iter()
    }

    /// What the file of a built-in toolset says. An alias works as well.
    pub fn built_in(&self, name: &str) -> Option<&'static Toolset> {
        self.toolset(name)?.fixed
    }

    /// Whether `name` is the toolset of an MCP server, or another name for one.
    pub fn is_mcp(&self, name: &str) -> bool {
        self.toolset(name).is_some_and(|entry| entry.source == Source::Mcp)
    }

    /// Whether `tool` is one of those that most presets share.
    pub fn is_core(&self, tool: &str) -> bool {
        self.core.contains(&tool)
    }

    /// Which of the registered tools this is, counted in their order.
    pub(super) fn place(&self, tool: &str) -> Option<usize> {
        self.tools.get_index_of(tool)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The name of the toolset that a platform gets when nothing is configured.
    pub fn platform_preset(&self, platform: &str) -> Result<&str, UnknownName> {
        self.preset(platform).map(|entry| entry.name.as_ref())
    }

    /// The preset of a platform: the toolset that says so, else the one of that name.
    pub(super) fn preset(&self, platform: &str) -> Result<&Entry, UnknownName> {
        let says_so =
            |entry: &&Entry| entry.fixed.is_some_and(|toolset| toolset.preset_of.contains(&platform));
        let named = || self.entries.get(format!("{PRESET}{platform}").as_str());
        self.entries.values().find(says_so).or_else(named).ok_or_else(|| {
            let fixed = self.entries.values().filter_map(|entry| entry.fixed);
            let listed = fixed.flat_map(|toolset| toolset.preset_of).copied();
            let named = self.entries.keys().filter_map(|name| name.strip_prefix(PRESET));
            UnknownName::among(platform, listed.chain(named))
        })
    }
}

/// What is known under a name, from now on.
fn entry<'a>(entries: &'a mut ByName<Entry>, name: &Arc<str>) -> &'a mut Entry {
    entries.entry(Arc::clone(name)).or_insert_with(|| Entry::new(name))
}
