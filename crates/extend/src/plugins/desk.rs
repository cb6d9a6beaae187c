//! What foreign programs may ask of us: calls on the road from within a running call, and messages for
//! the conversation. Everything else they say goes to a log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use hermes_core::call::ToolCall;
use hermes_core::cx::ToolCx;
use serde_json::{Value, json};

use crate::rpc::Callee;

/// Most messages that wait to be read.
const MAX_MESSAGES: usize = 100;

/// Takes lines for the log: who said it, and what.
pub type Log = dyn Fn(&str, &str) + Send + Sync;

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
    next: AtomicU64,
    running: Mutex<BTreeMap<u64, ToolCx>>,
    messages: Mutex<VecDeque<Injected>>,
}

impl Desk {
    /// A desk that writes to this log.
    pub fn new(log: Arc<Log>) -> Arc<Self> {
        Arc::new(Self { log, next: AtomicU64::new(1), running: Mutex::default(), messages: Mutex::default() })
    }

    /// The desk as one program sees it.
    pub fn seat(self: &Arc<Self>, name: &str) -> Arc<dyn Callee> {
        Arc::new(Seat { desk: Arc::clone(self), name: name.to_owned() })
    }

    /// Lets a program make calls from within this one until the token is dropped.
    pub fn admit(self: &Arc<Self>, cx: &ToolCx) -> Admitted {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.running).insert(number, cx.clone());
        Admitted { desk: Arc::clone(self), number }
    }

    /// Messages that plugins want to be said, oldest first; each is given out once.
    pub fn messages(&self) -> Vec<Injected> {
        lock(&self.messages).drain(..).collect()
    }
}

/// A running call that may make calls of its own.
pub struct Admitted {
    desk: Arc<Desk>,
    number: u64,
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
        let cx = within.and_then(|number| lock(&self.desk.running).get(&number).cloned());
        Box::pin(async move {
            let caller =
                cx.and_then(|cx| cx.caller()).ok_or("no call is running that could make this one")?;
            let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
            let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
            let outcome =
                caller.call(ToolCall::new(name, arguments.to_string()), &caller.child_token()).await;
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
            "log" => self.logged(&text("message")),
            other => self.logged(&format!("(said {other}, which means nothing here)")),
        }
    }

    fn logged(&self, line: &str) {
        (self.desk.log)(&self.name, line);
    }
}
