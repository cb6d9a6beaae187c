//! Asking the services that speak, draw, film and listen: keys, addresses, refusals, and waiting for work
//! that takes its time.

use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::cx::{PermittedWeb, ToolCx};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use hermes_core::web::{Reach, WebReply, WebRequest};
use serde_json::Value;

use crate::multipart::Form;

/// The name under which these services are declared as an effect: which one it is, only the settings know.
pub(crate) const SERVICE: &str = "the configured media service";

/// Longest part of a refusal that is repeated.
const MAX_REFUSAL: usize = 400;

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_mins(5);

/// Most bytes of an answer: a film, or pictures written as text.
const MOST: usize = 256 * 1024 * 1024;

/// What is declared by a call that asks such a service for something that costs.
pub(crate) fn spends(detail: String) -> [Effect; 2] {
    [Effect::Connect(SERVICE.to_owned()), Effect::Act(Act { kind: ActKind::Spend, detail })]
}

/// A service, as one call may use it.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) cx: &'a ToolCx,
    pub(crate) web: PermittedWeb<'a>,
    pub(crate) keys: &'a dyn Keys,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(cx: &'a ToolCx) -> Result<Self, ToolError> {
        Ok(Self { cx, web: cx.web()?, keys: cx.keys()? })
    }

    /// The first of these variables that is set.
    pub(crate) fn key(&self, names: &[&str]) -> Result<String, ToolError> {
        let missing =
            || ToolError::Failed(format!("{} is not set; `hermes setup` asks for it", names.join(" or ")));
        names.iter().find_map(|name| self.keys.key(name)).map(|key| key.trim().to_owned()).ok_or_else(missing)
    }

    /// A text of the settings, or the usual one.
    pub(crate) fn text(&self, key: &str, usual: &str) -> String {
        self.keys.text(key).unwrap_or_else(|| usual.to_owned())
    }

    /// The address of a service: what the settings say, a variable, or the usual one, without a slash.
    pub(crate) fn base(&self, setting: &str, variable: &str, usual: &str) -> String {
        let base = self.keys.text(setting).or_else(|| self.keys.key(variable));
        base.unwrap_or_else(|| usual.to_owned()).trim().trim_end_matches('/').to_owned()
    }

    /// Asks, and hands back an answer that the service was content to give.
    pub(crate) async fn fetch(&self, request: WebRequest) -> Result<WebReply, ToolError> {
        content(self.web.fetch(request.timeout(PATIENCE).max_bytes(MOST)).await?)
    }

    /// Sends a document and reads one.
    pub(crate) async fn post(
        &self,
        url: String,
        headers: &[(&str, String)],
        body: &Value,
    ) -> Result<Value, ToolError> {
        document(&self.fetch(with(WebRequest::post_json(url, reach(), body), headers)).await?)
    }

    /// Sends a document, and hands back whatever the service answers.
    pub(crate) async fn ask(
        &self,
        url: String,
        headers: &[(&str, String)],
        body: &Value,
    ) -> Result<WebReply, ToolError> {
        let request = with(WebRequest::post_json(url, reach(), body), headers);
        self.web.fetch(request.timeout(PATIENCE).max_bytes(MOST)).await
    }

    /// Sends a document and reads bytes.
    pub(crate) async fn post_for_bytes(
        &self,
        url: String,
        headers: &[(&str, String)],
        body: &Value,
    ) -> Result<WebReply, ToolError> {
        self.fetch(with(WebRequest::post_json(url, reach(), body), headers)).await
    }

    /// Sends a form and reads a document.
    pub(crate) async fn post_form(
        &self,
        url: String,
        headers: &[(&str, String)],
        form: Form,
    ) -> Result<Value, ToolError> {
        let (kind, body) = form.finish();
        let mut request = WebRequest::get(url, reach()).method("POST").header("content-type", kind);
        request.body = body;
        document(&self.fetch(with(request, headers)).await?)
    }

    /// Reads a document.
    pub(crate) async fn get(&self, url: String, headers: &[(&str, String)]) -> Result<Value, ToolError> {
        document(&self.fetch(with(WebRequest::get(url, reach()), headers)).await?)
    }

    /// Waits, unless the call is taken back meanwhile.
    pub(crate) async fn wait(&self, time: Duration) -> Result<(), ToolError> {
        let cancelled = std::pin::pin!(self.cx.cancelled().cancelled());
        match select(self.cx.host().sleep(time), cancelled).await {
            Either::Left(_) => Ok(()),
            Either::Right(_) => Err(ToolError::Cancelled),
        }
    }
}

