//! Shortening a conversation: plan, sum up, check, and only then replace.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hermes_core::conversation::Spent;
use hermes_core::model::{Message, Model, ModelRequest};
use tokio_util::sync::CancellationToken;

use super::Driver;
use super::floor::NoFloor;
use super::run::Running;
use crate::context::build::{build, earlier, pages};
use crate::context::check::check;
use crate::context::plan::{Need, Plan};
use crate::context::room::Room;
use crate::context::{summary, tokens};
use crate::event::{Event, EventSink};
use crate::history;
use crate::patience::{Patience, Woken};
use crate::turn::Compacted;

/// How a conversation was shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortened {
    /// Estimated tokens before.
    pub before: u64,
    /// Estimated tokens after.
    pub after: u64,
}

impl Driver {
    /// Shortens the conversation now, because somebody wants it: `topic` says what matters most.
    pub async fn compact_now(
        &self,
        topic: Option<&str>,
        events: EventSink<'_>,
        cancel: &CancellationToken,
    ) -> Result<Shortened, String> {
        let model = self.models.get(self.first_model()).ok_or("there is no model to ask")?;
        let _floor = self.floor(events, cancel).await.map_err(|none| match none {
            NoFloor::Cancelled => "interrupted".to_owned(),
            NoFloor::Failed(why) => why,
        })?;
        let messages = history::tidy(self.log.messages().await?);
        let before = tokens::of_messages(&messages);
        let new = self.shortened(&messages, before / 3, &**model, topic, cancel).await?;
        let after = tokens::of_messages(&new);
        events(Event::Notice { text: told(before, after) });
        Ok(Shortened { before, after })
    }

    /// Puts a conversation of about `target` tokens in place of this one, and answers it. Nothing has
    /// changed when it fails, but that some texts may be kept twice.
    async fn shortened(
        &self,
        messages: &[Message],
        target: u64,
        model: &dyn Model,
        topic: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Vec<Message>, String> {
        let todos = self.tools.open_todos();
        let need = Need { target, todos: todos.as_deref(), reread: &self.settings.context.reread };
        let plan = Plan::new(messages, &need).ok_or("nothing was said yet")?;
        let words = if plan.sums_up() {
            let written = self.sum_up(messages, &plan, model, topic, cancel).await;
            if cancel.is_cancelled() {
                return Err("it was stopped".to_owned());
            }
            summary::text(messages, &plan, written.as_deref())
        } else {
            earlier(messages)
        };
        let rehearsal = build(messages, &plan, &need, &words, &|_| "0123456789abcdef".to_owned());
        check(messages, &rehearsal, &need).map_err(|violation| violation.to_string())?;
        let mut ids: Vec<(usize, String)> = Vec::new();
        for page in pages(messages, &plan) {
            ids.push((page.at, self.log.page_out(page.text).await?));
        }
        let id =
            |at: usize| ids.iter().find(|(of, _)| *of == at).map(|(_, id)| id.clone()).unwrap_or_default();
        let new = build(messages, &plan, &need, &words, &id);
        check(messages, &new, &need).map_err(|violation| violation.to_string())?;
        self.log.replace(&new).await?;
        Ok(new)
    }

    /// A summary by a model, or none: a conversation can be shortened without.
    async fn sum_up(
        &self,
        messages: &[Message],
        plan: &Plan,
        model: &dyn Model,
        topic: Option<&str>,
        cancel: &CancellationToken,
    ) -> Option<String> {
        let model = self.summary_model.as_deref().unwrap_or(model);
        let room = Room::of(&self.settings.context, model.context_tokens(), None);
        let most = usize::try_from(room.limit).unwrap_or(usize::MAX).saturating_mul(2);
        let request = summary::request(messages, plan, topic, most);
        let guarded = AssertUnwindSafe(async { model.ask(&request, &|_| {}).await }).catch_unwind();
        let mut asking: BoxFuture<'_, _> = Box::pin(guarded);
        let ends = self.host.now().saturating_add(self.settings.summary);
        let patience = Patience { host: &self.host, cancel, ends, pulse: None };
        let Woken::Done(Ok(Ok(reply))) = patience.wait(&mut asking).await else { return None };
        drop(asking);
        let spent = Spent {
            model: model.name().to_owned(),
            provider: model.provider().to_owned(),
            task: "compression",
            usage: reply.usage,
            cost_usd: model.price().map(|price| price.of(reply.usage)),
        };
        // What it cost is told to the record; the summary is good all the same if it cannot be.
        let _ = self.log.spent(&spent).await;
        Some(reply.message.text)
    }
}

impl Running<'_> {
    /// Shortens the conversation of this turn.
    pub(super) async fn shorten(&mut self) {
        let Some(model) = self.driver.models.get(self.turn.model()).map(Arc::clone) else {
            return self.turn.compacted(&Compacted::Same);
        };
        let target = self.target(&*model, &self.request);
        let before = self.size;
        let result = self.driver.shortened(&self.request.messages, target, &*model, None, self.cancel).await;
        match result {
            Ok(messages) => {
                self.size = tokens::of_messages(&messages);
                self.request.messages = messages;
                // What was won is too little to try the same again soon.
                self.vain = (self.size > target.saturating_mul(5) / 4).then_some(self.size);
                self.notice(told(before, self.size));
                self.turn.compacted(&Compacted::Shorter);
            }
            Err(error) => {
                self.vain = Some(self.size);
                self.notice(format!("the conversation could not be shortened: {error}"));
                self.turn.compacted(&Compacted::Same);
            }
        }
    }

    /// How long the conversation may be, in tokens as we estimate them. A model that says it does not
    /// fit is believed over our own count.
    fn target(&self, model: &dyn Model, request: &ModelRequest) -> u64 {
        let room = Room::of(&self.driver.settings.context, model.context_tokens(), request.max_tokens);
        let prefix = self.driver.learnt.corrected(model.name(), self.prefix);
        let target = self.driver.learnt.estimated(model.name(), room.for_messages(prefix));
        target.min(self.size.saturating_mul(6) / 10)
    }
}

fn told(before: u64, after: u64) -> String {
    format!("the conversation was shortened from about {before} to {after} tokens")
}
