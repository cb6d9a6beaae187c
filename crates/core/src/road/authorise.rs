//! Step 5: the tool states its effects for these arguments, policy judges them.
//!
//! This is the only place where a [`Clearance`](crate::permit) comes to be. A policy that panics
//! denies. A question goes to the session's approver, bound to the exact arguments.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{Either, select};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::digest::{digest_fields, digest_pair, digest_text};
use crate::effect::{Effect, Spot};
use crate::environment::{ARGUMENT, Chosen, There};
use crate::error::ToolError;
use crate::policy::{Answer, ApprovalRequest, Grant, PolicyRequest, Reason, Verdict};
use crate::road::intake::Taken;
use crate::road::{Refusal, Road};
use crate::session::Session;
use crate::tool::{PreparedCall, ToolEntry};

/// A call that may run.
pub(super) struct Cleared {
    pub(super) prepared: Box<dyn PreparedCall>,
    pub(super) effects: Arc<[Effect]>,
    /// Fingerprint of its arguments.
    pub(super) digest: u64,
}

/// What became of a call that was asked about.
pub(super) enum Decided {
    Cleared(Cleared),
    /// Not this one, but one with these arguments may run.
    Changed(Map<String, Value>),
}

/// What an approver said, short of no.
enum Said {
    Yes(Grant),
    Edit(Map<String, Value>),
}

impl Road {
    pub(super) async fn clear(
        &self,
        session: &Session,
        taken: &Taken<'_>,
        asked_by_hook: Option<Reason>,
        cancel: &CancellationToken,
    ) -> Result<Decided, Refusal> {
        let digest = digest_fields(&taken.view.arguments);
        // A script may repeat itself; how often is its own limit.
        let counts = taken.view.within.is_none();
        let block = counts.then(|| session.guard(|guard| guard.before(&taken.view.tool, digest))).flatten();
        if let Some(block) = block {
            return Err(Refusal::Repeated(block.refusal()));
        }
        let (prepared, effects) = self.declared(session, taken)?;
        if taken.cut_off && !effects.iter().all(Effect::is_read_only) {
            let why =
                "the arguments were cut off before their end; nothing was run, send the whole call again";
            return Err(ToolError::Arguments(why.to_owned()).into());
        }
        match self.agreed(session, taken, &effects, asked_by_hook, cancel).await? {
            Some(arguments) => Ok(Decided::Changed(arguments)),
            None => Ok(Decided::Cleared(Cleared { prepared, effects: effects.into(), digest })),
        }
    }

    /// Policy's verdict on the call as it stands, and a person's where one is needed. What comes
    /// back is what the person wants instead, if they changed it.
    async fn agreed(
        &self,
        session: &Session,
        taken: &Taken<'_>,
        effects: &[Effect],
        asked_by_hook: Option<Reason>,
        cancel: &CancellationToken,
    ) -> Result<Option<Map<String, Value>>, ToolError> {
        let asked_by_policy = match self.judge(session, taken, effects) {
            Verdict::Deny(reason) => return Err(ToolError::Denied { by: reason.rule, why: reason.why }),
            Verdict::Ask(reason) => Some(reason),
            Verdict::Allow => None,
        };
        if let Some(reason) = asked_by_policy {
            let offered = reason.grants.clone();
            match self.ask(session, taken, effects, reason, cancel).await? {
                Said::Edit(arguments) => return Ok(Some(arguments)),
                // A yes that reaches further than was offered is a yes for this call.
                Said::Yes(grant) if grant == Grant::Once || !offered.contains(&grant) => {}
                Said::Yes(grant) => {
                    let asked = request(session, taken, effects);
                    // A policy that cannot remember the yes asks again; this call was agreed to.
                    drop(catch_unwind(AssertUnwindSafe(|| self.policy.granted(&asked, grant))));
                }
            }
        }
        if let Some(reason) = asked_by_hook {
            // What a hook asks about is asked each time: the hook keeps its own memory.
            if let Said::Edit(arguments) = self.ask(session, taken, effects, reason, cancel).await? {
                return Ok(Some(arguments));
            }
        }
        Ok(None)
    }

    /// The call behind the arguments, and what it says it would do.
    fn declared(
        &self,
        session: &Session,
        taken: &Taken<'_>,
    ) -> Result<(Box<dyn PreparedCall>, Vec<Effect>), ToolError> {
        let stated = catch_unwind(AssertUnwindSafe(|| {
            let prepared = taken.entry.handler().prepare(taken.view.arguments.clone())?;
            let environment = self.environment_of(session, &taken.entry, &taken.view.arguments);
            let there = self.there(environment)?.filter(|_| taken.entry.is_placed());
            let place =
                there.map_or_else(|| session.place(), |there| session.place_in(environment, &there.first));
            let mut effects = prepared.effects_with(&place, &self.services);
            if there.is_some() {
                effects = effects.into_iter().map(|effect| moved(effect, environment)).collect();
            } else {
                self.follow_links(&mut effects);
            }
            name_environment(environment, &mut effects);
            Ok::<_, ToolError>((prepared, effects))
        }));
        stated.map_err(|payload| ToolError::broken(payload.as_ref()))?
    }

