//! What a container shares with this machine, and what outlives it.
//!
//! Usually both are folders of ours that it mounts. Where the engine does not see our files, what is kept
//! is kept in volumes of the engine, and nothing of ours is mounted.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};

use hermes_core::environment::EnvError;

use crate::containers::container::{ANSWER, Container, OURS, OWNER, START, TASK, own_machine};
use crate::containers::kept;
use crate::containers::paths::{ASKED, Paths};
use crate::far::Reach as _;
use crate::probe::file_exists;

/// What engines put into containers, so that programs can tell.
const INSIDE: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// What a container shares, as the engine knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shares {
    /// Where `/root` and `/workspace` are kept.
    pub(super) kept: Kept,
    /// The directory the person works in, when it is mounted.
    pub(super) cwd: Option<PathBuf>,
    /// The folder with what places are given, when it is mounted.
    pub(super) mirror: Option<PathBuf>,
}

/// Where what outlives a container is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Kept {
    /// Nowhere: it goes with the container.
    #[default]
    Nowhere,
    /// In a folder that the engine sees.
    Folder(PathBuf),
    /// In volumes whose names begin like this.
    Volumes(String),
}

impl Shares {
    /// The folders of ours, as the engine knows them.
    pub(super) fn own(&self) -> impl Iterator<Item = &Path> {
        let kept = match &self.kept {
            Kept::Folder(folder) => Some(folder.as_path()),
            Kept::Nowhere | Kept::Volumes(_) => None,
        };
        kept.into_iter().chain(self.mirror.as_deref())
    }
}

/// The volumes of a place, by what they hold.
pub(super) fn volume(beginning: &str, part: &str) -> String {
    format!("{beginning}-{part}")
}

/// What is kept of a container.
const PARTS: [&str; 2] = ["home", "workspace"];

impl Container {
    /// By which paths the engine knows folders of ours: as it is set, or, where we are in one of its
    /// containers ourselves, as that is mounted.
    async fn paths(&self) -> Paths {
        if let Some(known) = self.paths.get() {
            return known.clone();
        }
        let set = &self.settings.engine_paths;
        let paths = if set.is_empty() && INSIDE.iter().any(|path| file_exists(Path::new(path))) {
            self.paths_inside().await.unwrap_or_default()
        } else {
            Paths::set(set)
        };
        self.paths.get_or_init(|| paths).clone()
    }

    async fn paths_inside(&self) -> Option<Paths> {
        let host_name = own_machine();
        // Another engine's container, or one with another host name, is not known: then it is tried.
        let said = self
            .ask(&["inspect", "--type", "container", "--format", ASKED, &host_name], ANSWER)
            .await
            .ok()?;
        Paths::inside(&said.text(), &host_name).filter(|_| said.is_well())
    }

    /// What the next container shares. What the engine turns out not to see is not shared from now on.
    pub(super) async fn shares(&self) -> Result<Shares, EnvError> {
        let paths = self.paths().await;
        let there = |mirror: &PathBuf| self.mounts() && file_exists(mirror);
        let shelf = self.around.shelf.as_ref().filter(|shelf| there(&shelf.mirror));
        let mirror = shelf.and_then(|shelf| paths.there(&shelf.mirror));
        if shelf.is_some() && mirror.is_none() {
            self.mount_nothing();
        }
        let cwd = match self.around.cwd.as_ref().filter(|_| self.settings.mount_cwd) {
            Some(cwd) => Some(paths.there(cwd).ok_or_else(|| {
                let cwd = cwd.display();
                let why = format!("the engine does not see {cwd}, which `mount_cwd` asks for");
                self.wrong(&format!("{why}: mount it into this container, or set `engine_paths`"))
            })?),
            None => None,
        };
        Ok(Shares { kept: self.kept(&paths).await?, cwd, mirror })
    }

    /// Where what outlives the container is; it is made if it is wanted.
    async fn kept(&self, paths: &Paths) -> Result<Kept, EnvError> {
        let Some(folder) = self.kept_folder() else { return Ok(Kept::Nowhere) };
        if !self.sees_others()
            && let Some(there) = paths.there(&folder)
        {
            for part in PARTS {
                kept::make(&folder.join(part)).map_err(|why| EnvError::Files {
                    doing: format!("cannot make {}", folder.join(part).display()),
                    why: why.to_string(),
                })?;
            }
            return Ok(Kept::Folder(there));
        }
        let beginning = self.volumes();
        for part in PARTS {
            self.make_volume(&volume(&beginning, part)).await?;
        }
        Ok(Kept::Volumes(beginning))
    }

    /// The folder of this machine for what outlives the container, if anything does.
    fn kept_folder(&self) -> Option<PathBuf> {
        let sandbox = self.around.sandbox.as_ref().filter(|_| self.settings.persistent)?;
        Some(sandbox.join(self.engine.name()).join(&self.around.name))
    }

    /// Whether anything of ours is mounted beside what the settings name.
    pub(super) fn mounts_or_keeps(&self) -> bool {
        !self.sees_others() && (self.mounts() || self.kept_folder().is_some())
    }

    /// What the names of the place's volumes begin with; the name of a place may have any letter.
    fn volumes(&self) -> String {
        let name = BuildHasherDefault::<DefaultHasher>::default().hash_one(&self.around.name);
        format!("hermes-{}-{name:016x}", self.around.owner)
    }

    async fn make_volume(&self, name: &str) -> Result<(), EnvError> {
        if self.ask(&["volume", "inspect", name], ANSWER).await?.is_well() {
            return Ok(());
        }
        let [ours, owner, task] = [
            format!("{OURS}=1"),
            format!("{OWNER}={}", self.around.owner),
            format!("{TASK}={}", self.around.name),
        ];
        let words = ["volume", "create", "--label", &ours, "--label", &owner, "--label", &task, name];
        let mut said = self.ask(&words, ANSWER).await?;
        if let (true, Some((user, group))) = (said.is_well(), self.user()) {
            // A new one is root's.
            let (mount, owner) = (format!("{name}:/kept"), format!("{user}:{group}"));
            let words =
                ["run", "--rm", "--network", "none", "--user", "0:0", "-v", &mount, "--entrypoint", "chown"];
            said = self
                .ask(&[words.as_slice(), &[&self.settings.image, &owner, "/kept"]].concat(), START)
                .await?;
        }
        if said.is_well() { Ok(()) } else { Err(self.wrong(&said.complaint())) }
    }

    /// Removes what outlived containers of the place.
    pub(super) async fn discard_kept(&self) {
        let Some(folder) = self.kept_folder() else { return };
        // Files of the container's root are not ours to remove where we are not root.
        let _ = kept::remove(&folder);
        let names = PARTS.map(|part| volume(&self.volumes(), part));
        for name in &names {
            // Usually there is none.
            let _ = self.ask(&["volume", "rm", "-f", name], ANSWER).await;
        }
    }

    /// User and group of the person, when commands run as them.
    pub(super) fn user(&self) -> Option<(u32, u32)> {
        let own = || (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        self.settings.run_as_host_user.then(own)
    }
}
