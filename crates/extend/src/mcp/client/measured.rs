//! A connection whose server asks within measure.
//!
//! Servers may ask things of us (for a sign of life, the folders, the model, the person), and a broken one asks
//! without end. What it may ask at once has a limit, and so has what it was answered and does not read.

use std::collections::HashSet;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio_util::task::TaskTracker;

use crate::mcp::unread::Unread;

/// Questions of a server that may be open at once.
const MOST_ASKED: usize = 256;

/// A connection, and what was asked there and is not answered yet.
pub(super) struct Measured<T> {
    inner: T,
    asked: HashSet<RequestId>,
    unread: Unread,
    /// Whether it was told already that it does not read.
    told: bool,
    /// Takes a line for the log.
    tell: Box<dyn Fn(&str) + Send>,
}

impl<T: Transport<RoleClient>> Measured<T> {
    /// `tell` takes lines for the log.
    pub(super) fn new(inner: T, tell: impl Fn(&str) + Send + 'static) -> Self {
        let (asked, unread) = Default::default();
        Self { inner, asked, unread, told: false, tell: Box::new(tell) }
    }

    /// Whether a message of the server goes on to those whom it concerns.
    fn goes_on(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Request(asked) if self.asked.len() >= MOST_ASKED => {
                self.refuse(asked.id.clone());
                false
            }
            // Two answers with one id could not be told apart.
            JsonRpcMessage::Request(asked) => {
                self.asked.insert(asked.id.clone()) || {
                    (self.tell)("[a question with the id of one that is not answered yet was passed over]");
                    false
                }
            }
            JsonRpcMessage::Notification(said) => {
                // What is taken back is not answered.
                if let ServerNotification::CancelledNotification(cancelled) = &said.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.asked.remove(id);
                }
                true
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
        }
    }

    fn refuse(&mut self, id: RequestId) {
        let why = format!("{MOST_ASKED} questions are open already; this one was not taken");
        let answer = JsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id));
        let (leaves, sent) = (self.unread.leaves(), self.inner.send(answer));
        TaskTracker::new().spawn(async move {
            // A server that is gone needs no answer.
            let _ = sent.await;
            drop(leaves);
        });
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Measured<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let leaves = answered(&item).map(|id| {
            self.asked.remove(id);
            self.unread.leaves()
        });
        let sent = self.inner.send(item);
        async move {
            let done = sent.await;
            drop(leaves);
            done
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if self.unread.is_full() && !std::mem::replace(&mut self.told, true) {
                (self.tell)("[it does not read what it is answered; until it does it is not heard]");
            }
            self.unread.room().await;
            let message = self.inner.receive().await?;
            if self.goes_on(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// The id of the question that a message of ours answers.
fn answered(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(answer) => Some(&answer.id),
        JsonRpcMessage::Error(answer) => answer.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};

    use futures::future::{pending, ready};
    use futures::{FutureExt as _, poll};
    use rmcp::model::{ClientResult, EmptyObject};
    use serde_json::json;

    use super::*;

    /// A server that says these things and then nothing.
    struct Says {
        queue: VecDeque<RxJsonRpcMessage<RoleClient>>,
        reads: bool,
        /// What it was told.
        heard: Arc<Mutex<Vec<Option<RequestId>>>>,
    }

    impl Transport<RoleClient> for Says {
        type Error = std::io::Error;

        fn send(
            &mut self,
            item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            self.heard.lock().unwrap().push(answered(&item).cloned());
            if self.reads { ready(Ok(())).left_future() } else { pending().right_future() }
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            match self.queue.pop_front() {
                Some(said) => Some(said),
                None => pending().await,
            }
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    type Heard = Arc<Mutex<Vec<Option<RequestId>>>>;

    fn server(reads: bool, says: impl IntoIterator<Item = serde_json::Value>) -> (Measured<Says>, Heard) {
        let queue = says.into_iter().map(|said| serde_json::from_value(said).unwrap()).collect();
        let heard = Heard::default();
        (Measured::new(Says { queue, reads, heard: Arc::clone(&heard) }, |_| {}), heard)
    }

    fn ping(id: i64) -> serde_json::Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
    }

    fn answer(id: i64) -> TxJsonRpcMessage<RoleClient> {
        ClientJsonRpcMessage::response(ClientResult::EmptyResult(EmptyObject {}), RequestId::Number(id))
    }

    #[tokio::test]
    async fn of_too_many_questions_the_last_are_refused() {
        let (mut measured, heard) = server(true, (0..258).map(ping));
        for _ in 0..256 {
            measured.receive().await;
        }

        let more = poll!(pin!(measured.receive()));

        assert!(more.is_pending());
        assert_eq!(*heard.lock().unwrap(), [256, 257].map(|id| Some(RequestId::Number(id))));
    }

    #[tokio::test]
    async fn a_server_that_does_not_read_its_answers_is_not_heard_any_more() {
        let (mut measured, _) = server(false, (0..1000).map(ping));
        let mut answers = Vec::new();

        for id in 0.. {
            let mut next = Box::pin(measured.receive());
            // Between many messages others get their turn.
            let heard = poll!(&mut next).is_ready() || poll!(&mut next).is_ready();
            drop(next);
            if !heard {
                break;
            }
            answers.push(measured.send(answer(id)));
        }

        assert_eq!(answers.len(), 256);
        answers.clear();
        assert!(measured.receive().await.is_some());
    }

    #[tokio::test]
    async fn a_question_with_the_id_of_an_open_one_is_passed_over() {
        let taken_back =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        let (mut measured, _) = server(true, [ping(1), ping(1), taken_back, ping(1)]);

        let mut questions = Vec::new();
        for _ in 0..3 {
            questions.push(matches!(measured.receive().await, Some(JsonRpcMessage::Request(_))));
        }

        assert_eq!(questions, [true, false, true]);
    }
}
