//! The profile in use.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("profile", 70, profile);

fn profile(facts: &PromptFacts) -> Option<String> {
    facts.profile.as_ref().map(|profile| format!("Active profile: {profile}"))
}
