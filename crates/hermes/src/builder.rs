//! Puts a runtime together: the one place where every crate meets every other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use hermes_core::availability::Availability;
use hermes_core::browser::Browsers;
use hermes_core::checkpoint::Checkpoints;
use hermes_core::cx::Services;
use hermes_core::definitions::DefinitionCache;
use hermes_core::deliver::Deliver;
use hermes_core::environment::Standing;
use hermes_core::files::Files;
use hermes_core::gate::Probe;
use hermes_core::host::Host;
use hermes_core::journal::Journal;
use hermes_core::keys::Keys;
use hermes_core::memory::Memory;
use hermes_core::policy::Policy;
use hermes_core::registry::{RegisterError, Registry, Scope, Snapshot};
use hermes_core::road::{Redact, Road, RoadLimits, Spill};
use hermes_core::session::Place;
use hermes_core::side::SideModels;
use hermes_core::skills::Skills;
use hermes_core::sudo::SudoAsker;
use hermes_core::web::Web;
use hermes_env::files::LocalFiles;
use hermes_env::project;
use hermes_env::workplace::FenceMaker;
use hermes_extend::plugins::offer::OfferedCli;
use hermes_guard::Mode;
use hermes_store::sessions::SessionStore;
use hermes_store::{Home, HomeMemory, HomeSkills, StoreError};
use hermes_tools::MediaSettings;

use crate::browser::WorldBrowsers;
use crate::checkpoints;
use crate::cron;
use crate::environments;
use crate::fence;
use crate::foreign::plugins::kept_cli;
use crate::foreign::{Extent, Foreign, Person, Wish};
use crate::host::Machine;
use crate::kanban::Later;
use crate::keys::WorldKeys;
use crate::lasting;
use crate::open_sessions::OpenSessions;
use crate::policy::{GuardPolicy, PolicyError};
use crate::probe::MachineProbe;
use crate::redact::WorldRedact;
use crate::runtime::{Inner, Runtime};
use crate::sessions;
use crate::settings;
use crate::side::WorldSideModels;
use crate::spill::HomeSpill;
use crate::sudo;
use crate::web::WorldWeb;
use crate::workplace;
use crate::world::World;

/// Why a runtime could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The state folder is not usable.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user's rules make no sense.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A tool cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
}

/// How questions are handled.
#[derive(Clone, Copy)]
enum Asking {
    /// As the configuration says.
    AsConfigured,
    /// In this mode.
    Mode(Mode),
    /// As the configuration says for work that nobody watches.
    Nobody,
}

/// Puts a runtime together; everything has a default.
pub struct RuntimeBuilder {
    place: Place,
    home: Option<Home>,
    env: BTreeMap<String, String>,
    scopes: Vec<Scope>,
    policy: Option<Arc<dyn Policy>>,
    asking: Asking,
    journal: Option<Arc<dyn Journal>>,
    record: bool,
    one_moment: bool,
    mcp_servers: bool,
    one_call: Option<String>,
    redact: Option<Arc<dyn Redact>>,
    limits: Option<RoadLimits>,
    context_tokens: Option<u64>,
    keeper: Option<Vec<String>>,
    launcher: Option<PathBuf>,
    person: Option<Arc<dyn Person>>,
    sudo: Option<Arc<dyn SudoAsker>>,
    deliver: Option<Arc<dyn Deliver>>,
}

impl Default for RuntimeBuilder {
    fn default() -> Self {
        Self {
            place: Place { cwd: PathBuf::from("/"), home: None },
            home: None,
            env: BTreeMap::new(),
            scopes: Vec::new(),
            policy: None,
            asking: Asking::AsConfigured,
            journal: None,
            record: false,
            one_moment: false,
            mcp_servers: true,
            one_call: None,
            redact: None,
            limits: None,
            context_tokens: None,
            keeper: None,
            launcher: None,
            person: None,
            sudo: None,
            deliver: None,
        }
    }
}

