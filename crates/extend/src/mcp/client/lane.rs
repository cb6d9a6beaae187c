//! The short way of a call to a program on this machine: written by whoever calls, handed back by
//! whoever reads.
//!
//! The SDK carries every request over two tasks before it is written, and reads every answer against
//! all kinds of answers there are. A call of a tool needs neither, and calls are what there are many
//! of. Everything else (the handshake, lists, what the server asks of us) goes the way of the SDK, over
//! the same pipes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolRequest, CallToolResult, ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta as _,
    NumberOrString, ProgressToken, RequestId,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio_util::task::TaskTracker;

/// Numbers of calls begin here; the SDK counts from nothing and never gets this far.
const FIRST: i64 = 1 << 30;

/// What a program reads, shared by everybody who writes.
pub(super) type Input = Arc<AsyncMutex<pipe::Sender>>;

/// The short way to one program.
pub(super) struct Lane {
    input: Input,
    handle: Handle,
    next: AtomicI64,
    waiting: Mutex<HashMap<i64, oneshot::Sender<Came>>>,
}

/// What came of a call.
enum Came {
    /// This line answers it.
    Line(Vec<u8>),
    /// The answer is longer than any may be: so many bytes.
    TooLong(usize),
    /// Nothing of it was written.
    NotWritten(String),
    /// Not all of it was written.
    Cut(String),
}

/// How a call on this way ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// With an answer.
    Answered(CallToolResult),
    /// The server said no.
    Refused(ErrorData),
    /// It answered something else, in words.
    Odd(String),
    /// It never left.
    NotSent(String),
    /// Nobody knows.
    Lost(String),
}

/// A call on its way.
pub(super) struct Sent(oneshot::Receiver<Came>);

impl Lane {
    /// A way beside that of the SDK, over the same pipe.
    pub(super) fn new(input: Input, handle: Handle) -> Arc<Self> {
        Arc::new(Self { input, handle, next: AtomicI64::new(FIRST), waiting: Mutex::default() })
    }

