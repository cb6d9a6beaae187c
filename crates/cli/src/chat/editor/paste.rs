//! Long pastes: shown as one word, sent whole.

/// Longest paste shown as it is, in characters.
const MAX_SHOWN: usize = 2_000;

/// What was pasted and folded.
#[derive(Debug, Default)]
pub(super) struct Pastes {
    lines: usize,
    folded: Vec<(String, String)>,
}

impl Pastes {
    /// Folds what has more than `lines` lines.
    pub(super) fn folding(lines: usize) -> Self {
        Self { lines, folded: Vec::new() }
    }

    /// What stands in the text for a paste.
    pub(super) fn fold(&mut self, text: String) -> String {
        let lines = text.lines().count();
        let long = lines > self.lines.max(1) || text.chars().count() > MAX_SHOWN;
        if !long || self.lines == 0 {
            return text;
        }
        let sign = format!("[pasted #{}: {lines} lines]", self.folded.len() + 1);
        self.folded.push((sign.clone(), text));
        sign
    }

    /// The text with every paste in place.
    pub(super) fn unfold(&self, text: &str) -> String {
        let whole = text.to_owned();
        self.folded.iter().fold(whole, |text, (sign, paste)| text.replacen(sign, paste, 1))
    }

    pub(super) fn forget(&mut self) {
        self.folded.clear();
    }
}
