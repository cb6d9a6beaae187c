//! Newline-delimited JSON-RPC with a program that was launched: one message per line, requests both
//! ways, any number of them at once.
//!
//! A request that is dropped before its answer is taken back with a `cancel` notification. When the
//! program ends, every request that was sent is failed as one that may have run; nothing is sent twice.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use hermes_core::host::Host;
use hermes_core::json::exact;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use crate::last_words::LastWords;
use crate::launch::{Keeper, Launched};
use crate::letters::mended;

/// The longest message.
pub(crate) const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// The longest line of a log.
const MAX_LOG_LINE: usize = 16 * 1024;

/// Most requests that wait for an answer at once.
const MAX_WAITING: usize = 1024;

/// Most requests of the program that are answered at once; what comes on top is refused.
const MAX_ASKED: usize = 1024;

/// So many answers that it does not read end it: they would pile up without an end.
const MAX_UNREAD: usize = 16 * MAX_ASKED;

/// How long a program that closed its output may take to end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs tasks for as long as the program runs.
pub trait Tasks: Send + Sync {
    /// Starts one, inside of the async runtime that pipes belong to; `false` when there is none.
    fn start(&self, task: BoxFuture<'static, ()>) -> bool;
}

/// What the program may ask of us, and tell us.
pub trait Callee: Send + Sync {
    /// Answers a request, or says why not.
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, String>>;

    /// Takes note of something.
    fn notified(&self, method: &str, params: Value);

    /// A line it wrote where logs go; what may be told of it comes back, which is what the log has.
    fn logged(&self, line: &str) -> String;

    /// A text of it that is kept or shown, as it may be told: without secrets.
    fn cleared(&self, text: &str) -> String;
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The program says why.
    #[error("{message}")]
    Answered {
        /// A number as in JSON-RPC.
        code: i64,
        /// In words.
        message: String,
    },
    /// It ended before it answered: the request may have been carried out.
    #[error("{0}")]
    Ended(String),
    /// The request never left.
    #[error("{0}")]
    NotSent(String),
}

/// A program we talk with; it ends when this and all clones are gone.
#[derive(Clone)]
pub struct Peer {
    wire: Arc<Wire>,
    words: Arc<LastWords>,
    _life: Arc<dyn Keeper>,
}

struct Wire {
    outgoing: mpsc::UnboundedSender<Line>,
    next: AtomicU64,
    waiting: Mutex<Waiting>,
    /// How many requests of the program it has no answer to yet, also where that waits to be read.
    asked: Arc<AtomicUsize>,
}

/// A line on its way to the program, and the request that it answers.
type Line = (Vec<u8>, Option<Open>);

/// A request of the program, until its answer is written.
struct Open(Arc<AtomicUsize>);

impl Open {
    /// One more, and how many there are now.
    fn add(asked: &Arc<AtomicUsize>) -> (Self, usize) {
        let before = asked.fetch_add(1, Ordering::Relaxed);
        (Self(Arc::clone(asked)), before + 1)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, Waiter>,
    /// Requests that were taken back and are not answered yet.
    taken_back: HashSet<u64>,
    /// How the program ended.
    ended: Option<String>,
}

/// Whoever waits for an answer.
struct Waiter {
    tell: oneshot::Sender<Result<Value, RpcError>>,
    /// What the program may ask for more on behalf of, until it has answered.
    within: Option<u64>,
}

impl Peer {
    /// Talks with a program. Nothing is said yet.
    pub fn new(
        launched: Launched,
        tasks: &Arc<dyn Tasks>,
        host: &Arc<dyn Host>,
        callee: Arc<dyn Callee>,
    ) -> Result<Self, RpcError> {
        let Launched { input, output, errors, keeper } = launched;
        let (outgoing, lines) = mpsc::unbounded_channel();
        let (next, waiting, asked) = (AtomicU64::new(1), Mutex::default(), Arc::default());
        let wire = Arc::new(Wire { outgoing, next, waiting, asked });
        let (ended, words) = (keeper.ended(), LastWords::before(callee));
        let callee: Arc<dyn Callee> = words.clone();
        let reading = read(Arc::clone(&wire), output, (Arc::clone(tasks), callee), {
            let pause = Arc::clone(host);
            Box::pin(async move {
                match select(ended, pause.sleep(LAST_WORDS)).await {
                    Either::Left((how, _)) => how,
                    Either::Right(_) => "it closed its output".to_owned(),
                }
            })
        });
        let started = tasks.start(Box::pin(write(input, lines)))
            && tasks.start(Box::pin(log(errors, Arc::clone(&words))))
            && tasks.start(Box::pin(reading));
        if !started {
            return Err(RpcError::NotSent("this program has no threads to talk with it".to_owned()));
        }
        Ok(Self { wire, words, _life: Arc::from(keeper) })
    }

