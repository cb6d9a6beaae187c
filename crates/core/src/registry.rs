//! The registry: an immutable snapshot of all tools, behind an atomic pointer.
//!
//! Every source (the built-ins, a plugin, an MCP server, an embedder) owns one scope, installed
//! whole or not at all; one that may come in parts goes without the tools that are refused, and what
//! else is in it stays. A reader takes the snapshot and keeps it; a writer makes the next one.
//! When a scope goes, what it had overridden comes back.

mod refused;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

use crate::digest::ByName;
use crate::hook::Hook;
use crate::names::OF_SERVERS;
use crate::tool::{ToolDef, ToolEntry};
use crate::toolset::{Catalog, DynamicToolset, Toolset};

pub use refused::RegisterError;

/// Who registered something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Source {
    /// This program.
    BuiltIn,
    /// A plugin, or a tool file, by name.
    Plugin(String),
    /// An MCP server, by name.
    Mcp(String),
    /// The program that embeds the runtime, by a name of its choice.
    Embedder(String),
}

/// Everything one source contributes.
#[derive(Clone)]
pub struct Scope {
    source: Source,
    tools: Vec<Arc<ToolEntry>>,
    toolsets: &'static [&'static Toolset],
    core: &'static [&'static str],
    dynamic_toolsets: Vec<DynamicToolset>,
    platforms: Vec<Arc<str>>,
    hooks: Vec<Arc<dyn Hook>>,
    in_parts: bool,
}

/// All tools at one moment.
pub struct Snapshot {
    generation: u64,
    scopes: Vec<Arc<Scope>>,
    tools: Tools,
    /// Made when somebody first asks: a snapshot that is changed at once never needs it.
    catalog: OnceLock<Catalog>,
    hooks: Vec<Arc<dyn Hook>>,
}

/// In order in every snapshot.
type Tools = ByName<Registered>;

/// The owner of a name, and who came later and may not have it.
type Clash = (Registered, Registered);

#[derive(Clone)]
struct Registered {
    entry: Arc<ToolEntry>,
    scope: Arc<Scope>,
}

/// Holds the current snapshot.
pub struct Registry {
    current: ArcSwap<Snapshot>,
    // Writers take turns; readers never wait.
    writing: Mutex<()>,
}

/// What installing a scope did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The generation it is part of.
    pub generation: u64,
    /// Tools that were not there before.
    pub added: Vec<String>,
    /// Tools that stand in for others, with the source they took over from.
    pub replaced: Vec<(String, Source)>,
}

impl Scope {
    /// An empty scope.
    pub fn new(source: Source) -> Self {
        Self {
            source,
            tools: Vec::new(),
            toolsets: &[],
            core: &[],
            dynamic_toolsets: Vec::new(),
            platforms: Vec::new(),
            hooks: Vec::new(),
            in_parts: false,
        }
    }

