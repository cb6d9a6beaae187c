//! Several calls of one answer: which of them may overlap.
//!
//! Calls are prepared one after another, in order, so that hooks and approvers see them as the
//! model wrote them; while one is being prepared, earlier ones already run. A call starts when no
//! earlier call that conflicts with it is still to finish: a write never overlaps a read or write
//! of the same path or of a directory above or below it, and a call that cannot be foreseen runs
//! alone. A command that is known to look and do nothing else overlaps with whatever only looks. Answers come back in call order, one each.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::call::ToolCall;
use crate::definitions::Toolbox;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::road::{Ready, Refusal, Refused, Road};
use crate::session::Session;
use crate::tool::Parallel;

impl Road {
    /// Takes all calls of one answer; the outcomes are in call order, one each.
    pub async fn batch(
        &self,
        session: &Session,
        toolbox: &Arc<Toolbox>,
        calls: Vec<ToolCall>,
    ) -> Vec<Outcome> {
        self.batch_until(session, toolbox, calls, session.token()).await
    }

    /// Takes all calls of one answer, unless `cancel` fires first.
    pub async fn batch_until(
        &self,
        session: &Session,
        toolbox: &Arc<Toolbox>,
        calls: Vec<ToolCall>,
        cancel: &CancellationToken,
    ) -> Vec<Outcome> {
        let ends = self.services.host.now().saturating_add(self.limits.batch);
        let (preparing, waits) = (cancel.child_token(), Mutex::new(Waits::default()));
        let batch = Batch { road: self, session, toolbox, cancel, preparing, ends, waits };
        let mut outcomes = batch.work_off(calls).await;
        self.fit_turn(session, toolbox, &mut outcomes).await;
        outcomes
    }
}

/// What all calls of a batch share.
struct Batch<'a> {
    road: &'a Road,
    session: &'a Session,
    toolbox: &'a Arc<Toolbox>,
    cancel: &'a CancellationToken,
    /// Fires when the batch's time is over, to end a wait for hooks or people.
    preparing: CancellationToken,
    ends: Duration,
    waits: Mutex<Waits>,
}

/// Calls that wait for people or for other agents: they have a limit of their own, and their time is
/// not counted as the batch's.
#[derive(Default)]
struct Waits {
    running: usize,
    since: Duration,
    so_far: Duration,
}

impl Waits {
    fn began(&mut self, now: Duration) {
        if self.running == 0 {
            self.since = now;
        }
        self.running += 1;
    }

    fn ended(&mut self, now: Duration) {
        self.running = self.running.saturating_sub(1);
        if self.running == 0 {
            self.so_far += now.saturating_sub(self.since);
        }
    }

    /// How long there was such a call, until now.
    fn total(&self, now: Duration) -> Duration {
        let running = if self.running > 0 { now.saturating_sub(self.since) } else { Duration::ZERO };
        self.so_far + running
    }
}

/// Something that happened in a batch.
enum Event {
    Prepared(Result<Ready, Box<Refused>>),
    Finished(usize, Outcome),
    TimeOver,
}

/// How far a call has come.
enum Stage {
    /// Decided, waiting for its turn.
    Waiting(Box<Ready>),
    Running,
    Done(Box<Outcome>),
}

struct Slot {
    stage: Stage,
    footprint: Footprint,
}

/// What a call may clash with.
struct Footprint {
    alone: bool,
    /// It leaves everything as it was.
    looks: bool,
    effects: Arc<[Effect]>,
}

impl Footprint {
    fn of(ready: &Ready) -> Self {
        let commands = ready.entry.only_looks(&ready.effects);
        let alone = ready.entry.parallel() == Parallel::Never && !commands;
        let looks = commands || (!alone && ready.effects.iter().all(Effect::is_read_only));
        Self { alone, looks, effects: Arc::clone(&ready.effects) }
    }

    /// Of a call that will do nothing.
    fn none() -> Self {
        Self { alone: false, looks: true, effects: Arc::new([]) }
    }

    fn clashes(&self, other: &Self) -> bool {
        let conflict = |mine: &Effect| other.effects.iter().any(|theirs| mine.conflicts(theirs));
        let both_look = self.looks && other.looks;
        !both_look && (self.alone || other.alone || self.effects.iter().any(conflict))
    }
}

type Events<'b> = FuturesUnordered<BoxFuture<'b, Event>>;

