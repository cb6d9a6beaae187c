//! The short way of a call to a program on this machine: written by whoever calls, and heard by whoever
//! calls where that is a thread with nothing else to do.
//!
//! The SDK carries every request over two tasks before it is written, and reads every answer against
//! all kinds of answers there are. A call of a tool needs neither, and calls are what there are many
//! of. Everything else (the handshake, lists, what the server asks of us) goes the way of the SDK, over
//! the same pipes.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::host::Host;
use hermes_core::wait::{self, Bed};
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData, NumberOrString, ProgressToken};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio_util::task::TaskTracker;

use super::output::{Output, Piece};
use super::{message, plain};

/// Numbers of calls begin here; the SDK counts from nothing and never gets this far.
const FIRST: i64 = 1 << 30;

/// What is said of an answer that answers nothing.
const NEITHER: &str = "there is neither a result nor an error in it";

/// Room for a call of the usual length.
const LINE: usize = 512;

/// What a program reads, shared by everybody who writes; nothing once it was closed.
pub(super) type Input = Arc<AsyncMutex<Option<pipe::Sender>>>;

/// The short way to one program.
pub(super) struct Lane {
    input: Input,
    output: Output,
    handle: Handle,
    next: AtomicI64,
    waiting: Mutex<HashMap<i64, oneshot::Sender<Came>>>,
    /// A call was answered since that was last asked for.
    answers: AtomicBool,
}

/// What came of a call.
enum Came {
    /// This line answers it.
    Line(Vec<u8>),
    /// Its answer cannot be taken, for this reason.
    Unread(ErrorData),
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
pub(super) struct Sent {
    answer: oneshot::Receiver<Came>,
    lane: Arc<Lane>,
    /// Where a thread that waits for it may sleep.
    bed: Arc<dyn Bed>,
}

/// A call as it is written.
#[derive(Serialize)]
struct Written<'a> {
    jsonrpc: &'static str,
    id: i64,
    method: &'static str,
    params: Params<'a>,
}

#[derive(Serialize)]
struct Params<'a> {
    #[serde(rename = "_meta")]
    meta: Meta,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "progressToken")]
    progress_token: i64,
}

