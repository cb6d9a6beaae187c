//! What comes back over HTTP, as messages: one answer, or events one after the other.

use std::borrow::Cow;
use std::collections::VecDeque;

use futures::stream::{BoxStream, StreamExt as _};
use hermes_net::{Overlong, Reply, SseDecoder, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError, StreamableHttpPostResponse};
use serde_json::Value;
use sse_stream::Sse;

use super::fault::{Fault, NetFault};
use super::message;
use super::output::MAX_MESSAGE;

/// The events of an answer as they come. In place of one that is too long, whoever waits for the answer to
/// this request is told so.
pub(super) fn events(reply: Reply, request: Option<RequestId>) -> BoxStream<'static, Result<Sse, SseError>> {
    struct State {
        reply: Reply,
        request: Option<RequestId>,
        decoder: Option<SseDecoder>,
        ready: VecDeque<Sse>,
    }
    let (decoder, ready) = (Some(SseDecoder::default()), VecDeque::new());
    let state = State { reply, request, decoder, ready };
    let read = |mut state: State| async move {
        loop {
            if let Some(event) = state.ready.pop_front() {
                return Some((Ok(event), state));
            }
            let decoder = state.decoder.as_mut()?;
            let ready = &mut state.ready;
            match state.reply.next().await {
                Ok(Some(bytes)) => {
                    let pushed = decoder.push(&bytes, |event| ready.extend(events_of(event)));
                    if let Err(Overlong) = pushed {
                        state.decoder = None;
                        let told =
                            state.request.take().and_then(|id| serde_json::to_string(&too_long(id)).ok());
                        let Some(told) = told else {
                            return Some((Err(SseError::Body(Box::new(Overlong))), state));
                        };
                        state.ready.push_back(Sse { data: Some(told), ..Sse::default() });
                    }
                }
                Ok(None) => {
                    if let Some(decoder) = state.decoder.take() {
                        decoder.end(|event| ready.extend(events_of(event)));
                    }
                    if state.ready.is_empty() {
                        return None;
                    }
                }
                Err(error) => {
                    state.decoder = None;
                    return Some((Err(SseError::Body(Box::new(error))), state));
                }
            }
        }
    };
    futures::stream::unfold(state, read).boxed()
}

/// An event as the SDK reads it; one for each message where it holds several at once.
fn events_of(event: hermes_net::SseEvent) -> Vec<Sse> {
    let hermes_net::SseEvent { event, data, id, retry } = event;
    let one = |data: String| Sse {
        event: (!event.is_empty()).then(|| event.clone()),
        data: Some(message::mended_event(data)),
        id: id.clone(),
        retry,
    };
    match message::batch(data.as_bytes()) {
        Some(parts) => parts.iter().map(|part| one(part.get().to_owned())).collect(),
        None => vec![one(data)],
    }
}

pub(super) fn is_kind(reply: &Reply, kind: &str) -> bool {
    reply.header("content-type").is_some_and(|it| it.trim_start().to_ascii_lowercase().starts_with(kind))
}

pub(super) fn http_status(reply: &Reply, status: StatusCode) -> Fault {
    let after = reply.header("retry-after").map(str::to_owned);
    rmcp::transport::streamable_http_client::HttpStatusError::new(status.as_u16(), after).into()
}

/// What came back for a message.
pub(super) async fn answer(
    mut reply: Reply,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Fault> {
    let status = reply.status;
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && in_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let session = reply.header("mcp-session-id").map(str::to_owned);
    let request = match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    if status.is_success() && is_kind(&reply, "text/event-stream") {
        return Ok(StreamableHttpPostResponse::Sse(events(reply, request), session));
    }
    let is_json = is_kind(&reply, "application/json");
    let kind = reply.header("content-type").map(str::to_owned);
    let failed = http_status(&reply, status);
    let moved = reply.header("location").filter(|_| status.is_redirection()).map(str::to_owned);
    let body =
        reply.read(MAX_MESSAGE + 1).await.map_err(|error| StreamableHttpError::Client(error.into()))?;
    if let Some(place) = moved {
        let place: String = place.chars().filter(|letter| !letter.is_control()).take(200).collect();
        let why = format!("it has moved to {place} (HTTP {}); `url` has to say so", status.as_u16());
        return Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why)));
    }
    if in_session && status == StatusCode::BAD_REQUEST && session_is_over(&body) {
        return Err(StreamableHttpError::SessionExpired);
    }
    if !status.is_success() {
        return refused(message, in_session, status, &body, failed);
    }
    let Some(id) = request else { return Ok(StreamableHttpPostResponse::Accepted) };
    if !is_json {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    if body.len() > MAX_MESSAGE {
        return Ok(StreamableHttpPostResponse::Json(too_long(id), session));
    }
    let read = serde_json::from_slice(&body).map_or_else(|_| message::again(&body), |one| vec![one]);
    answering(read, id, session)
}

