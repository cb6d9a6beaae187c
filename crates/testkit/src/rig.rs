//! Everything a call needs, made of stand-ins: a registry, gates, a road and one session.

use std::sync::Arc;

use hermes_core::availability::Availability;
use hermes_core::call::ToolCall;
use hermes_core::cx::Services;
use hermes_core::definitions::{DefinitionCache, DefinitionSettings, Toolbox};
use hermes_core::gate::Probe;
use hermes_core::hook::Hook;
use hermes_core::journal::Journal;
use hermes_core::loop_guard;
use hermes_core::outcome::Outcome;
use hermes_core::policy::{Approver, Policy};
use hermes_core::registry::{Registry, Scope, Source};
use hermes_core::road::{Redact, Road, RoadLimits, Spill};
use hermes_core::session::{Place, Session, SessionSpec};
use hermes_core::tool::ToolEntry;
use hermes_core::toolset::Plan;

use crate::{FakeFiles, FakeHost, FakeProbe, allow};

/// A road with one session and stand-ins all around.
pub struct Rig {
    /// Clock and threads.
    pub host: Arc<FakeHost>,
    /// What gates look at.
    pub probe: Arc<FakeProbe>,
    /// Files and links.
    pub files: Arc<FakeFiles>,
    /// The tools.
    pub registry: Registry,
    /// The gates' answers.
    pub availability: Availability,
    /// Definitions built before.
    pub definitions: DefinitionCache,
    /// How definitions are made.
    pub settings: DefinitionSettings,
    /// The road.
    pub road: Road,
    /// Whose calls they are.
    pub session: Session,
}

/// Puts a [`Rig`] together.
pub struct RigBuilder {
    scope: Scope,
    host: Arc<FakeHost>,
    probe: Arc<FakeProbe>,
    files: Arc<FakeFiles>,
    settings: DefinitionSettings,
    policy: Arc<dyn Policy>,
    journal: Option<Arc<dyn Journal>>,
    spill: Option<Arc<dyn Spill>>,
    redact: Option<Arc<dyn Redact>>,
    limits: RoadLimits,
    session: SessionSpec,
    detached: bool,
}

impl Rig {
    /// Without tools, with a policy that allows everything.
    pub fn builder() -> RigBuilder {
        let place = Place { cwd: "/work".into(), home: Some("/home/ann".into()) };
        RigBuilder {
            scope: Scope::new(Source::Embedder("test".to_owned())),
            host: FakeHost::new(),
            probe: FakeProbe::new(),
            files: FakeFiles::new(),
            settings: DefinitionSettings::default(),
            policy: Arc::new(allow()),
            journal: None,
            spill: None,
            redact: None,
            limits: RoadLimits::default(),
            session: SessionSpec::new("s", place),
            detached: false,
        }
    }

    /// With these tools and nothing else special.
    pub fn with(tools: impl IntoIterator<Item = ToolEntry>) -> Self {
        tools.into_iter().fold(Self::builder(), RigBuilder::tool).build()
    }

    /// The definitions of all tools.
    pub async fn toolbox(&self) -> Arc<Toolbox> {
        let snapshot = self.registry.snapshot();
        let plan = Arc::new(Plan::of_all(snapshot.catalog()));
        let config = |key: &str| self.probe.config(key);
        self.definitions.toolbox(&snapshot, &plan, &self.settings, &self.availability, &config).await
    }

    /// Takes one call.
    pub async fn call(&self, name: &str, arguments: &str) -> Outcome {
        let toolbox = self.toolbox().await;
        self.road.call(&self.session, &toolbox, ToolCall::new(name, arguments)).await
    }

    /// Takes all calls of one answer, each a name and its arguments.
    pub async fn batch<'a>(&self, calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Outcome> {
        let toolbox = self.toolbox().await;
        let calls = calls.into_iter().map(|(name, arguments)| ToolCall::new(name, arguments)).collect();
        self.road.batch(&self.session, &toolbox, calls).await
    }

    /// The same as [`Rig::call`], for tests that have nothing else to do meanwhile.
    pub fn call_now(&self, name: &str, arguments: &str) -> Outcome {
        futures::executor::block_on(self.call(name, arguments))
    }

    /// The same as [`Rig::toolbox`], for tests that have nothing else to do meanwhile.
    pub fn toolbox_now(&self) -> Arc<Toolbox> {
        futures::executor::block_on(self.toolbox())
    }
}

impl RigBuilder {
    /// Adds a tool.
    pub fn tool(mut self, tool: ToolEntry) -> Self {
        self.scope = self.scope.tool(tool);
        self
    }

    /// Adds a hook.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.scope = self.scope.hook(hook);
        self
    }

    /// How definitions are made.
    pub fn settings(mut self, settings: DefinitionSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Who decides.
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Who decides, when the test wants to look into it later.
    pub fn policy_arc(mut self, policy: Arc<dyn Policy>) -> Self {
        self.policy = policy;
        self
    }

    /// Who answers.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.session.approver = approver;
        self
    }

    /// What is recorded.
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Where large results go.
    pub fn spill(mut self, spill: Arc<dyn Spill>) -> Self {
        self.spill = Some(spill);
        self
    }

    /// What is taken out of results.
    pub fn redact(mut self, redact: Arc<dyn Redact>) -> Self {
        self.redact = Some(redact);
        self
    }

    /// How long, how many, how much.
    pub fn limits(mut self, limits: RoadLimits) -> Self {
        self.limits = limits;
        self
    }

    /// When repetition is noticed.
    pub fn loop_guard(mut self, settings: loop_guard::Settings) -> Self {
        self.session.loop_guard = settings;
        self
    }

    /// No session state.
    pub fn detached(mut self) -> Self {
        self.detached = true;
        self
    }

    /// Puts it together.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "a test whose tools clash fails here")]
    pub fn build(self) -> Rig {
        let services = Services::new(self.host.clone(), self.files.clone());
        let mut road = Road::new(Arc::new(services), self.policy).limits(self.limits);
        if let Some(journal) = self.journal {
            road = road.journal(journal);
        }
        if let Some(spill) = self.spill {
            road = road.spill(spill);
        }
        if let Some(redact) = self.redact {
            road = road.redact(redact);
        }
        let make = if self.detached { Session::detached } else { Session::new };
        Rig {
            availability: Availability::new(self.host.clone(), self.probe.clone()),
            registry: Registry::new(self.scope).expect("tools that can be registered"),
            definitions: DefinitionCache::default(),
            settings: self.settings,
            session: make(self.session),
            host: self.host,
            probe: self.probe,
            files: self.files,
            road,
        }
    }
}
