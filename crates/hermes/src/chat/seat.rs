//! One session at work: its tools, its record, and the driver between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hermes_agent::{AgentSettings, Driver, Learnt};
use hermes_core::conversation::Conversation;

use super::hooks::{self, Withheld};
use super::models::Models;
use super::open::Terms;
use super::tools::SessionTools;
use crate::runtime::Runtime;
use crate::session::Session;

/// A session at work.
pub(crate) struct Seat {
    pub(crate) id: String,
    pub(crate) session: Arc<Session>,
    pub(crate) log: Arc<dyn Conversation>,
    pub(crate) models: Models,
    pub(crate) driver: Driver,
    pub(crate) tools: Arc<SessionTools>,
    /// Whether the session is new and has no title yet.
    pub(crate) untitled: AtomicBool,
    /// Why the answer is not what the model said, if a hook that had to look at it could not.
    pub(crate) withheld: Withheld,
    runtime: Runtime,
    system: Arc<str>,
}

impl Seat {
    #[expect(clippy::too_many_arguments, reason = "it is made in one place, of all that was found there")]
    pub(crate) fn new(
        runtime: &Runtime,
        terms: &Terms,
        id: String,
        session: Arc<Session>,
        log: Arc<dyn Conversation>,
        models: Models,
        system: Arc<str>,
        learnt: &Arc<Learnt>,
    ) -> Self {
        let (withheld, tools) = (Withheld::default(), Arc::new(SessionTools::of(&session)));
        let driver = Driver {
            host: runtime.host(),
            models: hooks::models(runtime, &session, &models.list, &withheld),
            summary_model: models.summary.clone(),
            tools: tools.clone(),
            log: Arc::clone(&log),
            settings: settings(runtime, terms, &models),
            system: Arc::clone(&system),
            learnt: Arc::clone(learnt),
        };
        let untitled = AtomicBool::new(false);
        Self { id, session, log, models, driver, tools, untitled, withheld, runtime: runtime.clone(), system }
    }

    /// It is new: it gets a title when something was said.
    pub(crate) fn untitled(self) -> Self {
        self.untitled.store(true, Ordering::Relaxed);
        self
    }

    /// The same session with other models.
    pub(crate) fn with_models(&self, terms: &Terms, models: Models, learnt: &Arc<Learnt>) -> Self {
        let (session, log, system) = (&self.session, &self.log, &self.system);
        let (session, log, system) = (Arc::clone(session), Arc::clone(log), Arc::clone(system));
        let changed = Self::new(&self.runtime, terms, self.id.clone(), session, log, models, system, learnt);
        changed.untitled.store(self.untitled.load(Ordering::Relaxed), Ordering::Relaxed);
        changed
    }
}

/// From what the configuration says to what the agent wants to know.
fn settings(runtime: &Runtime, terms: &Terms, models: &Models) -> AgentSettings {
    let turn = runtime.settings().turn;
    let default = AgentSettings::default();
    let configured = u32::try_from(turn.max_turns).unwrap_or(u32::MAX);
    AgentSettings {
        budget: terms.max_turns.unwrap_or(configured),
        max_tokens: models.max_tokens,
        effort: models.effort.clone().or(turn.reasoning_effort),
        deadline: turn.turn_timeout.unwrap_or(std::time::Duration::MAX),
        grace: runtime.settings().tools.limits.interrupt_grace,
        ..default
    }
}
