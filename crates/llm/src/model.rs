//! A model behind HTTP: builds the request, sends it, reads the stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hermes_core::model::{
    EventSink, Model, ModelError, ModelErrorClass, ModelEvent, ModelReply, ModelRequest, Price,
};
use serde_json::Value;

use crate::adapt::Lessons;
use crate::endpoint::{Endpoint, patience_for};
use crate::errors::{self, Failure};
use crate::lenient;
use crate::provider::Wire;
use crate::retry_after;
use crate::wires::{self, Answer, Decoder, Fault};
use hermes_net::{Call, Http, Reply, SseDecoder, SseEvent, Url, unix_now};

/// Longest body of a refusal that is read.
const MAX_REFUSAL: usize = 64 * 1024;

/// Longest answer that comes whole.
const MAX_WHOLE: usize = 32 * 1024 * 1024;

/// Most times a request is made again with what a refusal taught.
const MAX_LESSONS: usize = 4;

/// The version of the messages wire.
const MESSAGES_VERSION: &str = "2023-06-01";

/// One model at one endpoint.
pub struct HttpModel {
    endpoint: Endpoint,
    http: Http,
    name: String,
    url: Option<Url>,
    lessons: Mutex<Lessons>,
    /// The tools in the words of the wire, for the last definitions seen.
    tools: Mutex<Option<WireTools>>,
}

#[derive(Clone)]
struct WireTools {
    from: Arc<str>,
    lessons: Lessons,
    written: Option<Arc<str>>,
}

impl HttpModel {
    /// The model of an endpoint, asked through `http`.
    pub fn new(endpoint: Endpoint, http: Http) -> Self {
        let path = wires::path(endpoint.wire, &endpoint.base_url);
        let url = Url::parse(&endpoint.base_url).map(|base| base.join(path));
        let name = endpoint.label();
        Self { endpoint, http, name, url, lessons: Mutex::default(), tools: Mutex::default() }
    }

    /// Where and what it is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    async fn converse(
        &self,
        request: &ModelRequest,
        events: EventSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let mut lessons = *self.lessons.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = MAX_LESSONS;
        let told = AtomicBool::new(false);
        let telling = |event| {
            told.store(true, Ordering::Relaxed);
            events(event);
        };
        loop {
            let error = match self.once(request, lessons, &telling).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let may_teach = matches!(error.class, ModelErrorClass::BadRequest | ModelErrorClass::Server);
            let learnt = lessons.learn(&error.message).filter(|_| may_teach && left > 0);
            let Some(learnt) = learnt else { return Err(error) };
            left -= 1;
            if told.swap(false, Ordering::Relaxed) {
                events(ModelEvent::Restart);
            }
            lessons = learnt;
            *self.lessons.lock().unwrap_or_else(PoisonError::into_inner) = learnt;
        }
    }

    async fn once(
        &self,
        request: &ModelRequest,
        lessons: Lessons,
        events: EventSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let endpoint = &self.endpoint;
        let Some(url) = &self.url else {
            let message = format!("{:?} is no address of a model", endpoint.base_url);
            return Err(errors::error(endpoint, ModelErrorClass::BadRequest, &message, None));
        };
        let tools = self.tools(&request.tools, lessons);
        let body = wires::body(endpoint, request, tools.as_deref(), lessons);
        let limits = patience_for(endpoint.limits, body.len() as u64 / 4);
        let call = Call::post(url, body, limits).headers(headers(endpoint));
        let reply = self.http.send(call).await.map_err(|error| errors::unreachable(endpoint, &error))?;
        if !reply.status.is_success() {
            return Err(refusal(endpoint, reply).await);
        }
        let decoder = Decoder::new(endpoint.wire, Answer::new(endpoint, &request.tools));
        if reply.header("content-type").is_some_and(|kind| kind.contains("json")) {
            self.read_whole(reply, decoder, events).await
        } else {
            self.read_stream(reply, decoder, events).await
        }
    }

    async fn read_stream(
        &self,
        mut reply: Reply,
        decoder: Decoder,
        events: EventSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let faulty = |fault: Fault| errors::faulty(&self.endpoint, &fault);
        let (mut sse, mut reading) = (SseDecoder::default(), Reading::new(decoder, events));
        let mut begun = Vec::new();
        while let Some(bytes) =
            reply.next().await.map_err(|error| errors::unreachable(&self.endpoint, &error))?
        {
            if !reading.any && begun.len() < MAX_REFUSAL {
                begun.extend_from_slice(&bytes);
            }
            let pushed = sse.push(&bytes, |event| reading.event(&event));
            reading.tell().map_err(faulty)?;
            pushed.map_err(|overlong| faulty(Fault::Garbled(overlong.to_string())))?;
        }
        sse.end(|event| reading.event(&event));
        reading.tell().map_err(faulty)?;
        if !reading.any {
            // No stream at all: an answer that came whole without saying so, or a page.
            let text = String::from_utf8_lossy(&begun);
            let value = lenient::parse(&text).ok_or_else(|| faulty(Fault::Garbled(wires::shorten(&text))))?;
            reading.whole(&value).map_err(faulty)?;
        }
        reading.finish().map_err(faulty)
    }

    async fn read_whole(
        &self,
        mut reply: Reply,
        decoder: Decoder,
        events: EventSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let faulty = |fault: Fault| errors::faulty(&self.endpoint, &fault);
        let body =
            reply.read(MAX_WHOLE).await.map_err(|error| errors::unreachable(&self.endpoint, &error))?;
        let text = String::from_utf8_lossy(&body);
        let value: Value = lenient::parse(&text)
            .ok_or_else(|| faulty(Fault::Garbled(format!("no JSON: {}", wires::shorten(&text)))))?;
        let mut reading = Reading::new(decoder, events);
        reading.whole(&value).map_err(faulty)?;
        reading.finish().map_err(faulty)
    }

    fn tools(&self, tools: &Arc<str>, lessons: Lessons) -> Option<Arc<str>> {
        let mut known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref()
            && Arc::ptr_eq(&known.from, tools)
            && known.lessons == lessons
        {
            return known.written.clone();
        }
        let written = wires::tools(self.endpoint.wire, tools, lessons);
        *known = Some(WireTools { from: Arc::clone(tools), lessons, written: written.clone() });
        written
    }
}

