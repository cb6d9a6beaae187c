//! Which folder is the Hermes home, and where its files are.
//!
//! Choosing is a function of what it is handed: no environment is read here. Nothing is created
//! by choosing; folders appear when something is first written into them, readable by their owner
//! only.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::disk::{self, Kind, Mode};
use crate::error::StoreError;

/// The name that means "no profile: the root itself".
pub const DEFAULT_PROFILE: &str = "default";

const PROFILES: &str = "profiles";
const ACTIVE_PROFILE: &str = "active_profile";
/// What is written to see whether anything can be.
const TRIAL: &str = "This file tries whether the folder can be written; it can be deleted.\n";
/// An `active_profile` file holds one name.
const MAX_ACTIVE_PROFILE: u64 = 1024;
const MAX_NAME: usize = 64;

/// What decides the home, each as the caller found it.
#[derive(Debug, Clone, Copy, Default)]
pub struct HomeInputs<'a> {
    /// A path given for this run; it is the home, and no sticky profile applies.
    pub explicit: Option<&'a Path>,
    /// The value of `HERMES_HOME`; empty counts as unset, a leading `~/` is understood.
    pub hermes_home: Option<&'a OsStr>,
    /// The user's home folder, for `~/.hermes` and `~/`.
    pub user_home: Option<&'a Path>,
    /// The profile asked for (`-p`); `default` is the root itself.
    pub profile: Option<&'a str>,
}

/// A Hermes home: a folder, the root it belongs to, and the profile it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    profile: Option<String>,
    path: PathBuf,
}

