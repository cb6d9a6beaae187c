//! `kernel`: what the whole machine depends on.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "changes the kernel, mounts, network or boot settings",
    keys: &[],
    matches,
    catches: &[
        "sysctl -w vm.swappiness=1",
        "rmmod x",
        "mount -o remount,rw /",
        "umount -a",
        "ip link set eth0 down",
        "update-grub",
        "reg delete HKLM\\x",
    ],
    spares: &["sysctl -a", "lsmod", "mount", "ip addr", "date"],
    ..Rule::new("kernel")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Kernel
}
