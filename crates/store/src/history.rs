//! Typed lines, `.hermes_history`: what a person can go back to, across sessions.
//!
//! The form is the one Hermes homes have: every line of an entry begins with `+`, anything else
//! stands between entries.

use std::path::PathBuf;

use crate::disk::{self, Mode};
use crate::error::StoreError;
use crate::home::Home;

/// Most bytes that are read.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Above this the file is shortened.
const SHORTEN_AT: u64 = 1024 * 1024;

/// Entries kept when it is.
const KEPT: usize = 2_000;

/// Longest entry that is written down, in bytes.
const MAX_ENTRY: usize = 64 * 1024;

/// The history of a home.
#[derive(Debug, Clone)]
pub struct History {
    folder: PathBuf,
    path: PathBuf,
}

impl History {
    /// The history of this home; nothing is read or created yet.
    pub fn of(home: &Home) -> Self {
        Self { folder: home.path().to_owned(), path: home.history() }
    }

    /// Every entry, oldest first.
    pub fn read(&self) -> Result<Vec<String>, StoreError> {
        Ok(disk::read(&self.path, MAX_BYTES)?.map(|text| entries(&text)).unwrap_or_default())
    }

    /// Adds an entry. One that is far too long to be typed again is left out.
    pub fn add(&self, entry: &str) -> Result<(), StoreError> {
        if entry.len() > MAX_ENTRY || entry.is_empty() {
            return Ok(());
        }
        disk::make_private_folder(&self.folder)?;
        if disk::size(&self.path).is_some_and(|bytes| bytes > SHORTEN_AT) {
            self.shorten()?;
        }
        disk::append(&self.path, &written(entry))
    }

    fn shorten(&self) -> Result<(), StoreError> {
        let all = self.read()?;
        let newest = all.get(all.len().saturating_sub(KEPT)..).unwrap_or_default();
        let text: String = newest.iter().map(|entry| written(entry)).collect();
        // Long entries can be many bytes still; then half of them must do.
        let text = if text.len() as u64 > SHORTEN_AT {
            newest.get(newest.len() / 2..).unwrap_or_default().iter().map(|entry| written(entry)).collect()
        } else {
            text
        };
        disk::write(&self.path, &text, Mode::Private)
    }
}

fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        match (line.strip_prefix('+'), entries.last_mut()) {
            (Some(line), Some(entry)) if open => {
                entry.push('\n');
                entry.push_str(line);
            }
            (Some(line), _) => entries.push(line.to_owned()),
            (None, _) => {}
        }
        open = line.starts_with('+');
    }
    entries
}

fn written(entry: &str) -> String {
    let lines: Vec<String> = entry.lines().map(|line| format!("+{line}\n")).collect();
    format!("\n{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were_with_all_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let history = History::of(&Home::at(&folder.path().join("home")));
        assert!(history.read().unwrap().is_empty());

        for entry in ["one", "two\n\n+lines", "three"] {
            history.add(entry).unwrap();
        }

        assert_eq!(history.read().unwrap(), ["one", "two\n\n+lines", "three"]);
    }

    #[test]
    fn a_history_of_another_program_is_understood() {
        let text = "\n# 2026-01-01 10:00:00.000000\n+hello\n+world\n\n# 2026-01-01 10:01:00\n+again\n";

        assert_eq!(entries(text), ["hello\nworld", "again"]);
    }

    #[test]
    fn a_long_history_is_shortened() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let history = History::of(&home);
        let old = written(&"x".repeat(1_000)).repeat(1_200);
        disk::write(&home.history(), &old, Mode::Private).unwrap();

        history.add("new").unwrap();

        let all = history.read().unwrap();
        assert_eq!(all.last().map(String::as_str), Some("new"));
        assert!(all.len() < 1_200, "{}", all.len());
    }
}