impl RuntimeBuilder {
    /// Where sessions start: relative paths begin here.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.place.cwd = cwd.into();
        self
    }

    /// The user's home folder, which `~` stands for.
    pub fn user_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.place.home = Some(home.into());
        self
    }

    /// The state folder: configuration, secrets, large results. Without one nothing is written.
    pub fn home(mut self, home: Home) -> Self {
        self.home = Some(home);
        self
    }

    /// The variables tools may depend on; the process environment is never read.
    pub fn env(mut self, env: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env.extend(env);
        self
    }

    /// Adds tools, toolsets and hooks of the embedding program.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scopes.push(scope);
        self
    }

    /// Decides what may run, instead of the guard with the user's settings.
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Some(Arc::new(policy));
        self
    }

    /// How questions are handled, instead of what the configuration says.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.asking = Asking::Mode(mode);
        self
    }

    /// For a program that does one thing and ends: the files of foreign tools are looked at once, and not
    /// at every call. What is dropped there later is not found.
    pub fn one_moment(mut self) -> Self {
        self.one_moment = true;
        self
    }

    /// For a program that calls this tool and ends. For one of our own that does not look at others, foreign
    /// tools are not even looked at, except those that have a say in what it does.
    pub fn one_call(mut self, tool: impl Into<String>) -> Self {
        self.one_call = Some(tool.into());
        self.one_moment()
    }

    /// The commands that plugins add to the command line, as they were when a program last looked at the plugins;
    /// nothing where that cannot be known without a [runtime](Runtime::plugin_cli). To be asked for when the home and
    /// the variables are known.
    pub fn kept_plugin_cli(&self) -> Option<Vec<OfferedCli>> {
        let home = self.home.as_ref()?;
        let world = World::read(Some(home.clone()), self.env.clone()).ok()?;
        kept_cli(home, &workplace::begins(&world, self.place.clone()).cwd, &world)
    }

    /// No MCP server is offered or started: for a program that is itself a server of another one like it, which
    /// has them already.
    pub fn without_mcp_servers(mut self) -> Self {
        self.mcp_servers = false;
        self
    }

    /// Nobody is there who could be asked: `approvals.cron_mode` says what becomes of questions.
    pub fn unattended(mut self) -> Self {
        self.asking = Asking::Nobody;
        self
    }

    /// Records every call in the home's store of sessions; it is opened with the first call.
    pub fn record_calls(mut self) -> Self {
        self.record = true;
        self
    }

    /// Records every call somewhere else.
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Takes secrets out of results, instead of by known values and recognisable formats.
    pub fn redact(mut self, redact: Arc<dyn Redact>) -> Self {
        self.redact = Some(redact);
        self
    }

    /// How long, how many, how much; the configuration is used when this is not called.
    pub fn limits(mut self, limits: RoadLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Size of the model's context, for the limits on results.
    pub fn context_tokens(mut self, tokens: u64) -> Self {
        self.context_tokens = Some(tokens);
        self
    }

    /// The program and arguments that end in [`run_as_keeper`](crate::run_as_keeper), so that
    /// background processes outlive this one. Without it they end with it.
    pub fn keeper(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.keeper = Some(words.into_iter().collect());
        self
    }

    /// The program that calls [`launched`](hermes_env::fence::launched) first thing in its `main`: it
    /// puts up the fence that `terminal.fence` asks for. Without it no command runs behind one.
    /// If it calls [`called`](hermes_env::sudo::called) as well, it helps `sudo` to its password.
    pub fn launcher(mut self, program: impl Into<PathBuf>) -> Self {
        self.launcher = Some(program.into());
        self
    }

    /// Takes a person to a page where they log in to an MCP server. Without one, a server that wants a
    /// login is not used until somebody has run `hermes mcp login`.
    pub fn person(mut self, person: Arc<dyn Person>) -> Self {
        self.person = Some(person);
        self
    }

    /// Asks a person for the password when a command calls `sudo`. Without one, only `SUDO_PASSWORD` of
    /// the home's `.env` is used. It needs a [`launcher`](Self::launcher).
    pub fn sudo_asker(mut self, asker: Arc<dyn SudoAsker>) -> Self {
        self.sudo = Some(asker);
        self
    }

    /// Who carries messages to people, before the platforms that the settings know: a program that is connected
    /// to chats. `send_message`, jobs and [`Runtime::deliver`] go by it.
    pub fn deliver(mut self, deliver: Arc<dyn Deliver>) -> Self {
        self.deliver = Some(deliver);
        self
    }

    /// Wires everything together. No thread is started and nothing is written yet.
    pub fn build(mut self) -> Result<Runtime, BuildError> {
        let registry = registry(self.scopes)?;
        let extent = extent(self.one_moment, self.one_call.as_deref(), &registry.snapshot());
        let shared = Arc::new(RwLock::new(World::read(self.home.clone(), self.env)?));
        let world = shared.read().unwrap_or_else(PoisonError::into_inner);
        self.place = workplace::begins(&world, self.place);
        let settings = world.settings();
        let machine = Arc::new(Machine::new());
        let host: Arc<dyn Host> = machine.clone();
        let files: Arc<dyn Files> = Arc::new(LocalFiles::new(Arc::clone(&host)));
        let secrets = Arc::new(WorldRedact::new(Arc::clone(&shared)));
        let sudo = sudo::settings(&world, self.launcher.clone(), self.sudo, &secrets);
        let fence = fence::wanted(&world, &self.place, self.launcher);
        let project = project::folders(&self.place.cwd);
        let skills = self.home.as_ref();
        let skills = skills.map(|home| lasting::skills(home, &world, (&self.place, &project), &machine));
        let environments = workplace::environments(
            &world,
            &host,
            self.home.as_ref(),
            &self.place,
            (self.keeper, fence.as_ref()),
            sudo.as_ref(),
            skills.as_ref(),
        );
        let services = Services::new(Arc::clone(&host), files)
            .environments(environments)
            .with(workplace::terminal_settings(&world))
            .with(workplace::script_settings(&world));
        let (mut services, web) = with_world(services, &shared, &machine, self.home.as_ref());
        let checkpoints = checkpoints::of(&world, &machine);
        services.checkpoints = checkpoints.clone().map(|it| it as Arc<dyn Checkpoints>);
        let sessions = self.home.as_ref().map(|home| sessions::shared(home, &machine));
        let memory = self.home.as_ref().and_then(|home| lasting::memory(home, &settings, &machine));
        services = with_what_was_learnt(services, memory.as_ref(), skills.as_ref());
        let later = Later::default();
        if let (Some(home), Some(sessions)) = (&self.home, &sessions) {
            services = lasting::with_boards(services, home, &machine, &later);
            let recall = lasting::recall(home, sessions, &machine);
            services = services.with(recall).with(lasting::logins(home, &machine));
            services = services.with(cron::book(home, &shared, &machine, &web, self.deliver.clone()));
        }
        if let Some(deliver) = self.deliver {
            services = services.with(deliver);
        }
        let services = Arc::new(services);
        let limits = self.limits.unwrap_or_else(|| settings::road_limits(&settings, self.context_tokens));
        let (policy, guard) = if let Some(policy) = self.policy {
            (policy, None)
        } else {
            let standings = environments::standings(&services.environments);
            let guard = guard_policy(&world, self.home.clone(), &self.place, self.asking, fence, standings)?;
            (Arc::clone(&guard) as Arc<dyn Policy>, Some(guard))
        };
        let mut road = Road::new(services, policy).limits(limits);
        let journal = match self.journal {
            None if self.record => Some(journal(sessions.as_ref())?),
            given => given,
        };
        let spill = self.home.map(|home| {
            let max_bytes = settings::spill_bytes(&settings);
            Arc::new(HomeSpill { home, host: Arc::clone(&host), max_bytes }) as Arc<dyn Spill>
        });
        if let Some(spill) = &spill {
            road = road.spill(Arc::clone(spill));
        }
        if let Some(journal) = journal {
            road = road.journal(journal);
        }
        let wish = Wish { extent, mcp_servers: self.mcp_servers, project, secrets: Arc::clone(&secrets) };
        let foreign = Foreign::new(&world, &machine, &self.place, self.person, wish);
        drop(world);
        foreign.hooks().look_at(&shared);
        road = road.redact(self.redact.unwrap_or_else(|| secrets.clone()));
        let probe =
            MachineProbe { world: Arc::clone(&shared), host: Arc::clone(&host), place: self.place.clone() };
        let probe: Arc<dyn Probe> = Arc::new(probe);
        if let Some(skills) = &skills {
            lasting::look_around(skills, &probe, &later);
        }
        let runtime = Runtime::over(Inner {
            availability: Availability::new(host, probe),
            definitions: DefinitionCache::default(),
            secrets,
            machine,
            checkpoints,
            place: self.place,
            world: shared,
            registry,
            road,
            guard,
            sessions,
            spill,
            memory,
            skills,
            foreign,
            web,
            open: OpenSessions::default(),
        });
        // Set once, here.
        let _ = later.set(runtime.downgrade());
        Ok(runtime.open_to_hooks())
    }
}

