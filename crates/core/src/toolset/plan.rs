//! `Plan`: the tools a session has, sealed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::decide::Decision;
use super::{Catalog, Selection, SelectionError, UnknownName};

/// The tools a session has: sorted, without doubles, cheap to clone and to ask.
///
/// Two plans are equal when they have the same tools, whatever selections led there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan {
    key: PlanKey,
}

/// What a cache keeps plans apart by. Keys are equal when the tools are, exactly: it compares
/// names, and a digest only saves it the trouble most of the time.
#[derive(Debug, Clone)]
pub struct PlanKey {
    digest: u64,
    tools: Arc<[Arc<str>]>,
}

impl Plan {
    /// The tools that `selection` brings in, of those in `catalog`.
    pub fn new(catalog: &Catalog, selection: &Selection) -> Result<Plan, SelectionError> {
        let decision = Decision::of(catalog, selection)?;
        Ok(Plan::sealed(
            decision.tools().filter_map(|tool| catalog.registered(tool)).map(Arc::clone).collect(),
        ))
    }

    /// Every registered tool.
    pub fn of_all(catalog: &Catalog) -> Plan {
        Plan::sealed(catalog.tools().map(|(tool, _)| Arc::clone(tool)).collect())
    }

    /// The names are in order and distinct, as a decision has them.
    fn sealed(tools: Arc<[Arc<str>]>) -> Plan {
        let mut hasher = DefaultHasher::new();
        tools.hash(&mut hasher);
        Plan { key: PlanKey { digest: hasher.finish(), tools } }
    }

    /// The names, sorted.
    pub fn tools(&self) -> &[Arc<str>] {
        &self.key.tools
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools().is_empty()
    }

    /// Whether the session has this tool.
    pub fn contains(&self, tool: &str) -> bool {
        self.get(tool).is_some()
    }

    /// The shared name of a tool, if the session has it.
    pub fn get(&self, tool: &str) -> Option<&Arc<str>> {
        let at = self.tools().binary_search_by(|name| name.as_ref().cmp(tool)).ok()?;
        self.tools().get(at)
    }

    /// The shared name of a tool; the error offers the names that come nearest, of those the
    /// session has.
    pub fn find(&self, tool: &str) -> Result<&Arc<str>, UnknownName> {
        self.get(tool).ok_or_else(|| UnknownName::among(tool, self.tools().iter().map(AsRef::as_ref)))
    }

    /// What a cache keeps this plan apart by.
    pub fn key(&self) -> &PlanKey {
        &self.key
    }
}

impl PartialEq for PlanKey {
    fn eq(&self, other: &PlanKey) -> bool {
        Arc::ptr_eq(&self.tools, &other.tools) || (self.digest == other.digest && self.tools == other.tools)
    }
}

impl Eq for PlanKey {}

impl Hash for PlanKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}
