//! Commands: what the guard makes of the text, and what a yes to it covers.

use hermes_core::effect::Command;
use hermes_core::environment::Standing;
use hermes_core::policy::{self, PolicyRequest, Reason, Verdict};
use hermes_guard::{Context, Decision, Grant, Judgement, decide, glob_matches};

use crate::policy::{Explained, GuardPolicy, elsewhere, holder, user_home};

/// The environment whose commands the fence holds.
const FENCED: &str = "local";

/// The verdict on one command.
pub(super) fn judge(policy: &GuardPolicy, command: &Command, request: &PolicyRequest<'_>) -> Verdict {
    let text = command.text.as_str();
    if let Some(why) = denied_by_pattern(policy, text) {
        return Verdict::Deny(Reason::new("approvals.deny", why));
    }
    let judgement = judged(policy, command, request);
    let decision = policy
        .granted_to(holder(request), |grants| decide(policy.mode(), text, &judgement, &grants.commands));
    match decision {
        Decision::Run | Decision::Granted => Verdict::Allow,
        Decision::Ask => Verdict::Ask(reason(&judgement)),
        Decision::AskModel => Verdict::Ask(Reason { model_may_answer: true, ..reason(&judgement) }),
        Decision::Refuse(why) => Verdict::Deny(Reason { why, ..reason(&judgement) }),
    }
}

/// Remembers a yes, as far as it reaches.
pub(super) fn grant(
    policy: &GuardPolicy,
    command: &Command,
    request: &PolicyRequest<'_>,
    grant: policy::Grant,
) {
    let judgement = judged(policy, command, request);
    let for_good = Grant::always_of(&judgement);
    let remembered = match grant {
        policy::Grant::Once => return,
        policy::Grant::Exact => vec![Grant::Exact(command.text.clone())],
        policy::Grant::Targets => vec![Grant::effects_of(&judgement)],
        policy::Grant::Class => vec![Grant::classes_of(&judgement)],
        policy::Grant::Always => for_good.iter().cloned().map(Grant::Always).collect(),
    };
    policy.granted_to(holder(request), |grants| {
        for grant in remembered {
            grants.commands.add(grant);
        }
    });
    if grant == policy::Grant::Always {
        policy.keep(&for_good);
    }
}

/// What becomes of a command at the beginning of a session, and why.
pub(super) fn explain(policy: &GuardPolicy, text: &str, context: &Context) -> Explained {
    let unfenced = hermes_guard::judge(text, context);
    let judgement = relieved(policy, text, context, unfenced.clone());
    let decision = match denied_by_pattern(policy, text) {
        Some(why) => Decision::Refuse(why),
        None => decide(policy.settings.mode, text, &judgement, &policy.settings.allowed_for_good()),
    };
    let pairs = unfenced.findings.iter().zip(&judgement.findings);
    let impossible = pairs.map(|(before, after)| before.verdict != after.verdict).collect();
    Explained { judgement, decision, mode: policy.settings.mode, impossible }
}

fn judged(policy: &GuardPolicy, command: &Command, request: &PolicyRequest<'_>) -> Judgement {
    let standing = policy.standing(&command.environment);
    if standing != Standing::Own {
        let workdir = elsewhere::judged(&command.workdir);
        let context = Context::new(workdir.to_string_lossy(), elsewhere::home().to_string_lossy())
            .rules(policy.settings.rules.clone());
        return elsewhere::relieved(standing, hermes_guard::judge(&command.text, &context));
    }
    let context = policy.context(&command.workdir, &user_home(request));
    let context = context.workspace(request.session.workspace().to_string_lossy());
    let judgement = hermes_guard::judge(&command.text, &context);
    // What is typed into a process that runs already may run where no fence was.
    if command.environment == FENCED && request.tool != "process" {
        relieved(policy, &command.text, &context, judgement)
    } else {
        judgement
    }
}

/// The judgement on a command that starts behind the fence, if there is one.
fn relieved(policy: &GuardPolicy, text: &str, context: &Context, judgement: Judgement) -> Judgement {
    match &policy.fence {
        Some(fence) => fence.relieved(text, context, judgement),
        None => judgement,
    }
}

/// Why a command never runs, if a pattern of the user says so.
fn denied_by_pattern(policy: &GuardPolicy, text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let mut patterns = policy.settings.deny.iter();
    let pattern = patterns.find(|pattern| glob_matches(&pattern.to_lowercase(), &text))?;
    Some(format!("the command matches `{pattern}` in approvals.deny"))
}

/// What the person is told, and how far they may say yes.
fn reason(judgement: &Judgement) -> Reason {
    let findings: Vec<policy::Finding> = judgement
        .against()
        .map(|finding| policy::Finding {
            rule: finding.rule.unwrap_or("your rule").to_owned(),
            effect: finding.effect.what.to_string(),
            targets: finding.effect.targets.iter().map(|target| target.text.clone()).collect(),
            span: finding.effect.span.start..finding.effect.span.end,
        })
        .collect();
    let rule = findings.first().map_or_else(|| "guard".to_owned(), |finding| finding.rule.clone());
    let mut grants = vec![policy::Grant::Exact];
    if findings.iter().all(|finding| !finding.targets.is_empty()) {
        grants.push(policy::Grant::Targets);
    }
    grants.push(policy::Grant::Class);
    if !Grant::always_of(judgement).is_empty() {
        grants.push(policy::Grant::Always);
    }
    Reason { rule, why: judgement.why.clone(), findings, grants, model_may_answer: false }
}
