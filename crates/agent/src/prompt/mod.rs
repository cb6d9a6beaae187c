//! The system prompt: built once from sections, kept with the session, and sent byte for byte ever
//! after, so that providers can cache it.
//!
//! A section is one file in `sections/`; adding one is adding that file. Everything a section may
//! speak of is in [`PromptFacts`], so that the same facts always make the same bytes.

mod clip;
mod facts;
mod naming;
mod section;
mod sections;

use std::sync::Arc;

use hermes_core::conversation::Conversation;

pub use facts::{PromptFacts, Text, Workspace};
pub use section::Section;

pub(crate) use naming::naming;

/// The prompt for these facts.
pub fn build(facts: &PromptFacts) -> String {
    let mut sections: Vec<&Section> = sections::SECTIONS.to_vec();
    sections.sort_by_key(|section| section.order());
    let texts = sections.iter().filter_map(|section| section.text(facts));
    texts.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The prompt of a session: the one it began with, or a new one that is kept.
pub async fn settled(log: &dyn Conversation, facts: &PromptFacts) -> Result<Arc<str>, String> {
    if let Some(kept) = log.system_prompt().await? {
        return Ok(kept.into());
    }
    let prompt = build(facts);
    log.set_system_prompt(&prompt).await?;
    Ok(prompt.into())
}

#[cfg(test)]
mod tests;
