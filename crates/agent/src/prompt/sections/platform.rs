//! How answers are shown.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("platform", 80, platform);

fn platform(facts: &PromptFacts) -> Option<String> {
    facts.platform.clone()
}