    /// The scope of this program's own tools; the core ones are those most presets share.
    pub fn built_in(
        tools: &[&'static ToolDef],
        toolsets: &'static [&'static Toolset],
        core: &'static [&'static str],
    ) -> Self {
        let tools = tools.iter().map(|def| Arc::new(ToolEntry::from(*def))).collect();
        Self { tools, toolsets, core, ..Self::new(Source::BuiltIn) }
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: ToolEntry) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a toolset that exists as long as the scope does.
    pub fn toolset(mut self, toolset: DynamicToolset) -> Self {
        // Most scopes have one, and there may be many scopes.
        self.dynamic_toolsets.reserve_exact(1);
        self.dynamic_toolsets.push(toolset);
        self
    }

    /// Adds a platform, which gets the preset `hermes-<platform>`.
    pub fn platform(mut self, name: impl Into<Arc<str>>) -> Self {
        self.platforms.push(name.into());
        self
    }

    /// Adds a hook.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Lets it come without the tools that are refused, instead of not at all: the hooks of a plugin must
    /// not go because of a name.
    pub fn in_parts(mut self) -> Self {
        self.in_parts = true;
        self
    }

    fn check(&self) -> Result<(), RegisterError> {
        let mut seen: Vec<&str> = Vec::with_capacity(self.tools.len());
        for tool in &self.tools {
            self.check_name(tool.name())?;
            seen.push(tool.name());
        }
        seen.sort_unstable();
        match seen.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => Err(self.twice(pair.first().copied().unwrap_or_default())),
            None => Ok(()),
        }
    }

    fn check_name(&self, name: &str) -> Result<(), RegisterError> {
        if !is_tool_name(name) {
            return Err(RegisterError::BadName { name: name.to_owned(), source_name: self.source.clone() });
        }
        if crate::bridge::is_bridge(name) {
            return Err(RegisterError::Reserved { name: name.to_owned(), source_name: self.source.clone() });
        }
        if name.starts_with(OF_SERVERS) && !matches!(self.source, Source::Mcp(_)) {
            return Err(RegisterError::OfServers { name: name.to_owned(), source_name: self.source.clone() });
        }
        Ok(())
    }

    /// The same without the tool of this name.
    fn without(&self, name: &str) -> Self {
        let tools = self.tools.iter().filter(|tool| &**tool.name() != name).cloned().collect();
        Self { tools, ..self.clone() }
    }

    fn twice(&self, name: &str) -> RegisterError {
        RegisterError::Twice { name: name.to_owned(), source_name: self.source.clone() }
    }

    /// Takes out the tools whose names cannot be used, or are used by an earlier one of them.
    fn drop_unusable(&mut self) -> Vec<RegisterError> {
        let mut refused = Vec::new();
        let mut at = 0;
        while let Some(name) = self.tools.get(at).map(|tool| tool.name()) {
            let is_used = || self.tools.iter().take(at).any(|earlier| earlier.name() == name);
            match self.check_name(name).err().or_else(|| is_used().then(|| self.twice(name))) {
                Some(wrong) => {
                    refused.push(wrong);
                    self.tools.remove(at);
                }
                None => at += 1,
            }
        }
        refused
    }
}

/// Letters, digits, `_` and `-`, at most 64 of them: what every model provider accepts.
fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

impl Snapshot {
    /// All tools of these scopes. A later scope takes a name over where it may; where it may not,
    /// the clash is told and the earlier scope keeps the name.
    fn owners(scopes: &[Arc<Scope>]) -> (Tools, Vec<Clash>) {
        let mut tools = Tools::default();
        let mut clashes = Vec::new();
        for scope in scopes {
            for entry in &scope.tools {
                let registered = Registered::new(entry, scope);
                match tools.get(entry.name()).filter(|owner| !may_replace(owner, entry, &scope.source)) {
                    Some(owner) => clashes.push((owner.clone(), registered)),
                    None => _ = tools.insert(Arc::clone(entry.name()), registered),
                }
            }
        }
        (tools, clashes)
    }

    fn of(generation: u64, scopes: Vec<Arc<Scope>>, mut tools: Tools) -> Self {
        tools.sort_keys();
        let mut hooks: Vec<_> = scopes.iter().flat_map(|scope| scope.hooks.iter().cloned()).collect();
        hooks.sort_by_key(|hook| hook.order());
        Self { generation, scopes, tools, catalog: OnceLock::new(), hooks }
    }

    /// Counts the changes since the start.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// A tool by its exact name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ToolEntry>> {
        self.tools.get(name).map(|tool| &tool.entry)
    }

    /// Who registered a tool.
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.tools.get(name).map(Registered::source)
    }

    /// All tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<ToolEntry>> {
        self.tools.values().map(|tool| &tool.entry)
    }

    /// The toolsets, and which tool is in which.
    pub fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| {
            let scopes = || self.scopes.iter();
            // Only this program's own scope brings static toolsets.
            let toolsets = scopes().map(|scope| scope.toolsets).find(|list| !list.is_empty());
            let core = scopes().map(|scope| scope.core).find(|list| !list.is_empty());
            Catalog::of(
                toolsets.unwrap_or_default(),
                core.unwrap_or_default(),
                scopes().flat_map(|scope| &scope.dynamic_toolsets),
                scopes().flat_map(|scope| &scope.platforms),
                self.tools().map(|tool| (Arc::clone(tool.name()), Arc::clone(tool.toolset()))).collect(),
            )
        })
    }

    /// The hooks of all sources, in the order they run.
    pub fn hooks(&self) -> &[Arc<dyn Hook>] {
        &self.hooks
    }
}

