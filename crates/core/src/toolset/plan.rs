//! `Plan`: the tools a session has, sealed.

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

/// What a cache keeps plans apart by. Keys are equal when the plans are, exactly: it compares names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanKey {
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
        Ok(Plan::of_tools(decision.tools()))
    }

    /// Every registered tool.
    pub fn of_all(catalog: &Catalog) -> Plan {
        Plan::of_tools(catalog.tools().map(|(tool, _)| tool))
    }

    /// This tool and no other.
    pub fn of_one(tool: &str) -> Plan {
        Plan::of_tools([&tool.into()].into_iter())
    }

    /// The names are in order and distinct, as a decision has them.
    fn of_tools<'a>(tools: impl Iterator<Item = &'a Arc<str>>) -> Plan {
        let tools = tools.map(Arc::clone).collect();
        Plan { key: PlanKey { tools, lacking: Arc::default(), handed: Arc::default() } }
    }

    /// The same without the tools for which `why_not` has an answer; it is kept for whoever asks.
    pub fn without(mut self, why_not: impl Fn(&str) -> Option<String>) -> Plan {
        let lacking: Vec<Lacking> = self
            .tools()
            .iter()
            .filter_map(|tool| Some(Lacking { why: why_not(tool)?.into(), tool: Arc::clone(tool) }))
            .collect();
        if lacking.is_empty() {
            return self;
        }
        // Both are in the same order.
        let mut gone = lacking.iter().peekable();
        let stays = |tool: &&Arc<str>| gone.next_if(|gone| gone.tool == **tool).is_none();
        self.key.tools = self.tools().iter().filter(stays).map(Arc::clone).collect();
        self.key.lacking = self.key.lacking.iter().chain(&lacking).cloned().collect();
        self
    }

    /// The same, where those tools are open that `is_handed` names: the session has what they need, whatever
    /// keys or programs are there.
    pub fn with_handed(mut self, is_handed: impl Fn(&str) -> bool) -> Plan {
        let handed: Arc<[Arc<str>]> = self.tools().iter().filter(|tool| is_handed(tool)).cloned().collect();
        if !handed.is_empty() {
            self.key.handed = handed;
        }
        self
    }

    /// Whether the session was handed what this tool needs.
    pub fn is_handed(&self, tool: &str) -> bool {
        self.key.handed.iter().any(|name| name.as_ref() == tool)
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
