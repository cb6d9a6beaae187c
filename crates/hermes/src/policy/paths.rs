//! Files: the guard's path policy, and what a yes to a path covers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hermes_core::effect::Spot;
use hermes_core::environment::Standing;
use hermes_core::policy::{Grant, PolicyRequest, Reason, Verdict};
use hermes_guard::Mode;
use hermes_guard::paths::{Access, PathClass, PathCx, PathVerdict, SKILLS, WHY_SKILLS, judge_path};

use crate::policy::{GuardPolicy, elsewhere, holder, user_home};

/// The tool that writes skills, and notes down that an agent did.
const SKILL_MANAGE: &str = "skill_manage";

/// What was agreed to about paths in one session.
#[derive(Debug, Clone, Default)]
pub(super) struct PathGrants {
    paths: BTreeSet<PathBuf>,
    rules: BTreeSet<&'static str>,
}

/// The verdict on one path.
pub(super) fn judge(
    policy: &GuardPolicy,
    path: &Path,
    access: Access,
    request: &PolicyRequest<'_>,
) -> Verdict {
    decided(policy, path, looked_up(policy, path, access, request), request)
}

/// The verdict on a path of another place.
pub(super) fn judge_there(
    policy: &GuardPolicy,
    spot: &Spot,
    access: Access,
    request: &PolicyRequest<'_>,
) -> Verdict {
    if policy.standing(&spot.environment) == Standing::Disposable {
        return Verdict::Allow;
    }
    decided(policy, &named(spot), looked_up_there(policy, spot, access), request)
}

fn decided(policy: &GuardPolicy, path: &Path, found: PathVerdict, request: &PolicyRequest<'_>) -> Verdict {
    match found {
        PathVerdict::Allow => Verdict::Allow,
        PathVerdict::Deny { reason, rule, .. } => Verdict::Deny(Reason::new(rule, words(path, reason))),
        PathVerdict::Ask { reason, rule, .. } => {
            let granted = policy.granted_to(holder(request), |grants| {
                grants.paths.rules.contains(rule) || grants.paths.paths.contains(path)
            });
            let reason = Reason {
                grants: vec![Grant::Exact, Grant::Targets, Grant::Class],
                ..Reason::new(rule, words(path, reason))
            };
            match policy.mode() {
                _ if granted => Verdict::Allow,
                Mode::Off => Verdict::Allow,
                Mode::Deny => Verdict::Deny(reason),
                Mode::Manual | Mode::Smart => Verdict::Ask(reason),
            }
        }
    }
}

/// Remembers a yes, as far as it reaches.
pub(super) fn grant(policy: &GuardPolicy, path: &Path, request: &PolicyRequest<'_>, grant: Grant) {
    let asked = looked_up(policy, path, Access::Write, request);
    remember(policy, path.to_path_buf(), &asked, request, grant);
}

/// The same for a path of another place.
pub(super) fn grant_there(policy: &GuardPolicy, spot: &Spot, request: &PolicyRequest<'_>, grant: Grant) {
    let asked = looked_up_there(policy, spot, Access::Write);
    remember(policy, named(spot), &asked, request, grant);
}

fn remember(
    policy: &GuardPolicy,
    path: PathBuf,
    asked: &PathVerdict,
    request: &PolicyRequest<'_>,
    grant: Grant,
) {
    policy.granted_to(holder(request), |grants| match (grant, asked) {
        (Grant::Once, _) => {}
        (Grant::Class, PathVerdict::Ask { rule, .. }) => {
            grants.paths.rules.insert(rule);
        }
        _ => {
            grants.paths.paths.insert(path);
        }
    });
}

fn looked_up(policy: &GuardPolicy, path: &Path, access: Access, request: &PolicyRequest<'_>) -> PathVerdict {
    let home = user_home(request);
    let hermes_home =
        policy.home.as_ref().map_or_else(|| home.join(".hermes"), |home| home.path().to_path_buf());
    let cx = PathCx::new(&home, request.session.workspace(), &hermes_home, &policy.settings.temp);
    of_skills(policy, path, access, request, judge_path(path, access, &cx))
}

/// What is said of files of skills, wherever these are: a person's skill is given secrets, and an agent could write
/// one. What `skill_manage` writes is noted down as an agent's. Whoever chose such a folder to work in has answered.
fn of_skills(
    policy: &GuardPolicy,
    path: &Path,
    access: Access,
    request: &PolicyRequest<'_>,
    found: PathVerdict,
) -> PathVerdict {
    let is_skill = |folder: &&PathBuf| path.starts_with(folder);
    let is_work = |folder: &PathBuf| request.session.workspace().starts_with(folder);
    match found {
        PathVerdict::Ask { rule: SKILLS, .. } if request.tool == SKILL_MANAGE => PathVerdict::Allow,
        PathVerdict::Allow
            if access != Access::Read
                && policy.skills.iter().find(is_skill).is_some_and(|folder| !is_work(folder)) =>
        {
            PathVerdict::Ask { reason: WHY_SKILLS, class: PathClass::Agent, rule: SKILLS }
        }
        found => found,
    }
}

/// What rules say about a path of another place, whose home is where homes usually are.
fn looked_up_there(policy: &GuardPolicy, spot: &Spot, access: Access) -> PathVerdict {
    let home = elsewhere::home();
    let hermes_home = home.join(".hermes");
    let cx = PathCx::new(&home, &home, &hermes_home, &policy.settings.temp);
    judge_path(&elsewhere::judged(&spot.path), access, &cx)
}

/// A path of another place under a name that no path of this machine has.
fn named(spot: &Spot) -> PathBuf {
    PathBuf::from(format!("{}:{}", spot.environment, spot.path.display()))
}

fn words(path: &Path, reason: &str) -> String {
    format!("{} {reason}", path.display())
}