impl Registered {
    fn new(entry: &Arc<ToolEntry>, scope: &Arc<Scope>) -> Self {
        Self { entry: Arc::clone(entry), scope: Arc::clone(scope) }
    }

    fn source(&self) -> &Source {
        &self.scope.source
    }
}

fn may_replace(owner: &Registered, entry: &ToolEntry, source: &Source) -> bool {
    entry.may_override() || matches!((owner.source(), source), (Source::Mcp(_), Source::Mcp(_)))
}

impl Registry {
    /// A registry with nothing but this scope.
    pub fn new(first: Scope) -> Result<Self, RegisterError> {
        first.check()?;
        let scopes = vec![Arc::new(first)];
        let (tools, _) = Snapshot::owners(&scopes);
        let snapshot = Snapshot::of(1, scopes, tools);
        Ok(Self { current: ArcSwap::from_pointee(snapshot), writing: Mutex::default() })
    }

    /// The tools at this moment.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Installs a scope whole, in place of the one the same source had before.
    pub fn install(&self, scope: Scope) -> Result<Installed, RegisterError> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.snapshot();
        let mut next = Next::after(&before, &[]);
        let (scope, refused) = next.join(scope)?;
        let after = self.swap(&before, next);
        in_full(refused)?;
        Ok(report(&before, &after, &scope))
    }

    /// Takes sources away and installs scopes, each whole or not at all unless it comes in parts, as one
    /// change: who looks sees all of it or nothing. Says of each scope whether anything of it was
    /// refused.
    pub fn change(&self, gone: &[Source], new: Vec<Scope>) -> Vec<Result<(), RegisterError>> {
        if gone.is_empty() && new.is_empty() {
            return Vec::new();
        }
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.snapshot();
        let mut next = Next::after(&before, gone);
        let joined: Vec<_> = new.into_iter().map(|scope| next.join(scope)).collect();
        self.swap(&before, next);
        joined.into_iter().map(|done| done.and_then(|(_, refused)| in_full(refused))).collect()
    }

    /// Takes a source's scope away; `false` when it had none.
    pub fn remove(&self, source: &Source) -> bool {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.snapshot();
        let next = Next::after(&before, std::slice::from_ref(source));
        let known = next.scopes.len() < before.scopes.len();
        if known {
            self.swap(&before, next);
        }
        known
    }

    fn swap(&self, before: &Snapshot, next: Next) -> Arc<Snapshot> {
        let after = Arc::new(Snapshot::of(before.generation + 1, next.scopes, next.tools));
        self.current.store(Arc::clone(&after));
        after
    }
}

/// The scopes of the next snapshot, while they are put together, and who has which name among them.
struct Next {
    scopes: Vec<Arc<Scope>>,
    tools: Tools,
}

impl Next {
    /// Those of a snapshot without some sources.
    fn after(before: &Snapshot, gone: &[Source]) -> Self {
        if gone.is_empty() {
            return Self { scopes: before.scopes.clone(), tools: before.tools.clone() };
        }
        let scopes: Vec<_> =
            before.scopes.iter().filter(|scope| !gone.contains(&scope.source)).cloned().collect();
        let (tools, _) = Snapshot::owners(&scopes);
        Self { scopes, tools }
    }