impl Batch<'_> {
    async fn work_off(&self, calls: Vec<ToolCall>) -> Vec<Outcome> {
        let count = calls.len();
        let mut calls = calls.into_iter();
        let mut slots: Vec<Slot> = Vec::with_capacity(count);
        let mut events: Events<'_> = FuturesUnordered::new();
        let mut late = false;
        events.push(Box::pin(self.timer()));
        if let Some(call) = calls.next() {
            events.push(Box::pin(self.prepare(call)));
        }
        while slots.len() < count || !slots.iter().all(|slot| matches!(slot.stage, Stage::Done(_))) {
            match events.next().await {
                Some(Event::Prepared(prepared)) => {
                    self.admit(prepared, late, &mut slots, &events);
                    if let Some(call) = calls.next() {
                        events.push(Box::pin(self.prepare(call)));
                    }
                }
                Some(Event::Finished(at, outcome)) => {
                    if let Some(slot) = slots.get_mut(at) {
                        slot.stage = Stage::Done(Box::new(outcome));
                    }
                }
                // Time that was waited is added at the end.
                Some(Event::TimeOver) if !self.left().is_zero() => events.push(Box::pin(self.timer())),
                Some(Event::TimeOver) => {
                    late = true;
                    self.preparing.cancel();
                }
                // Every call that is not done has an event to come.
                None => break,
            }
            self.start_what_may(&mut slots, &events);
        }
        slots.into_iter().filter_map(Slot::outcome).collect()
    }

    async fn timer(&self) -> Event {
        self.road.services.host.sleep(self.left()).await;
        Event::TimeOver
    }

    fn left(&self) -> Duration {
        let now = self.road.services.host.now();
        let waited = self.waits.lock().unwrap_or_else(PoisonError::into_inner).total(now);
        self.ends.saturating_add(waited).saturating_sub(now)
    }

    async fn prepare(&self, call: ToolCall) -> Event {
        Event::Prepared(self.road.prepare(self.session, self.toolbox, call, None, &self.preparing).await)
    }

    /// Gives a prepared call its place; one that was refused only has its end to come.
    fn admit<'b>(
        &'b self,
        prepared: Result<Ready, Box<Refused>>,
        late: bool,
        slots: &mut Vec<Slot>,
        events: &Events<'b>,
    ) {
        let at = slots.len();
        match prepared {
            Ok(ready) => {
                let footprint = Footprint::of(&ready);
                slots.push(Slot { stage: Stage::Waiting(Box::new(ready)), footprint });
            }
            Err(mut refused) => {
                if late && matches!(refused.why, Refusal::Error(ToolError::Cancelled)) {
                    refused.why = ToolError::OutOfTime(self.road.limits.batch).into();
                }
                slots.push(Slot { stage: Stage::Running, footprint: Footprint::none() });
                events.push(Box::pin(async move {
                    Event::Finished(at, self.road.refuse(self.session, self.toolbox, *refused).await)
                }));
            }
        }
    }

    fn start_what_may<'b>(&'b self, slots: &mut [Slot], events: &Events<'b>) {
        let mut running = slots.iter().filter(|slot| matches!(slot.stage, Stage::Running)).count();
        for at in 0..slots.len() {
            if running >= self.road.limits.at_once.max(1) {
                return;
            }
            let (earlier, rest) = slots.split_at_mut(at);
            let Some(slot) = rest.first_mut() else { return };
            if !matches!(slot.stage, Stage::Waiting(_)) || earlier.iter().any(|before| before.blocks(slot)) {
                continue;
            }
            if let Stage::Waiting(ready) = std::mem::replace(&mut slot.stage, Stage::Running) {
                running += 1;
                events.push(Box::pin(self.run(at, *ready)));
            }
        }
    }

    async fn run(&self, at: usize, ready: Ready) -> Event {
        let waits = ready.entry.waits();
        let told = |tell: fn(&mut Waits, Duration)| {
            let now = self.road.services.host.now();
            tell(&mut self.waits.lock().unwrap_or_else(PoisonError::into_inner), now);
        };
        if waits {
            told(Waits::began);
        }
        let left = if waits { Duration::MAX } else { self.left() };
        let outcome = self.road.proceed(self.session, self.toolbox, ready, self.cancel, left).await;
        if waits {
            told(Waits::ended);
        }
        Event::Finished(at, outcome)
    }
}

impl Slot {
    /// Whether a later call has to wait for this one.
    fn blocks(&self, later: &Self) -> bool {
        !matches!(self.stage, Stage::Done(_)) && self.footprint.clashes(&later.footprint)
    }

    fn outcome(self) -> Option<Outcome> {
        match self.stage {
            Stage::Done(outcome) => Some(*outcome),
            Stage::Waiting(_) | Stage::Running => None,
        }
    }
}