/// An answer that is being read, and whoever hears of it.
struct Reading<'a> {
    decoder: Decoder,
    events: EventSink<'a>,
    out: Vec<ModelEvent>,
    fault: Option<Fault>,
    /// Whether there was any event in the stream.
    any: bool,
}

impl<'a> Reading<'a> {
    fn new(decoder: Decoder, events: EventSink<'a>) -> Self {
        Self { decoder, events, out: Vec::new(), fault: None, any: false }
    }

    /// One event; what comes behind a fault is passed over.
    fn event(&mut self, event: &SseEvent) {
        self.any = true;
        if self.fault.is_none() {
            self.fault = self.decoder.event(event, &mut self.out).err();
        }
    }

    /// The answer in one piece.
    fn whole(&mut self, value: &Value) -> Result<(), Fault> {
        self.fault = self.decoder.whole(value, &mut self.out).err();
        self.tell()
    }

    /// Passes on what was understood so far.
    fn tell(&mut self) -> Result<(), Fault> {
        self.out.drain(..).for_each(self.events);
        self.fault.take().map_or(Ok(()), Err)
    }

    fn finish(self) -> Result<ModelReply, Fault> {
        let Self { decoder, events, mut out, .. } = self;
        let done = decoder.finish(&mut out);
        out.into_iter().for_each(events);
        done
    }
}

/// The headers of a request, the key among them.
pub(crate) fn headers(endpoint: &Endpoint) -> Vec<(String, String)> {
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), "text/event-stream, application/json".to_owned()),
        ("user-agent".to_owned(), concat!("hermes/", env!("CARGO_PKG_VERSION")).to_owned()),
    ];
    if endpoint.wire == Wire::Messages {
        headers.push(("anthropic-version".into(), MESSAGES_VERSION.into()));
    }
    if let Some(key) = &endpoint.key {
        // A key that is a login token goes where tokens go.
        let token = endpoint.wire != Wire::Messages || key.reveal().starts_with("sk-ant-oat");
        headers.push(if token {
            ("authorization".into(), format!("Bearer {}", key.reveal()))
        } else {
            ("x-api-key".into(), key.reveal().into())
        });
    }
    headers.extend(endpoint.headers.iter().cloned());
    headers
}

/// Reads a refusal.
pub(crate) async fn refusal(endpoint: &Endpoint, mut reply: Reply) -> ModelError {
    let body = reply.read(MAX_REFUSAL).await.unwrap_or_default();
    let retry_after = retry_after::in_headers(|name| reply.header(name), unix_now());
    let body = String::from_utf8_lossy(&body);
    errors::refused(endpoint, &Failure { status: reply.status.as_u16(), body: &body, retry_after })
}

impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.endpoint.provider
    }

    fn context_tokens(&self) -> Option<u64> {
        self.endpoint.context
    }

    fn sees(&self) -> bool {
        self.endpoint.sees
    }

    fn price(&self) -> Option<Price> {
        self.endpoint.price
    }

    fn address(&self) -> Option<(&str, &'static str)> {
        Some((&self.endpoint.base_url, self.endpoint.wire.mode()))
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        self.converse(request, events).boxed()
    }
}
