//! `Plan`: the tools a session has, sealed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::decide::Decision;
use super::{Catalog, Selection, SelectionError, UnknownName};

/// The tools a session has: sorted, without doubles, cheap to clone and to ask.
///
/// Two plans are equal when they have, and lack, the same tools, whatever selections led there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan {
    key: PlanKey,
}

/// What a cache keeps plans apart by. Keys are equal when the plans are, exactly: it compares
/// names, and a digest only saves it the trouble most of the time.
#[derive(Debug, Clone)]
pub struct PlanKey {
    digest: u64,
    tools: Arc<[Arc<str>]>,
    lacking: Arc<[Lacking]>,
    handed: Arc<[Arc<str>]>,
}

/// A tool that was chosen, and that this session cannot have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lacking {
    /// Its name.
    pub tool: Arc<str>,
    /// What it would need.
    pub why: Arc<str>,
}

impl Plan {
    /// The tools that `selection` brings in, of those in `catalog`.
    pub fn new(catalog: &Catalog, selection: &Selection) -> Result<Plan, SelectionError> {
        let decision = Decision::of(catalog, selection)?;
        let tools = decision.tools().filter_map(|tool| catalog.registered(tool)).map(Arc::clone);
        Ok(Plan::sealed(tools.collect(), Arc::default(), Arc::default()))
    }

    /// Every registered tool.
    pub fn of_all(catalog: &Catalog) -> Plan {
        let tools = catalog.tools().map(|(tool, _)| Arc::clone(tool)).collect();
        Plan::sealed(tools, Arc::default(), Arc::default())
    }

    /// The same without the tools for which `why_not` has an answer; it is kept for whoever asks.
    pub fn without(self, why_not: impl Fn(&str) -> Option<String>) -> Plan {
        let lacking: Vec<Lacking> = self
            .tools()
            .iter()
            .filter_map(|tool| Some(Lacking { why: why_not(tool)?.into(), tool: Arc::clone(tool) }))
            .collect();
        if lacking.is_empty() {
            return self;
        }
        let stays = |tool: &&Arc<str>| !lacking.iter().any(|gone| gone.tool == **tool);
        let tools = self.tools().iter().filter(stays).map(Arc::clone).collect();
        let known = self.key.lacking.iter().cloned();
        let lacking = known.chain(lacking.iter().cloned()).collect();
        Plan::sealed(tools, lacking, self.key.handed)
    }

    /// The same, where those tools are open that `is_handed` names: the session has what they need, whatever
    /// keys or programs are there.
    pub fn with_handed(self, is_handed: impl Fn(&str) -> bool) -> Plan {
        let handed: Arc<[Arc<str>]> = self.tools().iter().filter(|tool| is_handed(tool)).cloned().collect();
        if handed.is_empty() {
            return self;
        }
        Plan::sealed(self.key.tools, self.key.lacking, handed)
    }

    /// Whether the session was handed what this tool needs.
    pub fn is_handed(&self, tool: &str) -> bool {
        self.key.handed.iter().any(|name| name.as_ref() == tool)
    }

    /// The names are in order and distinct, as a decision has them.
    fn sealed(tools: Arc<[Arc<str>]>, lacking: Arc<[Lacking]>, handed: Arc<[Arc<str>]>) -> Plan {
        let mut hasher = DefaultHasher::new();
        (&tools, &lacking, &handed).hash(&mut hasher);
        Plan { key: PlanKey { digest: hasher.finish(), tools, lacking, handed } }
    }

    /// The tools that were chosen and that this session cannot have.
    pub fn lacking(&self) -> &[Lacking] {
        &self.key.lacking
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
        let same_lists = Arc::ptr_eq(&self.tools, &other.tools)
            && Arc::ptr_eq(&self.lacking, &other.lacking)
            && Arc::ptr_eq(&self.handed, &other.handed);
        let equal = |own: &PlanKey, its: &PlanKey| {
            own.tools == its.tools && own.lacking == its.lacking && own.handed == its.handed
        };
        same_lists || (self.digest == other.digest && equal(self, other))
    }
}

impl Eq for PlanKey {}

impl Hash for PlanKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}
