//! Answers for clients whose connection broke before they came.
//!
//! A call goes on when the stream breaks that its answer was to come on, and the client asks for the rest by the
//! last event that it saw. Whatever ended in between would be lost, and a client that hears nothing may well call
//! once more. So an answer that no stream carried to its end is kept for a while.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;

/// How long an answer is kept.
const KEPT: Duration = Duration::from_mins(1);

/// Most requests of a session that are kept in mind; the oldest goes.
const MAX_KEPT: usize = 64;

/// The answers of one session that may be asked for again.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    requests: VecDeque<Request>,
}

/// A request whose answer did not reach the end of its stream yet.
#[derive(Debug)]
struct Request {
    number: u64,
    id: RequestId,
    /// The stream, as the ids of its events name it.
    stream: Option<String>,
    answer: Option<(Duration, ServerJsonRpcMessage)>,
}

impl Kept {
    /// A request begins; gives its number.
    pub(super) fn begins(&self, id: &RequestId, now: Duration) -> u64 {
        let mut inner = self.inner();
        inner.requests.retain(|request| request.is_kept(now));
        if inner.requests.len() >= MAX_KEPT {
            inner.requests.pop_front();
        }
        inner.last += 1;
        let number = inner.last;
        inner.requests.push_back(Request { number, id: id.clone(), stream: None, answer: None });
        number
    }

    /// An event goes out on the stream of a request.
    pub(super) fn passes(&self, number: u64, event: &ServerSseMessage) {
        let Some(stream) = event.event_id.as_deref().and_then(stream_of) else { return };
        let mut inner = self.inner();
        if let Some(request) = inner.requests.iter_mut().find(|request| request.number == number) {
            request.stream.get_or_insert_with(|| stream.to_owned());
        }
    }

    /// The client is told something; an answer is kept with its request.
    pub(super) fn told(&self, message: &ServerJsonRpcMessage, now: Duration) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let mut inner = self.inner();
        let open = |request: &&mut Request| Some(&request.id) == id && request.answer.is_none();
        if let Some(request) = inner.requests.iter_mut().rev().find(open) {
            request.answer = Some((now, message.clone()));
        }
    }

    /// The stream of a request came to its end.
    pub(super) fn arrived(&self, number: u64) {
        self.inner().requests.retain(|request| request.number != number);
    }

    /// The number of the request that an event belonged to.
    pub(super) fn number(&self, event_id: &str) -> Option<u64> {
        let stream = stream_of(event_id)?;
        let inner = self.inner();
        let request = inner.requests.iter().find(|request| request.stream.as_deref() == Some(stream))?;
        Some(request.number)
    }

    /// The answer to a request, as an event that follows `event_id`.
    pub(super) fn answer(&self, number: u64, event_id: &str, now: Duration) -> Option<ServerSseMessage> {
        let inner = self.inner();
        let request = inner.requests.iter().find(|request| request.number == number)?;
        let (_, answer) = request.answer.as_ref().filter(|_| request.is_kept(now))?;
        let (index, stream) = event_id.split_once('/')?;
        let next = index.parse::<u64>().ok()?.saturating_add(1);
        Some(ServerSseMessage::new(format!("{next}/{stream}"), answer.clone()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Request {
    fn is_kept(&self, now: Duration) -> bool {
        self.answer.as_ref().is_none_or(|(since, _)| now.saturating_sub(*since) < KEPT)
    }
}

/// The stream that an event belongs to: its id says `index/stream`.
fn stream_of(event_id: &str) -> Option<&str> {
    event_id.split_once('/').map(|(_, stream)| stream)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{EmptyResult, ServerResult};

    use super::*;

    fn answer(id: i64) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), RequestId::Number(id))
    }

    fn event(id: &str) -> ServerSseMessage {
        ServerSseMessage::priming(id, Duration::from_secs(3))
    }

    fn second(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_answer_is_kept_for_a_minute_unless_it_arrived() {
        let kept = Kept::default();
        let one = kept.begins(&RequestId::Number(1), second(0));
        let two = kept.begins(&RequestId::Number(2), second(0));
        kept.passes(one, &event("0/7"));
        kept.passes(two, &event("0/8"));
        kept.told(&answer(1), second(10));
        kept.told(&answer(2), second(10));

        kept.arrived(two);

        assert_eq!((kept.number("0/7"), kept.number("0/8"), kept.number("garbage")), (Some(one), None, None));
        let found = kept.answer(one, "0/7", second(60)).and_then(|event| event.event_id);
        assert_eq!(found.as_deref(), Some("1/7"));
        assert!(kept.answer(one, "0/7", second(70)).is_none(), "it is too old");
    }

    #[test]
    fn requests_of_one_id_are_told_apart_by_their_streams() {
        let kept = Kept::default();
        let first = kept.begins(&RequestId::Number(1), second(0));
        kept.passes(first, &event("0/1"));
        kept.told(&answer(1), second(0));
        let again = kept.begins(&RequestId::Number(1), second(0));
        kept.passes(again, &event("0/2"));

        kept.arrived(again);

        assert_eq!((kept.number("0/1"), kept.number("0/2")), (Some(first), None));
        assert!(kept.answer(first, "0/1", second(1)).is_some());
    }

    #[test]
    fn no_more_than_a_few_are_kept_in_mind() {
        let kept = Kept::default();
        let numbers: Vec<u64> = (0..=64).map(|id| kept.begins(&RequestId::Number(id), second(0))).collect();
        for (number, id) in numbers.iter().zip(0..) {
            kept.passes(*number, &event(&format!("0/{id}")));
        }

        assert_eq!((kept.number("0/0"), kept.number("0/64")), (None, Some(65)));
    }
}
