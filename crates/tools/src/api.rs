//! JSON over HTTP with a service that the person has configured: one way to ask, to wait when it is busy,
//! and to say in words what it refuses.
//!
//! What goes into an address is written so that it stays one part of it ([`Ask`]); what comes back is a
//! value or an [`ApiError`], which turns into words by itself.

use std::fmt::Write as _;
use std::time::Duration;

use hermes_core::cx::{PermittedWeb, ToolCx};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use hermes_core::web::{Reach, WebError, WebReply, WebRequest};
use serde_json::Value;

use crate::web::provider::encoded;

/// Longest wait for an answer, unless an [`Ask`] says otherwise.
const TIMEOUT: Duration = Duration::from_secs(15);

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

/// What a call comes to: what is asked, and what that does, if it does anything.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) ask: Ask,
    act: Option<(ActKind, String)>,
}

impl Plan {
    /// Only looks.
    pub(crate) fn look(ask: Ask) -> Self {
        Self { ask, act: None }
    }

    /// Does something, in words a person can judge.
    pub(crate) fn act(kind: ActKind, detail: impl Into<String>, ask: Ask) -> Self {
        Self { ask, act: Some((kind, detail.into())) }
    }

    /// Whether something is done.
    pub(crate) fn is_act(&self) -> bool {
        self.act.is_some()
    }
}

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    method: &'static str,
    path: String,
    query: String,
    body: Body,
    timeout: Duration,
    retries: u8,
}

#[derive(Debug, Clone)]
enum Body {
    None,
    Json(Value),
    Form(String),
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

impl Ask {
    /// Asks for what is there. The parts of the path are taken literally, whatever they contain.
    pub(crate) fn get(path: &[&str]) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &[&str]) -> Self {
        Self::new("POST", path)
    }

    pub(crate) fn put(path: &[&str]) -> Self {
        Self::new("PUT", path)
    }

    pub(crate) fn delete(path: &[&str]) -> Self {
        Self::new("DELETE", path)
    }

    fn new(method: &'static str, path: &[&str]) -> Self {
        // Services write `@me` for whoever asks.
        let part = |part: &&str| encoded(part).replace("%40", "@");
        let path = path.iter().map(part).fold(String::new(), |path, part| path + "/" + &part);
        Self { method, path, query: String::new(), body: Body::None, timeout: TIMEOUT, retries: 0 }
    }

    /// Adds a part of the query, if there is a value for it.
    pub(crate) fn query(mut self, name: &str, value: Option<impl ToString>) -> Self {
        if let Some(value) = value {
            let mark = if self.query.is_empty() { '?' } else { '&' };
            // Writing into a string cannot fail.
            let _ = write!(self.query, "{mark}{name}={}", encoded(&value.to_string()));
        }
        self
    }

    /// Adds a name without a value to the query.
    pub(crate) fn flag(mut self, name: &str) -> Self {
        self.query.push(if self.query.is_empty() { '?' } else { '&' });
        self.query.push_str(name);
        self
    }

    /// Sends a document.
    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = Body::Json(body);
        self
    }

    /// Sends a filled form.
    pub(crate) fn form(mut self, fields: &[(&str, &str)]) -> Self {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.body = Body::Form(fields.join("&"));
        self
    }

    /// Waits no longer than this for the answer.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Tries again so many times when the service has trouble of its own. Only for questions that change
    /// nothing.
    pub(crate) fn retries(mut self, retries: u8) -> Self {
        self.retries = retries;
        self
    }

    /// What is asked, for tests: method, path with query, body.
    #[cfg(test)]
    pub(crate) fn told(&self) -> String {
        let body = match &self.body {
            Body::None => String::new(),
            Body::Json(body) => format!(" {body}"),
            Body::Form(body) => format!(" {body}"),
        };
        format!("{} {}{}{body}", self.method, self.path, self.query)
    }

    fn request(&self, base: &str, reach: Reach) -> WebRequest {
        let url = format!("{base}{}{}", self.path, self.query);
        let request = WebRequest::get(url, reach).method(self.method).timeout(self.timeout);
        match &self.body {
            Body::None => request,
            Body::Json(body) => with_body(request, body.to_string(), "application/json"),
            Body::Form(body) => with_body(request, body.clone(), "application/x-www-form-urlencoded"),
        }
    }
}

fn with_body(mut request: WebRequest, body: String, kind: &str) -> WebRequest {
    request.body = body.into_bytes();
    request.header("content-type", kind)
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

/// No more than so many characters, with a sign that there was more.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Where a service is: where the variable points, or at its usual address.
pub(crate) fn address(keys: &dyn Keys, variable: &str, usual: &str) -> String {
    keys.key(variable).unwrap_or_else(|| usual.to_owned())
}

/// The value of a variable that has to be there.
pub(crate) fn key(keys: &dyn Keys, variable: &str) -> Result<String, ToolError> {
    let value = keys.key(variable).map(|value| value.trim().to_owned());
    value.ok_or_else(|| ToolError::Failed(format!("{variable} is not set; `hermes setup` asks for it")))
}

/// An argument that this action needs.
pub(crate) fn needed<'a>(value: Option<&'a str>, name: &str, action: &str) -> Result<&'a str, ToolError> {
    let value = value.map(str::trim).filter(|value| !value.is_empty());
    value.ok_or_else(|| ToolError::Arguments(format!("{action} needs {name}")))
}

/// An id as services hand them out, which is safe wherever it is written.
pub(crate) fn id<'a>(value: &'a str, name: &str) -> Result<&'a str, ToolError> {
    let value = value.trim();
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=128).contains(&value.len()) && value.chars().all(usual) {
        return Ok(value);
    }
    Err(ToolError::Arguments(format!("{name}: {:?} is no id", shortened(value, 60))))
}

/// Sets a field of an object.
pub(crate) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// The fields of an object that are there and say something, under their own names.
pub(crate) fn picked(value: &Value, fields: &[&str]) -> serde_json::Map<String, Value> {
    let there =
        |field: &&str| Some(((*field).to_owned(), value.get(field).filter(|it| !it.is_null())?.clone()));
    fields.iter().filter_map(there).collect()
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
