//! Questions and answers of the `DevTools` protocol, over whatever line there is.
//!
//! Answers find their question by number; everything else that comes changes the state, and whoever
//! waits for a change of it is woken. A dialog that opens ends every wait for an answer of its page,
//! because the page stands still until it is answered; so does a page that closes or crashes, because
//! nobody is left there to answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, select};
use hermes_core::browser::{BrowserLine, Browsers, Hears};
use hermes_core::error::ToolError;
use hermes_core::host::Host;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::browser::state::State;
use crate::browser::told::Command;

/// Why a command has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    /// The browser says why.
    #[error("{0}")]
    Said(String),
    /// A dialog opened, so the page stands still.
    #[error("a dialog of the page is open; answer it first")]
    Dialog,
    /// It took too long.
    #[error("the browser did not answer {method} within {} s", .after.as_secs())]
    TimedOut {
        /// What was asked.
        method: String,
        /// How long was waited.
        after: Duration,
    },
    /// The page or frame went away before it answered.
    #[error("{0} before it answered")]
    Gone(&'static str),
    /// There is no browser any more.
    #[error("the browser is gone: {0}")]
    Ended(String),
    /// Nobody can make sense of the answer.
    #[error("the answer to {0} was not understood")]
    Garbled(String),
}

impl From<WireError> for ToolError {
    fn from(wrong: WireError) -> Self {
        Self::Failed(wrong.to_string())
    }
}

/// Our side of the line: what waits, and what is known.
pub(crate) struct Wire {
    host: Arc<dyn Host>,
    browsers: Arc<dyn Browsers>,
    /// Held by the tools, so that it ends when they let go.
    line: OnceLock<Weak<dyn BrowserLine>>,
    next: AtomicU64,
    inner: Mutex<Inner>,
}

struct Inner {
    waiting: HashMap<u64, Waiting>,
    state: State,
    wakers: Vec<Waker>,
    ended: Option<String>,
}

/// Somebody who waits for an answer.
struct Waiting {
    /// The page or frame that was asked; none for the browser itself.
    session: Option<String>,
    tell: oneshot::Sender<Result<String, WireError>>,
}

impl Inner {
    /// Takes those who wait for an answer of one of these pages or frames from the list.
    fn waiting_for(&mut self, sessions: &[String]) -> Vec<Waiting> {
        let asked = |waits: &Waiting| waits.session.as_ref().is_some_and(|it| sessions.contains(it));
        self.waiting.extract_if(|_, waits| asked(waits)).map(|(_, waits)| waits).collect()
    }
}

/// The parts of a message that tell what it is.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<&'a str>,
}

/// An event.
#[derive(Deserialize)]
struct Event {
    method: String,
    #[serde(default)]
    params: Value,
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

/// An answer.
#[derive(Deserialize)]
struct Answer<T> {
    result: Option<T>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<String>,
}

impl Wire {
    pub(crate) fn new(host: Arc<dyn Host>, browsers: Arc<dyn Browsers>, state: State) -> Arc<Self> {
        let inner = Inner { waiting: HashMap::new(), state, wakers: Vec::new(), ended: None };
        Arc::new(Self {
            host,
            browsers,
            line: OnceLock::new(),
            next: AtomicU64::new(1),
            inner: Mutex::new(inner),
        })
    }

