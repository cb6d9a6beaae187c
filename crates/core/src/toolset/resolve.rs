//! From a name to its tools: a toolset's own, and those of every toolset it includes.
//!
//! The walk goes breadth first and visits each toolset once, so circles and toolsets reached
//! twice cost nothing and are no error, and the chain it remembers for a tool is a shortest one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::catalog::{Catalog, Entry, Meaning};
use super::{SelectionError, UnknownName};

/// A tool, and how it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The tool.
    pub tool: Arc<str>,
    /// The toolsets that lead to it: the one asked for first, the one that has the tool last.
    /// Empty when the tool itself was asked for.
    pub chain: Vec<Arc<str>>,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The tools that are registered, in order.
    pub tools: Vec<Member>,
    /// The tools that are named but not registered, in order. They are not used.
    pub missing: Vec<Member>,
    /// The includes that lead nowhere: the last name of each chain is not a toolset.
    pub dangling: Vec<Vec<Arc<str>>>,
}

impl Catalog {
    /// The tools of a toolset, an alias, an old name, a tool, or `all`.
    pub fn resolve(&self, name: &str) -> Result<Resolution, SelectionError> {
        let meaning = self.meaning(name).ok_or_else(|| SelectionError::Unknown(vec![self.unknown(name)]))?;
        let walk = Walk::of(self, name, meaning);
        let members = |registered: bool| {
            let wanted = walk.found.iter().filter(|(tool, _)| self.home(tool).is_some() == registered);
            wanted.map(|(&tool, &at)| Member { tool: tool.into(), chain: walk.chain(at) }).collect()
        };
        Ok(Resolution { tools: members(true), missing: members(false), dangling: walk.dangling_chains() })
    }
}

/// The toolsets a walk came through, and the tools it found.
#[derive(Debug, Default)]
pub(super) struct Walk<'a> {
    steps: Vec<Step<'a>>,
    /// Each tool with the step that had it first; no step for a tool that was asked for itself.
    pub(super) found: BTreeMap<&'a str, Option<usize>>,
    dangling: Vec<(usize, &'a str)>,
}

#[derive(Debug)]
struct Step<'a> {
    name: &'a str,
    from: Option<usize>,
}

impl<'a> Walk<'a> {
    pub(super) fn of(catalog: &'a Catalog, name: &'a str, meaning: Meaning<'a>) -> Walk<'a> {
        let mut walk = Walk::default();
        match meaning {
            Meaning::Everything => walk.everything(catalog, name),
            Meaning::Toolset(entry) => walk.includes(catalog, entry),
            Meaning::Legacy(tools) => {
                let at = walk.step(name, None);
                walk.found.extend(tools.iter().map(|&tool| (tool, Some(at))));
            }
            Meaning::Tool => _ = walk.found.insert(name, None),
        }
        walk
    }

    /// Each registered tool by way of its own toolset, then what is missing by way of the
    /// first toolset that names it.
    fn everything(&mut self, catalog: &'a Catalog, name: &'a str) {
        let root = self.step(name, None);
        let mut steps: BTreeMap<&str, usize> = BTreeMap::new();
        let registered = catalog.tools().map(|(tool, home)| (home.as_ref(), tool.as_ref()));
        let named =
            catalog.entries().flat_map(|entry| entry.tools().map(move |tool| (entry.name.as_ref(), tool)));
        for (toolset, tool) in registered.chain(named) {
            if !self.found.contains_key(tool) {
                let at = *steps.entry(toolset).or_insert_with(|| self.step(toolset, Some(root)));
                self.found.insert(tool, Some(at));
            }
        }
    }

    fn includes(&mut self, catalog: &'a Catalog, entry: &'a Entry) {
        let mut seen = BTreeSet::from([entry.name.as_ref()]);
        let mut waiting = VecDeque::from([(entry, None)]);
        while let Some((entry, from)) = waiting.pop_front() {
            let at = self.step(&entry.name, from);
            for tool in entry.tools() {
                self.found.entry(tool).or_insert(Some(at));
            }
            for name in entry.includes() {
                match catalog.toolset(name) {
                    Some(next) if seen.insert(&next.name) => waiting.push_back((next, Some(at))),
                    Some(_) => {}
                    None => self.dangling.push((at, name)),
                }
            }
        }
    }

    fn step(&mut self, name: &'a str, from: Option<usize>) -> usize {
        self.steps.push(Step { name, from });
        self.steps.len() - 1
    }

    /// The names that lead to a step, the first one first.
    pub(super) fn chain(&self, at: Option<usize>) -> Vec<Arc<str>> {
        let steps =
            std::iter::successors(at.and_then(|at| self.steps.get(at)), |step| self.steps.get(step.from?));
        let mut chain: Vec<_> = steps.map(|step| Arc::from(step.name)).collect();
        chain.reverse();
        chain
    }

    fn dangling_chains(&self) -> Vec<Vec<Arc<str>>> {
        let whole = |&(at, name): &(usize, &str)| {
            let mut chain = self.chain(Some(at));
            chain.push(name.into());
            chain
        };
        self.dangling.iter().map(whole).collect()
    }
}

/// Looks all `names` up; the error tells every one that is not known.
pub(super) fn look_up<'a, 'n>(
    catalog: &'a Catalog,
    names: impl IntoIterator<Item = &'n str>,
    unknown: &mut Vec<UnknownName>,
) -> Vec<(&'n str, Meaning<'a>)> {
    let mut found = Vec::new();
    for name in names {
        match catalog.meaning(name) {
            Some(meaning) => found.push((name, meaning)),
            None => unknown.push(catalog.unknown(name)),
        }
    }
    found
}
