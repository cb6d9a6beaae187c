//! A session of the runtime: its own state, its own tools, the same road as everybody.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::call::ToolCall;
use hermes_core::definitions::{DefinitionSettings, Toolbox};
use hermes_core::environment::{Chosen, Shells};
use hermes_core::extensions::Extensions;
use hermes_core::outcome::Outcome;
use hermes_core::policy::{Approver, Nobody};
use hermes_core::registry::Snapshot;
use hermes_core::road::Road;
use hermes_core::session::{Place, Session as State, SessionSpec};
use hermes_core::smart::{RiskModel, SmartApprover};
use hermes_core::toolset::{Plan, Selection, SelectionError};
use hermes_core::wait::wait;
use hermes_extend::mcp::client::Sampler;

use tokio_util::sync::CancellationToken;

use crate::chat::hooks;
use crate::chat::sampler::ModelSampler;
use crate::open_sessions::Standpoint;
use crate::policy::GrantsOf;
use crate::runtime::Runtime;
use crate::settings;

/// Puts a session together; everything has a default.
pub struct SessionBuilder {
    runtime: Runtime,
    id: Option<String>,
    place: Place,
    selection: Selection,
    only: Option<String>,
    settings: DefinitionSettings,
    approver: Arc<dyn Approver>,
    extensions: Extensions,
    context_tokens: Option<u64>,
}

impl SessionBuilder {
    pub(crate) fn new(runtime: Runtime) -> Self {
        let place = runtime.place().clone();
        let settings = runtime.definition_settings();
        let approver = hooks::approver(&runtime, Arc::new(Nobody));
        Self {
            runtime,
            id: None,
            place,
            selection: Selection::everything(),
            only: None,
            settings,
            approver,
            extensions: Extensions::default(),
            context_tokens: None,
        }
    }

    /// Its id; a fresh one is made when this is not called.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Where it stands, instead of where the runtime does.
    pub fn cwd(mut self, cwd: impl Into<std::path::PathBuf>) -> Self {
        self.place.cwd = cwd.into();
        self
    }

    /// The environment its calls work in when they name none, instead of the default.
    pub fn environment(self, name: impl Into<String>) -> Self {
        self.extension(Chosen(name.into()))
    }

