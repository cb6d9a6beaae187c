//! `service`: services and scheduled jobs.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "stops, restarts, disables or reschedules services",
    keys: &["service-stop", "stop/restart system service"],
    matches,
    catches: &[
        "systemctl stop db",
        "sudo systemctl --now disable nginx",
        "service nginx restart",
        "systemctl mask x",
        "crontab -r",
        "brew services stop redis",
    ],
    spares: &[
        "systemctl status nginx",
        "service --status-all",
        "journalctl -u nginx",
        "systemctl list-units",
        "systemctl is-active x",
    ],
    ..Rule::new("service")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Service
}
