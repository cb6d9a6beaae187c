//! From a name to its tools: a toolset's own, and those of every toolset it includes.
//!
//! The walk goes breadth first and visits each toolset once, so circles and toolsets reached
//! twice cost nothing and are no error, and the chain it remembers for a tool is a shortest one.

use std::collections::BTreeMap;
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
        let mut found = walk.found.clone();
        found.sort_by_key(|&(tool, _)| tool);
        found.dedup_by_key(|&mut (tool, _)| tool);
        let members = |registered: bool| {
            let wanted = found.iter().filter(|(tool, _)| self.home(tool).is_some() == registered);
            wanted.map(|&(tool, at)| Member { tool: tool.into(), chain: walk.chain(at) }).collect()
        };
        Ok(Resolution { tools: members(true), missing: members(false), dangling: walk.dangling_chains() })
    }
}

/// The toolsets a walk came through, and the tools it found.
#[derive(Debug, Default)]
pub(super) struct Walk<'a> {
    steps: Vec<Step<'a>>,
    /// Each tool with the step that had it; no step for a tool that was asked for itself. Of a tool that
    /// comes twice the first one counts.
    pub(super) found: Vec<(&'a str, Option<usize>)>,
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
            Meaning::Tool => walk.found.push((name, None)),
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
        let missing = named.filter(|(_, tool)| catalog.home(tool).is_none());
        for (toolset, tool) in registered.chain(missing) {
            let at = *steps.entry(toolset).or_insert_with(|| self.step(toolset, Some(root)));
            self.found.push((tool, Some(at)));
        }
    }

    fn includes(&mut self, catalog: &'a Catalog, entry: &'a Entry) {
        // There is a step for each of them, in the same order.
        let mut reached = vec![entry];
        self.step(&entry.name, None);
        let mut at = 0;
        while let Some(&entry) = reached.get(at) {
            self.found.extend(entry.tools().map(|tool| (tool, Some(at))));
            for name in entry.includes() {
                match catalog.toolset(name) {
                    Some(next) if reached.iter().any(|known| std::ptr::eq(*known, next)) => {}
                    Some(next) => {
                        self.step(&next.name, Some(at));
                        reached.push(next);
                    }
                    None => self.dangling.push((at, name)),
                }
            }
            at += 1;
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
