//! Answers that are given before the protocol is read, or in place of what would be said there.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use rmcp::model::ErrorCode;

use super::sessions::MAX_SESSIONS;
use super::visitors::Refused;
use crate::mcp::server::message::{self, MAX_MESSAGE, Waits, Wrong};

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Seconds after which it is worth to try again when all sessions are at work.
const TRY_AGAIN: HeaderValue = HeaderValue::from_static("30");

/// Who may not come in.
pub(super) fn refused(why: Refused) -> Answer {
    let mut answer = text(why.status(), why.why().to_owned());
    if why == Refused::Token {
        let realm = HeaderValue::from_static("Bearer realm=\"hermes\"");
        answer.headers_mut().insert(WWW_AUTHENTICATE, realm);
    }
    answer
}

/// All places are taken.
pub(super) fn full() -> Answer {
    let why = format!(
        "{MAX_SESSIONS} sessions are open and every one of them is at work; try again later, or end one \
         (DELETE)"
    );
    let mut answer = text(StatusCode::SERVICE_UNAVAILABLE, why);
    answer.headers_mut().insert(RETRY_AFTER, TRY_AGAIN);
    answer
}

/// The connection went to somebody else in the very moment of the request.
pub(super) fn crowded() -> Answer {
    let why = "too many connections are open, and this one was given up; nothing was done".to_owned();
    let mut answer = text(StatusCode::SERVICE_UNAVAILABLE, why);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// The body is longer than any may be.
pub(super) fn too_large() -> Answer {
    text(StatusCode::PAYLOAD_TOO_LARGE, format!("a request has at most {} MiB", MAX_MESSAGE / 1024 / 1024))
}

/// The body did not come to its end.
pub(super) fn cut_off() -> Answer {
    text(StatusCode::BAD_REQUEST, "the body of the request was cut off".to_owned())
}

/// The message cannot be served.
pub(super) fn wrong(wrong: Wrong) -> Answer {
    let status = match wrong.error.code {
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    // Over HTTP somebody always waits: for the answer to this very request.
    let waits = if wrong.waits == Waits::Nobody { Waits::Somebody } else { wrong.waits };
    let answer = message::answer(&Wrong { error: wrong.error, waits });
    let written = serde_json::to_vec(&answer).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(written)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// The session is over, as the client wished.
pub(super) fn ended() -> Answer {
    let mut answer = Response::new(Empty::new().boxed());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

fn text(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}