impl Lane {
    /// A way beside that of the SDK, over the same pipes. Must be called inside the runtime.
    pub(super) fn new(
        input: OwnedFd,
        output: OwnedFd,
        handle: Handle,
        host: Arc<dyn Host>,
    ) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            input: Arc::new(AsyncMutex::new(Some(pipe::Sender::from_owned_fd_unchecked(input)?))),
            output: Output::new(output, host)?,
            handle,
            next: AtomicI64::new(FIRST),
            waiting: Mutex::default(),
            answers: AtomicBool::new(false),
        }))
    }

    /// What the program reads.
    pub(super) fn input(&self) -> Input {
        Arc::clone(&self.input)
    }

    /// Nothing more is said: the program reads the end of its input, after all that is being written.
    pub(super) async fn hang_up(&self) {
        drop(self.input.lock().await.take());
    }

    /// The next line that answers no call of ours, or nothing at the end.
    pub(super) async fn heard(&self) -> Option<Piece> {
        self.output.next(|line| self.took(line)).await
    }

    /// Whether a call was answered since this was last asked.
    pub(super) fn has_answered(&self) -> bool {
        self.answers.swap(false, Ordering::Relaxed)
    }

    /// A number for the next call; its progress is told by the same.
    pub(super) fn number(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a call under its number, or says why it cannot be written down.
    pub(super) fn send(self: &Arc<Self>, id: i64, call: &CallToolRequestParams) -> Result<Sent, String> {
        let params = Params {
            meta: Meta { progress_token: id },
            name: &call.name,
            arguments: call.arguments.as_ref(),
        };
        let written = Written { jsonrpc: "2.0", id, method: "tools/call", params };
        let mut line = Vec::with_capacity(LINE);
        serde_json::to_writer(&mut line, &written).map_err(|wrong| wrong.to_string())?;
        line.push(b'\n');
        let (tell, answer) = oneshot::channel();
        self.waiting().insert(id, tell);
        self.write(id, line);
        Ok(Sent { answer, lane: Arc::clone(self), bed: Arc::clone(self) as Arc<dyn Bed> })
    }

    /// Nobody waits for this call any more.
    pub(super) fn forget(&self, id: i64) {
        self.waiting().remove(&id);
    }

    /// Hands a line to the call that it answers; one that answers none is given back.
    fn took(&self, line: Vec<u8>) -> Option<Vec<u8>> {
        if self.waiting().is_empty() {
            return Some(line);
        }
        match line.first() {
            // A mark of the encoding, as some programs write it.
            Some(0xef) => self.took_one(message::bare(&line).to_vec()),
            Some(b'[') => self.took_batch(line),
            _ => self.took_one(line),
        }
    }

    /// The same for several messages at once: what answers no call is given back, as such a line again.
    fn took_batch(&self, line: Vec<u8>) -> Option<Vec<u8>> {
        let Some(parts) = message::batch(&line) else { return Some(line) };
        let parts = parts.into_iter().map(|part| part.get().as_bytes().to_vec());
        let left: Vec<Vec<u8>> = parts.filter_map(|part| self.took_one(part)).collect();
        (!left.is_empty()).then(|| [b"[".as_slice(), &left.join(&b','), b"]"].concat())
    }

    fn took_one(&self, line: Vec<u8>) -> Option<Vec<u8>> {
        let Some(id) = answered(&line) else { return Some(line) };
        let Some(tell) = self.waiting().remove(&id) else { return Some(line) };
        self.answers.store(true, Ordering::Relaxed);
        // Whoever has just stopped waiting needs no answer.
        let _ = tell.send(Came::Line(line));
        None
    }

    /// The answer to this call cannot be taken; `false` when it is not one of ours.
    pub(super) fn unread(&self, id: i64, why: &ErrorData) -> bool {
        self.tell(id, Came::Unread(why.clone()))
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
                match pipe.as_ref().ok_or_else(hung_up).and_then(|pipe| pipe.try_write(&line)) {
                    Ok(count) if count == line.len() => return,
                    Ok(count) => done = count,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
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
            let mut held = match held {
                Some(pipe) => pipe,
                None => Arc::clone(&own.input).lock_owned().await,
            };
            let wrong = loop {
                let Some(left) = line.get(done..).filter(|left| !left.is_empty()) else { return };
                let Some(pipe) = held.as_mut() else { break Came::NotWritten(hung_up().to_string()) };
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

impl Bed for Lane {
    fn sleep(&self, woken: &AtomicBool) -> bool {
        self.output.sleep(woken, |line| self.took(line))
    }

    fn wake(&self) {
        self.output.wake();
    }
}

impl Sent {
    /// Waits for what comes of it; nothing when the other side is gone.
    pub(super) async fn ended(&mut self) -> Option<Ended> {
        let mut glanced = false;
        let came = std::future::poll_fn(|cx| {
            let waits = wait::offer(&self.bed);
            if waits && !std::mem::replace(&mut glanced, true) {
                self.lane.output.glance(|line| self.lane.took(line));
            }
            let answer = Pin::new(&mut self.answer).poll(cx);
            if answer.is_pending() && !waits {
                self.lane.output.attend();
            }
            answer.map(Result::ok)
        });
        Some(match came.await? {
            Came::Line(line) => read(&line),
            Came::Unread(why) => Ended::Refused(why),
            Came::NotWritten(why) => Ended::NotSent(why),
            Came::Cut(why) => Ended::Lost(why),
        })
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if self.lane.waiting().is_empty() {
            wait::withdraw(&self.bed);
        } else {
            // Whoever listened for the others may have been the one who goes.
            self.lane.output.attend();
        }
    }
}

/// Why nothing can be said to a program any more.
pub(super) fn hung_up() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "it is being ended")
}

/// What the progress of a call is told by.
pub(super) fn token(id: i64) -> ProgressToken {
    ProgressToken(NumberOrString::Number(id))
}

/// The number of the call that a line answers, if it is an answer at all.
fn answered(line: &[u8]) -> Option<i64> {
    begins_as_answer(line).or_else(|| read_as_answer(line))
}

/// The same for a line that begins as nearly all answers do, `{"jsonrpc":"2.0","id":7,"result":`, which
/// is enough to know it by however long it is.
fn begins_as_answer(line: &[u8]) -> Option<i64> {
    let rest = member(after(line, b"{")?, b"\"jsonrpc\"")?;
    let rest = member(after(after(rest, b"\"2.0\"")?, b",")?, b"\"id\"")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (id, rest) = rest.split_at_checked(digits)?;
    let rest = after(rest, b",")?;
    member(rest, b"\"result\"").or_else(|| member(rest, b"\"error\""))?;
    std::str::from_utf8(id).ok()?.parse().ok()
}

/// What stands behind a name and its colon.
fn member<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    after(after(text, name)?, b":").map(<[u8]>::trim_ascii_start)
}

/// What stands behind this, space left out.
fn after<'a>(text: &'a [u8], what: &[u8]) -> Option<&'a [u8]> {
    text.trim_ascii_start().strip_prefix(what)
}

fn read_as_answer(line: &[u8]) -> Option<i64> {
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
    plain::read(line).map_or_else(|| read_any(line), Ended::Answered)
}

/// Reads an answer of any kind.
fn read_any(line: &[u8]) -> Ended {
    #[derive(Deserialize)]
    struct Answer {
        result: Option<CallToolResult>,
        error: Option<ErrorData>,
    }
    match serde_json::from_slice(line) {
        Ok(Answer { error: Some(error), .. }) => Ended::Refused(error),
        Ok(Answer { result: Some(result), .. }) => Ended::Answered(result),
        Ok(_) => Ended::Odd(NEITHER.to_owned()),
        Err(_) => read_again(line),
    }
}

/// Reads one that is not as it should be, as far as that goes.
fn read_again(line: &[u8]) -> Ended {
    let Ok(answer) = serde_json::from_slice::<Value>(&message::mended(line)) else {
        return Ended::Refused(message::wrong(line));
    };
    let present = |key: &str| answer.get(key).filter(|value| !value.is_null());
    match (present("error"), present("result")) {
        (Some(error), _) => {
            let read = serde_json::from_value(error.clone());
            Ended::Refused(read.unwrap_or_else(|_| message::refusal(error)))
        }
        (None, Some(result)) => match message::result(result) {
            Some(result) => Ended::Answered(result),
            None => Ended::Odd("it is no result of a tool".to_owned()),
        },
        (None, None) => Ended::Odd(NEITHER.to_owned()),
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
        let half = br#"{"id":1,"result":{"content":[{"type":"text","text":"cut \ud83c"},{"type":"video"}]}}"#;
        assert!(matches!(read(half), Ended::Answered(result) if result.content.len() == 2));
        assert!(matches!(
            read(br#"{"id":1,"error":"out of order"}"#),
            Ended::Refused(error) if error.message == "out of order"
        ));
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
