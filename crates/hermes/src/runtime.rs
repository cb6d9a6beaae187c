//! The runtime: every crate wired together, as one value.
//!
//! Two runtimes in one process share nothing. Tools can be called without a model, from async
//! code or from code that just waits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use hermes_core::availability::{Availability, Change};
use hermes_core::call::ToolCall;
use hermes_core::checkpoint::Checkpoints;
use hermes_core::cx::Services;
use hermes_core::definitions::{DefinitionCache, DefinitionSettings, Toolbox};
use hermes_core::extensions::Extensions;
use hermes_core::files::Files;
use hermes_core::host::Host;
use hermes_core::jobs::{Jobs, Notice};
use hermes_core::journal::Journal;
use hermes_core::memory::Memory;
use hermes_core::outcome::Outcome;
use hermes_core::policy::Policy;
use hermes_core::registry::{Installed, RegisterError, Registry, Scope, Snapshot, Source};
use hermes_core::road::{Redact, Road, RoadLimits, Spill};
use hermes_core::session::Place;
use hermes_core::toolset::{Plan, PlatformSettings, Selection, SelectionError, platform_selection};
use hermes_env::files::LocalFiles;
use hermes_env::workplace::FenceMaker;
use hermes_guard::Mode;
use hermes_store::sessions::SessionStore;
use hermes_store::{Home, HomeMemory, Settings, StoreError};

use crate::chat::{self, ChatBuilder, ModelChoice, ModelError, ModelWish};
use crate::checkpoints::{self, HomeCheckpoints};
use crate::fence;
use crate::host::Machine;
use crate::lasting;
use crate::policy::{Explained, GuardPolicy, PolicyError, PolicySettings};
use crate::probe::MachineProbe;
use crate::redact::WorldRedact;
use crate::rollback::Rollback;
use crate::session::SessionBuilder;
use crate::sessions;
use crate::settings;
use crate::spill::HomeSpill;
use crate::wait::wait;
use crate::workplace;
use crate::world::World;

/// The tools runtime. Clones are the same runtime.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    machine: Arc<Machine>,
    checkpoints: Option<Arc<HomeCheckpoints>>,
    place: Place,
    world: Arc<RwLock<World>>,
    registry: Registry,
    availability: Availability,
    definitions: DefinitionCache,
    secrets: Arc<WorldRedact>,
    road: Road,
    /// Our own policy, unless the embedder has brought another.
    guard: Option<Arc<GuardPolicy>>,
    sessions: Option<SessionStore>,
    spill: Option<Arc<dyn Spill>>,
    memory: Option<HomeMemory>,
}

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

/// Puts a runtime together; everything has a default.
pub struct RuntimeBuilder {
    place: Place,
    home: Option<Home>,
    env: BTreeMap<String, String>,
    scopes: Vec<Scope>,
    policy: Option<Arc<dyn Policy>>,
    mode: Option<Mode>,
    journal: Option<Arc<dyn Journal>>,
    record: bool,
    redact: Option<Arc<dyn Redact>>,
    limits: Option<RoadLimits>,
    context_tokens: Option<u64>,
    keeper: Option<Vec<String>>,
    launcher: Option<PathBuf>,
}

