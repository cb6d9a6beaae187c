//! Asking a model: what streams back, what it cost, and when to stop waiting for it.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use hermes_core::conversation::Spent;
use hermes_core::model::{
    AssistantMessage, Finish, Model, ModelError, ModelErrorClass, ModelEvent, ModelReply,
};

use super::run::Running;
use crate::context::room::Room;
use crate::event::{Event, EventSink};
use crate::patience::{Patience, Pulse, Quiet, Woken};
use crate::prompt::naming;
use crate::rambling::Watch;
use crate::turn::{Ask, Heard, Step};

/// An answer that is being given.
#[derive(Default)]
struct Said {
    /// Its words.
    text: String,
    /// What looks out for words that go round in circles.
    words: Watch,
    /// The same for thoughts.
    thoughts: Watch,
}

impl Said {
    fn hear(&mut self, text: &str) -> bool {
        self.text.push_str(text);
        self.words.hear(text)
    }
}

impl Running<'_> {
    /// Asks once, unless the request would not fit.
    pub(super) async fn ask(&mut self, ask: Ask) {
        let Some(model) = self.driver.models.get(ask.model).map(Arc::clone) else {
            return self.turn.heard(Heard::Broken("there is no such model".to_owned()));
        };
        if self.is_pressed(&ask, &*model) {
            self.turn.heard(Heard::Pressure);
            if !matches!(self.turn.next(), Step::Ask(_)) {
                return;
            }
        }
        let said = Mutex::new(Said::default());
        let woken = self.converse(&*model, ask, &said).await;
        let said = said.into_inner().unwrap_or_else(PoisonError::into_inner).text;
        self.listen();
        match woken {
            Woken::Done(result) => self.heard_back(&*model, result, &said).await,
            Woken::Stalled => {
                let message = "nothing was heard for too long".to_owned();
                let (class, provider) = (ModelErrorClass::Timeout, model.provider().to_owned());
                let error = ModelError { class, provider, message, retry_after: None };
                self.heard_back(&*model, Err(error), &said).await;
            }
            Woken::Enough => {
                self.notice("the model said the same again and again, and was stopped".to_owned());
                let message =
                    AssistantMessage { text: said, finish: Finish::Stop, ..AssistantMessage::default() };
                self.turn.replied(Ok(ModelReply { message, ..ModelReply::default() }));
            }
            Woken::Cancelled => self.turn.heard(Heard::Interrupt(said)),
            Woken::TimeOver => self.turn.heard(Heard::TimeOver(said)),
        }
    }

    /// Whether the next request is too long, and shortening may help.
    fn is_pressed(&self, ask: &Ask, model: &dyn Model) -> bool {
        let room = Room::of(&self.driver.settings.context, model.context_tokens(), ask.max_tokens);
        let whole = self.driver.learnt.corrected(model.name(), self.prefix + self.size);
        let vain = self.vain.is_some_and(|size| self.size <= size + size / 10);
        whole > room.limit && !vain
    }

    async fn converse(
        &mut self,
        model: &dyn Model,
        ask: Ask,
        said: &Mutex<Said>,
    ) -> Woken<Result<ModelReply, ModelError>> {
        let (driver, events) = (self.driver, self.events);
        let pulse = Pulse::new(&driver.host);
        let length = self.request.messages.len();
        self.request.messages.extend(ask.extra);
        self.request.max_tokens = ask.max_tokens;
        self.request.system = naming(&driver.system, model.name(), model.provider());
        let before = self.turn.said();
        let sink = |event: ModelEvent| {
            pulse.beat();
            if pass_on(event, said, before, events) {
                pulse.enough();
            }
        };
        let guarded = AssertUnwindSafe(async { model.ask(&self.request, &sink).await }).catch_unwind();
        let mut asking: BoxFuture<'_, _> =
            Box::pin(guarded.map(|caught| caught.unwrap_or_else(|_| broke(model))));
        let times = if ask.has_fallback { 1 } else { driver.settings.patience_alone.max(1) };
        let quiet = Quiet {
            first: driver.settings.first_word.saturating_mul(times),
            between: driver.settings.stall.saturating_mul(times),
        };
        let (host, cancel, ends) = (&driver.host, self.cancel, self.ends);
        let patience = Patience { host, cancel, ends, pulse: Some((&pulse, quiet)) };
        let woken = patience.wait(&mut asking).await;
        drop(asking);
        self.request.messages.truncate(length);
        woken
    }

    async fn heard_back(&mut self, model: &dyn Model, result: Result<ModelReply, ModelError>, said: &str) {
        let spent = match &result {
            Ok(reply) => {
                if said.is_empty() && !reply.message.text.is_empty() {
                    (self.events)(Event::Text { text: reply.message.text.clone() });
                }
                Some(self.account(model, reply))
            }
            Err(error) => {
                self.rest(model, error);
                None
            }
        };
        let trouble = result.as_ref().err().map(ToString::to_string);
        let streamed = !said.is_empty() || result.as_ref().is_ok_and(|reply| !reply.message.text.is_empty());
        let (asked, before) = (self.turn.model(), self.turn.said().len());
        self.turn.replied(result);
        let kept = self.turn.said().len() > before;
        let recorded = matches!(self.turn.next(), Step::Record(_));
        if streamed && !kept && (trouble.is_some() || !recorded) {
            self.take_back();
        }
        self.explain(asked, trouble);
        if let Some(spent) = spent
            && let Err(error) = self.driver.log.spent(&spent).await
        {
            self.turn.recorded(Err(error));
        }
    }

    /// Tells who looks on that the words since the last call do not count, and which ones still do.
    fn take_back(&self) {
        (self.events)(Event::TextVoid);
        if !self.turn.said().is_empty() {
            (self.events)(Event::Text { text: self.turn.said().to_owned() });
        }
    }

    /// Says in words what is done about a failure.
    fn explain(&self, asked: usize, trouble: Option<String>) {
        let now = self.turn.model();
        let trouble = trouble.unwrap_or_else(|| "no usable answer".to_owned());
        match self.turn.next() {
            _ if now != asked => {
                let name = self.driver.models.get(now).map(|model| model.name()).unwrap_or_default();
                self.notice(format!("{trouble}; going on with {name}"));
            }
            Step::Wait(time) => {
                self.notice(format!("{trouble}; asking again in {:.1} s", time.as_secs_f64()));
            }
            _ => {}
        }
    }

    /// Counts what an answer used.
    fn account(&mut self, model: &dyn Model, reply: &ModelReply) -> Spent {
        let usage = reply.usage;
        let cost = model.price().map(|price| price.of(usage));
        self.cost = self.cost.zip(cost).map(|(so_far, more)| so_far + more);
        self.driver.learnt.counted(model.name(), self.prefix + self.size, usage.input);
        let room = Room::of(&self.driver.settings.context, model.context_tokens(), None);
        let known = self.driver.settings.context.window.or(model.context_tokens()).is_some();
        let (provider, task) = (model.provider().to_owned(), "chat");
        (self.events)(Event::Answered {
            model: model.name().to_owned(),
            usage,
            context_used: known.then(|| share(usage.input.saturating_add(usage.output), room.window)),
        });
        Spent { model: model.name().to_owned(), provider, task, usage, cost_usd: cost }
    }

    /// Remembers a model that had enough, so that the next turn does not begin with it.
    fn rest(&self, model: &dyn Model, error: &ModelError) {
        use ModelErrorClass::{Auth, Billing, RateLimit};
        if matches!(error.class, Auth | Billing | RateLimit) {
            let time =
                error.retry_after.unwrap_or(self.driver.settings.rest).min(self.driver.settings.rest * 10);
            self.driver.learnt.rest(model.name(), self.driver.host.now().saturating_add(time));
        }
    }
}

