//! One file or plugin inside of a worker: loaded when it is first needed, called, asked, described.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt as _, Shared, select};
use serde_json::{Value, json};

use super::offer::Offer;
use crate::rpc::RpcError;
use crate::worker::{Live, MAX_STARTS, SPELL, Worker};

/// How long loading may take.
const LOAD: Duration = Duration::from_secs(20);

/// How long a question beside the calls may take.
const ANSWER: Duration = Duration::from_mins(1);

/// How long a check may take, once its process is there and has loaded it.
pub(crate) const CHECK: Duration = Duration::from_secs(2);

/// Where it took long to get ready the machine is busy, and a check may take so many times as long as that.
const TIMES: u32 = 2;

/// How long a check may take with all that it needs: less than whoever asks for it waits.
const IN_ALL: Duration = Duration::from_millis(4_500);

/// What is loaded and called.
pub struct Subject {
    name: String,
    /// Where it lives. Put together when it is first needed: of most things a program only has to know
    /// what they offer.
    living: LazyLock<Living, Box<dyn FnOnce() -> Living + Send>>,
    loaded: Mutex<Option<(Arc<Value>, Shared<Loading>)>>,
    /// Tools whose checks end the process they run in.
    deadly: Mutex<BTreeSet<String>>,
    /// Tools whose checks have answered.
    answering: Mutex<BTreeSet<String>>,
    /// Processes that ended while it was asked something, and when.
    ends: Mutex<Vec<(Arc<Value>, Duration)>>,
}

/// Where something lives.
pub(crate) struct Living {
    pub(crate) worker: Arc<Worker>,
    /// What it is called there.
    pub(crate) key: String,
    /// What `load` says; a program that is one plugin needs none.
    pub(crate) load: Option<Value>,
    /// Whether others may live there, too.
    pub(crate) is_shared: bool,
}

type Loading = BoxFuture<'static, Result<Arc<Value>, RpcError>>;

/// Why it is not known what something offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaid {
    /// In words.
    pub why: String,
    /// What that is the fault of.
    pub fault: Fault,
}

/// What a silence is the fault of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It said itself that it cannot.
    Own,
    /// The process ended, which somebody else in it may have caused.
    Ended,
    /// The process that was to load it never came up: nothing of it ran.
    Machine,
}

impl Subject {
    /// A file that its worker loads when asked to, beside others.
    pub fn loaded_by(worker: Arc<Worker>, key: &str, name: &str, load: Value) -> Arc<Self> {
        let living = Living { worker, key: key.to_owned(), load: Some(load), is_shared: true };
        Self::late(name, move || living)
    }

