//! Which gates are open now, with reasons.
//!
//! Each distinct gate is probed once for all tools that share it, all at the same time, each under
//! a deadline. An error, a panic or a timeout means closed, with the reason kept. Answers live for
//! 30 seconds or until somebody says that something changed; every change of an answer moves the
//! epoch, and whatever was derived from the old answers is keyed by it.

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

/// The answers of gates, remembered for a while.
pub struct Availability {
    host: Arc<dyn Host>,
    probe: Arc<dyn Probe>,
    known: Mutex<HashMap<Gate, Answer>>,
    epoch: AtomicU64,
}

#[derive(Clone)]
struct Answer {
    verdict: Result<(), Arc<str>>,
    until: Duration,
}

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
        self.lock().retain(|gate, _| !touches(change, gate));
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
        let epoch = self.epoch();
        let now = self.host.now();
        let stale: Vec<&Gate> = {
            let known = self.lock();
            wanted
                .iter()
                .copied()
                .filter(|gate| known.get(gate).is_none_or(|answer| answer.until <= now))
                .collect()
        };
        let answers = join_all(stale.iter().map(|gate| self.ask(gate))).await;
        self.remember(epoch, now + FRESH, stale.into_iter().cloned().zip(answers));
        self.collect(&wanted)
    }

    /// One gate, with its deadline and panic guard.
    async fn ask(&self, gate: &Gate) -> Result<(), Arc<str>> {
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

    fn remember(
        &self,
        asked_in: u64,
        until: Duration,
        answers: impl Iterator<Item = (Gate, Result<(), Arc<str>>)>,
    ) {
        let mut known = self.lock();
        if self.epoch() != asked_in {
            // Something changed while we were asking: these answers may already be old.
            return;
        }
        let mut moved = false;
        for (gate, verdict) in answers {
            let before = known.insert(gate, Answer { verdict: verdict.clone(), until });
            moved |= before.is_none_or(|before| before.verdict != verdict);
        }
        if moved {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn collect(&self, wanted: &[&Gate]) -> Verdicts {
        let mut known = self.lock();
        // Gates nobody asks about any more would otherwise pile up with every reconnect.
        let now = self.host.now();
        known.retain(|gate, answer| answer.until > now || wanted.contains(&gate));
        let mut verdicts = Verdicts { epoch: self.epoch(), until: Duration::MAX, closed: HashMap::new() };
        for gate in wanted {
            let (until, verdict) = match known.get(*gate) {
                Some(answer) => (answer.until, answer.verdict.clone()),
                None => (Duration::ZERO, Err("it changed while it was being checked".into())),
            };
            verdicts.until = verdicts.until.min(until);
            if let Err(why) = verdict {
                verdicts.closed.insert((*gate).clone(), why);
            }
        }
        verdicts
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Gate, Answer>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the answer of a gate may depend on what changed.
fn touches(change: &Change, gate: &Gate) -> bool {
    match gate {
        Gate::Open => false,
        Gate::Config(_) => *change == Change::Config,
        Gate::Service(_) => *change == Change::Connection,
        // A search path is part of the environment, and so may be what it points at.
        Gate::Env(_) | Gate::Program(_) | Gate::File(_) => *change == Change::Environment,
        // What a function looks at is not known.
        Gate::Check(_) => true,
        Gate::All(gates) | Gate::Any(gates) => gates.iter().any(|gate| touches(change, gate)),
    }
}
