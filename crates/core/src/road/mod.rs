//! The road: the one way a call takes, whatever door it came in by.
//!
//! | step | file |
//! |---|---|
//! | 1 intake, 2 resolve, 3 validate | `intake.rs` |
//! | 4 before | `hooks.rs` |
//! | 5 authorise | `authorise.rs` |
//! | 6 record, 7 run | `run.rs` |
//! | 8 shape, 9 after, 10 record | `finish.rs` |
//!
//! A batch of calls takes the same steps; `batch.rs` decides which of them may overlap. So do the
//! calls that a running call makes, in `inner.rs`. Every call ends in exactly one [`Outcome`],
//! because that is what these functions return.

mod authorise;
mod batch;
mod finish;
mod hooks;
mod inner;
mod intake;
mod run;

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call::{CallId, ToolCall};
use crate::cx::{Services, ToolCx};
use crate::definitions::Toolbox;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::hook::CallView;
use crate::journal::Journal;
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::session::Session;
use crate::shape::cap::Limits;
use crate::tool::{PreparedCall, ToolEntry};

pub use inner::Caller;

/// Keeps what is too large for an answer.
pub trait Spill: Send + Sync {
    /// Writes the text where only its owner can read it, and says where.
    fn keep<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<PathBuf, String>>;
}

/// Takes secrets out of text.
pub trait Redact: Send + Sync {
    /// The text without secrets.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// How long, how many, how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoadLimits {
    /// One call, unless its tool says otherwise.
    pub call: Duration,
    /// A whole batch.
    pub batch: Duration,
    /// A question to an approver; after that the answer is no.
    pub ask: Duration,
    /// Calls running at the same time.
    pub at_once: usize,
    /// Size of results.
    pub results: Limits,
}

impl Default for RoadLimits {
    fn default() -> Self {
        Self {
            call: Duration::from_mins(5),
            batch: Duration::from_mins(7),
            ask: Duration::from_mins(1),
            at_once: 8,
            results: Limits::for_context(None),
        }
    }
}

/// How often an approver may change a call before it is run or refused.
const EDITS: usize = 8;

/// The one way a call takes. Clones are the same road.
#[derive(Clone)]
pub struct Road {
    services: Arc<Services>,
    policy: Arc<dyn Policy>,
    journal: Option<Arc<dyn Journal>>,
    spill: Option<Arc<dyn Spill>>,
    redact: Option<Arc<dyn Redact>>,
    limits: RoadLimits,
}

/// A call that has passed steps 1 to 5: everything is decided, nothing has happened.
struct Ready {
    view: CallView,
    entry: Arc<ToolEntry>,
    prepared: Box<dyn PreparedCall>,
    effects: Arc<[Effect]>,
    digest: u64,
    notes: Vec<String>,
}

/// A call that ended before it ran.
struct Refused {
    id: CallId,
    given_id: String,
    tool: Arc<str>,
    /// Set once the tool is known: hooks are told about the end of such calls.
    view: Option<CallView>,
    why: Refusal,
    notes: Vec<String>,
}

/// Why a call was not run.
enum Refusal {
    Error(ToolError),
    /// Repeated too often; the guard's own words.
    Repeated(Value),
}

impl<E: Into<ToolError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// The answer of a service that may break: a panic is a failure like any other.
async fn unbroken<T>(ask: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    AssertUnwindSafe(ask).catch_unwind().await.unwrap_or_else(|_| Err("it panicked".to_owned()))
}

impl Road {
    /// Where what is too large for an answer is kept.
    pub(crate) fn spilling(&self) -> Option<&Arc<dyn Spill>> {
        self.spill.as_ref()
    }

    /// A road without record, spill or redaction.
    pub fn new(services: Arc<Services>, policy: Arc<dyn Policy>) -> Self {
        Self { services, policy, journal: None, spill: None, redact: None, limits: RoadLimits::default() }
    }

    /// The doors and services its tools share.
    pub fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// Records every call.
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Keeps large results.
    pub fn spill(mut self, spill: Arc<dyn Spill>) -> Self {
        self.spill = Some(spill);
        self
    }

    /// Takes secrets out of results.
    pub fn redact(mut self, redact: Arc<dyn Redact>) -> Self {
        self.redact = Some(redact);
        self
    }

    /// How long, how many, how much.
    pub fn limits(mut self, limits: RoadLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Takes one call all the way.
    pub async fn call(&self, session: &Session, toolbox: &Arc<Toolbox>, call: ToolCall) -> Outcome {
        self.call_until(session, toolbox, call, session.token()).await
    }

    /// Takes one call all the way, unless `cancel` fires first.
    pub async fn call_until(
        &self,
        session: &Session,
        toolbox: &Arc<Toolbox>,
        call: ToolCall,
        cancel: &CancellationToken,
    ) -> Outcome {
        match self.prepare(session, toolbox, call, None, cancel).await {
            Ok(ready) => self.proceed(session, toolbox, ready, cancel, Duration::MAX).await,
            Err(refused) => self.refuse(session, toolbox, *refused).await,
        }
    }

    /// Steps 1 to 5.
    async fn prepare(
        &self,
        session: &Session,
        toolbox: &Toolbox,
        call: ToolCall,
        within: Option<&ToolCx>,
        cancel: &CancellationToken,
    ) -> Result<Ready, Box<Refused>> {
        let mut taken = intake::take_in(session, toolbox, call, within)?;
        match self.decide(session, toolbox, &mut taken, cancel).await {
            Ok(authorise::Cleared { prepared, effects, digest }) => {
                let intake::Taken { view, entry, notes, .. } = taken;
                Ok(Ready { view, entry, prepared, effects, digest, notes })
            }
            Err(why) => Err(taken.refuse(why)),
        }
    }

    /// Steps 4 and 5, again from the start whenever an approver changes the call.
    async fn decide(
        &self,
        session: &Session,
        toolbox: &Toolbox,
        taken: &mut intake::Taken<'_>,
        cancel: &CancellationToken,
    ) -> Result<authorise::Cleared, Refusal> {
        for _ in 0..EDITS {
            let asked = self.before(toolbox, taken, cancel).await?;
            match self.clear(session, taken, asked, cancel).await? {
                authorise::Decided::Cleared(cleared) => return Ok(cleared),
                authorise::Decided::Changed(arguments) => taken.change(arguments)?,
            }
        }
        let why = format!("it was changed {EDITS} times without being approved");
        Err(ToolError::Denied { by: "approval".to_owned(), why }.into())
    }

    /// Steps 6 to 10, in no more than the time that is left.
    async fn proceed(
        &self,
        session: &Session,
        toolbox: &Arc<Toolbox>,
        ready: Ready,
        cancel: &CancellationToken,
        left: Duration,
    ) -> Outcome {
        let (ran, end) = self.run(session, toolbox, ready, cancel, left).await;
        self.finish(session, toolbox, ran, end, cancel).await
    }
}
