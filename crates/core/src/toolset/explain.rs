//! Why each tool is in or out of a plan.

use std::fmt;
use std::sync::Arc;

use super::decide::{Decision, Mark, Reason};
use super::resolve::Member;
use super::selection::WithheldWhy;
use super::{Catalog, Selection, SelectionError, UnknownName};

/// Why each registered tool is in or out, and what was asked for but is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Every registered tool, in order.
    pub tools: Vec<Story>,
    /// Tools that the selection reaches but nobody registered, in order.
    pub missing: Vec<Member>,
}

/// What became of one tool. Its `Display` is a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The tool.
    pub tool: Arc<str>,
    /// The toolset it is registered under.
    pub toolset: Arc<str>,
    /// In or out.
    pub verdict: Verdict,
}

/// In or out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// In, by way of these toolsets; by its own name when there are none.
    In {
        /// The name in the list first, the toolset that has the tool last.
        chain: Vec<Arc<str>>,
    },
    /// Out: nothing in the list has it.
    NotSelected,
    /// Out: selected, and then removed by a disabled toolset or tool.
    Disabled {
        /// The name in the list of what is disabled.
        by: Arc<str>,
        /// How it would have come in.
        chain: Vec<Arc<str>>,
    },
    /// Out: selected, and then removed as a single tool.
    ToolDisabled {
        /// How it would have come in.
        chain: Vec<Arc<str>>,
    },
    /// Out: its toolset comes in only when somebody means it.
    Withheld {
        /// The toolset.
        toolset: Arc<str>,
        /// Why it is held back.
        why: WithheldWhy,
    },
    /// Out: it belongs to an MCP server that is not let in.
    McpNotAllowed,
}

impl Verdict {
    /// Whether the session has the tool.
    pub fn is_in(&self) -> bool {
        matches!(self, Verdict::In { .. })
    }
}

/// Why each tool is in or out of the plan of `selection`. The same decision makes the plan, so
/// the tools that are `In` here are exactly the plan's.
pub fn explain(catalog: &Catalog, selection: &Selection) -> Result<Explanation, SelectionError> {
    let decision = Decision::of(catalog, selection)?;
    let story = |(tool, toolset): (&Arc<str>, &Arc<str>)| Story {
        tool: Arc::clone(tool),
        toolset: Arc::clone(toolset),
        verdict: verdict(&decision, tool),
    };
    let missing = decision.missing().into_iter().map(|(tool, chain)| Member { tool, chain });
    Ok(Explanation { tools: catalog.tools().map(story).collect(), missing: missing.collect() })
}

fn verdict(decision: &Decision<'_>, tool: &Arc<str>) -> Verdict {
    match decision.mark(tool) {
        None => Verdict::NotSelected,
        Some(Mark::In(way)) => Verdict::In { chain: decision.chain(way) },
        Some(Mark::Out(reason)) => match reason {
            Reason::Disabled { by, way } => Verdict::Disabled { by: by.into(), chain: decision.chain(way) },
            Reason::ToolDisabled { way } => Verdict::ToolDisabled { chain: decision.chain(way) },
            Reason::Withheld { toolset, why } => Verdict::Withheld { toolset: toolset.into(), why },
            Reason::Mcp => Verdict::McpNotAllowed,
        },
    }
}

impl Explanation {
    /// The story of one tool; the error offers the names that come nearest.
    pub fn of(&self, tool: &str) -> Result<&Story, UnknownName> {
        let known = || self.tools.iter().map(|story| story.tool.as_ref());
        let at = self.tools.binary_search_by(|story| story.tool.as_ref().cmp(tool));
        at.ok().and_then(|at| self.tools.get(at)).ok_or_else(|| UnknownName::among(tool, known()))
    }
}

impl Story {
    /// How it came in or what keeps it out, without the tool's name: for tables that have it already.
    pub fn why(&self) -> String {
        let Story { toolset, verdict, .. } = self;
        match verdict {
            Verdict::In { chain } => way(chain),
            Verdict::NotSelected => format!("nothing selected has it (toolset `{toolset}` does)"),
            Verdict::Disabled { by, chain } => {
                format!("`{by}` is disabled (else it would be in {})", way(chain))
            }
            Verdict::ToolDisabled { chain } => {
                format!("the tool is disabled (else it would be in {})", way(chain))
            }
            Verdict::Withheld { toolset, why: WithheldWhy::DefaultOff } => {
                format!("toolset `{toolset}` is off unless it is named")
            }
            Verdict::Withheld { toolset, why: WithheldWhy::OtherPlatform } => {
                format!("toolset `{toolset}` does not work on this platform")
            }
            Verdict::McpNotAllowed => format!("MCP server `{toolset}` is not among those let in"),
        }
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, why) = (&self.tool, self.why());
        if self.verdict.is_in() {
            write!(f, "`{tool}` is in {why}")
        } else {
            write!(f, "`{tool}` is out: {why}")
        }
    }
}

fn way(chain: &[Arc<str>]) -> String {
    if chain.is_empty() {
        return "by its own name".to_owned();
    }
    format!("through {}", chain.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → "))
}
