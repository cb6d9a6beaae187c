//! Step 5: the tool states its effects for these arguments, policy judges them.
//!
//! This is the only place where a [`Clearance`](crate::permit) comes to be. A policy that panics
//! denies. A question goes to the session's approver, bound to the exact arguments.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{Either, select};
use tokio_util::sync::CancellationToken;

use crate::digest::digest_fields;
use crate::effect::Effect;
use crate::error::ToolError;
use crate::policy::{Answer, ApprovalRequest, PolicyRequest, Reason, Verdict};
use crate::road::intake::Taken;
use crate::road::{Refusal, Road};
use crate::session::Session;
use crate::tool::PreparedCall;

/// What a cleared call needs to run: itself, what it may do, and the digest of its arguments.
type Cleared = (Box<dyn PreparedCall>, Arc<[Effect]>, u64);

impl Road {
    pub(super) async fn clear(
        &self,
        session: &Session,
        taken: &Taken,
        asked_by_hook: Option<Reason>,
        cancel: &CancellationToken,
    ) -> Result<Cleared, Refusal> {
        let arguments = digest_fields(&taken.view.arguments);
        if let Some(block) = session.guard(|guard| guard.before(&taken.view.tool, arguments)) {
            return Err(Refusal::Repeated(block.refusal()));
        }
        let (prepared, effects) = self.declared(session, taken)?;
        if taken.cut_off && !effects.iter().all(Effect::is_read_only) {
            let why =
                "the arguments were cut off before their end; nothing was run, send the whole call again";
            return Err(ToolError::Arguments(why.to_owned()).into());
        }
        let question = match self.judge(session, taken, &effects) {
            Verdict::Deny(reason) => {
                return Err(ToolError::Denied { by: reason.rule, why: reason.why }.into());
            }
            Verdict::Ask(reason) => Some(reason),
            Verdict::Allow => None,
        };
        for reason in question.into_iter().chain(asked_by_hook) {
            self.ask(session, taken, &effects, reason, cancel).await?;
        }
        Ok((prepared, effects.into(), arguments))
    }

    /// The call behind the arguments, and what it says it would do.
    fn declared(
        &self,
        session: &Session,
        taken: &Taken,
    ) -> Result<(Box<dyn PreparedCall>, Vec<Effect>), ToolError> {
        let stated = catch_unwind(AssertUnwindSafe(|| {
            let prepared = taken.entry.handler().prepare(taken.view.arguments.clone())?;
            let effects = prepared.effects(&session.place());
            Ok::<_, ToolError>((prepared, effects))
        }));
        let (prepared, mut effects) = stated.map_err(|payload| ToolError::broken(payload.as_ref()))??;
        self.follow_links(&mut effects);
        self.name_environment(&mut effects);
        Ok((prepared, effects))
    }

    /// A command that names no environment runs in the default one.
    fn name_environment(&self, effects: &mut [Effect]) {
        for effect in effects {
            if let Effect::Exec(command) = effect
                && command.environment.is_empty()
            {
                self.services.environments.default_name().clone_into(&mut command.environment);
            }
        }
    }

    /// A path that is a link also counts as what it leads to, for policy and for the scheduler.
    fn follow_links(&self, effects: &mut Vec<Effect>) {
        for at in 0..effects.len() {
            let real = match effects.get(at) {
                Some(Effect::Read(path)) => Effect::Read(self.services.files.real_path(path)),
                Some(Effect::Write(path)) => Effect::Write(self.services.files.real_path(path)),
                _ => continue,
            };
            if !effects.contains(&real) {
                effects.push(real);
            }
        }
    }

    fn judge(&self, session: &Session, taken: &Taken, effects: &[Effect]) -> Verdict {
        let request =
            PolicyRequest { tool: &taken.view.tool, session, arguments: &taken.view.arguments, effects };
        catch_unwind(AssertUnwindSafe(|| self.policy.judge(&request))).unwrap_or_else(|_| {
            let why = "the policy broke while judging this call, so it is not run".to_owned();
            Verdict::Deny(Reason { rule: "policy".to_owned(), why })
        })
    }

    async fn ask(
        &self,
        session: &Session,
        taken: &Taken,
        effects: &[Effect],
        reason: Reason,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let request = ApprovalRequest {
            call: taken.view.id.clone(),
            session: session.id().to_owned(),
            tool: taken.view.tool.to_string(),
            arguments: serde_json::to_string(&taken.view.arguments).unwrap_or_default(),
            effects: effects.to_vec(),
            reason,
        };
        let answer = AssertUnwindSafe(session.approver().ask(&request)).catch_unwind();
        match select(Box::pin(answer), Box::pin(cancel.cancelled())).await {
            Either::Left((Ok(Answer::Approved), _)) => Ok(()),
            Either::Left((Ok(Answer::Refused { by, why }), _)) => Err(ToolError::Denied { by, why }),
            Either::Left((Err(_), _)) => {
                let why = "the approver broke before it answered".to_owned();
                Err(ToolError::Denied { by: request.reason.rule.clone(), why })
            }
            Either::Right(_) => Err(ToolError::Cancelled),
        }
    }
}
