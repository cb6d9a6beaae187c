//! Decides which registered tools a selection brings in.
//!
//! The plan and its explanation are both read off the one [`Decision`] made here, so what is
//! explained is what happens.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalog::{Catalog, Meaning, Source};
use super::resolve::{Walk, look_up};
use super::selection::{McpServers, Selection, WithheldWhy};
use super::{SelectionError, UnknownName};

/// For each registered tool that anything brought in or kept out, what came of it.
#[derive(Debug)]
pub(super) struct Decision<'a> {
    catalog: &'a Catalog,
    walks: Vec<Walk<'a>>,
    /// One for each registered tool, in their order.
    marks: Vec<Option<Mark<'a>>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Mark<'a> {
    In(Way),
    Out(Reason<'a>),
}

/// How a tool came in: a walk, and the step in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    walk: usize,
    step: Option<usize>,
}

/// What kept a tool out that something had brought in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reason<'a> {
    Disabled { by: &'a str, way: Way },
    ToolDisabled { way: Way },
    Withheld { toolset: &'a str, why: WithheldWhy },
    Mcp,
}

/// A name that brings tools in, and how it may.
pub(super) struct Root<'a> {
    pub(super) name: &'a str,
    meaning: Meaning<'a>,
}

impl<'a> Decision<'a> {
    pub(super) fn of(catalog: &'a Catalog, selection: &'a Selection) -> Result<Decision<'a>, SelectionError> {
        let mut unknown = Vec::new();
        let roots = roots(catalog, selection, &mut unknown);
        let disabled = look_up(catalog, selection.disabled.iter().map(String::as_str), &mut unknown);
        let odd_tools = selection.tools_disabled.iter().filter(|tool| !catalog.knows_tool(tool));
        unknown.extend(odd_tools.map(|tool| catalog.unknown(tool)));
        if !unknown.is_empty() {
            return Err(SelectionError::Unknown(unknown));
        }

        let marks = vec![None; catalog.tools().len()];
        let mut decision = Decision { catalog, walks: Vec::with_capacity(roots.len()), marks };
        let withheld = Withholding::of(catalog, selection);
        for root in &roots {
            decision.bring_in(root, selection.mcp, &withheld);
        }
        for (name, meaning) in disabled {
            decision.take_out(name, meaning);
        }
        for tool in &selection.tools_disabled {
            decision.exclude(tool, |way| Reason::ToolDisabled { way });
        }
        Ok(decision)
    }

    /// The tools that are in, in order.
    pub(super) fn tools(&self) -> impl Iterator<Item = &'a Arc<str>> {
        let marked = self.catalog.tools().zip(&self.marks);
        marked.filter(|(_, mark)| matches!(mark, Some(Mark::In(_)))).map(|((tool, _), _)| tool)
    }

    pub(super) fn mark(&self, tool: &str) -> Option<Mark<'a>> {
        *self.marks.get(self.catalog.place(tool)?)?
    }

    /// The toolsets that led to a tool.
    pub(super) fn chain(&self, way: Way) -> Vec<Arc<str>> {
        self.walks.get(way.walk).map(|walk| walk.chain(way.step)).unwrap_or_default()
    }

    /// The tools that were reached but are not registered, with the toolsets that led there.
    pub(super) fn missing(&self) -> BTreeMap<Arc<str>, Vec<Arc<str>>> {
        let mut missing = BTreeMap::new();
        for walk in &self.walks {
            for &(tool, step) in walk.found.iter().filter(|(tool, _)| self.catalog.home(tool).is_none()) {
                missing.entry(Arc::from(tool)).or_insert_with(|| walk.chain(step));
            }
        }
        missing
    }

    fn bring_in(&mut self, root: &Root<'a>, mcp: McpServers, withheld: &Withholding<'a>) {
        let walk = Walk::of(self.catalog, root.name, root.meaning);
        let index = self.walks.len();
        for &(tool, step) in &walk.found {
            let Some(place) = self.catalog.place(tool) else { continue };
            let Some(mark) = self.marks.get_mut(place) else { continue };
            let barred = mcp_bars(self.catalog, tool, root, mcp)
                .then_some(Reason::Mcp)
                .or_else(|| withheld.bars(place, root.meaning));
            match barred {
                Some(reason) => _ = mark.get_or_insert(Mark::Out(reason)),
                None if matches!(mark, Some(Mark::In(_))) => {}
                None => *mark = Some(Mark::In(Way { walk: index, step })),
            }
        }
        self.walks.push(walk);
    }

    fn take_out(&mut self, name: &'a str, meaning: Meaning<'_>) {
        let spares_core = matches!(meaning, Meaning::Toolset(entry) if entry.spares_core());
        for (tool, _) in Walk::of(self.catalog, name, meaning).found {
            if !(spares_core && self.catalog.is_core(tool)) {
                self.exclude(tool, |way| Reason::Disabled { by: name, way });
            }
        }
    }

    fn exclude(&mut self, tool: &str, reason: impl FnOnce(Way) -> Reason<'a>) {
        if let Some(place) = self.catalog.place(tool)
            && let Some(Some(mark)) = self.marks.get_mut(place)
            && let Mark::In(way) = *mark
        {
            *mark = Mark::Out(reason(way));
        }
    }
}

