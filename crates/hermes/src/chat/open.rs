//! How a conversation is begun, or gone on with.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use hermes_agent::{EventWatcher, Learnt, Steering};
use hermes_core::clarify::Asker;
use hermes_core::conversation::Conversation;
use hermes_core::model::Message;
use hermes_core::policy::{Approver, Nobody};
use hermes_core::side::Answering;
use hermes_core::toolset::{Selection, SelectionError};
use hermes_core::watch::Watcher;
use hermes_extend::mcp::client::Sampler;
use hermes_store::sessions::{Link, NewSession, SessionError, SessionStore, fresh_id};

use super::conversation::{PassingConversation, StoredConversation};
use super::models::{self, ModelError, ModelWish, Models};
use super::relay::Relay;
use super::sampler::ModelSampler;
use super::seat::Seat;
use super::{Chat, children, facts, inside};
use crate::host::Machine;
use crate::policy::GrantsOf;
use crate::runtime::Runtime;
use crate::session::Session;

/// Which session it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Opening {
    /// A new one.
    #[default]
    New,
    /// A new one with this id, which no other session has.
    Named(String),
    /// The one a person means by an id, the beginning of one, or a title.
    Resume(String),
    /// The one that was last used.
    Continue,
}

/// Why a conversation could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The selection names something that is not there.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// No model can be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is no such session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// There is no session to continue.
    #[error("there is no session yet to go on with")]
    NothingToContinue,
    /// The store cannot be used.
    #[error("{0}")]
    Store(String),
}

/// What holds for every session of a conversation.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) selection: Selection,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) asker: Option<Arc<dyn Asker>>,
    pub(crate) source: String,
    pub(crate) platform: Option<String>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) note: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    /// The environment its calls work in when they name none.
    pub(crate) environment: Option<String>,
    /// The session that handed this one a task.
    pub(crate) parent: Option<(String, Link)>,
    /// The session whose grants hold here too.
    pub(crate) grants_of: Option<String>,
    /// How many sessions handed on the task before.
    pub(crate) generation: u64,
}

/// Puts a conversation together; everything has a default.
pub struct ChatBuilder {
    runtime: Runtime,
    terms: Terms,
    wish: ModelWish,
    opening: Opening,
    configured: Option<Configured>,
    at_once: bool,
}

/// The tools that the configuration selects for a platform, but for some.
struct Configured {
    platform: String,
    without: Vec<String>,
}

impl ChatBuilder {
    pub(crate) fn new(runtime: Runtime) -> Self {
        let terms = Terms {
            selection: Selection::everything(),
            approver: Arc::new(Nobody),
            asker: None,
            source: "library".to_owned(),
            platform: None,
            max_turns: None,
            note: None,
            cwd: None,
            environment: None,
            parent: None,
            grants_of: None,
            generation: 0,
        };
        let (wish, opening) = (ModelWish::default(), Opening::New);
        Self { runtime, terms, wish, opening, configured: None, at_once: false }
    }

    /// Which tools it has; the default is all of them.
    pub fn select(mut self, selection: Selection) -> Self {
        self.terms.selection = selection;
        self
    }

    /// The tools that the configuration selects for a platform (`cli`, `telegram`, …), without these. Which
    /// tools there are is found out while the model is chosen.
    pub fn select_for(mut self, platform: &str, without: Vec<String>) -> Self {
        self.configured = Some(Configured { platform: platform.to_owned(), without });
        self
    }

    /// The environment its calls work in when they name none, instead of the default.
    pub fn environment(mut self, name: impl Into<String>) -> Self {
        self.terms.environment = Some(name.into());
        self
    }

