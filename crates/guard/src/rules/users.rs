//! `users`: who may log in and as whom.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "changes accounts, groups or passwords",
    keys: &[],
    matches,
    catches: &[
        "useradd evil",
        "userdel -r me",
        "echo root:x | chpasswd",
        "passwd root",
        "usermod -aG sudo me",
        "visudo",
    ],
    spares: &["id", "whoami", "getent passwd", "groups", "cat /etc/passwd"],
    ..Rule::new("users")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Users
}
