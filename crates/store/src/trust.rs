//! What a person accepted that others brought: tool files and plugins of a project, by the digest of
//! their content. A change of one byte and it is a stranger again.
//!
//! Of a plugin with a say in what may run it is remembered that it had one: whoever changes it could take that
//! out of its manifest. So it is of plugins in the home, which nobody has to accept: they could be removed.
//!
//! `trusted.json` in the home, readable by its owner alone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{self, Mode, Stamp};
use crate::error::StoreError;
use crate::home::Home;
use crate::witness::Witnesses;

/// Most bytes that are read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Everything that was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    #[serde(default)]
    accepted: Vec<Accepted>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    own: Vec<OwnPolicy>,
}

/// A plugin of the home with a say in what may run, which is switched on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OwnPolicy {
    /// Where it was last seen.
    pub path: PathBuf,
    /// What it goes by.
    pub named: Named,
}

/// One thing that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Where it lies.
    pub path: PathBuf,
    /// Digest of its content.
    pub digest: String,
    /// What it goes by, if it is a plugin with a say in what may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Named>,
}

/// What a plugin goes by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Named {
    /// Its key: the name, or `category/folder`.
    pub key: String,
    /// What it calls itself.
    pub name: String,
}

impl Trust {
    /// What was accepted so far. A file that cannot be understood is an error, and accepts nothing.
    pub fn read(home: &Home) -> Result<Self, StoreError> {
        let path = file(home);
        let Some(text) = disk::read(&path, MAX_BYTES)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|wrong| StoreError::Syntax {
            path,
            line: wrong.line() as u64,
            column: wrong.column() as u64,
            why: wrong.to_string(),
        })
    }

    /// The same. Where it is written is taken note of.
    pub fn seen(home: &Home, witnesses: &mut Witnesses) -> Result<Self, StoreError> {
        Self::look_at(home, witnesses);
        Self::read(home)
    }

    /// Takes note of where it is written.
    pub fn look_at(home: &Home, witnesses: &mut Witnesses) {
        witnesses.see(&file(home));
    }

    /// Where the plugins lie that were accepted with a say in what may run, whatever project they are of. Only a
    /// program that starts wants to know whether there are others by now: whoever looks at one of them sees the
    /// list itself.
    pub fn policies(home: &Home, witnesses: &mut Witnesses) -> Vec<PathBuf> {
        if witnesses.see_far(&file(home)).is_none() {
            return Vec::new();
        }
        let accepted = Self::read(home).unwrap_or_default().accepted;
        accepted.into_iter().filter(|it| it.policy.is_some()).map(|it| it.path).collect()
    }

    /// Changes when something is accepted or taken back.
    pub fn stamp(home: &Home) -> Option<Stamp> {
        disk::stamp(&file(home))
    }

    /// Whether this content was accepted at this place.
    pub fn accepts(&self, path: &Path, digest: &str) -> bool {
        self.accepted.iter().any(|known| known.path == path && known.digest == digest)
    }

    /// Whether something else was accepted at this place before.
    pub fn knew(&self, path: &Path) -> bool {
        self.accepted.iter().any(|known| known.path == path)
    }

    /// Everything that was accepted, by path.
    pub fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    /// The plugins of the home that are known to have a say in what may run.
    pub fn own(&self) -> &[OwnPolicy] {
        &self.own
    }

    /// Remembers that these plugins of the home have a say, and no others.
    pub fn remember_own(home: &Home, own: Vec<OwnPolicy>) -> Result<(), StoreError> {
        Self::change(home, |trust| trust.own = own)
    }

    /// Accepts this content at this place, instead of what was accepted there before.
    pub fn accept(home: &Home, path: &Path, digest: &str) -> Result<(), StoreError> {
        Self::accept_as(home, path, digest, None)
    }

    /// The same for a plugin, with what it goes by if it has a say in what may run.
    pub fn accept_as(
        home: &Home,
        path: &Path,
        digest: &str,
        policy: Option<Named>,
    ) -> Result<(), StoreError> {
        Self::change(home, |trust| {
            trust.accepted.retain(|known| known.path != path);
            trust.accepted.push(Accepted { path: path.to_owned(), digest: digest.to_owned(), policy });
            trust.accepted.sort_by(|a, b| a.path.cmp(&b.path));
        })
    }

    /// Remembers that what was accepted has a say in what may run. Lists were once written without that.
    pub fn remember_policy(home: &Home, path: &Path, digest: &str, named: &Named) -> Result<(), StoreError> {
        Self::change(home, |trust| {
            let same = |known: &&mut Accepted| known.path == path && known.digest == digest;
            if let Some(known) = trust.accepted.iter_mut().find(same) {
                known.policy = Some(named.clone());
            }
        })
    }

    /// Takes back whatever was accepted at this place; `false` when nothing was.
    pub fn revoke(home: &Home, path: &Path) -> Result<bool, StoreError> {
        let mut found = false;
        Self::change(home, |trust| {
            let before = trust.accepted.len();
            trust.accepted.retain(|known| known.path != path);
            found = trust.accepted.len() < before;
        })?;
        Ok(found)
    }

    fn change(home: &Home, change: impl FnOnce(&mut Self)) -> Result<(), StoreError> {
        let path = file(home);
        let _lock = disk::lock(&path)?;
        let mut trust = Self::read(home)?;
        change(&mut trust);
        // Nothing is left of a list that is written without what it cannot hold.
        let text = serde_json::to_string_pretty(&trust).map_err(|_| StoreError::Edit {
            path: path.clone(),
            key: "accepted".to_owned(),
            why: "a name in the path of it is not UTF-8; rename that file or folder".to_owned(),
        })?;
        disk::write(&path, &format!("{text}\n"), Mode::Private)
    }
}

