//! A running call and the request it serves.
//!
//! The call has a task of its own, since it may outlive the request that began it: newer clients
//! are asked by ending the request, and go on with another. Whoever holds a [`Running`] keeps the
//! call alive; dropping it cancels the call and what it started.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use hermes_core::call::ToolCall;
use hermes_core::host::Host;
use hermes_core::outcome::Outcome;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::client::{Abilities, Ask, Level, Line, Progress, Question, Said};
use super::seat::Bench;

/// How often a client that wants progress hears that a silent call is still running.
const BEAT: Duration = Duration::from_secs(1);

/// How long a cancelled call may take to wind up before nobody waits for it.
const WIND_UP: Duration = Duration::from_secs(10);

/// A call at work.
pub(super) struct Running {
    heard: mpsc::Receiver<Said>,
    done: JoinHandle<Outcome>,
    cancel: CancellationToken,
    _stops: DropGuard,
}

/// How the client is reached while a request is open.
pub(super) trait Wire: Send + Sync {
    /// Whether questions go out at once; otherwise the request ends with them.
    fn asks_at_once(&self) -> bool;

    /// Whether the client wants to know how far the call is.
    fn wants_progress(&self) -> bool;

    /// Tells how far it is.
    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()>;

    /// Sends a line for the log.
    fn log(&self, level: Level, data: Value) -> BoxFuture<'_, ()>;

    /// Asks, and waits for the answer until `over`; then the question is taken back.
    fn ask<'a>(&'a self, ask: Ask, over: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<Value, String>>;

    /// Ends when the client takes the request back, or ends its session.
    fn taken_back(&self) -> BoxFuture<'_, ()>;
}

/// Where following a call led.
pub(super) enum Followed {
    /// It is over.
    Done(Box<Outcome>),
    /// It waits for the answer to this.
    Asks(Running, Question),
    /// Its task broke.
    Broken(JoinError),
    /// The client took it back and it did not wind up in time.
    Abandoned,
}

/// Starts a call that `cancel` stops.
pub(super) fn start(
    bench: Arc<dyn Bench>,
    call: ToolCall,
    abilities: Abilities,
    tasks: &TaskTracker,
    cancel: CancellationToken,
) -> Running {
    let (line, heard) = Line::new(abilities);
    let token = cancel.clone();
    let done = tasks.spawn(line.during(async move { bench.call(call, &token).await }));
    Running { heard, done, _stops: cancel.clone().drop_guard(), cancel }
}

impl Running {
    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.done.is_finished()
    }

    /// Carries what the call says to the client until it is over, or waits for an answer that this
    /// request cannot bring.
    pub(super) async fn follow(mut self, wire: &dyn Wire, host: &Arc<dyn Host>, tool: &str) -> Followed {
        let started = host.now();
        let mut questions = FuturesUnordered::new();
        let over = CancellationToken::new();
        let mut silent = wire.wants_progress();
        let mut taken_back = wire.taken_back();
        loop {
            let beat = async { if silent { host.sleep(BEAT).await } else { std::future::pending().await } };
            tokio::select! {
                biased;
                () = &mut taken_back => {
                    take_back(&over, &mut questions).await;
                    return self.wind_up(host).await;
                }
                Some(said) = self.heard.recv() => match said {
                    Said::Progress(progress) => {
                        silent = false;
                        wire.progress(progress).await;
                    }
                    Said::Log(level, data) => wire.log(level, data).await,
                    Said::Question(question) if !wire.asks_at_once() => {
                        return Followed::Asks(self, question);
                    }
                    Said::Question(question) => questions.push(put(question, wire, over.clone())),
                },
                Some(()) = questions.next() => {}
                done = &mut self.done => {
                    take_back(&over, &mut questions).await;
                    return self.ended(done, wire).await;
                }
                () = beat => wire.progress(still_running(tool, host.now().saturating_sub(started))).await,
            }
        }
    }

    /// It is over; what it said last still goes out before its result.
    async fn ended(mut self, done: Result<Outcome, JoinError>, wire: &dyn Wire) -> Followed {
        while let Ok(said) = self.heard.try_recv() {
            match said {
                Said::Progress(progress) => wire.progress(progress).await,
                Said::Log(level, data) => wire.log(level, data).await,
                Said::Question(_) => {}
            }
        }
        match done {
            Ok(outcome) => Followed::Done(Box::new(outcome)),
            Err(broken) => Followed::Broken(broken),
        }
    }

    /// Stops it and waits until it has.
    async fn wind_up(mut self, host: &Arc<dyn Host>) -> Followed {
        self.cancel.cancel();
        tokio::select! {
            done = &mut self.done => match done {
                Ok(outcome) => Followed::Done(Box::new(outcome)),
                Err(broken) => Followed::Broken(broken),
            },
            () = host.sleep(WIND_UP) => Followed::Abandoned,
        }
    }
}

/// Puts a question to the client. It is taken back when nobody waits for its answer any more, because
/// it expired, or when all is over.
async fn put(question: Question, wire: &dyn Wire, over: CancellationToken) {
    let Question { ask, mut answer } = question;
    let given_up = Box::pin(async {
        tokio::select! {
            () = answer.closed() => {}
            () = over.cancelled() => {}
        }
    });
    let said = wire.ask(ask, given_up).await;
    // Nobody waits any more when the question expired.
    let _ = answer.send(said);
}

/// Takes back what is still asked.
async fn take_back(over: &CancellationToken, questions: &mut FuturesUnordered<impl Future<Output = ()>>) {
    over.cancel();
    while let Some(()) = questions.next().await {}
}

/// A sign of life.
#[expect(clippy::cast_precision_loss, reason = "seconds of a call are few")]
fn still_running(tool: &str, elapsed: Duration) -> Progress {
    let seconds = elapsed.as_secs().max(1);
    Progress { done: seconds as f64, total: None, message: Some(format!("{tool}: running for {seconds} s")) }
}
