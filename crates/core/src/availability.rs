//! Which gates are open now, with reasons.
//!
//! Each distinct gate is probed once for all tools that share it, all at the same time, each under
//! a deadline. An error, a panic or a timeout means closed, with the reason kept. Answers live for
//! 30 seconds or until somebody says that something changed; every change of an answer moves the
//! epoch, and whatever was derived from the old answers is keyed by it. When something changes
//! while gates are being asked, they are asked again.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, join_all, select};

use crate::gate::{Gate, Probe};
use crate::host::Host;

/// How long an answer is good.
const FRESH: Duration = Duration::from_secs(30);

/// How long a gate may take to answer.
const DEADLINE: Duration = Duration::from_secs(5);

/// How often gates are asked in vain because something changed meanwhile.
const TRIES: usize = 2;

/// The answers of gates, remembered for a while.
pub struct Availability {
    host: Arc<dyn Host>,
    probe: Arc<dyn Probe>,
    known: Mutex<Known>,
    epoch: AtomicU64,
}

#[derive(Default)]
struct Known {
    answers: HashMap<Gate, Answer>,
    /// Counts the changes that were announced: an answer asked for before the last one may be old.
    changes: u64,
}

#[derive(Clone)]
struct Answer {
    verdict: Verdict,
    until: Duration,
}

/// Open, or why not.
type Verdict = Result<(), Arc<str>>;

/// What the gates said, all asked at one moment.
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    /// The epoch these answers belong to.
    pub epoch: u64,
    /// The first moment at which one of them is no longer fresh.
    pub until: Duration,
    closed: HashMap<Gate, Arc<str>>,
}

/// Something happened that may open or close gates.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A variable, or the whole environment file.
    Environment,
    /// The configuration file.
    Config,
    /// A connection came up or went down (an MCP server, a platform).
    Connection,
}

impl Verdicts {
    /// Why the gate is closed, or nothing when it is open.
    pub fn closed(&self, gate: &Gate) -> Option<&str> {
        // Most tools are always there, and nobody was asked about those.
        if *gate == Gate::Open {
            return None;
        }
        self.closed.get(gate).map(AsRef::as_ref)
    }
}

impl Availability {
    /// Nothing is known yet.
    pub fn new(host: Arc<dyn Host>, probe: Arc<dyn Probe>) -> Self {
        Self { host, probe, known: Mutex::default(), epoch: AtomicU64::new(0) }
    }

    /// The current epoch: it moves whenever an answer may have changed.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether answers given for this epoch until this moment still hold.
    pub fn still_holds(&self, epoch: u64, until: Duration) -> bool {
        self.epoch() == epoch && (until == Duration::MAX || self.host.now() < until)
    }

    /// Forgets the answers that the change may have touched.
    pub fn changed(&self, change: &Change) {
        let mut known = self.lock();
        known.answers.retain(|gate, _| !touches(change, gate));
        known.changes += 1;
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Asks every distinct gate that has no fresh answer and reports on all of them.
    pub async fn verdicts<'a>(&self, gates: impl IntoIterator<Item = &'a Gate>) -> Verdicts {
        let mut wanted: Vec<&Gate> = Vec::new();
        for gate in gates {
            if *gate != Gate::Open && !wanted.contains(&gate) {
                wanted.push(gate);
            }
        }
        for _ in 0..TRIES {
            let now = self.host.now();
            let (changes, stale) = self.stale(&wanted, now);
            let answers = self.ask_all(stale).await;
            if let Some(verdicts) = self.settle(changes, now + FRESH, answers, &wanted) {
                return verdicts;
            }
        }
        // Something changes all the time: what the gates say now counts, for this once.
        let answers = self.ask_all(wanted).await;
        let closed = answers.into_iter().filter_map(|(gate, verdict)| Some((gate.clone(), verdict.err()?)));
        Verdicts { epoch: self.epoch(), until: Duration::ZERO, closed: closed.collect() }
    }

