//! `power_off`: shutdown, reboot, halt, and init levels 0 and 6.

use super::{Hold, Rule};
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "switches the machine off or restarts it",
    keys: &["power", "shutdown", "reboot"],
    hold: Hold::Never,
    matches,
    catches: &[
        "systemctl isolate poweroff.target",
        "echo b > /proc/sysrq-trigger",
        "kexec -e",
        "rtcwake -m off -s 60",
        "shutdown -h now",
        "sudo reboot",
        "poweroff",
        "init 0",
        "systemctl reboot",
        "telinit 6",
        "Stop-Computer",
        "systemctl --force poweroff",
        "/sbin/halt -p",
    ],
    spares: &[
        "systemctl isolate multi-user.target",
        "echo reboot",
        "man shutdown",
        "grep reboot /var/log/syslog",
        "git commit -m 'reboot fix'",
        "shutdown -c",
    ],
    ..Rule::new("power_off")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Power && effect.how.grave
}