/// Tells who looks on, and keeps the words in case they are all there will be. Answers whether they go
/// round in circles.
fn pass_on(event: ModelEvent, said: &Mutex<Said>, before: &str, events: EventSink<'_>) -> bool {
    let locked = || said.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        ModelEvent::Text(text) => {
            let circles = locked().hear(&text);
            events(Event::Text { text });
            return circles;
        }
        ModelEvent::Reasoning(text) => {
            let circles = locked().thoughts.hear(&text);
            // An empty one is a sign of life.
            if !text.is_empty() {
                events(Event::Reasoning { text });
            }
            return circles;
        }
        ModelEvent::CallBegins { name } => events(Event::CallWriting { tool: name }),
        ModelEvent::Restart => {
            *locked() = Said::default();
            events(Event::TextVoid);
            if !before.is_empty() {
                events(Event::Text { text: before.to_owned() });
            }
        }
        _ => {}
    }
    false
}

fn broke(model: &dyn Model) -> Result<ModelReply, ModelError> {
    Err(ModelError {
        class: ModelErrorClass::BadAnswer,
        provider: model.provider().to_owned(),
        message: "the answer could not be read: the program broke on it".to_owned(),
        retry_after: None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(used: u64, of: u64) -> f64 {
    (used as f64 / of as f64).clamp(0.0, 1.0)
}
