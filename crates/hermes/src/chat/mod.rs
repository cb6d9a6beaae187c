//! A conversation with an agent: models, tools and record of one session, wired together.
//!
//! | file | what |
//! |---|---|
//! | `open.rs` | how a conversation is begun or gone on with |
//! | `seat.rs` | one session at work: its tools, its record, its driver |
//! | `models.rs` | which models are asked, and why those |
//! | `facts.rs` | what the system prompt is made from |
//! | `tools.rs`, `conversation.rs`, `wording.rs` | the session's tools and record as the agent sees them |
//! | `references.rs` | what a message points at with `@` |
//! | `risk.rs` | a model that may say yes in a person's place |
//! | `children.rs` | agents that work for this one |
//! | `hooks.rs`, `verify.rs` | what hooks are told beside calls, and what they may still want |
//! | `relay.rs` | what happens, for whoever follows the turn |

mod children;
mod conversation;
mod facts;
pub(crate) mod hooks;
pub(crate) mod models;
mod open;
mod references;
mod relay;
mod risk;
pub(crate) mod sampler;
mod seat;
mod tools;
mod verify;
mod wording;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use hermes_agent::context::tokens;
use hermes_agent::title::title;
use hermes_agent::{Event, EventSink, Learnt, Steering, TurnEnd};
use hermes_core::model::{Message, Part, Usage};
use hermes_store::sessions::{Listing, SessionError, SessionRecord, Sessions, Spender, Tokens};
use tokio_util::sync::CancellationToken;

use crate::inside::Inside;
use crate::runtime::Runtime;

pub use models::{ModelChoice, ModelError, ModelWish};
pub use open::{ChatBuilder, OpenError, Opening};

use hooks::Notes;
use open::Terms;
use relay::{Queue, Relay, Told};
use seat::Seat;
use verify::Changed;

/// A conversation with an agent.
pub struct Chat {
    runtime: Runtime,
    terms: Terms,
    relay: Relay,
    steering: Steering,
    learnt: Arc<Learnt>,
    seat: RwLock<Arc<Seat>>,
    /// What was said about hooks already.
    notes: Notes,
    /// Whether hooks know that it was left.
    left: AtomicBool,
}

/// What a session used so far.
#[derive(Debug, Clone, Default)]
pub struct SessionUsage {
    /// The totals.
    pub total: Tokens,
    /// By model, provider and task.
    pub by_model: Vec<(Spender, Tokens)>,
    /// Messages in the conversation.
    pub messages: usize,
    /// Calls of tools in the conversation.
    pub tool_calls: u64,
    /// Share of the context that is used, 0 to 1, as far as it can be told.
    pub context_used: Option<f64>,
}