impl Default for RuntimeBuilder {
    fn default() -> Self {
        Self {
            place: Place { cwd: PathBuf::from("/"), home: None },
            home: None,
            env: BTreeMap::new(),
            scopes: Vec::new(),
            policy: None,
            mode: None,
            journal: None,
            record: false,
            redact: None,
            limits: None,
            context_tokens: None,
            keeper: None,
            launcher: None,
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
        self.mode = Some(mode);
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
    pub fn launcher(mut self, program: impl Into<PathBuf>) -> Self {
        self.launcher = Some(program.into());
        self
    }

    /// Wires everything together. No thread is started and nothing is written yet.
    pub fn build(self) -> Result<Runtime, BuildError> {
        let built_in =
            Scope::built_in(hermes_tools::tools(), hermes_tools::toolsets(), hermes_tools::core_tools());
        let registry = Registry::new(built_in)?;
        for scope in self.scopes {
            registry.install(scope)?;
        }
        let world = World::read(self.home.clone(), self.env)?;
        let settings = world.settings();
        let machine = Arc::new(Machine::new());
        let host: Arc<dyn Host> = machine.clone();
        let files: Arc<dyn Files> = Arc::new(LocalFiles::new(Arc::clone(&host)));
        let fence = fence::wanted(&world, &self.place, self.launcher);
        let environments = workplace::environments(
            &world,
            &host,
            self.home.as_ref(),
            &self.place,
            (self.keeper, fence.as_ref()),
        );
        let mut services = Services::new(Arc::clone(&host), files)
            .environments(environments)
            .with(workplace::terminal_settings(&world))
            .with(workplace::script_settings(&world));
        let checkpoints = checkpoints::of(&world, &machine);
        services.checkpoints = checkpoints.clone().map(|it| it as Arc<dyn Checkpoints>);
        let sessions = self.home.as_ref().map(|home| sessions::shared(home, &machine));
        let memory = self.home.as_ref().and_then(|home| lasting::memory(home, &settings, &machine));
        if let Some(memory) = &memory {
            services = services.with(Arc::new(memory.clone()) as Arc<dyn Memory>);
        }
        if let (Some(home), Some(sessions)) = (&self.home, &sessions) {
            services = services.with(lasting::recall(home, sessions, &machine));
        }
        let services = Arc::new(services);
        let limits = self.limits.unwrap_or_else(|| settings::road_limits(&settings, self.context_tokens));
        let (policy, guard) = if let Some(policy) = self.policy {
            (policy, None)
        } else {
            let guard = guard_policy(&world, self.home.clone(), self.mode, fence)?;
            (Arc::clone(&guard) as Arc<dyn Policy>, Some(guard))
        };
        let mut road = Road::new(services, policy).limits(limits);
        let journal = match (self.journal, &sessions) {
            (Some(journal), _) => Some(journal),
            (None, _) if !self.record => None,
            (None, Some(sessions)) => Some(Arc::new(sessions.clone()) as Arc<dyn Journal>),
            (None, None) => {
                let why = "calls are to be recorded, and there is no home to record them in".to_owned();
                return Err(StoreError::NoHome { why }.into());
            }
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
        let world = Arc::new(RwLock::new(world));
        let secrets = Arc::new(WorldRedact::new(Arc::clone(&world)));
        road = road.redact(self.redact.unwrap_or_else(|| secrets.clone()));
        let probe =
            MachineProbe { world: Arc::clone(&world), host: Arc::clone(&host), place: self.place.clone() };
        Ok(Runtime(Arc::new(Inner {
            availability: Availability::new(host, Arc::new(probe)),
            definitions: DefinitionCache::default(),
            secrets,
            machine,
            checkpoints,
            place: self.place,
            world,
            registry,
            road,
            guard,
            sessions,
            spill,
            memory,
        })))
    }
}

fn guard_policy(
    world: &World,
    home: Option<Home>,
    mode: Option<Mode>,
    fence: Option<FenceMaker>,
) -> Result<Arc<GuardPolicy>, PolicyError> {
    let mut settings = world.policy()?;
    settings.mode = mode.unwrap_or(settings.mode);
    let fence = fence::for_policy(world, fence);
    Ok(Arc::new(GuardPolicy::new(settings, home).behind(fence)))
}

impl Runtime {
    /// Starts putting a runtime together.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// All tools at this moment.
    pub fn tools(&self) -> Arc<Snapshot> {
        self.0.registry.snapshot()
    }

    /// Installs the tools of a source, whole, in place of what it had before.
    pub fn install(&self, scope: Scope) -> Result<Installed, RegisterError> {
        self.0.registry.install(scope)
    }

    /// Takes the tools of a source away; `false` when it had none.
    pub fn remove(&self, source: &Source) -> bool {
        self.0.registry.remove(source)
    }

    /// The settings of `config.yaml`, complete with defaults.
    pub fn settings(&self) -> Settings {
        self.world(World::settings)
    }

    /// What is odd in `config.yaml` but usable, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.world(World::warnings)
    }

    /// The state folder, if there is one.
    pub fn home(&self) -> Option<Home> {
        self.world(|world| world.home().cloned())
    }

    /// The home's store of sessions, if there is a home. Nothing is opened before it is used.
    pub fn sessions(&self) -> Option<&SessionStore> {
        self.0.sessions.as_ref()
    }

    /// The home's notes, if there is a home and they are not switched off. Nothing is read before they
    /// are used.
    pub fn memory(&self) -> Option<&HomeMemory> {
        self.0.memory.as_ref()
    }

    /// Clock, timer and threads of this runtime.
    pub fn host(&self) -> Arc<dyn Host> {
        self.0.machine.clone()
    }

    /// What the configuration says about policy.
    pub fn policy_settings(&self) -> Result<PolicySettings, PolicyError> {
        self.world(World::policy)
    }

    /// What becomes of a command that a new session starts where the runtime stands, by the policy and
    /// behind the fence it would meet; nothing when the runtime was given another policy. Nobody is asked.
    pub fn explain_command(&self, text: &str) -> Option<Explained> {
        let place = self.place();
        self.0.guard.as_ref().map(|guard| guard.explain(text, &place.cwd, place.home.as_deref()))
    }

    /// Reads `.env` and `config.yaml` again; what depends on them is decided anew.
    pub fn refresh(&self) -> Result<(), StoreError> {
        let changes = self.0.world.write().unwrap_or_else(PoisonError::into_inner).refresh()?;
        for change in &changes {
            self.announce(change);
        }
        Ok(())
    }

    /// Sets or clears a variable for the gates and tools of this runtime.
    pub fn set_env(&self, name: &str, value: Option<&str>) {
        self.0.world.write().unwrap_or_else(PoisonError::into_inner).set_variable(name, value);
        self.announce(&Change::Environment);
    }

    /// Tells that something changed which gates may depend on.
    pub fn announce(&self, change: &Change) {
        self.0.availability.changed(change);
        self.0.definitions.clear();
        self.0.secrets.forget();
    }

    /// What the configuration selects for a platform (`cli`, `telegram`, …).
    pub fn platform(&self, platform: &str) -> Result<Selection, SelectionError> {
        let settings = self.settings();
        let snapshot = self.tools();
        let disabled: Vec<String> =
            settings.agent.disabled_toolsets.iter().chain(&settings.agent.disabled_tools).cloned().collect();
        let kanban_task =
            self.world(|world| world.variable("HERMES_KANBAN_TASK").is_some_and(|it| !it.is_empty()));
        platform_selection(
            snapshot.catalog(),
            &PlatformSettings {
                platform,
                toolsets: settings.platform_toolsets.get(platform).map(Vec::as_slice),
                disabled: &disabled,
                unlocked: &self.unlocked(),
                kanban_task,
            },
        )
    }

    /// The definitions for a selection.
    pub async fn toolbox(
        &self,
        selection: &Selection,
        settings: &DefinitionSettings,
    ) -> Result<Arc<Toolbox>, SelectionError> {
        let snapshot = self.tools();
        let plan = Plan::new(snapshot.catalog(), selection)?;
        let plan = Arc::new(self.fitted(&snapshot, plan, &Extensions::default()));
        Ok(self.toolbox_of(&snapshot, &plan, settings).await)
    }

    /// The same, from code that just waits.
    pub fn toolbox_blocking(
        &self,
        selection: &Selection,
        settings: &DefinitionSettings,
    ) -> Result<Arc<Toolbox>, SelectionError> {
        wait(self.toolbox(selection, settings))
    }

    /// How `config.yaml` wants definitions to be made.
    pub fn definition_settings(&self) -> DefinitionSettings {
        settings::definitions(&self.settings())
    }

    /// A session with state of its own.
    pub fn session(&self) -> SessionBuilder {
        SessionBuilder::new(self.clone())
    }

    /// A conversation with an agent.
    pub fn chat(&self) -> ChatBuilder {
        ChatBuilder::new(self.clone())
    }

    /// The model that a conversation would use, and why that one.
    pub async fn model(&self, wish: &ModelWish) -> Result<ModelChoice, ModelError> {
        Box::pin(chat::model(self, wish)).await
    }

    /// The same, from code that just waits.
    pub fn model_blocking(&self, wish: &ModelWish) -> Result<ModelChoice, ModelError> {
        wait(self.model(wish))
    }

    /// The same as [`Runtime::models`], from code that just waits.
    pub fn models_blocking(&self, wish: &ModelWish) -> Result<Vec<(String, Option<u64>)>, String> {
        wait(self.models(wish))
    }

    /// Whether a variable is set, in the environment or in `.env`.
    pub fn has_variable(&self, name: &str) -> bool {
        self.world(|world| world.variable(name).is_some_and(|value| !value.is_empty()))
    }

    /// Lets calls run without asking from now on, or as the settings say again. What is never allowed
    /// stays so.
    pub fn run_unasked(&self, on: bool) {
        if let Some(guard) = &self.0.guard {
            guard.run_unasked(on);
        }
    }

    /// The models that the chosen provider lists, with the size of their context where it is told.
    pub async fn models(&self, wish: &ModelWish) -> Result<Vec<(String, Option<u64>)>, String> {
        Box::pin(chat::models_of(self, wish)).await
    }

    /// Calls one tool without any session; tools that need one say so.
    pub async fn call(&self, call: ToolCall) -> Outcome {
        self.session().over_all_tools().call(call).await
    }

    /// The same, from code that just waits.
    pub fn call_blocking(&self, call: ToolCall) -> Outcome {
        wait(self.call(call))
    }

    /// What happened to background processes since this was last asked, for the sessions that
    /// wanted to be told.
    pub fn notices(&self) -> Vec<Notice> {
        let Ok(place) = self.0.road.services().environments.default_place() else { return Vec::new() };
        place.jobs().map(Jobs::notices).unwrap_or_default()
    }

    /// What files in the working directory held before calls changed them; nothing when it is not kept.
    pub fn rollback(&self) -> Option<Rollback> {
        let kept = Arc::clone(self.0.checkpoints.as_ref()?);
        Some(Rollback::new(kept, self.0.place.clone(), self.unique()))
    }

    /// Toolsets that are off by default and that a credential turns on.
    fn unlocked(&self) -> Vec<String> {
        let has =
            |name: &&str| self.world(|world| world.variable(name).is_some_and(|value| !value.is_empty()));
        let keys = [("homeassistant", "HASS_TOKEN"), ("x_search", "XAI_API_KEY")];
        keys.iter().filter(|(_, key)| has(key)).map(|(toolset, _)| (*toolset).to_owned()).collect()
    }

    pub(crate) async fn toolbox_of(
        &self,
        snapshot: &Arc<Snapshot>,
        plan: &Arc<Plan>,
        settings: &DefinitionSettings,
    ) -> Arc<Toolbox> {
        let inner = &self.0;
        let config = |key: &str| self.world(|world| world.config(key));
        inner.definitions.toolbox(snapshot, plan, settings, &inner.availability, &config).await
    }

    /// The plan without the tools that need something which neither the session nor this runtime has.
    pub(crate) fn fitted(&self, snapshot: &Snapshot, plan: Plan, session: &Extensions) -> Plan {
        let services = self.0.road.services();
        plan.without(|tool| snapshot.tool(tool)?.gate_value().not_given(session, services))
    }

    pub(crate) fn road(&self) -> &Road {
        &self.0.road
    }

    /// The road with limits for a context of this size.
    pub(crate) fn road_for(&self, context_tokens: u64) -> Road {
        let limits = settings::road_limits(&self.settings(), Some(context_tokens));
        self.0.road.clone().limits(limits)
    }

    /// Where what is too large for a context is kept.
    pub(crate) fn spill(&self) -> Option<Arc<dyn Spill>> {
        self.0.spill.clone()
    }

    pub(crate) fn machine(&self) -> &Arc<Machine> {
        &self.0.machine
    }

    pub(crate) fn place(&self) -> &Place {
        &self.0.place
    }

    pub(crate) fn unique(&self) -> String {
        self.0.machine.unique()
    }

    pub(crate) fn world<R>(&self, look: impl FnOnce(&World) -> R) -> R {
        look(&self.0.world.read().unwrap_or_else(PoisonError::into_inner))
    }
}
