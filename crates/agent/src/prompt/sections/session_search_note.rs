//! What earlier sessions are for, when they can be searched.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("session_search_note", 41, session_search_note);

const TEXT: &str = "When the user speaks of something you did together before, or it would help to know, \
    search the earlier sessions with `session_search` before you ask.";

fn session_search_note(facts: &PromptFacts) -> Option<String> {
    facts.offers("session_search").then(|| TEXT.to_owned())
}
