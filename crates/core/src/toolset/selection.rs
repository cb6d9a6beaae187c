//! `Selection`: which tools somebody asked for, before anybody looks what there is.

use super::{Catalog, Explanation, Plan, SelectionError};

/// Which tools a session is to have. Names are those of toolsets or of single tools.
///
/// It says what was asked for and stays valid while servers connect and plugins load;
/// [`Selection::plan`] turns it into the tools there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// What is wanted. `None` is everything there is; an empty list is nothing.
    pub enabled: Option<Vec<String>>,
    /// What is not wanted, whatever `enabled` says. A preset or a posture here takes away only
    /// what is not a core tool; any other toolset goes whole, with what it includes.
    pub disabled: Vec<String>,
    /// Single tools that are not wanted. Unlike in `disabled`, `terminal` is the tool here.
    pub tools_disabled: Vec<String>,
    /// The session works on a kanban task: the `kanban` toolset joins the list.
    pub kanban_task: bool,
    /// Which MCP servers come in.
    pub mcp: McpServers,
    /// The toolsets of every plugin come in too.
    pub plugins: bool,
    /// Toolsets whose tools only come in when somebody means them.
    pub withheld: Vec<Withheld>,
}

/// Which MCP servers a selection lets in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum McpServers {
    /// Those that the selection reaches, as with any toolset: `all` reaches them too.
    #[default]
    Selected,
    /// Every server, besides what is selected.
    Every,
    /// Only servers, or single tools of theirs, that are named; `all` does not name them.
    Named,
    /// None, even if named.
    Never,
}

/// A toolset that is held back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Withheld {
    /// Which one.
    pub toolset: String,
    /// Why.
    pub why: WithheldWhy,
}

/// Why a toolset is held back, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WithheldWhy {
    /// It is off by default: presets do not bring it.
    DefaultOff,
    /// It works on other platforms: neither presets nor `all` bring it.
    OtherPlatform,
}

impl Selection {
    /// Everything there is.
    pub fn everything() -> Selection {
        Selection::default()
    }

    /// Exactly these toolsets and tools.
    pub fn of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Selection {
        Selection { enabled: Some(names.into_iter().map(Into::into).collect()), ..Selection::default() }
    }

    /// Leaves these toolsets or tools out.
    pub fn without<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Selection {
        self.disabled.extend(names.into_iter().map(Into::into));
        self
    }

    /// The tools there are for this selection.
    pub fn plan(&self, catalog: &Catalog) -> Result<Plan, SelectionError> {
        Plan::new(catalog, self)
    }

    /// Why each tool is in or out.
    pub fn explain(&self, catalog: &Catalog) -> Result<Explanation, SelectionError> {
        super::explain(catalog, self)
    }
}