    /// From now on messages go there.
    pub(crate) fn over(&self, line: &Arc<dyn BrowserLine>) {
        let _ = self.line.set(Arc::downgrade(line));
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<String> {
        self.lock().ended.clone()
    }

    /// Looks at, or changes, what is known.
    pub(crate) fn state<R>(&self, look: impl FnOnce(&mut State) -> R) -> R {
        look(&mut self.lock().state)
    }

    /// Time as the host counts it.
    pub(crate) fn now(&self) -> Duration {
        self.host.now()
    }

    /// Asks something of a page; a dialog that is or gets opened ends the wait.
    pub(crate) async fn ask<T: DeserializeOwned + Send>(
        &self,
        session: &str,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<T, WireError> {
        let dialog = Box::pin(self.until(|state| state.dialog().is_some().then_some(())));
        let asked = self.ask_anyway(Some(session), method, params, limit);
        match select(asked, dialog).await {
            Either::Left((answer, _)) => answer,
            Either::Right((Ok(()), _)) => Err(WireError::Dialog),
            Either::Right((Err(ended), _)) => Err(ended),
        }
    }

    /// Asks something that is answered also while a dialog is open. It is sent at once, whether or not
    /// anybody waits.
    pub(crate) fn ask_anyway<'a, T: DeserializeOwned + Send + 'a>(
        &'a self,
        session: Option<&str>,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> BoxFuture<'a, Result<T, WireError>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (tell, answer) = oneshot::channel();
        {
            let mut inner = self.lock();
            if let Some(why) = inner.ended.clone() {
                return Box::pin(std::future::ready(Err(WireError::Ended(why))));
            }
            inner.waiting.insert(id, Waiting { session: session.map(str::to_owned), tell });
        }
        self.send(id, &Command { session: session.map(str::to_owned), method: method.to_owned(), params });
        let asked = Asked { wire: self, id };
        let method = method.to_owned();
        Box::pin(async move {
            // Taken from the list of what waits, however this ends.
            let _asked = asked;
            let timeout = self.host.sleep(limit);
            match select(answer, timeout).await {
                Either::Left((Ok(told), _)) => read(&method, &told?),
                Either::Left((Err(_), _)) => Err(WireError::Ended(self.ended().unwrap_or_default())),
                Either::Right(_) => Err(WireError::TimedOut { method, after: limit }),
            }
        })
    }

    /// Waits until the state says so, or the browser ends.
    pub(crate) async fn until<T>(
        &self,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, WireError> {
        std::future::poll_fn(|cx| {
            let mut inner = self.lock();
            if let Some(found) = look(&mut inner.state) {
                return Poll::Ready(Ok(found));
            }
            if let Some(why) = &inner.ended {
                return Poll::Ready(Err(WireError::Ended(why.clone())));
            }
            if !inner.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                inner.wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// The same for no longer than `limit`; nothing when it did not come about.
    pub(crate) async fn until_within<T>(
        &self,
        limit: Duration,
        look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Option<T>, WireError> {
        let wanted = std::pin::pin!(self.until(look));
        match select(wanted, self.host.sleep(limit)).await {
            Either::Left((found, _)) => found.map(Some),
            Either::Right(_) => Ok(None),
        }
    }

    /// Sends a command whose answer nobody wants.
    pub(crate) fn tell(&self, command: &Command) {
        self.send(self.next.fetch_add(1, Ordering::Relaxed), command);
    }

    fn send(&self, id: u64, command: &Command) {
        let Some(line) = self.line.get().and_then(Weak::upgrade) else { return };
        let mut message = json!({ "id": id, "method": command.method, "params": command.params });
        if let (Some(session), Some(fields)) = (&command.session, message.as_object_mut()) {
            fields.insert("sessionId".to_owned(), Value::from(session.as_str()));
        }
        line.send(message.to_string());
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hears for Wire {
    fn message(&self, text: String) {
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(&text) else { return };
        if let Some(id) = envelope.id {
            let waits = self.lock().waiting.remove(&id);
            if let Some(waits) = waits {
                // Nobody listens when the wait was given up at this moment.
                let _ = waits.tell.send(Ok(text));
            }
            return;
        }
        if envelope.method.is_none() {
            return;
        }
        let Ok(event) = serde_json::from_str::<Event>(&text) else { return };
        let judge = |url: &str| self.browsers.judge(url).map_err(|why| why.to_string());
        let now = self.host.now();
        let mut inner = self.lock();
        let lost = inner.state.lost(event.session.as_deref(), &event.method, &event.params);
        let commands = inner.state.take(event.session.as_deref(), &event.method, &event.params, now, &judge);
        // Before anybody can see the new state: what follows from it is sent ahead of what others send
        // because of it. A page that is opened before it was asked to tell of itself tells nothing.
        for command in &commands {
            self.tell(command);
        }
        let in_vain = lost.as_ref().map(|lost| inner.waiting_for(&lost.sessions)).unwrap_or_default();
        let wakers = std::mem::take(&mut inner.wakers);
        drop(inner);
        for waits in in_vain {
            let why = lost.as_ref().map_or("the page is gone", |lost| lost.why);
            // Nobody listens when the wait was given up at this moment.
            let _ = waits.tell.send(Err(WireError::Gone(why)));
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    fn ended(&self, why: &str) {
        let mut inner = self.lock();
        inner.ended.get_or_insert_with(|| why.to_owned());
        let (waiting, wakers) = (std::mem::take(&mut inner.waiting), std::mem::take(&mut inner.wakers));
        drop(inner);
        drop(waiting);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A question under way.
struct Asked<'a> {
    wire: &'a Wire,
    id: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.wire.lock().waiting.remove(&self.id);
    }
}

fn read<T: DeserializeOwned>(method: &str, text: &str) -> Result<T, WireError> {
    if let Ok(Answer { result: Some(result), error: None }) = serde_json::from_str::<Answer<T>>(text) {
        return Ok(result);
    }
    match serde_json::from_str::<Answer<IgnoredAny>>(text) {
        // It closed before it was asked.
        Ok(Answer { error: Some(refused), .. }) if refused.message.contains("Session with given id") => {
            Err(WireError::Gone("the page was closed"))
        }
        Ok(Answer { error: Some(refused), .. }) => Err(WireError::Said(match refused.data {
            Some(more) => format!("{}: {more}", refused.message),
            None => refused.message,
        })),
        _ => Err(WireError::Garbled(method.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_was_asked_for_or_why_not() {
        assert_eq!(read::<Value>("X.y", r#"{"id":1,"result":{"a":1}}"#), Ok(json!({ "a": 1 })));
        let refused = r#"{"id":1,"error":{"code":-1,"message":"No node","data":"gone"}}"#;
        assert_eq!(read::<Value>("X.y", refused), Err(WireError::Said("No node: gone".to_owned())));
        let closed = r#"{"id":1,"error":{"code":-32001,"message":"Session with given id not found."}}"#;
        assert_eq!(read::<Value>("X.y", closed), Err(WireError::Gone("the page was closed")));
        assert_eq!(read::<bool>("X.y", r#"{"id":1,"result":{}}"#), Err(WireError::Garbled("X.y".to_owned())));
        assert_eq!(read::<Value>("X.y", "nonsense"), Err(WireError::Garbled("X.y".to_owned())));
    }
}
