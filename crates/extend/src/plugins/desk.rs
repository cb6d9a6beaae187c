//! What foreign programs may ask of us: calls on the road from within what they are asked, and messages
//! for the conversation. Everything else they say goes to a log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::future::BoxFuture;
use hermes_core::call::ToolCall;
use hermes_core::cx::ToolCx;
use hermes_core::outcome::Outcome;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::rpc::Callee;

/// Most messages that wait to be read.
const MAX_MESSAGES: usize = 100;

/// Takes lines for the log: who said it, and what; the line as it stands there comes back, without secrets.
pub type Log = dyn Fn(&str, &str) -> String + Send + Sync;

/// Takes secrets out of a text that is kept or shown.
pub type Clear = dyn Fn(&str) -> String + Send + Sync;

/// Makes calls for a program that was asked something beside calls.
pub trait Calls: Send + Sync {
    /// Takes one call all the way, unless `stop` fires first.
    fn call(&self, call: ToolCall, stop: CancellationToken) -> BoxFuture<'static, Outcome>;
}

/// Opens the way for a hook to make calls.
pub trait Reception: Send + Sync {
    /// The way for a hook that was told of something in this session; nothing for what happens because of
    /// a hook itself, which would have no end.
    fn calls(&self, session: &str) -> Option<Arc<dyn Calls>>;
}

/// On whose behalf a program makes calls.
#[derive(Clone)]
enum Behalf {
    /// A running call.
    Call(ToolCx),
    /// A person who typed a command.
    Person(Arc<dyn Calls>),
    /// A hook that was told of something in this session.
    Hook(Arc<str>),
}

/// A message that a plugin wants to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// Which plugin.
    pub plugin: String,
    /// In whose name; a person's, mostly.
    pub role: String,
    /// What.
    pub content: String,
}

/// Answers foreign programs, each under its own name.
pub struct Desk {
    log: Arc<Log>,
    clear: Arc<Clear>,
    next: AtomicU64,
    running: Mutex<BTreeMap<u64, (Behalf, CancellationToken)>>,
    messages: Mutex<VecDeque<Injected>>,
    reception: OnceLock<Arc<dyn Reception>>,
    trace: Mutex<Option<String>>,
}

impl Desk {
    /// A desk that writes to this log, and clears what is told elsewhere.
    pub fn new(log: Arc<Log>, clear: Arc<Clear>) -> Arc<Self> {
        Arc::new(Self {
            log,
            clear,
            next: AtomicU64::new(1),
            running: Mutex::default(),
            messages: Mutex::default(),
            reception: OnceLock::new(),
            trace: Mutex::default(),
        })
    }

    /// Lets hooks make calls. Said once.
    pub fn open(&self, reception: Arc<dyn Reception>) {
        // Whoever came first stays.
        let _ = self.reception.set(reception);
    }

    /// The desk as one program sees it.
    pub fn seat(self: &Arc<Self>, name: &str) -> Arc<dyn Callee> {
        Arc::new(Seat { desk: Arc::clone(self), name: name.to_owned() })
    }

    /// Lets a program make calls from within this one until the token is dropped.
    pub fn admit(self: &Arc<Self>, cx: &ToolCx) -> Admitted {
        self.enter(Behalf::Call(cx.clone()))
    }

    /// The same for a command that a person typed.
    pub fn admit_person(self: &Arc<Self>, calls: Arc<dyn Calls>) -> Admitted {
        self.enter(Behalf::Person(calls))
    }

    /// The same for a hook that is told of something in this session.
    pub fn admit_hook(self: &Arc<Self>, session: &str) -> Admitted {
        self.enter(Behalf::Hook(session.into()))
    }

    fn enter(self: &Arc<Self>, behalf: Behalf) -> Admitted {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let over = CancellationToken::new();
        lock(&self.running).insert(number, (behalf, over.clone()));
        Admitted { desk: Arc::clone(self), number, _over: over.drop_guard() }
    }

    /// Takes note of where a handler raised.
    pub(crate) fn raised(&self, trace: String) {
        *lock(&self.trace) = Some(trace);
    }

    /// Where the last handler that raised did so, line by line; given out once.
    pub fn trace(&self) -> Option<String> {
        lock(&self.trace).take()
    }

    /// Takes a call on somebody's behalf.
    async fn call(
        &self,
        behalf: Option<(Behalf, CancellationToken)>,
        call: ToolCall,
    ) -> Result<Outcome, &'static str> {
        let (behalf, over) = behalf.ok_or("nothing is being answered that could make this call")?;
        let calls = match behalf {
            Behalf::Call(cx) => {
                let caller = cx.caller().ok_or("a call that was made so itself cannot make any")?;
                return Ok(caller.call(call, &caller.child_token()).await);
            }
            Behalf::Person(calls) => calls,
            Behalf::Hook(session) => {
                let reception = self.reception.get().ok_or("hooks cannot make calls here")?;
                reception.calls(&session).ok_or("a hook cannot make calls because of its own")?
            }
        };
        Ok(calls.call(call, over).await)
    }

    /// Messages that plugins want to be said, oldest first; each is given out once.
    pub fn messages(&self) -> Vec<Injected> {
        lock(&self.messages).drain(..).collect()
    }
}

/// Something that is being answered and may make calls of its own, which end with it: nobody is asked
/// about a call whose maker was given up.
pub struct Admitted {
    desk: Arc<Desk>,
    number: u64,
    _over: DropGuard,
}

impl Admitted {
    /// What the program says to refer to it.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        lock(&self.desk.running).remove(&self.number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Seat {
    desk: Arc<Desk>,
    name: String,
}

impl Callee for Seat {
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, String>> {
        if method != "tool.dispatch" {
            let why = format!("no method {method}");
            return Box::pin(std::future::ready(Err(why)));
        }
        let within = params.get("within").and_then(Value::as_u64);
        let behalf = within.and_then(|number| lock(&self.desk.running).get(&number).cloned());
        let desk = Arc::clone(&self.desk);
        Box::pin(async move {
            let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
            let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
            let outcome = desk.call(behalf, ToolCall::new(name, arguments.to_string())).await?;
            Ok(Value::String(outcome.body))
        })
    }

    fn notified(&self, method: &str, params: Value) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match method {
            "message.inject" => {
                let role = Some(text("role")).filter(|role| !role.is_empty());
                let mut messages = lock(&self.desk.messages);
                if messages.len() < MAX_MESSAGES {
                    messages.push_back(Injected {
                        plugin: self.name.clone(),
                        role: role.unwrap_or_else(|| "user".to_owned()),
                        content: text("content"),
                    });
                }
            }
            "log" => drop(self.logged(&text("message"))),
            other => drop(self.logged(&format!("(said {other}, which means nothing here)"))),
        }
    }

    fn logged(&self, line: &str) -> String {
        (self.desk.log)(&self.name, line)
    }

    fn cleared(&self, text: &str) -> String {
        (self.desk.clear)(text)
    }
}