/// Every name that brings tools in, in the order in which they get the credit.
pub(super) fn roots<'a>(
    catalog: &'a Catalog,
    selection: &'a Selection,
    unknown: &mut Vec<UnknownName>,
) -> Vec<Root<'a>> {
    let Some(enabled) = &selection.enabled else {
        return vec![Root { name: "all", meaning: Meaning::Everything }];
    };
    let named = look_up(catalog, enabled.iter().map(String::as_str), unknown);
    let mut roots: Vec<Root<'_>> = named.into_iter().map(|(name, meaning)| Root { name, meaning }).collect();
    let also = |wanted: bool, source: Source| {
        catalog.entries().filter(move |entry| wanted && entry.source == source)
    };
    let kanban = catalog.toolset("kanban").filter(|_| selection.kanban_task);
    let more = kanban
        .into_iter()
        .chain(also(selection.plugins, Source::Plugin))
        .chain(also(selection.mcp == McpServers::Every, Source::Mcp));
    roots.extend(more.map(|entry| Root { name: &entry.name, meaning: Meaning::Toolset(entry) }));
    roots
}

/// Whether the rule about MCP servers keeps out what this root brings.
fn mcp_bars(catalog: &Catalog, tool: &str, root: &Root<'_>, rule: McpServers) -> bool {
    let named = || match root.meaning {
        Meaning::Tool => true,
        Meaning::Toolset(entry) => entry.source == Source::Mcp,
        Meaning::Everything | Meaning::Legacy(_) => false,
    };
    match rule {
        McpServers::Selected | McpServers::Every => false,
        McpServers::Named => catalog.mcp_owner(tool).is_some() && !named(),
        McpServers::Never => catalog.mcp_owner(tool).is_some(),
    }
}

/// For each registered tool, in their order, whether a toolset holds it back, and why.
struct Withholding<'a>(Vec<Option<(&'a str, WithheldWhy)>>);

impl<'a> Withholding<'a> {
    fn of(catalog: &'a Catalog, selection: &Selection) -> Withholding<'a> {
        let mut held = vec![None; catalog.tools().len()];
        for withheld in &selection.withheld {
            let Some(entry) = catalog.toolset(&withheld.toolset) else { continue };
            for (tool, _) in Walk::of(catalog, &entry.name, Meaning::Toolset(entry)).found {
                if let Some(why) = catalog.place(tool).and_then(|place| held.get_mut(place)) {
                    why.get_or_insert((entry.name.as_ref(), withheld.why));
                }
            }
        }
        Withholding(held)
    }

    fn bars(&self, place: usize, root: Meaning<'_>) -> Option<Reason<'a>> {
        let (toolset, why) = (*self.0.get(place)?)?;
        let bars = match root {
            Meaning::Everything => why == WithheldWhy::OtherPlatform,
            Meaning::Toolset(entry) => entry.is_preset(),
            Meaning::Legacy(_) | Meaning::Tool => false,
        };
        bars.then_some(Reason::Withheld { toolset, why })
    }
}
