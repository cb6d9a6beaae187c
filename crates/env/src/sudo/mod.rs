//! Passwords for `sudo`, from the person to `sudo` and past everything else.
//!
//! A command that calls `sudo` where there is no terminal has it run a helper (`SUDO_ASKPASS`), which is
//! this program once more. The helper never sees the password: it hands us the pipe that `sudo` reads
//! from and lets go of it. Once it is certain that the helper was started by the real `sudo`, which a
//! command of ours started, and that nobody else holds the pipe, the password is written straight into it.
//!
//! `sudo` asks a helper by itself only on a graphical desktop; everywhere else it has to be told with
//! `-A`. A link called `sudo` at the front of the search path does that, and nothing else.
//!
//! | file | what |
//! |---|---|
//! | `answers.rs` | which answer `sudo` gets: pure |
//! | `words.rs` | which words the real `sudo` is started with: pure |
//! | `origin.rs` | who asks: looked up in `/proc` |
//! | `pipe.rs` | the pipe, and who else holds it |
//! | `desk.rs` | answers the helpers |
//! | `helper.rs` | the helper, and the link called `sudo` |

#![expect(clippy::disallowed_methods, reason = "links and a socket in the private folder")]

mod answers;
mod desk;
mod helper;
mod origin;
mod pipe;
mod words;

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::host::Host;
use hermes_core::sudo::{Password, SudoAsker};

pub use helper::called;

use crate::probe::program_on_path;

/// The variable by which `sudo` finds its helper.
pub(crate) const ASKPASS: &str = "SUDO_ASKPASS";

/// The helper's name when a person may be asked, and when nobody may: in the background.
pub(crate) const HELPER: &str = "hermes-askpass";
pub(crate) const QUIET: &str = "hermes-askpass-quiet";

/// What stands at the front of the search path.
pub(crate) const SUDO: &str = "sudo";

/// Where helpers find us, beside their own links.
pub(crate) const SOCKET: &str = "socket";

/// The folder of the links, below the one of the socket.
pub(crate) const LINKS: &str = "bin";

/// The folder of all this, below the private one.
const FOLDER: &str = "sudo";

/// Where passwords come from.
#[derive(Clone)]
pub struct SudoSettings {
    /// The program that calls [`called`] first thing in its `main`.
    pub helper: PathBuf,
    /// The password that was configured.
    pub configured: Option<Password>,
    /// Who is asked for one.
    pub asker: Option<Arc<dyn SudoAsker>>,
}

/// Whether there is anything to do here: `sudo` is there, and it would ask this user.
pub fn is_wanted(path: &OsStr) -> bool {
    !rustix::process::geteuid().is_root() && program_on_path(SUDO, path).is_some()
}

/// Whether a command's `sudo` may lead to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Somebody waits for the command.
    ThePerson,
    /// It runs in the background: what is known already has to do.
    Nobody,
}

/// Ready to answer; it ends when this is dropped.
pub(crate) struct Sudo {
    folder: PathBuf,
    _desk: desk::Open,
}

impl Sudo {
    /// Begins to answer, with links and a socket in a private folder.
    pub(crate) fn open(settings: SudoSettings, private: &Path, host: &Arc<dyn Host>) -> io::Result<Self> {
        let folder = private.join(FOLDER);
        let links = folder.join(LINKS);
        for folder in [&folder, &links] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        for (place, name) in [(&folder, HELPER), (&folder, QUIET), (&links, SUDO)] {
            symlink(&settings.helper, place.join(name))?;
        }
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let desk = desk::open(listener, settings.configured, settings.asker, host)?;
        Ok(Self { folder, _desk: desk })
    }

    /// Puts the helper and the search path into the variables of a command. A helper of the person's own
    /// stays.
    pub(crate) fn dress(&self, variables: &mut Vec<(OsString, OsString)>, asks: Asks) {
        let helper = match asks {
            Asks::ThePerson => self.folder.join(HELPER),
            Asks::Nobody => self.folder.join(QUIET),
        };
        let own = variables.iter().any(|(name, value)| name == ASKPASS && !is_ours(Path::new(value)));
        if own {
            return;
        }
        variables.retain(|(name, _)| name != ASKPASS);
        variables.push((ASKPASS.into(), helper.into()));
        let links = self.folder.join(LINKS);
        if let Some((_, path)) = variables.iter_mut().find(|(name, _)| name == "PATH")
            && !std::env::split_paths(path).any(|entry| entry == links)
        {
            let mut longer = links.into_os_string();
            longer.push(":");
            longer.push(&*path);
            *path = longer;
        }
    }
}

/// Whether a helper is one of ours, of this run or an earlier one.
fn is_ours(helper: &Path) -> bool {
    helper.file_name().is_some_and(|name| name == HELPER || name == QUIET)
}

#[cfg(test)]
mod tests;
