//! A person who names a call on their own command line has said what they want.
//!
//! `hermes tools call cronjob …` plans work as `hermes cron create` does, which asks nobody either: the whole
//! job is in the words that were typed. Nothing else is taken as said. What a command or a file holds
//! cannot be seen from a call's words alone, and what an agent's command types is never the person's.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes::core::effect::{ActKind, Effect};
use hermes::core::policy::{Answer, ApprovalRequest, Approver, Grant};

/// The rule that asks about acts in the person's name.
const ACTS: &str = "act_for_you";

/// Answers for the person where their own words do; else asks on.
pub(crate) struct OwnWords(pub(crate) Arc<dyn Approver>);

impl Approver for OwnWords {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        if says_it_all(request) {
            return Box::pin(std::future::ready(Answer::Approved(Grant::Once)));
        }
        self.0.ask(request)
    }

    fn surface(&self) -> &'static str {
        self.0.surface()
    }
}

/// Whether all that is asked about is work for later.
fn says_it_all(request: &ApprovalRequest) -> bool {
    let plans = |effect: &Effect| matches!(effect, Effect::Act(act) if act.kind == ActKind::Schedule);
    request.reason.rule == ACTS
        && request.reason.findings.is_empty()
        && request.effects.iter().any(plans)
        && request.effects.iter().all(|effect| plans(effect) || effect.is_read_only())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::executor::block_on;
    use hermes::core::call::CallId;
    use hermes::core::effect::Act;
    use hermes::core::policy::{Nobody, Reason};

    use super::*;

    fn asked(rule: &str, effects: Vec<Effect>) -> Answer {
        let request = ApprovalRequest {
            call: CallId::from("c"),
            session: "s".to_owned(),
            tool: "t".to_owned(),
            arguments: "{}".to_owned(),
            digest: 0,
            effects,
            reason: Reason::new(rule, "why"),
            expires_after: Duration::from_secs(1),
        };
        block_on(OwnWords(Arc::new(Nobody)).ask(&request))
    }

    fn act(kind: ActKind) -> Effect {
        Effect::Act(Act { kind, detail: "x".to_owned() })
    }

    #[test]
    fn only_work_for_later_is_taken_as_said() {
        let yes = Answer::Approved(Grant::Once);

        assert_eq!(asked(ACTS, vec![act(ActKind::Schedule)]), yes);
        for effects in [
            vec![],
            vec![act(ActKind::Send)],
            vec![act(ActKind::Schedule), act(ActKind::Spend)],
            vec![act(ActKind::Schedule), Effect::Write("/etc/passwd".into())],
            vec![act(ActKind::Schedule), Effect::Unknown("plugin".to_owned())],
        ] {
            assert_ne!(asked(ACTS, effects.clone()), yes, "{effects:?}");
        }
        // A hook that asks is asked on.
        assert_ne!(asked("hook", vec![act(ActKind::Schedule)]), yes);
    }
}
