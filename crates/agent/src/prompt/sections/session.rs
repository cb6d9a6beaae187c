//! Today, and which model this is.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("session", 120, session);

fn session(facts: &PromptFacts) -> Option<String> {
    let date = facts.date.as_ref().map(|date| format!("Session started: {date}"));
    let named = |what: &str, name: &str| (!name.is_empty()).then(|| format!("{what}: {name}"));
    let lines = [date, named("Model", &facts.model), named("Provider", &facts.provider)];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
