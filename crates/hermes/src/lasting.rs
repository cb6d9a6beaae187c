//! What lasts beyond a session, for the tools that ask for it: notes, skills, tasks and
//! earlier conversations.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::cx::Services;
use hermes_core::gate::Probe;
use hermes_core::host::Host;
use hermes_core::kanban::{Kanban, KanbanError};
use hermes_core::logins::Logins;
use hermes_core::project::Projects;
use hermes_core::recall::Recall;
use hermes_core::session::Place;
use hermes_store::sessions::{Clock, SessionStore};
use hermes_store::skills::{Here, external_folders};
use hermes_store::{
    Boards, Home, HomeKanban, HomeLogins, HomeMemory, HomeProjects, HomeRecall, HomeSkills, Settings,
};

use crate::host::Machine;
use crate::kanban::{Later, ToldKanban};
use crate::runtime::WeakRuntime;
use crate::world::World;

/// The notes of a home, unless the configuration wants none.
pub(crate) fn memory(home: &Home, settings: &Settings, machine: &Arc<Machine>) -> Option<HomeMemory> {
    let wanted = settings.memory.memory_enabled || settings.memory.user_profile_enabled;
    let (host, clock) = doors(machine);
    wanted.then(|| HomeMemory::new(home, &settings.memory, &host, &clock))
}

/// The earlier conversations of a home.
pub(crate) fn recall(home: &Home, sessions: &SessionStore, machine: &Arc<Machine>) -> Arc<dyn Recall> {
    let (host, clock) = doors(machine);
    Arc::new(HomeRecall::new(home, sessions, &host, &clock))
}

/// The same services with the task boards and the projects of a home.
pub(crate) fn with_boards(
    services: Services,
    home: &Home,
    machine: &Arc<Machine>,
    runtime: &Later,
) -> Services {
    let (host, clock) = doors(machine);
    let inner: Arc<dyn Kanban> = Arc::new(HomeKanban::new(home, &host, &clock));
    services
        .with(Arc::new(ToldKanban { inner, runtime: Arc::clone(runtime) }) as Arc<dyn Kanban>)
        .with(Arc::new(HomeProjects::new(home)) as Arc<dyn Projects>)
}

/// The task boards of a home, for code that just waits; made where there are none.
pub fn open_boards(home: &Home) -> Result<Boards, KanbanError> {
    Boards::open(home, Arc::new(Machine::new()))
}

/// What services have given the person who agreed, as a home keeps it.
pub(crate) fn logins(home: &Home, machine: &Arc<Machine>) -> Arc<dyn Logins> {
    let (host, _) = doors(machine);
    Arc::new(HomeLogins::new(home, &host))
}

/// The skills that can be seen from a home and a place, which the folders of its project belong to.
pub(crate) fn skills(
    home: &Home,
    world: &World,
    (place, project): (&Place, &[PathBuf]),
    machine: &Arc<Machine>,
) -> HomeSkills {
    let (host, clock) = doors(machine);
    let platform = world.variable("HERMES_PLATFORM").filter(|name| !name.is_empty()).unwrap_or("cli");
    let here = Here {
        system: std::env::consts::OS,
        platform: platform.to_owned(),
        project: project.to_vec(),
        external: external_skills(home, world, place),
    };
    HomeSkills::new(home, &world.settings().skills, here, &host, &clock)
}

/// Lets skills ask what there is on this machine, and which skills plugins bring at that moment.
pub(crate) fn look_around(skills: &HomeSkills, probe: &Arc<dyn Probe>, runtime: &Later) {
    skills.look_through(Arc::clone(probe));
    let runtime = Arc::clone(runtime);
    skills.ask_plugins(Arc::new(move || {
        let runtime = runtime.get().and_then(WeakRuntime::upgrade);
        runtime.map(|runtime| runtime.plugin_skills()).unwrap_or_default()
    }));
}

/// The folders with skills that the configuration names beside the home's own.
pub(crate) fn external_skills(home: &Home, world: &World, place: &Place) -> Vec<PathBuf> {
    let variable = |name: &str| world.variable(name).map(str::to_owned);
    external_folders(world.skill_folders(), home.path(), place.home.as_deref(), &variable)
}

fn doors(machine: &Arc<Machine>) -> (Arc<dyn Host>, Arc<dyn Clock>) {
    (machine.clone(), machine.clone())
}
