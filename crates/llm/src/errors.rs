//! Puts failures into classes: by status and by what the provider says.
//!
//! The class decides the remedy, so it is decided here, where status, headers and text are all known.

use std::time::Duration;

use hermes_core::model::{ModelError, ModelErrorClass as Class};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::retry_after::in_text;
use crate::wires::{Fault, shorten};
use hermes_net::HttpError;

/// A failure as the server tells it.
pub(crate) struct Failure<'a> {
    /// The HTTP status, or the one named in the text.
    pub(crate) status: u16,
    /// The body.
    pub(crate) body: &'a str,
    /// When to ask again, by the headers.
    pub(crate) retry_after: Option<Duration>,
}

/// An answer with a bad status as an error.
pub(crate) fn refused(endpoint: &Endpoint, failure: &Failure<'_>) -> ModelError {
    let said = said(failure.body);
    let class = classify(failure.status, &format!("{} {}", said.code, said.message));
    let message = if said.message.is_empty() {
        format!("HTTP {}", failure.status)
    } else {
        format!("HTTP {}: {}", failure.status, said.message)
    };
    let message = if (300..400).contains(&failure.status) {
        format!("{message} (redirects are not followed; is the address right?)")
    } else {
        message
    };
    let wants_wait = matches!(class, Class::RateLimit | Class::Overloaded | Class::Server | Class::Billing);
    let retry_after = failure.retry_after.or_else(|| in_text(&said.message)).filter(|_| wants_wait);
    error(endpoint, class, &message, retry_after)
}

/// A fault inside an answer that began well.
pub(crate) fn faulty(endpoint: &Endpoint, fault: &Fault) -> ModelError {
    match fault {
        Fault::Garbled(what) => {
            error(endpoint, Class::BadAnswer, &format!("the answer cannot be understood: {what}"), None)
        }
        Fault::Said(value) => {
            let said = said(&value.to_string());
            let status = said.status.unwrap_or(0);
            let class = classify(status, &format!("{} {}", said.code, said.message));
            let message =
                if said.message.is_empty() { "the answer broke off with an error" } else { &said.message };
            error(endpoint, class, message, in_text(&said.message))
        }
    }
}

/// A failure of the connection as an error.
pub(crate) fn unreachable(endpoint: &Endpoint, failure: &HttpError) -> ModelError {
    let class = match failure {
        HttpError::Stalled { .. } | HttpError::TooLong { .. } => Class::Timeout,
        HttpError::Unreachable { .. } | HttpError::Broken { .. } => Class::Network,
        HttpError::BadRequest(_) | HttpError::Refused { .. } => Class::BadRequest,
    };
    error(endpoint, class, &failure.to_string(), None)
}

pub(crate) fn error(
    endpoint: &Endpoint,
    class: Class,
    message: &str,
    retry_after: Option<Duration>,
) -> ModelError {
    let message = match &endpoint.key {
        Some(key) => key.hide_in(message),
        None => message.to_owned(),
    };
    ModelError { class, provider: endpoint.provider.clone(), message: hide_keys(&message), retry_after }
}

/// Hides what looks like a key, such as the one a provider repeats in its complaint.
fn hide_keys(text: &str) -> String {
    const BEGINNINGS: [&str; 9] =
        ["sk-", "key-", "gsk_", "xai-", "AIza", "hf_", "nvapi-", "pplx-", "Bearer "];
    let mut words = Vec::new();
    for word in text.split(' ') {
        let inner = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_key = inner.len() >= 16 && BEGINNINGS.iter().any(|begin| inner.starts_with(begin));
        words.push(if is_key { word.replace(inner, crate::secret::HIDDEN) } else { word.to_owned() });
    }
    words.join(" ")
}

#[derive(Default)]
struct Said {
    message: String,
    code: String,
    status: Option<u16>,
}

