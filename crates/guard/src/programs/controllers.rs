//! Programs whose name says that they control or administer something.

use crate::effect::Kind;
use crate::walk::Arg;

/// Verbs with which a tool made to control something stops it or takes it away.
const CONTROLS: [&str; 42] = [
    "stop",
    "stopall",
    "down",
    "disable",
    "kill",
    "restart",
    "reset",
    "unload",
    "detach",
    "standby",
    "drain",
    "evict",
    "isolate",
    "fence",
    "suspend",
    "quit",
    "halt",
    "offline",
    "delete",
    "remove",
    "rm",
    "destroy",
    "purge",
    "flush",
    "wipe",
    "clear",
    "terminate",
    "abort",
    "unregister",
    "deregister",
    "revoke",
    "failover",
    "switchover",
    "reinit",
    "promote",
    "demote",
    "decommission",
    "remove-peer",
    "step-down",
    "unmonitor",
    "shutdown",
    "erase",
];

/// Whether a program made to control or administer something is told to stop or remove it.
pub(super) fn stops(name: &str, args: &[Arg<'_>]) -> Option<(Kind, &'static str)> {
    let controller = ["ctl", "adm", "admin", "-cli", "-manager", "-client"]
        .iter()
        .any(|end| name.ends_with(end))
        && !["playerctl", "brightnessctl", "bluetoothctl", "audacious-ctl", "pulseaudio-ctl"].contains(&name);
    let verb = || args.iter().map(|arg| &*arg.text).find(|word| !word.starts_with('-'));
    (controller && verb().is_some_and(|verb| CONTROLS.contains(&verb)))
        .then_some((Kind::Service, "stops or takes down a service"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    #[test]
    fn a_controller_is_told_by_its_name_and_a_loss_by_its_verb() {
        let told = |name: &str, verb: &str| {
            stops(name, &[Arg { text: verb.into(), span: Span::default() }]).is_some()
        };
        assert!(told("haproxyctl", "stop") && told("pcs-admin", "remove"));
        assert!(!told("haproxyctl", "show") && !told("playerctl", "stop") && !told("tool", "stop"));
    }
}
