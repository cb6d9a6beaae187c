//! A vendor's API: requests with JSON, and what its refusals mean.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::host::Host;
use hermes_net::{Call, Http, HttpError, Limits, Method, Reply, Url};
use serde_json::Value;

/// How long to wait for what.
pub(super) const LIMITS: Limits =
    Limits { connect: Duration::from_secs(20), idle: Duration::from_mins(2), total: Duration::from_mins(3) };

/// For an answer that comes as long as a program runs.
pub(super) const FOLLOW: Limits = Limits {
    connect: Duration::from_secs(20),
    idle: Duration::from_hours(24 * 30),
    total: Duration::from_hours(24 * 30),
};

/// Most that is read of an answer.
const MOST: usize = 16 * 1024 * 1024;

/// How often something is asked again, and how long the first pause is.
const AGAIN: u32 = 3;
const PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Asks one vendor.
pub(super) struct Api {
    /// The vendor's name.
    vendor: &'static str,
    /// The variables that hold the key.
    keys: &'static str,
    http: Http,
    host: Arc<dyn Host>,
    headers: Vec<(String, String)>,
}

/// When a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Whenever there may be a better answer: doing it twice is as doing it once.
    Always,
    /// Only when the vendor says that it did nothing.
    Refused,
}

/// Why a vendor did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// It does not know the key.
    #[error("{vendor} does not accept the key in {keys} ({said})")]
    Key { vendor: &'static str, keys: &'static str, said: String },
    /// Something is used up.
    #[error("{vendor} has reached a limit of the account, or asks for less at once ({said})")]
    Limit { vendor: &'static str, said: String },
    /// There is no such thing, or there is no more.
    #[error("{vendor} knows it no more ({said})")]
    Gone { vendor: &'static str, said: String },
    /// Something of that name is there already.
    #[error("{vendor} has something of that name already ({said})")]
    Taken { vendor: &'static str, said: String },
    /// Anything else it said.
    #[error("{vendor} refuses with {status}: {said}")]
    Refused { vendor: &'static str, status: u16, said: String },
    /// What it answered makes no sense.
    #[error("{vendor} answered something else than expected: {what}")]
    Strange { vendor: &'static str, what: String },
    /// It took too long, or could not be.
    #[error("{0}")]
    Failed(String),
    /// It cannot be asked.
    #[error(transparent)]
    Net(#[from] HttpError),
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.to_string()
    }
}

impl Api {
    /// For a vendor; `given` are the variables of the person, among them those about proxies.
    pub(super) fn new(
        vendor: &'static str,
        keys: &'static str,
        headers: Vec<(String, String)>,
        given: &BTreeMap<String, String>,
        host: Arc<dyn Host>,
    ) -> Self {
        let http = Http::from_env(|name| given.get(name).cloned());
        Self { vendor, keys, http, host, headers }
    }

    pub(super) fn http(&self) -> &Http {
        &self.http
    }

    pub(super) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Asks and reads the answer; one without content is null.
    pub(super) async fn ask(
        &self,
        method: Method,
        url: &Url,
        body: Option<&Value>,
        again: Again,
    ) -> Result<Value, Fault> {
        let mut pause = PAUSE;
        for left in (0..AGAIN).rev() {
            let fault = match self.once(method.clone(), url, body).await {
                Ok(value) => return Ok(value),
                Err(fault) => fault,
            };
            let (wanted, wait) = fault.worth_another_try(again);
            if left == 0 || !wanted {
                return Err(fault.1);
            }
            self.host.sleep(wait.unwrap_or(pause).min(LONGEST_PAUSE)).await;
            pause *= 3;
        }
        Err(Fault::Failed(format!("{} does not answer", self.vendor)))
    }

    async fn once(&self, method: Method, url: &Url, body: Option<&Value>) -> Result<Value, Told> {
        let mut call = Call::get(url, LIMITS).method(method).headers(self.headers.iter().cloned());
        if let Some(body) = body {
            call = call.header("content-type", "application/json");
            call.body = body.to_string().into();
        }
        let mut reply = self.http.send(call).await.map_err(Told::net)?;
        if !reply.status.is_success() {
            return Err(self.refusal(&mut reply).await);
        }
        let bytes = reply.read(MOST).await.map_err(Told::net)?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|wrong| Told::of(self.strange(wrong.to_string())))
    }

    /// Sends something and returns its answer as it comes.
    pub(super) async fn follow(&self, call: Call<'_>) -> Result<Reply, Fault> {
        let call = call.headers(self.headers.iter().cloned());
        let (mut left, mut pause) = (AGAIN, PAUSE);
        loop {
            let mut reply = self.http.send(call.clone()).await?;
            if reply.status.is_success() {
                return Ok(reply);
            }
            let told = self.refusal(&mut reply).await;
            let (wanted, wait) = told.worth_another_try(Again::Refused);
            left -= 1;
            if left == 0 || !wanted {
                return Err(told.1);
            }
            self.host.sleep(wait.unwrap_or(pause).min(LONGEST_PAUSE)).await;
            pause *= 3;
        }
    }

    pub(super) fn strange(&self, what: impl Into<String>) -> Fault {
        Fault::Strange { vendor: self.vendor, what: what.into() }
    }

    async fn refusal(&self, reply: &mut Reply) -> Told {
        let wait = reply.header("retry-after").and_then(|text| text.trim().parse().ok());
        let status = reply.status.as_u16();
        let bytes = reply.read(64 * 1024).await.unwrap_or_default();
        Told(wait.map(Duration::from_secs), self.meaning(status, said(&bytes, status)))
    }

    /// What a status means. A limit that is reached has no status of its own with some vendors, only
    /// words.
    pub(super) fn meaning(&self, status: u16, said: String) -> Fault {
        let vendor = self.vendor;
        let words = said.to_lowercase();
        let limit = ["quota", "limit exceeded", "limit reached", "rate limit", "insufficient", "suspended"];
        match status {
            402 | 429 => Fault::Limit { vendor, said },
            400 | 403 if limit.iter().any(|part| words.contains(part)) => Fault::Limit { vendor, said },
            401 | 403 => Fault::Key { vendor, keys: self.keys, said },
            404 | 410 => Fault::Gone { vendor, said },
            409 => Fault::Taken { vendor, said },
            status => Fault::Refused { vendor, status, said },
        }
    }
}

/// A fault, and how long the vendor wants to be left alone.
struct Told(Option<Duration>, Fault);

impl Told {
    fn of(fault: Fault) -> Self {
        Self(None, fault)
    }

    fn net(wrong: HttpError) -> Self {
        Self::of(wrong.into())
    }

    fn worth_another_try(&self, again: Again) -> (bool, Option<Duration>) {
        let wanted = match &self.1 {
            Fault::Limit { said, .. } => self.0.is_some() || said.to_lowercase().contains("rate"),
            Fault::Refused { status: 408 | 425 | 500 | 502 | 503 | 504, .. } | Fault::Net(_) => {
                again == Again::Always
            }
            _ => false,
        };
        (wanted, self.0)
    }
}

/// The words in an answer that is a refusal.
fn said(bytes: &[u8], status: u16) -> String {
    let text = String::from_utf8_lossy(bytes).trim().to_owned();
    let found = serde_json::from_str::<Value>(&text).ok().and_then(|value| {
        let places = ["/message", "/error/message", "/error_description", "/error", "/errors"];
        places.iter().find_map(|place| match value.pointer(place)? {
            Value::String(said) => Some(said.clone()),
            Value::Array(all) => Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")),
            _ => None,
        })
    });
    let said = found.unwrap_or(text);
    let short: String = said.chars().filter(|c| !c.is_control()).take(300).collect();
    if short.is_empty() { format!("status {status}") } else { short }
}

/// A text as part of a path or a query.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let word = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_can_be_part_of_an_address() {
        assert_eq!(encoded("{\"a\": é}"), "%7B%22a%22%3A%20%C3%A9%7D");
    }

    #[test]
    fn the_words_of_a_refusal_are_found_wherever_they_are() {
        assert_eq!(said(br#"{"message": ["a", "b"]}"#, 400), "a; b");
        assert_eq!(said(br#"{"error": {"code": "x", "message": "no"}}"#, 400), "no");
        assert_eq!(said(br#"{"error": "no", "statusCode": 400}"#, 400), "no");
        assert_eq!(
            said(br#"{"errors": ["/x: no space left on device"]}"#, 400),
            "/x: no space left on device"
        );
        assert_eq!(said(b"<html>\n", 502), "<html>");
        assert_eq!(said(b"", 502), "status 502");
    }
}