    /// The environment a call works in: the one it names, else the session's, else the default.
    pub(super) fn environment_of<'a>(
        &'a self,
        session: &'a Session,
        entry: &ToolEntry,
        arguments: &'a Map<String, Value>,
    ) -> &'a str {
        let named = arguments.get(ARGUMENT).and_then(Value::as_str).filter(|_| entry.is_placed());
        let chosen = || session.extensions().get::<Chosen>().map(|chosen| chosen.0.as_str());
        self.services.environments.named(named.or_else(chosen))
    }

    /// What kind of environment that is; one without a backend is told by its name.
    pub(super) fn env_type_of(
        &self,
        session: &Session,
        entry: &ToolEntry,
        arguments: &Map<String, Value>,
    ) -> Option<Arc<str>> {
        let name = self.environment_of(session, entry, arguments);
        let backend = self.services.environments.site(name).map_or("", |site| &site.about.backend);
        [backend, name].into_iter().find(|word| !word.is_empty()).map(Arc::from)
    }

    /// Where files are in that environment, unless they are those of this machine.
    pub(super) fn there(&self, environment: &str) -> Result<Option<&There>, ToolError> {
        // Without any environment there is only this machine.
        if environment.is_empty() {
            return Ok(None);
        }
        match self.services.environments.site(environment) {
            Ok(site) => Ok(site.there.as_ref()),
            // The default may name nothing, as long as no command is to run.
            Err(_) if environment == self.services.environments.default_name() => Ok(None),
            Err(unknown) => Err(unknown.into()),
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

    fn judge(&self, session: &Session, taken: &Taken<'_>, effects: &[Effect]) -> Verdict {
        let request = request(session, taken, effects);
        catch_unwind(AssertUnwindSafe(|| self.policy.judge(&request))).unwrap_or_else(|_| {
            Verdict::Deny(Reason::new("policy", "the policy broke while judging this call, so it is not run"))
        })
    }

    async fn ask(
        &self,
        session: &Session,
        taken: &Taken<'_>,
        effects: &[Effect],
        reason: Reason,
        cancel: &CancellationToken,
    ) -> Result<Said, ToolError> {
        let request = ApprovalRequest {
            call: taken.view.id.clone(),
            session: session.id().to_owned(),
            tool: taken.view.tool.to_string(),
            arguments: serde_json::to_string(&taken.view.arguments).unwrap_or_default(),
            digest: digest_pair(digest_text(&taken.view.tool), digest_fields(&taken.view.arguments)),
            effects: effects.to_vec(),
            reason,
            expires_after: self.limits.ask,
        };
        let refused = |why: &str| ToolError::Denied { by: request.reason.rule.clone(), why: why.to_owned() };
        let mut answer =
            Box::pin(AssertUnwindSafe(async { session.approver().ask(&request).await }).catch_unwind());
        // One that answers at once needs no timer.
        let answer = if let Some(answer) = (&mut answer).now_or_never() {
            answer
        } else {
            let given_up = select(self.services.host.sleep(self.limits.ask), Box::pin(cancel.cancelled()));
            match select(answer, given_up).await {
                Either::Left((answer, _)) => answer,
                Either::Right((Either::Left(_), _)) => {
                    return Err(refused("it needs approval and nobody answered in time"));
                }
                Either::Right((Either::Right(_), _)) => return Err(ToolError::Cancelled),
            }
        };
        match answer {
            Ok(Answer::Approved(grant)) => Ok(Said::Yes(grant)),
            Ok(Answer::Edited(arguments)) => Ok(Said::Edit(arguments)),
            Ok(Answer::Refused { by, why }) => Err(ToolError::Denied { by, why }),
            Err(_) => Err(refused("the approver broke before it answered")),
        }
    }
}

/// An effect on files, as it is where these are not those of this machine.
fn moved(effect: Effect, environment: &str) -> Effect {
    let spot = |path| Spot { environment: environment.to_owned(), path };
    match effect {
        Effect::Read(path) => Effect::ReadIn(spot(path)),
        Effect::Write(path) => Effect::WriteIn(spot(path)),
        other => other,
    }
}

/// A command that names no environment runs in this one.
fn name_environment(environment: &str, effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Exec(command) = effect
            && command.environment.is_empty()
        {
            environment.clone_into(&mut command.environment);
        }
    }
}

fn request<'a>(session: &'a Session, taken: &'a Taken<'_>, effects: &'a [Effect]) -> PolicyRequest<'a> {
    PolicyRequest { tool: &taken.view.tool, session, arguments: &taken.view.arguments, effects }
}
