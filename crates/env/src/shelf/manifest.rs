//! What a place was given, in lines that lie beside it there. Pure.
//!
//! The first line tells how it came there; every other one is a file: size, date, mode, path. A file
//! whose line is the same is the same.

use std::collections::BTreeMap;

use super::{Listed, Listing};

/// The first line where files were sent and not mounted.
pub(crate) const SENT: &str = "sent";

/// What a place was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// How it came there: [`SENT`], or the mark of a mirror.
    pub(crate) how: String,
    /// What is known about each file, by path.
    pub(crate) files: BTreeMap<String, String>,
}

/// What makes one manifest of another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Paths that are new or other than they were.
    pub(crate) changed: Vec<String>,
    /// Paths that are not there any more.
    pub(crate) gone: Vec<String>,
}

impl Manifest {
    /// What a place has when it was given all of this.
    pub(crate) fn of(how: &str, listing: &Listing) -> Self {
        let line = |file: &Listed| format!("{} {} {:o}", file.size, file.modified, file.mode);
        let files = listing.files.iter().map(|(path, file)| (path.clone(), line(file))).collect();
        Self { how: how.to_owned(), files }
    }

    /// Reads one; lines that make no sense are of no file.
    pub(crate) fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let how = lines.next().unwrap_or_default().strip_prefix('#').unwrap_or_default().to_owned();
        let file = |line: &str| {
            let (at, _) = line.match_indices(' ').nth(2)?;
            Some((line.get(at + 1..)?.to_owned(), line.get(..at)?.to_owned()))
        };
        Self { how, files: lines.filter_map(file).collect() }
    }

    /// As it is written.
    pub(crate) fn text(&self) -> String {
        let lines = self.files.iter().map(|(path, about)| format!("{about} {path}\n"));
        std::iter::once(format!("#{}\n", self.how)).chain(lines).collect()
    }

    /// Whether a path holds something that nobody else may see.
    pub(crate) fn is_secret(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|about| about.ends_with(" 400"))
    }

    /// What has to be done for a place that has this to have `wanted`.
    pub(crate) fn to(&self, wanted: &Self) -> Difference {
        let other = |(path, about): &(&String, &String)| self.files.get(*path) != Some(*about);
        let changed = wanted.files.iter().filter(other).map(|(path, _)| path.clone());
        let gone = self.files.keys().filter(|path| !wanted.files.contains_key(*path)).cloned();
        Difference { changed: changed.collect(), gone: gone.collect() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn manifest(files: &[(&str, &str)]) -> Manifest {
        let files = files.iter().map(|(path, about)| ((*path).to_owned(), (*about).to_owned())).collect();
        Manifest { how: SENT.to_owned(), files }
    }

    #[test]
    fn only_what_is_other_than_it_was_is_given_again() {
        let before = manifest(&[("a", "1 2 444"), ("b", "1 2 444"), ("old", "1 2 444")]);
        let now = manifest(&[("a", "1 2 444"), ("b", "1 3 444"), ("new", "1 2 444")]);

        let Difference { changed, gone } = before.to(&now);

        assert_eq!((changed, gone), (vec!["b".to_owned(), "new".to_owned()], vec!["old".to_owned()]));
        assert_eq!(now.to(&now), Difference::default());
    }

    #[test]
    fn what_is_secret_is_known_by_its_mode() {
        let given = manifest(&[("token.json", "1 2 400"), ("SKILL.md", "400 400 444")]);

        assert!(given.is_secret("token.json"));
        assert!(!given.is_secret("SKILL.md") && !given.is_secret("other"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(files in prop::collection::btree_map("[^\\n\\r]{1,20}", (0_u64.., any::<i64>()), 0..9)) {
            let line = |(size, date): (u64, i64)| format!("{size} {date} 444");
            let files = files.into_iter().map(|(path, about)| (path, line(about))).collect();
            let written = Manifest { how: "mark".to_owned(), files };

            prop_assert_eq!(Manifest::read(&written.text()), written);
        }

        #[test]
        fn anything_can_be_read(text in any::<String>()) {
            let _ = Manifest::read(&text);
        }
    }
}
