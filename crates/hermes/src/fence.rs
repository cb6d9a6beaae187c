//! The fence of this runtime: what the configuration demands, on the ground the runtime stands on,
//! with what the guard keeps from being read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hermes_core::effect::lexical;
use hermes_core::session::Place;
use hermes_env::fence::{Fence, FenceError, Ground, Level, kept_from};
use hermes_env::workplace::FenceMaker;
use hermes_guard::paths::{Access, PathCx, PathVerdict, judge_path};
use hermes_store::Settings;
use hermes_store::config::FenceLevel;

use crate::policy::Fenced;
use crate::runtime::Runtime;
use crate::world::World;

/// Folders of the user in which credentials are looked for, besides the home itself.
const OF_THE_USER: [&str; 5] = [".config", ".local/share", ".docker", ".pulumi", "Library"];

/// Folders of the system in which credentials are looked for.
const OF_THE_SYSTEM: [&str; 7] =
    ["/etc", "/etc/ssh", "/etc/ssl", "/etc/kubernetes", "/etc/letsencrypt", "/run", "/var/lib"];

/// Where temporary files may go, besides what `TMPDIR` says.
const TEMP: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

impl Runtime {
    /// The level `terminal.fence` asks for.
    pub fn fence_level(&self) -> Level {
        level(&self.settings())
    }

    /// A fence of this level around a workspace, for commands of this machine. `launcher` is the
    /// program that calls [`launched`](hermes_env::fence::launched) first thing in its `main`.
    ///
    /// Looks through the folders where credentials usually are.
    pub fn fence(&self, level: Level, launcher: &Path, workspace: &Path) -> Result<Fence, FenceError> {
        Fence::new(level, launcher, &self.fence_ground(workspace))
    }

    /// The ground of that fence.
    pub fn fence_ground(&self, workspace: &Path) -> Ground {
        self.world(|world| ground(world, self.place(), workspace))
    }
}

/// The fence that the configuration asks for, around where the runtime stands; nothing when it asks for
/// none. Without a launcher it cannot be put up, and that is an error: nothing runs without it.
pub(crate) fn wanted(world: &World, place: &Place, launcher: Option<PathBuf>) -> Option<FenceMaker> {
    let level = level(&world.settings());
    if level == Level::Off {
        return None;
    }
    let ground = ground(world, place, &place.cwd);
    let launcher = launcher.unwrap_or_default();
    let made: OnceLock<Result<Fence, FenceError>> = OnceLock::new();
    // Made once: policy and the place where commands run speak of the same fence.
    Some(Arc::new(move || made.get_or_init(|| Fence::new(level, &launcher, &ground)).clone()))
}

/// The same fence as policy sees it.
pub(crate) fn for_policy(world: &World, wanted: Option<FenceMaker>) -> Option<Fenced> {
    let scratch = temp_folders(world).into_iter().next().unwrap_or_else(|| PathBuf::from("/tmp"));
    wanted.map(|make| Fenced::new(make, scratch))
}

fn level(settings: &Settings) -> Level {
    match settings.terminal.fence {
        FenceLevel::Off => Level::Off,
        FenceLevel::Workspace => Level::Workspace,
        FenceLevel::Strict => Level::Strict,
    }
}

fn ground(world: &World, place: &Place, workspace: &Path) -> Ground {
    let user = place.home.clone().unwrap_or_else(|| PathBuf::from("/"));
    let agent = world.home().map_or_else(|| user.join(".hermes"), |home| home.path().to_owned());
    let temp = temp_folders(world);
    let cx = PathCx::new(&user, workspace, &agent, temp.first().map_or(Path::new("/tmp"), PathBuf::as_path));
    let may_read = |path: &Path| judge_path(path, Access::Read, &cx) == PathVerdict::Allow;
    let of_the_user = OF_THE_USER.iter().map(|folder| user.join(folder));
    let mut folders: Vec<PathBuf> = [user.clone(), agent.clone()].into_iter().chain(of_the_user).collect();
    folders.extend(OF_THE_SYSTEM.map(PathBuf::from));
    let kept = kept_from(&folders, &may_read);
    let granted = world.settings().terminal.fence_paths;
    let granted = granted.iter().map(|path| lexical(path, workspace, place.home.as_deref()));
    Ground {
        workspace: workspace.to_owned(),
        temp,
        granted: granted.collect(),
        unwritable: vec![agent],
        unreadable: kept.unreadable,
        readable: kept.readable,
    }
}

/// `TMPDIR` if it is set, and the usual places.
fn temp_folders(world: &World) -> Vec<PathBuf> {
    let set = world.variable("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
    set.into_iter().chain(TEMP.map(PathBuf::from)).collect()
}
