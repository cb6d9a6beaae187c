//! The project's own instructions for agents: cut when long, left out when they look hostile.

use hermes_core::threat::scan;

use crate::prompt::clip::clip;
use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("project", 100, project);

/// Most characters when nothing else is set.
const LIMIT: usize = 20_000;

fn project(facts: &PromptFacts) -> Option<String> {
    let file = facts.project.as_ref()?;
    if file.text.trim().is_empty() {
        return None;
    }
    let body = match scan(&file.text) {
        Some(why) => format!("[BLOCKED: {} was not loaded, it {why}]", file.name),
        None => clip(file.text.trim(), facts.project_limit.unwrap_or(LIMIT), &file.name),
    };
    Some(format!("# Project instructions ({})\n{body}", file.name))
}
