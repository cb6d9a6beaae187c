//! Mends what models emit: thoughts between tags, calls written as text, ids that repeat.
//!
//! Text passes through as it comes; only what may still become a thought or a call is held back, so
//! nobody sees half a call on the screen.

mod dialects;
mod finder;
mod grouped;
mod lines;
mod spans;
mod think;

use std::collections::BTreeSet;

use hermes_core::model::ModelCall;

use crate::tools_json::Offered;
use finder::CallFinder;
use think::{Bit, Think};

/// What a piece of text turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Words.
    Text(String),
    /// A thought.
    Thought(String),
    /// What was taken for words so far was a thought whose beginning was not marked.
    AllWasThought,
    /// A call; the id is empty unless it was written. Cut off when its end is missing.
    Call { call: ModelCall, cut_off: bool },
}

/// Sorts a stream of text into pieces.
pub(crate) struct TextFilter {
    think: Think,
    finder: Option<CallFinder>,
}

impl TextFilter {
    /// Calls are looked for only among offered tools; with none, no call is looked for.
    pub(crate) fn new(offered: Option<Offered>) -> Self {
        let finder = offered.filter(|offered| !offered.is_empty()).map(CallFinder::new);
        Self { think: Think::default(), finder }
    }

    /// Takes more text.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        let mut bits = Vec::new();
        self.think.push(text, &mut bits);
        self.sort(bits, out);
    }

    /// The text is over: what was held back is decided.
    pub(crate) fn end(&mut self, out: &mut Vec<Piece>) {
        let mut bits = Vec::new();
        self.think.end(&mut bits);
        self.sort(bits, out);
        if let Some(finder) = &mut self.finder {
            finder.end(out);
        }
    }

    fn sort(&mut self, bits: Vec<Bit>, out: &mut Vec<Piece>) {
        for bit in bits {
            match (bit, &mut self.finder) {
                (Bit::Text(text), Some(finder)) => finder.push(&text, out),
                (Bit::Text(text), None) => out.push(Piece::Text(text)),
                (Bit::Thought(text), _) => out.push(Piece::Thought(text)),
                (Bit::AllWasThought, finder) => {
                    if let Some(finder) = finder {
                        finder.release(out);
                    }
                    out.push(Piece::AllWasThought);
                }
            }
        }
    }
}

/// Gives every call of an answer an id of its own; those that have one keep it.
pub(crate) fn unique_ids<'a>(calls: impl Iterator<Item = &'a mut ModelCall>) {
    let mut seen = BTreeSet::new();
    for (at, call) in (1_usize..).zip(calls) {
        let base = if call.id.trim().is_empty() { format!("call_{at}") } else { call.id.trim().to_owned() };
        let mut id = base.clone();
        let mut n = 1;
        while !seen.insert(id.clone()) {
            n += 1;
            id = format!("{base}_{n}");
        }
        call.id = id;
    }
}

#[cfg(test)]
mod tests;
