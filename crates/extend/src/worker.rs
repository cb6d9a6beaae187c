//! A program that answers requests, kept up: started when it is first needed, replaced when it ended
//! or is stuck, left alone for a while when it keeps ending.
//!
//! A request goes to exactly one process and is sent at most once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt as _, Shared, select};
use hermes_core::host::Host;
use serde_json::{Value, json};

use crate::cleared;
use crate::launch::{Launch, Program};
use crate::rpc::{Callee, MAX_MESSAGE, Peer, RpcError, Tasks};

/// So many calls that were given up on and still run make a process useless.
const MAX_STUCK: usize = 8;

/// How long a healthy process takes to say that it is there.
const PING: Duration = Duration::from_secs(2);

/// How long the first answer of a process may take.
const HELLO: Duration = Duration::from_secs(20);

/// So many starts within [`SPELL`] are enough, and so many ends through the calls of one of those who live there.
pub(crate) const MAX_STARTS: usize = 6;
pub(crate) const SPELL: Duration = Duration::from_secs(20);

/// What workers need from the rest of the program.
#[derive(Clone)]
pub struct Doors {
    /// Starts processes.
    pub launch: Arc<dyn Launch>,
    /// Runs what reads and writes.
    pub tasks: Arc<dyn Tasks>,
    /// Clock and timer.
    pub host: Arc<dyn Host>,
}

/// A program, running or not.
pub struct Worker {
    program: Program,
    hello: Value,
    doors: Doors,
    callee: Arc<dyn Callee>,
    state: Mutex<State>,
    turn: futures::lock::Mutex<()>,
}

#[derive(Default)]
struct State {
    now: Option<Shared<Starting>>,
    /// When it was started before, and which of all starts that was; without those that ended through somebody's call.
    starts: VecDeque<(Duration, u64)>,
    next: u64,
}

type Starting = BoxFuture<'static, Result<Live, RpcError>>;

/// A running process, and what it said first.
#[derive(Clone)]
pub struct Live {
    /// The process.
    pub peer: Peer,
    /// Its answer to `initialize`.
    pub hello: Arc<Value>,
    number: u64,
}

impl Worker {
    /// Nothing is started yet. `hello` is what `initialize` will say, and how long a message may be.
    pub fn new(program: Program, mut hello: Value, doors: Doors, callee: Arc<dyn Callee>) -> Arc<Self> {
        if let Some(fields) = hello.as_object_mut() {
            fields.insert("max_message".to_owned(), json!(MAX_MESSAGE));
        }
        Arc::new(Self {
            program,
            hello,
            doors,
            callee,
            state: Mutex::default(),
            turn: futures::lock::Mutex::default(),
        })
    }

    /// The time now.
    pub(crate) fn now(&self) -> Duration {
        self.doors.host.now()
    }

