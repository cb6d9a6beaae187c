//! What a call says beside its answer, on the very stream that will bring the answer.
//!
//! A client over HTTP need not hold a stream for what the server says by itself. What belongs to a
//! request of its own goes out where that is answered: a line for the log, the word that a form is over.
//! The request carries the way there; whoever serves it puts the way on what it says.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Messages that may wait for a client that does not read; more go the long way.
const WAITING: usize = 64;

/// The way to the stream of one request.
#[derive(Debug, Clone)]
pub(super) struct Aside {
    said: mpsc::Sender<ServerJsonRpcMessage>,
    over: CancellationToken,
}

impl Aside {
    /// Puts a way on the request; what is said there is heard at the other end. Other messages get none.
    /// `over` fires when the session of the request ends.
    pub(super) fn open(message: &mut ClientJsonRpcMessage, over: CancellationToken) -> Option<Heard> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let (said, heard) = mpsc::channel(WAITING);
        request.request.extensions_mut().insert(Self { said, over });
        Some(heard)
    }

    /// Fires when the session of the request ends: nobody waits for an answer then.
    pub(super) fn over(&self) -> &CancellationToken {
        &self.over
    }

    /// Says what this message has to say on the stream it belongs to, if it belongs to one that is still
    /// there. Otherwise it is given back.
    pub(super) fn say(message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        let JsonRpcMessage::Notification(said) = &message else { return Some(message) };
        let Some(aside) = said.notification.extensions().get::<Self>().cloned() else {
            return Some(message);
        };
        aside.said.try_send(message).err().map(mpsc::error::TrySendError::into_inner)
    }

    /// Marks a notification as one that belongs to the request.
    pub(super) fn mark(&self, notification: &mut ServerNotification) {
        notification.extensions_mut().insert(self.clone());
    }
}

/// What was said aside.
pub(super) type Heard = mpsc::Receiver<ServerJsonRpcMessage>;

/// The stream of a request, with what was said aside before its answer.
pub(super) struct Beside<S> {
    stream: Pin<Box<S>>,
    heard: Option<Heard>,
    state: State,
}

/// How far the stream of a request is.
enum State {
    /// It is open.
    Open,
    /// Its answer is there, and goes out after all that was said before.
    Answer(Box<ServerSseMessage>),
    /// Its answer is out.
    Answered,
    /// It ended without an answer: the client took the request back. What the call says while it winds
    /// up still concerns the client.
    TakenBack,
}

impl<S: Stream<Item = ServerSseMessage>> Beside<S> {
    pub(super) fn new(stream: S, heard: Option<Heard>) -> Self {
        Self { stream: Box::pin(stream), heard, state: State::Open }
    }

    /// Looks for the next message of the stream itself, as long as it is open.
    fn look(&mut self, cx: &mut Context<'_>) -> Poll<ServerSseMessage> {
        if matches!(self.state, State::Open) {
            match self.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(message)) if is_answer(&message) => {
                    self.state = State::Answer(Box::new(message));
                }
                Poll::Ready(Some(message)) => return Poll::Ready(message),
                Poll::Ready(None) => self.state = State::TakenBack,
                Poll::Pending => {}
            }
        }
        Poll::Pending
    }

    /// Looks for something that was said aside; nothing more once everybody who could is gone.
    fn listen(&mut self, cx: &mut Context<'_>) -> Poll<ServerSseMessage> {
        match self.heard.as_mut().map(|heard| heard.poll_recv(cx)) {
            Some(Poll::Ready(Some(said))) => return Poll::Ready(ServerSseMessage::from_message(said)),
            Some(Poll::Ready(None)) => self.heard = None,
            Some(Poll::Pending) | None => {}
        }
        Poll::Pending
    }
}

impl<S: Stream<Item = ServerSseMessage>> Stream for Beside<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        // The stream first: a form is shown before it is taken back.
        if let Poll::Ready(message) = self.look(cx) {
            return Poll::Ready(Some(message));
        }
        if let Poll::Ready(message) = self.listen(cx) {
            return Poll::Ready(Some(message));
        }
        match std::mem::replace(&mut self.state, State::Answered) {
            State::Open => self.state = State::Open,
            State::Answer(answer) => return Poll::Ready(Some(*answer)),
            State::Answered => return self.stream.as_mut().poll_next(cx),
            State::TakenBack if self.heard.is_none() => return Poll::Ready(None),
            State::TakenBack => self.state = State::TakenBack,
        }
        Poll::Pending
    }
}

fn is_answer(message: &ServerSseMessage) -> bool {
    matches!(message.message.as_deref(), Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)))
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;
    use futures::stream;
    use rmcp::model::{EmptyResult, NumberOrString, ToolListChangedNotification};

    use super::*;

    fn request() -> ClientJsonRpcMessage {
        serde_json::from_value(serde_json::json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" })).unwrap()
    }

    /// What the one who serves a request has of it: the way to its stream.
    fn way(message: &ClientJsonRpcMessage) -> Aside {
        let JsonRpcMessage::Request(request) = message else { panic!("no request") };
        request.request.extensions().get::<Aside>().cloned().unwrap()
    }

    fn note() -> ServerNotification {
        ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default())
    }

    fn said(aside: &Aside) -> Option<ServerJsonRpcMessage> {
        let mut note = note();
        aside.mark(&mut note);
        Aside::say(ServerJsonRpcMessage::notification(note))
    }

    fn answer() -> ServerSseMessage {
        let result = rmcp::model::ServerResult::EmptyResult(EmptyResult {});
        ServerSseMessage::new("1", ServerJsonRpcMessage::response(result, NumberOrString::Number(7)))
    }

    /// Which of the messages are answers.
    async fn order(stream: impl Stream<Item = ServerSseMessage>) -> Vec<bool> {
        stream.map(|message| is_answer(&message)).collect().await
    }

    #[tokio::test]
    async fn what_is_said_aside_comes_before_the_answer_even_if_nobody_looked_in_between() {
        let mut message = request();
        let heard = Aside::open(&mut message, CancellationToken::new());
        let aside = way(&message);

        assert!(said(&aside).is_none() && said(&aside).is_none());
        let all = order(Beside::new(stream::iter([answer()]), heard)).await;

        assert_eq!(all, [false, false, true]);
    }

    #[tokio::test]
    async fn a_request_that_was_taken_back_is_listened_to_until_its_call_has_wound_up() {
        let mut message = request();
        let heard = Aside::open(&mut message, CancellationToken::new());
        let aside = way(&message);
        drop(message);
        let mut stream = Beside::new(stream::empty(), heard);

        let early = futures::poll!(stream.next());
        assert!(early.is_pending() && said(&aside).is_none());
        drop(aside);

        assert_eq!(order(stream).await, [false]);
    }

    #[tokio::test]
    async fn what_belongs_to_no_stream_or_to_one_that_is_gone_is_given_back() {
        let mut message = request();
        let heard = Aside::open(&mut message, CancellationToken::new());
        let aside = way(&message);
        drop(heard);

        assert!(said(&aside).is_some());
        assert!(Aside::say(ServerJsonRpcMessage::notification(note())).is_some());
    }
}