/// What came as the whole answer to the request with this id.
fn answering(
    read: Vec<ServerJsonRpcMessage>,
    id: RequestId,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Fault> {
    let is_answer = |message: &ServerJsonRpcMessage| match message {
        JsonRpcMessage::Response(answer) => message::is_same(&answer.id, &id),
        // A refusal before the request was looked at cannot name it.
        JsonRpcMessage::Error(error) => error.id.as_ref().is_none_or(|it| message::is_same(it, &id)),
        _ => false,
    };
    if !read.iter().any(is_answer) {
        let why =
            if read.is_empty() { "its answer is not a message" } else { "its answer is to something else" };
        return Err(StreamableHttpError::Client(NetFault::Unanswered(why.to_owned())));
    }
    let (answers, others): (Vec<_>, Vec<_>) = read.into_iter().partition(is_answer);
    let answer = answers.into_iter().next().map(|answer| match answer {
        JsonRpcMessage::Response(answer) => ServerJsonRpcMessage::response(answer.result, id),
        JsonRpcMessage::Error(error) => ServerJsonRpcMessage::error(error.error, Some(id)),
        other => other,
    });
    let mut all: Vec<ServerJsonRpcMessage> = others.into_iter().chain(answer).collect();
    match all.pop() {
        Some(answer) if all.is_empty() => Ok(StreamableHttpPostResponse::Json(answer, session)),
        answer => {
            let event = |message: ServerJsonRpcMessage| {
                Ok(Sse { data: serde_json::to_string(&message).ok(), ..Sse::default() })
            };
            let events: Vec<_> = all.into_iter().chain(answer).map(event).collect();
            Ok(StreamableHttpPostResponse::Sse(futures::stream::iter(events).boxed(), session))
        }
    }
}

/// What is told in place of an answer that is too long.
fn too_long(id: RequestId) -> ServerJsonRpcMessage {
    let why = format!("the answer has more than {MAX_MESSAGE} bytes, which are the most that is taken");
    ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id))
}

/// Whether a refusal says in words that there is no such session, as many servers do that were started again. One
/// that names the request has looked at it, and is its answer.
fn session_is_over(body: &[u8]) -> bool {
    let (text, value) = (String::from_utf8_lossy(body), serde_json::from_slice::<Value>(body).ok());
    if value.as_ref().and_then(|value| value.get("id")).is_some_and(|id| !id.is_null()) {
        return false;
    }
    let said = value.as_ref().and_then(|value| value.pointer("/error/message")).and_then(Value::as_str);
    let said: String = said.unwrap_or(&text).chars().take(2000).collect();
    let said = said.to_ascii_lowercase();
    let fates = ["no valid", "not found", "invalid", "unknown", "expired", "terminated"];
    said.contains("session") && fates.iter().any(|fate| said.contains(fate))
}

/// An answer with a status that is no success: an error of the protocol where the body is one.
fn refused(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    body: &[u8],
    failed: Fault,
) -> Result<StreamableHttpPostResponse, Fault> {
    let parsed = serde_json::from_slice(body).ok().or_else(|| message::again(body).pop());
    let error = parsed.and_then(|parsed: ServerJsonRpcMessage| match parsed {
        JsonRpcMessage::Error(error) => Some(error.error),
        _ => None,
    });
    if let JsonRpcMessage::Request(request) = message {
        let probing = matches!(request.request, ClientRequest::DiscoverRequest(_));
        let old = probing && !in_session && status.is_client_error();
        let error = match error {
            Some(error) => Some(error),
            // An old server does not know the question; it is then asked in the old way.
            None if old => Some(ErrorData::invalid_request(format!("HTTP {status}"), None)),
            None => None,
        };
        if let Some(error) = error {
            // A refusal before the message was looked at cannot name it.
            let told = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(told, None));
        }
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(failed);
    }
    let hint = match status {
        StatusCode::METHOD_NOT_ALLOWED => "; a server of the older kind wants `transport: sse`",
        StatusCode::NOT_FOUND => "; is that its address? A server of the older kind wants `transport: sse`",
        _ => "",
    };
    let why = format!("HTTP {status}{}{hint}", in_words(body));
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why)))
}

/// The beginning of what came with a status, in one line; a page for browsers says nothing.
fn in_words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..body.len().min(2000)).unwrap_or_default());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || line.starts_with('<') {
        return String::new();
    }
    format!(": {}", line.chars().take(200).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{in_words, session_is_over};

    #[test]
    fn a_refusal_that_says_there_is_no_such_session_is_about_the_session_and_not_about_the_request() {
        let error = |id: &str, words: &str| {
            format!(r#"{{"jsonrpc":"2.0","error":{{"code":-32000,"message":"{words}"}}{id}}}"#)
        };
        let about_it = [
            error(r#","id":null"#, "Bad Request: No valid session ID provided"),
            error("", "Session not found"),
            "Invalid or expired session\n".to_owned(),
            r#"{"detail":"Unknown session"}"#.to_owned(),
        ];
        let of_another_kind = [
            error(r#","id":7"#, "Session not found"),
            error(r#","id":"a""#, "Session not found"),
            error(r#","id":null"#, "Bad Request: a session needs a name"),
            "Invalid JSON".to_owned(),
            String::new(),
        ];

        assert_eq!(about_it.map(|body| session_is_over(body.as_bytes())), [true; 4]);
        assert_eq!(of_another_kind.map(|body| session_is_over(body.as_bytes())), [false; 5]);
    }

    #[test]
    fn what_came_with_a_status_is_told_in_one_line_and_a_page_is_not() {
        let told = ["no such\n key", "", "<!DOCTYPE html>\n<html>"].map(|body| in_words(body.as_bytes()));

        assert_eq!(told, [": no such key", "", ""]);
    }
}
