//! Lines that were typed before, and going through them.

/// Most lines kept in memory.
const MOST: usize = 2_000;

/// Lines, oldest first, and where one is in them.
#[derive(Debug, Default)]
pub(crate) struct History {
    lines: Vec<String>,
    /// Where one is; none when below the newest.
    at: Option<usize>,
    /// What was being typed before going up.
    draft: String,
}

impl History {
    pub(crate) fn new(mut lines: Vec<String>) -> Self {
        let surplus = lines.len().saturating_sub(MOST);
        lines.drain(..surplus);
        Self { lines, ..Self::default() }
    }

    /// Adds a line, unless it repeats the last; whether it was added.
    pub(super) fn add(&mut self, line: &str) -> bool {
        self.at = None;
        if line.trim().is_empty() || self.lines.last().is_some_and(|last| last == line) {
            return false;
        }
        if self.lines.len() >= MOST {
            self.lines.remove(0);
        }
        self.lines.push(line.to_owned());
        true
    }

    /// The line above; `now` is what is being typed.
    pub(super) fn older(&mut self, now: &str) -> Option<String> {
        let at = match self.at {
            None => {
                now.clone_into(&mut self.draft);
                self.lines.len().checked_sub(1)?
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.lines.get(at).cloned()
    }

    /// The line below, in the end what was being typed.
    pub(super) fn newer(&mut self) -> Option<String> {
        let at = self.at? + 1;
        if let Some(line) = self.lines.get(at) {
            self.at = Some(at);
            return Some(line.clone());
        }
        self.at = None;
        Some(std::mem::take(&mut self.draft))
    }

    /// The `nth` newest line that holds `words`.
    pub(super) fn find(&self, words: &str, nth: usize) -> Option<&str> {
        let mut found = self.lines.iter().rev().filter(|line| line.contains(words));
        found.nth(nth).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_up_and_down_brings_back_what_was_typed() {
        let mut history = History::new(vec!["one".to_owned(), "two".to_owned()]);

        assert_eq!(history.older("dra").as_deref(), Some("two"));
        assert_eq!(history.older("two").as_deref(), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("dra"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn repeats_and_blanks_are_not_kept() {
        let mut history = History::default();

        assert!(history.add("a"));
        assert!(!history.add("a"));
        assert!(!history.add("  "));
        assert_eq!(history.find("a", 0), Some("a"));
        assert_eq!(history.find("a", 1), None);
    }
}
