//! Splits thoughts between tags off the words.

use super::lines::Lines;

/// Tags around thoughts.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
];

/// Words or thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bit {
    Text(String),
    Thought(String),
    /// An end without a beginning: the words so far were a thought.
    AllWasThought,
}

/// The state of the split.
#[derive(Debug, Default)]
pub(super) struct Think {
    held: String,
    /// The tag that ends the thought we are in.
    closes: Option<&'static str>,
    lines: Lines,
    thought_before: bool,
    /// Line ends behind a thought are not words.
    skip_blank: bool,
}

impl Think {
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Bit>) {
        self.held.push_str(text);
        while self.step(false, out) {}
    }

    pub(super) fn end(&mut self, out: &mut Vec<Bit>) {
        while self.step(true, out) {}
        let rest = std::mem::take(&mut self.held);
        self.emit(&rest, out);
    }

    /// Passes on what is decided; true when a tag was crossed and there may be more.
    fn step(&mut self, ended: bool, out: &mut Vec<Bit>) -> bool {
        match self.closes {
            Some(tag) => self.step_in_thought(tag, out),
            None => self.step_in_words(ended, out),
        }
    }

    fn step_in_thought(&mut self, tag: &'static str, out: &mut Vec<Bit>) -> bool {
        if let Some(at) = self.held.find(tag) {
            let rest = self.held.split_off(at);
            let thought =
                std::mem::replace(&mut self.held, rest.get(tag.len()..).unwrap_or_default().to_owned());
            self.emit(&thought, out);
            self.closes = None;
            self.skip_blank = true;
            return true;
        }
        let keep = partial(&self.held, tag);
        let rest = self.held.split_off(self.held.len() - keep);
        let sure = std::mem::replace(&mut self.held, rest);
        self.emit(&sure, out);
        false
    }

    fn step_in_words(&mut self, ended: bool, out: &mut Vec<Bit>) -> bool {
        let mut from = 0;
        let mut lines = self.lines.clone();
        while let Some(found) = self.held.get(from..).and_then(|rest| rest.find('<')) {
            let at = from + found;
            lines.pass(self.held.get(from..at).unwrap_or_default());
            let rest = self.held.get(at..).unwrap_or_default();
            if lines.at_line_start() && !lines.in_fence() {
                let crossed = TAGS.iter().find_map(|(opens, closes)| {
                    let orphan = !self.thought_before && rest.starts_with(closes);
                    let opened = rest.starts_with(opens);
                    (opened || orphan)
                        .then_some((if opened { *opens } else { *closes }, opened.then_some(*closes)))
                });
                if let Some((tag, closes)) = crossed {
                    self.cross(at, tag.len(), closes, out);
                    return true;
                }
                let maybe = |tag: &str| tag.starts_with(rest);
                if !ended && TAGS.iter().any(|(opens, closes)| maybe(opens) || maybe(closes)) {
                    self.pass_until(at, out);
                    return false;
                }
            }
            lines.pass("<");
            from = at + 1;
        }
        self.pass_until(self.held.len(), out);
        false
    }

    /// Passes words on, and goes over a tag of `length` bytes.
    fn cross(&mut self, at: usize, length: usize, closes: Option<&'static str>, out: &mut Vec<Bit>) {
        self.pass_until(at, out);
        self.held = self.held.get(length..).unwrap_or_default().to_owned();
        if closes.is_none() {
            out.push(Bit::AllWasThought);
            self.skip_blank = true;
        }
        self.thought_before = true;
        self.closes = closes;
    }

    fn pass_until(&mut self, at: usize, out: &mut Vec<Bit>) {
        let rest = self.held.split_off(at);
        let words = std::mem::replace(&mut self.held, rest);
        self.emit(&words, out);
    }

    fn emit(&mut self, text: &str, out: &mut Vec<Bit>) {
        if self.closes.is_some() {
            if !text.is_empty() {
                out.push(Bit::Thought(text.to_owned()));
            }
            return;
        }
        let words = if self.skip_blank { text.trim_start_matches(['\n', '\r']) } else { text };
        self.lines.pass(words);
        if !words.is_empty() {
            self.skip_blank = false;
            out.push(Bit::Text(words.to_owned()));
        }
    }
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
fn partial(text: &str, tag: &str) -> usize {
    let most = tag.len().saturating_sub(1).min(text.len());
    (1..=most).rev().find(|length| text.ends_with(tag.get(..*length).unwrap_or("\0"))).unwrap_or(0)
}
