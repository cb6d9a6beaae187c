//! `git_lost_work`: reset, clean, checkout of paths, stash and reflog deletion, rewritten history.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "throws away commits or uncommitted work",
    keys: &["git-destructive", "git reset --hard", "git clean"],
    matches,
    catches: &[
        "git reset --hard",
        "git clean -fdx",
        "git -C repo reset --hard HEAD~3",
        "git checkout -- .",
        "git stash clear",
        "git reflog expire --expire=now --all",
        "git filter-branch --tree-filter x",
        "git reset --har",
        "git restore .",
        "git -c x=y clean -df",
        "echo 0000 > .git/refs/heads/main",
    ],
    spares: &[
        "git reset HEAD~1",
        "git clean -n",
        "git status",
        "git restore --staged a",
        "git checkout main",
        "git stash",
        "git log",
        "echo notes >> .git/info/exclude",
    ],
    ..Rule::new("git_lost_work")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Git && !effect.what.contains("remote") && !effect.what.contains("branch")
        || effect.kind == Kind::Write && effect.targets.iter().any(|target| keeps_history(&target.text))
}

/// Files in which git keeps what was committed, past git itself.
fn keeps_history(path: &str) -> bool {
    path.split_once("/.git/").is_some_and(|(_, inside)| {
        matches!(inside, "HEAD" | "index" | "packed-refs" | "ORIG_HEAD")
            || ["refs/", "objects/", "logs/"].iter().any(|folder| inside.starts_with(folder))
    })
}
