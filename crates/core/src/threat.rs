//! Text that tries to command whoever reads it: found before it is kept, and before a model sees it.
//!
//! For text that goes into a system prompt (notes, project files), where an instruction planted by a
//! stranger would be obeyed. Looked at are the words, not their spelling: case, punctuation, line
//! breaks, invisible characters and look-alike letters between or inside them change nothing. It is a
//! net, not a proof: what passes is still only as good as its author.

mod hidden;
mod phrases;

use std::fmt;

/// What is wrong with a text. Reads on from "it": "it tells the reader to …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Threat {
    /// What kind.
    pub kind: ThreatKind,
    /// In words.
    pub what: &'static str,
}

/// The kinds of threats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreatKind {
    /// It speaks to the model as if it were its owner.
    Instruction,
    /// It wants secrets to be read or sent.
    Secrets,
    /// It hides something from people who read it.
    Hidden,
}

impl fmt::Display for Threat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// The first thing found wrong with a text, if there is any.
pub fn scan(text: &str) -> Option<Threat> {
    hidden::found(text).or_else(|| phrases::found(text))
}
