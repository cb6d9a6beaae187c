//! The runtime: every crate wired together, as one value.
//!
//! Two runtimes in one process share nothing. Tools can be called without a model, from async
//! code or from code that just waits.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use hermes_core::availability::{Availability, Change};
use hermes_core::call::ToolCall;
use hermes_core::definitions::{DefinitionCache, DefinitionSettings, Toolbox};
use hermes_core::deliver::{Deliver, DeliverError, Letter, Sent, Target};
use hermes_core::environment::{EnvError, Environments, Tell, Way};
use hermes_core::extensions::Extensions;
use hermes_core::host::Host;
use hermes_core::jobs::{Jobs, Notice};
use hermes_core::outcome::Outcome;
use hermes_core::registry::{Installed, RegisterError, Registry, Scope, Snapshot, Source};
use hermes_core::road::{Road, Spill};
use hermes_core::session::Place;
use hermes_core::tool::{ToolDef, ToolEntry};
use hermes_core::toolset::{
    Catalog, Plan, PlatformLists, PlatformSettings, Selection, SelectionError, platform_selection,
};
use hermes_core::wait::wait;
use hermes_env::{editor, screen};
use hermes_extend::mcp::ring::Ring;
use hermes_store::sessions::SessionStore;
use hermes_store::{Home, HomeMemory, HomeSkills, Settings, StoreError};
use hermes_tools::senders::Carriers;

use crate::builder::RuntimeBuilder;
use crate::chat::{self, ChatBuilder, ModelChoice, ModelError, ModelWish};
use crate::checkpoints::HomeCheckpoints;
use crate::courier::WorldCourier;
use crate::environments;
use crate::foreign::{Foreign, Mcp};
use crate::host::Machine;
use crate::open_sessions::OpenSessions;
use crate::policy::{Explained, GuardPolicy, PolicyError, PolicySettings};
use crate::redact::WorldRedact;
use crate::rollback::Rollback;
use crate::session::SessionBuilder;
use crate::settings;
use crate::web::WorldWeb;
use crate::world::World;

/// The tools runtime. Clones are the same runtime.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

/// A runtime, for those that are part of it.
pub(crate) struct WeakRuntime(Weak<Inner>);

impl WeakRuntime {
    /// The runtime, if it is still there.
    pub(crate) fn upgrade(&self) -> Option<Runtime> {
        self.0.upgrade().map(Runtime)
    }
}

/// What all clones share.
pub(crate) struct Inner {
    pub(crate) machine: Arc<Machine>,
    pub(crate) checkpoints: Option<Arc<HomeCheckpoints>>,
    pub(crate) place: Place,
    pub(crate) world: Arc<RwLock<World>>,
    pub(crate) registry: Registry,
    pub(crate) availability: Availability,
    pub(crate) definitions: DefinitionCache,
    pub(crate) secrets: Arc<WorldRedact>,
    pub(crate) road: Road,
    /// Our own policy, unless the embedder has brought another.
    pub(crate) guard: Option<Arc<GuardPolicy>>,
    pub(crate) sessions: Option<SessionStore>,
    pub(crate) spill: Option<Arc<dyn Spill>>,
    pub(crate) memory: Option<HomeMemory>,
    pub(crate) skills: Option<HomeSkills>,
    pub(crate) foreign: Foreign,
    pub(crate) web: Arc<WorldWeb>,
    pub(crate) open: OpenSessions,
}