/// What is wanted of foreign tools by a program that lasts a moment, or for one call.
fn extent(one_moment: bool, one_call: Option<&str>, ours: &Snapshot) -> Extent {
    let stands_alone = |name: &str| ours.tool(name).is_some_and(|tool| !tool.looks_around());
    match one_call {
        Some(name) if stands_alone(name) => Extent::OneCall,
        _ if one_moment => Extent::OneMoment,
        _ => Extent::Lasting,
    }
}

/// The built-in tools, and what else was handed over.
fn registry(scopes: Vec<Scope>) -> Result<Registry, RegisterError> {
    let built_in =
        Scope::built_in(hermes_tools::tools(), hermes_tools::toolsets(), hermes_tools::core_tools());
    let registry = Registry::new(built_in)?;
    for scope in scopes {
        registry.install(scope)?;
    }
    Ok(registry)
}

/// Memory and skills, for tools.
fn with_what_was_learnt(
    mut services: Services,
    memory: Option<&HomeMemory>,
    skills: Option<&HomeSkills>,
) -> Services {
    if let Some(memory) = memory {
        services = services.with(Arc::new(memory.clone()) as Arc<dyn Memory>);
    }
    if let Some(skills) = skills {
        services = services.with(Arc::new(skills.clone()) as Arc<dyn Skills>);
    }
    services
}