    /// The same for something that is put together when it is first needed.
    pub(crate) fn late(name: &str, living: impl FnOnce() -> Living + Send + 'static) -> Arc<Self> {
        let living: Box<dyn FnOnce() -> Living + Send> = Box::new(living);
        let (name, living) = (name.to_owned(), LazyLock::new(living));
        let (deadly, answering) = (Mutex::default(), Mutex::default());
        let (loaded, ends) = (Mutex::default(), Mutex::default());
        Arc::new(Self { name, living, loaded, deadly, answering, ends })
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it offers, by loading it.
    pub async fn describe(&self) -> Result<Offer, Unsaid> {
        let live = self.process().await.map_err(|wrong| {
            let fault = if self.living.load.is_some() { Fault::Machine } else { Fault::Own };
            Unsaid { why: wrong.to_string(), fault }
        })?;
        let said = self.loaded_in(&live).await.map_err(|why| {
            let fault = if live.peer.ended().is_some() { Fault::Ended } else { Fault::Own };
            Unsaid { why: why.to_string(), fault }
        })?;
        let said = if self.living.load.is_some() { said } else { Arc::clone(&live.hello) };
        serde_json::from_value(Value::clone(&said))
            .map(Offer::settled)
            .map_err(|wrong| Unsaid { why: format!("what it offers is unclear: {wrong}"), fault: Fault::Own })
    }

    /// Whether this is what loads it.
    pub(crate) fn is_loaded_by(&self, load: &Value) -> bool {
        self.living.load.as_ref() == Some(load)
    }

    /// Whether it is loaded into a process of ours, rather than being a program itself.
    pub fn has_host(&self) -> bool {
        self.living.load.is_some()
    }

    /// Whether its process is there.
    pub fn is_up(&self) -> bool {
        self.living.worker.is_up()
    }

    /// Asks it something and waits as long as the caller does. Sent at most once.
    pub async fn ask(&self, method: &str, mut params: Value) -> Result<Value, RpcError> {
        let (live, _) = self.ready().await?;
        if let Some(fields) = params.as_object_mut() {
            fields.insert("key".to_owned(), json!(self.living.key));
        }
        let said = self.living.worker.request(&live, method, params).await;
        said.inspect_err(|wrong| self.look_after(&live, wrong))
    }

    /// The same with a deadline, for what is no call.
    pub async fn ask_soon(&self, method: &str, mut params: Value) -> Result<Value, RpcError> {
        let (live, _) = self.ready().await?;
        if let Some(fields) = params.as_object_mut() {
            fields.insert("key".to_owned(), json!(self.living.key));
        }
        let said = self.living.worker.request_within(&live, method, params, ANSWER).await;
        said.inspect_err(|wrong| self.look_after(&live, wrong))
    }

    /// Whether a tool of it is available. Checks of one process run beside each other; when one of them
    /// ends it, each is asked again by itself, so that only the one whose fault it is has none. Nothing when
    /// it does not answer.
    pub async fn check(&self, tool: &str) -> Option<Result<Value, RpcError>> {
        match select(Box::pin(self.checked(tool)), self.living.worker.sleep(IN_ALL)).await {
            Either::Left((said, _)) => said,
            Either::Right(_) => None,
        }
    }

    async fn checked(&self, tool: &str) -> Option<Result<Value, RpcError>> {
        let deadly = || self.deadly.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = || RpcError::Ended("it ends the process".to_owned());
        if deadly().contains(tool) {
            return Some(Err(ended()));
        }
        match self.checked_once(tool).await {
            // It ended while it answered, or before it was asked.
            Some(Err(RpcError::Ended(_) | RpcError::NotSent(_))) => {}
            said => return said,
        }
        let _turn = self.living.worker.alone().await;
        let said = self.checked_once(tool).await;
        if let Some(Err(RpcError::Ended(_))) = said {
            deadly().insert(tool.to_owned());
            return Some(Err(ended()));
        }
        said
    }

    /// What the check says; nothing when it has not said it in time.
    async fn checked_once(&self, tool: &str) -> Option<Result<Value, RpcError>> {
        let worker = &self.living.worker;
        let began = worker.now();
        let live = match self.ready().await {
            Ok((live, _)) => live,
            Err(wrong) => return Some(Err(wrong)),
        };
        let answering = || self.answering.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has answered before does not hang: should it take long, the machine is to blame.
        let limit = if answering().contains(tool) {
            IN_ALL
        } else {
            CHECK.max(worker.now().saturating_sub(began) * TIMES)
        };
        let asked = worker.request(&live, "tool.check", json!({ "name": tool, "key": self.living.key }));
        match select(Box::pin(asked), worker.sleep(limit)).await {
            Either::Left((said, _)) => {
                let said = said.inspect_err(|wrong| self.look_after(&live, wrong));
                if said.is_ok() {
                    answering().insert(tool.to_owned());
                }
                Some(said)
            }
            Either::Right(_) => None,
        }
    }

    /// Gets it ready before it is asked anything. What goes wrong is told to whoever asks.
    pub async fn warm(&self) {
        let _ = self.ready().await;
    }

    /// A process in which it is loaded.
    async fn ready(&self) -> Result<(Live, Arc<Value>), RpcError> {
        let live = self.process().await?;
        let not_sent = |wrong: RpcError| RpcError::NotSent(wrong.to_string());
        let said = self.loaded_in(&live).await.map_err(not_sent)?;
        Ok((live, said))
    }

    /// The process at this moment. Whoever keeps ending it gets none for a while; the others who live there do.
    async fn process(&self) -> Result<Live, RpcError> {
        let ends = {
            let now = self.living.worker.now();
            let mut ends = self.ends();
            ends.retain(|(_, end)| now.saturating_sub(*end) <= SPELL);
            ends.len()
        };
        if ends >= MAX_STARTS {
            let why =
                format!("its process ended {ends} times within {} s while it was asked", SPELL.as_secs());
            return Err(RpcError::NotSent(format!("{why}, and it is left alone")));
        }
        let worker = &self.living.worker;
        if self.living.is_shared { worker.live_beside_others().await } else { worker.live().await }
    }

    /// Takes note when this process ended while it was asked something, however much of that there was.
    fn look_after(&self, live: &Live, wrong: &RpcError) {
        if !matches!(wrong, RpcError::Ended(_)) {
            return;
        }
        let worker = &self.living.worker;
        worker.excuse(live);
        let mut ends = self.ends();
        if !ends.iter().any(|(process, _)| Arc::ptr_eq(process, &live.hello)) {
            ends.push((Arc::clone(&live.hello), worker.now()));
        }
    }

    fn ends(&self) -> MutexGuard<'_, Vec<(Arc<Value>, Duration)>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it said when this process loaded it, which happens once.
    async fn loaded_in(&self, live: &Live) -> Result<Arc<Value>, RpcError> {
        let Some(load) = &self.living.load else { return Ok(Arc::default()) };
        let loading = {
            let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            match &*loaded {
                Some((process, loading)) if Arc::ptr_eq(process, &live.hello) => loading.clone(),
                _ => {
                    let loading = load_into(Arc::clone(&self.living.worker), live.clone(), load.clone());
                    *loaded = Some((Arc::clone(&live.hello), loading.clone()));
                    loading
                }
            }
        };
        let said = loading.await;
        if let Err(wrong) = &said {
            self.look_after(live, wrong);
            // Tried again when it is next needed: what was missing may be there then.
            *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        said
    }
}

fn load_into(worker: Arc<Worker>, live: Live, load: Value) -> Shared<Loading> {
    let loading = async move {
        let said = worker.request_within(&live, "load", load, LOAD).await?;
        match said.get("error").and_then(Value::as_str) {
            Some(why) => Err(RpcError::Answered { code: 0, message: why.to_owned() }),
            None => Ok(Arc::new(said)),
        }
    };
    loading.boxed().shared()
}
