//! One turn on its way: step by step, until there is nothing left to do.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hermes_core::call::ToolCall;
use hermes_core::model::{Message, ModelCall, ModelRequest};
use hermes_core::outcome::Outcome;
use tokio_util::sync::CancellationToken;

use super::{Driver, End, EventSink, Steering, Turn, TurnEnd, tokens};
use crate::event::Event;
use crate::patience::{Patience, Woken};
use crate::turn::{Ask, Heard, Step};

/// A turn, and what it needs to go on.
pub(super) struct Running<'a> {
    pub(super) driver: &'a Driver,
    pub(super) turn: Turn,
    /// The conversation as the model sees it, in step with the record.
    pub(super) request: ModelRequest,
    /// Estimated tokens of the conversation, without what comes before it.
    pub(super) size: u64,
    /// What came before the conversation, in tokens.
    pub(super) prefix: u64,
    /// The size at which shortening last came to nothing.
    pub(super) vain: Option<u64>,
    steering: &'a Steering,
    pub(super) events: EventSink<'a>,
    pub(super) cancel: &'a CancellationToken,
    began: Duration,
    /// When the turn has to be over.
    pub(super) ends: Duration,
    pub(super) cost: Option<f64>,
}

/// What to do, without holding on to the machine.
enum Work {
    Record(Vec<Message>),
    Ask(Ask),
    Run(Vec<ModelCall>),
    Wait(Duration),
    Compact,
    Done(End),
}

impl<'a> Running<'a> {
    pub(super) fn new(
        driver: &'a Driver,
        turn: Turn,
        request: ModelRequest,
        steering: &'a Steering,
        events: EventSink<'a>,
        cancel: &'a CancellationToken,
        began: Duration,
    ) -> Self {
        let (size, prefix) = (tokens::of_messages(&request.messages), tokens::of_prefix(&request));
        let ends = began.saturating_add(driver.settings.deadline);
        let (vain, cost) = (None, Some(0.0));
        Self { driver, turn, request, size, prefix, vain, steering, events, cancel, began, ends, cost }
    }

    /// Goes on until the turn is over.
    pub(super) async fn drive(&mut self) -> End {
        loop {
            if self.cancel.is_cancelled() {
                self.turn.heard(Heard::Interrupt(String::new()));
            } else if self.driver.host.now() >= self.ends {
                self.turn.heard(Heard::TimeOver(String::new()));
            }
            match self.work() {
                Work::Record(messages) => self.record(messages).await,
                Work::Ask(ask) => self.ask(ask).await,
                Work::Run(calls) => self.run(calls).await,
                Work::Wait(time) => self.wait(time).await,
                Work::Compact => self.shorten().await,
                Work::Done(end) => return end,
            }
        }
    }

    /// What the person said and nobody has read.
    pub(super) fn unread(&self) -> &[String] {
        self.turn.unread()
    }

    /// The end, with everything there is to say about it.
    pub(super) fn summed_up(&self, session: &str, end: End) -> TurnEnd {
        let tally = self.turn.tally();
        let model = self.driver.models.get(self.turn.model());
        TurnEnd {
            status: end.status,
            text: end.text,
            error: end.error,
            session: session.to_owned(),
            model: model.map(|model| model.name().to_owned()).unwrap_or_default(),
            model_calls: tally.model_calls,
            tool_calls: tally.tool_calls,
            denied: tally.denied,
            usage: tally.usage,
            cost_usd: self.cost,
            seconds: self.driver.host.now().saturating_sub(self.began).as_secs_f64(),
        }
    }

    /// Lets the machine know what the person has said meanwhile.
    pub(super) fn listen(&mut self) {
        for text in self.steering.take() {
            self.turn.heard(Heard::Steer(text));
        }
    }

    pub(super) fn notice(&self, text: String) {
        (self.events)(Event::Notice { text });
    }

    fn work(&self) -> Work {
        match self.turn.next() {
            Step::Record(messages) => Work::Record(messages.to_vec()),
            Step::Ask(ask) => Work::Ask(ask),
            Step::Run(calls) => Work::Run(calls),
            Step::Wait(time) => Work::Wait(time),
            Step::Compact => Work::Compact,
            Step::Done(end) => Work::Done(end.clone()),
        }
    }

    async fn record(&mut self, messages: Vec<Message>) {
        let result = self.driver.log.append(&messages).await;
        if result.is_ok() {
            self.size += tokens::of_messages(&messages);
            self.request.messages.extend(messages);
        }
        self.turn.recorded(result);
    }

    async fn wait(&mut self, time: Duration) {
        let host = &self.driver.host;
        let patience = Patience { host, cancel: self.cancel, ends: self.ends, pulse: None };
        let _ = patience.wait(&mut host.sleep(time)).await;
        self.turn.waited();
    }

    /// Runs the calls of an answer. Told to stop, tools get a moment to say how far they came; then
    /// they are dropped.
    async fn run(&mut self, calls: Vec<ModelCall>) {
        let (host, tools) = (&self.driver.host, &self.driver.tools);
        let stop = self.cancel.child_token();
        let calls =
            calls.into_iter().map(|call| ToolCall::new(call.name, call.arguments).with_id(call.id)).collect();
        let guarded = AssertUnwindSafe(async { tools.run(calls, &stop).await }).catch_unwind();
        let mut running: BoxFuture<'_, Vec<Outcome>> = Box::pin(guarded.map(Result::unwrap_or_default));
        let patience = Patience { host, cancel: self.cancel, ends: self.ends, pulse: None };
        let outcomes = match patience.wait(&mut running).await {
            Woken::Done(outcomes) => outcomes,
            Woken::Cancelled | Woken::TimeOver | Woken::Stalled | Woken::Enough => {
                stop.cancel();
                let ends = host.now().saturating_add(self.driver.settings.grace);
                let last = Patience { host, cancel: &CancellationToken::new(), ends, pulse: None };
                match last.wait(&mut running).await {
                    Woken::Done(outcomes) => outcomes,
                    _ => Vec::new(),
                }
            }
        };
        drop(running);
        self.listen();
        self.turn.ran(&outcomes, &|tool| tools.harmless(tool));
    }
}