    /// Which tools it has; the default is all of them.
    pub fn select(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// This tool alone, whatever is selected, unless it looks at others: for a session that calls no other. Whether
    /// those are available need not be found out then.
    pub fn only(mut self, tool: impl Into<String>) -> Self {
        self.only = Some(tool.into());
        self
    }

    /// How definitions are made, instead of what the configuration says.
    pub fn definitions(mut self, settings: DefinitionSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Who answers when policy asks; the default is nobody, which means no. Hooks are told about it.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = hooks::approver(&self.runtime, approver);
        self
    }

    /// Stands where another session does: asks whom it asks, and has its grants.
    pub(crate) fn standing_at(mut self, other: Standpoint) -> Self {
        // Hooks are told about that one already.
        self.approver = other.approver;
        self.extension(GrantsOf(other.grants_of))
    }

    /// Lets a second model say yes to what is of little risk, in the mode that allows it.
    pub fn risk_model(mut self, model: Arc<dyn RiskModel>) -> Self {
        let person = Arc::clone(&self.approver);
        self.approver = Arc::new(SmartApprover { model, person, host: self.runtime.host() });
        self
    }

    /// Lets MCP servers ask the model that the configuration names, where they may; it is chosen when one does.
    pub fn model_for_servers(self) -> Self {
        let sampler: Arc<dyn Sampler> = Arc::new(ModelSampler { runtime: self.runtime.clone(), own: None });
        self.extension(sampler)
    }

    /// Size of the model's context: results and definitions are held to their share of it.
    pub fn context_tokens(mut self, tokens: u64) -> Self {
        self.context_tokens = Some(tokens);
        self.settings.context_tokens = Some(tokens);
        self
    }

    /// Hands a value to the tools of this session, which find it by its type.
    pub fn extension<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Opens it, or says which name of the selection is not known.
    pub fn open(self) -> Result<Session, SelectionError> {
        let snapshot = self.runtime.tools();
        self.open_with(&snapshot)
    }

    /// The same, with the tools as they were found last.
    pub(crate) fn open_current(self) -> Result<Session, SelectionError> {
        let snapshot = self.runtime.current();
        self.open_with(&snapshot)
    }

    fn open_with(self, snapshot: &Snapshot) -> Result<Session, SelectionError> {
        let plan = planned(snapshot, &self.selection, self.only.as_deref())?;
        Ok(self.made(snapshot, plan, State::new))
    }

    /// No session at all: every tool can be called, but those that keep state say that they need one.
    pub(crate) fn over_all_tools(self) -> Session {
        let snapshot = self.runtime.tools();
        let plan = Plan::of_all(snapshot.catalog());
        self.made(&snapshot, plan, State::detached)
    }

    fn made(self, snapshot: &Snapshot, plan: Plan, make: fn(SessionSpec) -> State) -> Session {
        let spec = SessionSpec {
            id: self.id.unwrap_or_else(|| self.runtime.unique()),
            place: self.place,
            approver: self.approver,
            loop_guard: settings::loop_guard(&self.runtime.settings()),
            extensions: self.extensions,
        };
        let road = match self.context_tokens {
            Some(tokens) => self.runtime.road_for(tokens),
            None => self.runtime.road().clone(),
        };
        let plan = self.runtime.fitted(snapshot, plan, &spec.extensions);
        let state = make(spec);
        self.runtime.open_sessions().add(&state);
        Session {
            runtime: self.runtime,
            road,
            state,
            selection: self.selection,
            only: self.only,
            settings: self.settings,
            plan: Mutex::new((snapshot.generation(), Arc::new(plan))),
        }
    }
}

/// A running session.
pub struct Session {
    runtime: Runtime,
    road: Road,
    state: State,
    selection: Selection,
    only: Option<String>,
    settings: DefinitionSettings,
    /// The plan, and the generation of the registry it was made for.
    plan: Mutex<(u64, Arc<Plan>)>,
}

impl Session {
    /// Its id.
    pub fn id(&self) -> &str {
        self.state.id()
    }

    /// The tools of this session as the model is told about them.
    pub async fn toolbox(&self) -> Arc<Toolbox> {
        self.toolbox_over(&self.runtime.tools()).await
    }

    /// The same, as the tools were found last.
    pub async fn current_toolbox(&self) -> Arc<Toolbox> {
        self.toolbox_over(&self.runtime.current()).await
    }

    async fn toolbox_over(&self, snapshot: &Arc<Snapshot>) -> Arc<Toolbox> {
        let plan = self.plan_for(snapshot);
        self.runtime.toolbox_of(snapshot, &plan, &self.settings).await
    }

    /// The same for these calls: one of a tool that nobody knows waits for files and plugins that may have
    /// it and have not said yet what they offer, until the session or `stop` ends.
    async fn toolbox_for(&self, names: &[&str], stop: Option<&CancellationToken>) -> Arc<Toolbox> {
        let toolbox = self.toolbox_over(&self.runtime.tools_for(names)).await;
        let unknown = names.iter().copied().filter(|name| toolbox.snapshot().tool(name).is_none());
        let Some(late) = self.runtime.late(unknown) else { return toolbox };
        let stop = stop.cloned().unwrap_or_else(|| self.child_token());
        futures::future::select(late, std::pin::pin!(stop.cancelled())).await;
        self.toolbox().await
    }

    /// Takes one call.
    pub async fn call(&self, call: ToolCall) -> Outcome {
        let toolbox = self.toolbox_for(&[&call.name], None).await;
        self.road.call(&self.state, &toolbox, call).await
    }

    /// The same as [`Session::call`], unless `cancel` fires first.
    pub async fn call_until(&self, call: ToolCall, cancel: &CancellationToken) -> Outcome {
        let toolbox = self.toolbox_for(&[&call.name], Some(cancel)).await;
        // The end of the session ends the call too.
        let both = self.child_token();
        let stops = cancel.clone();
        let call = self.road.call_until(&self.state, &toolbox, call, &both);
        let mut call = std::pin::pin!(call);
        match futures::future::select(std::pin::pin!(stops.cancelled()), call.as_mut()).await {
            futures::future::Either::Left(_) => {
                both.cancel();
                call.await
            }
            futures::future::Either::Right((outcome, _)) => outcome,
        }
    }

