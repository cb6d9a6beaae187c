//! `Toolset`: the entry that a toolset's file exports.

/// A named group of tools, as its file in `toolsets/` declares it.
///
/// ```
/// use hermes_core::toolset::Toolset;
///
/// const TOOLSET: Toolset =
///     Toolset::new("web", "Search the web and read pages.").tools(&["web_search", "web_extract"]).configurable();
///
/// assert_eq!(TOOLSET.name(), "web");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with its own builder step")]
pub struct Toolset {
    /// What people write in lists; also the name of the file.
    pub name: &'static str,
    /// One sentence for the person who chooses.
    pub description: &'static str,
    /// The tools it names itself.
    pub tools: &'static [&'static str],
    /// The toolsets whose tools it has too.
    pub includes: &'static [&'static str],
    /// It describes a way of working rather than an ability. Disabling it takes away only what
    /// is not a core tool.
    pub posture: bool,
    /// It serves people nobody has vouched for: a platform with this preset gets nothing that
    /// is not named, in particular no MCP server and no plugin, and nobody adds to it.
    pub restricted: bool,
    /// Setup offers it as a switch.
    pub configurable: bool,
    /// A preset does not bring its tools; naming it does.
    pub default_off: bool,
    /// A variable that turns it on where it is off by default: whoever has set it wants the tools.
    pub unlocked_by: Option<&'static str>,
    /// The only platforms it works on; empty means all.
    pub only_on: &'static [&'static str],
    /// An old name that still works in lists, and the tools it stood for.
    pub legacy: Option<Legacy>,
    /// The platforms whose preset it is.
    pub preset_of: &'static [&'static str],
}

/// A name from an older configuration. It stands for a fixed list of tools, which is not always
/// that of the toolset it became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Legacy {
    /// The old name.
    pub name: &'static str,
    /// The tools it stood for.
    pub tools: &'static [&'static str],
}

impl Toolset {
    /// An empty toolset; the steps below fill it.
    pub const fn new(name: &'static str, description: &'static str) -> Toolset {
        Toolset {
            name,
            description,
            tools: &[],
            includes: &[],
            posture: false,
            restricted: false,
            configurable: false,
            default_off: false,
            unlocked_by: None,
            only_on: &[],
            legacy: None,
            preset_of: &[],
        }
    }

    /// Its name, for the check against the file's.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The tools it names itself.
    pub const fn tools(mut self, tools: &'static [&'static str]) -> Toolset {
        self.tools = tools;
        self
    }

    /// The toolsets whose tools it has too.
    pub const fn includes(mut self, toolsets: &'static [&'static str]) -> Toolset {
        self.includes = toolsets;
        self
    }

    /// It is a way of working.
    pub const fn posture(mut self) -> Toolset {
        self.posture = true;
        self
    }

    /// It is for people nobody has vouched for.
    pub const fn restricted(mut self) -> Toolset {
        self.restricted = true;
        self
    }

    /// Setup offers it.
    pub const fn configurable(mut self) -> Toolset {
        self.configurable = true;
        self
    }

    /// It is off until somebody names it.
    pub const fn default_off(mut self) -> Toolset {
        self.default_off = true;
        self
    }

    /// It is off until somebody names it, or sets this variable.
    pub const fn unlocked_by(mut self, variable: &'static str) -> Toolset {
        self.default_off = true;
        self.unlocked_by = Some(variable);
        self
    }

    /// It works on these platforms only.
    pub const fn only_on(mut self, platforms: &'static [&'static str]) -> Toolset {
        self.only_on = platforms;
        self
    }

    /// An old name, with what it stood for.
    pub const fn legacy(mut self, name: &'static str, tools: &'static [&'static str]) -> Toolset {
        self.legacy = Some(Legacy { name, tools });
        self
    }

    /// It is what these platforms get when nothing is configured.
    pub const fn preset_of(mut self, platforms: &'static [&'static str]) -> Toolset {
        self.preset_of = platforms;
        self
    }

    /// Whether it works on `platform`.
    pub fn works_on(&self, platform: &str) -> bool {
        self.only_on.is_empty() || self.only_on.contains(&platform)
    }
}
