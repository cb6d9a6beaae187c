//! `git_force_push`: forced pushes, deletions and mirrors.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "overwrites or deletes what is on the remote",
    keys: &["git-force-push", "git force push"],
    matches,
    catches: &[
        "git push --force",
        "git push -f origin main",
        "git push origin +main",
        "git push origin :old",
        "git push --delete origin x",
        "git -C x push --force-with-lease",
        "git push --mirror",
    ],
    spares: &["git push", "git push origin main", "git push -u origin main", "git push --dry-run -f"],
    ..Rule::new("git_force_push")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Git && effect.what.contains("remote")
}