    /// Who answers when policy asks; the default is nobody, which means no.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.terms.approver = approver;
        self
    }

    /// Who answers the agent's own questions; without anybody it does not ask.
    pub fn asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.terms.asker = Some(asker);
        self
    }

    /// Which door it comes in by, for the record.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.terms.source = source.into();
        self
    }

    /// How answers are shown, in words for the model.
    pub fn shown(mut self, how: impl Into<String>) -> Self {
        self.terms.platform = Some(how.into());
        self
    }

    /// Which model is wanted, beyond what the configuration says.
    pub fn model(mut self, wish: ModelWish) -> Self {
        self.wish = wish;
        self
    }

    /// Most answers of a model in one turn, instead of what the configuration says.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.terms.max_turns = Some(turns);
        self
    }

    /// Something more for the system prompt of new sessions.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.terms.note = Some(text.into());
        self
    }

    /// Where it stands, instead of where the runtime does.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.terms.cwd = Some(cwd.into());
        self
    }

    /// Which session it is; the default is a new one.
    pub fn opening(mut self, opening: Opening) -> Self {
        self.opening = opening;
        self
    }

    /// Says that its first turn follows at once: the tools that are found while it is opened are those of its
    /// first request.
    pub fn asked_at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Opens it. Nothing is written before something is said.
    pub async fn open(self) -> Result<Chat, OpenError> {
        let Self { runtime, mut terms, wish, opening, configured, at_once } = self;
        let store = runtime.sessions().cloned();
        let open_store = move || store.iter().for_each(SessionStore::open_ahead);
        let ahead = runtime.world(|world| runtime.foreign().look_ahead(world, open_store));
        let (relay, learnt) = (Relay::default(), Arc::new(Learnt::default()));
        let opened = async {
            let (models, ()) = futures::join!(models::choose(&runtime, &wish), meanwhile(&runtime, ahead));
            let models = models?;
            if let Some(Configured { platform, without }) = configured {
                let snapshot = runtime.current();
                let lists = runtime.platform_lists(&platform);
                terms.selection = runtime.selected_of(&snapshot, &platform, &lists)?.without(without);
            }
            seat(&runtime, &terms, opening, models, &relay, &learnt).await
        };
        let seat = inside(&runtime, Box::pin(opened)).await?;
        if at_once {
            seat.tools.looked_just_now();
        }
        let (steering, seat) = (Steering::default(), RwLock::new(Arc::new(seat)));
        let (notes, left) = Default::default();
        Ok(Chat { runtime, terms, relay, steering, learnt, seat, notes, left })
    }

    /// The same, from code that just waits.
    pub fn open_blocking(self) -> Result<Chat, OpenError> {
        hermes_core::wait::wait(self.open())
    }
}

/// Looks at the tools while servers of models are asked whether they are there. Servers of tools that nothing is
/// known of are started, and what was late or failed before is asked again; nobody waits for it.
async fn meanwhile(runtime: &Runtime, ahead: bool) {
    if ahead {
        // What is kept of foreign tools is read just now; this has to be found out too, and does not depend on it.
        runtime.ask_own_gates().await;
    }
    runtime.tools();
    runtime.ask_again();
    if runtime.mcp().ready().await {
        // Some may have said by now what they offer.
        runtime.mcp();
    }
}

/// A session at work, new or gone on with.
pub(super) async fn seat(
    runtime: &Runtime,
    terms: &Terms,
    opening: Opening,
    models: Models,
    relay: &Relay,
    learnt: &Arc<Learnt>,
) -> Result<Seat, OpenError> {
    let named = if let Opening::Named(id) = &opening { Some(id.clone()) } else { None };
    let found = existing(runtime, opening).await?;
    let id = found.clone().or(named).unwrap_or_else(|| fresh_id(Machine::wall(), Machine::chance()));
    let log = record(runtime, terms, &models, &id, found.is_some());
    let session = Arc::new(session(runtime, terms, &models, &id, relay, learnt)?);
    if found.is_some() {
        restore(&session, &log.messages().await.map_err(OpenError::Store)?);
    }
    let kept = log.system_prompt().await.map_err(OpenError::Store)?;
    let system: Arc<str> = if let Some(prompt) = kept {
        prompt.into()
    } else {
        let prompt = facts::system_prompt(runtime, terms, &session, &models).await;
        log.set_system_prompt(&prompt).await.map_err(OpenError::Store)?;
        prompt.into()
    };
    let seat = Seat::new(runtime, terms, id, session, log, models, system, learnt);
    Ok(if found.is_some() { seat } else { seat.untitled() })
}

