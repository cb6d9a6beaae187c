//! What the memory is for, when it is offered.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("memory_note", 40, memory_note);

const TEXT: &str = "# Memory\n\
    You have a memory that lasts across sessions. Note what will still matter next time: what the user \
    prefers, corrects or decides, and facts about this machine or project that cost you time. Do not note \
    progress on a task or what can be looked up. What you note now is in the prompt of the next session.";

fn memory_note(facts: &PromptFacts) -> Option<String> {
    facts.offers("memory").then(|| TEXT.to_owned())
}