    /// The gates without a fresh answer, and how many changes there were so far.
    fn stale<'a>(&self, wanted: &[&'a Gate], now: Duration) -> (u64, Vec<&'a Gate>) {
        let known = self.lock();
        let fresh = |gate: &Gate| known.answers.get(gate).is_some_and(|answer| answer.until > now);
        (known.changes, wanted.iter().copied().filter(|gate| !fresh(gate)).collect())
    }

    async fn ask_all<'a>(&self, gates: Vec<&'a Gate>) -> Vec<(&'a Gate, Verdict)> {
        join_all(gates.into_iter().map(|gate| async move { (gate, self.ask(gate).await) })).await
    }

    /// One gate, with its deadline and panic guard.
    async fn ask(&self, gate: &Gate) -> Verdict {
        let asked = AssertUnwindSafe(async { gate.probe(Arc::clone(&self.probe)).await }).catch_unwind();
        let mut asked = Box::pin(asked);
        // Most gates answer at once: no timer is needed for them.
        let answer = match (&mut asked).now_or_never() {
            Some(answer) => answer,
            None => match select(asked, self.host.sleep(DEADLINE)).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => {
                    return Err(format!("no answer within {} s ({gate})", DEADLINE.as_secs()).into());
                }
            },
        };
        match answer {
            Ok(verdict) => verdict.map_err(Into::into),
            Err(_) => Err(format!("its check broke ({gate})").into()),
        }
    }

    /// Takes the answers in and reports on all gates, unless something changed while they were asked.
    fn settle(
        &self,
        asked_after: u64,
        until: Duration,
        answers: Vec<(&Gate, Verdict)>,
        wanted: &[&Gate],
    ) -> Option<Verdicts> {
        let mut known = self.lock();
        if known.changes != asked_after {
            return None;
        }
        let mut moved = false;
        for (gate, verdict) in answers {
            let before = known.answers.insert(gate.clone(), Answer { verdict: verdict.clone(), until });
            moved |= before.is_none_or(|before| before.verdict != verdict);
        }
        if moved {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        // Gates nobody asks about any more would otherwise pile up with every reconnect.
        let now = self.host.now();
        known.answers.retain(|gate, answer| answer.until > now || wanted.contains(&gate));
        let mut verdicts = Verdicts { epoch: self.epoch(), until: Duration::MAX, closed: HashMap::new() };
        for gate in wanted {
            let answer = known.answers.get(*gate)?;
            verdicts.until = verdicts.until.min(answer.until);
            if let Err(why) = &answer.verdict {
                verdicts.closed.insert((*gate).clone(), Arc::clone(why));
            }
        }
        Some(verdicts)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the answer of a gate may depend on what changed.
fn touches(change: &Change, gate: &Gate) -> bool {
    match gate {
        Gate::Open | Gate::Given(_) => false,
        Gate::Config(_) => *change == Change::Config,
        Gate::Service(_) => *change == Change::Connection,
        // A search path is part of the environment, and so may be what it points at.
        Gate::Env(_) | Gate::Machine(_) | Gate::Program(_) | Gate::File(_) => *change == Change::Environment,
        // What a function looks at is not known.
        Gate::Check(_) => true,
        Gate::All(gates) | Gate::Any(gates) => gates.iter().any(|gate| touches(change, gate)),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;
    use serde_json::Value;

    use super::*;

    /// A machine where nothing is, and whose clock is set by the test.
    #[derive(Default)]
    struct Empty(AtomicU64);

    impl Host for Empty {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::SeqCst))
        }

        fn sleep(&self, _time: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        fn run_blocking(&self, _job: Box<dyn FnOnce() + Send>) {}
    }

    impl Probe for Empty {
        fn env(&self, _name: &str) -> bool {
            false
        }

        fn program(&self, _name: &str) -> bool {
            false
        }

        fn file(&self, _path: &str) -> bool {
            false
        }

        fn config(&self, _key: &str) -> Option<Value> {
            None
        }

        fn service(&self, _address: &str) -> BoxFuture<'static, bool> {
            Box::pin(std::future::ready(false))
        }
    }

    #[test]
    fn answers_to_what_nobody_asks_any_more_are_forgotten() {
        let host = Arc::new(Empty::default());
        let gates = Availability::new(host.clone(), Arc::new(Empty::default()));

        for n in 0..1000_u64 {
            host.0.store(n * 10, Ordering::SeqCst);
            gates.verdicts(&[Gate::env(format!("KEY_{n}"))]).now_or_never().unwrap();
        }

        assert_eq!(gates.lock().answers.len(), 3);
    }
}