    /// Adds a scope, or puts it in place of the one its source had. A scope that is refused leaves
    /// nothing behind; one that comes in parts is never refused, but some of its tools may be.
    fn join(&mut self, mut scope: Scope) -> Result<(Arc<Scope>, Vec<RegisterError>), RegisterError> {
        let mut refused = Vec::new();
        if scope.in_parts {
            refused = scope.drop_unusable();
        } else {
            scope.check()?;
        }
        let mut scope = Arc::new(scope);
        let place = self.scopes.iter().position(|known| known.source == scope.source);
        while let Some(owner) = self.clashing(&scope, place) {
            let wrong = taken(&owner, &scope.source);
            if !scope.in_parts {
                return Err(wrong);
            }
            refused.push(wrong);
            scope = Arc::new(scope.without(owner.entry.name()));
        }
        self.put(&scope, place);
        Ok((scope, refused))
    }

    /// The other tool for which a scope cannot be taken as it is.
    fn clashing(&self, scope: &Arc<Scope>, place: Option<usize>) -> Option<Registered> {
        if let Some(at) = place {
            return clash(&self.with(scope, at), &scope.source);
        }
        // The last in the row can only clash with those before it.
        let owner = |entry: &Arc<ToolEntry>| {
            self.tools.get(entry.name()).filter(|owner| !may_replace(owner, entry, &scope.source))
        };
        scope.tools.iter().find_map(owner).cloned()
    }

    fn put(&mut self, scope: &Arc<Scope>, place: Option<usize>) {
        if let Some(at) = place {
            self.scopes = self.with(scope, at);
            (self.tools, _) = Snapshot::owners(&self.scopes);
            return;
        }
        for entry in &scope.tools {
            self.tools.insert(Arc::clone(entry.name()), Registered::new(entry, scope));
        }
        self.scopes.push(Arc::clone(scope));
    }

    /// The scopes with another one at this place.
    fn with(&self, scope: &Arc<Scope>, at: usize) -> Vec<Arc<Scope>> {
        let mut scopes = self.scopes.clone();
        if let Some(known) = scopes.get_mut(at) {
            *known = Arc::clone(scope);
        }
        scopes
    }
}

/// Whether all of a scope was taken.
fn in_full(refused: Vec<RegisterError>) -> Result<(), RegisterError> {
    if refused.is_empty() { Ok(()) } else { Err(RegisterError::InPart(refused)) }
}

/// From whom a newcomer would take a name unasked, or who would take one from it. Clashes between
/// others are not its fault: one can appear when a source goes on which another stood.
fn clash(scopes: &[Arc<Scope>], newcomer: &Source) -> Option<Registered> {
    let (_, clashes) = Snapshot::owners(scopes);
    clashes.into_iter().find_map(|(owner, later)| match newcomer {
        source if source == later.source() => Some(owner),
        source if source == owner.source() => Some(later),
        _ => None,
    })
}

fn taken(owner: &Registered, newcomer: &Source) -> RegisterError {
    RegisterError::Taken {
        name: owner.entry.name().to_string(),
        source_name: newcomer.clone(),
        owner_toolset: owner.entry.toolset().to_string(),
        owner: owner.source().clone(),
    }
}

fn report(before: &Snapshot, after: &Snapshot, scope: &Scope) -> Installed {
    let (mut added, mut replaced) = (Vec::new(), Vec::new());
    for tool in &scope.tools {
        if after.source(tool.name()) != Some(&scope.source) {
            // Somebody installed later overrides it.
            continue;
        }
        match before.source(tool.name()) {
            None => added.push(tool.name().to_string()),
            Some(owner) if *owner != scope.source => replaced.push((tool.name().to_string(), owner.clone())),
            Some(_) => {}
        }
    }
    added.sort();
    replaced.sort();
    Installed { generation: after.generation, added, replaced }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("hermes itself"),
            Self::Plugin(name) => write!(f, "plugin `{name}`"),
            Self::Mcp(name) => write!(f, "MCP server `{name}`"),
            Self::Embedder(name) => write!(f, "`{name}`"),
        }
    }
}
