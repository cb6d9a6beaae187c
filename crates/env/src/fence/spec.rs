//! What a fence demands, and how that travels to the launcher: as plain words on its command line.
//!
//! Words and not a document, because a path is any bytes and an argument can carry them as they are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use super::plan::{Plan, Rights};

/// First word of a fenced command line.
pub(super) const FENCED: &str = "__fenced";

/// Between the demands and the command.
const END: &str = "--";

/// What must hold before the command runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Spec {
    /// Rights by path; all else can be read. Paths are absolute and hold no link.
    pub(super) entries: Vec<(Rights, PathBuf)>,
    /// No sockets but pairs that are connected from the start.
    pub(super) no_network: bool,
    /// Sockets that are files may be used even without a network.
    pub(super) unix_sockets: bool,
    /// No signals to processes outside, and no unnamed sockets of theirs.
    pub(super) scoped: bool,
}

impl Spec {
    pub(super) fn plan(&self) -> Plan {
        let mut plan = Plan::new();
        self.entries.iter().for_each(|(rights, path)| plan.set(path, *rights));
        plan
    }

    /// The words after `$0`, up to where the command begins.
    pub(super) fn words(&self) -> Vec<OsString> {
        let flags =
            [(self.no_network, "no-network"), (self.unix_sockets, "unix-sockets"), (self.scoped, "scoped")];
        let flags = flags.into_iter().filter(|(on, _)| *on).map(|(_, word)| OsString::from(word));
        let paths = self.entries.iter().map(|(rights, path)| {
            let mark: &[u8] = match rights {
                Rights::None => b"none:",
                Rights::Read => b"read:",
                Rights::Write => b"write:",
            };
            OsString::from_vec([mark, path.as_os_str().as_bytes()].concat())
        });
        std::iter::once(FENCED.into()).chain(flags).chain(paths).chain([END.into()]).collect()
    }

    /// Reads the words after the first one, and leaves those of the command.
    pub(super) fn read(words: &mut dyn Iterator<Item = OsString>) -> Result<Self, String> {
        let mut spec = Self::default();
        for word in words {
            match word.as_bytes() {
                b"--" => return Ok(spec),
                b"no-network" => spec.no_network = true,
                b"unix-sockets" => spec.unix_sockets = true,
                b"scoped" => spec.scoped = true,
                _ => spec.entries.push(entry(&word)?),
            }
        }
        Err("its demands do not end".to_owned())
    }
}

fn entry(word: &OsStr) -> Result<(Rights, PathBuf), String> {
    let marks: [(&[u8], Rights); 3] =
        [(b"none:", Rights::None), (b"read:", Rights::Read), (b"write:", Rights::Write)];
    marks
        .into_iter()
        .find_map(|(mark, rights)| Some((rights, word.as_bytes().strip_prefix(mark)?)))
        .map(|(rights, path)| (rights, PathBuf::from(OsStr::from_bytes(path))))
        .filter(|(_, path)| path.is_absolute())
        .ok_or_else(|| format!("it does not know the demand `{}`", word.display()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_demanded_arrives_whatever_the_paths_are(
            paths in prop::collection::vec((0_u8..3, prop::collection::vec(1_u8.., 0..20)), 0..5),
            flags in any::<(bool, bool, bool)>(),
        ) {
            let entries = paths.into_iter().map(|(rights, bytes)| {
                let rights = [Rights::None, Rights::Read, Rights::Write][usize::from(rights)];
                (rights, PathBuf::from(OsString::from_vec([b"/".as_slice(), &bytes].concat())))
            });
            let (no_network, unix_sockets, scoped) = flags;
            let spec = Spec { entries: entries.collect(), no_network, unix_sockets, scoped };
            let mut words = spec.words().into_iter().chain(["true".into()]).skip(1);

            prop_assert_eq!(Spec::read(&mut words), Ok(spec));
            prop_assert_eq!(words.collect::<Vec<_>>(), ["true"]);
        }
    }

    #[test]
    fn a_demand_nobody_knows_is_refused() {
        for words in [&["no-netwrok", "--"][..], &["write:relative", "--"], &["write:/a"], &[]] {
            assert!(Spec::read(&mut words.iter().map(OsString::from)).is_err(), "{words:?}");
        }
    }
}