/// Writes one method per file or folder of the home.
macro_rules! places {
    ($($(#[$doc:meta])* $method:ident = $name:literal;)*) => {
        impl Home {
            $($(#[$doc])* pub fn $method(&self) -> PathBuf { self.path.join($name) })*
        }
    };
}

places! {
    /// Settings, `config.yaml`.
    config = "config.yaml";
    /// Secrets, `.env`.
    env = ".env";
    /// Stored logins, `auth.json`.
    auth = "auth.json";
    /// The agent's identity, `SOUL.md`.
    soul = "SOUL.md";
    /// Sessions, messages and the journal, `hermes.db`.
    sessions_db = "hermes.db";
    /// The original's sessions and messages, `state.db`; only ever read.
    state_db = "state.db";
    /// Typed lines, `.hermes_history`.
    history = ".hermes_history";
    /// Shell hooks the user agreed to.
    hooks_allowlist = "shell-hooks-allowlist.json";
    /// Background processes that were running.
    processes = "processes.json";
    /// Folders with a name.
    projects = "projects.json";
    /// What the agent remembers.
    memories = "memories";
    /// Skills.
    skills = "skills";
    /// Plugins.
    plugins = "plugins";
    /// The user's own tool files.
    tools = "tools";
    /// Event hooks.
    hooks = "hooks";
    /// Scheduled jobs.
    cron = "cron";
    /// Scripts that jobs may run.
    scripts = "scripts";
    /// Session files.
    sessions = "sessions";
    /// Logs.
    logs = "logs";
    /// File snapshots.
    checkpoints = "checkpoints";
    /// What can be made again.
    cache = "cache";
    /// Chat users who were let in.
    pairing = "pairing";
}

impl Home {
    /// Makes the folder, for its owner alone; nothing happens when it is there.
    pub fn create(&self) -> Result<(), StoreError> {
        disk::make_private_folder(&self.path)
    }

    /// Whether the folder is there and can be written; an error when it is there and cannot.
    pub fn try_writing(&self) -> Result<bool, StoreError> {
        if !disk::is_folder(&self.path) {
            return Ok(false);
        }
        let trial = self.path.join(".hermes-trial");
        // On a full disk a file can be made, but nothing be written to it.
        let written = disk::write(&trial, TRIAL, Mode::Private);
        disk::remove(&trial)?;
        written?;
        Ok(true)
    }

    /// Whether somebody beside the owner can read one of its files.
    pub fn others_can_read(&self, file: &Path) -> bool {
        disk::open_to_others(file)
    }

    /// The task boards; all profiles of a root share them.
    pub fn kanban(&self) -> PathBuf {
        self.root.join("kanban")
    }

    /// Whether a file of a home, this or another, is there.
    pub fn has_file(path: &Path) -> bool {
        disk::is_file(path)
    }

    /// What `SOUL.md` says; nothing when there is none.
    pub fn soul_text(&self) -> Result<Option<String>, StoreError> {
        const MAX_BYTES: u64 = 256 * 1024;
        Ok(disk::read(&self.soul(), MAX_BYTES)?.filter(|text| !text.trim().is_empty()))
    }

    /// Finds the home. Reads at most the `active_profile` file and folder names; creates nothing.
    pub fn resolve(inputs: &HomeInputs<'_>) -> Result<Home, StoreError> {
        let named = match (inputs.explicit, inputs.hermes_home.filter(|value| !is_blank(value))) {
            (Some(path), _) => path.to_owned(),
            (None, Some(value)) => expand_tilde(Path::new(value), inputs.user_home)?,
            (None, None) => inputs.user_home.map(|home| home.join(".hermes")).ok_or_else(|| {
                no_home("the user's home folder is unknown; set HERMES_HOME to an absolute path")
            })?,
        };
        if !named.is_absolute() {
            return Err(no_home(&format!("{} is not an absolute path", named.display())));
        }
        let here = Home::at(&named);
        match inputs.profile {
            Some(name) => here.existing_profile(name),
            None if inputs.explicit.is_some() || here.profile.is_some() => Ok(here),
            None => match here.sticky_profile().map_err(|wrong| here.blamed(wrong))? {
                Some(name) => here.existing_profile(&name),
                None => Ok(here),
            },
        }
    }

    /// What is to blame when the home cannot be read: a file where its folder should be, or what was read.
    fn blamed(&self, wrong: StoreError) -> StoreError {
        if disk::is_file(&self.root) {
            no_home(&format!("{} is a file, not a folder; set HERMES_HOME to a folder", self.root.display()))
        } else {
            wrong
        }
    }

    /// The home at exactly this folder. A folder `…/profiles/<name>` is that profile of its root.
    pub fn at(path: &Path) -> Home {
        let named = path.file_name().and_then(|n| n.to_str()).filter(|n| is_profile_name(n));
        let above = path.parent().filter(|p| p.file_name().is_some_and(|n| n == PROFILES));
        match (named, above.and_then(Path::parent)) {
            (Some(name), Some(root)) => {
                Home { root: root.to_owned(), profile: Some(name.to_owned()), path: path.to_owned() }
            }
            _ => Home { root: path.to_owned(), profile: None, path: path.to_owned() },
        }
    }

    /// The folder all paths of this home start with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds the profiles; the same as [`Home::path`] without a profile.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The same under every name it has: as it was given, and as it is called where links lead.
    pub fn names_of_root(&self) -> Vec<PathBuf> {
        let (given, real) = (self.root.clone(), disk::real(&self.root));
        if given == real { vec![given] } else { vec![given, real] }
    }

    /// The profile this home is, `None` for the root itself.
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// Another profile of the same root, whether or not it exists yet.
    pub fn with_profile(&self, name: &str) -> Result<Home, StoreError> {
        if name == DEFAULT_PROFILE {
            return Ok(Home { root: self.root.clone(), profile: None, path: self.root.clone() });
        }
        if !is_profile_name(name) {
            return Err(StoreError::ProfileName { name: name.to_owned() });
        }
        let path = self.root.join(PROFILES).join(name);
        Ok(Home { root: self.root.clone(), profile: Some(name.to_owned()), path })
    }

    /// The profiles that exist, sorted by name.
    pub fn profiles(&self) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = disk::list(&self.root.join(PROFILES))?
            .into_iter()
            .filter(|entry| entry.kind == Kind::Folder || disk::is_folder(&entry.path))
            .filter_map(|entry| entry.path.file_name()?.to_str().map(str::to_owned))
            .filter(|name| is_profile_name(name))
            .collect();
        names.sort();
        Ok(names)
    }

    /// The profile that `active_profile` names, if any.
    pub fn sticky_profile(&self) -> Result<Option<String>, StoreError> {
        let text = disk::read(&self.root.join(ACTIVE_PROFILE), MAX_ACTIVE_PROFILE)?;
        let name = text.as_deref().map(str::trim).unwrap_or_default();
        Ok((!name.is_empty() && name != DEFAULT_PROFILE).then(|| name.to_owned()))
    }

    /// Makes a profile the one used when none is asked for; `default` goes back to the root.
    pub fn stick_to(&self, name: &str) -> Result<(), StoreError> {
        let file = self.root.join(ACTIVE_PROFILE);
        if name == DEFAULT_PROFILE {
            return disk::remove(&file);
        }
        self.existing_profile(name)?;
        disk::write(&file, &format!("{name}\n"), Mode::Keep)
    }

    fn existing_profile(&self, name: &str) -> Result<Home, StoreError> {
        let home = self.with_profile(name)?;
        if home.profile.is_some() && !disk::is_folder(&home.path) {
            let profiles = self.profiles()?;
            let suggestion = crate::config::nearest(name, profiles.iter().map(String::as_str));
            return Err(StoreError::NoProfile {
                name: name.to_owned(),
                path: home.path,
                suggestion: suggestion.map(str::to_owned),
            });
        }
        Ok(home)
    }
}

/// Whether a name may be a profile: `[a-z0-9][a-z0-9_-]{0,63}`.
pub fn is_profile_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= MAX_NAME
        && name.starts_with(plain)
        && name.chars().all(|c| plain(c) || c == '_' || c == '-')
}

fn is_blank(value: &OsStr) -> bool {
    value.to_str().is_some_and(|text| text.trim().is_empty())
}

fn expand_tilde(path: &Path, user_home: Option<&Path>) -> Result<PathBuf, StoreError> {
    let Ok(rest) = path.strip_prefix("~") else { return Ok(path.to_owned()) };
    user_home
        .map(|home| home.join(rest))
        .ok_or_else(|| no_home("HERMES_HOME starts with `~`, but the user's home folder is unknown"))
}

fn no_home(why: &str) -> StoreError {
    StoreError::NoHome { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests set up folders of their own")]

    use super::*;

    fn inputs(user: &Path) -> HomeInputs<'_> {
        HomeInputs { user_home: Some(user), ..HomeInputs::default() }
    }

    #[test]
    fn the_default_home_is_in_the_users_folder_and_is_not_created() {
        let user = tempfile::tempdir().unwrap();

        let home = Home::resolve(&inputs(user.path())).unwrap();

        assert_eq!(home.path(), user.path().join(".hermes"));
        assert_eq!(home.config(), user.path().join(".hermes/config.yaml"));
        assert!(!home.path().exists());
    }

    #[test]
    fn an_explicit_path_beats_the_variable_which_beats_the_default() {
        let user = Path::new("/u");
        let variable = HomeInputs { hermes_home: Some(OsStr::new("~/h")), ..inputs(user) };
        let explicit = HomeInputs { explicit: Some(Path::new("/x")), ..variable };
        let empty = HomeInputs { hermes_home: Some(OsStr::new("  ")), ..inputs(user) };

        assert_eq!(Home::resolve(&variable).unwrap().path(), Path::new("/u/h"));
        assert_eq!(Home::resolve(&explicit).unwrap().path(), Path::new("/x"));
        assert_eq!(Home::resolve(&empty).unwrap().path(), Path::new("/u/.hermes"));
    }

    #[test]
    fn a_home_that_cannot_be_known_is_an_error() {
        let nothing = HomeInputs::default();
        let relative = HomeInputs { hermes_home: Some(OsStr::new("h")), ..nothing };
        let tilde = HomeInputs { hermes_home: Some(OsStr::new("~/h")), ..nothing };

        for bad in [nothing, relative, tilde] {
            assert!(matches!(Home::resolve(&bad), Err(StoreError::NoHome { .. })), "{bad:?}");
        }
    }

    #[test]
    fn a_profile_is_a_home_of_its_own() {
        let user = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(user.path().join(".hermes/profiles/coder")).unwrap();
        let asked = HomeInputs { profile: Some("coder"), ..inputs(user.path()) };

        let home = Home::resolve(&asked).unwrap();

        assert_eq!(home.profile(), Some("coder"));
        assert_eq!(home.env(), user.path().join(".hermes/profiles/coder/.env"));
        assert_eq!(home.root(), user.path().join(".hermes"));
        assert_eq!(home.profiles().unwrap(), ["coder"]);
    }

    #[test]
    fn a_profile_that_is_not_there_is_an_error_with_a_suggestion() {
        let user = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(user.path().join(".hermes/profiles/coder")).unwrap();
        let asked = HomeInputs { profile: Some("codr"), ..inputs(user.path()) };

        let error = Home::resolve(&asked).unwrap_err();

        assert!(error.to_string().ends_with("did you mean `coder`?"), "{error}");
    }

    #[test]
    fn the_sticky_profile_holds_until_another_is_asked_for() {
        let user = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(user.path().join(".hermes/profiles/coder")).unwrap();
        let root = Home::resolve(&inputs(user.path())).unwrap();

        root.stick_to("coder").unwrap();
        assert_eq!(Home::resolve(&inputs(user.path())).unwrap().profile(), Some("coder"));

        let back = HomeInputs { profile: Some("default"), ..inputs(user.path()) };
        assert_eq!(Home::resolve(&back).unwrap().profile(), None);
        let exact = HomeInputs { explicit: Some(root.path()), ..inputs(user.path()) };
        assert_eq!(Home::resolve(&exact).unwrap().profile(), None);

        root.stick_to("default").unwrap();
        assert_eq!(Home::resolve(&inputs(user.path())).unwrap().profile(), None);
    }

    #[test]
    fn a_sticky_profile_that_vanished_stops_the_run_instead_of_using_another_home() {
        let user = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(user.path().join(".hermes")).unwrap();
        std::fs::write(user.path().join(".hermes/active_profile"), "gone\n").unwrap();

        assert!(matches!(Home::resolve(&inputs(user.path())), Err(StoreError::NoProfile { .. })));
    }

    #[test]
    fn a_variable_that_points_into_a_profile_still_knows_its_root() {
        let user = tempfile::tempdir().unwrap();
        let profiles = user.path().join("h/profiles");
        std::fs::create_dir_all(profiles.join("a")).unwrap();
        std::fs::create_dir_all(profiles.join("b")).unwrap();
        std::fs::write(user.path().join("h/active_profile"), "b").unwrap();
        let value = profiles.join("a");
        let at_a = HomeInputs { hermes_home: Some(value.as_os_str()), ..inputs(user.path()) };
        let at_b = HomeInputs { profile: Some("b"), ..at_a };

        assert_eq!(Home::resolve(&at_a).unwrap().profile(), Some("a"));
        assert_eq!(Home::resolve(&at_b).unwrap().path(), profiles.join("b"));
    }

    #[test]
    fn profile_names_cannot_leave_their_folder() {
        let home = Home::at(Path::new("/h"));

        for bad in ["", "..", "a/b", "A", "-a", "_a", ".a", "a b", "é", &"a".repeat(65)] {
            assert!(matches!(home.with_profile(bad), Err(StoreError::ProfileName { .. })), "{bad}");
        }
        for good in ["a", "0", "a-b_c", &"a".repeat(64)] {
            assert!(home.with_profile(good).is_ok(), "{good}");
        }
    }
}
