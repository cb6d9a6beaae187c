//! JSON over HTTP with a service that the person has configured: one way to ask, to wait when it is busy,
//! and to say in words what it refuses.
//!
//! | file | what |
//! |---|---|
//! | here | a [`Service`], and asking it: what comes back is a value or an [`ApiError`], which has its own words |
//! | [`ask`] | what is asked |
//! | [`words`] | arguments, ids, settings, fields |

mod ask;
mod words;

use std::time::Duration;

use hermes_core::cx::{PermittedWeb, ToolCx};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::ToolError;
use hermes_core::web::{Reach, WebError, WebReply};
use serde_json::Value;

pub(crate) use ask::{Ask, Plan};
pub(crate) use words::{address, id, key, needed, picked, set, shortened};

/// Longest time that a busy service may make us wait before we ask once more.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Time between two tries when the service has trouble of its own.
const BREATH: Duration = Duration::from_secs(1);

/// Longest part of a refusal that is repeated.
const MAX_SAID: usize = 300;

/// Longest description of an act; more than that nobody reads before saying yes.
const MAX_DETAIL: usize = 600;

/// A service, and what is to be known about it whatever is asked.
pub(crate) struct Service {
    /// What people call it; calls declare it under this name.
    pub(crate) name: &'static str,
    /// What is wrong when it does not know us.
    pub(crate) key: &'static str,
    /// What a refusal means, where the service says it in its own way.
    pub(crate) explain: fn(&Refused) -> Option<String>,
}

impl Service {
    /// What every call declares.
    pub(crate) fn connects(&self) -> Effect {
        Effect::Connect(self.name.to_owned())
    }

    /// What a planned call declares. One that cannot be planned does nothing, so nobody is asked.
    pub(crate) fn effects(&self, plan: &Result<Plan, ToolError>) -> Vec<Effect> {
        match plan {
            Ok(Plan { act: Some((kind, detail)), .. }) => self.acts(*kind, detail),
            _ => vec![self.connects()],
        }
    }

    /// What a call declares that does something there.
    pub(crate) fn acts(&self, kind: ActKind, detail: &str) -> Vec<Effect> {
        let detail = format!("{}: {}", self.name, shortened(detail, MAX_DETAIL));
        vec![self.connects(), Effect::Act(Act { kind, detail })]
    }
}

/// A service at its address, with our key for it.
pub(crate) struct Api<'a> {
    cx: &'a ToolCx,
    web: PermittedWeb<'a>,
    service: &'static Service,
    base: String,
    headers: Vec<(&'static str, String)>,
}

/// Why there is no value.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// It answered, and does not want to.
    Refused(Refused),
    /// There was no answer.
    Unanswered(ToolError),
}

/// What an unwilling service said.
pub(crate) struct Refused {
    service: &'static Service,
    pub(crate) status: u16,
    /// Its answer, if that was JSON.
    pub(crate) body: Value,
    /// The words in it.
    pub(crate) said: String,
    /// How long it wants us to wait.
    wait: Option<Duration>,
}

impl<'a> Api<'a> {
    /// A service at an address.
    pub(crate) fn new(cx: &'a ToolCx, service: &'static Service, base: &str) -> Result<Self, ToolError> {
        let base = base.trim().trim_end_matches('/').to_owned();
        if !(base.starts_with("http://") || base.starts_with("https://")) {
            let why = format!("the address of {} has to begin with http:// or https://", service.name);
            return Err(ToolError::Failed(why));
        }
        Ok(Self { cx, web: cx.web()?, service, base, headers: Vec::new() })
    }

    /// Sends this header with every question.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// Shows this token with every question.
    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Asks, and reads the JSON of the answer; null where the answer is empty.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Value, ApiError> {
        let reply = self.patiently(&ask).await?;
        if reply.cut {
            return Err(failed(format!("the answer of {} is too long", self.service.name)));
        }
        if reply.body.is_empty() {
            return Ok(Value::Null);
        }
        reply.json().ok_or_else(|| failed(format!("the answer of {} is no JSON", self.service.name)))
    }

    /// Has something done; the JSON of the answer, or null: some services say `OK` in other words.
    pub(crate) async fn tell(&self, ask: Ask) -> Result<Value, ApiError> {
        Ok(self.patiently(&ask).await?.json().unwrap_or_default())
    }

