//! By which path the engine knows a folder of ours. Pure.
//!
//! A program that is in a container itself and talks to the engine outside sees the same files under other
//! paths than the engine does, or files that the engine does not see at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What an engine is asked about the container that we are in: who it is, then what is mounted in it.
pub(super) const ASKED: &str =
    "{{.Id}}\t{{.Config.Hostname}}\n{{range .Mounts}}{{.Destination}}\t{{.Source}}\n{{end}}";

/// Folders of ours, and what the engine calls them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Paths {
    known: Vec<(PathBuf, PathBuf)>,
    /// Whether the engine sees nothing else of ours.
    only: bool,
}

impl Paths {
    /// As the settings say. What they do not name has the same path on both sides.
    pub(super) fn set(named: &BTreeMap<String, String>) -> Self {
        let known = named.iter().map(|(here, there)| (here.into(), there.into())).collect();
        Self { known, only: false }
    }

    /// As the engine answers to [`ASKED`] about a container of that name; nothing when that is not the one
    /// we are in.
    pub(super) fn inside(said: &str, host_name: &str) -> Option<Self> {
        let mut lines = said.lines();
        let (id, name) = lines.next()?.split_once('\t')?;
        let ours = !host_name.is_empty() && (id.starts_with(host_name) || name == host_name);
        let pairs = lines.filter_map(|line| line.split_once('\t'));
        let pairs = pairs.filter(|(here, there)| here.starts_with('/') && there.starts_with('/'));
        ours.then(|| Self {
            known: pairs.map(|(here, there)| (here.into(), there.into())).collect(),
            only: true,
        })
    }

    /// What the engine calls a path of ours; nothing when it does not see it.
    pub(super) fn there(&self, here: &Path) -> Option<PathBuf> {
        let above = self
            .known
            .iter()
            .filter_map(|(ours, theirs)| Some((ours, theirs, here.strip_prefix(ours).ok()?)));
        // The innermost mount is the one that is seen.
        match above.max_by_key(|(ours, ..)| ours.components().count()) {
            Some((_, theirs, below)) if below == Path::new("") => Some(theirs.clone()),
            Some((_, theirs, below)) => Some(theirs.join(below)),
            None => (!self.only).then(|| here.to_path_buf()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(paths: &Paths, here: &str) -> Option<String> {
        paths.there(Path::new(here)).map(|path| path.display().to_string())
    }

    #[test]
    fn a_path_is_the_same_on_both_sides_unless_something_is_known() {
        let named = BTreeMap::from([("/work".to_owned(), "/srv/ann".to_owned())]);

        assert_eq!(there(&Paths::default(), "/work/x"), Some("/work/x".to_owned()));
        assert_eq!(there(&Paths::set(&named), "/work/x"), Some("/srv/ann/x".to_owned()));
        assert_eq!(there(&Paths::set(&named), "/work"), Some("/srv/ann".to_owned()));
        assert_eq!(there(&Paths::set(&named), "/works"), Some("/works".to_owned()));
    }

    #[test]
    fn in_a_container_the_engine_sees_what_is_mounted_there_and_nothing_else() {
        let said = "0123456789abcdef\tbox\n/data\t/srv/data\n/data/deep\t/var/deep\n/run/docker.sock\t/run/docker.sock\n";
        let paths = Paths::inside(said, "0123456789ab").unwrap();

        assert_eq!(there(&paths, "/data/a"), Some("/srv/data/a".to_owned()));
        assert_eq!(there(&paths, "/data/deep/a"), Some("/var/deep/a".to_owned()));
        assert_eq!(there(&paths, "/root/.hermes"), None);
        assert_eq!(Paths::inside(said, "box"), Some(paths));
        assert_eq!(Paths::inside(said, "other"), None);
        assert_eq!(Paths::inside("", "box"), None);
    }
}