/// Waiting for work that takes its time: short at first, longer later, never for ever.
pub(crate) struct Patience {
    limit: Duration,
    waited: Duration,
    next: Duration,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, waited: Duration::ZERO, next: Duration::from_millis(500) }
    }

    /// Waits until it makes sense to look again.
    pub(crate) async fn next(&mut self, asking: &Asking<'_>) -> Result<(), ToolError> {
        if self.waited >= self.limit {
            let seconds = self.limit.as_secs();
            return Err(ToolError::Failed(format!("the service was not done after {seconds} s")));
        }
        asking.wait(self.next).await?;
        self.waited += self.next;
        self.next = (self.next * 3 / 2).min(Duration::from_secs(5));
        Ok(())
    }
}

/// What a service that makes something is chosen by: the settings, and which keys there are.
pub(crate) struct Choosing<'a> {
    pub(crate) setting: &'a dyn Fn(&str) -> Option<Value>,
    pub(crate) has_key: &'a dyn Fn(&str) -> bool,
}

impl Choosing<'_> {
    /// A text of the settings, unless it is empty.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let value = (self.setting)(key)?;
        value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The service that the section names, else `usual`; it must be known, and have one of its keys.
    pub(crate) fn among<'p, P>(
        &self,
        section: &str,
        known: &[&'p P],
        named: fn(&P) -> (&'static str, &'static [&'static str]),
        usual: &str,
    ) -> Result<&'p P, String> {
        let wish = self.text(&format!("{section}.provider")).map(|name| name.to_lowercase());
        let name = wish.as_deref().unwrap_or(usual);
        let Some(found) = known.iter().find(|provider| named(provider).0 == name) else {
            let all: Vec<&str> = known.iter().map(|provider| named(provider).0).collect();
            return Err(format!("{section}.provider is `{name}`, which is none of {}", all.join(", ")));
        };
        let keys = named(found).1;
        if keys.is_empty() || keys.iter().any(|key| (self.has_key)(key)) {
            return Ok(found);
        }
        let other = if wish.is_none() {
            format!(", or another service in {section}.provider")
        } else {
            String::new()
        };
        Err(format!("{name} needs {}{other}", keys.join(" or ")))
    }
}

/// How a call that made nothing is answered.
pub(crate) fn not_made(what: &str, wrong: &ToolError) -> Value {
    let kind = match wrong {
        ToolError::Arguments(_) => "invalid_arguments",
        ToolError::Web(_) => "network",
        ToolError::File(_) => "file",
        _ => "provider",
    };
    let mut answer = serde_json::json!({ "success": false, "error": wrong.to_string(), "error_type": kind });
    if let Some(fields) = answer.as_object_mut() {
        fields.insert(what.to_owned(), Value::Null);
    }
    answer
}

fn reach() -> Reach {
    Reach::Configured(SERVICE)
}

fn with(mut request: WebRequest, headers: &[(&str, String)]) -> WebRequest {
    for (name, value) in headers {
        request = request.header(name, value.clone());
    }
    request
}

/// `Authorization: Bearer`.
pub(crate) fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

/// The answer, if the service was content; else what it says.
pub(crate) fn content(reply: WebReply) -> Result<WebReply, ToolError> {
    if reply.is_ok() {
        return Ok(reply);
    }
    let hint = match reply.status {
        401 | 403 => " (is the key right?)",
        402 => " (the account has no credit left)",
        429 => " (too many requests; try again later)",
        _ => "",
    };
    let said = reply.json().as_ref().and_then(words).unwrap_or_else(|| reply.text());
    let said: String = said.trim().chars().take(MAX_REFUSAL).collect();
    Err(ToolError::Failed(format!("the service answered {}{hint}: {said}", reply.status)))
}

/// What stands at a path of an answer (`/data/0/url`); null when nothing does.
pub(crate) fn at<'a>(answer: &'a Value, path: &str) -> &'a Value {
    static NOTHING: Value = Value::Null;
    answer.pointer(path).unwrap_or(&NOTHING)
}

/// The words of a refusal, wherever services put them.
pub(crate) fn words(answer: &Value) -> Option<String> {
    let error = answer.get("error").unwrap_or(answer);
    let places = [error.get("message"), Some(error), answer.get("detail"), answer.get("message")];
    let found = places.into_iter().flatten().find_map(Value::as_str);
    found.map(str::to_owned).or_else(|| answer.get("detail").map(ToString::to_string))
}

fn document(reply: &WebReply) -> Result<Value, ToolError> {
    reply.json().ok_or_else(|| ToolError::Failed("the service's answer is no JSON".to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_is_found_wherever_it_stands() {
        for answer in [
            json!({ "error": { "message": "no" } }),
            json!({ "error": "no" }),
            json!({ "detail": "no" }),
            json!({ "message": "no" }),
        ] {
            assert_eq!(words(&answer).as_deref(), Some("no"), "{answer}");
        }
        assert_eq!(words(&json!({ "detail": [{ "msg": "x" }] })).unwrap(), r#"[{"msg":"x"}]"#);
    }
}
