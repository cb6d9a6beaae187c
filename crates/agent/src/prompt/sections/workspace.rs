//! The code the agent stands in, as it was when the session began.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("workspace", 60, workspace);

const RULES: &str = "Read code before you change it, follow its style, and change no more than is asked. Run \
    what checks there are. Commit, push or rewrite history only when the user wants it.";

fn workspace(facts: &PromptFacts) -> Option<String> {
    let workspace = facts.workspace.as_ref()?;
    let kind = workspace.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    let mut text = format!("# The code here\nWorkspace: {}{kind}\n{RULES}", workspace.root);
    if let Some(git) = workspace.git.as_deref().map(str::trim).filter(|git| !git.is_empty()) {
        text.push_str("\nGit when the session began:\n");
        text.push_str(git);
    }
    Some(text)
}