/// What a body says: the usual shapes of errors, or its text, or the title of a page.
fn said(body: &str) -> Said {
    let Some(value) = crate::lenient::parse(body) else {
        return Said { message: shorten(&plain(body)), ..Said::default() };
    };
    // Some answer with a list that holds the error.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").or_else(|| value.get("errors")?.get(0)).unwrap_or(value);
    let text = |value: &Value, key: &str| match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let mut message = match error {
        Value::String(text) => text.clone(),
        _ => ["message", "detail", "msg", "error_description", "error"]
            .iter()
            .map(|key| text(error, key))
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| text(value, "message")),
    };
    if message.is_empty() && error.get("detail").is_some_and(Value::is_array) {
        message = error.get("detail").map(ToString::to_string).unwrap_or_default();
    }
    // OpenRouter hands on what the provider behind it said.
    if let Some(raw) = error.get("metadata").and_then(|data| data.get("raw")).and_then(Value::as_str) {
        message = format!("{message}: {}", shorten(&said(raw).message));
    }
    if message.is_empty() {
        message = shorten(body);
    }
    let code = format!("{} {} {}", text(error, "code"), text(error, "type"), text(error, "status"));
    let status = error.get("code").or_else(|| error.get("status")).and_then(|code| {
        code.as_u64().or_else(|| code.as_str()?.parse().ok()).and_then(|code| u16::try_from(code).ok())
    });
    Said { message: shorten(&message), code, status: status.filter(|status| (400..600).contains(status)) }
}

/// The words of a page without its tags.
fn plain(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    if !lower.contains("<html") && !lower.contains("<!doctype") {
        return body.to_owned();
    }
    let title =
        lower.find("<title>").zip(lower.find("</title>")).and_then(|(from, to)| body.get(from + 7..to));
    match title.map(str::trim).filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page: {title}"),
        None => "a web page instead of an answer".into(),
    }
}

const OVERFLOW: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "exceed_context_size",
    "exceeds the available context",
    "input token count",
    "reduce the length",
    "larger than the context",
    "model_max_prompt_tokens",
    "max_prompt_tokens",
    "n_ctx",
];
const BILLING: &[&str] = &[
    "insufficient_quota",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "billing",
    "payment",
    "credit balance",
    "out of credits",
    "requires more credits",
    "exceeded your current quota",
    "purchase",
];
const POLICY: &[&str] = &[
    "content policy",
    "content_policy",
    "content_filter",
    "content filter",
    "safety",
    "moderation",
    "flagged",
    "usage policies",
    "prohibited_content",
    "data policy",
];
const OVERLOADED: &[&str] =
    &["overloaded", "at capacity", "capacity exceeded", "no healthy upstream", "server is busy"];
const RATE: &[&str] =
    &["rate limit", "rate_limit", "ratelimit", "too many requests", "resource_exhausted", "throttl"];
const NO_MODEL: &[&str] = &[
    "model_not_found",
    "no such model",
    "unknown model",
    "model not found",
    "invalid model",
    "does not exist",
    "not a valid model",
    "model not exist",
    "try pulling it",
    "no endpoints found",
];
const AUTH: &[&str] = &[
    "invalid api key",
    "invalid_api_key",
    "incorrect api key",
    "authentication",
    "unauthorized",
    "api key not valid",
    "invalid x-api-key",
];
const TOO_LARGE: &[&str] =
    &["request too large", "payload too large", "request_too_large", "entity too large"];

/// The class of a failure. Status 0: only the text is known.
fn classify(status: u16, text: &str) -> Class {
    let text = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match status {
        402 if says(RATE) => Class::RateLimit,
        402 => Class::Billing,
        403 if says(BILLING) => Class::Billing,
        403 if says(POLICY) => Class::Policy,
        401 | 403 => Class::Auth,
        404 if says(&["data policy", "privacy"]) => Class::Policy,
        404 if says(&["model", "endpoints"]) => Class::ModelNotFound,
        404 => Class::BadRequest,
        413 if says(OVERFLOW) => Class::ContextOverflow,
        413 => Class::PayloadTooLarge,
        429 if says(&["insufficient_quota", "insufficient balance", "exceeded your current quota"]) => {
            Class::Billing
        }
        429 if says(OVERLOADED) => Class::Overloaded,
        429 => Class::RateLimit,
        503 | 529 => Class::Overloaded,
        408 | 504 | 522 | 524 => Class::Timeout,
        _ => by_text(status, &says),
    }
}

