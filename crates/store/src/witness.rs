//! Witnesses: the files and folders from which something was found out, with the dates they had. As long
//! as those are the same it need not be found out again, and nothing is opened or listed to see that.
//!
//! `kept`: what was found out, kept for programs that start later.

mod kept;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::digest::digest_pair;

use crate::disk::{self, Stamp};

pub use kept::{Kept, forget, is_kept};

/// What was looked at. A folder counts with the names in it, a file with its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witnesses {
    /// Asked whenever anybody wants to know.
    near: Vec<Witness>,
    /// Asked by a program that starts.
    far: Vec<Witness>,
}

/// A place, and what was there.
#[derive(Debug, Clone)]
struct Witness {
    place: Place,
    stamp: Option<Stamp>,
}

/// Where something is.
#[derive(Debug, Clone)]
enum Place {
    Path(PathBuf),
    /// One of many that were kept, which stay as they were written.
    Kept(Arc<Places>, Span),
}

/// Places that were kept together.
#[derive(Debug)]
struct Places {
    /// The folder that most of them are in.
    base: PathBuf,
    /// Where their names stand.
    text: String,
}

/// Where in a text a part of it begins and ends.
type Span = (u32, u32);

impl Witness {
    fn of(path: &Path) -> Self {
        Self { place: Place::Path(path.to_owned()), stamp: disk::any_stamp(path) }
    }

    fn path(&self) -> Cow<'_, Path> {
        match &self.place {
            Place::Path(path) => path.into(),
            Place::Kept(places, span) => {
                disk::whole(&places.base, part(&places.text, *span).unwrap_or_default()).into()
            }
        }
    }

    fn is_same(&self) -> bool {
        disk::any_stamp(&self.path()) == self.stamp
    }
}

impl PartialEq for Witness {
    fn eq(&self, other: &Self) -> bool {
        self.stamp == other.stamp && self.path() == other.path()
    }
}

impl Eq for Witness {}

fn part(text: &str, (begin, end): Span) -> Option<&str> {
    text.get(begin as usize..end as usize)
}

/// The numbers of a stamp.
fn words(stamp: Option<Stamp>) -> [u64; 6] {
    stamp.map_or([0; 6], |stamp| stamp.words())
}

impl Witnesses {
    /// Takes note of what is there now. To be done before it is opened or listed: what changes meanwhile
    /// is then seen the next time.
    pub fn see(&mut self, path: &Path) -> Option<Stamp> {
        let witness = Witness::of(path);
        let stamp = witness.stamp;
        self.near.push(witness);
        stamp
    }

    /// What was at each place that was looked at, in the order of the looks.
    pub fn stamps(&self) -> impl Iterator<Item = Option<Stamp>> {
        self.near.iter().map(|witness| witness.stamp)
    }

    /// The same for something of which a program that runs does not want to know.
    pub(crate) fn see_far(&mut self, path: &Path) -> Option<Stamp> {
        let witness = Witness::of(path);
        let stamp = witness.stamp;
        self.far.push(witness);
        stamp
    }

    /// Takes over what others have seen.
    pub fn join(&mut self, others: Self) {
        self.near.extend(others.near);
        self.far.extend(others.far);
    }

    /// Keeps of what was seen more than once the first look: what changed in between is then noticed.
    pub fn settle(&mut self) {
        for seen in [&mut self.near, &mut self.far] {
            seen.sort_by(|a, b| a.path().as_os_str().cmp(b.path().as_os_str()));
            seen.dedup_by(|later, first| later.path().as_os_str() == first.path().as_os_str());
        }
    }

    /// Whether everything near is as it was.
    pub fn hold(&self) -> bool {
        self.near.iter().all(Witness::is_same)
    }

    /// Fingerprint of all dates. Nobody can choose the dates and numbers that it is made of, so that a quick one
    /// will do; where it comes out otherwise than before, things are found out anew.
    fn dates(&self) -> u64 {
        let seen = self.near.iter().chain(&self.far);
        seen.flat_map(|witness| words(witness.stamp)).fold(0, digest_pair)
    }

    /// The deepest folder that more than half of everything is in; none where a path begins nowhere.
    fn base(&self) -> PathBuf {
        let all: Vec<Cow<'_, Path>> = self.near.iter().chain(&self.far).map(Witness::path).collect();
        if all.iter().any(|path| path.is_relative()) {
            return PathBuf::new();
        }
        let mut inside: BTreeMap<&Path, usize> = BTreeMap::new();
        for folder in all.iter().flat_map(|path| path.ancestors().skip(1)) {
            *inside.entry(folder).or_default() += 1;
        }
        let most = inside.into_iter().filter(|(_, inside)| inside * 2 > all.len()).map(|(folder, _)| folder);
        // They lie in each other.
        most.max_by_key(|folder| folder.as_os_str().len()).map(Path::to_owned).unwrap_or_default()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use super::*;

    #[test]
    fn what_changes_comes_or_goes_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, none, folder) =
            (dir.path().join("file"), dir.path().join("none"), dir.path().join("folder"));
        std::fs::write(&file, "a").unwrap();
        std::fs::create_dir(&folder).unwrap();
        let seen = || {
            let mut seen = Witnesses::default();
            for path in [&file, &none, &folder] {
                seen.see(path);
            }
            assert!(seen.hold());
            seen
        };

        let first = seen();
        std::fs::write(&file, "longer").unwrap();
        assert!(!first.hold());
        let second = seen();
        std::fs::write(folder.join("inner"), "").unwrap();
        assert!(!second.hold());
        let third = seen();
        std::fs::write(&none, "").unwrap();
        assert!(!third.hold());
        let fourth = seen();
        std::fs::remove_file(&file).unwrap();
        assert!(!fourth.hold());
    }

    #[test]
    fn of_two_looks_the_first_counts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let mut seen = Witnesses::default();
        std::fs::write(&file, "a").unwrap();
        seen.see(&file);
        std::fs::write(&file, "longer").unwrap();
        seen.see(&file);

        seen.settle();

        assert_eq!(seen.near.len(), 1);
        assert!(!seen.hold());
    }
}
