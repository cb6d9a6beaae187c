//! `git_branch_delete`: branch -D and its spellings.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "deletes branches that may not be merged",
    keys: &["git-branch-delete", "git branch force delete"],
    matches,
    catches: &["git branch -D x", "git branch --delete --force x", "git branch -d -f x"],
    spares: &["git branch -d merged", "git branch", "git checkout -b fix-D"],
    ..Rule::new("git_branch_delete")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Git && effect.what.contains("branch")
}
