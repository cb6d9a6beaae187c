//! What the caller adds.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("caller", 90, caller);

fn caller(facts: &PromptFacts) -> Option<String> {
    facts.caller.clone()
}