    /// Waits so long.
    pub(crate) fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.doors.host.sleep(time)
    }

    /// A turn of one's own among those who take turns.
    pub async fn alone(&self) -> futures::lock::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// The process at this moment, started if there is none.
    pub async fn live(&self) -> Result<Live, RpcError> {
        let starting = self.current()?;
        let live = starting.await;
        if live.is_err() {
            self.forget_failed();
        }
        live
    }

    /// The same for one of several who live in it. Where a call of another one lets nobody else run, that call keeps
    /// the process to itself, and whoever comes after it gets a new one.
    pub(crate) async fn live_beside_others(&self) -> Result<Live, RpcError> {
        let live = self.live().await?;
        if live.peer.is_asked() && !is_there(&live.peer, &self.doors.host).await {
            self.leave(&live);
            return self.live().await;
        }
        Ok(live)
    }

    /// Lets go of this process, unless somebody else has done so.
    fn leave(&self, live: &Live) {
        let mut state = self.lock();
        let current = state.now.as_ref().and_then(|starting| starting.peek());
        if matches!(current, Some(Ok(current)) if current.number == live.number) {
            state.now = None;
        }
    }

    /// Asks the process. The future can be dropped: the request is then taken back, and the process
    /// is looked after.
    pub async fn request(&self, live: &Live, method: &str, params: Value) -> Result<Value, RpcError> {
        let watch = Watched { peer: Some(&live.peer), doors: &self.doors };
        let answer = live.peer.request(method, params).await;
        watch.answered();
        cleared::answer(answer, self.callee.as_ref())
    }

    /// The same with a deadline, for questions that nobody else times.
    pub async fn request_within(
        &self,
        live: &Live,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, RpcError> {
        let asked = Box::pin(self.request(live, method, params));
        match select(asked, self.doors.host.sleep(limit)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(RpcError::Answered {
                code: 0,
                message: format!("no answer within {} s", limit.as_secs()),
            }),
        }
    }

    /// Whoever it was that ended this process, it is not the program: the start counts no longer against all who
    /// live in it.
    pub(crate) fn excuse(&self, live: &Live) {
        self.lock().starts.retain(|(_, number)| *number != live.number);
    }

    /// Lets go of the process; calls that run in it may still finish.
    pub fn retire(&self) {
        self.lock().now = None;
    }

    /// Whether a process runs or is being started.
    pub fn is_running(&self) -> bool {
        self.lock().now.is_some()
    }

    /// Whether the last start is over, however it went.
    pub fn is_up(&self) -> bool {
        self.lock().now.as_ref().is_some_and(|starting| starting.peek().is_some())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Result<Shared<Starting>, RpcError> {
        let mut state = self.lock();
        if let Some(starting) = &state.now {
            match starting.peek() {
                None => return Ok(starting.clone()),
                Some(Ok(live)) if live.peer.ended().is_none() && live.peer.stuck() < MAX_STUCK => {
                    return Ok(starting.clone());
                }
                Some(_) => {}
            }
        }
        let now = self.doors.host.now();
        state.starts.retain(|(start, _)| now.saturating_sub(*start) <= SPELL);
        if state.starts.len() >= MAX_STARTS {
            let why =
                format!("it was started {MAX_STARTS} times within {} s and is left alone", SPELL.as_secs());
            return Err(RpcError::NotSent(why));
        }
        state.next += 1;
        let number = state.next;
        state.starts.push_back((now, number));
        let starting = self.start(number).shared();
        state.now = Some(starting.clone());
        Ok(starting)
    }

    fn forget_failed(&self) {
        let mut state = self.lock();
        if state.now.as_ref().is_some_and(|starting| matches!(starting.peek(), Some(Err(_)))) {
            state.now = None;
        }
    }

    fn start(&self, number: u64) -> Starting {
        let (doors, program, hello) = (self.doors.clone(), self.program.clone(), self.hello.clone());
        let callee = Arc::clone(&self.callee);
        async move {
            let launched =
                doors.launch.launch(&program).map_err(|wrong| RpcError::NotSent(wrong.to_string()))?;
            let peer = Peer::new(launched, &doors.tasks, &doors.host, Arc::clone(&callee))?;
            let asked = Box::pin(peer.request("initialize", hello));
            let answer = match select(asked, doors.host.sleep(HELLO)).await {
                Either::Left((answer, _)) => Some(cleared::answer(answer, callee.as_ref())),
                Either::Right(_) => None,
            };
            let why = match answer {
                Some(Ok(hello)) => return Ok(Live { peer, hello: Arc::new(hello), number }),
                // It has said itself what is wrong.
                Some(Err(wrong @ RpcError::Answered { .. })) => return Err(not_run(&wrong)),
                Some(Err(wrong)) => wrong.to_string(),
                None => format!("it said nothing within {} s of its start", HELLO.as_secs()),
            };
            let words = peer.last_words(&doors.host).await;
            let words = words.map(|words| format!("; its last words: {words}")).unwrap_or_default();
            Err(RpcError::NotSent(format!("{why}{words}")))
        }
        .boxed()
    }
}

/// What went wrong before any call was sent has run no call.
fn not_run(wrong: &RpcError) -> RpcError {
    RpcError::NotSent(wrong.to_string())
}

/// Looks after a process when a request to it is dropped.
struct Watched<'a> {
    peer: Option<&'a Peer>,
    doors: &'a Doors,
}

impl Watched<'_> {
    fn answered(mut self) {
        self.peer = None;
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let Some(peer) = self.peer.take() else { return };
        let (peer, host) = (peer.clone(), Arc::clone(&self.doors.host));
        // A call that hangs is its own affair; a process that cannot even say that it is there is
        // of no use to anybody.
        self.doors.tasks.start(Box::pin(async move {
            if !is_there(&peer, &host).await {
                peer.give_up("it stopped answering");
            }
        }));
    }
}

/// Whether a process answers at all.
async fn is_there(peer: &Peer, host: &Arc<dyn Host>) -> bool {
    let ping = Box::pin(peer.request("ping", json!({})));
    matches!(select(ping, host.sleep(PING)).await, Either::Left(_))
}