/// The session that is meant; none when a new one is.
async fn existing(runtime: &Runtime, opening: Opening) -> Result<Option<String>, OpenError> {
    let name = match opening {
        Opening::New | Opening::Named(_) => return Ok(None),
        Opening::Resume(name) => Some(name),
        Opening::Continue => None,
    };
    let store = runtime.sessions().ok_or_else(|| OpenError::Store(super::NO_HOME.to_owned()))?;
    let found = store.change(move |sessions| {
        let record = match &name {
            Some(name) => Some(sessions.resume(name)?),
            None => sessions.latest(Some("cli"))?,
        };
        if let Some(record) = &record {
            // What a killed process left unanswered is answered, so that it is there to be seen. A
            // living one that is in a turn answers by itself.
            if let Some(_floor) = sessions.floor(&record.id)? {
                sessions.mend(&record.id)?;
            }
            sessions.reopen(&record.id)?;
        }
        Ok(record.map(|record| record.id))
    });
    found.await?.ok_or(OpenError::NothingToContinue).map(Some)
}

fn record(
    runtime: &Runtime,
    terms: &Terms,
    models: &Models,
    id: &str,
    exists: bool,
) -> Arc<dyn Conversation> {
    let (Some(store), Some(spill)) = (runtime.sessions(), runtime.spill()) else {
        return Arc::new(PassingConversation::default());
    };
    let new = (!exists).then(|| NewSession {
        id: Some(id.to_owned()),
        model: Some(models.choice.name.clone()),
        cwd: Some(terms.cwd.as_ref().unwrap_or(&runtime.place().cwd).display().to_string()),
        parent: terms.parent.clone(),
        ..NewSession::from(terms.source.as_str())
    });
    Arc::new(StoredConversation::new(store.clone(), id.to_owned(), new, spill))
}

fn session(
    runtime: &Runtime,
    terms: &Terms,
    models: &Models,
    id: &str,
    relay: &Relay,
    learnt: &Arc<Learnt>,
) -> Result<Session, OpenError> {
    let told = relay.clone();
    let watcher: Arc<dyn Watcher> = Arc::new(EventWatcher(Arc::new(move |event| told.tell(event))));
    let mut builder = runtime
        .session()
        .id(id)
        .select(terms.selection.clone())
        .approver(Arc::clone(&terms.approver))
        .extension(watcher);
    if let Some(risk) = models.risk() {
        builder = builder.risk_model(Arc::new(risk));
    }
    if let Some(model) = models.list.first() {
        let sampler: Arc<dyn Sampler> =
            Arc::new(ModelSampler { runtime: runtime.clone(), own: Some(Arc::clone(model)) });
        builder = builder.extension(sampler).extension(Answering(Arc::clone(model)));
    }
    if let Some(tokens) = models.context_tokens() {
        builder = builder.context_tokens(tokens);
    }
    if let Some(asker) = &terms.asker {
        builder = builder.extension(Arc::clone(asker));
    }
    if let Some(cwd) = &terms.cwd {
        builder = builder.cwd(cwd);
    }
    if let Some(environment) = &terms.environment {
        builder = builder.environment(environment);
    }
    if let Some((parent, _)) = &terms.parent {
        builder = builder.extension(GrantsOf(terms.grants_of.clone().unwrap_or_else(|| parent.clone())));
    }
    if let Some(delegates) = children::delegates(runtime, terms, models, relay, learnt) {
        builder = builder.extension(delegates);
    }
    // The look was made while the model was chosen.
    Ok(builder.open_current()?)
}

/// What tools knew when the session was left: the list of things to do.
fn restore(session: &Session, messages: &[Message]) {
    let newest = messages.iter().rev().find_map(|message| match message {
        Message::Tool { name, content, .. } if name == "todo" => Some(content),
        _ => None,
    });
    if let Some(answer) = newest {
        hermes_tools::restore_todos(session.state(), answer);
    }
}
