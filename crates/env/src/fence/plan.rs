//! What may be done where: rights per path, and which of them have to be handed out to get there.
//!
//! Pure. The kernel only knows how to add rights to a folder with everything below it, never how to
//! take some away again. So a folder that holds an exception is not granted itself: its entries are,
//! one by one, without the exception.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// What may be done with a path and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rights {
    /// Its names can be listed, nothing else.
    None,
    /// Read and run.
    Read,
    /// Everything.
    Write,
}

/// Rights by path; the longest path that holds a file decides about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    root: Node,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    own: Option<Rights>,
    below: BTreeMap<OsString, Node>,
}

/// One thing to do, in order, to put a plan into force.
pub(super) trait Granter {
    /// Why it cannot go on.
    type Error;

    /// Adds rights to this path and everything below it; nothing happens when it is not there.
    fn grant(&mut self, path: &Path, rights: Rights) -> Result<(), Self::Error>;

    /// Adds rights to every entry of this folder except those named. Links are left out: what they
    /// lead to has rights of its own.
    fn grant_entries(
        &mut self,
        folder: &Path,
        rights: Rights,
        except: &mut dyn Iterator<Item = &OsStr>,
    ) -> Result<(), Self::Error>;
}

impl Plan {
    /// Everything may be read.
    pub(super) fn new() -> Self {
        Self { root: Node { own: Some(Rights::Read), below: BTreeMap::new() } }
    }

    /// Sets the rights of an absolute path. Where two speak about the same path the weaker holds.
    pub(super) fn set(&mut self, path: &Path, rights: Rights) {
        let node =
            names(path).fold(&mut self.root, |node, name| node.below.entry(name.to_owned()).or_default());
        node.own = Some(node.own.filter(|_| path.parent().is_some()).map_or(rights, |own| own.min(rights)));
    }

    /// The rights of a path.
    pub(super) fn at(&self, path: &Path) -> Rights {
        let mut found = self.root.own.unwrap_or(Rights::None);
        let mut node = &self.root;
        for name in names(path) {
            let Some(next) = node.below.get(name) else { break };
            found = next.own.unwrap_or(found);
            node = next;
        }
        found
    }

    /// The most that may be done with a path or anything below it.
    pub(super) fn most_at_or_below(&self, path: &Path) -> Rights {
        let here = self.at(path);
        let node = names(path).try_fold(&self.root, |node, name| node.below.get(name));
        node.map_or(here, |node| node.most(here))
    }

    /// Folders in which new entries get fewer rights than the folder has, because an exception is
    /// below them.
    pub(super) fn frozen(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.root.frozen(Path::new("/"), Rights::None, &mut found);
        found
    }

    /// Hands out all rights.
    pub(super) fn grant<G: Granter>(&self, to: &mut G) -> Result<(), G::Error> {
        self.root.grant(Path::new("/"), Rights::None, Rights::None, to)
    }
}

impl Node {
    fn most(&self, inherited: Rights) -> Rights {
        let own = self.own.unwrap_or(inherited);
        self.below.values().map(|node| node.most(own)).fold(own, Ord::max)
    }

    fn least(&self, inherited: Rights) -> Rights {
        let own = self.own.unwrap_or(inherited);
        self.below.values().map(|node| node.least(own)).fold(own, Ord::min)
    }

    fn frozen(&self, path: &Path, inherited: Rights, found: &mut Vec<PathBuf>) {
        let own = self.own.unwrap_or(inherited);
        if own == Rights::Write && self.least(inherited) < own {
            found.push(path.to_owned());
        }
        for (name, node) in &self.below {
            node.frozen(&path.join(name), own, found);
        }
    }

    /// `covered` is what an ancestor was granted already.
    fn grant<G: Granter>(
        &self,
        path: &Path,
        inherited: Rights,
        covered: Rights,
        to: &mut G,
    ) -> Result<(), G::Error> {
        let own = self.own.unwrap_or(inherited);
        let whole = self.least(inherited);
        if whole > covered {
            to.grant(path, whole)?;
        }
        let covered = covered.max(whole);
        if own > covered {
            to.grant_entries(path, own, &mut self.below.keys().map(OsString::as_os_str))?;
        }
        self.below.iter().try_for_each(|(name, node)| node.grant(&path.join(name), own, covered, to))
    }
}

