//! What is remembered, as it was when the session began: notes, the user, and what another memory
//! service says.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("memory_blocks", 110, memory_blocks);

fn memory_blocks(facts: &PromptFacts) -> Option<String> {
    let blocks = [&facts.memory, &facts.user, &facts.recalled].into_iter().flatten();
    let blocks: Vec<&str> = blocks.map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}