impl Runtime {
    pub(crate) fn over(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// The same, without keeping it alive.
    pub(crate) fn downgrade(&self) -> WeakRuntime {
        WeakRuntime(Arc::downgrade(&self.0))
    }

    /// Starts putting a runtime together.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// All tools at this moment.
    pub fn tools(&self) -> Arc<Snapshot> {
        self.0.foreign.look(&self.0.registry, &self.0.world);
        self.0.registry.snapshot()
    }

    /// The tools as calls of these names meet them. Nobody looks for those that have no say in such calls.
    pub(crate) fn tools_for(&self, names: &[&str]) -> Arc<Snapshot> {
        let known = self.0.registry.snapshot();
        if !names.iter().all(|name| matches!(known.source(name), Some(Source::Mcp(_)))) {
            return self.tools();
        }
        self.0.foreign.look_for_servers(&self.0.registry, &self.0.world);
        self.0.registry.snapshot()
    }

    /// All tools as they were found last. For whoever goes on with something that began with a look.
    pub(crate) fn current(&self) -> Arc<Snapshot> {
        self.0.foreign.look_once(&self.0.registry, &self.0.world);
        self.0.registry.snapshot()
    }

    /// Finds out which of this program's own tools are available, for whoever asks soon. Only this machine is looked
    /// at for that, and it waits for nobody.
    pub(crate) async fn ask_own_gates(&self) {
        let snapshot = self.0.registry.snapshot();
        let is_own = |tool: &&Arc<ToolEntry>| snapshot.source(tool.name()) == Some(&Source::BuiltIn);
        let gates = snapshot.tools().filter(is_own).map(|tool| tool.gate_value());
        drop(self.0.availability.verdicts(gates).await);
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

    /// What is odd in `config.yaml`, or in what others bring, but usable, in words.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.world(World::warnings);
        warnings.extend(self.0.foreign.problems());
        warnings
    }

    /// The MCP servers that the configuration names.
    pub fn mcp(&self) -> Mcp {
        self.0.foreign.widen();
        self.0.foreign.look_at_mcp(&self.0.registry, &self.0.world);
        self.0.foreign.mcp().clone()
    }

    /// Who it is among those that ask each other over MCP.
    pub(crate) fn ring(&self) -> Arc<Ring> {
        self.0.foreign.mcp().ring()
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

    /// The skills that can be seen from here, if there is a home. Nothing is read before they are used.
    pub fn skills(&self) -> Option<&HomeSkills> {
        self.0.skills.as_ref()
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
        let snapshot = self.tools();
        self.selected_of(&snapshot, platform, &self.platform_lists(platform))
    }

    /// What the configuration says about the tools of a platform.
    pub fn platform_lists(&self, platform: &str) -> PlatformLists {
        let settings = self.settings();
        PlatformLists {
            toolsets: settings.platform_toolsets.get(platform).cloned(),
            disabled_toolsets: settings.agent.disabled_toolsets,
            disabled_tools: settings.agent.disabled_tools,
            unlocked: self.unlocked(self.0.registry.snapshot().catalog()),
        }
    }

    /// What a platform would have if the configuration said this about its tools.
    pub fn selected(&self, platform: &str, lists: &PlatformLists) -> Result<Selection, SelectionError> {
        self.selected_of(&self.tools(), platform, lists)
    }

    /// The same of these tools.
    pub(crate) fn selected_of(
        &self,
        snapshot: &Snapshot,
        platform: &str,
        lists: &PlatformLists,
    ) -> Result<Selection, SelectionError> {
        let disabled: Vec<String> =
            lists.disabled_toolsets.iter().chain(&lists.disabled_tools).cloned().collect();
        let kanban_task =
            self.world(|world| world.variable("HERMES_KANBAN_TASK").is_some_and(|it| !it.is_empty()));
        platform_selection(
            snapshot.catalog(),
            &PlatformSettings {
                platform,
                toolsets: lists.toolsets.as_deref(),
                disabled: &disabled,
                unlocked: &lists.unlocked,
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
        let environments = &self.0.road.services().environments;
        environments.all().filter_map(|(_, site)| site.place.jobs()).flat_map(Jobs::notices).collect()
    }

    /// Carries messages to people, in the name of whoever holds it: by whom this runtime was handed
    /// ([`deliver`](crate::RuntimeBuilder::deliver)), else by the platforms that the settings know.
    pub fn deliver(&self) -> Arc<dyn Deliver> {
        let live = self.0.road.services().service::<Arc<dyn Deliver>>().cloned();
        Arc::new(Carriers::new(live, self.courier()))
    }

    pub(crate) fn courier(&self) -> WorldCourier {
        WorldCourier::new(&self.0.world, &self.0.web)
    }

    /// Sends one message, from code that just waits.
    pub fn send_blocking(&self, target: &Target, letter: &Letter) -> Result<Sent, DeliverError> {
        wait(async { self.deliver().send(target, letter).await })
    }

    /// The places where commands run, sorted by name.
    pub fn environments(&self) -> &Environments {
        &self.0.road.services().environments
    }

    /// Opens a place and says what is there. What takes a while meanwhile is told.
    pub fn look_at_environment(&self, name: &str, tell: Tell) -> Result<String, EnvError> {
        let place = self.environments().find(name)?;
        let _listening = place.listen(tell);
        wait(place.look())
    }

    /// Stops a place of this home; with `everything` also what is kept for later runs.
    pub fn close_environment(&self, name: &str, everything: bool) -> Result<(), EnvError> {
        wait(self.environments().find(name)?.close(everything))
    }

    /// Gives the person at the terminal a shell in a place, until they leave it; its code.
    pub fn enter_environment(&self, name: &str) -> Result<i32, String> {
        let place = self.environments().find(name).map_err(|wrong| wrong.to_string())?;
        match wait(place.shell(screen::screen())).map_err(|wrong| wrong.to_string())? {
            Way::Program(words, _held) => editor::enter(&words),
            Way::Talk(process, _held) => screen::converse(process, &self.host()),
        }
    }

    /// What is wrong with the settings of places, by name.
    pub fn environment_faults(&self) -> Vec<(String, Vec<String>)> {
        self.world(|world| {
            let all = environments::described(world).into_iter();
            all.map(|place| (place.name.clone(), environments::faults(world, &place))).collect()
        })
    }

    /// What files in the working directory held before calls changed them; nothing when it is not kept.
    pub fn rollback(&self) -> Option<Rollback> {
        let kept = Arc::clone(self.0.checkpoints.as_ref()?);
        Some(Rollback::new(kept, self.0.place.clone(), self.unique()))
    }

    /// Toolsets that are off by default and that a credential turns on.
    fn unlocked(&self, catalog: &Catalog) -> Vec<String> {
        let toolsets = catalog.names().filter_map(|name| catalog.built_in(name));
        let keyed = toolsets.filter(|toolset| toolset.unlocked_by.is_some_and(|key| self.has_variable(key)));
        keyed.map(|toolset| toolset.name().to_owned()).collect()
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

    /// A toolbox with nothing but one tool of the program's own, behind the same hooks as all others.
    pub(crate) async fn toolbox_of_one(&self, tool: &'static ToolDef) -> Result<Arc<Toolbox>, RegisterError> {
        let scope = Scope::built_in(&[tool], &[], &[]);
        let scope = self.tools().hooks().iter().cloned().fold(scope, Scope::hook);
        let snapshot = Registry::new(scope)?.snapshot();
        let plan = Arc::new(Plan::of_all(snapshot.catalog()));
        let config = |key: &str| self.world(|world| world.config(key));
        let settings = DefinitionSettings::default();
        let fresh = DefinitionCache::default();
        Ok(fresh.toolbox(&snapshot, &plan, &settings, &self.0.availability, &config).await)
    }

    /// The plan without the tools that need something which neither the session nor this runtime has, and with
    /// those for which what they have is enough.
    pub(crate) fn fitted(&self, snapshot: &Snapshot, plan: Plan, session: &Extensions) -> Plan {
        let services = self.0.road.services();
        let handed =
            |tool: &str| snapshot.tool(tool).is_some_and(|it| it.gate_value().is_handed(session, services));
        plan.without(|tool| snapshot.tool(tool)?.gate_value().not_given(session, services))
            .with_handed(handed)
    }

    pub(crate) fn foreign(&self) -> &Foreign {
        &self.0.foreign
    }

    /// The sessions that are open at this moment.
    pub(crate) fn open_sessions(&self) -> &OpenSessions {
        &self.0.open
    }

    pub(crate) fn secrets(&self) -> &WorldRedact {
        &self.0.secrets
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
