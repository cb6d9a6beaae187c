//! What the model is told about its tools, and the sealed set of tools a session works with.
//!
//! Definitions are built from a plan (which tools were chosen), the registry (what they are) and
//! the gates (which are there now). The same three give the same bytes. A result is shared and
//! never changes; it is found again by (plan, generation, availability epoch, settings).

mod assemble;
mod cache;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;

use crate::bridge::ToolSearch;
use crate::hook::Hook;
use crate::json::Dialect;
use crate::names::{KnownNames, normalise};
use crate::registry::Snapshot;
use crate::tool::{Definition, ToolEntry};
use crate::toolset::Plan;

pub use cache::DefinitionCache;

/// Characters that count as one token in estimates.
const CHARS_PER_TOKEN: usize = 4;

/// What shapes definitions beside the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefinitionSettings {
    /// How schemas are written for the provider.
    pub dialect: Dialect,
    /// When tools are left out and searched for instead.
    pub search: ToolSearch,
    /// Size of the model's context in tokens, when known.
    pub context_tokens: Option<u64>,
}

impl Default for DefinitionSettings {
    fn default() -> Self {
        Self { dialect: Dialect::Lenient, search: ToolSearch::default(), context_tokens: None }
    }
}

/// A tool as it is offered to the model.
#[derive(Clone)]
pub struct Offered {
    entry: Arc<ToolEntry>,
    /// Its definition where that was changed to fit what is offered beside it.
    patched: Option<Arc<Definition>>,
    dialect: Dialect,
    /// Written when somebody first reads it: whoever only wants names does not pay for schemas.
    json: OnceLock<Arc<str>>,
}

impl Offered {
    fn definition(&self) -> &Definition {
        self.patched.as_deref().unwrap_or_else(|| self.entry.definition())
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        self.entry.name()
    }

    /// The registered tool.
    pub fn entry(&self) -> &Arc<ToolEntry> {
        &self.entry
    }

    /// What it is for, in this company.
    pub fn description(&self) -> &str {
        self.patched.as_deref().map_or_else(|| self.entry.description(), |patched| &patched.description)
    }

    /// The schema that arguments are held to.
    pub fn parameters(&self) -> &Value {
        &self.definition().parameters
    }

    /// The definition as the model reads it.
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| match &self.patched {
            Some(patched) => assemble::written(self.name(), patched, self.dialect),
            None => definition_json(&self.entry, self.dialect),
        })
    }

    /// About how many tokens it costs in every request.
    pub fn tokens(&self) -> u64 {
        tokens(self.json())
    }
}

/// A tool of the plan that is not there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// Its name.
    pub name: Arc<str>,
    /// What is missing.
    pub why: Arc<str>,
}

/// The sealed set of tools a session works with.
pub struct Toolbox {
    snapshot: Arc<Snapshot>,
    plan: Arc<Plan>,
    /// In every request, sorted by name.
    offered: Vec<Offered>,
    /// Behind the search bridge, sorted by name.
    deferred: Vec<Offered>,
    unavailable: Vec<Unavailable>,
    /// Written when somebody first reads it.
    json: OnceLock<Arc<str>>,
    /// The names, prepared for look-up when one is first misspelled.
    known: OnceLock<KnownNames>,
    /// Until when, and in which epoch, this is what would be built again.
    epoch: u64,
    until: Duration,
}

impl Toolbox {
    /// The definitions as one JSON array, byte for byte the same for the same plan.
    pub fn json(&self) -> &Arc<str> {
        self.json.get_or_init(|| assemble::write_array(&self.offered))
    }

    /// The tools in every request, sorted by name (the bridge's own come last).
    pub fn offered(&self) -> &[Offered] {
        &self.offered
    }

    /// The tools behind the search bridge, sorted by name.
    pub fn deferred(&self) -> &[Offered] {
        &self.deferred
    }

    /// Tools of the plan that are not there now, with the reason, sorted by name.
    pub fn unavailable(&self) -> &[Unavailable] {
        &self.unavailable
    }

    /// The plan behind it.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The registry it was built from.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// About how many tokens the definitions cost in every request.
    pub fn tokens(&self) -> u64 {
        tokens(self.json())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Offered> {
        let find = |tools: &'_ [Offered]| tools.iter().position(|tool| tool.name().as_ref() == name);
        match find(&self.offered) {
            // `tool_call` has a definition, but it is unwrapped and never called itself.
            Some(_) if name == crate::bridge::CALL => None,
            Some(at) => self.offered.get(at),
            None => self.deferred.get(find(&self.deferred)?),
        }
    }

    /// The tool that a name stands for, whatever its case and separators.
    pub(crate) fn find_spelled(&self, name: &str) -> Option<&Offered> {
        let known = self.known.get_or_init(|| KnownNames::new(self.names()));
        self.find(normalise(name, known)?)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.offered.iter().chain(&self.deferred).map(|tool| tool.name().as_ref())
    }

    pub(crate) fn has_bridge(&self) -> bool {
        !self.deferred.is_empty()
    }

    pub(crate) fn why_unavailable(&self, name: &str) -> Option<&str> {
        self.unavailable.iter().find(|tool| tool.name.as_ref() == name).map(|tool| tool.why.as_ref())
    }

    pub(crate) fn hooks(&self) -> &[Arc<dyn Hook>] {
        self.snapshot.hooks()
    }
}

/// A tool's definition as the model would read it, without looking at what is offered beside it.
pub fn definition_json(entry: &ToolEntry, dialect: Dialect) -> Arc<str> {
    entry.written(dialect, || match entry.fit_schema(dialect) {
        Some(schema) => assemble::spliced(entry.name(), entry.description(), schema),
        None => assemble::written(entry.name(), entry.definition(), dialect),
    })
}

/// About how many tokens that takes in every request.
pub fn definition_tokens(entry: &ToolEntry, dialect: Dialect) -> u64 {
    tokens(&definition_json(entry, dialect))
}

/// About how many tokens a text takes.
fn tokens(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}