fn file(home: &Home) -> PathBuf {
    home.path().join("trusted.json")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_path_that_cannot_be_written_down_is_not_accepted_and_costs_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        Trust::accept(&home, Path::new("/work/.hermes/tools/a.py"), "one").unwrap();
        let before = Trust::read(&home).unwrap();

        let odd = Path::new(OsStr::from_bytes(b"/work-\xff/.hermes/tools/a.py"));
        let refused = Trust::accept(&home, odd, "two").unwrap_err().to_string();

        assert!(refused.contains("is not UTF-8; rename"), "{refused}");
        assert_eq!(Trust::read(&home).unwrap(), before);
    }

    #[test]
    fn exactly_what_was_accepted_is_trusted_until_it_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        let path = Path::new("/work/.hermes/tools/a.py");

        Trust::accept(&home, path, "one").unwrap();
        Trust::accept(&home, path, "two").unwrap();

        let trust = Trust::read(&home).unwrap();
        assert!(trust.accepts(path, "two") && !trust.accepts(path, "one"));
        assert!(!trust.accepts(Path::new("/other"), "two"));
        assert_eq!(trust.accepted().len(), 1);
        let mode = std::fs::metadata(file(&home)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(Trust::revoke(&home, path).unwrap() && !Trust::revoke(&home, path).unwrap());
        assert!(!Trust::read(&home).unwrap().knew(path));
    }

    #[test]
    fn a_say_that_was_accepted_is_remembered_also_of_a_list_that_did_not_tell() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        let (path, other) = (Path::new("/work/.hermes/plugins/pol"), Path::new("/work/.hermes/tools/a.py"));
        let named = Named { key: "pol".to_owned(), name: "pol".to_owned() };
        assert_eq!(Trust::policies(&home, &mut Witnesses::default()), Vec::<PathBuf>::new());
        std::fs::create_dir(home.path()).unwrap();
        let old = r#"{"accepted": [{"path": "/work/.hermes/plugins/pol", "digest": "one"}]}"#;
        std::fs::write(file(&home), old).unwrap();

        Trust::accept(&home, other, "two").unwrap();
        Trust::remember_policy(&home, path, "another", &named).unwrap();
        assert_eq!(Trust::policies(&home, &mut Witnesses::default()), Vec::<PathBuf>::new());
        Trust::remember_policy(&home, path, "one", &named).unwrap();

        assert_eq!(Trust::policies(&home, &mut Witnesses::default()), [path]);
        assert!(Trust::read(&home).unwrap().accepts(path, "one"));
        Trust::accept(&home, path, "three").unwrap();
        assert_eq!(Trust::policies(&home, &mut Witnesses::default()), Vec::<PathBuf>::new());
    }

    #[test]
    fn plugins_of_the_home_with_a_say_are_no_part_of_what_was_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        let named = Named { key: "pol".to_owned(), name: "pol".to_owned() };
        let own = vec![OwnPolicy { path: home.plugins().join("pol"), named }];

        Trust::remember_own(&home, own.clone()).unwrap();
        Trust::accept(&home, Path::new("/a.py"), "x").unwrap();

        let trust = Trust::read(&home).unwrap();
        assert_eq!((trust.own(), trust.accepted().len()), (own.as_slice(), 1));
        assert_eq!(Trust::policies(&home, &mut Witnesses::default()), Vec::<PathBuf>::new());
        Trust::remember_own(&home, Vec::new()).unwrap();
        assert!(!std::fs::read_to_string(file(&home)).unwrap().contains("own"));
    }

    #[test]
    fn a_file_that_makes_no_sense_accepts_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        std::fs::write(file(&home), "{ no").unwrap();

        assert!(matches!(Trust::read(&home), Err(StoreError::Syntax { .. })));
        assert!(Trust::accept(&home, Path::new("/a"), "x").is_err());
    }
}
