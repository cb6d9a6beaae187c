//! Everything a system prompt may speak of. Nobody here reads files, clocks or the environment: who
//! opens a session finds the facts out.

/// What is known when a session begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptFacts {
    /// Who the agent is: the text of `SOUL.md`, when there is one.
    pub soul: Option<String>,
    /// Names of the tools that are offered.
    pub tools: Vec<String>,
    /// The model's name, as its provider writes it.
    pub model: String,
    /// The provider's name.
    pub provider: String,
    /// The machine and its system, in a few words.
    pub host: Option<String>,
    /// The user's home folder.
    pub home: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The environment commands run in, when it is not this machine (`docker`, `ssh`, …).
    pub backend: Option<String>,
    /// Today, as `2026-01-31`: a date and no time, so that the prompt stays the same.
    pub date: Option<String>,
    /// The code the agent stands in.
    pub workspace: Option<Workspace>,
    /// The project's own instructions for agents.
    pub project: Option<Text>,
    /// Most characters of the project's instructions; 20,000 when not set.
    pub project_limit: Option<usize>,
    /// What the agent has noted, under its header.
    pub memory: Option<String>,
    /// What is known about the user, under its header.
    pub user: Option<String>,
    /// What another memory service has to say.
    pub recalled: Option<String>,
    /// One line per skill, or what there are of them where they are too many.
    pub skills: Vec<String>,
    /// The profile in use, when it is not the usual one.
    pub profile: Option<String>,
    /// How answers are shown: what works there and what does not.
    pub platform: Option<String>,
    /// What the caller wants to add.
    pub caller: Option<String>,
}

impl PromptFacts {
    /// Whether a tool is offered.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }
}

/// A text with the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The file's name.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Code under version control.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// Its top folder.
    pub root: String,
    /// What it is made of, in a few words (`Rust workspace`).
    pub kind: Option<String>,
    /// Branch, changed files, last commits.
    pub git: Option<String>,
}