    /// Asks, and asks again where the service wants us to wait a little.
    async fn patiently(&self, ask: &Ask) -> Result<WebReply, ApiError> {
        let (mut retries, mut waited) = (ask.retries, false);
        loop {
            let error = match self.once(ask).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match error.bearable_wait() {
                Some(wait) if !waited => {
                    waited = true;
                    self.pause(wait).await?;
                }
                _ if retries > 0 && error.may_pass() => {
                    retries -= 1;
                    self.pause(BREATH).await?;
                }
                _ => return Err(error),
            }
        }
    }

    async fn once(&self, ask: &Ask) -> Result<WebReply, ApiError> {
        let mut request = ask.request(&self.base, Reach::Configured(self.service.name));
        for (name, value) in &self.headers {
            request = request.header(name, value.clone());
        }
        let reply = self.web.fetch(request.header("accept", "application/json")).await?;
        if reply.is_ok() { Ok(reply) } else { Err(ApiError::Refused(Refused::new(self.service, &reply))) }
    }

    async fn pause(&self, time: Duration) -> Result<(), ToolError> {
        let (slept, stopped) = (self.cx.host().sleep(time), self.cx.cancelled().cancelled());
        match futures::future::select(slept, std::pin::pin!(stopped)).await {
            futures::future::Either::Left(_) => Ok(()),
            futures::future::Either::Right(_) => Err(ToolError::Cancelled),
        }
    }
}

impl ApiError {
    /// The status of a refusal.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refused) => Some(refused.status),
            Self::Unanswered(_) => None,
        }
    }

    /// How long to wait before asking once more, if the service asks for that and it is bearable.
    fn bearable_wait(&self) -> Option<Duration> {
        match self {
            Self::Refused(Refused { status: 429, wait, .. }) => wait.filter(|wait| *wait <= LONGEST_WAIT),
            _ => None,
        }
    }

    /// Whether the same question may well be answered in a moment.
    fn may_pass(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.status >= 500,
            Self::Unanswered(ToolError::Web(why)) => {
                matches!(why, WebError::Failed(_) | WebError::TimedOut(_))
            }
            Self::Unanswered(_) => false,
        }
    }
}

impl Refused {
    fn new(service: &'static Service, reply: &WebReply) -> Self {
        let body = reply.json().unwrap_or(Value::Null);
        let said = said(&body).unwrap_or_else(|| plain(&reply.text()));
        let seconds = reply.header("retry-after").and_then(|text| text.trim().parse::<f64>().ok());
        let seconds = body.get("retry_after").and_then(Value::as_f64).or(seconds);
        let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self { service, status: reply.status, said: shortened(&said, MAX_SAID), body, wait }
    }

    fn words(&self) -> String {
        let name = self.service.name;
        let said = if self.said.is_empty() { String::new() } else { format!(": {}", self.said) };
        if let Some(meaning) = (self.service.explain)(self) {
            return format!("{meaning} ({name} answered {}{said})", self.status);
        }
        match (self.status, self.wait) {
            (401, _) => format!("{name} does not accept {}{said}", self.service.key),
            (403, _) => format!("{name} does not permit this{said}"),
            (404, _) => format!("{name} has no such thing{said}"),
            (429, Some(wait)) => {
                format!("{name} is asked too often; it wants {} s of peace", wait.as_secs_f64().ceil())
            }
            (429, None) => format!("{name} is asked too often; try again later"),
            (status @ 500.., _) => format!("{name} has trouble of its own ({status}){said}"),
            (status, _) => format!("{name} answered {status}{said}"),
        }
    }
}

impl std::fmt::Debug for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words())
    }
}

impl From<ToolError> for ApiError {
    fn from(why: ToolError) -> Self {
        Self::Unanswered(why)
    }
}

impl From<ApiError> for ToolError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused(refused) => Self::Failed(refused.words()),
            ApiError::Unanswered(why) => why,
        }
    }
}

fn failed(why: String) -> ApiError {
    ApiError::Unanswered(ToolError::Failed(why))
}

/// The words in a refusal, wherever services use to put them.
fn said(body: &Value) -> Option<String> {
    let places = ["/error/message", "/message", "/error_description", "/msg", "/error", "/detail"];
    let texts = places.iter().filter_map(|place| body.pointer(place)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
}

/// A refusal that is no JSON: a line of it, unless it is a page for people.
fn plain(text: &str) -> String {
    let text = text.trim();
    if text.starts_with('<') { String::new() } else { text.lines().next().unwrap_or_default().to_owned() }
}

#[cfg(test)]
mod tests;