    /// Asks something and waits for the answer. Dropping the future takes the request back.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        let id = self.wire.next.fetch_add(1, Ordering::Relaxed);
        let (tell, answer) = oneshot::channel();
        {
            let mut waiting = self.wire.lock();
            if let Some(how) = &waiting.ended {
                return Err(RpcError::NotSent(how.clone()));
            }
            if waiting.answers.len() >= MAX_WAITING {
                return Err(RpcError::NotSent(format!("{MAX_WAITING} requests are waiting already")));
            }
            waiting.answers.insert(id, Waiter { tell, within: within(&params) });
        }
        let mut asked = Asked { wire: &self.wire, id, open: true };
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if !self.wire.say(&line) {
            asked.open = false;
            self.wire.lock().answers.remove(&id);
            return Err(RpcError::NotSent("it no longer reads".to_owned()));
        }
        let answered = answer.await;
        asked.open = false;
        answered.unwrap_or_else(|_| Err(RpcError::Ended("it ended".to_owned())))
    }

    /// Tells something; nobody waits for an answer.
    pub fn notify(&self, method: &str, params: &Value) {
        self.wire.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<String> {
        self.wire.lock().ended.clone()
    }

    /// What it printed last, once it has ended.
    pub(crate) async fn last_words(&self, host: &Arc<dyn Host>) -> Option<String> {
        self.words.heard(host).await
    }

    /// Whether somebody waits for an answer.
    pub(crate) fn is_asked(&self) -> bool {
        !self.wire.lock().answers.is_empty()
    }

    /// How many requests were taken back that it has still not let go of.
    pub fn stuck(&self) -> usize {
        self.wire.lock().taken_back.len()
    }

    /// Fails whatever waits, and lets nothing more through.
    pub fn give_up(&self, why: &str) {
        self.wire.end(why);
    }
}

/// A request under way.
struct Asked<'a> {
    wire: &'a Wire,
    id: u64,
    open: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let mut waiting = self.wire.lock();
        if waiting.answers.remove(&self.id).is_some() && waiting.ended.is_none() {
            waiting.taken_back.insert(self.id);
            drop(waiting);
            self.wire.say(&json!({ "jsonrpc": "2.0", "method": "cancel", "params": { "id": self.id } }));
        }
    }
}

impl Wire {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message; `false` when nobody carries it any more.
    fn say(&self, message: &Value) -> bool {
        self.send(message, None)
    }

    fn send(&self, message: &Value, open: Option<Open>) -> bool {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        self.outgoing.send((line, open)).is_ok()
    }

    /// Answers a request of the program.
    fn reply(&self, id: &Value, answer: Result<Value, String>, open: Open) {
        let reply = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(message) => {
                let error = json!({ "code": -32000, "message": message });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        self.send(&reply, Some(open));
    }

    /// Nothing more will be answered.
    fn end(&self, how: &str) {
        let mut waiting = self.lock();
        waiting.ended.get_or_insert_with(|| how.to_owned());
        waiting.taken_back.clear();
        // Told outside of the lock: whoever waits may ask again at once.
        let answers: Vec<_> = waiting.answers.drain().map(|(_, waiter)| waiter).collect();
        drop(waiting);
        for waiter in answers {
            let _ = waiter.tell.send(Err(RpcError::Ended(how.to_owned())));
        }
    }

    fn answered(&self, id: u64, answer: Result<Value, RpcError>) {
        let mut waiting = self.lock();
        waiting.taken_back.remove(&id);
        if let Some(waiter) = waiting.answers.remove(&id) {
            drop(waiting);
            // Nobody waits any more when it was taken back at this moment.
            let _ = waiter.tell.send(answer);
        }
    }

    /// Takes one line in; wrong is what is no message. `false` when it is the last one that is read.
    fn take(self: &Arc<Self>, line: &[u8], tasks: &Arc<dyn Tasks>, callee: &Arc<dyn Callee>) -> bool {
        let message: Value = match message(line) {
            Some(message) => message,
            None if line.iter().all(u8::is_ascii_whitespace) => return true,
            // Somebody prints where messages go: kept for the log, and otherwise harmless.
            None => return logged(line, callee),
        };
        let params = || message.get("params").cloned().unwrap_or_default();
        let id = message.get("id").filter(|id| !id.is_null());
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => return self.asked(id, (method, params()), tasks, callee),
            (Some(method), None) => callee.notified(method, params()),
            (None, Some(id)) => {
                // Every request of ours has a number.
                let Some(id) = id.as_u64() else { return logged(line, callee) };
                self.answered(id, answer_of(message));
            }
            (None, None) => _ = logged(line, callee),
        }
        true
    }

