//! Which image of Modal's holds the files of a place: a small file beside the sandboxes' folders.

#![expect(
    clippy::disallowed_methods,
    reason = "a file that tells which image holds the files of a place is ours"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The file's name.
const FILE: &str = "modal_snapshots.json";

/// What is kept of a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The image with its files.
    pub(super) image: String,
    /// What it was made of.
    pub(super) recipe: String,
    /// The same as long as its files go from one sandbox to the next.
    pub(super) lineage: String,
}

/// The file, in the folder of what outlives sandboxes.
pub(super) struct Book(Option<PathBuf>);

impl Book {
    pub(super) fn in_folder(folder: Option<&Path>) -> Self {
        Self(folder.map(|folder| folder.join(FILE)))
    }

    fn all(&self) -> Map<String, Value> {
        let text = self.0.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn find(&self, place: &str) -> Option<Kept> {
        serde_json::from_value(self.all().get(&key(place))?.clone()).ok()
    }

    /// Remembers what is kept of a place, or forgets it; whether that could be written down.
    pub(super) fn note(&self, place: &str, kept: Option<&Kept>) -> bool {
        let Some(path) = &self.0 else { return false };
        let mut all = self.all();
        match kept.and_then(|kept| serde_json::to_value(kept).ok()) {
            Some(kept) => all.insert(key(place), kept),
            None => all.remove(&key(place)),
        };
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let beside = path.with_extension(format!("new{}", std::process::id()));
        let written = folder.and_then(|()| fs::write(&beside, Value::Object(all).to_string()));
        written.and_then(|()| fs::rename(&beside, path)).is_ok()
    }
}

fn key(place: &str) -> String {
    format!("direct:{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_again_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let book = Book::in_folder(Some(&folder.path().join("deep")));
        let kept = Kept { image: "im-1".to_owned(), recipe: "r".to_owned(), lineage: "l".to_owned() };

        assert!(book.note("a", Some(&kept)) && book.note("b", Some(&kept)) && book.note("b", None));

        assert_eq!(Book::in_folder(Some(&folder.path().join("deep"))).find("a"), Some(kept));
        assert_eq!(book.find("b"), None);
        assert_eq!(Book::in_folder(None).find("a"), None);
    }
}