/// The names on the way to a path.
fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A small disk: every folder holds `a`, `b` and `c`, three deep.
    #[derive(Default)]
    struct Disk(Vec<(PathBuf, Rights)>);

    const NAMES: [&str; 3] = ["a", "b", "c"];

    impl Granter for Disk {
        type Error = ();

        fn grant(&mut self, path: &Path, rights: Rights) -> Result<(), ()> {
            self.0.push((path.to_owned(), rights));
            Ok(())
        }

        fn grant_entries(
            &mut self,
            folder: &Path,
            rights: Rights,
            except: &mut dyn Iterator<Item = &OsStr>,
        ) -> Result<(), ()> {
            let except: Vec<&OsStr> = except.collect();
            let named = NAMES.iter().filter(|name| !except.contains(&OsStr::new(name)));
            self.0.extend(named.map(|name| (folder.join(name), rights)));
            Ok(())
        }
    }

    impl Disk {
        /// What the kernel would allow: the sum of all grants on the way.
        fn at(&self, path: &Path) -> Rights {
            let on_the_way = self.0.iter().filter(|(granted, _)| path.starts_with(granted));
            on_the_way.map(|(_, rights)| *rights).max().unwrap_or(Rights::None)
        }
    }

    fn planned(entries: &[(&str, Rights)]) -> Plan {
        let mut plan = Plan::new();
        for (path, rights) in entries {
            plan.set(Path::new(path), *rights);
        }
        plan
    }

    #[test]
    fn without_exceptions_the_root_is_granted_and_what_may_be_written() {
        let mut disk = Disk::default();

        planned(&[("/w", Rights::Write)]).grant(&mut disk).unwrap();

        assert_eq!(disk.0, [("/".into(), Rights::Read), ("/w".into(), Rights::Write)]);
    }

    #[test]
    fn around_an_exception_entries_are_granted_one_by_one() {
        let mut disk = Disk::default();

        planned(&[("/a/b", Rights::None)]).grant(&mut disk).unwrap();

        let paths: Vec<_> = disk.0.iter().map(|(path, _)| path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/b", "/c", "/a/a", "/a/c"]);
    }

    #[test]
    fn the_longest_path_decides_and_of_two_equal_ones_the_weaker() {
        let plan = planned(&[
            ("/h/.ssh", Rights::None),
            ("/h/.ssh/config", Rights::Read),
            ("/h", Rights::Write),
            ("/h/.ssh", Rights::Write),
        ]);

        assert_eq!(plan.at(Path::new("/h/.ssh/id")), Rights::None);
        assert_eq!(plan.at(Path::new("/h/.ssh/config")), Rights::Read);
        assert_eq!(plan.at(Path::new("/h/x/y")), Rights::Write);
        assert_eq!(plan.at(Path::new("/etc")), Rights::Read);
        assert_eq!(plan.most_at_or_below(Path::new("/")), Rights::Write);
        assert_eq!(plan.most_at_or_below(Path::new("/h/.ssh")), Rights::Read);
        assert_eq!(plan.frozen(), [Path::new("/h")]);
    }

    fn rights() -> impl Strategy<Value = Rights> {
        prop_oneof![Just(Rights::None), Just(Rights::Read), Just(Rights::Write)]
    }

    fn path() -> impl Strategy<Value = PathBuf> {
        prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..4)
            .prop_map(|names| Path::new("/").join(names.iter().collect::<PathBuf>()))
    }

    proptest! {
        #[test]
        fn nothing_gets_more_than_planned_and_what_has_no_exception_below_gets_all(
            entries in prop::collection::vec((path(), rights()), 0..6),
            asked in path(),
        ) {
            let mut plan = Plan::new();
            for (path, rights) in &entries {
                plan.set(path, *rights);
            }
            let mut disk = Disk::default();
            plan.grant(&mut disk).unwrap();

            prop_assert!(disk.at(&asked) <= plan.at(&asked));
            if entries.iter().all(|(path, _)| path == &asked || !path.starts_with(&asked)) {
                prop_assert_eq!(disk.at(&asked), plan.at(&asked));
            }
        }
    }
}