fn by_text(status: u16, says: &dyn Fn(&[&str]) -> bool) -> Class {
    let table = [
        (OVERFLOW, Class::ContextOverflow),
        (TOO_LARGE, Class::PayloadTooLarge),
        (POLICY, Class::Policy),
        (BILLING, Class::Billing),
        (OVERLOADED, Class::Overloaded),
        (RATE, Class::RateLimit),
        (NO_MODEL, Class::ModelNotFound),
        (AUTH, Class::Auth),
    ];
    if let Some((_, class)) = table.iter().find(|(words, _)| says(words)) {
        return *class;
    }
    match status {
        500.. => Class::Server,
        300..500 => Class::BadRequest,
        _ if says(&["timeout", "timed out"]) => Class::Timeout,
        _ => Class::Server,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hermes_core::model::ModelErrorClass as Class;
    use serde_json::json;

    use super::{Failure, faulty, refused};
    use crate::endpoint::Endpoint;
    use crate::providers;
    use crate::secret::Secret;
    use crate::wires::Fault;

    fn endpoint() -> Endpoint {
        let provider = providers::find("openrouter").unwrap();
        Endpoint::of(provider, "m", Secret::new("sk-secret-secret-secret"))
    }

    fn class(status: u16, body: &str) -> Class {
        refused(&endpoint(), &Failure { status, body, retry_after: None }).class
    }

    #[test]
    fn status_and_text_decide_the_class() {
        let told = [
            (401, "{}", Class::Auth),
            (402, r#"{"error":{"message":"requires more credits"}}"#, Class::Billing),
            (403, r#"{"error":{"message":"forbidden"}}"#, Class::Auth),
            (
                404,
                r#"{"error":{"message":"model 'x' not found, try pulling it first"}}"#,
                Class::ModelNotFound,
            ),
            (404, r#"{"error":{"message":"No endpoints found matching your data policy"}}"#, Class::Policy),
            (404, "<html><title>404 Not Found</title></html>", Class::BadRequest),
            (413, "", Class::PayloadTooLarge),
            (429, r#"{"error":{"message":"slow down"}}"#, Class::RateLimit),
            (
                429,
                r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#,
                Class::Billing,
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#,
                Class::ContextOverflow,
            ),
            (
                400,
                r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                Class::ContextOverflow,
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"the request exceeds the available context size"}}"#,
                Class::ContextOverflow,
            ),
            (400, r#"{"error":{"message":"bad field"}}"#, Class::BadRequest),
            (500, "boom", Class::Server),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Class::Overloaded,
            ),
            (503, "", Class::Overloaded),
            (302, "", Class::BadRequest),
        ];

        for (status, body, expected) in told {
            assert_eq!(class(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn errors_inside_a_stream_have_a_class_too() {
        let fault = |value| faulty(&endpoint(), &Fault::Said(value)).class;

        assert_eq!(fault(json!({"error": {"code": 429, "message": "x"}})), Class::RateLimit);
        assert_eq!(
            fault(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})),
            Class::Overloaded
        );
        assert_eq!(
            fault(json!({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "later"}})),
            Class::RateLimit
        );
        assert_eq!(fault(json!({"error": "something"})), Class::Server);
    }

    #[test]
    fn a_key_is_never_repeated() {
        let body = r#"{"error":{"message":"Incorrect API key provided: sk-secret-secret-secret, and sk-other000000000000000 too."}}"#;

        let error = refused(&endpoint(), &Failure { status: 401, body, retry_after: None });

        assert_eq!(error.message, "HTTP 401: Incorrect API key provided: [key], and [key] too.");
    }

    #[test]
    fn a_page_is_told_by_its_title_and_long_text_cut() {
        let page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>x</body></html>";

        let error = refused(&endpoint(), &Failure { status: 502, body: page, retry_after: None });
        let long =
            refused(&endpoint(), &Failure { status: 500, body: &"long ".repeat(1000), retry_after: None });

        assert_eq!(error.message, "HTTP 502: a web page: 502 Bad Gateway");
        assert!(long.message.chars().count() < 330);
    }

    #[test]
    fn the_time_to_wait_is_kept_where_waiting_helps() {
        let wait = Some(Duration::from_secs(7));

        let limited = refused(&endpoint(), &Failure { status: 429, body: "", retry_after: wait });
        let denied = refused(&endpoint(), &Failure { status: 401, body: "", retry_after: wait });
        let told = refused(
            &endpoint(),
            &Failure {
                status: 429,
                body: r#"{"error":{"message":"Rate limit reached. Please try again in 1.5s."}}"#,
                retry_after: None,
            },
        );

        assert_eq!((limited.retry_after, denied.retry_after), (wait, None));
        assert_eq!(told.retry_after, Some(Duration::from_millis(1500)));
    }
}
