//! Step 4, and the hooks' part of step 9: each hook under its own deadline and panic guard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Either, select};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::definitions::Toolbox;
use crate::error::ToolError;
use crate::hook::{Before, CallEnd, CallView, Hook, HookFailure};
use crate::policy::Reason;
use crate::road::intake::Taken;
use crate::road::{Refusal, Road};

/// How long a hook may still change the result of a call that was stopped.
const LAST_WORD: Duration = Duration::from_secs(1);

/// What hooks did to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touched {
    /// Nothing.
    No,
    /// It is another one now.
    Changed,
    /// One that had to look at it could not, so that it is kept back.
    Withheld,
}

impl Road {
    /// Asks every hook; the answer is what somebody still has to agree to, if anything.
    pub(super) async fn before(
        &self,
        toolbox: &Toolbox,
        taken: &mut Taken<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<Reason>, Refusal> {
        let mut ask = None;
        for hook in interested(toolbox, &taken.view.tool) {
            if cancel.is_cancelled() {
                return Err(ToolError::Cancelled.into());
            }
            let asked = Box::pin(self.guarded(hook, || hook.before(&taken.view)));
            let answer = match select(asked, Box::pin(cancel.cancelled())).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => return Err(ToolError::Cancelled.into()),
            };
            match answer {
                Ok(Before::Continue) => {}
                Ok(Before::Block { message }) => {
                    return Err(ToolError::Denied { by: hook.name().to_owned(), why: message }.into());
                }
                Ok(Before::Rewrite(arguments)) => taken.change(arguments)?,
                Ok(Before::Ask { message, arguments }) => {
                    arguments.map_or(Ok(()), |arguments| taken.change(arguments))?;
                    // The first question stands; a later hook cannot soften it.
                    ask.get_or_insert_with(|| Reason::new(hook.name(), message));
                }
                Err(failure) if hook.is_policy() => {
                    let why = format!("the policy hook failed ({failure}), so the call is not run");
                    return Err(ToolError::Denied { by: hook.name().to_owned(), why }.into());
                }
                Err(failure) => taken.notes.push(format!("hook {}: {failure}", hook.name())),
            }
        }
        Ok(ask)
    }

    /// Lets hooks change what the model reads; each sees what the one before it made. Once `cancel` has
    /// fired they have to be quick. Says what they did.
    pub(super) async fn transform(
        &self,
        toolbox: &Toolbox,
        view: &CallView,
        end: &mut CallEnd,
        notes: &mut Vec<String>,
        cancel: &CancellationToken,
    ) -> Touched {
        let mut touched = Touched::No;
        for hook in interested(toolbox, &view.tool) {
            let answer = {
                let asked = Box::pin(self.guarded(hook, || hook.transform(view, end)));
                match select(asked, Box::pin(self.stopped(cancel))).await {
                    Either::Left((answer, _)) => answer,
                    Either::Right(_) => Err(HookFailure("it was stopped".to_owned())),
                }
            };
            match answer {
                Ok(None) => {}
                Ok(Some(result)) => {
                    end.result = result;
                    touched = touched.max(Touched::Changed);
                }
                Err(failure) if hook.is_policy() => {
                    end.result = withheld(hook.name(), &failure);
                    touched = Touched::Withheld;
                }
                Err(failure) => notes.push(format!("hook {}: {failure}", hook.name())),
            }
        }
        touched
    }

    /// Somebody has stopped the call, and a hook that cleans its result has had time to.
    async fn stopped(&self, cancel: &CancellationToken) {
        cancel.cancelled().await;
        self.services.host.sleep(LAST_WORD).await;
    }

    /// Tells the observers.
    pub(super) async fn after(
        &self,
        toolbox: &Toolbox,
        view: &CallView,
        end: &CallEnd,
        notes: &mut Vec<String>,
    ) {
        for hook in interested(toolbox, &view.tool) {
            if let Err(failure) = self.guarded(hook, || Box::pin(hook.after(view, end).map(Ok))).await {
                notes.push(format!("hook {}: {failure}", hook.name()));
            }
        }
    }

    /// One answer of a hook; it may break before it has become a future.
    async fn guarded<'a, T>(
        &self,
        hook: &'a Arc<dyn Hook>,
        ask: impl FnOnce() -> BoxFuture<'a, Result<T, HookFailure>> + Send,
    ) -> Result<T, HookFailure> {
        let mut answer = Box::pin(AssertUnwindSafe(async move { ask().await }).catch_unwind());
        let answer = match (&mut answer).now_or_never() {
            Some(answer) => answer,
            None => match select(answer, self.services.host.sleep(hook.deadline())).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => {
                    return Err(HookFailure(format!("no answer within {} s", hook.deadline().as_secs_f64())));
                }
            },
        };
        answer.unwrap_or_else(|_| Err(HookFailure("it panicked".to_owned())))
    }
}

fn interested<'a>(
    toolbox: &'a Toolbox,
    tool: &Arc<str>,
) -> impl Iterator<Item = &'a Arc<dyn Hook>> + use<'a> {
    let tool = Arc::clone(tool);
    // A hook that cannot say what it wants is asked.
    let wants =
        move |hook: &Arc<dyn Hook>| catch_unwind(AssertUnwindSafe(|| hook.wants(&tool))).unwrap_or(true);
    toolbox.hooks().iter().filter(move |hook| wants(hook))
}

/// What the model reads when a policy hook that should have cleaned a result failed.
fn withheld(hook: &str, failure: &HookFailure) -> Value {
    serde_json::json!({ "error": format!("the result is withheld: the policy hook {hook} failed ({failure})") })
}
