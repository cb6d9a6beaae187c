//! The calls that a running call makes: a script's, for one.
//!
//! They take the same road as any other, with the same tools, hooks, policy, record and limits. What
//! differs is that they belong to a call: its id stands in front of theirs, they stop when it does,
//! and they do not count as the model going in circles. They are judged one after another; then they
//! overlap as their maker lets them, but for those that write.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::call::ToolCall;
use crate::cx::ToolCx;
use crate::definitions::Offered;
use crate::effect::Effect;
use crate::outcome::Outcome;

/// Makes calls for a running call. Calls that are made through it cannot make any themselves.
#[derive(Clone)]
pub struct Caller {
    cx: ToolCx,
}

impl Caller {
    pub(crate) fn new(cx: ToolCx) -> Self {
        Self { cx }
    }

    /// The tools of the session, sorted by name; those behind the search bridge come last.
    pub fn tools(&self) -> impl Iterator<Item = &Offered> {
        let (_, _, toolbox) = self.cx.parts();
        toolbox.offered().iter().chain(toolbox.deferred())
    }

    /// Takes one call all the way, unless `cancel` fires or the running call is stopped.
    pub async fn call(&self, call: ToolCall, cancel: &CancellationToken) -> Outcome {
        let (road, session, toolbox) = self.cx.parts();
        // Hooks and people see one question at a time, as they do in a batch.
        let turn = self.cx.being_judged().await;
        let prepared = road.prepare(session, toolbox, call, Some(&self.cx), cancel).await;
        drop(turn);
        let ready = match prepared {
            Ok(ready) => ready,
            Err(refused) => return road.refuse(session, toolbox, *refused).await,
        };
        // Two changes of one file at a time would lose one of them.
        let writes = ready.effects.iter().any(|effect| matches!(effect, Effect::Write(_)));
        let turn = if writes { Some(self.cx.writing().await) } else { None };
        let outcome = road.proceed(session, toolbox, ready, cancel, Duration::MAX).await;
        drop(turn);
        outcome
    }

    /// A token that ends with the running call.
    pub fn child_token(&self) -> CancellationToken {
        self.cx.cancelled().child_token()
    }
}
