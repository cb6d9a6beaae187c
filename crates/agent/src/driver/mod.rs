//! Carries out what a turn asks for: asks models, runs tools, keeps the record, tells who looks on.
//!
//! One driver serves every door: a screen that streams, a script that waits for the end, a child of
//! another agent. It holds no state of a conversation between turns; the record does.
//!
//! What is promised about the record: what the person said is written before a model is asked; an
//! answer with calls before they run; the results of a batch together, after it; everything is safe
//! from a power cut when a turn has ended. A record that cannot be written stops the turn.

mod ask;
mod floor;
mod run;
mod shorten;

use std::sync::Arc;
use std::time::Duration;

use hermes_core::conversation::Conversation;
use hermes_core::host::Host;
use hermes_core::model::{Model, ModelRequest, Part, Usage};
use tokio_util::sync::CancellationToken;

use crate::context::tokens;
use crate::event::{Event, EventSink, TurnEnd, TurnStatus};
use crate::history;
use crate::learnt::Learnt;
use crate::settings::AgentSettings;
use crate::steering::Steering;
use crate::tools::Tools;
use crate::turn::{End, Turn, TurnSettings};
use floor::NoFloor;
use run::Running;

pub use shorten::Shortened;

/// Drives the turns of one session.
pub struct Driver {
    /// Clock and timer.
    pub host: Arc<dyn Host>,
    /// The first is the one wanted, the others stand in for it.
    pub models: Vec<Arc<dyn Model>>,
    /// Sums up what a conversation is shortened by; the answering model does it when there is none.
    pub summary_model: Option<Arc<dyn Model>>,
    /// The session's tools.
    pub tools: Arc<dyn Tools>,
    /// The session's record.
    pub log: Arc<dyn Conversation>,
    /// How it works.
    pub settings: AgentSettings,
    /// The system prompt, the same bytes for a whole session.
    pub system: Arc<str>,
    /// What was learnt about the models; sessions may share it.
    pub learnt: Arc<Learnt>,
}

impl Driver {
    /// Takes one turn: from what the person said to the end of the answer. It always ends, and tells
    /// so by an event as well.
    pub async fn turn(
        &self,
        session: &str,
        input: Vec<Part>,
        steering: &Steering,
        events: EventSink<'_>,
        cancel: &CancellationToken,
    ) -> TurnEnd {
        let began = self.host.now();
        let first = self.first_model();
        let model = self.models.get(first).map(|model| model.name().to_owned()).unwrap_or_default();
        events(Event::TurnBegan { session: session.to_owned(), model: model.clone() });
        let ended = match self.floor(events, cancel).await {
            Ok(_floor) => self.speak(session, first, input, steering, events, cancel).await,
            Err(NoFloor::Cancelled) => {
                self.not_begun(session, model, TurnStatus::Interrupted, "interrupted".to_owned(), began)
            }
            Err(NoFloor::Failed(why)) => self.not_begun(session, model, TurnStatus::Failed, why, began),
        };
        events(Event::TurnEnded(ended.clone()));
        ended
    }

    /// The turn itself, for whoever has the floor.
    async fn speak(
        &self,
        session: &str,
        first: usize,
        input: Vec<Part>,
        steering: &Steering,
        events: EventSink<'_>,
        cancel: &CancellationToken,
    ) -> TurnEnd {
        let began = self.host.now();
        let (turn, request) = match self.open(session, first, input, began).await {
            Ok(opened) => opened,
            Err(error) => {
                let model = self.models.get(first).map(|model| model.name().to_owned()).unwrap_or_default();
                return self.not_begun(session, model, TurnStatus::Failed, error, began);
            }
        };
        let mut running = Running::new(self, turn, request, steering, events, cancel, began);
        let mut end = running.drive().await;
        if let Err(error) = self.log.sync().await {
            end.status = TurnStatus::Failed;
            end.error = Some(format!("the conversation could not be made safe: {error}"));
        }
        steering.put_back(running.unread());
        running.summed_up(session, end)
    }

    /// The conversation as it is sent, and the machine at its start.
    async fn open(
        &self,
        session: &str,
        first_model: usize,
        input: Vec<Part>,
        began: Duration,
    ) -> Result<(Turn, ModelRequest), String> {
        if self.models.is_empty() {
            return Err("there is no model to ask".to_owned());
        }
        let mut messages = self.log.messages().await?;
        let mended = history::mend(&messages);
        if !mended.is_empty() {
            self.log.append(&mended).await?;
            messages.extend(mended);
        }
        let messages = history::tidy(messages);
        let turn = Turn::new(self.turn_settings(session, first_model, began), input);
        Ok((turn, self.request(session, messages).await))
    }

    async fn request(&self, session: &str, messages: Vec<hermes_core::model::Message>) -> ModelRequest {
        ModelRequest {
            system: Arc::clone(&self.system),
            messages,
            tools: self.tools.definitions().await,
            max_tokens: self.settings.max_tokens,
            effort: self.settings.effort.clone(),
            session: Some(session.into()),
        }
    }

    fn turn_settings(&self, session: &str, first_model: usize, now: Duration) -> TurnSettings {
        let salt =
            session.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        TurnSettings {
            budget: self.settings.budget,
            unmetered: self.settings.unmetered.clone(),
            calls_at_once: self.settings.calls_at_once,
            max_tokens: self.settings.max_tokens,
            models: self.models.len(),
            first_model,
            seed: salt.wrapping_add(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)),
        }
    }

    /// The first model that does not rest; the one wanted, when all do.
    fn first_model(&self) -> usize {
        let now = self.host.now();
        self.models.iter().position(|model| !self.learnt.rests(model.name(), now)).unwrap_or(0)
    }

    fn not_begun(
        &self,
        session: &str,
        model: String,
        status: TurnStatus,
        error: String,
        began: Duration,
    ) -> TurnEnd {
        TurnEnd {
            status,
            text: String::new(),
            error: Some(error),
            session: session.to_owned(),
            model,
            model_calls: 0,
            tool_calls: 0,
            denied: 0,
            usage: Usage::default(),
            cost_usd: None,
            seconds: self.host.now().saturating_sub(began).as_secs_f64(),
        }
    }
}
