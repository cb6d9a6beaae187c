//! Who the agent is: the user's `SOUL.md`, or our own words.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("identity", 10, identity);

const OWN: &str = "You are Hermes, an agent that works with tools on behalf of the user. You are helpful, \
    direct and honest: you say what you know, what you guess and what you could not do.";

#[expect(clippy::unnecessary_wraps, reason = "a section may have nothing to say; this one always has")]
fn identity(facts: &PromptFacts) -> Option<String> {
    let soul = facts.soul.as_deref().map(str::trim).filter(|soul| !soul.is_empty());
    Some(soul.unwrap_or(OWN).to_owned())
}