/// The home's own record of calls.
fn journal(sessions: Option<&SessionStore>) -> Result<Arc<dyn Journal>, StoreError> {
    let why = || "calls are to be recorded, and there is no home to record them in".to_owned();
    let sessions = sessions.ok_or_else(|| StoreError::NoHome { why: why() })?;
    Ok(Arc::new(sessions.clone()))
}

/// What tools know of the world: settings, the network, models beside the one that leads, and where they
/// keep what they make.
fn with_world(
    services: Services,
    world: &Arc<RwLock<World>>,
    machine: &Arc<Machine>,
    home: Option<&Home>,
) -> (Services, Arc<WorldWeb>) {
    let web = Arc::new(WorldWeb::new(Arc::clone(world), Arc::clone(machine)));
    let services = services
        .with(Arc::new(WorldKeys(Arc::clone(world))) as Arc<dyn Keys>)
        .with(Arc::clone(&web) as Arc<dyn Web>)
        .with(Arc::new(WorldBrowsers::new(world, machine, &web, home.cloned())) as Arc<dyn Browsers>)
        .with(Arc::new(WorldSideModels::new(world, machine)) as Arc<dyn SideModels>);
    match home {
        Some(home) => (services.with(MediaSettings { cache: home.cache() }), web),
        None => (services, web),
    }
}

fn guard_policy(
    world: &World,
    home: Option<Home>,
    place: &Place,
    asking: Asking,
    fence: Option<FenceMaker>,
    standings: BTreeMap<String, Standing>,
) -> Result<Arc<GuardPolicy>, PolicyError> {
    let mut settings = world.policy()?;
    settings.mode = match asking {
        Asking::AsConfigured => settings.mode,
        Asking::Mode(mode) => mode,
        Asking::Nobody => cron::mode(&world.settings()),
    };
    let fence = fence::for_policy(world, fence);
    let skills = home.as_ref().map(|home| lasting::external_skills(home, world, place)).unwrap_or_default();
    Ok(Arc::new(GuardPolicy::new(settings, home).behind(fence).places(standings).skills(skills)))
}