    /// A number for the next call; its progress is told by the same.
    pub(super) fn number(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a call under its number, or says why it cannot be written down.
    pub(super) fn send(self: &Arc<Self>, id: i64, call: CallToolRequest) -> Result<Sent, String> {
        let mut request = ClientRequest::CallToolRequest(call);
        request.get_meta_mut().set_progress_token(token(id));
        let message = ClientJsonRpcMessage::request(request, RequestId::Number(id));
        let mut line = serde_json::to_vec(&message).map_err(|wrong| wrong.to_string())?;
        line.push(b'\n');
        let (tell, answer) = oneshot::channel();
        self.waiting().insert(id, tell);
        self.write(id, line);
        Ok(Sent(answer))
    }

    /// Nobody waits for this call any more.
    pub(super) fn forget(&self, id: i64) {
        self.waiting().remove(&id);
    }

    /// Hands a line to the call that it answers; one that answers none is given back.
    pub(super) fn took(&self, line: Vec<u8>) -> Option<Vec<u8>> {
        if self.waiting().is_empty() {
            return Some(line);
        }
        let Some(id) = answered(&line) else { return Some(line) };
        let Some(tell) = self.waiting().remove(&id) else { return Some(line) };
        // Whoever has just stopped waiting needs no answer.
        let _ = tell.send(Came::Line(line));
        None
    }

    /// The answer to this call is too long; `false` when it is not one of ours.
    pub(super) fn too_long(&self, id: i64, bytes: usize) -> bool {
        self.tell(id, Came::TooLong(bytes))
    }

    fn tell(&self, id: i64, came: Came) -> bool {
        let Some(tell) = self.waiting().remove(&id) else { return false };
        let _ = tell.send(came);
        true
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Came>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line: at once when the pipe has room, else on a task of its own, so that no line is
    /// left half written when its caller goes.
    fn write(self: &Arc<Self>, id: i64, line: Vec<u8>) {
        let mut done = 0;
        let held = match Arc::clone(&self.input).try_lock_owned() {
            Err(_) => None,
            Ok(pipe) => {
                match pipe.try_write(&line) {
                    Ok(count) if count == line.len() => return,
                    Ok(count) => done = count,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(error) => {
                        self.tell(id, Came::NotWritten(error.to_string()));
                        return;
                    }
                }
                Some(pipe)
            }
        };
        let own = Arc::clone(self);
        let rest = async move {
            let mut pipe = match held {
                Some(pipe) => pipe,
                None => Arc::clone(&own.input).lock_owned().await,
            };
            let wrong = loop {
                let Some(left) = line.get(done..).filter(|left| !left.is_empty()) else { return };
                match pipe.write(left).await {
                    Ok(0) => break Came::Cut("the pipe takes no more".to_owned()),
                    Ok(count) => done += count,
                    Err(error) if done == 0 => break Came::NotWritten(error.to_string()),
                    Err(error) => break Came::Cut(error.to_string()),
                }
            };
            own.tell(id, wrong);
        };
        TaskTracker::new().spawn_on(rest, &self.handle);
    }
}

impl Sent {
    /// Waits for what comes of it; nothing when the other side is gone.
    pub(super) async fn ended(&mut self) -> Option<Ended> {
        let came = (&mut self.0).await.ok()?;
        Some(match came {
            Came::Line(line) => read(&line),
            Came::TooLong(bytes) => Ended::Refused(super::stdio::too_long(bytes)),
            Came::NotWritten(why) => Ended::NotSent(why),
            Came::Cut(why) => Ended::Lost(why),
        })
    }
}

/// What the progress of a call is told by.
pub(super) fn token(id: i64) -> ProgressToken {
    ProgressToken(NumberOrString::Number(id))
}

/// The number of the call that a line answers, if it is an answer at all.
fn answered(line: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Head {
        id: Option<Id>,
        method: Option<IgnoredAny>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Number(i64),
        // Some servers give numbers back as text.
        Text(String),
        Other(IgnoredAny),
    }
    let head: Head = serde_json::from_slice(line).ok()?;
    match head.id.filter(|_| head.method.is_none())? {
        Id::Number(id) => Some(id),
        Id::Text(text) => text.parse().ok(),
        Id::Other(_) => None,
    }
}

fn read(line: &[u8]) -> Ended {
    #[derive(Deserialize)]
    struct Answer {
        result: Option<CallToolResult>,
        error: Option<ErrorData>,
    }
    match serde_json::from_slice(line) {
        Ok(Answer { error: Some(error), .. }) => Ended::Refused(error),
        Ok(Answer { result: Some(result), .. }) => Ended::Answered(result),
        Ok(_) => Ended::Odd("there is neither a result nor an error in it".to_owned()),
        Err(wrong) => Ended::Odd(wrong.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer_is_told_from_a_question_of_the_server() {
        assert_eq!(answered(br#"{"jsonrpc":"2.0","id":7,"result":{"id":9}}"#), Some(7));
        assert_eq!(answered(br#"{"error":{"code":1,"message":"no"},"id":"1073741825"}"#), Some(FIRST + 1));
        assert_eq!(answered(br#"{"id":7,"method":"sampling/createMessage"}"#), None);
        assert_eq!(answered(br#"{"id":null,"error":{}}"#), None);
        assert_eq!(answered(br#"{"id":{},"result":{}}"#), None);
        assert_eq!(answered(b"starting up"), None);
    }

    #[test]
    fn answers_refusals_and_nonsense_are_told_apart() {
        let said = br#"{"id":1,"result":{"content":[{"type":"text","text":"hi"}]}}"#;

        assert!(matches!(read(said), Ended::Answered(result) if result.content.len() == 1));
        assert!(matches!(
            read(br#"{"id":1,"error":{"code":-32602,"message":"no such tool"}}"#),
            Ended::Refused(error) if error.message == "no such tool"
        ));
        assert!(matches!(read(br#"{"id":1,"result":{"content":"hi"}}"#), Ended::Odd(_)));
        assert!(matches!(read(br#"{"id":1,"result":{}}"#), Ended::Odd(_)));
        assert!(matches!(read(br#"{"id":1}"#), Ended::Odd(_)));
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_reader(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (answered(&line), read(&line));
        }

        #[test]
        fn the_number_is_found_wherever_it_stands(id in FIRST..i64::MAX, text in "\\PC{0,40}") {
            let result = serde_json::json!({ "content": [{ "type": "text", "text": text, "id": 3 }] });
            let first = serde_json::json!({ "id": id, "result": result });
            let last = serde_json::json!({ "result": result, "id": id });

            prop_assert_eq!(answered(first.to_string().as_bytes()), Some(id));
            prop_assert_eq!(answered(last.to_string().as_bytes()), Some(id));
        }
    }
}
