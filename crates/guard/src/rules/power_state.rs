//! `power_state`: sleep, hibernation, rescue modes.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "changes the power state of the machine",
    keys: &[],
    matches,
    catches: &["systemctl suspend", "systemctl rescue", "loginctl suspend"],
    spares: &["sleep 5", "systemctl status"],
    ..Rule::new("power_state")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Power && !effect.how.grave
}