    /// Takes all calls of one answer; the outcomes are in call order, one each.
    pub async fn batch(&self, calls: Vec<ToolCall>) -> Vec<Outcome> {
        let toolbox = self.toolbox_for(&names(&calls), None).await;
        self.road.batch(&self.state, &toolbox, calls).await
    }

    /// The same as [`Session::batch`], unless `cancel` fires first.
    pub async fn batch_until(&self, calls: Vec<ToolCall>, cancel: &CancellationToken) -> Vec<Outcome> {
        let toolbox = self.toolbox_for(&names(&calls), Some(cancel)).await;
        self.road.batch_until(&self.state, &toolbox, calls, cancel).await
    }

    /// A token that ends with the session; cancel it to stop one turn.
    pub fn child_token(&self) -> CancellationToken {
        self.state.child_token()
    }

    /// The same as [`Session::call`], from code that just waits.
    pub fn call_blocking(&self, call: ToolCall) -> Outcome {
        wait(self.call(call))
    }

    /// The same as [`Session::call_until`], from code that just waits.
    pub fn call_until_blocking(&self, call: ToolCall, cancel: &CancellationToken) -> Outcome {
        wait(self.call_until(call, cancel))
    }

    /// The same as [`Session::batch`], from code that just waits.
    pub fn batch_blocking(&self, calls: Vec<ToolCall>) -> Vec<Outcome> {
        wait(self.batch(calls))
    }

    /// The same as [`Session::current_toolbox`], from code that just waits.
    pub fn current_toolbox_blocking(&self) -> Arc<Toolbox> {
        wait(self.current_toolbox())
    }

    /// The same as [`Session::toolbox`], from code that just waits.
    pub fn toolbox_blocking(&self) -> Arc<Toolbox> {
        wait(self.toolbox())
    }

    /// Starts a new turn: what was repeated before counts no more.
    pub fn new_turn(&self) {
        self.state.new_turn();
    }

    /// Whether a tool only looks, whatever its arguments.
    pub(crate) fn is_read_only(&self, tool: &str) -> bool {
        self.runtime.current().tool(tool).is_some_and(|entry| entry.is_read_only())
    }

    /// The state its tools keep.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The model's context was shortened: what it was shown before may be shown again.
    pub fn context_shortened(&self) {
        hermes_tools::forget_shown(&self.state);
    }

    /// Has its commands given these variables from now on, as when a skill that declares them was read:
    /// those that are set, and none that belongs to the agent itself.
    pub fn pass_variables(&self, names: impl IntoIterator<Item = String>) {
        self.state.with_slot(|shells: &mut Shells| shells.pass(names));
    }

    /// Stops everything that runs in this session, now and later.
    pub fn cancel(&self) {
        self.state.cancel();
    }

    /// The plan for this snapshot; made again only when tools came or went.
    fn plan_for(&self, snapshot: &Snapshot) -> Arc<Plan> {
        let mut known = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != snapshot.generation() {
            // A toolset that went away with its source leaves the names it had unknown; the
            // session then keeps the plan it was opened with, and the missing tools are missing.
            if let Ok(plan) = planned(snapshot, &self.selection, self.only.as_deref()) {
                known.1 = Arc::new(self.runtime.fitted(snapshot, plan, self.state.extensions()));
            }
            known.0 = snapshot.generation();
        }
        Arc::clone(&known.1)
    }
}

fn names(calls: &[ToolCall]) -> Vec<&str> {
    calls.iter().map(|call| call.name.as_str()).collect()
}

/// The tools of a selection; instead of them `only` this one, unless it looks at others.
fn planned(snapshot: &Snapshot, selection: &Selection, only: Option<&str>) -> Result<Plan, SelectionError> {
    let stands_alone = |name: &&str| snapshot.tool(name).is_some_and(|tool| !tool.looks_around());
    match only.filter(stands_alone) {
        Some(tool) => Ok(Plan::of_one(tool)),
        None => Plan::new(snapshot.catalog(), selection),
    }
}
