//! `traces`: shell history and logs.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "wipes traces",
    keys: &[],
    matches,
    catches: &[
        "history -c",
        "unset HISTFILE",
        "journalctl --vacuum-time=1s",
        "> ~/.bash_history",
        "truncate -s0 /var/log/auth.log",
    ],
    spares: &["history", "tail /var/log/syslog", "journalctl -u x"],
    ..Rule::new("traces")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Traces
        || (effect.kind == Kind::Write && effect.targets.iter().any(|t| t.text.ends_with("_history")))
        || (effect.kind == Kind::Delete
            && effect.targets.iter().any(|t| t.text.ends_with("_history") && t.place == Place::Home))
}
