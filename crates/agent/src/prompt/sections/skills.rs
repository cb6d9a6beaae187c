//! Which skills there are, and how to use them, when they can be read.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("skills", 42, skills);

const TEXT: &str = "# Skills\n\
    Skills are instructions for kinds of work, written down earlier. Before you begin something that one \
    of them covers, read it with `skill_view` and follow it.";

fn skills(facts: &PromptFacts) -> Option<String> {
    // Nothing to read, or nothing to read it with: not a word.
    if !facts.offers("skill_view") || facts.skills.is_empty() {
        return None;
    }
    let list: Vec<String> = facts.skills.iter().map(|skill| format!("- {}", skill.trim())).collect();
    Some(format!("{TEXT}\n{}", list.join("\n")))
}