    /// The program asks something; `false` when it has asked too much.
    fn asked(
        self: &Arc<Self>,
        id: &Value,
        (method, params): (&str, Value),
        tasks: &Arc<dyn Tasks>,
        callee: &Arc<dyn Callee>,
    ) -> bool {
        let (open, count) = Open::add(&self.asked);
        if count > MAX_UNREAD {
            self.end(&format!("it asked {MAX_UNREAD} things and did not read the answers"));
            return false;
        }
        if count > MAX_ASKED {
            self.reply(id, Err(format!("{MAX_ASKED} requests are waiting already")), open);
            return true;
        }
        let is_own = |number| self.lock().answers.values().any(|waiter| waiter.within == Some(number));
        if within(&params).is_some_and(|number| !is_own(number)) {
            self.reply(id, Err("it is not answering what this is to be within".to_owned()), open);
            return true;
        }
        let (id, wire, answer) = (id.clone(), Arc::clone(self), callee.request(method, params));
        tasks.start(Box::pin(async move { wire.reply(&id, answer.await, open) }));
        true
    }
}

/// A message, with every digit of its numbers; also one with bytes that are no letters, or with halves of letters:
/// whoever waits for it would wait until the time is over.
fn message(line: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(line);
    exact(&text).or_else(|| exact(std::str::from_utf8(&mended(text.as_bytes())).ok()?))
}

/// On behalf of what something is asked.
fn within(params: &Value) -> Option<u64> {
    params.get("within").and_then(Value::as_u64)
}

fn answer_of(mut message: Value) -> Result<Value, RpcError> {
    match message.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
        Some(error) => Err(RpcError::Answered {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(-32603),
            message: error
                .get("message")
                .unwrap_or(&error)
                .as_str()
                .unwrap_or("it gave no reason")
                .to_owned(),
        }),
        None => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
    }
}

async fn write(input: OwnedFd, mut lines: mpsc::UnboundedReceiver<Line>) {
    let Ok(mut pipe) = pipe::Sender::from_owned_fd(input) else { return };
    while let Some((line, _open)) = lines.recv().await {
        if pipe.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// What becomes of a line that is too long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TooLong {
    /// It is the last one.
    End,
    /// It becomes several.
    Cut,
}

/// Hands on every line of a pipe, the last one also without its end, until `each` wants no more; `false` when it did
/// not come to the end, as one was too long.
async fn lines(
    output: OwnedFd,
    longest: usize,
    too_long: TooLong,
    mut each: impl FnMut(&[u8]) -> bool,
) -> bool {
    let Ok(mut pipe) = pipe::Receiver::from_owned_fd(output) else { return true };
    let (mut kept, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let read = match pipe.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => chunk.get(..read).unwrap_or_default(),
        };
        let mut parts = read.split(|byte| *byte == b'\n');
        let Some(last) = parts.next_back() else { continue };
        for part in parts {
            kept.extend_from_slice(part);
            if !each(&kept) {
                return false;
            }
            kept.clear();
        }
        kept.extend_from_slice(last);
        if kept.len() > longest {
            if too_long == TooLong::End {
                return false;
            }
            each(&kept);
            kept.clear();
        }
    }
    if !kept.is_empty() {
        each(&kept);
    }
    true
}

async fn read(
    wire: Arc<Wire>,
    output: OwnedFd,
    (tasks, callee): (Arc<dyn Tasks>, Arc<dyn Callee>),
    ended: BoxFuture<'static, String>,
) {
    let whole = lines(output, MAX_MESSAGE, TooLong::End, |line| wire.take(line, &tasks, &callee)).await;
    if !whole {
        // Where it ended for something else, that is what counts.
        return wire.end(&format!("it said more than {MAX_MESSAGE} bytes in one message"));
    }
    wire.end(&ended.await);
}

async fn log(errors: OwnedFd, words: Arc<LastWords>) {
    let told = |line: &[u8]| {
        words.logged(&String::from_utf8_lossy(line));
        true
    };
    lines(errors, MAX_LOG_LINE, TooLong::Cut, told).await;
    words.are_said();
}

/// A line that is no message goes where logs go, and others are read after it.
fn logged(line: &[u8], callee: &Arc<dyn Callee>) -> bool {
    callee.logged(&String::from_utf8_lossy(line));
    true
}
