//! What is asked of a service, before it is asked: a method, an address whose parts cannot leave their
//! place, and what is sent along.

use std::fmt::Write as _;
use std::time::Duration;

use hermes_core::effect::ActKind;
use hermes_core::web::{Reach, WebRequest};
use serde_json::Value;

use crate::web::answers::encoded;

/// Longest wait for an answer, unless an [`Ask`] says otherwise.
const TIMEOUT: Duration = Duration::from_secs(15);

/// What a call comes to: what is asked, and what that does, if it does anything.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) ask: Ask,
    pub(super) act: Option<(ActKind, String)>,
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
    pub(super) retries: u8,
}

#[derive(Debug, Clone)]
enum Body {
    None,
    Json(Value),
    Form(String),
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

    pub(super) fn request(&self, base: &str, reach: Reach) -> WebRequest {
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
