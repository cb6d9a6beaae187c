//! A model that says what a test wrote down, line by line, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::model::{
    AssistantMessage, EventSink, Finish, Model, ModelCall, ModelError, ModelErrorClass, ModelEvent,
    ModelReply, ModelRequest, Price, Usage,
};

use crate::{Latch, lock};

/// What the model does when it is asked once.
#[derive(Clone)]
pub struct Line {
    stream: Vec<ModelEvent>,
    latch: Option<Arc<Latch>>,
    end: End,
}

#[derive(Clone)]
enum End {
    Reply(ModelReply),
    Fail(ModelError),
    /// It goes silent for ever.
    Silence,
    Panic,
}

impl Line {
    /// Says these words, streaming them.
    pub fn text(text: &str) -> Self {
        Self::reply(AssistantMessage { text: text.to_owned(), ..AssistantMessage::default() })
    }

    /// Wants tools called, each by an id, a name and arguments.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Self {
        let call = |(id, name, arguments): (&str, &str, &str)| ModelCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls = calls.into_iter().map(call).collect();
        Self::reply(AssistantMessage { calls, finish: Finish::Calls, ..AssistantMessage::default() })
    }

    /// Answers with this message, streaming what is in it.
    pub fn reply(message: AssistantMessage) -> Self {
        let mut stream = Vec::new();
        stream.extend(message.reasoning.clone().map(ModelEvent::Reasoning));
        stream.extend((!message.text.is_empty()).then(|| ModelEvent::Text(message.text.clone())));
        stream.extend(message.calls.iter().map(|call| ModelEvent::CallBegins { name: call.name.clone() }));
        let usage = Usage { input: 100, output: 10, ..Usage::default() };
        Self {
            stream,
            latch: None,
            end: End::Reply(ModelReply { message, usage, model: "scripted".to_owned() }),
        }
    }

    /// Fails.
    pub fn fail(class: ModelErrorClass) -> Self {
        let message = format!("scripted failure: {class:?}");
        let error = ModelError { class, provider: "scripted".to_owned(), message, retry_after: None };
        Self { stream: Vec::new(), latch: None, end: End::Fail(error) }
    }

    /// Goes silent for ever.
    pub fn silence() -> Self {
        Self { stream: Vec::new(), latch: None, end: End::Silence }
    }

    /// Panics.
    pub fn panic() -> Self {
        Self { stream: Vec::new(), latch: None, end: End::Panic }
    }

    /// Stops for this reason instead.
    pub fn finish(mut self, finish: Finish) -> Self {
        if let End::Reply(reply) = &mut self.end {
            reply.message.finish = finish;
        }
        self
    }

    /// Has used this many tokens.
    pub fn usage(mut self, used: Usage) -> Self {
        if let End::Reply(reply) = &mut self.end {
            reply.usage = used;
        }
        self
    }

    /// Wants to be asked again after this long.
    pub fn retry_after(mut self, time: Duration) -> Self {
        if let End::Fail(error) = &mut self.end {
            error.retry_after = Some(time);
        }
        self
    }

    /// Streams this first, and only this.
    pub fn streaming(mut self, events: impl IntoIterator<Item = ModelEvent>) -> Self {
        self.stream = events.into_iter().collect();
        self
    }

    /// After streaming, waits at this latch before it ends.
    pub fn held_by(mut self, latch: &Arc<Latch>) -> Self {
        self.latch = Some(Arc::clone(latch));
        self
    }
}

/// A model with a script. When the script is over it fails.
pub struct ScriptedModel {
    name: String,
    provider: String,
    context: Option<u64>,
    price: Option<Price>,
    sees: bool,
    script: Mutex<VecDeque<Line>>,
    asked: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    /// A model by this name (`provider/model`) with this script.
    pub fn new(name: &str, script: impl IntoIterator<Item = Line>) -> Self {
        Self {
            name: name.to_owned(),
            provider: name.split('/').next().unwrap_or_default().to_owned(),
            context: None,
            price: None,
            sees: false,
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::default(),
        }
    }

    /// The size of its context.
    pub fn context(mut self, tokens: u64) -> Self {
        self.context = Some(tokens);
        self
    }

    /// It looks at pictures.
    pub fn seeing(mut self) -> Self {
        self.sees = true;
        self
    }

    /// What it costs.
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Adds to the script.
    pub fn then(&self, line: Line) {
        lock(&self.script).push_back(line);
    }

    /// Everything it was asked, oldest first.
    pub fn asked(&self) -> Vec<ModelRequest> {
        lock(&self.asked).clone()
    }

    /// How often it was asked.
    pub fn times_asked(&self) -> usize {
        lock(&self.asked).len()
    }

    /// Lines that were not used.
    pub fn left(&self) -> usize {
        lock(&self.script).len()
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider
    }

    fn context_tokens(&self) -> Option<u64> {
        self.context
    }

    fn sees(&self) -> bool {
        self.sees
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    #[expect(clippy::panic, reason = "the script says so")]
    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        lock(&self.asked).push(request.clone());
        let line = lock(&self.script).pop_front();
        Box::pin(async move {
            let line = line.unwrap_or_else(|| Line::fail(ModelErrorClass::BadRequest));
            line.stream.into_iter().for_each(events);
            if let Some(latch) = line.latch {
                latch.wait().await;
            }
            match line.end {
                End::Reply(reply) => Ok(reply),
                End::Fail(error) => Err(error),
                End::Silence => std::future::pending().await,
                End::Panic => panic!("scripted panic"),
            }
        })
    }
}
