//! `system_config_write`: writes into `/etc`, `/usr`, `/boot` and other places of the system.

use super::Rule;
use crate::effect::{Effect, Kind};
use crate::place::Place;

pub(crate) const RULE: Rule = Rule {
    says: "changes system files",
    keys: &[
        "system-config-write",
        "overwrite system config",
        "copy/move file into /etc/",
        "in-place edit of system config",
        "write to system config",
    ],
    matches,
    catches: &[
        "echo x > /etc/hosts",
        "cp a /etc/b",
        "sed -i s/a/b/ /etc/ssh/sshd_config",
        "echo x | sudo tee -a /etc/fstab",
        "cd /etc && echo x > hosts",
        "mv x /usr/bin/ls",
        "install -t /etc x",
        "echo x >| /etc//hosts",
    ],
    spares: &[
        "cat /etc/hosts",
        "echo x > hosts",
        "grep x /etc/passwd",
        "echo '> /etc/hosts'",
        "cp /etc/hosts .",
    ],
    ..Rule::new("system_config_write")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Write
        && effect.touches(&[
            Place::SystemConfig,
            Place::System,
            Place::SystemTop,
            Place::Root,
            Place::HomeTop,
        ])
}