impl Chat {
    fn seat(&self) -> Arc<Seat> {
        Arc::clone(&self.seat.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn sit(&self, seat: Seat) {
        *self.seat.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(seat);
    }

    /// The session's id.
    pub fn session_id(&self) -> String {
        self.seat().id.clone()
    }

    /// The model that is asked first, and why that one.
    pub fn model(&self) -> ModelChoice {
        self.seat().models.choice.clone()
    }

    /// The session's tools.
    pub fn session(&self) -> Arc<crate::Session> {
        Arc::clone(&self.seat().session)
    }

    /// Takes one turn, and tells `sink` what happens; cancel the token to stop it.
    pub async fn turn(&self, input: Vec<Part>, sink: EventSink<'_>, cancel: &CancellationToken) -> TurnEnd {
        let seat = self.seat();
        let asked = words(&input);
        let queue = Queue::default();
        let (from_calls, from_turn) = (queue.clone(), queue.clone());
        let changed = hooks::verifies(&self.runtime).then(Changed::default);
        let (heard, notes) = (changed.clone(), self.notes.clone());
        let _following = self.relay.follow(Arc::new(move |event| {
            if let Some(changed) = &heard {
                changed.hear(&event);
            }
            if !notes.knows(&event) {
                from_calls.push(event);
            }
        }));
        let events = |event| match event {
            Event::TurnEnded(end) => {
                self.tell_notes(&from_turn);
                from_turn.push(Event::TurnEnded(seat.withheld.judged(end)));
            }
            other => from_turn.push(other),
        };
        seat.session.new_turn();
        let turn = async {
            let first = seat.untitled.load(Ordering::Relaxed);
            let input = hooks::before_turn(&self.runtime, &seat, first, input, cancel).await;
            self.tell_notes(&from_turn);
            match (input, &changed) {
                (Err(no), _) => not_begun(&seat, no, &events),
                (Ok(input), Some(changed)) => self.until_agreed(&seat, input, changed, &events, cancel).await,
                (Ok(input), None) => seat.driver.turn(&seat.id, input, &self.steering, &events, cancel).await,
            }
        };
        let work = Box::pin(self.inside(Box::pin(turn)));
        let end = seat.withheld.judged(Told { work, queue: queue.clone(), sink }.await);
        hooks::after_turn(&self.runtime, &seat, &asked, &end).await;
        if seat.untitled.swap(false, Ordering::Relaxed) {
            self.give_title(&seat.id, &asked, &end.text).await;
        }
        end
    }

    /// Says what went wrong with hooks, each thing once in a conversation.
    fn tell_notes(&self, queue: &Queue) {
        for text in self.runtime.hook_notes() {
            let notice = Event::Notice { text };
            if !self.notes.knows(&notice) {
                queue.push(notice);
            }
        }
    }

    /// Leaves the conversation, and says what went wrong with hooks at its end.
    pub fn close(self) -> Vec<String> {
        self.leave();
        self.runtime.settle(hooks::AT_THE_END)
    }

    fn leave(&self) {
        if !self.left.swap(true, Ordering::Relaxed) {
            hooks::left_at_once(&self.runtime, &self.seat());
        }
    }

    /// A message with what it points at (`@file:path`, `@folder:path`, `@diff`, …) behind it, read by the
    /// session's own tools, and what is to be told about it. Meant for messages of the person who owns
    /// the session.
    pub async fn attached(&self, input: Vec<Part>) -> (Vec<Part>, Vec<String>) {
        let seat = self.seat();
        let read = references::attached(&seat.session, input, seat.models.context_tokens());
        let attached = self.inside(Box::pin(read)).await;
        (attached.input, attached.notes)
    }

    /// A title for a new session, from what was said first.
    async fn give_title(&self, id: &str, asked: &str, answered: &str) {
        let Some(title) = title(asked, answered) else { return };
        let id = id.to_owned();
        // A session without a title is as good as any.
        let _ = self.change(move |sessions| sessions.title_if_none(&id, &title)).await;
    }

    /// Says something while a turn goes on: the model reads it after the calls that run now.
    pub fn steer(&self, text: &str) {
        self.steering.push(text);
    }

    /// What was said for a turn and not read in it.
    pub fn unread(&self) -> Vec<String> {
        self.steering.take()
    }

    /// Shortens the conversation now. Gives what came of it, in words.
    pub async fn compress(&self, topic: Option<&str>, cancel: &CancellationToken) -> Result<String, String> {
        let seat = self.seat();
        let short = self.inside(Box::pin(seat.driver.compact_now(topic, &|_| {}, cancel))).await?;
        seat.session.context_shortened();
        Ok(format!("about {} tokens became {}", short.before, short.after))
    }

    /// The conversation as the model sees it.
    pub async fn messages(&self) -> Result<Vec<Message>, String> {
        self.seat().log.messages().await
    }

    /// Takes the last turns back. Gives the earliest thing the person had said in them.
    pub async fn undo(&self, turns: u32) -> Result<Option<String>, String> {
        let seat = self.seat();
        let Some(_floor) = seat.log.floor().await? else { return Err(OTHERS_TURN.to_owned()) };
        let id = seat.id.clone();
        let taken = self.change(move |sessions| sessions.undo(&id, turns)).await?;
        seat.session.context_shortened();
        Ok(taken.and_then(|stored| stored.message.content).map(|content| content.text()))
    }

    /// Gives the session a title.
    pub async fn rename(&self, title: &str) -> Result<String, String> {
        let (id, title) = (self.seat().id.clone(), title.to_owned());
        self.change(move |sessions| sessions.rename(&id, &title)).await
    }

    /// Sessions that can be gone on with, those last used first.
    pub async fn sessions(&self, limit: u32) -> Result<Vec<SessionRecord>, String> {
        let listing = Listing { with_messages: true, limit, ..Listing::default() };
        self.look(move |sessions| sessions.list(&listing)).await
    }

    /// What this session used so far.
    pub async fn usage(&self) -> Result<SessionUsage, String> {
        let seat = self.seat();
        let (id, messages) = (seat.id.clone(), self.messages().await?);
        let used = self.look(move |sessions| match sessions.session(&id) {
            Ok(record) => Ok((record.tokens, sessions.usage(&id)?)),
            Err(SessionError::Unknown { .. }) => Ok(Default::default()),
            Err(other) => Err(other),
        });
        let (total, by_model) = used.await?;
        let calls = |message: &Message| match message {
            Message::Assistant(said) => said.calls.len() as u64,
            _ => 0,
        };
        let size = tokens::of_text(&seat.driver.system) + tokens::of_messages(&messages);
        Ok(SessionUsage {
            total,
            by_model,
            messages: messages.len(),
            tool_calls: messages.iter().map(calls).sum(),
            context_used: seat.models.choice.context_tokens.map(|window| share(size, window)),
        })
    }

    /// Begins a new session; the one before stays as it is.
    pub async fn start_anew(&self) -> Result<(), OpenError> {
        self.reopen(Opening::New).await
    }

    /// Goes on with another session.
    pub async fn go_on_with(&self, name: &str) -> Result<(), OpenError> {
        self.reopen(Opening::Resume(name.to_owned())).await
    }

    /// Goes on with a copy of this session; the original stays as it is.
    pub async fn fork(&self, title: Option<&str>) -> Result<(), OpenError> {
        let (id, title) = (self.seat().id.clone(), title.map(str::to_owned));
        let copy = self.change(move |sessions| sessions.fork(&id, None, title.as_deref())).await;
        self.reopen(Opening::Resume(copy.map_err(OpenError::Store)?)).await
    }

    /// Asks another model from now on.
    pub async fn change_model(&self, wish: ModelWish) -> Result<ModelChoice, OpenError> {
        let seat = self.seat();
        let models = self.inside(Box::pin(models::choose(&self.runtime, &wish))).await?;
        let choice = models.choice.clone();
        let changed = seat.with_models(&self.terms, models, &self.learnt);
        self.sit(changed);
        Ok(choice)
    }

    /// How hard the model is to think from the next turn on, in its provider's words; nothing for what
    /// the configuration says.
    pub fn set_effort(&self, effort: Option<String>) {
        let seat = self.seat();
        let mut models = seat.models.clone();
        models.effort = effort;
        self.sit(seat.with_models(&self.terms, models, &self.learnt));
    }

    async fn reopen(&self, opening: Opening) -> Result<(), OpenError> {
        let (models, new) = (self.seat().models.clone(), opening == Opening::New);
        let opened = open::seat(&self.runtime, &self.terms, opening, models, &self.relay, &self.learnt);
        let seat = self.inside(Box::pin(opened)).await?;
        hooks::left(&self.runtime, &self.seat(), new.then_some(seat.id.as_str()), "another session").await;
        self.sit(seat);
        Ok(())
    }

    /// Work with sockets, inside of the runtime they belong to.
    async fn inside<T>(&self, work: BoxFuture<'_, T>) -> T {
        inside(&self.runtime, work).await
    }

    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Sessions) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, String> {
        let store = self.runtime.sessions().ok_or_else(|| NO_HOME.to_owned())?;
        store.change(work).await.map_err(|wrong| wrong.to_string())
    }

    async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Sessions) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, String> {
        let store = self.runtime.sessions().ok_or_else(|| NO_HOME.to_owned())?;
        store.look(work).await.map_err(|wrong| wrong.to_string())
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A turn that does not begin.
fn not_begun(seat: &Seat, no: hooks::No, events: EventSink<'_>) -> TurnEnd {
    let model = seat.driver.models.first().map(|model| model.name().to_owned()).unwrap_or_default();
    let session = seat.id.clone();
    events(Event::TurnBegan { session: session.clone(), model: model.clone() });
    let end = TurnEnd {
        status: no.status,
        text: String::new(),
        error: Some(no.why),
        session,
        model,
        model_calls: 0,
        tool_calls: 0,
        denied: 0,
        usage: Usage::default(),
        cost_usd: None,
        seconds: 0.0,
    };
    events(Event::TurnEnded(end.clone()));
    end
}

/// The words among what a person sends.
fn words(input: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => Some(text.clone()),
        Part::Image { .. } => None,
    };
    input.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

#[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
fn share(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64).min(1.0)
}

const OTHERS_TURN: &str = "another program is in a turn of this session";
const NO_HOME: &str = "there is no home to keep sessions in";

/// The model that a conversation would use.
pub(crate) async fn model(runtime: &Runtime, wish: &ModelWish) -> Result<ModelChoice, ModelError> {
    Ok(inside(runtime, Box::pin(models::choose(runtime, wish))).await?.choice)
}

/// The models that the chosen provider lists.
pub(crate) async fn models_of(
    runtime: &Runtime,
    wish: &ModelWish,
) -> Result<Vec<(String, Option<u64>)>, String> {
    inside(runtime, Box::pin(models::list(runtime, wish))).await
}

/// Work with sockets, inside of the runtime they belong to.
async fn inside<T>(runtime: &Runtime, work: BoxFuture<'_, T>) -> T {
    match runtime.machine().handle() {
        Some(handle) => Inside { runtime: handle, work }.await,
        // Without threads there are no sockets either; whoever needs one says so.
        None => work.await,
    }
}
