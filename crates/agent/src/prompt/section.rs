//! A piece of the system prompt.

use super::PromptFacts;

/// One section: its name, its place, and what it says, if anything.
#[derive(Debug)]
pub struct Section {
    name: &'static str,
    order: u32,
    text: fn(&PromptFacts) -> Option<String>,
}

impl Section {
    /// A section by the name of its file. Those with small orders come first; what changes least from
    /// session to session should.
    pub const fn new(name: &'static str, order: u32, text: fn(&PromptFacts) -> Option<String>) -> Self {
        Self { name, order, text }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its place.
    pub const fn order(&self) -> u32 {
        self.order
    }

    /// What it says for these facts.
    pub fn text(&self, facts: &PromptFacts) -> Option<String> {
        (self.text)(facts)
    }
}
